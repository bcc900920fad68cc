"""`gpuledger show`: everything that is known about one card, on one screen."""

from __future__ import annotations

import sys
from typing import Any

import click

from gpuledger.extract.source import seller
from gpuledger.flows.doors.asking.options import currency_option, data_dir_option, object_option, read_from
from gpuledger.flows.doors.showing import terminal
from gpuledger.flows.doors.showing.money import Money
from gpuledger.flows.words.lang import N_, gettext
from gpuledger.flows.words.say import spoken
from gpuledger.warehouse.paths import DataDir

#: The most offers and rentals that people see. Programs get all.
_MOST = 8
_DAYS = 90
_SPARKS = "▁▂▃▄▅▆▇█"


@click.command()
@click.argument("card")
@currency_option
@data_dir_option
@object_option
def command(card: str, data_dir: str | None, form: str) -> None:
    """All about one CARD ("rtx 4090", "3090 24GB"): what it is, its prices and their history, scores, and renting instead.

    Where a name is sold in several versions, each is shown.
    """

    from gpuledger.flows.doors.asking import card_names
    from gpuledger.flows.doors.showing.money import money
    from gpuledger.transform.answers import card as cards

    data = read_from(data_dir, as_one=True)
    gpu_ids, currency = card_names.gpu_ids(data, card), money(data)
    columns, rows = currency.table(*cards.facts(data, gpu_ids))
    facts = [_at_its_own_rate(data, dict(zip(columns, row, strict=True)), currency) for row in rows]
    if form == "json":
        answer = [card_facts | _of(data, card_facts["gpu_id"], currency) for card_facts in facts]
        terminal.give(answer)
        return
    for card_facts in facts:
        _print(data, card_facts, currency)


def _at_its_own_rate(data: DataDir, card: dict[str, Any], currency: Money) -> dict[str, Any]:
    """The card, with its lowest price on record converted at the rate of that day. Changes `card` in place."""
    from gpuledger.transform.answers import markets

    low, day = currency.name("all_time_low_usd"), card["all_time_low_on"]
    if currency.words and card[low] is not None:
        rate = markets.rate(data, currency.code, day)
        card[low] = currency.of(float(card[low]) * currency.usd**2 / rate.usd) if rate else None
    return card


def _of(data: DataDir, gpu_id: str, currency: Money) -> dict[str, Any]:
    """The offers, scores, rentals and daily lows of a card."""
    from gpuledger.flows.doors.showing.show import in_currency
    from gpuledger.transform.answers import card as cards

    as_dicts = {name: in_currency(found, currency) for name, found in cards.of(data, gpu_id, 1_000_000).items()}
    lows = cards.daily_lows(data, gpu_id, _DAYS, currency.code)
    note = "; ".join(cards.NONE_OF[name] for name, found in as_dicts.items() if not found)
    return {**as_dicts, currency.name("daily_low_usd"): [round(low, currency.places) for low in lows], "note": note}


def _print(data: DataDir, card: dict[str, Any], currency: Money) -> None:
    from gpuledger.flows.doors.showing.money import prices_heading
    from gpuledger.flows.doors.showing.show import show
    from gpuledger.transform import queries
    from gpuledger.transform.answers import card as cards

    gpu_id = card["gpu_id"]
    click.secho(f"\n{card['gpu']}", bold=True)
    for line in _lines(_specification(card)):
        terminal.say("  " + line)
    terminal.say("  " + prices_heading(data))
    if (last := queries.last(data)) is not None and last.is_sample:
        terminal.say("  " + gettext("Prices marked invented, and those of earlier days, are of the sample."))
    for line in _price_lines(card, cards.daily_lows(data, gpu_id, _DAYS, currency.code), currency):
        terminal.say("  " + line)
    if currency.words:
        terminal.say(f"  {currency.words}")
    titles = {"offers": N_("Offers"), "scores": N_("Scores"), "rentals": N_("Renting instead")}
    for name, answer in cards.of(data, gpu_id, _MOST).items():
        title = gettext(titles[name])
        if answer.rows:
            click.echo()
            show(answer.under(title), "table", currency=currency)
        else:
            terminal.say(f"  {title}: {gettext(cards.NONE_OF[name])}")


def _specification(card: dict[str, Any]) -> list[str]:
    units = {
        "memory_gb": "{:g} GB", "memory_type": "{}", "memory_bandwidth_gb_s": "{:g} GB/s", "fp32_tflops": "{:g} TFLOPS FP32",
        "tensor_fp16_tflops": "{:g} TFLOPS FP16 tensor", "tdp_w": "{:g} W", "form_factor": "{}", "released_on": "{}",
    }  # fmt: skip
    return [unit.format(card[name]) for name, unit in units.items() if card[name] is not None]


def _lines(parts: list[str]) -> list[str]:
    """The parts joined into lines that fit the screen, without breaking a part. One line if there is no screen."""
    width = terminal.console().width - 2 if sys.stdout.isatty() else 10**6
    lines = parts[:1]
    for part in parts[1:]:
        longer = f"{lines[-1]} · {part}"
        lines[-1:] = [longer] if len(longer) <= width else [lines[-1], part]
    return lines


def _price_lines(card: dict[str, Any], lows: list[float], currency: Money) -> list[str]:
    lines, code = [], currency.code
    street, msrp, used = (card[currency.name(name)] for name in ("price_usd", "msrp_usd", "used_price_usd"))
    if street is not None:
        over = card["premium_over_msrp"]
        shop, since = gettext(seller(card["shop"], card["url"])), f"{card['price_since']:%Y-%m-%d}"
        price = gettext("{price} USD at {shop} since {day}").replace("USD", code)
        price = price.format(price=currency.text(street), shop=shop, day=since)
        versus = gettext("{share} over MSRP") if (over or 0) >= 0 else gettext("{share} below MSRP")
        beside = [versus.format(share=f"{abs(over):.1%}")] if over is not None else []
        beside += [spoken(card["price_mark"])] if card["price_mark"] else []
        lines.append(f"{price} ({', '.join(beside)})" if beside else price)
    else:
        lines.append(
            gettext("no shop has it now at a price that counts")
            + (f": {spoken(card['excluded'])}" if card["excluded"] else "")
        )
    if msrp is not None:
        lines.append(f"MSRP {currency.text(msrp)} {code}")
    if used is not None:
        cheapest = gettext("used from {price} USD").replace("USD", code).format(price=currency.text(used))
        lines.append(f"{cheapest} ({spoken(card['used_price_mark'])})" if card["used_price_mark"] else cheapest)
    if len(lows) > 1:
        low, high = currency.text(min(lows)), currency.text(max(lows))
        lines.append(f"{sparkline(lows)}  {low} – {high} {code}, " + gettext("over the last days that have a price"))
    if card["hint"]:
        reason = spoken(card["hint_reason"])
        lines.append(reason if card["hint"] == "unknown" else f"{gettext(card['hint'])}: {reason}")
        if card["hint_given"]:
            lines.append(
                gettext("such a hint was right {right} of {given} times in the last year; {share} of all weeks").format(
                    right=card["hint_was_right"], given=card["hint_given"], share=f"{card['hint_right_on_any']:.0%}"
                )
            )
    return lines


def sparkline(values: list[float], width: int = 40) -> str:
    """At most `width` of the values as bars, the newest last. All bars have the same height if all values are equal."""
    step = max(1, -(-len(values) // width))
    chosen = values[::-1][::step][::-1]
    low, high = min(chosen), max(chosen)
    if high == low:
        return _SPARKS[3] * len(chosen)
    return "".join(_SPARKS[round((value - low) / (high - low) * (len(_SPARKS) - 1))] for value in chosen)
