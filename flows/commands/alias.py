"""`gpuledger alias`: titles that a person pins to a card."""

from __future__ import annotations

import click

from gpuledger.flows.doors.asking.options import data_dir_option, data_of, format_option
from gpuledger.flows.words import wrong_use
from gpuledger.flows.words.lang import gettext
from gpuledger.flows.words.say import say


@click.group()
def command() -> None:
    """Pin a title to a GPU where the rules leave it open or read it wrongly.

    A pin counts from the next `gpuledger refresh` or `gpuledger rebuild` on, for every row of that title. It is kept with
    its day and reason in decisions/pins.toml of the data directory.
    """


@command.command()
@click.argument("title")
@click.argument("gpu_id")
@click.option("--reason", required=True, help="Why; kept with the pin for whoever reads it later.")
@click.option("--source", default=None, metavar="S", help="Only in this source (default: wherever the title comes up).")
@data_dir_option
def add(title: str, gpu_id: str, reason: str, source: str | None, data_dir: str | None) -> None:
    """Let TITLE mean GPU_ID, as in core.gpu, or `not_a_gpu`."""
    from difflib import get_close_matches

    from gpuledger.extract import source as sources
    from gpuledger.flows.night.context import utc_now
    from gpuledger.transform.identity import catalogue, pins

    if source is not None and source not in sources.names():
        raise click.UsageError(wrong_use.no_source([source], sources.names()))
    data = data_of(data_dir)
    try:
        pin = pins.Pin(title=title, gpu_id=gpu_id, pinned_on=utc_now().date(), reason=reason, source=source)
    except pins.PinError as error:
        near = get_close_matches(gpu_id, catalogue.by_id(), n=3)
        raise click.UsageError(say(error) + (f"; near it are {', '.join(near)}" if near else "")) from None
    if replaced := pins.PINS.put(data.root, pin):
        sentence = gettext("replaced the pin to {gpu_id} of {day} ({reason})")
        click.echo(sentence.format(gpu_id=replaced.gpu_id, day=replaced.pinned_on, reason=replaced.reason))
    sentence = gettext("{title!r} means {gpu_id} from the next `gpuledger refresh` or `gpuledger rebuild` on")
    click.echo(sentence.format(title=title, gpu_id=gpu_id))


@command.command("list")
@data_dir_option
@format_option
def list_(data_dir: str | None, form: str) -> None:
    """The pins of this data directory."""
    from gpuledger.flows.doors.showing.show import show_rows
    from gpuledger.transform.identity.pins import PINS

    columns = ["title", "gpu_id", "source", "pinned_on", "reason"]
    show_rows(
        columns,
        [tuple(getattr(pin, column) for column in columns) for pin in PINS.all(data_of(data_dir).root)],
        form,
        if_empty=gettext("no title is pinned yet: `gpuledger alias add` pins one"),
    )


@command.command()
@click.argument("title")
@click.option("--source", default=None, metavar="S", help="The source that the pin is for, where it is for one.")
@data_dir_option
def remove(title: str, source: str | None, data_dir: str | None) -> None:
    """Take the pin of TITLE out: from the next refresh or rebuild on the rules decide again."""
    from gpuledger.transform.identity.pins import PINS, place_of

    data = data_of(data_dir)
    pin = PINS.remove(data.root, place_of(title, source))
    if pin is None:
        known = PINS.all(data.root)
        listed = "\n  ".join(f"{pin.title!r}" + (f" --source {pin.source}" if pin.source else "") for pin in known)
        there_are = f"; there are:\n  {listed}" if known else "; there is none at all"
        raise click.UsageError(f"no pin of {title!r}{f' for {source}' if source else ' for all sources'}{there_are}")
    click.echo(
        f"{pin.title!r} no longer means {pin.gpu_id} from the next `gpuledger refresh` or `gpuledger rebuild` on"
    )
