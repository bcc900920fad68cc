"""`gpuledger workloads`: list what is benchmarked."""

from __future__ import annotations

import click

from gpuledger.flows.doors.asking.options import data_dir_option, format_option, read_from


@click.command()
@data_dir_option
@format_option
def command(data_dir: str | None, form: str) -> None:
    """What is benchmarked, with how many cards have a figure and how new the newest one is."""
    from gpuledger.flows.doors.showing.show import show
    from gpuledger.transform.answers import workloads

    show(workloads.listed(read_from(data_dir)), form)
