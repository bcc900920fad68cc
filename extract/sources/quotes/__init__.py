"""Vendor quotes: a CSV or XLSX file dropped into the inbox, one product a row."""

from __future__ import annotations

from gpuledger.extract.source import Source, give_back_in, parser_in

SOURCE = Source(
    name="quotes",
    title="Vendor quotes",
    homepage="",
    parse=parser_in(__name__),
    give_back=give_back_in(__name__),
    kinds=("offer",),
    freshness_hours=24 * 31,
)
