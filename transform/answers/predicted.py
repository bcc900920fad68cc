"""How fast would the cards be that nobody measured at a workload, and what would they give for their money?

Only the speed at which a model of text is written can be predicted, where the workload says which model at which precision.
Where at least four cards were measured, what is predicted is brought to their level: a benchmark's own program and machine
slow every card down, and the dearest most. How far it may be off is then what hiding one measured card after another shows.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

from gpuledger.transform.answers.asking import Rows
from gpuledger.transform.answers.price import asked, street_prices
from gpuledger.transform.answers.ranking import ranking
from gpuledger.transform.answers.value import Asked, Basis, value
from gpuledger.transform.assumptions import Assumptions
from gpuledger.transform.buying import market as buying
from gpuledger.transform.buying.need import DEFAULT_CONTEXT, text_shape
from gpuledger.transform.identity.gpu import Gpu
from gpuledger.transform.sizing.errors import SizingError
from gpuledger.transform.speed.calibration import EIGHTY_PERCENT
from gpuledger.transform.speed.engines import default_engine, engine_of, engines
from gpuledger.transform.speed.predict import Job, Plan, Rate, job_of, load_of, predict
from gpuledger.warehouse.paths import DataDir
from gpuledger.warehouse.read import query, reader

#: Measured cards from which on a workload has a level of its own, and how many of the nearest say what it is for a card.
_ENOUGH, _NEAREST = 4, 3
#: Standard deviation (natural logarithm) that is added beyond the slowest and the fastest card that was measured, and the
#: least there is: two runs of one benchmark on one card. As in `transform/speed/predict.py`.
_BEYOND, _REPEATED = 0.4, 0.05
_UNITS = ("tokens/s", "token/s", "tok/s", "t/s")
#: What a row says beside a measured one's columns.
BESIDE = ("basis", "low", "high", "bound")
_MEASURED = ("measured", None, None, None)


class NotPredictable(ValueError):
    """Nothing predicts this workload; the message says why."""


@dataclass(frozen=True, slots=True)
class Predicted:
    """A card that was not measured: tokens a second to expect, an 80% range, and what physics allows at most. `basis` is
    `calibrated` where measurements of that program or workload stand behind it, and `bound` where only data sheets do.
    """

    gpu_id: str
    gpu: str
    score: float
    low: float
    high: float
    bound: float | None
    basis: str


class Wanted(NamedTuple):
    """A workload whose cards are predicted, the folder of the user's own models, and what is assumed."""

    workload: str
    models: Path
    assumptions: Assumptions


def predictions(data: DataDir, wanted: Wanted) -> list[Predicted]:
    """The cards that a shop or a cloud lists, that hold the model and have no figure of this workload; the fastest first.

    Raises NotPredictable.
    """
    ran = _ran(data, wanted.workload)
    job, plan = _job(ran, wanted)
    known = {
        gpu_id: float(score)
        for gpu_id, score in query(
            data, "SELECT gpu_id, score FROM mart.ranking WHERE workload_id = $workload", {"workload": wanted.workload}
        )[1]
    }
    _, listed = query(
        data,
        """SELECT DISTINCT gpu_id FROM (SELECT gpu_id FROM mart.gpu_price UNION ALL SELECT gpu_id FROM mart.cloud_price)
           WHERE gpu_id IS NOT NULL""",
    )
    with reader(data) as con:
        chips = buying.chips(con, {*known, *(gpu_id for (gpu_id,) in listed)})
        names = dict(con.execute("SELECT gpu_id, gpu FROM core.gpu").fetchall())
    level = Level.of(job, plan, {chips[gpu_id]: score for gpu_id, score in known.items() if gpu_id in chips})
    found = []
    for gpu_id, gpu in chips.items():
        if gpu_id in known:
            continue
        answer = predict(job, replace(plan, gpu=gpu))
        rate = level.brought(gpu, answer.decode)
        if answer.verdict == "no" or rate.expected is None or rate.low is None or rate.high is None:
            continue
        found.append(Predicted(gpu_id, names[gpu_id], rate.expected, rate.low, rate.high, rate.bound, rate.basis))
    return sorted(found, key=lambda one: (-one.score, one.gpu_id))


def _ran(data: DataDir, workload: str) -> Mapping[str, Any]:
    columns, rows = query(
        data,
        """SELECT workload, unit, direction, coalesce(gpu_count, 1) AS gpu_count, output, model_id, precision, software
           FROM core.workload WHERE workload_id = $workload""",
        {"workload": workload},
    )
    ran: dict[str, Any] = dict(zip(columns, rows[0], strict=True))
    if ran["output"] != "token" or ran["unit"] not in _UNITS or not ran["model_id"] or not ran["precision"]:
        raise NotPredictable(
            f"nothing predicts {workload}: only the tokens a second of a stated model of text at a stated precision can be "
            f"predicted, and this is {ran['unit']} of {ran['model_id'] or 'no stated model'}; leave --predicted out"
        )
    return ran


def _job(ran: Mapping[str, Any], wanted: Wanted) -> tuple[Job, Plan]:
    """What runs, and with which program; the card of the plan is put in later."""
    try:
        shape = text_shape(ran["model_id"], wanted.models)
        load = load_of(shape, min(DEFAULT_CONTEXT, shape.context), 1, None, wanted.assumptions)
        is_known = (ran["software"] or "").lower() in engines()
        engine = engine_of(ran["software"]) if is_known else default_engine(ran["precision"], 1)
        job = job_of(shape, ran["precision"], load, wanted.assumptions)
    except SizingError as error:
        raise NotPredictable(f"nothing predicts {wanted.workload}: {error}") from None
    return job, Plan(gpu=Gpu(gpu_id="", vendor="", name=""), count=ran["gpu_count"], engine=engine, split=engine.split)


@dataclass(frozen=True, slots=True)
class Level:
    """How much of what is predicted the measured cards of a workload reach: natural logarithms by that of their bandwidth,
    and the standard deviation of what hiding each of them in turn misses by.
    """

    points: Sequence[tuple[float, float]]
    deviation: float

    @classmethod
    def of(cls, job: Job, plan: Plan, measured: Mapping[Gpu, float]) -> Level:
        """From the scores of the measured cards."""
        points = []
        for gpu, score in measured.items():
            expected = predict(job, replace(plan, gpu=gpu)).decode.expected
            if expected and gpu.memory_bandwidth_gb_s:
                points.append((math.log(gpu.memory_bandwidth_gb_s), math.log(score / expected)))
        if len(points) < _ENOUGH:
            return cls((), 0.0)
        misses = [share - _near(at, [*points[:n], *points[n + 1 :]]) for n, (at, share) in enumerate(points)]
        return cls(points, max(_REPEATED, math.sqrt(sum(miss**2 for miss in misses) / len(misses))))

    def brought(self, gpu: Gpu, rate: Rate) -> Rate:
        """A predicted rate at the level of the measured cards; as it is where too few were measured."""
        if not self.points or rate.expected is None or not gpu.memory_bandwidth_gb_s:
            return rate
        at = math.log(gpu.memory_bandwidth_gb_s)
        expected = rate.expected * math.exp(_near(at, self.points))
        is_beyond = not min(self.points)[0] - 0.01 <= at <= max(self.points)[0] + 0.01
        # Never surer than without them: they may all be of another maker.
        own = math.log(rate.expected / rate.low) / EIGHTY_PERCENT if rate.low else 0.0
        factor = math.exp(EIGHTY_PERCENT * math.hypot(max(self.deviation, own), _BEYOND * is_beyond))
        most = rate.bound if rate.bound is not None else math.inf
        expected = min(expected, most)
        return Rate(expected, expected / factor, min(expected * factor, most), rate.bound, "calibrated")


def _near(at: float, points: Iterable[tuple[float, float]]) -> float:
    """The mean of what the nearest measured cards reach."""
    nearest = sorted(points, key=lambda point: abs(point[0] - at))[:_NEAREST]
    return sum(share for _, share in nearest) / len(nearest)


def ranking_with(data: DataDir, wanted: Wanted, *, short: bool) -> Rows:
    """The ranking with what is predicted in its place; each row says in `basis` what it is."""
    columns, rows = ranking(data, wanted.workload, None, short=short)
    unit = rows[0][columns.index("unit")] if rows else "tokens/s"
    baseline = _baseline(data, wanted.workload)
    merged: list[tuple[float, dict[str, Any]]] = [
        (float(row[columns.index("score")]), dict(zip([*columns, *BESIDE], [*row, *_MEASURED], strict=True)))
        for row in rows
    ]
    for one in predictions(data, wanted):
        relative = None if not baseline else round(Decimal(one.score / baseline[1]), 2 if short else 12)
        facts = {
            "workload_id": wanted.workload, "gpu_id": one.gpu_id, "gpu": one.gpu, "score": _amount(one.score),
            "unit": unit, "relative_to_baseline": relative, "baseline_gpu_id": baseline and baseline[0],
        }  # fmt: skip
        merged.append((one.score, {name: facts.get(name) for name in columns} | _beside(one)))
    return _ranked(merged, columns, "rank")


def value_with(data: DataDir, wanted: Wanted, basis: Basis, market: str | None, *, short: bool) -> Rows:
    """The table of value with what is predicted in its place. The front of what was measured stays as it is; a predicted
    card is on it where nothing, measured or predicted, is expected to be at least as fast for no more money.
    """
    columns, rows = value(data, wanted.workload, basis, Asked(None, market), short=short)
    whole = [
        dict(zip(names, row, strict=True))
        for names, found in [value(data, wanted.workload, basis, Asked(None, market), short=False)]
        for row in found
    ]
    baseline_id = (_baseline(data, wanted.workload) or ("", 0.0))[0]
    base = next((row for row in whole if row["gpu_id"] == baseline_id), None)
    offers = _offers(data, basis, market)
    found = [(one, offers[one.gpu_id]) for one in predictions(data, wanted) if one.gpu_id in offers]
    every = [(float(row["score"]), float(row["price_usd"])) for row in whole]
    every += [(one.score, float(offer["price_usd"])) for one, offer in found]
    merged: list[tuple[float, dict[str, Any]]] = [
        (float(one["score_per_usd"]), dict(zip([*columns, *BESIDE], [*row, *_MEASURED], strict=True)))
        for one, row in zip(whole, rows, strict=True)
    ]
    for one, offer in found:
        price = float(offer["price_usd"])
        is_front = not any(s >= one.score and p <= price and (s > one.score or p < price) for s, p in every)
        per_usd = one.score / price
        ratios = (None, None) if base is None else (one.score / float(base["score"]), price / float(base["price_usd"]))
        facts = offer | {
            "workload_id": wanted.workload, "price_basis": basis, "gpu_id": one.gpu_id, "gpu": one.gpu,
            "score": _amount(one.score), "unit": "tokens/s", "score_per_usd": _digits(per_usd, 12),
            "score_per_1000_usd": _digits(per_usd * 1000, 2), "score_ratio": _digits(ratios[0], 2 if short else 12),
            "price_ratio": _digits(ratios[1], 2 if short else 12), "on_pareto_frontier": is_front,
            "frontier": "○" if is_front else "",
        }  # fmt: skip
        merged.append((per_usd, {name: facts.get(name) for name in columns} | _beside(one)))
    return _ranked(merged, columns, "value_rank")


def _offers(data: DataDir, basis: Basis, market: str | None) -> dict[str, dict[str, Any]]:
    """What each card costs on a basis, and where, by card."""
    if basis == "msrp":
        sql = "SELECT gpu_id, msrp_usd AS price_usd, NULL AS market FROM core.gpu WHERE msrp_usd > 0"
    else:
        sql = f"""SELECT p.gpu_id, p.price_usd, p.offered_in AS market, p.source AS shop,
                p.price_since::DATE AS price_since, p.last_seen_at::DATE AS last_seen_at
            FROM {street_prices(None, market)} p WHERE p.price_usd > 0"""
    columns, rows = query(data, sql, {} if basis == "msrp" else dict(asked(None, market)))
    return {row[0]: dict(zip(columns[1:], row[1:], strict=True)) for row in rows}


def _baseline(data: DataDir, workload: str) -> tuple[str, float] | None:
    """The card that ratios are to, with its score."""
    _, rows = query(
        data,
        """SELECT gpu_id, score::DOUBLE FROM mart.ranking
           WHERE workload_id = $workload AND gpu_id = baseline_gpu_id""",
        {"workload": workload},
    )
    return (rows[0][0], rows[0][1]) if rows else None


def _beside(one: Predicted) -> dict[str, Any]:
    bound = None if one.bound is None else _amount(one.bound)
    return dict(zip(BESIDE, (one.basis, _amount(one.low), _amount(one.high), bound), strict=True))


def _amount(value: float) -> Decimal:
    """Three digits that say something: more would be made up."""
    return Decimal(f"{value:.3g}") if value < 100 else Decimal(round(value))


def _digits(value: float | None, places: int) -> Decimal | None:
    return None if value is None else round(Decimal(value), places)


def _ranked(merged: list[tuple[float, dict[str, Any]]], columns: Sequence[str], rank: str) -> Rows:
    """Rows by what they are ranked by, equal ones sharing a rank."""
    merged = sorted(merged, key=lambda one: (-one[0], str(one[1].get("gpu_id") or one[1]["gpu"])))
    rows: list[tuple[Any, ...]] = []
    last: tuple[float, int] = (math.inf, 0)
    for place, (worth, row) in enumerate(merged, start=1):
        last = last if worth == last[0] else (worth, place)
        rows.append(tuple({**row, rank: last[1]}[name] for name in (*columns, *BESIDE)))
    return [*columns, *BESIDE], rows
