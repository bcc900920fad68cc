"""Amazon (com, co.uk, de, co.jp, pl and sister sites): search pages and product pages."""

from __future__ import annotations

from datetime import date

from gpuledger.extract.source import Publishing, Source, parser_in

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
    publishing=Publishing(
        allowed=False,
        sentence="This license does not include any resale or commercial use of any Amazon Service, or its contents; any "
        "collection and use of any product listings, descriptions, or prices",
        page="https://www.amazon.com/gp/help/customer/display.html?nodeId=508088",
        read=date(2026, 11, 27),
    ),
)
