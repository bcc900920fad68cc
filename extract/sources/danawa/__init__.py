"""Danawa, the Korean price comparison: category and search lists, and product pages."""

from __future__ import annotations

from gpuledger.extract.source import Source, parser_in

HOMEPAGE = "https://prod.danawa.com/"

SOURCE = Source(
    name="danawa",
    title="Danawa",
    homepage=HOMEPAGE,
    parse=parser_in(__name__),
    kinds=("offer",),
    start=("https://prod.danawa.com/list/?cate=112753",),
    sample=("/list/",),
    country="KR",
    language="ko",
)
