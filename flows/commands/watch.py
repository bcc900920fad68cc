"""`gpuledger watch`: get a notification when a card becomes cheap enough."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gpuledger.flows.doors.asking.options import Paid, Whole, currency_option, data_dir_option, data_of, format_option
from gpuledger.flows.doors.showing import chosen
from gpuledger.flows.doors.showing.money import money
from gpuledger.flows.settings import settings as settings_module
from gpuledger.flows.words.lang import gettext
from gpuledger.flows.words.say import say
from gpuledger.message import Message
from gpuledger.warehouse.errors import NoWarehouse
from gpuledger.warehouse.paths import DataDir

if TYPE_CHECKING:
    from gpuledger.flows.telling.watches import Watch


@click.group()
def command() -> None:
    """Conditions that are looked at after each publish; each fires once when it becomes true, with the evidence.

    Who is told stands in GPULEDGER_NOTIFY_URLS: Apprise addresses, such as mailtos://… or slack://…
    """


@command.command()
@click.argument("card")
@click.option("--below", type=Paid(0, min_open=True), metavar="AMOUNT",
              help="Its street price is below this: in USD, or in --currency.")  # fmt: skip
@click.option(
    "--new-low", type=Whole(1), metavar="DAYS", help="Its street price is lower than on all of so many days before."
)
@currency_option
@data_dir_option
def add(card: str, below: float | None, new_low: int | None, data_dir: str | None) -> None:
    """Watch a CARD, as in `watch add "rtx 4090" --below 1500`.

    `buy --save` keeps a whole question: its pick and its price are watched too.
    """
    from gpuledger.flows.doors.asking.card_names import gpu_of
    from gpuledger.flows.telling import notify, watches
    from gpuledger.flows.telling.watches import Watch

    if (below is None) == (new_low is None):
        raise click.UsageError(gettext("give one of --below and --new-low"))
    data = data_of(data_dir)
    gpu = gpu_of(data, card)
    with suppress(NoWarehouse):  # then it is looked at after the first publish
        money(data)
    watch = Watch(
        id=0, rule="below" if below else "new_low", gpu_id=gpu.gpu_id, gpu=gpu.display_name, days=new_low,
        below=None if below is None else Decimal(f"{below:.15g}"), currency=chosen.currency() or "USD",
        added_on=datetime.now(UTC).date(),
    )  # fmt: skip
    added = watches.add(data, watch)
    click.echo(f"{gettext('watch')} {added.id}: {say(added.waits_for)}")
    if warning := notify.unheard(settings_module.load({"data_dir": data_dir})):
        click.echo(warning, err=True)
    _show_now(data, [added])


@command.command("list")
@data_dir_option
@format_option
def list_(data_dir: str | None, form: str) -> None:
    """The watches of this data directory, and the questions that `buy --save` keeps, which are watched too."""
    from gpuledger.flows.doors.showing.show import show_rows
    from gpuledger.flows.telling import watches
    from gpuledger.flows.telling.kept_answers import MOVED
    from gpuledger.transform.report.questions import QUESTIONS

    moved = Message("another pick, or its price on day one by {share:.0%}", share=MOVED)
    words: Callable[[object], str] = say if form == "table" else str
    show_rows(
        ["id", "watch", "rule", "gpu_id", "added_on"],
        [
            *(
                (w.id, words(w.waits_for), w.rule, w.gpu_id, w.added_on)
                for w in watches.WATCHES.all(data_of(data_dir).root)
            ),
            *((one.name, words(moved), "answer", None, one.kept_on) for one in QUESTIONS.all(data_of(data_dir).root)),
        ],
        form,
        if_empty=gettext('no watch yet: `gpuledger watch add "rtx 4090" --below 1500` adds one'),
    )


@command.command()
@click.argument("number")
@data_dir_option
def remove(number: str, data_dir: str | None) -> None:
    """Drop the watch with this NUMBER, or the kept question of this name."""
    from gpuledger.flows.telling import watches
    from gpuledger.transform.report.questions import QUESTIONS

    root, what = data_of(data_dir).root, number
    if QUESTIONS.remove(root, number) is None:
        removed = watches.WATCHES.remove(root, int(number)) if number.isdecimal() else None
        if removed is None:
            raise _unknown(number)
        what = say(removed.waits_for)
    click.echo(gettext("removed: {what}").format(what=what))


@command.command()
@click.argument("number", metavar="[NUMBER|NAME]", required=False)
@click.option("--send", is_flag=True, help="Also send it to the notification targets, as a test that it arrives.")
@data_dir_option
def test(number: str | None, send: bool, data_dir: str | None) -> int:
    """What the watches (or the one with this NUMBER, or the kept question of this NAME) find now.

    Nothing is noted: the real one still fires. Exit status with --send: 0 delivered to every target, 1 not.
    """
    from gpuledger.flows.telling import kept_answers, notify, watches
    from gpuledger.transform.report.questions import QUESTIONS

    settings = settings_module.load({"data_dir": data_dir})
    data = settings.data()
    looked_at = [watch for watch in watches.WATCHES.all(data.root) if number in (None, str(watch.id))]
    questions = [one.name for one in QUESTIONS.all(data.root) if number in (None, one.name)]
    if number is not None and not (looked_at or questions):
        raise _unknown(number)
    bodies = _show_now(data, looked_at)
    answers = kept_answers.now(data) if data.published.exists() else {}
    told = kept_answers.last_told(kept_answers.file(data))
    for name in questions:
        found = gettext("no night has answered it yet; the next `gpuledger refresh` does")
        if answer := answers.get(name):
            found = kept_answers.both(told.get(name, answer), answer)
        bodies.append(f"{name}. {found}")
        click.echo(bodies[-1])
    if not send:
        return 0
    import apprise  # noqa: F401 - if it is not installed, the error comes here and not in a thread

    if warning := notify.unheard(settings):
        raise click.UsageError(warning)
    urls = notify.targets(settings)
    body = "\n\n".join(bodies) or gettext("This is a test; there are no watches yet.")
    # The outbox is a temporary folder, because a test that does not arrive must not be tried again for a week.
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        message = notify.Message(gettext("gpuledger: a test"), body)
        undelivered = notify.send(Path(folder), [message], urls, settings.notify_deadline_s)
    sent = gettext("not delivered to every target") if undelivered else gettext("delivered to {count} targets")
    click.echo(sent.format(count=len(urls)))
    return 1 if undelivered else 0


def _unknown(name: str) -> click.UsageError:
    """That no watch has this number, and no kept question this name."""
    what = gettext("there is no watch and no kept question {name!r}; `gpuledger watch list` shows them")
    return click.UsageError(what.format(name=name))


def _show_now(data: DataDir, watches: list[Watch]) -> list[str]:
    """Print what each watch finds now. Returns the printed texts."""
    from gpuledger.flows.telling import health
    from gpuledger.flows.telling.watches import look

    try:
        results = look(data, watches, health.clock(data)) if watches else []
    except NoWarehouse:
        click.echo(gettext("nothing is published yet; it is looked at after the first run"))
        return []
    verdicts = {True: gettext("met now"), False: gettext("not met"), None: gettext("unknown")}
    bodies = [f"[{verdicts[result.is_met]}] {result.body}" for result in results]
    for result, body in zip(results, bodies, strict=True):
        click.echo(f"{result.watch.id}. {body}")
    return bodies
