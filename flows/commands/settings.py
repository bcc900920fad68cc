"""`gpuledger settings`: every setting, its value, and where the value comes from."""

from __future__ import annotations

import click

from gpuledger.flows.doors.asking.options import format_option


@click.command()
@format_option
def command(form: str) -> None:
    """Each of these overrides the one before: defaults, gpuledger.toml here, in the data directory, environment.

    Secrets come from the environment alone, and are never shown.
    """
    from gpuledger.flows.doors.showing.show import show_rows
    from gpuledger.flows.settings import settings

    columns = ["setting", "value", "unit", "from", "meaning"]
    show_rows(columns, [(o.name, o.value, o.unit, o.place, o.meaning) for o in settings.explain()], form)
