"""`gpuledger resolve`: which GPU a title means."""

from __future__ import annotations

import sys

import click

from gpuledger.flows.doors.asking.options import data_dir_option, read_from


@click.command()
@click.argument("titles", nargs=-1)
@click.option(
    "--explain", is_flag=True, help="Also which words decided, what was ignored, and which alias or rule was used."
)
@click.option("--source", default=None, help="Read the titles as this source's: its own aliases apply.")
@data_dir_option
def command(titles: tuple[str, ...], explain: bool, source: str | None, data_dir: str | None) -> None:
    """Print a JSON line a title: title, status, gpu_id, gpu, candidates.

    `-` reads the titles from standard input. Titles that are pinned in the data directory (`gpuledger alias`) mean what they
    are pinned to.
    """
    from gpuledger.flows.decisions import identities
    from gpuledger.flows.doors.showing import terminal

    if not titles:
        raise click.UsageError("give titles, or - to read them from standard input, one a line")
    resolver = identities.resolver_of(read_from(data_dir))
    lines = (line.rstrip("\r\n") for line in sys.stdin) if titles == ("-",) else iter(titles)
    for title in lines:  # empty titles too, so that the answers can be pasted beside the titles, line by line
        resolution = resolver.resolve(title, source=source, explain=explain)
        sys.stdout.write(terminal.json_text(resolution.to_json(explain=explain)) + "\n")
