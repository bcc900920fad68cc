"""`gpuledger show`: all that is known of one card, on one screen."""

from __future__ import annotations

from typing import Any

import click

from gpuledger.flows.commands._options import data_dir_option, read_from
from gpuledger.flows.setup.lang import gettext
from gpuledger.flows.telling import terminal

#: Offers and rentals shown for people; programs get all.
_MOST = 8
_DAYS = 90
_SPARKS = "▁▂▃▄▅▆▇█"

#: Headings; the columns of most worth first, as a narrow screen keeps them.
_OFFERS = {
    "price_usd": "USD", "shop": "shop", "availability": "availability", "price_since": "price since",
    "left_out_because": "left out because", "title": "title", "price": "price", "currency": "currency",
}  # fmt: skip
_SCORES = {
    "workload": "workload", "rank": "rank", "score": "score", "unit": "unit", "value_rank": "value",
    "relative_to_baseline": "× baseline", "published_on": "published on",
}  # fmt: skip
_RENTALS = {
    "provider": "provider", "instance": "instance", "instance_hour_usd": "USD an hour", "pricing_model": "pricing",
    "break_even_hours": "owning is cheaper after hours",
}  # fmt: skip


@click.command()
@click.argument("card")
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
    from gpuledger.flows.commands._show import plain
    from gpuledger.transform.answers import card as cards

    data = read_from(data_dir)
    meant = _card.ids(data, card)
    known = [dict(zip(columns, row, strict=True)) for columns, rows in [cards.facts(data, meant)] for row in rows]
    if form == "json":
        whole = [one | _of(data_dir, one["gpu_id"]) for one in known]
        click.echo(terminal.json_text(whole, default=plain, indent=1))
        return
    for one in known:
        _print(data_dir, one)


def _of(data_dir: str | None, gpu_id: str) -> dict[str, Any]:
    """Everything of a card that has several rows."""
    from gpuledger.flows.commands._show import plain
    from gpuledger.transform.answers import card as cards

    data = read_from(data_dir)
    several = {
        "offers": cards.offers(data, gpu_id, 1_000_000),
        "scores": cards.scores(data, gpu_id),
        "rentals": cards.rentals(data, gpu_id, 1_000_000),
    }
    as_dicts = {
        name: [dict(zip(columns, map(plain, row), strict=True)) for row in rows]
        for name, (columns, rows) in several.items()
    }
    return {**as_dicts, "daily_low_usd": cards.daily_lows(data, gpu_id, _DAYS)}


def _print(data_dir: str | None, one: dict[str, Any]) -> None:
    from gpuledger.flows.commands._show import show
    from gpuledger.transform.answers import card as cards

    data, gpu_id = read_from(data_dir), one["gpu_id"]
    click.secho(f"\n{one['gpu']}", bold=True)
    click.echo("  " + " · ".join(_specification(one)))
    for line in _price_lines(one, cards.daily_lows(data, gpu_id, _DAYS)):
        click.echo("  " + line)
    for title, (columns, rows), headings in (
        (gettext("Offers"), cards.offers(data, gpu_id, _MOST), _OFFERS),
        (gettext("Scores"), cards.scores(data, gpu_id), _SCORES),
        (gettext("Renting instead"), cards.rentals(data, gpu_id, _MOST), _RENTALS),
    ):
        if rows:
            click.echo()
            show(columns, rows, "table", title=title, headings=headings)


def _specification(one: dict[str, Any]) -> list[str]:
    units = {
        "memory_gb": "{:g} GB", "memory_type": "{}", "memory_bandwidth_gb_s": "{:g} GB/s", "fp32_tflops": "{:g} TFLOPS FP32",
        "tensor_fp16_tflops": "{:g} TFLOPS FP16 tensor", "tdp_w": "{:g} W", "form_factor": "{}", "released_on": "{}",
    }  # fmt: skip
    return [unit.format(one[name]) for name, unit in units.items() if one[name] is not None]


def _price_lines(one: dict[str, Any], lows: list[float]) -> list[str]:
    lines = []
    if one["price_usd"] is not None:
        over = one["premium_over_msrp"]
        price = gettext("{price} USD at {shop} since {day}").format(
            price=f"{one['price_usd']:,.2f}", shop=one["shop"], day=f"{one['price_since']:%Y-%m-%d}"
        )
        lines.append(price if over is None else f"{price} ({over:+.1%} {gettext('over MSRP')})")
    else:
        lines.append(gettext("no shop that counts has it now") + (f": {one['excluded']}" if one["excluded"] else ""))
    if one["msrp_usd"] is not None:
        lines.append(f"MSRP {one['msrp_usd']:,.2f} USD")
    if one["used_price_usd"] is not None:
        lines.append(gettext("used from {price} USD").format(price=f"{one['used_price_usd']:,.2f}"))
    if len(lows) > 1:
        lines.append(
            f"{sparkline(lows)}  {min(lows):,.2f} – {max(lows):,.2f} USD, " + gettext("the last days with a price")
        )
    if one["hint"]:
        lines.append(f"{gettext(one['hint'])}: {one['hint_reason']}")
    return lines


def sparkline(values: list[float], width: int = 40) -> str:
    """At most `width` of the values as bars, the newest last; all of one height where nothing moved."""
    step = max(1, -(-len(values) // width))
    chosen = values[::-1][::step][::-1]
    low, high = min(chosen), max(chosen)
    if high == low:
        return _SPARKS[3] * len(chosen)
    return "".join(_SPARKS[round((value - low) / (high - low) * (len(_SPARKS) - 1))] for value in chosen)
