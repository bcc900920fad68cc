"""The list of what to buy, for people: one row per card, in the language and the currency in use."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from gpuledger.flows.showing import chosen
from gpuledger.flows.showing.money import Money, prices_heading
from gpuledger.flows.words.lang import N_, gettext
from gpuledger.flows.words.say import spoken
from gpuledger.transform.answers import procurement as answers
from gpuledger.warehouse.outputs.report import words
from gpuledger.warehouse.outputs.sheet import Column, Sheet
from gpuledger.warehouse.paths import DataDir

if TYPE_CHECKING:
    from gpuledger.transform.answers.procurement import Card, Procurement

NAME = "procurement"


def origin_headings() -> dict[str, tuple[str, str]]:
    """Heading and meaning of the columns that say where a price is from, and when it was seen, in every list of people."""
    return {
        "mark": (
            gettext("mark"), gettext("stale: the shop could not be read last time; invented: a price of the sample"),
        ),
        "shop": (gettext("shop"), gettext("source that the price is from")),
        "market": (gettext("market"), gettext("where the price is asked")),
        "confirmed": (gettext("last confirmed"), gettext("when the price was last seen")),
    }  # fmt: skip


def advice_words() -> Mapping[str, str]:
    """The advice as people read it, by its code."""
    return words.values(gettext)["advice"]


def sheet(data: DataDir, money: Money) -> Sheet:
    """The list for the market and currency in use. Raises NoWarehouse, and BadQuery for an unknown market."""
    answer = answers.procurement(data, chosen.market())
    columns = _columns(answer, money)
    advice = advice_words()
    return Sheet(
        name=NAME, title=gettext("What to buy"), subtitle=money.title(prices_heading(data)), columns=columns,
        rows=[_row(card, answer, money) for card in answer.cards],
        printed=19, currency=money,
        colours={advice["buy"]: "good", advice["wait"]: "wait", advice["no_price"]: "bad"},
    )  # fmt: skip


def why(card: Card, answer: Procurement) -> str:
    """The reason of the advice in a sentence."""
    if card.advice == "no_price":
        return gettext("no offer of it counts: {excluded}").format(excluded=spoken(card.excluded or "–"))
    if card.advice == "unmeasured":
        return gettext("no benchmark figure of it is known, so its price can be judged by nothing")
    if card.advice == "other":
        workload, place = next((name, place) for name, place in card.places.items() if place.beaten_by)
        sentence = gettext("{other} is at least as fast for no more money ({workload})").format(
            other=place.beaten_by, workload=gettext(answer.workloads[workload][0])
        )
        other = next((one for one in answer.cards if one.gpu == place.beaten_by), None)
        if other and (card.memory_gb or 0) > (other.memory_gb or 0):
            more = gettext("{sentence}; unless its {memory:g} GB of memory are needed")
            return more.format(sentence=sentence, memory=card.memory_gb)
        return sentence
    if len(card.front) == len(answer.workloads):
        sentence = gettext("nothing is at least as fast for no more money, in any workload")
    else:
        names = "; ".join(gettext(answer.workloads[name][0]) for name in card.front)
        sentence = gettext("nothing is at least as fast for no more money: {workloads}").format(workloads=names)
    if card.advice == "unjudged":
        reason = card.hint_reason or N_(
            "no judgement on whether it is low: only prices of the home market are followed"
        )
        return f"{sentence}; {spoken(reason)}"
    if card.advice == "wait":
        return gettext("{sentence}; but {reason}").format(sentence=sentence, reason=spoken(card.hint_reason or ""))
    return sentence


def _columns(answer: Procurement, money: Money) -> list[Column]:
    code = money.code
    years = f"{answer.assumptions.horizon_years.normalize():f}"
    by_workload: list[Column] = []
    for name, (english, unit) in answer.workloads.items():
        words = gettext(english)
        slug = name.replace("-", "_").replace(".", "_")
        by_workload += [
            Column(f"{slug}_value_rank", gettext("{workload}: place by value").format(workload=words), "count",
                   gettext("1 gives the most score for the money")),
            Column(f"{slug}_rank", gettext("{workload}: place by speed").format(workload=words), "count",
                   gettext("1 is the fastest of all that were measured, priced or not")),
            Column(f"{slug}_score", gettext("{workload}: score, {unit}").format(workload=words, unit=unit), "number",
                   gettext("benchmark figure as published")),
        ]  # fmt: skip
    origin = origin_headings()
    return [
        Column("advice", gettext("advice"), "text",
               gettext("buy: no other card is at least as fast for no more money; good value: the same, but too few "
                       "days of its price are known to say whether it is low; wait: the same, and it is falling "
                       "just now")),
        Column("gpu", gettext("card"), "text", gettext("maker and name")),
        Column("why", gettext("why"), "long", gettext("the reason of the advice")),
        Column(money.name("price_usd"), gettext("best price, {currency}").format(currency=code), "money",
               gettext("lowest price of a new card that can be bought now")),
        Column("price_mark", origin["mark"][0], "text", origin["mark"][1]),
        Column("shop", origin["shop"][0], "text", origin["shop"][1]),
        Column("market", origin["market"][0], "text", origin["market"][1]),
        Column("stock", gettext("stock"), "text", gettext("a best price is of a card that is in stock")),
        Column("url", gettext("link"), "link", gettext("page of the offer")),
        Column("price_since", gettext("price since"), "day", gettext("since when it costs that")),
        Column("last_confirmed", origin["confirmed"][0], "day", origin["confirmed"][1]),
        Column("premium_over_msrp", gettext("over launch price"), "percent",
               gettext("best price over launch price, less one")),
        Column("trend", gettext("trend"), "text", gettext("where the price stands in its own last year")),
        Column(money.name("used_price_usd"), gettext("used, {currency}").format(currency=code), "money",
               gettext("lowest price of a used, refurbished or opened card")),
        Column(money.name("own_total_usd"),
               gettext("{years} years of owning, {currency}").format(years=years, currency=code), "money",
               gettext("price, share of a machine and electricity, less the resale; {hours} hours a day").format(
                   hours=f"{answer.assumptions.hours_per_day.normalize():f}")),
        Column("memory_gb", gettext("memory, GB"), "number", gettext("memory of one card")),
        Column("largest_model", gettext("largest model"), "text",
               gettext("of the catalogue, by parameters, that one card holds as {precision} with {tokens} tokens").format(
                   precision=answers.PRECISION, tokens=answers.CONTEXT_TOKENS)),
        Column("largest_tokens_per_s", gettext("its tokens/s"), "number", gettext("expected for one user")),
        Column("models", gettext("models that fit"), "count", gettext("how many of the catalogue one card holds so")),
        *by_workload,
        Column(money.name("msrp_usd"), gettext("launch price, {currency}").format(currency=code), "money",
               gettext("by the maker")),
        Column("change_30d", gettext("30 days"), "percent", gettext("price over that of 30 days before, less one")),
        Column("offers", gettext("offers"), "count", gettext("offers that count")),
        Column("gpu_id", "gpu_id", "text", gettext("id of the card in every table")),
        Column("mpn", gettext("part number"), "text", gettext("the maker's number of what is offered at the best price")),
        Column("evidence", gettext("evidence"), "text", gettext("archived page: `gpuledger evidence` and this")),
    ]  # fmt: skip


def _row(card: Card, answer: Procurement, money: Money) -> list[Any]:
    hints = {"buy": gettext("low"), "wait": gettext("falling"), "neutral": gettext("usual")}
    places: list[Any] = []
    for name in answer.workloads:
        place = card.places.get(name)
        places += [place.by_value, place.by_score, place.score] if place else [None, None, None]
    is_priced = card.price_usd is not None
    return [
        advice_words()[card.advice], card.gpu, why(card, answer), money.amount("price_usd", card.price_usd),
        spoken(card.price_mark or "") or None, card.shop, card.market, gettext("in stock") if is_priced else None, card.url,
        card.price_since,
        card.last_seen_at if is_priced else None, _share(card.premium_over_msrp), hints.get(card.hint or ""),
        money.amount("used_price_usd", card.used_price_usd), money.amount("own_total_usd", card.own_total_usd),
        card.memory_gb, card.largest_model, _round(card.largest_tokens_per_s), card.models, *places,
        money.amount("msrp_usd", card.msrp_usd), _share(card.change_30d), card.offers, card.gpu_id, card.mpn,
        (card.snapshot_sha256 or "")[:12] or None,
    ]  # fmt: skip


def _share(value: Any) -> float | None:
    return None if value is None else float(value)


def _round(value: float | None) -> float | None:
    return None if value is None else round(value, 1)
