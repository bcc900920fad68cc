"""`gpuledger sources`: what can be read."""

from __future__ import annotations

import click

from flows.commands._options import format_option


@click.command()
@format_option
def command(form: str) -> None:
    """The sources: what each gives, where it starts, how old its data may be."""
    from extract.source import discover
    from flows.commands._show import show

    columns = ["source", "title", "kinds", "sample", "live addresses", "freshness_hours", "homepage"]
    rows = [
        (s.name, s.title, ", ".join(s.kinds), bool(s.sample), len(s.start), s.freshness_hours, s.homepage)
        for s in discover()
    ]
    show(columns, rows, form)
