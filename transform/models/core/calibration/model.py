"""Fits the calibration to the measurements in this warehouse, both from `measure import` and from publications."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from gpuledger.transform import assumptions
from gpuledger.transform.identity.gpu import Gpu
from gpuledger.transform.sizing import catalogue
from gpuledger.transform.sizing.errors import SizingError
from gpuledger.transform.speed import engines, learned, predict, rules, stored

if TYPE_CHECKING:
    import pandas as pd

    from gpuledger.transform.assumptions import Assumptions

_UNITS = ("tokens/s", "token/s", "tok/s", "t/s")
#: Tokens of a sequence if a publication does not state them: as many as benchmarks write and read.
_CONTEXT = 512
_COLUMNS = {
    "engine": "string", "for_several": "boolean", "level": "string", "name": "string", "effect": "float64",
    "deviation": "Float64", "measurements": "int32",
}  # fmt: skip


def build(inputs: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Effects and residuals. Empty if no measurement names a model, a precision and a program that are known here."""
    import pandas as pd

    effects, residuals = learned.fit(_points(inputs))
    rows: list[tuple[Any, ...]] = [
        (
            *effect.kind,
            effect.level,
            effect.name,
            round(effect.effect, 4),
            round(effect.deviation, 4),
            effect.measurements,
        )
        for effect in effects
    ]
    several: dict[tuple[learned.Kind, str], list[float]] = {}
    for residual in residuals:
        several.setdefault((residual.point.kind, residual.point.name), []).append(residual.off)
    rows += [
        (*kind, "measurement", name, round(sum(offs) / len(offs), 4), None, len(offs))
        for (kind, name), offs in several.items()
    ]
    frame = pd.DataFrame(rows, columns=list(_COLUMNS)).astype(_COLUMNS)
    return frame.sort_values(["engine", "for_several", "level", "name"], ignore_index=True)


def _points(inputs: Mapping[str, pd.DataFrame]) -> Iterator[learned.Point]:
    scores, workloads = inputs["core.benchmark_score"], inputs["core.workload"]
    token_workloads = workloads[
        workloads["output"].isin(("token", "served_token")) & (workloads["direction"] == "more")
    ]
    measured_speeds = scores[
        scores["valid_to"].isna() & (scores["match_status"] == "matched") & scores["unit"].isin(_UNITS)
    ]
    both = measured_speeds[measured_speeds["claim"] != "vendor"].merge(
        token_workloads, on="workload_id", suffixes=("", "_asked")
    )
    if both.empty:
        return
    cards = {
        row["gpu_id"]: Gpu(**{name: value for name, value in row.items() if value == value and value is not None})
        for row in _plain(inputs["core.gpu"][inputs["core.gpu"]["gpu_id"].isin(both["gpu_id"])])
    }
    assumed = assumptions.from_table(
        inputs["core.assumption"][["assumption", "amount"]].itertuples(index=False, name=None)
    )
    for row in sorted(_plain(both), key=lambda row: str(sorted((k, str(v)) for k, v in row.items()))):
        gpu = cards.get(row["gpu_id"])
        if gpu is not None:
            yield from _point(row, gpu, assumed)


def _point(row: Mapping[str, Any], gpu: Gpu, assumed: Assumptions) -> Iterator[learned.Point]:
    """The measurement of a row, if its model, precision and program are known and its speed is possible."""
    engine = learned.engine_named(row["software"] or row["software_asked"])
    model_id = catalogue.canonical(row["model_id"] or "")
    precision = stored.published_as(row["precision"] or row["precision_asked"], model_id)
    if engine is None or model_id is None or precision is None:
        return
    users = int(row["concurrent_users"] or row["batch_size"] or 1)
    count = int(row["gpu_count"] or row["gpu_count_asked"] or 1)
    with suppress(SizingError):
        shape = catalogue.architecture(model_id)
        context = min(shape.context, int(row["context_tokens"] or _CONTEXT))
        prompt = int(row["prompt_tokens"]) if row["prompt_tokens"] else None
        job = predict.job_of(shape, precision, predict.load_of(shape, context, users, prompt, assumed), assumed)
        program = engines.engine_of(engine)
        plan = rules.Plan(gpu=gpu, count=count, engine=program, split=program.split)
        prediction, measured = predict.predict(job, plan), float(row["score"])
        rate, expected = prediction.decode, prediction.decode.expected
        # What a server writes in all is less than what it writes while it reads nothing.
        if row["output"] == "served_token":
            together = predict.serving(prediction, max(1, context - job.load.prompt))
            expected = together and together.all_tokens_per_s
        if expected and rate.bound and measured <= rate.bound:
            load = f"{users} at once, " if users > 1 else ""
            name = f"{count} × {gpu.gpu_id}, {model_id} {precision}, {load}{context} tokens, {row['source']}"
            kind = learned.Kind(engine, users > 1)
            ratio = math.log(measured / expected)
            yield learned.Point(kind, gpu.gpu_id, gpu.architecture or "", model_id, ratio, name)


def _plain(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows of a frame, with None for missing values."""
    import pandas as pd

    return [
        {str(name): None if value is None or pd.isna(value) else value for name, value in row.items()}
        for row in frame.to_dict("records")
    ]
