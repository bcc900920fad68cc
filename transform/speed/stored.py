"""The measurements of a warehouse that are of a question: its own case, and the nearest ones."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import date
from typing import TYPE_CHECKING, NamedTuple

from gpuledger.transform.sizing import catalogue
from gpuledger.transform.sizing.weights import UnknownPrecision, normalise_precision
from gpuledger.transform.speed.learned import engine_named
from gpuledger.transform.speed.predict import Prediction

if TYPE_CHECKING:
    import duckdb

#: Lengths are the same if they differ by less than this share: benchmarks draw them at random.
_SAME = 0.06


class Stored(NamedTuple):
    """A measurement: tokens a second that all users together got, or one user alone. None is what its source leaves open."""

    gpu_id: str
    architecture: str | None
    gpu: str
    gpu_count: int
    model_id: str
    precision: str | None
    software: str | None
    users: int
    prompt: int | None
    context: int | None
    tokens_per_s: float
    is_served: bool
    claim: str
    on: date | None
    url: str | None

    def __str__(self) -> str:
        cards = f"{self.gpu_count} × {self.gpu}" if self.gpu_count > 1 else self.gpu
        length = f", {self.context} tokens" if self.context else ""
        return (
            f"{cards}, {self.model_id} {self.precision or ''}, {self.software or '?'}, {self.users} at once{length}: "
            f"{self.tokens_per_s:.4g} tokens/s ({self.claim}, {self.on})"
        )


def measurements(con: duckdb.DuckDBPyConnection) -> Sequence[Stored]:
    """Every measurement of a model that the warehouse holds, the ones to prefer first: one's own, and the newest."""
    rows = con.execute(
        """SELECT s.gpu_id, g.architecture, g.gpu, coalesce(s.gpu_count, w.gpu_count, 1)::INTEGER, w.model_id,
               coalesce(s.precision, w.precision), coalesce(s.software, w.software),
               coalesce(s.concurrent_users, s.batch_size, 1)::INTEGER, s.prompt_tokens, s.context_tokens, s.score::DOUBLE,
               w.output = 'served_token', coalesce(s.claim, 'published'), s.published_on, s.article_url
           FROM core.benchmark_score s
           JOIN core.workload w USING (workload_id)
           JOIN core.gpu g USING (gpu_id)
           WHERE w.output IN ('token', 'served_token') AND w.direction = 'more' AND w.model_id IS NOT NULL
               AND s.valid_to IS NULL AND s.match_status = 'matched' AND s.claim IS DISTINCT FROM 'vendor'
           ORDER BY (s.claim = 'own') DESC NULLS LAST, s.published_on DESC NULLS LAST, s.workload_id"""
    ).fetchall()
    return [Stored(*row) for row in rows]


def served_case(stored: Sequence[Stored], prediction: Prediction, model_id: str, engine: str | None) -> Stored | None:
    """The measurement of exactly this case under several users, by `engine`, or by any if none is asked for."""
    plan, load = prediction.plan, prediction.job.load
    same = [
        one for one in stored
        if one.is_served and (one.gpu_id, one.gpu_count, one.users) == (plan.gpu.gpu_id, plan.count, load.users)
        and one.model_id == model_id and _precision(one) == _normal(prediction.job.size.precision)
        and _is_near(one.prompt, load.prompt) and _is_near(one.context, load.context)
        and (engine is None or engine_named(one.software) == plan.engine.name)
    ]  # fmt: skip
    # The program that is predicted comes first.
    return max(same, key=lambda one: engine_named(one.software) == plan.engine.name, default=None)


def nearest(stored: Sequence[Stored], prediction: Prediction, model_id: str, most: int = 3) -> Sequence[Stored]:
    """The measurements that are most like the question: by card, model, program, number of cards, users and length."""
    plan, load = prediction.plan, prediction.job.load

    def apart(one: Stored) -> float:
        card = 0.0 if one.gpu_id == plan.gpu.gpu_id else 2.0 if one.architecture == plan.gpu.architecture else 6.0
        other = 2.0 * (one.model_id != model_id) + 2.0 * (engine_named(one.software) != plan.engine.name)
        other += 0.5 * (_precision(one) != _normal(prediction.job.size.precision))
        lengths = abs(math.log(load.context / one.context)) / 2 if one.context else 1.0
        return (
            card + other + abs(math.log2(one.gpu_count / plan.count)) + abs(math.log(one.users / load.users)) + lengths
        )

    return sorted(stored, key=apart)[:most]


def published_as(precision: str | None, model_id: str | None) -> str | None:
    """The precision as it is known here. Publications call two formats fp4: MXFP4 if the model itself came out in it."""
    if (precision or "").lower() != "fp4" or model_id is None:
        return precision
    return "mxfp4" if catalogue.architecture(model_id).stored_as == "mxfp4" else "nvfp4"


def _precision(one: Stored) -> str | None:
    known = catalogue.canonical(one.model_id)
    return _normal(published_as(one.precision, known))


def _normal(precision: str | None) -> str | None:
    try:
        return normalise_precision(precision) if precision else None
    except UnknownPrecision:
        return None


def _is_near(stored: int | None, asked: int) -> bool:
    return stored is not None and abs(stored - asked) <= _SAME * asked
