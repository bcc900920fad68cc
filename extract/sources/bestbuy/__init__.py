"""Best Buy: listing and product pages."""

from __future__ import annotations

from datetime import date

from gpuledger.extract.source import Publishing, Source, parser_in

SOURCE = Source(
    name="bestbuy",
    title="Best Buy",
    homepage="https://www.bestbuy.com/",
    parse=parser_in(__name__),
    kinds=("offer",),
    interface="Products API, with a key",
    start=("https://www.bestbuy.com/site/computer-cards-components/video-graphics-cards/abcat0507002.c",),
    country="US",
    language="en",
    publishing=Publishing(
        allowed=False,
        sentence="By agreeing to Best Buy's terms of service, you also agree not to cache any content except on a temporary "
        "basis.",
        page="https://bestbuyapis.github.io/api-documentation/",
        read=date(2026, 11, 27),
    ),
)
