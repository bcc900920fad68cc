"""Hourly rates of the user's own contracts, in CSV files that a person keeps in `rates/` of the data directory."""

from __future__ import annotations

from gpuledger.extract.source import Source, parser_in

SOURCE = Source(
    name="own_rates",
    title="Hourly rates of one's own contracts",
    homepage="",
    parse=parser_in(__name__),
    kinds=("cloud_offer",),
    freshness_hours=24 * 365 * 10,
    drops={"rates": {".csv": "text/csv"}},
    way_in="write one into {data}/rates/rates.csv",
    # A contract ends without a change of its row, so unchanged bytes must be parsed again.
    keeps_parsed=False,
)
