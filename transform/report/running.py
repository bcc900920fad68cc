"""The grid of questions that the report and the workbook hold, each answered by the function that answers at every door."""

from __future__ import annotations

import functools
import operator
import tomllib
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import duckdb

from gpuledger.message import Message
from gpuledger.transform.answers.markets import Market
from gpuledger.transform.buying import market
from gpuledger.transform.buying.answer import Answer, at_each_precision
from gpuledger.transform.buying.choosing.comfort import beside_one_card, gravity, with_reasons
from gpuledger.transform.buying.choosing.picks import Choice, Ranked
from gpuledger.transform.buying.headline import cheapest_below, headline, rent_curve, sentences, speed_of, why_nothing
from gpuledger.transform.buying.need import Need
from gpuledger.transform.buying.options import Option
from gpuledger.transform.buying.question import Question, Usage
from gpuledger.transform.buying.rows import Shown, row_of
from gpuledger.transform.buying.stock import Stock, place_of, warehouse
from gpuledger.transform.sizing.added_models import MODELS
from gpuledger.transform.sizing.errors import SizingError

#: The number of ways that are kept for each question, in addition to those that a smaller budget or a higher speed leaves.
MOST = 8
#: The columns of an answer that the report shows (see rows.COLUMNS), and those that many answers share.
SHOWN = (
    "way", "condition", "what", "gpu_id", "gpu_count", "price_usd", "outlay_usd", "total_usd", "running_usd", "kept_usd",
    "available_gb", "tokens_per_s", "each_tokens_per_s", "low_tokens_per_s", "high_tokens_per_s", "speed_is", "images_per_s",
    "usd_per_million_tokens", "usd_per_thousand_images", "host", "price_mark", "precision", "needed_gb",
)  # fmt: skip
SELLER = ("source", "seller", "url", "price_since", "last_seen_at", "snapshot_sha256")


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A question with its answer, and those among which it was chosen. Only one that a person keeps has a name."""

    model_id: str
    people: int
    context: int | None
    condition: str
    market: str
    answer: Answer
    at_each_precision: Sequence[Answer]
    name: str | None = None

    @property
    def said(self) -> Sequence[Message]:
        """The sentence first, or why there is no answer."""
        return sentences(self.answer) or why_nothing(self.answer)

    @property
    def rent_curve(self) -> tuple[object, ...] | None:
        """The rental of the sentence; USD a month: owning without use, owning and renting all hours; where they cross."""
        curve = rent_curve(self.answer)
        return curve and (
            curve.rental,
            *(figure if figure is None else float(round(figure, 2)) for figure in curve[1:]),
        )


@functools.cache
def axes() -> Mapping[str, list[Any]]:
    """The values of each argument that the grid holds, by the names of grid.toml."""
    return tomllib.loads(Path(__file__).with_name("grid.toml").read_text(encoding="utf-8"))


def stocks(
    con: duckdb.DuckDBPyConnection, markets: Sequence[Market], set_here: Mapping[str, str], clock: datetime
) -> dict[str, Stock]:
    """What is on offer in each market, with money in dollars. `set_here` are the assumptions that this machine sets."""
    base, needs = market.assumptions(con).with_text(set_here), dict[tuple[object, ...], Need]()
    found = {one.market: warehouse(con, base, place_of(one), None, clock) for one in markets}
    return {name: replace(stock, needs=needs) for name, stock in found.items()}


def asked(offered: Mapping[str, Stock], own: Path, held: Collection[str]) -> Iterator[Asked]:
    """Every question of the grid, to the stock of each market. `held` are the models of the warehouse.

    `own` is the data directory with the models that users added.
    """
    for model_id, (name, stock) in product(chosen(own, held), offered.items()):
        yield from _of_model(model_id, name, stock, own)


def chosen(own: Path, held: Collection[str]) -> list[str]:
    """The models of the grid and those that users added, as far as they are among those `held`."""
    added = (model.model_id for model in MODELS.usable(own)[0])
    return [name for name in dict.fromkeys([*axes()["models"], *added]) if name in held]


def _of_model(model_id: str, market_name: str, stock: Stock, own: Path) -> Iterator[Asked]:
    """The questions about a model, without those that make no sense: a model of pictures has no context."""
    for people, context, condition in product(axes()["people"], axes()["context"], axes()["condition"]):
        is_usual = context == axes()["context"][0]
        usage = Usage(users=people, context=None if is_usual else context)
        question = Question(model=model_id, condition=condition, usage=usage)
        with suppress(SizingError):
            answer, all_ = at_each_precision(question, stock, own)
            if answer.need.users != people:
                continue  # a model of pictures serves one at a time
            yield Asked(
                model_id=model_id, people=people, context=context if answer.need.job else None, condition=condition,
                market=market_name, answer=answer, at_each_precision=all_,
            )  # fmt: skip


class Step(NamedTuple):
    """What is picked where each user must see `speed` tokens/s, from a budget in US dollars up to that of the next step.

    No budget is None. The picks are as in Picks, then what is cheaper and runs.
    """

    speed: int
    budget_usd: float | None
    picks: tuple[Option | None, ...]


def steps(answers: Sequence[Answer]) -> list[Step]:
    """The picks for each least speed of the grid and each budget: only a budget at which they change begins a step.

    Of several answers, one a precision, the one whose first pick comes nearest to comfort counts, as at every door.
    """
    found = list[Step]()
    for speed in axes()["speed"] if answers[0].need.writes else axes()["speed"][:1]:
        judged = [_Judged(answer, speed) for answer in answers]
        for budget in [None, *sorted({one for each in judged for one in each.outlays})]:
            within = [picks for each in judged if (picks := each.within(budget))]
            if not within:
                continue
            names = min(within, key=lambda one: one[0])[1]
            if budget is None or found[-1].budget_usd is None or any(map(operator.is_not, names, found[-1].picks)):
                found.append(Step(speed, None if budget is None else float(budget), names))
    return found


#: How much speaks against the first pick, and the picks as in Step.
_Weighed = tuple[tuple[bool, bool, int, int, int], tuple[Option | None, ...]]


class _Judged:
    """The options of an answer from a least speed on, ranked once for all budgets."""

    def __init__(self, answer: Answer, speed: int) -> None:
        limits = replace(answer.limits, min_tokens_per_s=speed or None)
        options = [one for one in answer.options if not one.against and one.outlay_usd is not None]
        alone = with_reasons(options, answer.need, limits, replace(answer.assumptions, several_cards=1))
        beside = beside_one_card(alone, answer.assumptions)
        # Several cards are behind one that does it too, from the budget on that reaches the cheapest such card.
        singles = (one for one in alone if one.way == "buy" and one.gpu_count == 1 and not one.behind)
        self._least = min((one.outlay_usd for one in singles if one.outlay_usd is not None), default=Decimal(0))
        self._as_asked = {
            id(one): asked for judged in (alone, beside) for one, asked in zip(judged, options, strict=True)
        }
        self._free, self._bound = (Choice(answer.assumptions, has_budget=bound) for bound in (False, True))
        self._unbound, self._several, self._single = (
            choice.ranked([one for one in judged if one.each_a_second >= speed])
            for choice, judged in (
                (self._free, beside),
                (self._bound, beside),
                (self._bound, [one for one in alone if (one.outlay_usd or 0) < self._least]),
            )
        )
        self.outlays = {one.option.outlay_usd or Decimal(0) for one in self._unbound}
        self._last: tuple[Sequence[Ranked], Sequence[Ranked], _Weighed] | None = None

    def within(self, budget: Decimal | None) -> _Weighed | None:
        """The picks within a budget, None if there are none. Called with no budget first, then with rising ones."""
        choice, judged, within = self._free, self._unbound, self._unbound
        if budget is not None:
            choice, judged = self._bound, self._several if budget >= self._least else self._single
            within = [one for one in judged if (one.option.outlay_usd or 0) <= budget]
        if not within:
            return None
        # What a higher budget adds is dearer than the picks before. They change only if it is as good as those.
        alike = choice.alike(within)
        if self._last is None or self._last[0] is not judged or self._last[1] != alike:
            picks = choice.of_alike(alike)
            all_ = (*picks, cheapest_below(picks, ((one.gravity, one.option) for one in within)))
            weighed = gravity(picks.first), tuple(one and self._as_asked[id(one)] for one in all_)
            self._last = judged, alike, weighed
        return self._last[2]


def kept(asked: Asked) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The answers as rows (see rows.COLUMNS) and the steps, which name rows by their places.

    The rows are the first ones, those of the steps, and each before which none costs as little on day one, is as fast and
    has as much memory; of other precisions, which such a row names with what it needs, those of the steps alone. On the
    front are those that no other beats in cost and speed.
    """
    picks = asked.answer.picks
    if asked.name is None:
        found = steps(asked.at_each_precision)
    else:  # it has its own limits
        head = headline(asked.answer)
        found = [Step(0, None, (*picks, head and head.cheaper))] if picks else []
    picked = {id(option) for step in found for option in step.picks}
    before, rows, places = list[tuple[float, float, float]](), list[dict[str, Any]](), dict[int, int]()
    others = (other for other in asked.at_each_precision if other is not asked.answer)
    for answer in (asked.answer, *others):
        is_other = answer is not asked.answer
        for rank, (option, why) in enumerate(answer.ranked(0), 1):
            if option.outlay_usd is None or (is_other and id(option) not in picked):
                continue
            outlay, speed = float(option.outlay_usd), option.each_a_second
            is_new = not any(
                paid <= outlay and rate >= speed and memory >= option.available_gb for paid, rate, memory in before
            )
            if rank <= MOST or is_new or id(option) in picked:
                places[id(option)] = len(rows)
                row = row_of(Shown(rank=rank, option=option, ruled_out=why, answer=answer, origin=lambda sha256: None))
                row |= {"notes": option.notes or None, "behind": option.behind or None, "at": (outlay, speed)}
                row["speed"] = tuple(speed_of(option, answer)) if asked.name and id(option) in picked else None
                rows.append(row if is_other else row | {"precision": None, "needed_gb": None})
            if not is_other:
                before.append((outlay, speed, option.available_gb))
    shown = [row["at"] for row in rows]
    for row in rows:
        outlay, speed = row["at"]
        row["is_front"] = speed > 0 and not any(
            (paid, -rate) != (outlay, -speed) and paid <= outlay and rate >= speed for paid, rate in shown
        )
    return rows, [
        {"speed": step.speed, "budget_usd": step.budget_usd}
        | {
            name: places.get(id(option))
            for name, option in zip(("first", "for_less", "other", "cheaper"), step.picks, strict=True)
        }
        for step in found
    ]
