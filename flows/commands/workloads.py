"""`gpuledger workloads`: list what is benchmarked."""

from __future__ import annotations

import click

from gpuledger.flows.asking.options import data_dir_option, format_option, read_from


@click.command()
@data_dir_option
@format_option
def command(data_dir: str | None, form: str) -> None:
    """What is benchmarked, with how many cards have a figure and how new the newest one is."""
    from gpuledger.flows.showing.show import show_rows
    from gpuledger.transform.answers import workloads

    columns, rows = workloads.listed(read_from(data_dir))
    headings = {
        "workload_id": "workload_id", "cards": "cards", "unit": "unit", "workload": "workload", "newest_on": "newest figure",
        "oldest_on": "oldest figure", "gpu_count": "cards together",
    }  # fmt: skip
    show_rows(columns, rows, form, headings=headings)
