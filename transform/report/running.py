"""Every model with the ways to run it: what `gpuledger buy` answers for each, kept to what can be somebody's answer."""

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
from gpuledger.transform.buying.need import Asked, Need, need_of, shape_of, usual_precision
from gpuledger.transform.buying.options import Limits, Market, Option, options
from gpuledger.transform.identity.gpu import Gpu
from gpuledger.transform.sizing.diffusion import DiffusionModel
from gpuledger.transform.sizing.errors import SizingError

#: People at once, each of whom reads and writes as one does.
LOADS = (1, 8, 32)
#: Called with how many models were asked about, and how many there are.
OnModel = Callable[[int, int], None]
#: Ways that are kept of each model, load and market, besides those that are faster for more money.
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
        """Tokens or pictures a second of all its GPUs together, by which one way is better than another."""
        if self.option.speed is not None:
            return self.option.speed.expected
        return self.option.pictures.per_s * self.option.gpu_count if self.option.pictures else 0.0


def unheard(done: int, total: int) -> None:
    """For whom nobody listens."""


def ways(
    con: duckdb.DuckDBPyConnection, markets: Sequence[str], own: Path, on_model: OnModel = unheard
) -> tuple[list[Need], list[Way]]:
    """What every model needs under the load of one, and the ways to run it: new cards of each market, nodes, and rentals.

    Loads of several people are asked of the first market alone. `own` is the folder of the models that were added.
    """
    assumptions = market.assumptions(con)
    offered, learned = {name: _offered(con, name) for name in markets}, market.learned(con)
    # What does not hold a model is no answer, and would be reckoned for nothing. Outlets are those of the market's country.
    limits = {name: Limits(fitting=True, country=None if name == "all" else name) for name in markets}
    # Of a hundred models a handful was measured: the others need not be asked about.
    known = {row[0] for row in con.execute("SELECT DISTINCT model_id FROM core.workload").fetchall()}
    needs: list[Need] = []
    found: list[Way] = []
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
            is_known = users == 1 and need.model_id in known
            measured = market.measurements(con, need.model_id, need.precision) if is_known else {}
            pictures = market.pictures(con, need.model_id, need.precision) if is_known and not need.splits else {}
            for name in markets if users == 1 else markets[:1]:
                asked = replace(offered[name], measured=measured, pictures=pictures)
                found += [
                    Way(model_id, users, name, one) for one in _kept(options(need, limits[name], asked, assumptions))
                ]
    on_model(len(models), len(models))
    return needs, found


def _need(model_id: str, users: int, own: Path, assumptions: Assumptions) -> Need | None:
    """What the model needs; None where this load cannot be: an image model makes its pictures for one."""
    with suppress(SizingError):
        shape = shape_of(model_id, own)
        if users > 1 and isinstance(shape, DiffusionModel):
            return None
        return need_of(model_id, shape, usual_precision(shape), Asked(users=users), assumptions)
    return None


def _offered(con: duckdb.DuckDBPyConnection, name: str) -> Market:
    new = market.CONDITIONS["new"]
    cards, nodes, rented = market.cards(con, new, name), market.nodes(con, new, name), market.instances(con)
    sold = chain((one.gpu_id for one in cards), (one.gpu_id for one in nodes), (one.gpu_id or "" for one in rented))
    chips = market.chips(con, sold)
    return Market(cards=_unbeaten(cards, chips), instances=rented, measured={}, chips=chips, nodes=nodes)


def _unbeaten(cards: Sequence[Card], chips: Mapping[str, Gpu]) -> list[Card]:
    """Without the cards that another one beats: no dearer, and no worse in memory, bandwidth, rates, power and resale. A
    hundred models are asked of each, and whatever runs on one of these runs on the other for no more.
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


def _kept(found: Sequence[Option]) -> Iterator[Option]:
    """Of the answers, which come the cheapest first: the first ones, those that are faster than every cheaper one, and the
    cheapest hour under each pricing model.
    """
    fastest, hired = 0.0, set[str]()
    for number, option in enumerate(one for one in found if not one.against):
        speed = Way("", 1, "", option).speed
        if number < MOST or speed > fastest or (option.way != "buy" and option.way not in hired):
            yield option
        fastest = max(fastest, speed)
        hired.add(option.way)


def row(way: Way) -> dict[str, Any]:
    """A way as the report writes it down: figures of speed to one place, money in cents."""
    option = way.option
    speed = option.speed
    rate = speed.rate if speed else None
    # A card is called by its name, alone or with the number of boards before it; all else by what it is offered as.
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
        "notes": list(option.notes) or None,
    }  # fmt: skip


def seller(way: Way) -> dict[str, Any]:
    """Whose price it is, and where it was read."""
    found = way.option.evidence
    assert found is not None, "a machine whose price nobody has stated is not asked for"
    return {
        "shop": found.source, "url": found.url, "price_since": found.price_since, "confirmed_at": found.seen_at,
        "evidence": found.snapshot_sha256,
    }  # fmt: skip


def _cents(amount: Any) -> float | None:
    return None if amount is None else round(float(amount), 2)


def _rounded(speed: float | None) -> float | None:
    return None if speed is None else round(speed, 1)
