"""The figures that the source documents publish, each beside the value recomputed from its inputs.

One pair of files a document: `<name>.toml` holds what is published, `<name>.py` recomputes it. Found, not registered.
"""

from gpuledger.transform.claims.audit import Claim, recompute

__all__ = ["Claim", "recompute"]
