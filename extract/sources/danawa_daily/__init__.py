"""Danawa by day: monthly CSV files of historical prices, one row a product, one column a crawl (`Id,Name,<times…>`).

The source has no start address: a person drops a file into the inbox or hands it to `gpuledger parse`.
"""

from __future__ import annotations

from gpuledger.extract.source import Source, parser_in

SOURCE = Source(
    name="danawa_daily",
    title="Danawa by day",
    homepage="https://prod.danawa.com/list/?cate=112753",
    parse=parser_in(__name__),
    kinds=("index_price",),
    country="KR",
    language="ko",
)
