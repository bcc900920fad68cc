"""Answers what should be bought, card by card: advice, reasons and facts for each card that a shop lists."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any, Literal

from gpuledger.transform.answers.price import market_parameters, street_prices
from gpuledger.transform.answers.value import Scope, value
from gpuledger.transform.assumptions import Assumptions, from_table, with_value_kept
from gpuledger.transform.buying import costs
from gpuledger.warehouse.paths import DataDir
from gpuledger.warehouse.read import query

#: The advice about a card, in the order in which the list shows it.
#: `buy`: no other card is at least as fast for no more money in some workload, and its past prices are no reason to wait.
#: `unjudged`: the same, but too few days of its price are known (mart.price_trend) to say whether it is low.
#: `wait`: the same, and it is falling. `other`: another card does as much for no more money.
#: `unmeasured`: it has a price, and no figure. `no_price`: no offer of it counts.
Advice = Literal["buy", "unjudged", "wait", "other", "unmeasured", "no_price"]
ADVICE: tuple[Advice, ...] = ("buy", "unjudged", "wait", "other", "unmeasured", "no_price")
#: What core.card_fit was computed for: one card, four bits a weight as llama.cpp packs them, 8192 tokens, one user.
PRECISION, CONTEXT_TOKENS = "Q4_K_M", 8192


@dataclass(frozen=True, slots=True)
class Place:
    """A card in one workload: `by_score` 1 is the fastest, `by_value` 1 gives the most score a dollar."""

    by_score: int
    by_value: int
    score: float
    is_front: bool
    beaten_by: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """One card. Money is in dollars, as the market's shops print it; `own_total_usd` is over `horizon_years`."""

    gpu_id: str
    gpu: str
    advice: Advice
    memory_gb: float | None
    tdp_w: float | None
    price_usd: Decimal | None
    price_mark: str | None
    market: str | None
    shop: str | None
    url: str | None
    mpn: str | None
    price_since: datetime | None
    last_seen_at: datetime | None
    offers: int
    msrp_usd: Decimal | None
    premium_over_msrp: Decimal | None
    used_price_usd: Decimal | None
    hint: str | None
    hint_reason: str | None
    change_30d: Decimal | None
    own_total_usd: Decimal | None
    largest_model: str | None
    largest_tokens_per_s: float | None
    models: int
    excluded: str | None
    snapshot_sha256: str | None
    places: Mapping[str, Place] = field(default_factory=dict)

    @property
    def front(self) -> tuple[str, ...]:
        """Ids of the workloads in which no other card is at least as fast for no more money."""
        return tuple(name for name, place in self.places.items() if place.is_front)

    @property
    def beaten_by(self) -> str | None:
        """The card that does as much for no more money, where there is one."""
        return next((place.beaten_by for place in self.places.values() if place.beaten_by), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Procurement:
    """All cards, what to buy first, and the workloads that the advice rests on, with their names and units."""

    cards: Sequence[Card]
    workloads: Mapping[str, tuple[str, str]]
    assumptions: Assumptions


def procurement(data: DataDir, market: str | None = None) -> Procurement:
    """The cards of the home market, or of `market`. Raises NoWarehouse."""
    workloads = {name: (words, unit) for name, words, unit in _workloads(data)}
    places = _places(data, workloads, market)
    base = from_table(query(data, "SELECT assumption, amount FROM core.assumption")[1])
    keeps = dict(query(data, "SELECT gpu_id, observed_value_kept_per_year FROM mart.resale WHERE is_long_enough")[1])
    columns, rows = _prices(data, market)
    _, fits = query(data, "SELECT gpu_id, largest_model_id, largest_tokens_per_s, models FROM core.card_fit")
    fit_of = {gpu_id: fit for gpu_id, *fit in fits}
    cards = []
    for row in rows:
        facts: dict[str, Any] = dict(zip(columns, row, strict=True))
        gpu_id = facts["gpu_id"]
        own = places.get(gpu_id, {})
        model, speed, models = fit_of.get(gpu_id, (None, None, 0))
        kept_a_year = keeps.get(gpu_id)
        assumed = with_value_kept(base, Decimal(str(kept_a_year)) if kept_a_year is not None else None)
        cards.append(
            Card(
                **facts, places=own,
                advice=advice(facts["price_usd"], [place.is_front for place in own.values()], facts["hint"]),
                own_total_usd=own_total(facts["price_usd"], facts["tdp_w"], assumed),
                largest_model=model, largest_tokens_per_s=speed, models=models,
            )
        )  # fmt: skip
    return Procurement(cards=sorted(cards, key=_order), workloads=workloads, assumptions=base)


def advice(price: Decimal | None, fronts: Sequence[bool], hint: str | None) -> Advice:
    """What to do about a card. `fronts` says for each workload that it was measured in whether it is on its front,
    and `hint` what its past prices say, None where they are not followed.
    """
    if price is None:
        return "no_price"
    if not fronts:
        return "unmeasured"
    if not any(fronts):
        return "other"
    if hint in (None, "unknown"):
        return "unjudged"
    return "wait" if hint == "wait" else "buy"


def beaten_by(row: Mapping[str, Any], rows: Iterable[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """The cheapest of the `rows` of one workload that is at least as fast as `row` for no more money."""
    better = [
        other
        for other in rows
        if other["gpu_id"] != row["gpu_id"]
        and other["score"] >= row["score"]
        and other["price_usd"] <= row["price_usd"]
    ]
    return min(better, key=lambda one: (one["price_usd"], one["gpu_id"]), default=None)


def _order(card: Card) -> tuple[int, int, Decimal, str]:
    best = min((place.by_value for place in card.places.values()), default=10**6)
    return ADVICE.index(card.advice), best, card.price_usd or Decimal(10**9), card.gpu_id


def own_total(price: Decimal | None, tdp_w: float | None, assumptions: Assumptions) -> Decimal | None:
    """What owning one card costs over the horizon, resale taken off [USD]."""
    if price is None or not tdp_w:
        return None
    return round(costs.ownership(price, round(tdp_w), assumptions).total, 2)


def _workloads(data: DataDir) -> list[tuple[str, str, str]]:
    """Those whose output is tokens or images, or all where there is none such."""
    _, rows = query(
        data,
        """SELECT workload_id, workload, unit FROM core.workload SEMI JOIN mart.ranking USING (workload_id)
           WHERE output IS NOT NULL OR NOT EXISTS (
               SELECT 1 FROM core.workload w SEMI JOIN mart.ranking r ON r.workload_id = w.workload_id
               WHERE w.output IS NOT NULL)
           ORDER BY core.workload.rowid""",
    )
    return [(name, words, unit) for name, words, unit in rows]


def _places(data: DataDir, workloads: Iterable[str], market: str | None) -> dict[str, dict[str, Place]]:
    """By card and workload. Who beats a card is the cheapest of those that do."""
    ranks = {
        (gpu_id, workload): rank
        for gpu_id, workload, rank in query(data, "SELECT gpu_id, workload_id, rank FROM mart.ranking")[1]
    }
    places: dict[str, dict[str, Place]] = {}
    for workload in workloads:
        rows = value(data, workload, "street", Scope(None, market)).rows
        for row in rows:
            other = beaten_by(row, rows)
            is_front = bool(row["on_pareto_frontier"])
            places.setdefault(row["gpu_id"], {})[workload] = Place(
                ranks[row["gpu_id"], workload], row["value_rank"], float(row["score"]), is_front,
                None if is_front or other is None else other["gpu"],
            )  # fmt: skip
    return places


def _prices(data: DataDir, market: str | None) -> tuple[list[str], list[tuple[Any, ...]]]:
    return query(
        data,
        f"""SELECT p.gpu_id, p.gpu, g.memory_gb, g.tdp_w, p.price_usd,
               CASE WHEN p.price_usd IS NOT NULL THEN p.price_mark END AS price_mark,
               p.offered_in AS market, p.source AS shop, p.url,
               l.mpn, p.price_since, p.last_seen_at, p.offers, p.msrp_usd, p.premium_over_msrp, p.used_price_usd, t.hint,
               t.reason AS hint_reason, t.change_30d, p.excluded, p.snapshot_sha256
           FROM {street_prices(None, market)} p JOIN core.gpu g ON g.gpu_id = p.gpu_id
           CROSS JOIN core.home_market home
           LEFT JOIN core.listing l ON l.listing_id = p.listing_id
           -- A hint is there for the home market alone.
           LEFT JOIN mart.price_trend t ON t.gpu_id = p.gpu_id AND p.market = home.market ORDER BY p.gpu_id""",
        {**market_parameters(None, market)},
    )
