"""The figures that the source documents publish, each beside the value recomputed from its inputs.

One pair of files for each document: `<name>.toml` holds what is published, `<name>.py` recomputes it. There is no list of
them: what is in the folder counts.
"""

from gpuledger.transform.claims.audit import Claim, recompute

__all__ = ["Claim", "recompute"]
