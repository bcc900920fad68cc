"""How fast would cards be that nobody measured at a workload, and what value for money would they give?

Only the speed of writing of a model of text can be predicted, and only if the workload says which model it is and at which
precision. If at least four cards were measured, the predictions are adjusted to the level of these cards, because the
program and the machine of a benchmark slow every card down, and the dearest cards most. To find how far an adjusted
prediction may be off, each measured card is left out in turn and predicted from the others.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

from gpuledger.extract.message import Mistake
from gpuledger.transform.answers.columns import columns
from gpuledger.transform.answers.price import market_parameters, street_prices
from gpuledger.transform.answers.value import Basis, Scope, ranking, value
from gpuledger.transform.assumptions import Assumptions
from gpuledger.transform.buying import market as buying
from gpuledger.transform.buying.need import DEFAULT_CONTEXT, text_shape
from gpuledger.transform.identity.gpu import Gpu
from gpuledger.transform.sizing.errors import SizingError
from gpuledger.transform.speed.calibration import EIGHTY_PERCENT
from gpuledger.transform.speed.engines import default_engine, engine_of, engines
from gpuledger.transform.speed.predict import job_of, load_of, predict
from gpuledger.transform.speed.rules import Job, Plan, Rate
from gpuledger.warehouse.outputs.answer import Answer
from gpuledger.warehouse.paths import DataDir
from gpuledger.warehouse.read import query, reader

#: The number of measured cards from which on a workload has a level of its own, and the number of nearest cards that decide
#: the level for a card.
_ENOUGH, _NEAREST = 4, 3
#: The standard deviation (natural logarithm) that is added for a card with less or more bandwidth than all measured cards,
#: and the least standard deviation, which is that of two runs of one benchmark on one card. As in
#: `transform/speed/predict.py`.
_BEYOND, _REPEATED = 0.4, 0.05
#: The share of cards that a range is to hold.
_HELD = 0.8
_UNITS = ("tokens/s", "token/s", "tok/s", "t/s")
#: The columns that are added to those of the measured rows.
_MEASURED = {"basis": "measured", "low": None, "high": None, "bound": None}
_Row = dict[str, Any]


class NotPredictable(Mistake):
    """This workload cannot be predicted. The message says why."""


@dataclass(frozen=True, slots=True)
class Predicted:
    """A card that was not measured: the expected tokens a second, their 80% range, and what physics allows at most.

    `basis` is `calibrated` if measurements of that program or workload are behind the prediction, and `bound` if only data
    sheets are.
    """

    gpu_id: str
    gpu: str
    score: float
    low: float
    high: float
    bound: float | None
    basis: str


class PredictionRequest(NamedTuple):
    """A workload for which cards are predicted, the folder with the user's own models, and the assumptions."""

    workload: str
    models: Path
    assumptions: Assumptions


def predictions(data: DataDir, request: PredictionRequest) -> list[Predicted]:
    """The cards that a shop or a cloud offers, that hold the model and that were not measured, the fastest first.

    Raises NotPredictable.
    """
    workload = _workload_facts(data, request.workload)
    job, plan = _job(workload, request)
    scores = {
        gpu_id: float(score)
        for gpu_id, score in query(
            data, "SELECT gpu_id, score FROM mart.ranking WHERE workload_id = $workload", {"workload": request.workload}
        )[1]
    }
    _, listed = query(
        data,
        """SELECT DISTINCT gpu_id FROM (SELECT gpu_id FROM mart.gpu_price UNION ALL SELECT gpu_id FROM mart.cloud_price)
           WHERE gpu_id IS NOT NULL""",
    )
    with reader(data) as con:
        chips = buying.chips(con, {*scores, *(gpu_id for (gpu_id,) in listed)})
        names = dict(con.execute("SELECT gpu_id, gpu FROM core.gpu").fetchall())
    level = Level.of(job, plan, {chips[gpu_id]: score for gpu_id, score in scores.items() if gpu_id in chips})
    predicted_cards = []
    for gpu_id, gpu in chips.items():
        if gpu_id in scores:
            continue
        answer = predict(job, replace(plan, gpu=gpu))
        rate = level.adjusted(gpu, answer.decode)
        if answer.verdict == "no" or rate.expected is None or rate.low is None or rate.high is None:
            continue
        predicted_cards.append(
            Predicted(gpu_id, names[gpu_id], rate.expected, rate.low, rate.high, rate.bound, rate.basis)
        )
    return sorted(predicted_cards, key=lambda card: (-card.score, card.gpu_id))


def _workload_facts(data: DataDir, workload_id: str) -> Mapping[str, Any]:
    names, rows = query(
        data,
        """SELECT workload, unit, direction, coalesce(gpu_count, 1) AS gpu_count, output, model_id, precision, software
           FROM core.workload WHERE workload_id = $workload""",
        {"workload": workload_id},
    )
    facts: dict[str, Any] = dict(zip(names, rows[0], strict=True))
    if facts["output"] != "token" or facts["unit"] not in _UNITS or not facts["model_id"] or not facts["precision"]:
        raise NotPredictable(
            "nothing predicts {workload_id}: only the tokens a second of a stated model of text at a stated "
            "precision can be predicted, and this is {unit} of {what}; leave --predicted out", workload_id=workload_id,
            unit=facts["unit"], what=facts["model_id"] or "no stated model",
        )  # fmt: skip
    return facts


def _job(workload: Mapping[str, Any], request: PredictionRequest) -> tuple[Job, Plan]:
    """The job of the workload, and a plan with its program. The caller puts the card into the plan."""
    try:
        shape = text_shape(workload["model_id"], request.models)
        load = load_of(shape, min(DEFAULT_CONTEXT, shape.context), 1, None, request.assumptions)
        is_known = (workload["software"] or "").lower() in engines()
        engine = engine_of(workload["software"]) if is_known else default_engine(workload["precision"], 1)
        job = job_of(shape, workload["precision"], load, request.assumptions)
    except SizingError as error:
        raise NotPredictable("nothing predicts {workload}: {error}", workload=request.workload, error=error) from None
    return job, Plan(
        gpu=Gpu(gpu_id="", vendor="", name=""), count=workload["gpu_count"], engine=engine, split=engine.split
    )


@dataclass(frozen=True, slots=True)
class Level:
    """Which share of the predicted speed the measured cards of a workload reach.

    Each of the `points` is the natural logarithm of a card's bandwidth, and that of the share. `deviation` is the standard
    deviation of a normal distribution whose 80% range holds 80% of the errors and of one more, which counts as the largest,
    if each card in turn is left out and predicted from the others. A mean of a few errors would promise too much of the next
    card. As the ranges of the calibration: Vovk, Gammerman & Shafer 2005, "Algorithmic Learning in a Random World".
    """

    points: Sequence[tuple[float, float]]
    deviation: float

    @classmethod
    def of(cls, job: Job, plan: Plan, measured: Mapping[Gpu, float]) -> Level:
        """The level from the scores of the measured cards."""
        points = []
        for gpu, score in measured.items():
            expected = predict(job, replace(plan, gpu=gpu)).decode.expected
            if expected and gpu.memory_bandwidth_gb_s:
                points.append((math.log(gpu.memory_bandwidth_gb_s), math.log(score / expected)))
        if len(points) < _ENOUGH:
            return cls((), 0.0)
        misses = sorted(
            abs(share - _nearest_share(at, [*points[:n], *points[n + 1 :]])) for n, (at, share) in enumerate(points)
        )
        held = min(len(misses), math.ceil(_HELD * (len(misses) + 1)))
        return cls(points, max(_REPEATED, misses[held - 1] / EIGHTY_PERCENT))

    def adjusted(self, gpu: Gpu, rate: Rate) -> Rate:
        """A predicted rate, adjusted to the level of the measured cards. Unchanged if too few cards were measured."""
        if not self.points or rate.expected is None or not gpu.memory_bandwidth_gb_s:
            return rate
        at = math.log(gpu.memory_bandwidth_gb_s)
        expected = rate.expected * math.exp(_nearest_share(at, self.points))
        is_beyond = not min(self.points)[0] - 0.01 <= at <= max(self.points)[0] + 0.01
        # The range is never narrower than without the measured cards, because these may all come from another maker.
        own = math.log(rate.expected / rate.low) / EIGHTY_PERCENT if rate.low else 0.0
        deviation = math.hypot(max(self.deviation, own), _BEYOND * is_beyond)
        return Rate.around(expected, deviation, rate.bound, "calibrated")


def _nearest_share(at: float, points: Iterable[tuple[float, float]]) -> float:
    """The mean of the shares that the nearest measured cards reach."""
    nearest = sorted(points, key=lambda point: abs(point[0] - at))[:_NEAREST]
    return sum(share for _, share in nearest) / len(nearest)


def ranking_with(data: DataDir, request: PredictionRequest) -> Answer:
    """The ranking, with predicted cards at their places. `basis` says whether a row is measured or predicted."""
    answer = ranking(data, request.workload, None)
    unit = answer.rows[0]["unit"] if answer.rows else "tokens/s"
    baseline = _baseline(data, request.workload)
    predicted_rows = [
        (card.score, _prediction_cells(card) | {
            "workload_id": request.workload, "gpu_id": card.gpu_id, "gpu": card.gpu, "score": _amount(card.score),
            "unit": unit, "relative_to_baseline": baseline and _digits(card.score / baseline[1]),
            "baseline_gpu_id": baseline and baseline[0],
        })
        for card in predictions(data, request)
    ]  # fmt: skip
    return _ranked(answer, [(float(row["score"]), row) for row in answer.rows], predicted_rows)


def value_with(data: DataDir, request: PredictionRequest, basis: Basis, market: str | None) -> Answer:
    """The table of value, with predicted cards at their places.

    The Pareto front of the measured cards stays as it is. A predicted card is on the front if no other card, measured or
    predicted, is at least as fast for no more money.
    """
    answer = value(data, request.workload, basis, Scope(None, market))
    baseline_id = (_baseline(data, request.workload) or ("", 0.0))[0]
    base = next((row for row in answer.rows if row["gpu_id"] == baseline_id), None)
    offers = _offers(data, basis, market)
    offered = [(card, offers[card.gpu_id]) for card in predictions(data, request) if card.gpu_id in offers]
    every = [(float(row["score"]), float(row["price_usd"])) for row in answer.rows]
    every += [(card.score, float(offer["price_usd"])) for card, offer in offered]
    predicted_rows = []
    for card, offer in offered:
        price = float(offer["price_usd"])
        predicted_rows.append((card.score / price, offer | _prediction_cells(card) | {
            "workload_id": request.workload, "price_basis": basis, "gpu_id": card.gpu_id, "gpu": card.gpu,
            "score": _amount(card.score), "unit": "tokens/s", "score_per_usd": _digits(card.score / price),
            "score_ratio": base and _digits(card.score / float(base["score"])),
            "price_ratio": base and _digits(price / float(base["price_usd"])),
            "on_pareto_frontier": not any(
                s >= card.score and p <= price and (s > card.score or p < price) for s, p in every
            ),
        }))  # fmt: skip
    return _ranked(answer, [(float(row["score_per_usd"]), row) for row in answer.rows], predicted_rows)


def _offers(data: DataDir, basis: Basis, market: str | None) -> dict[str, dict[str, Any]]:
    """The price of each card on a basis, and where it is offered, by card."""
    if basis == "msrp":
        sql = "SELECT gpu_id, msrp_usd AS price_usd, NULL AS market FROM core.gpu WHERE msrp_usd > 0"
    else:
        sql = f"""SELECT p.gpu_id, p.price_usd, p.market, p.offered_in, p.source AS shop, p.price_since, p.last_seen_at
            FROM {street_prices(None, market)} p WHERE p.price_usd > 0"""
    names, rows = query(data, sql, {} if basis == "msrp" else dict(market_parameters(None, market)))
    return {row[0]: dict(zip(names[1:], row[1:], strict=True)) for row in rows}


def _baseline(data: DataDir, workload: str) -> tuple[str, float] | None:
    """The card that ratios refer to, with its score."""
    _, rows = query(
        data,
        """SELECT gpu_id, score::DOUBLE FROM mart.ranking
           WHERE workload_id = $workload AND gpu_id = baseline_gpu_id""",
        {"workload": workload},
    )
    return (rows[0][0], rows[0][1]) if rows else None


def _prediction_cells(card: Predicted) -> dict[str, Any]:
    bound = None if card.bound is None else _amount(card.bound)
    return {"basis": card.basis, "low": _amount(card.low), "high": _amount(card.high), "bound": bound}


def _amount(value: float) -> Decimal:
    """The value with three significant digits. A prediction is not more exact than that."""
    return Decimal(f"{value:.3g}") if value < 100 else Decimal(round(value))


def _digits(value: float) -> Decimal:
    """A ratio with as many digits as those of measured cards."""
    return round(Decimal(value), 12)


def _ranked(
    answer: Answer, measured: Sequence[tuple[float, _Row]], predicted_rows: Sequence[tuple[float, _Row]]
) -> Answer:
    """The answer with predicted rows, each in its place by the figure in front of it. Equal rows share a rank."""
    merged = [*((figure, row | _MEASURED) for figure, row in measured), *predicted_rows]
    rank = next(name for name in answer.order if name.endswith("rank"))
    rows: list[_Row] = []
    last: tuple[float, int] = (math.inf, 0)
    for place, (figure, row) in enumerate(sorted(merged, key=lambda pair: (-pair[0], pair[1]["gpu_id"])), start=1):
        last = last if figure == last[0] else (figure, place)
        rows.append(dict.fromkeys(answer.names) | row | {rank: last[1]})
    return replace(answer, columns=(*answer.columns, *columns(*_MEASURED)), rows=rows)
