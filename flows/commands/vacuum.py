"""`gpuledger vacuum`: remove archived pages that nothing is traced to."""

from __future__ import annotations

import click

from flows.commands._options import data_dir_option, data_of


@click.command()
@click.option("--keep-days", type=click.IntRange(min=0), default=400, show_default=True,
              help="Age in days up to which every fetch stays, whether a row refers to it or not.")  # fmt: skip
@data_dir_option
def command(keep_days: int, data_dir: str | None) -> None:
    """Remove archived pages that are old and that no row of the warehouse refers to, and what older parsers gave.

    A later `replay` then starts from what is left. Published versions are kept to the newest few at every publish.
    """
    from flows.vacuum import vacuum

    removed = vacuum(data_of(data_dir), keep_days)
    click.echo(f"removed {removed.pages} pages and {removed.parsed} parsed ones, {removed.size_bytes / 1e6:.1f} MB")
