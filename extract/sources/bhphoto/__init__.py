"""B&H Photo Video: listing pages and product pages."""

from __future__ import annotations

from gpuledger.extract.source import Source, parser_in

HOMEPAGE = "https://www.bhphotovideo.com/"

SOURCE = Source(
    name="bhphoto",
    title="B&H Photo Video",
    homepage=HOMEPAGE,
    parse=parser_in(__name__),
    kinds=("offer",),
    start=("https://www.bhphotovideo.com/c/buy/Graphic-Cards/ci/6567/N/3668461602",),
    sample=(
        "/c/buy/graphics-cards/",
        "/c/product/1730115-REG/",
        "/c/product/1730116-REG/",
        "/c/product/1730117-USE/",
        "/c/product/1730118-REG/",
    ),
    country="US",
    language="en",
)
