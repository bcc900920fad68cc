"""Show the answer of `gpuledger buy`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import click

from gpuledger.extract.message import Message, Sum, Words, said, several
from gpuledger.flows.commands._explain import as_objects, show_steps
from gpuledger.flows.commands._show import no_rows, show
from gpuledger.flows.showing import market_words
from gpuledger.flows.showing.money import Money, money
from gpuledger.flows.telling import terminal
from gpuledger.flows.words.lang import gettext
from gpuledger.flows.words.say import say
from gpuledger.flows.words.sentences import spoken
from gpuledger.transform.assumptions import Assumptions
from gpuledger.transform.buying.advice import cheaper_ruled_out, what_would, without_prices
from gpuledger.transform.buying.hosts import estimated_on, hosts
from gpuledger.transform.buying.market import Evidence
from gpuledger.transform.buying.need import Need
from gpuledger.transform.buying.options import Limits, Option
from gpuledger.transform.identity.gpu import Gpu
from gpuledger.warehouse.paths import DataDir

if TYPE_CHECKING:
    from gpuledger.transform.speed.explained import Step


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The question and the options for it, the cheapest first.

    `options` goes up to the last option that is shown; if no option is an answer, it has all of them. `more` counts the
    answers behind those, and `unpriced` are the ones among them without a price.

    `now` is the time from which ages of prices are counted. Two fields are only filled if no option is an answer: `known`
    has the cards of the catalogue, and `elsewhere` a card in another condition that would be an answer.
    """

    need: Need
    limits: Limits
    assumptions: Assumptions
    options: Sequence[Option]
    more: int
    unpriced: Sequence[Option]
    now: datetime
    at_precision: Callable[[str], Need | None]
    known: Sequence[Gpu]
    elsewhere: Option | None


def show_answer(answer: Answer, data: DataDir, limit: int, form: str, *, explain: bool = False) -> int:
    """Print the options that keep to the limits, with `explain` each with its arithmetic. Returns the exit status.

    If there is no such option, print to standard error what would give one.
    """
    ruled_out = cheaper_ruled_out(answer.options)
    currency = money(data)
    rows = rows_of(answer, data, limit)
    if form != "table":
        columns, values = currency.table(
            _COLUMNS, [[said_to_programs(v, currency) for v in row.values()] for row in rows]
        )
        if explain:
            explanations = [as_objects(_steps(option, answer.need)) for option in _listed(answer, limit)]
            columns = [*columns, "explanation"]
            values = [[*row, explanation] for row, explanation in zip(values, explanations, strict=True)]
        show(columns, values, form)
    elif rows:
        paid = [
            {column: currency.amount(column, value) for column, value in row.items()}
            | {"next_cheaper_is_ruled_out": say(row["next_cheaper_is_ruled_out"], currency.sum)}
            for row in rows
        ]
        _table(answer, paid, list(ruled_out), currency, market_words.heading(data))
        if explain:
            for rank, option in enumerate(_listed(answer, limit), 1):
                click.echo(f"{rank}  {option.what}")
                show_steps(_steps(option, answer.need))
    if rows:
        return 0
    need, elsewhere = answer.need, answer.elsewhere
    why = [Message("buy.nothing_runs", model=need.model_id, precision=need.precision), *way_outs(answer)]
    if elsewhere is not None and elsewhere.price_usd is not None:
        condition, price = Message(f"word.{elsewhere.condition}"), Sum(elsewhere.price_usd)
        why.append(Message("buy.other_condition_would_do", what=elsewhere.what, condition=condition, price=price))
    return no_rows("\n  ".join(say(sentence, currency.sum) for sentence in why))


def said_to_programs(value: Any, currency: Money) -> Any:
    """The value, a message as its English sentence, which has its sums in the currency of the other columns."""
    return said(value, "en", Words(currency.sum)) if isinstance(value, Message) else value


def rows_of(answer: Answer, data: DataDir, limit: int) -> list[dict[str, Any]]:
    """The first `limit` options that keep to the limits, all of them for 0. Amounts are in dollars."""
    ruled_out = cheaper_ruled_out(answer.options)
    return [
        _row(rank, answer.options[position], ruled_out[position] or "", data, answer.need.users)
        for rank, position in enumerate(list(ruled_out)[: limit or None], 1)
    ]


def _steps(option: Option, need: Need) -> Iterator[Step]:
    """The arithmetic of an option. The module that knows it is imported here, so that other answers do not wait for it."""
    from gpuledger.transform.buying.explained import steps

    return steps(option, need)


def _listed(answer: Answer, limit: int) -> list[Option]:
    """The options that the rows of the answer show."""
    return [option for option in answer.options if not option.against][: limit or None]


def way_outs(answer: Answer) -> list[Message]:
    """Changes to the question that would give an option, for a question that has none."""
    return list(what_would(answer.options, answer.limits, answer.need, answer.at_precision, answer.known))


_COLUMNS = (
    "rank", "way", "condition", "what", "gpu_id", "gpu", "gpu_count", "price_usd", "price_is", "price_since",
    "last_seen_at", "market", "source", "needed_gb", "available_gb", "fits", "tokens_per_s", "speed_is",
    "decode_bound_tokens_per_s", "expected_tokens_per_s", "speed_verdict", "prefill_bound_tokens_per_s", "total_usd",
    "host_share_usd", "electricity_usd", "resale_usd", "usd_per_million_tokens", "next_cheaper_is_ruled_out", "url",
    "snapshot_sha256", "speed_url", "speed_snapshot_sha256", "low_tokens_per_s", "high_tokens_per_s", "engine", "split",
    "fit", "users", "each_tokens_per_s", "first_token_s", "prefill_tokens_per_s", "usd_per_million_input_tokens", "host",
    "note", "image_iterations_per_s", "images_per_s", "usd_per_thousand_images", "image_workload", "other_usd",
)  # fmt: skip


def _row(rank: int, option: Option, ruled_out: Message | str, data: DataDir, users: int) -> dict[str, Any]:
    speed, owned, evidence, prediction = option.speed, option.own, option.evidence, option.prediction
    rate, served = (None, None) if speed is None else (speed.rate, speed.serving)
    read_rate = None if prediction is None else prediction.prefill.expected
    pictures = option.pictures
    measured = pictures or (speed and speed.measured)
    values = (
        rank, option.way, option.condition, option.what, option.gpu_id, option.gpu, option.gpu_count, option.price_usd,
        _price_is(option), evidence and evidence.price_since, evidence and evidence.seen_at,
        evidence and evidence.market, evidence and evidence.source, round(option.needed_gb, 2),
        round(option.available_gb, 2), option.fits, speed and round(speed.expected, 1),
        "measured" if pictures else rate.basis if rate else "unknown",
        speed and round(speed.bound, 1), speed and round(speed.expected, 1), speed and speed.verdict,
        option.prefill_bound and round(option.prefill_bound),
        _money(option.total_usd), _money(None if owned is None else owned.host),
        _money(None if owned is None else owned.electricity), _money(None if owned is None else owned.resale),
        _money(option.usd_per_million_tokens), ruled_out, evidence and (evidence.url or _origin(evidence, data)),
        evidence and evidence.snapshot_sha256, measured and measured.url, measured and measured.snapshot_sha256,
        None if rate is None or rate.low is None else round(rate.low, 1),
        None if rate is None or rate.high is None else round(rate.high, 1),
        prediction and prediction.plan.engine.name, prediction.split if prediction and prediction.plan.count > 1 else None,
        prediction and prediction.verdict, prediction and users, speed and round(speed.each, 1),
        served and round(served.first_token_s, 2),
        read_rate and round(read_rate * option.copies),
        _money(option.usd_per_million_read), option.host and option.host.name, several(option.notes) or "",
        pictures and pictures.iterations_per_s, pictures and round(pictures.per_s * option.gpu_count, 4),
        _money(option.usd_per_thousand_images), pictures and pictures.workload,
        _money(None if owned is None else owned.other),
    )  # fmt: skip
    return dict(zip(_COLUMNS, values, strict=True))


def _price_is(option: Option) -> str:
    """What one pays the price for: all cards, or an hour of rent."""
    if option.price_usd is None:
        return "not known"
    return "all cards" if option.way == "buy" else "an hour"


def _money(amount: Decimal | None) -> Decimal | None:
    return None if amount is None else round(amount, 2)


def _origin(evidence: Evidence, data: DataDir) -> str | None:
    """The address of the archived page. The row itself may have none."""
    from gpuledger.extract import objects
    from gpuledger.extract.archive.snapshots import Archive

    snapshot = Archive(data.snapshots, objects.of(data.store)).origin(evidence.snapshot_sha256)
    return None if snapshot is None else snapshot.url


def _table(
    answer: Answer, rows: Sequence[dict[str, Any]], positions: Sequence[int], currency: Money, market: str
) -> None:
    need, assumed = answer.need, answer.assumptions
    question = gettext("{model} at {precision}").format(model=need.model_id, precision=need.precision)
    if need.context_tokens is not None:
        question += ", " + gettext("{count} tokens of context").format(count=need.context_tokens)
    if need.users > 1 and need.job is not None:
        question += ", " + gettext("{users} at once, {read} tokens read and {written} written each").format(
            users=need.users, read=need.job.load.prompt, written=need.answer_tokens
        )
    elif need.job is not None:
        question += ", " + gettext("one user")
    if need.tuning is not None:
        question = gettext("{model}, trained ({way})").format(model=need.model_id, way=need.tuning.way)
    title_parts = [
        question,
        gettext("{hours} h a day for {years} years").format(
            hours=f"{assumed.hours_per_day.normalize():f}", years=f"{assumed.horizon_years.normalize():f}"
        ),
        market,
        f"{assumed.electricity_usd_per_kwh.normalize():f} USD/kWh",
        gettext("prices as of {time} UTC").format(time=f"{answer.now:%Y-%m-%d %H:%M}"),
    ]
    is_unmeasured = need.job is None and need.tuning is None and not any(row["images_per_s"] for row in rows)
    is_cost_alone = is_unmeasured or need.tuning is not None
    columns = _of_text if need.job is not None else _offer_and_cost if is_cost_alone else _of_pictures
    lines = [list(columns(row).values()) for row in rows]
    # The title is printed in a pipe too, because the answer is incomplete without what its figures are for.
    terminal.say(currency.title(" · ".join(title_parts)))
    headings = list(columns(rows[0]))
    worth = {currency.heading(name): currency.heading(name) for name in (*_WORTH, *headings) if name in headings}
    show([currency.heading(heading) for heading in headings], lines, "table", headings=worth)
    for line in _footnotes(rows, currency):
        terminal.say(line)
    if need.tuning is not None:
        terminal.say(say(need.tuning.description))
    if is_unmeasured:
        click.echo(
            gettext("nobody measured {model} on these: how fast they are is not known").format(model=need.model_id)
        )
    for sentence in without_prices(answer.options):
        terminal.say(say(sentence))
    left_out = [answer.options[position] for position in positions[len(rows) :]]
    if hidden := len(left_out) + answer.more:
        click.echo(gettext("{count} more with --limit 0").format(count=hidden))
    for line in _without_price([*left_out, *answer.unpriced]):
        terminal.say(line)


#: The columns that a narrow screen keeps, the most important first.
_WORTH = (
    "#", "what", "way", "USD (an hour, if rented)", "total USD", "tokens/s", "pictures a minute", "USD per M tokens",
    "USD per 1000 pictures", "GB needed", "range", "speed is", "each user", "price since",
)  # fmt: skip

#: The most machines without a price that are named below the table.
_MACHINES = 5


def _without_price(left_out: Sequence[Option]) -> Iterator[str]:
    """Lines that name the fastest machines without a price. Of each chip only the machine with the least memory counts."""
    unpriced = sorted((o for o in left_out if o.price_usd is None), key=lambda option: option.available_gb)
    chips: dict[str, Option] = {}
    for option in unpriced:
        chips.setdefault(option.gpu.rpartition(" ")[0] or option.gpu, option)
    fastest = sorted(chips.values(), key=lambda option: -(option.speed.each if option.speed else 0))[:_MACHINES]
    if fastest:
        yield gettext("machines with shared memory that could run it, but whose price is not known here:")
    for option in fastest:
        speed = option.speed
        assert speed is not None, "a machine without price and speed is no option"
        low, high = (f"{value:.4g}" for value in (speed.rate.low or 0, speed.rate.high or 0))
        each = gettext(", {speed:.3g} for each").format(speed=speed.each) if speed.each < speed.expected else ""
        yield "   " + gettext("{what}: {needed} of {usable} GB, {speed} tokens/s ({low}–{high}, {basis}){each}").format(
            what=option.what, needed=f"{option.needed_gb:.1f}", usable=f"{option.available_gb:.1f}",
            speed=f"{speed.expected:.4g}", low=low, high=high, basis=spoken(speed.rate.basis), each=each,
        )  # fmt: skip


def _offer(row: dict[str, Any]) -> dict[str, Any]:
    return {
        "#": row["rank"], "what": row["what"], "way": _way(row), "market": row["market"] or "",
        "USD (an hour, if rented)": row["price_usd"], "price since": _day(row["price_since"]),
        "last confirmed": _day(row["last_seen_at"]),
        "GB needed": gettext("{done} of {known}").format(done=row["needed_gb"], known=row["available_gb"]),
    }  # fmt: skip


def _label(row: dict[str, Any]) -> str:
    label: str = row["speed_is"]
    return spoken(label)


def _day(time: datetime | None) -> str:
    return "" if time is None else f"{time:%Y-%m-%d}"


def _of_text(row: dict[str, Any]) -> dict[str, Any]:
    """A row for people, by its headings, for a model that writes text."""
    return _offer(row) | {
        "tokens/s": row["expected_tokens_per_s"], "range": _range(row), "speed is": _label(row),
        "each user": row["each_tokens_per_s"], "reads tokens/s": row["prefill_tokens_per_s"],
        "first token s": row["first_token_s"], "total USD": row["total_usd"],
        "USD per M tokens": row["usd_per_million_tokens"], "machine": spoken(row["host"] or ""),
        "next cheaper is ruled out": row["next_cheaper_is_ruled_out"],
    }  # fmt: skip


def _of_pictures(row: dict[str, Any]) -> dict[str, Any]:
    """A row for people, by its headings, for an image model."""
    return _offer(row) | {
        "it/s": row["image_iterations_per_s"],
        "pictures a minute": row["images_per_s"] and round(row["images_per_s"] * 60, 2),
        "speed is": _label(row), "total USD": row["total_usd"],
        "USD per 1000 pictures": row["usd_per_thousand_images"], "machine": spoken(row["host"] or ""),
        "next cheaper is ruled out": row["next_cheaper_is_ruled_out"],
    }  # fmt: skip


def _offer_and_cost(row: dict[str, Any]) -> dict[str, Any]:
    """A row for people, by its headings, without a speed: the model is trained, or nobody measured its pictures or clips."""
    return _offer(row) | {
        "total USD": row["total_usd"], "machine": spoken(row["host"] or ""),
        "next cheaper is ruled out": row["next_cheaper_is_ruled_out"],
    }  # fmt: skip


def _way(row: dict[str, Any]) -> str:
    """`buy`, `buy used`, `on demand`, `reserved 1y`."""
    way = spoken(row["way"].replace("_", " "))
    return way if row["condition"] in (None, "new") else f"{way} {spoken(_condition(row['condition']))}"


def _condition(condition: str | None) -> str:
    return (condition or "").replace("_", " ")


def _range(row: dict[str, Any]) -> str:
    if row["low_tokens_per_s"] is None:
        return ""
    return f"{row['low_tokens_per_s']:g}–{row['high_tokens_per_s']:g}"


def _footnotes(rows: Sequence[dict[str, Any]], currency: Money) -> Iterator[str]:
    for row in rows:
        if row["snapshot_sha256"]:
            yield f"{row['rank']}  {row['source']}  snapshot {row['snapshot_sha256'][:12]}  {row['url'] or ''}"
        if row["speed_url"]:
            verdict = row["speed_verdict"] or row["image_workload"]
            measured = gettext("measured")
            yield f"   {measured}: {verdict}; snapshot {row['speed_snapshot_sha256'][:12]}  {row['speed_url']}"
    picture_row = next((row for row in rows if row["image_workload"]), None)
    if picture_row is not None:
        steps = round(picture_row["image_iterations_per_s"] * picture_row["gpu_count"] / picture_row["images_per_s"])
        yield gettext("a picture is {steps} iterations, as in that benchmark; each GPU makes its own").format(
            steps=steps
        )
    if any(row["condition"] not in (None, "new") and row["what"] != row["gpu"] for row in rows):
        yield gettext("a used card is often a single piece: ask how many there are")
    notes: dict[str, list[str]] = {}
    for row in rows:
        if row["note"]:
            notes.setdefault(say(row["note"], currency.sum), []).append(str(row["rank"]))
    for note, ranks in notes.items():
        yield f"{', '.join(ranks)}  {note}"
    if any(row["host"] in {host.name for host in hosts()} for row in rows):
        message = gettext("machines: their price and idle power are our own estimates of {day}, not published figures; "
                          "--assume host_usd=… sets another price for the desktop")  # fmt: skip
        yield message.format(day=f"{estimated_on():%Y-%m}")
    engines = sorted({row["engine"] for row in rows if row["engine"] and row["tokens_per_s"] is not None})
    if engines:
        message = gettext("speeds are for {engines}; a calibrated speed lies within its range in 8 of 10 cases")
        yield message.format(engines=", ".join(engines))
    if any(row["speed_is"] == "bound" for row in rows):
        yield gettext("bound: nobody measured this, so it is a share of what physics allows (expected_utilisation)")
