"""Vendor quotes: a CSV or XLSX file dropped into the inbox, one product a row."""

from __future__ import annotations

from gpuledger.extract.source import Source, in_pages, parser_in

SOURCE = Source(
    name="quotes",
    title="Vendor quotes",
    homepage="",
    parse=parser_in(__name__),
    give_back=in_pages(__name__, "give_back"),
    kinds=("offer",),
    freshness_hours=24 * 31,
    drops={
        "inbox": {
            ".csv": "text/csv",
            ".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        }
    },
    way_in="drop a CSV or XLSX file in {data}/inbox",
)
