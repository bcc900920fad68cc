"""`gpuledger watch`: get a notification when a card becomes cheap enough, or good enough for its money."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gpuledger.flows.asking.options import (
    Whole,
    currency_option,
    data_dir_option,
    data_of,
    format_option,
)
from gpuledger.flows.settings import settings as settings_module
from gpuledger.flows.showing import chosen
from gpuledger.flows.showing.money import money
from gpuledger.flows.words import wrong_use
from gpuledger.flows.words.lang import gettext
from gpuledger.warehouse.paths import DataDir

if TYPE_CHECKING:
    from gpuledger.flows.telling.watches import Basis, Watch


@click.group()
def command() -> None:
    """Conditions that are looked at after each publish; each fires once when it becomes true, with the evidence.

    Who is told stands in GPULEDGER_NOTIFY_URLS: Apprise addresses, such as mailtos://… or slack://…
    """


@command.command()
@click.argument("title", required=False)
@click.option(
    "--below",
    metavar="AMOUNT",
    help="Its street price, or with --fits that of all cards together, is below this: in USD, or in --currency.",
)
@click.option("--value-rank", "rank", type=Whole(1), metavar="N",
              help="It is among the best N of --workload by score per dollar.")  # fmt: skip
@click.option(
    "--workload",
    metavar="W",
    help="For --value-rank; `gpuledger sql 'FROM core.workload'` lists them.",
)
@click.option("--price", "basis", type=click.Choice(["street", "msrp"]), default="street", show_default=True,
              help="For --value-rank.")  # fmt: skip
@click.option("--new-low", metavar="DAYS", help="Its street price is lower than on all of so many days before: 90d.")
@click.option("--fits", "model", metavar="MODEL", help="Cards that hold this model cost less than --below together.")
@click.option("--precision", default="int4", show_default=True, help="For --fits.")
@click.option("--context", "context_tokens", type=Whole(1), default=8192, show_default=True,
              help="For --fits, in tokens.")  # fmt: skip
@currency_option
@data_dir_option
def add(
    title: str | None,
    below: str | None,
    rank: int | None,
    workload: str | None,
    basis: Basis,
    new_low: str | None,
    model: str | None,
    precision: str,
    context_tokens: int,
    data_dir: str | None,
) -> None:
    """Watch the card that TITLE means, as in `watch add "rtx 4090" --below 1500`.

    With --fits, TITLE may be left out.
    """
    from gpuledger.flows.asking.card_names import gpu_of
    from gpuledger.flows.telling import watches
    from gpuledger.flows.telling.watches import Watch

    card = gpu_of(data_of(data_dir), title) if title else None
    gpu_id, gpu = (card.gpu_id, card.display_name) if card else (None, None)
    rules = [rank is not None, new_low is not None, model is not None]
    if sum(rules) > 1 or not (any(rules) or below):
        raise click.UsageError("give one of --below, --value-rank, --new-low, or --fits with --below")
    if model is None and gpu_id is None:
        raise click.UsageError("name the card to watch")
    if (rank is None) != (workload is None) or (model is not None and below is None):
        raise click.UsageError("--value-rank and --workload go together, and so do --fits and --below")
    if below is not None and (rank is not None or new_low is not None):
        raise click.UsageError("--below goes with --fits or alone")
    data = data_of(data_dir)
    watch = Watch(
        id=0, rule="fits" if model else "value_rank" if rank else "new_low" if new_low else "below",
        gpu_id=gpu_id, gpu=gpu, below=_amount(below) if below else None, currency=chosen.currency() or "USD",
        workload=workload, rank=rank, basis=basis, days=_days(new_low) if new_low else None,
        model=model, precision=precision if model else None, context_tokens=context_tokens if model else None,
        added_on=datetime.now(UTC).date(),
    )  # fmt: skip
    _check(data, watch)
    added = watches.add(data, watch)
    click.echo(f"watch {added.id}: {added.waits_for}")
    _show_now(data, [added])


@command.command("list")
@data_dir_option
@format_option
def list_(data_dir: str | None, form: str) -> None:
    """The watches of this data directory, and the questions that `buy --save` keeps, which are watched too."""
    from gpuledger.flows.showing.show import show_rows
    from gpuledger.flows.telling import watches
    from gpuledger.flows.telling.kept_answers import MOVED
    from gpuledger.transform.report.questions import QUESTIONS

    show_rows(
        ["id", "watch", "rule", "gpu_id", "added_on"],
        [
            *((w.id, w.waits_for, w.rule, w.gpu_id, w.added_on) for w in watches.WATCHES.all(data_of(data_dir).root)),
            *(
                (one.name, f"another pick, or its price on day one by {MOVED:.0%}", "answer", None, one.kept_on)
                for one in QUESTIONS.all(data_of(data_dir).root)
            ),
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

    if QUESTIONS.remove(data_of(data_dir).root, number) is not None:
        click.echo(f"removed: {number}")
        return
    click.echo(f"removed: {watches.remove(data_of(data_dir), Whole(1).convert(number, None, None)).waits_for}")


@command.command()
@click.argument("number", type=Whole(1), required=False)
@click.option("--send", is_flag=True, help="Also send it to the notification targets, as a test that it arrives.")
@data_dir_option
def test(number: int | None, send: bool, data_dir: str | None) -> int:
    """What the watches (or the one with this NUMBER) find now.

    Nothing is noted: the real one still fires. Exit status with --send: 0 delivered to every target, 1 not.
    """
    from gpuledger.flows.settings.settings import SettingsError
    from gpuledger.flows.telling import health, kept_answers, notify, watches

    settings = settings_module.load({"data_dir": data_dir})
    data = settings.data()
    looked_at = [watch for watch in watches.WATCHES.all(data.root) if number in (None, watch.id)]
    if number is not None and not looked_at:
        raise SettingsError(f"there is no watch {number}; `gpuledger watch list` shows them")
    bodies = _show_now(data, looked_at)
    is_all = number is None and data.published.exists()
    for name, answer in (kept_answers.now(data, settings, health.clock(data)) if is_all else {}).items():
        before = kept_answers.last_told(kept_answers.file(data)).get(name, answer)
        bodies.append(f"{name}. before ({before['day']}): {before['sentence']}\nnow: {answer['sentence']}")
        click.echo(bodies[-1])
    if not send:
        return 0
    import apprise  # noqa: F401 - if it is not installed, the error comes here and not in a thread

    urls = notify.targets(settings)
    if not urls:
        raise click.UsageError("no notification target is set: put Apprise addresses in GPULEDGER_NOTIFY_URLS")
    body = "\n\n".join(bodies) or "This is a test; there are no watches yet."
    # The outbox is a temporary folder, because a test that does not arrive must not be tried again for a week.
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        message = notify.Message("gpuledger: a test", body)
        undelivered = notify.send(Path(folder), [message], urls, settings.notify_deadline_s)
    click.echo("not delivered to every target" if undelivered else f"delivered to {len(urls)}")
    return 1 if undelivered else 0


#: Currencies by their signs.
_SIGNS = {"$": "USD", "€": "EUR", "£": "GBP", "₩": "KRW"}


def _amount(text: str) -> Decimal:
    """An amount in the currency of --currency. A usage error if the amount has the sign of another currency."""
    currency = next((code for sign, code in _SIGNS.items() if sign in text), None)
    if currency and currency != (chosen.currency() or "USD"):
        message = gettext("{text!r} is in {currency}: give --currency {currency} beside it")
        raise click.UsageError(message.format(text=text, currency=currency))
    try:
        amount = Decimal(text.strip("".join(_SIGNS) + " ").replace(",", ""))
    except InvalidOperation:
        raise click.UsageError(f"{text!r} is no amount such as 1500") from None
    if not (amount.is_finite() and 0 < amount <= 10**12):
        raise click.UsageError(f"an amount must be above zero, not {text}")
    return amount


def _days(text: str) -> int:
    digits = text.removesuffix("d")
    if not digits.isdecimal() or int(digits) < 1:
        raise click.UsageError(f"{text!r} is no number of days such as 90d")
    return int(digits)


def _check(data: DataDir, watch: Watch) -> None:
    """A usage error for a watch that can never fire: with an unknown workload, model, precision or context."""
    from gpuledger.flows.telling.watches import look
    from gpuledger.transform.answers import workloads
    from gpuledger.warehouse.errors import NoWarehouse

    try:
        if watch.workload is not None:
            known = workloads.known(data)
            if watch.workload not in known:
                message = gettext("no workload is called {workload!r}").format(workload=watch.workload)
                raise click.UsageError(wrong_use.unknown(message, watch.workload, known, "gpuledger workloads"))
        money(data)
        look(data, [watch], datetime.now(UTC))
    except NoWarehouse:
        pass  # the watch is looked at after the first publish


def _show_now(data: DataDir, watches: list[Watch]) -> list[str]:
    """Print what each watch finds now. Returns the printed texts."""
    from gpuledger.flows.telling import health
    from gpuledger.flows.telling.watches import look
    from gpuledger.warehouse.errors import NoWarehouse

    try:
        results = look(data, watches, health.clock(data)) if watches else []
    except NoWarehouse:
        click.echo("nothing is published yet; it is looked at after the first run")
        return []
    verdicts = {True: "met now", False: "not met", None: "unknown"}
    bodies = [f"[{verdicts[result.is_met]}] {result.body}" for result in results]
    for result, body in zip(results, bodies, strict=True):
        click.echo(f"{result.watch.id}. {body}")
    return bodies
