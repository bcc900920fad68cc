"""Measurements that a person took in with `gpuledger measure`: own ones, and published files.

Each import is one CSV in the data directory, beside the file that it was read from.
"""

from __future__ import annotations

from gpuledger.extract.source import Source, parser_in

SOURCE = Source(
    name="measurements",
    title="Measurements taken in by a person",
    homepage="",
    parse=parser_in(__name__),
    kinds=("score",),
    freshness_hours=24 * 365 * 10,
    drops={"measurements": {".csv": "text/csv"}},
    way_in="gpuledger measure takes some in",
)
