"""`gpuledger audit`: the figures of the source documents as published, beside the same figures recomputed."""

from __future__ import annotations

import click

from gpuledger.flows.doors.asking.options import data_dir_option, format_option, read_from
from gpuledger.flows.words.say import spoken

#: Columns in the order in which a narrow screen keeps them.
_WORTH = ("statement", "published", "recomputed", "verdict", "unit", "reason", "document")


@click.command()
@data_dir_option
@format_option
def command(data_dir: str | None, form: str) -> None:
    """Every figure of the source documents: as published, recomputed, and the reason where they differ."""
    from gpuledger.flows.doors.showing.show import show_rows
    from gpuledger.transform.answers.trust import claims

    data = read_from(data_dir)
    columns, rows = claims.figures(data, short=form == "table")
    show_rows(columns, rows, form, worth=_WORTH)
    if form == "table":
        for name, verdict in claims.verdicts(data).items():
            click.echo(f"{name}: {spoken(verdict)}")
