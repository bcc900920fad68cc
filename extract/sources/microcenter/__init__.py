"""Micro Center: listing and product pages. Prices and stock are those of one store, whose number is in the address."""

from __future__ import annotations

from gpuledger.extract.source import Source, parser_in

HOMEPAGE = "https://www.microcenter.com/"

SOURCE = Source(
    name="microcenter",
    title="Micro Center",
    homepage=HOMEPAGE,
    parse=parser_in(__name__),
    kinds=("offer",),
    start=("https://www.microcenter.com/search/search_results.aspx?N=4294966937&NTK=all&storeid=029",),
    country="US",
    language="en",
)
