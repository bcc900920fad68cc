"""morele.net (Poland): category and search lists, and product pages."""

from __future__ import annotations

from gpuledger.extract.source import Source, parser_in

HOMEPAGE = "https://www.morele.net/"

SOURCE = Source(
    name="morele",
    title="morele.net",
    homepage=HOMEPAGE,
    parse=parser_in(__name__),
    kinds=("offer",),
    start=("https://www.morele.net/kategoria/karty-graficzne-12/",),
    country="PL",
    language="pl",
)
