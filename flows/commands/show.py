"""`gpuledger show`: all that is known of one card, on one screen."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import click

from gpuledger.flows.commands import _complete
from gpuledger.flows.commands._options import currency_option, data_dir_option, read_from
from gpuledger.flows.setup.lang import gettext
from gpuledger.flows.setup.money import Money
from gpuledger.flows.setup.sentences import spoken
from gpuledger.flows.telling import terminal
from gpuledger.warehouse.paths import DataDir

#: Offers and rentals shown for people; programs get all.
_MOST = 8
_DAYS = 90
_SPARKS = "▁▂▃▄▅▆▇█"

#: Headings; the columns of most worth first, as a narrow screen keeps them.
_OFFERS = {
    "price_usd": "USD", "shop": "shop", "availability": "availability", "price_since": "price since",
    "left_out_because": "left out because", "title": "title", "price": "price",
}  # fmt: skip
_SCORES = {
    "workload": "workload", "rank": "rank", "score": "score", "unit": "unit", "value_rank": "place by value",
    "relative_to_baseline": "× baseline", "published_on": "published on",
}  # fmt: skip
_RENTALS = {
    "provider": "provider", "instance": "instance", "instance_hour_usd": "USD an hour", "pricing_model": "pricing",
    "break_even_hours": "owning is cheaper after hours",
}  # fmt: skip


@click.command()
@click.argument("card", shell_complete=_complete.cards)
@currency_option
@data_dir_option
@click.option(
    "--format", "form", type=click.Choice(["table", "json"]), default="table", show_default=True,
    help="How the answer is written.",
)  # fmt: skip
def command(card: str, data_dir: str | None, form: str) -> None:
    """All about one CARD ("rtx 4090", "3090 24GB"): what it is, its prices and their history, scores, and renting instead.

    Where a name is sold in several versions, each is shown.
    """

    from gpuledger.flows.commands import _card
    from gpuledger.flows.setup.money import money
    from gpuledger.transform.answers import card as cards
    from gpuledger.warehouse.outputs.cells import plain

    data = read_from(data_dir)
    meant, shown = _card.ids(data, card), money(data)
    columns, rows = shown.table(*cards.facts(data, meant))
    known = [_at_its_own_rate(data, dict(zip(columns, row, strict=True)), shown) for row in rows]
    if form == "json":
        whole = [one | _of(data, one["gpu_id"], shown) for one in known]
        click.echo(terminal.json_text(whole, default=plain, indent=1))
        return
    for one in known:
        _print(data, one, shown)


def _at_its_own_rate(data: DataDir, one: dict[str, Any], shown: Money) -> dict[str, Any]:
    """The card with its lowest price on record at the rate of that day."""
    from gpuledger.transform.answers import rates

    low, day = shown.name("all_time_low_usd"), one["all_time_low_on"]
    if shown.words and one[low] is not None:
        rate = rates.rate(data, shown.code, day)
        one[low] = shown.of(float(one[low]) * shown.usd**2 / rate.usd) if rate else None
    return one


def _of(data: DataDir, gpu_id: str, shown: Money) -> dict[str, Any]:
    """Everything of a card that has several rows."""
    from gpuledger.transform.answers import card as cards
    from gpuledger.warehouse.outputs.cells import plain

    several = {
        "offers": cards.offers(data, gpu_id, 1_000_000),
        "scores": cards.scores(data, gpu_id),
        "rentals": cards.rentals(data, gpu_id, 1_000_000),
    }
    as_dicts = {
        name: [dict(zip(columns, map(plain, row), strict=True)) for row in rows]
        for name, (columns, rows) in ((name, shown.table(*found)) for name, found in several.items())
    }
    lows = cards.daily_lows(data, gpu_id, _DAYS, shown.code)
    return {**as_dicts, shown.name("daily_low_usd"): [round(low, shown.places) for low in lows]}


def _print(data: DataDir, one: dict[str, Any], shown: Money) -> None:
    from gpuledger.flows.commands._show import show
    from gpuledger.transform.answers import card as cards

    gpu_id = one["gpu_id"]
    click.secho(f"\n{one['gpu']}", bold=True)
    for line in _lines(_specification(one)):
        terminal.say("  " + line)
    for line in _price_lines(one, cards.daily_lows(data, gpu_id, _DAYS, shown.code), shown):
        terminal.say("  " + line)
    if shown.words:
        terminal.say(f"  {shown.words}")
    for title, (columns, rows), headings in (
        (gettext("Offers"), _in_one_cell(*cards.offers(data, gpu_id, _MOST)), _OFFERS),
        (gettext("Scores"), cards.scores(data, gpu_id), _SCORES),
        (gettext("Renting instead"), cards.rentals(data, gpu_id, _MOST), _RENTALS),
    ):
        if rows:
            click.echo()
            show(*shown.table(columns, rows), "table", title=title, headings=shown.headings(columns, headings))


def _in_one_cell(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> tuple[list[str], list[tuple[Any, ...]]]:
    """Offers with the printed price and its currency in one cell: on a narrow screen one would stand without the other."""
    from gpuledger.flows.commands._show import human

    price, currency = columns.index("price"), columns.index("currency")
    told = []
    for row in rows:
        amount = None if row[price] is None else f"{human(row[price])} {row[currency]}"
        told.append(tuple(amount if at == price else value for at, value in enumerate(row) if at != currency))
    return [name for name in columns if name != "currency"], told


def _specification(one: dict[str, Any]) -> list[str]:
    units = {
        "memory_gb": "{:g} GB", "memory_type": "{}", "memory_bandwidth_gb_s": "{:g} GB/s", "fp32_tflops": "{:g} TFLOPS FP32",
        "tensor_fp16_tflops": "{:g} TFLOPS FP16 tensor", "tdp_w": "{:g} W", "form_factor": "{}", "released_on": "{}",
    }  # fmt: skip
    return [unit.format(one[name]) for name, unit in units.items() if one[name] is not None]


def _lines(parts: list[str]) -> list[str]:
    """The parts in lines that fit the screen, none of them broken; in one line where there is no screen."""
    width = terminal.console().width - 2 if sys.stdout.isatty() else 10**6
    lines = parts[:1]
    for part in parts[1:]:
        longer = f"{lines[-1]} · {part}"
        lines[-1:] = [longer] if len(longer) <= width else [lines[-1], part]
    return lines


def _price_lines(one: dict[str, Any], lows: list[float], shown: Money) -> list[str]:
    lines, code = [], shown.code
    street, msrp, used = (one[shown.name(name)] for name in ("price_usd", "msrp_usd", "used_price_usd"))
    if street is not None:
        over = one["premium_over_msrp"]
        price = (
            gettext("{price} USD at {shop} since {day}")
            .replace("USD", code)
            .format(price=shown.text(street), shop=one["shop"], day=f"{one['price_since']:%Y-%m-%d}")
        )
        lines.append(
            price if over is None else f"{price} ({gettext('{share} over MSRP').format(share=f'{over:+.1%}')})"
        )
    else:
        lines.append(
            gettext("no shop that counts has it now") + (f": {spoken(one['excluded'])}" if one["excluded"] else "")
        )
    if msrp is not None:
        lines.append(f"MSRP {shown.text(msrp)} {code}")
    if used is not None:
        lines.append(gettext("used from {price} USD").replace("USD", code).format(price=shown.text(used)))
    if len(lows) > 1:
        low, high = shown.text(min(lows)), shown.text(max(lows))
        lines.append(f"{sparkline(lows)}  {low} – {high} {code}, " + gettext("the last days with a price"))
    if one["hint"]:
        reason = spoken(one["hint_reason"])
        lines.append(reason if one["hint"] == "unknown" else f"{gettext(one['hint'])}: {reason}")
    return lines


def sparkline(values: list[float], width: int = 40) -> str:
    """At most `width` of the values as bars, the newest last; all of one height where nothing moved."""
    step = max(1, -(-len(values) // width))
    chosen = values[::-1][::step][::-1]
    low, high = min(chosen), max(chosen)
    if high == low:
        return _SPARKS[3] * len(chosen)
    return "".join(_SPARKS[round((value - low) / (high - low) * (len(_SPARKS) - 1))] for value in chosen)
