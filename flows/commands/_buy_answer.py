"""How the answer of `gpuledger buy` is shown."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

import click

from gpuledger.flows.commands._show import show
from gpuledger.flows.setup.lang import gettext
from gpuledger.transform.assumptions import Assumptions
from gpuledger.transform.buying.advice import cheaper_ruled_out, what_would
from gpuledger.transform.buying.market import Evidence, Known
from gpuledger.transform.buying.need import Need
from gpuledger.transform.buying.options import Limits, Option
from gpuledger.warehouse.paths import DataDir


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What was asked, and every option for it, the cheapest first. `now` is what prices are aged by; `known` are the cards
    of the catalogue, where no option is an answer, and `elsewhere` a card in another condition that is one then.
    """

    need: Need
    limits: Limits
    assumptions: Assumptions
    options: Sequence[Option]
    now: datetime
    at_precision: Callable[[str], Need | None]
    known: Sequence[Known]
    elsewhere: Option | None


def show_answer(answer: Answer, data: DataDir, limit: int, form: str) -> None:
    """Print the options that keep to the limits; where there is none, what would give one (on standard error)."""
    ruled_out = cheaper_ruled_out(answer.options)
    chosen = list(ruled_out)[: limit or None]
    rows = [
        _row(rank, answer.options[position], ruled_out[position], answer.now, data)
        for rank, position in enumerate(chosen, 1)
    ]
    if form != "table":
        show(list(rows[0]) if rows else list(_COLUMNS), [list(row.values()) for row in rows], form)
    elif rows:
        _table(answer, rows, len(ruled_out))
    if not rows:
        need = answer.need
        click.echo(f"nothing runs {need.model_id} at {need.precision} as asked", err=True)
        for sentence in what_would(answer.options, answer.limits, need, answer.at_precision, answer.known):
            click.echo(f"  {sentence}", err=True)
        if answer.elsewhere is not None:
            other = answer.elsewhere
            click.echo(f"  {_condition(other.condition)}, {other.what} at {other.price_usd:,.2f} USD would do: "
                       "--condition any", err=True)  # fmt: skip


_COLUMNS = (
    "rank", "way", "condition", "what", "gpu_id", "gpu", "gpu_count", "price_usd", "price_is", "price_since",
    "price_seen_at", "price_age_hours", "source", "needed_gb", "available_gb", "fits", "tokens_per_s", "speed_is",
    "decode_bound_tokens_per_s", "expected_tokens_per_s", "speed_verdict", "prefill_bound_tokens_per_s", "total_usd",
    "host_share_usd", "electricity_usd", "resale_usd", "usd_per_million_tokens", "next_cheaper_is_ruled_out", "url",
    "snapshot_sha256", "speed_url", "speed_snapshot_sha256",
)  # fmt: skip


def _row(rank: int, option: Option, ruled_out: str, now: datetime, data: DataDir) -> dict[str, Any]:
    speed, own, evidence = option.speed, option.own, option.evidence
    values = (
        rank, option.way, option.condition, option.what, option.gpu_id, option.gpu, option.gpu_count, option.price_usd,
        "all cards" if option.way == "buy" else "an hour", evidence.price_since, evidence.seen_at,
        round((now - evidence.seen_at).total_seconds() / 3600, 1), evidence.source, round(option.needed_gb, 2),
        round(option.available_gb, 2), option.fits, speed and round(speed.tokens_per_s, 1), speed and speed.basis,
        speed and round(speed.bound, 1), speed and round(speed.expected, 1), speed and speed.verdict,
        option.prefill_bound and round(option.prefill_bound),
        _money(option.total_usd), _money(None if own is None else own.host),
        _money(None if own is None else own.electricity), _money(None if own is None else own.resale),
        _money(option.usd_per_million_tokens), ruled_out, evidence.url or _origin(evidence, data),
        evidence.snapshot_sha256, speed and speed.measured and speed.measured.url,
        speed and speed.measured and speed.measured.snapshot_sha256,
    )  # fmt: skip
    return dict(zip(_COLUMNS, values, strict=True))


def _money(amount: Decimal | None) -> Decimal | None:
    return None if amount is None else round(amount, 2)


def _origin(evidence: Evidence, data: DataDir) -> str | None:
    """Address of the archived page, where the row itself has none."""
    from gpuledger.extract.archive.snapshots import Archive

    snapshot = Archive(data.snapshots).origin(evidence.snapshot_sha256)
    return None if snapshot is None else snapshot.url


def _table(answer: Answer, rows: Sequence[dict[str, Any]], count: int) -> None:
    need, assumed = answer.need, answer.assumptions
    what = gettext("{model} at {precision}").format(model=need.model_id, precision=need.precision)
    if need.context_tokens is not None:
        what += ", " + gettext("{count} tokens of context").format(count=need.context_tokens)
    words = [
        what,
        gettext("{hours} h a day for {years} years").format(
            hours=f"{assumed.hours_per_day.normalize():f}", years=f"{assumed.horizon_years.normalize():f}"
        ),
        f"{assumed.electricity_usd_per_kwh.normalize():f} USD/kWh",
        gettext("prices as of {time} UTC").format(time=f"{answer.now:%Y-%m-%d %H:%M}"),
    ]
    shown = [
        [
            row["rank"], row["what"], _way(row), row["price_usd"], _age(row["price_age_hours"]),
            f"{row['needed_gb']} of {row['available_gb']}", row["tokens_per_s"], row["speed_is"] or "",
            row["expected_tokens_per_s"], row["prefill_bound_tokens_per_s"], row["total_usd"], row["usd_per_million_tokens"],
            row["next_cheaper_is_ruled_out"],
        ]
        for row in rows
    ]  # fmt: skip
    headings = [
        "#", "what", "way", "USD (an hour, if rented)", "price age", "GB needed", "tokens/s", "speed is", "expected",
        "reads tokens/s at most", "total USD", "USD per M tokens", "next cheaper is ruled out",
    ]  # fmt: skip
    show(headings, shown, "table", title=" · ".join(words))
    for line in _footnotes(rows):
        click.echo(line)
    if count > len(rows):
        click.echo(gettext("{count} more with --limit 0").format(count=count - len(rows)))


def _way(row: dict[str, Any]) -> str:
    """`buy`, `buy used`, `on demand`, `reserved 1y`."""
    said = row["way"].replace("_", " ")
    return said if row["condition"] in (None, "new") else f"{said} {_condition(row['condition'])}"


def _condition(condition: str | None) -> str:
    return (condition or "").replace("_", " ")


def _age(hours: float) -> str:
    return f"{hours:.0f} h" if hours < 48 else f"{hours / 24:.0f} days"


def _footnotes(rows: Sequence[dict[str, Any]]) -> Iterator[str]:
    for row in rows:
        yield f"{row['rank']}  {row['source']} {row['url'] or ''}  snapshot {row['snapshot_sha256'][:12]}"
        if row["speed_url"]:
            verdict = row["speed_verdict"]
            measured = gettext("measured")
            yield f"   {measured}: {row['speed_url']}  snapshot {row['speed_snapshot_sha256'][:12]}; {verdict}"
    if any(row["condition"] not in (None, "new") and row["what"] != row["gpu"] for row in rows):
        yield gettext("a used card is often a single piece: ask how many there are")
    if any(row["speed_is"] == "bound" for row in rows):
        yield gettext(
            "a bound is what memory bandwidth allows at most; expected is what to count on (expected_utilisation)"
        )
