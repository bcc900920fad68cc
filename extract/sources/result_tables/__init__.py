"""Tables of results that somebody keeps in a repository or a discussion, at the addresses that the settings name
(`result_tables`): Markdown files, and pages with tables.

The part of the address behind its `#` says how to read the table:

    https://raw.githubusercontent.com/owner/repository/main/README.md#workload=llama-3-8b-tg128&score=tg128&card=GPU

- `workload` is one that `gpuledger workloads` lists.
- `score` gives words from the header of the column with the figures.

The others may be left out:

- `table` gives words from the heading above the table.
- `card` gives words from the header of the column with the cards.
- `rows` is a column, and words that its cells must hold (`rows=FA:1`).
- `unit` is the unit of the figures if neither the cell nor the header names it.
- `published` is the day of the figures.
- `software` and `precision` say what ran.
"""

from __future__ import annotations

from gpuledger.extract.source import Source, parser_in

SOURCE = Source(
    name="result_tables",
    title="Tables of results in repositories and discussions",
    homepage="",
    parse=parser_in(__name__),
    setting="result_tables",
    way_in="set result_tables",
    kinds=("score",),
    freshness_hours=24 * 90,
    has_lists=False,
)
