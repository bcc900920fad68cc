"""Amazon (com, co.uk, de, co.jp, pl and sister sites): search pages and product pages."""

from __future__ import annotations

from gpuledger.extract.source import Source, parser_in

HOMEPAGE = "https://www.amazon.com/"

SOURCE = Source(
    name="amazon",
    title="Amazon",
    homepage=HOMEPAGE,
    parse=parser_in(__name__),
    kinds=("offer",),
    interface="Product Advertising API, for its associates",
    start=(
        "https://www.amazon.com/s?k=geforce+rtx+graphics+card&rh=n%3A284822",
        "https://www.amazon.de/s?k=geforce+rtx+grafikkarte",
    ),
)
