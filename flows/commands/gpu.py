"""`gpuledger gpu`: add cards to those of the catalogue."""

from __future__ import annotations

import click

from gpuledger.flows.doors.asking.options import data_dir_option, data_of, format_option, read_from
from gpuledger.flows.words.lang import gettext
from gpuledger.flows.words.say import as_wrong_use
from gpuledger.message import reason_of


@click.group()
def command() -> None:
    """Add cards that the catalogue lacks, or list those that were added."""


@command.command()
@click.argument("name", metavar="NAME")
@click.argument("figures", nargs=-1, metavar="[COLUMN=VALUE]...")
@click.option(
    "--source", required=True, metavar="TEXT", help="Where the figures are from: an address, a data sheet, a test."
)
@click.option(
    "--vendor", metavar="V", help="Its maker (default: that of the card it is like, or the first word of NAME)."
)
@click.option("--like", metavar="CARD", help="A card of the catalogue whose figures it has where no other is given.")
@data_dir_option
def add(
    name: str, figures: tuple[str, ...], source: str, vendor: str | None, like: str | None, data_dir: str | None
) -> None:
    """Keep a card with its figures as columns of core.gpu have them; memory and bandwidth are needed, of one GPU.

    \b
    gpuledger gpu add "RTX 4090 48GB" memory_gb=48 --like "RTX 4090" --source "seller's page"
    gpuledger gpu add "BR100" --vendor Biren memory_gb=64 memory_bandwidth_gb_s=2300 tensor_bf16_tflops=1024 \\
        tdp_w=550 form_factor=OAM segment=data_center --source "data sheet"

    `predict --gpu`, `resolve` and quotes know it at once, tables after the next refresh or rebuild.
    """
    from gpuledger.flows.doors.asking.card_names import gpu_of
    from gpuledger.flows.night.context import utc_now
    from gpuledger.transform.identity.added_cards import GPUS, BadGpu, OwnGpu, new_gpu
    from gpuledger.transform.identity.resolver import Resolver

    data = data_of(data_dir)
    model = gpu_of(data, like) if like else None
    stated = {}
    for figure in figures:
        column, equals, value = figure.partition("=")
        if not equals:
            message = gettext("a figure is COLUMN=VALUE, as in memory_gb=48, and not {text!r}")
            raise click.UsageError(message.format(text=figure))
        stated[column.strip()] = value.strip()
    first, _, title = name.strip().partition(" ")
    maker = vendor or (model.vendor if model else first)
    if not title and not vendor and model is None:
        raise click.UsageError(gettext("whose card is {name!r}? Say --vendor").format(name=name))
    if first.lower() != maker.lower() or not title:
        title = name.strip()
    with as_wrong_use(BadGpu):
        gpu = new_gpu(maker, title.strip(), model, stated)
        meant = Resolver.load().resolve(gpu.display_name)
        if meant.status == "matched":
            message = gettext(
                "{name!r} means {gpu} in the catalogue: give yours another name, with its memory for example"
            )
            raise click.UsageError(message.format(name=gpu.display_name, gpu=meant.gpu))
        own = OwnGpu(gpu, utc_now().date(), source)
    GPUS.put(data.root, own)
    kept = gettext("{gpu} ({gpu_id}), kept in {path}")
    click.echo(kept.format(gpu=gpu.display_name, gpu_id=gpu.gpu_id, path=GPUS.file(data.root)))
    click.echo(gettext("`predict` and `resolve` know it now, core.gpu after the next `gpuledger refresh` or `rebuild`"))


@command.command(name="list")
@data_dir_option
@format_option
def list_(data_dir: str | None, form: str) -> None:
    """Cards that were added, with what is wrong with those that cannot be used."""
    from gpuledger.flows.doors.showing.show import show_rows
    from gpuledger.transform.identity.added_cards import GPUS

    added, wrong = GPUS.usable(read_from(data_dir).root)
    rows: list[list[object]] = [
        [own.gpu.gpu_id, own.gpu.display_name, own.gpu.memory_gb, own.gpu.memory_bandwidth_gb_s, own.gpu.tdp_w,
         own.added_on, own.source, ""]
        for own in added
    ]  # fmt: skip
    rows += [[None, None, None, None, None, None, None, reason_of(error)] for error in wrong]
    columns = ["gpu_id", "gpu", "memory_gb", "memory_bandwidth_gb_s", "tdp_w", "added_on", "figures_source", "problem"]
    show_rows(columns, rows, form, if_empty=gettext("no card was added yet: `gpuledger gpu add` adds one"))
