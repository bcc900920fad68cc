"""`gpuledger workload`: add workloads to those of the program."""

from __future__ import annotations

import click

from gpuledger.flows.doors.asking.options import Whole, data_dir_option, data_of
from gpuledger.flows.words.lang import gettext
from gpuledger.flows.words.say import as_wrong_use


@click.group()
def command() -> None:
    """Add what is measured; `gpuledger workloads` lists it."""


@command.command()
@click.argument("workload_id", metavar="ID")
@click.option("--name", "workload", required=True, help="What it is called in tables.")
@click.option("--unit", required=True, help="Unit of its figures: it/s, tokens/s, fps, s.")
@click.option("--description", required=True, help="What was run, in a sentence.")
@click.option(
    "--direction",
    type=click.Choice(["more", "less"]),
    default="more",
    show_default=True,
    help="Which figure is better.",
)
@click.option("--gpu-count", type=Whole(1), default=1, show_default=True, help="Cards that run it together.")
@click.option("--model", help="Model that ran, by its id in the catalogue.")
@click.option("--precision", help="Number format of its weights.")
@click.option("--resolution", help="Size of the pictures, as 1920×1080.")
@click.option("--software", help="What ran it, with its version.")
@click.option("--source", help="Address where it is described.")
@click.option("--output", type=click.Choice(["token", "image"]), help="What is made.")
@click.option("--iterations", type=Whole(1), help="Counts of the unit that make one piece of the output.")
@data_dir_option
def add(data_dir: str | None, **fields: str | int | None) -> None:
    """Keep a workload in the data directory; the next refresh or rebuild knows it."""
    from gpuledger.transform.workloads import BadWorkload, Workload, save

    with as_wrong_use(BadWorkload):
        path = save(data_of(data_dir).root, Workload(**fields))  # type: ignore[arg-type]  # click checked the kinds
    click.echo(gettext("kept in {path}; the next `gpuledger refresh` or `rebuild` knows it").format(path=path))
