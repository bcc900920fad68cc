"""Every model with the ways to run it, as `gpuledger buy` answers. Only ways that may be the best for somebody are kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any

import duckdb

from gpuledger.transform.assumptions import Assumptions
from gpuledger.transform.buying import market
from gpuledger.transform.buying.market import Card
from gpuledger.transform.buying.need import Need, Usage, need_of
from gpuledger.transform.buying.options import Limits, Market, Option, options
from gpuledger.transform.identity.gpu import Gpu
from gpuledger.transform.sizing.diffusion import DiffusionModel
from gpuledger.transform.sizing.errors import SizingError
from gpuledger.transform.sizing.files.named import shape_of, usual_precision

#: The numbers of users at once. Each of them reads and writes as much as a single user.
LOADS = (1, 8, 32)
#: A function that is called with the number of models that are done, and the number of all models.
OnModel = Callable[[int, int], None]
#: The number of ways that are kept for each model, load and market, in addition to faster ways for more money.
MOST = 5


@dataclass(frozen=True, slots=True)
class Way:
    """One way to run a model under a load, in one market."""

    model_id: str
    users: int
    market: str
    option: Option

    @property
    def speed(self) -> float:
        """Tokens or pictures a second of all GPUs together. A way with a higher speed is better."""
        if self.option.speed is not None:
            return self.option.speed.expected
        return self.option.pictures.per_s * self.option.gpu_count if self.option.pictures else 0.0


def no_progress(done: int, total: int) -> None:
    """The OnModel function for callers that do not follow the progress. Does nothing."""


def ways(
    con: duckdb.DuckDBPyConnection, markets: Sequence[str], own: Path, on_model: OnModel = no_progress
) -> tuple[list[Need], list[Way]]:
    """What every model needs for one user, and the ways to run it: new cards of each market, nodes, and rentals.

    Loads of several users are calculated only for the first market. `own` is the folder with the models that users added.
    """
    assumptions = market.assumptions(con)
    offered, learned = {name: _offered(con, name) for name in markets}, market.learned(con)
    # Options that do not hold a model are no answers, so their speed need not be calculated. The country of the market
    # decides the power of outlets.
    limits = {name: Limits(fitting=True, country=None if name == "all" else name) for name in markets}
    # Only a few of a hundred models were measured, so the others need no query for measurements.
    measured_ids = {row[0] for row in con.execute("SELECT DISTINCT model_id FROM core.workload").fetchall()}
    needs: list[Need] = []
    all_ways: list[Way] = []
    models = con.execute(
        "SELECT model_id FROM core.model WHERE model_kind IN ('decoder', 'diffusion', 'video') ORDER BY model_id"
    ).fetchall()
    for number, (model_id,) in enumerate(models):
        on_model(number, len(models))
        for users in LOADS:
            need = _need(model_id, users, own, assumptions)
            if need is None:
                continue
            need = replace(need, learned=learned)
            if users == 1:
                needs.append(need)
            is_known = users == 1 and need.model_id in measured_ids
            measured = market.measurements(con, need.model_id, need.precision) if is_known else {}
            pictures = market.pictures(con, need.model_id, need.precision) if is_known and not need.splits else {}
            for name in markets if users == 1 else markets[:1]:
                offers = replace(offered[name], measured=measured, pictures=pictures)
                all_ways += [
                    Way(model_id, users, name, option)
                    for option in _best_answers(options(need, limits[name], offers, assumptions))
                ]
    on_model(len(models), len(models))
    return needs, all_ways


def _need(model_id: str, users: int, own: Path, assumptions: Assumptions) -> Need | None:
    """What the model needs. None if the load is impossible: an image model makes pictures for one user at a time."""
    with suppress(SizingError):
        shape = shape_of(model_id, own)
        if users > 1 and isinstance(shape, DiffusionModel):
            return None
        return need_of(model_id, shape, usual_precision(shape, model_id), Usage(users=users), assumptions)
    return None


def _offered(con: duckdb.DuckDBPyConnection, name: str) -> Market:
    new = market.CONDITIONS["new"]
    cards, nodes, rented = market.cards(con, new, name), market.nodes(con, new, name), market.instances(con)
    gpu_ids = chain((c.gpu_id for c in cards), (n.gpu_id for n in nodes), (r.gpu_id or "" for r in rented))
    chips = market.chips(con, gpu_ids)
    return Market(cards=_unbeaten(cards, chips), instances=rented, measured={}, chips=chips, nodes=nodes)


def _unbeaten(cards: Sequence[Card], chips: Mapping[str, Gpu]) -> list[Card]:
    """The cards that no other card beats.

    A card beats another if it costs no more and is no worse in memory, bandwidth, rates, power and resale. Everything that
    runs on the beaten card then runs on the other card for no more money, so calculating a hundred models for the beaten
    card would be wasted time.
    """

    def figures(card: Card) -> tuple[float, ...]:
        gpu = chips.get(card.gpu_id)
        return (
            -float(card.price_usd), card.memory_gb or 0, card.bandwidth_gb_s or 0, -(card.tdp_w or 10**6),
            (gpu and gpu.fp32_tflops) or 0, (gpu and gpu.tensor_fp16_tflops) or 0, (gpu and gpu.tensor_int8_tops) or 0,
            (gpu and gpu.tensor_int4_tops) or 0, float(card.value_kept or 0),
        )  # fmt: skip

    known = [(card, figures(card)) for card in cards]
    return [
        card
        for card, own in known
        if not any(other != own and all(a >= b for a, b in zip(other, own, strict=True)) for _, other in known)
    ]


def _best_answers(candidates: Sequence[Option]) -> Iterator[Option]:
    """The answers to keep. The options come with the cheapest first.

    These are the first answers, every answer that is faster than all cheaper ones, and the cheapest hour under each pricing
    model.
    """
    fastest, rented_ways = 0.0, set[str]()
    for number, option in enumerate(candidate for candidate in candidates if not candidate.against):
        speed = Way("", 1, "", option).speed
        if number < MOST or speed > fastest or (option.way != "buy" and option.way not in rented_ways):
            yield option
        fastest = max(fastest, speed)
        rented_ways.add(option.way)


def row(way: Way) -> dict[str, Any]:
    """A way as a row of the report: speeds rounded to one decimal, money to cents."""
    option = way.option
    speed = option.speed
    rate = speed.rate if speed else None
    # Cards have the name of the card, with the number of boards before it if there are several. Other options have the name
    # of the offer.
    boards = option.what.removesuffix(option.gpu).removesuffix(" × ") or "1"
    is_card = option.way == "buy" and option.host is not None and boards.isdigit()
    return {
        "model_id": way.model_id, "users": way.users, "market": way.market, "way": option.way,
        "what": None if is_card else option.what, "gpu_id": option.gpu_id, "boards": int(boards) if is_card else 1,
        "price_usd": _cents(option.price_usd), "outlay_usd": _cents(option.outlay_usd),
        "total_usd": _cents(option.total_usd), "available_gb": round(option.available_gb, 1),
        "tokens_per_s": _rounded(speed.expected if speed else None), "each": _rounded(speed.each if speed else None),
        "low": _rounded(rate.low if rate else None), "high": _rounded(rate.high if rate else None),
        "basis": "measured" if option.pictures else rate.basis if rate else None,
        "images_per_s": round(option.pictures.per_s * option.gpu_count, 4) if option.pictures else None,
        "usd_per_million": _cents(option.usd_per_million_tokens), "usd_per_thousand": _cents(option.usd_per_thousand_images),
        "notes": option.notes or None,
    }  # fmt: skip


def seller(way: Way) -> dict[str, Any]:
    """The shop or cloud of a price, and the page where the price was read."""
    evidence = way.option.evidence
    assert evidence is not None, "a machine whose price nobody has stated is not asked for"
    return {
        "shop": evidence.source, "url": evidence.url, "price_since": evidence.price_since, "confirmed_at": evidence.seen_at,
        "evidence": evidence.snapshot_sha256,
    }  # fmt: skip


def _cents(amount: Any) -> float | None:
    return None if amount is None else round(float(amount), 2)


def _rounded(speed: float | None) -> float | None:
    return None if speed is None else round(speed, 1)
