"""Show the answer of `gpuledger buy`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any, cast

import click

from gpuledger.flows.doors.showing import chosen, terminal
from gpuledger.flows.doors.showing.money import Money, market_named, prices_as_of, prices_heading, tax_heading
from gpuledger.flows.doors.showing.show import no_rows, show_rows
from gpuledger.flows.words.lang import gettext
from gpuledger.flows.words.say import say, spoken
from gpuledger.message import Message, Words, said
from gpuledger.transform.buying.advice import without_prices
from gpuledger.transform.buying.answer import Answer
from gpuledger.transform.buying.choosing.comfort import least_speed
from gpuledger.transform.buying.headline import horizon, paragraphs, prices_from, sentences, why_nothing
from gpuledger.transform.buying.need import Need
from gpuledger.transform.buying.options import Option
from gpuledger.transform.buying.question import given
from gpuledger.transform.buying.rows import COLUMNS, Shown, row_of
from gpuledger.warehouse.paths import DataDir

#: What `buy --format json` prints and an agent gets, as JSON Schema. An option has the columns of rows.COLUMNS, those of
#: money in the currency (`outlay_eur`).
SCHEMA: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "additionalProperties": False,
    "required": [
        "question", "as_of", "currency", "market", "presumed", "picks", "sentences", "silent", "options", "options_in_all",
        "refusal",
    ],
    "properties": {
        "question": {"type": "object", "description": "what was asked, by the names of the options"},
        "as_of": {"type": "string", "description": "time of the prices; before the first night of the newest pick's"},
        "age_hours": {"type": "number", "description": "hours since as_of, to an agent"},
        "is_sample": {"type": "boolean", "description": "whether prices are invented, to an agent"},
        "note": {"type": "string", "description": "what must be known of the prices, to an agent"},
        "currency": {"type": "string"},
        "market": {"type": "string"},
        "presumed": {"type": "object", "description": "what counted where the question leaves it open"},
        "picks": {"type": "array", "maxItems": 3, "items": {"$ref": "#/$defs/option"}},
        "sentences": {"type": "array", "items": {"type": "string"}},
        "silent": {
            "description": "sources of prices that gave nothing for longer than usual: name and time of the last success",
            "type": "object",
        },
        "options": {"type": "array", "items": {"$ref": "#/$defs/option"}},
        "options_in_all": {"type": "integer", "minimum": 0},
        "refusal": {
            "type": ["object", "null"],
            "description": "why there is no option, and what would give one",
            "required": ["reason", "ways_out"],
            "properties": {"reason": {"type": "string"}, "ways_out": {"type": "array", "items": {"type": "string"}}},
        },
    },
    "$defs": {
        "option": {
            "type": "object",
            "required": [name for name in COLUMNS if not name.endswith("_usd") and "usd_" not in name],
            "properties": {
                "rank": {"type": "integer", "minimum": 1},
                "pick": {"enum": ["", "first", "for less", "other condition"]},
                "cooling": {"enum": [None, "own fan", "fans of a server"]},
                "explanation": {"type": "array"},
            },
        }
    },
}  # fmt: skip


def show_answer(answer: Answer, data: DataDir, limit: int, form: str, *, explain: bool = False) -> int:
    """Print the options that keep to the limits, with `explain` each with its arithmetic. Returns the exit status.

    If there is no such option, print to standard error what would give one.
    """
    if form == "json":
        terminal.give(as_object(answer, data, limit, explain=explain))
    else:
        columns, values = table_of(answer, data, limit, to_people=form == "table")
        if form == "csv":
            show_rows(columns, values, form)
        elif values:
            rows = [dict(zip(COLUMNS, row, strict=True)) for row in values]
            _table(answer, rows, data, explain=explain)
            if explain:  # other answers do not wait for the modules that know the arithmetic
                from gpuledger.flows.doors.showing.prediction import show_steps
                from gpuledger.transform.buying.explained import steps

                place = answer.stock.place
                said = gettext("the sums of this arithmetic are in US dollars, {tax}").format(tax=tax_heading(place))
                terminal.say(cast("Money", place.currency).title(said))
                for rank, (option, _) in enumerate(answer.ranked(limit), 1):
                    click.echo(f"{rank}  {option.what}")
                    show_steps(steps(option, answer.need, answer.limits.country, answer.stock.electricity))
    if answer.ranking:
        return 0
    return no_rows(
        "\n  ".join(say(line, cast("Money", answer.stock.place.currency).sum) for line in why_nothing(answer))
    )


def as_object(answer: Answer, data: DataDir, limit: int, *, explain: bool = False) -> dict[str, Any]:
    """The answer for programs, as `SCHEMA` says, with its first `limit` options (0: all)."""
    columns, values = table_of(answer, data, 0)
    rows = [dict(zip(columns, row, strict=True)) for row in values]
    options = rows[: limit or None]
    if explain:
        from gpuledger.flows.doors.showing.prediction import as_objects
        from gpuledger.transform.buying.explained import steps

        for row, (option, _) in zip(options, answer.ranked(limit), strict=True):
            row["explanation"] = as_objects(steps(option, answer.need, answer.limits.country, answer.stock.electricity))
    need, assumed, stock = answer.need, answer.assumptions, answer.stock
    why = [] if rows else [in_english(line, answer) for line in why_nothing(answer)]
    return {
        "question": given(answer.question),
        "as_of": prices_from(answer)[1],
        "currency": stock.place.currency.code,
        "market": stock.place.market,
        "presumed": {
            "model": need.model_id, "precision": need.precision, "context": need.context_tokens, "users": need.users,
            "engine": None if need.is_by_rate else need.engine.name, "for": answer.use,
            "least_tokens_per_s": least_speed(need, answer.limits, assumed) or None,
            "hours_per_day": assumed.hours_per_day, "horizon_years": assumed.horizon_years,
            "electricity_usd_per_kwh": assumed.electricity_usd_per_kwh, "country": answer.limits.country,
        },
        "picks": [row for row in rows if row["pick"]],
        "sentences": [in_english(line, answer) for line in sentences(answer)],
        "silent": dict(stock.silent),
        "options": options,
        "options_in_all": len(rows),
        "refusal": {"reason": why[0], "ways_out": why[1:]} if why else None,
    }  # fmt: skip


def table_of(
    answer: Answer, data: DataDir, limit: int, *, to_people: bool = False
) -> tuple[list[str], list[list[Any]]]:
    """The columns, and the first `limit` options that keep to the limits (0: all), in the currency of the answer.

    Sentences are in the language in use for people, and in English for programs.
    """
    currency = cast("Money", answer.stock.place.currency)
    rows = [
        row_of(
            Shown(
                rank=rank, option=option, ruled_out=why, answer=answer,
                origin=lambda sha256: _origin(sha256, data),
            )
        )
        for rank, (option, why) in enumerate(answer.ranked(limit), 1)
    ]  # fmt: skip
    said_rows = [
        [
            say(value, currency.sum) if to_people and isinstance(value, Message) else in_english(value, answer)
            for value in row.values()
        ]
        for row in rows
    ]
    return currency.table(list(COLUMNS), said_rows)


def in_english(value: Any, answer: Answer) -> Any:
    """The value, a message as its English sentence, which has its sums in the currency of the answer."""
    return said(value, Words(cast("Money", answer.stock.place.currency).sum)) if isinstance(value, Message) else value


def _origin(sha256: str, data: DataDir) -> str | None:
    """The address of an archived page. The row itself may have none."""
    from gpuledger.extract.archive.snapshots import Archive

    snapshot = Archive.at(data.snapshots, data.store).origin(sha256)
    return None if snapshot is None else snapshot.url


def _table(answer: Answer, rows: Sequence[dict[str, Any]], data: DataDir, *, explain: bool) -> None:
    need, currency = answer.need, cast("Money", answer.stock.place.currency)
    for paragraph in paragraphs(answer):
        terminal.say(" ".join(say(line, currency.sum) for line in paragraph))
    is_speech = need.job is not None and need.job.shape.is_of_speech
    columns = _of_pictures if need.diffusion is not None else _of_speech if is_speech else _of_text
    lines = [list(columns(row).values()) for row in rows]
    # The title is printed in a pipe too, because the answer is incomplete without what its figures are for.
    terminal.say(currency.title(_title(answer, data)))
    headings = {name: currency.heading(name) for name in columns(rows[0])}
    worth = [headings[name] for name in dict.fromkeys((*_WORTH, *headings)) if name in headings]
    show_rows([*headings.values()], lines, "table", worth=worth)
    if answer.question.order == "picks":
        terminal.say(_order(answer))
    for line in _footnotes(rows, answer.need, evidence=explain):
        terminal.say(line)
    if need.tuning is not None:
        terminal.say(say(need.tuning.description))
    for message in without_prices(answer.options):
        terminal.say(say(message))
    left_out = [option for option, _ in answer.ranked(0)[len(rows) :]]
    if hidden := len(left_out):
        click.echo(gettext("{count} more with --limit 0; evidence and arithmetic with --explain").format(count=hidden))
    for line in _without_price(left_out):
        terminal.say(line)


def _order(answer: Answer) -> str:
    """Why the rows stand as they do, with what is comfortable beside the speed of the title."""
    known, need = answer.assumptions, answer.need
    limits = gettext("cards of {memory:g} GB, no experimental software").format(memory=known.least_card_gb)
    if need.writes:
        limits = gettext("first token within {wait:g} s, {free:.0%} of memory free").format(
            wait=known.comfortable_first_token_s, free=known.free_memory_share
        ) + f", {limits}"  # fmt: skip
    elif need.diffusion is not None:
        seconds = known.comfortable_clip_minutes * 60 if need.diffusion.clip else known.comfortable_picture_s
        limits = gettext("each within {seconds:g} s").format(seconds=seconds) + f", {limits}"
    return gettext("order: the picks, what is comfortable ({limits}), the rest").format(limits=limits)


def _title(answer: Answer, data: DataDir) -> str:
    """The question and what its figures are for."""
    need, assumed, stock = answer.need, answer.assumptions, answer.stock
    currency = cast("Money", stock.place.currency)
    question = gettext("{model} at {precision}").format(model=need.model_id, precision=need.precision)
    if need.context_tokens is not None:
        question += ", " + gettext("{count} tokens of context").format(count=need.context_tokens)
    if need.users > 1 and need.job is not None:
        question += ", " + gettext("{users} at once, {read} tokens read and {written} written each").format(
            users=need.users, read=need.job.load.prompt, written=need.answer_tokens
        )
    elif need.job is not None:
        question += ", " + (gettext("one text after another") if need.reads_only else gettext("one user"))
    if need.tuning is not None:
        question = gettext("{model}, trained ({way})").format(model=need.model_id, way=need.tuning.way)
    use = _presumed(answer)
    if stock.is_packaged:
        months = "–".join(dict.fromkeys(f"{day:%Y-%m}" for day in prices_from(answer)))
        prices = f"{market_named(stock.place.market)} · {prices_as_of(months)}"
    else:
        prices = prices_heading(data)
    is_presumed = answer.question.budget is not None and not chosen.names_currency() and stock.place.market != "us"
    budget = gettext("the budget is in {currency}, as no --currency is given").format(currency=currency.code)
    parts = [
        question,
        *use,
        gettext("{hours} h a day for {years}").format(
            hours=f"{assumed.hours_per_day.normalize():f}", years=say(horizon(answer))
        ),
        prices,
        *([budget] if is_presumed else []),
        gettext("{price} {currency}/kWh").format(
            price=f"{float(assumed.electricity_usd_per_kwh) / currency.usd:.3g}", currency=currency.code
        ),
    ]
    return " · ".join(parts)


def _presumed(answer: Answer) -> Iterator[str]:
    """What it is for with its least comfortable speed, and that a precision is an ideal one."""
    least = least_speed(answer.need, answer.limits, answer.assumptions)
    if least and answer.need.tuning is None:
        yield gettext("{use}, from {speed} tokens/s each").format(
            use=gettext(answer.question.use or "chat"), speed=f"{least:g}"
        )
    if answer.need.precision == "int4" and answer.need.job is not None:
        yield gettext("int4 is ideal: no file has 4 bits a weight")


#: The columns that a narrow screen keeps, the most important first.
_WORTH = (
    "#", "what", "way", "day one USD", "in all USD", "tokens/s", "each user", "seconds each", "times real time",
    "mark", "range", "machine", "writes tokens/s", "USD (an hour, if rented)", "speed is", "USD per M tokens",
    "USD per 1000 pictures", "GB needed", "price since",
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
        yield gettext("could run it too, but no price is known here:")
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
        "#": row["rank"], "what": row["what"], "way": _way(row), "day one USD": row["outlay_usd"],
        "in all USD": row["total_usd"], "mark": spoken(row["price_mark"]), "market": row["market"] or "",
        "USD (an hour, if rented)": row["price_usd"], "price since": _day(row["price_since"]),
        "last confirmed": _day(row["last_seen_at"]),
        "GB needed": gettext("{done} of {known}").format(done=row["needed_gb"], known=row["available_gb"]),
    }  # fmt: skip


def _day(time: datetime | None) -> str:
    return "" if time is None else f"{time:%Y-%m-%d}"


def _of_text(row: dict[str, Any]) -> dict[str, Any]:
    """A row for people, by its headings, for a model that writes text."""
    return _offer(row) | {
        **(
            {"tokens/s": row["expected_tokens_per_s"]} if row["users"] in (1, None)
            else {"each user": row["each_tokens_per_s"], "writes tokens/s": row["expected_tokens_per_s"]}
        ), "range": "" if row["low_tokens_per_s"] is None else f"{row['low_tokens_per_s']:g}–{row['high_tokens_per_s']:g}",
        "speed is": spoken(row["speed_is"]),
        "reads tokens/s": row["prefill_tokens_per_s"],
        "first token s": row["first_token_s"],
        "USD per M tokens": row["usd_per_million_tokens"], "machine": spoken(row["host"] or ""),
    }  # fmt: skip


def _of_pictures(row: dict[str, Any]) -> dict[str, Any]:
    """A row for people, by its headings, for an image model."""
    return _offer(row) | {
        "seconds each": _seconds(row["images_per_s"], row),
        "range": "–".join(filter(None, (_seconds(row[f"{end}_images_per_s"], row) for end in ("high", "low")))),
        "speed is": spoken(row["speed_is"]),
        "USD per 1000 pictures": row["usd_per_thousand_images"], "machine": spoken(row["host"] or ""),
    }  # fmt: skip


def _of_speech(row: dict[str, Any]) -> dict[str, Any]:
    """A row for people, by its headings, for a model that writes speech down."""
    return _offer(row) | {
        "times real time": row["times_real_time"],
        "range": f"{row['low_times_real_time']:g}–{row['high_times_real_time']:g}" if row["times_real_time"] else "",
        "speed is": spoken(row["speed_is"]), "machine": spoken(row["host"] or ""),
    }  # fmt: skip


def _seconds(images_per_s: float | None, row: dict[str, Any]) -> str:
    """How long one picture or clip takes on one of the cards."""
    seconds = row["gpu_count"] / images_per_s if images_per_s else 0
    return f"{seconds:,.0f}" if seconds >= 100 else f"{seconds:.3g}" if seconds else ""


def _way(row: dict[str, Any]) -> str:
    """`buy`, `buy used`, `on demand`, `reserved 1y`."""
    way, condition = (spoken((row[name] or "new").replace("_", " ")) for name in ("way", "condition"))
    return (
        way if row["condition"] in (None, "new") else gettext("{way} {condition}").format(way=way, condition=condition)
    )


def _footnotes(rows: Sequence[dict[str, Any]], need: Need, *, evidence: bool) -> Iterator[str]:
    for row in rows if evidence else ():
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
            notes.setdefault(row["note"], []).append(str(row["rank"]))
    for note, ranks in notes.items():
        yield f"{', '.join(ranks)}  {say(note)}"
    engines = sorted({row["engine"] for row in rows if row["engine"] and row["tokens_per_s"] is not None})
    if engines:
        yield gettext("speeds are for {engines}").format(engines=", ".join(engines))
    if any(row["speed_is"] == "calibrated" for row in rows):
        yield gettext("a calibrated speed lies within its range in 8 of 10 cases")
    if any(row["speed_is"] == "bound" for row in rows):
        yield gettext("bound: nobody measured this, so it is a share of what physics allows (expected_utilisation)")
