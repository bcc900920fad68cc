"""The figures that the source documents publish, and the values that we recompute from their inputs.

Each document has a pair of files: `<name>.toml` holds the published figures, and `<name>.py` recomputes them. Every pair in
this folder counts, without any list.
"""

from gpuledger.transform.claims.audit import Claim, recompute

__all__ = ["Claim", "recompute"]
