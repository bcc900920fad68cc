"""Show the answer of `gpuledger predict`, and what --explain adds to an answer: each figure as arithmetic."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from gpuledger.flows.doors.showing import terminal
from gpuledger.flows.words.lang import gettext
from gpuledger.flows.words.say import say, spoken
from gpuledger.message import Message

if TYPE_CHECKING:
    from gpuledger.transform.buying.answer import Answer
    from gpuledger.transform.buying.need import Need
    from gpuledger.transform.figures import Step
    from gpuledger.transform.identity.gpu import Gpu
    from gpuledger.transform.speed.predict import Prediction
    from gpuledger.transform.speed.rules import Rate


def as_object(prediction: Prediction, model_id: str, precision: str, notes: Sequence[Message]) -> dict[str, Any]:
    """The answer for programs. Memory is in GB of 10^9 bytes, speeds are in tokens a second of all users together."""
    plan, load = prediction.plan, prediction.job.load
    return {
        "gpu_id": plan.gpu.gpu_id,
        "gpu": plan.gpu.display_name,
        "count": plan.count,
        "model": model_id,
        "precision": precision,
        "engine": plan.engine.name,
        "split": prediction.split if plan.count > 1 else None,
        "context": load.context,
        "input": load.prompt,
        "users": load.users,
        "verdict": prediction.verdict,
        "memory_needed_gb": round(prediction.needed / 1e9, 3),
        "memory_usable_gb": round(prediction.usable / 1e9, 3),
        "decode": rate_object(prediction.decode),
        "prefill": rate_object(prediction.prefill),
        # The part of the model that stays with the processor.
        "offload": (moved := prediction.moved)
        and {
            "what": moved.what,
            "layers": moved.layers,
            "of_layers": moved.of_layers,
            "gb": round(moved.size / 1e9, 3),
        },
        "assumptions": list(map(str, notes)),
    }


def rate_object(rate: Rate) -> dict[str, Any]:
    """A rate for programs."""
    figures = {name: getattr(rate, name) for name in ("expected", "low", "high", "bound")}
    return {name: None if value is None else round(value, 2) for name, value in figures.items()} | {"basis": rate.basis}


def _gigabytes(needed: float, usable: float) -> str:
    return gettext("{needed} of {usable} GB").format(needed=f"{needed / 1e9:.1f}", usable=f"{usable / 1e9:.1f}")


def _verdicts() -> dict[str, str]:
    return {
        "fits": gettext("fits"),
        "tight": gettext("fits, with less than 5% left over"),
        "raised": gettext("fits once the limit of its memory is raised"),
        "waits": gettext("runs with a part in the machine's memory"),
        "no": gettext("does not fit"),
    }


def show(prediction: Prediction, what: str, notes: Sequence[Message], serves: Rate | None) -> None:
    """Print the answer for people; `serves` is what all users get together."""
    from gpuledger.flows.doors.showing.show import show_rows

    plan = prediction.plan
    title = (
        f"{what} · {plan.count} × {plan.gpu.display_name}" if plan.count > 1 else f"{what} · {plan.gpu.display_name}"
    )
    verdict = "raised" if prediction.needs_higher_limit else prediction.verdict
    click.echo(f"{title}: {_verdicts()[verdict]}, {_gigabytes(prediction.needed, prediction.usable)}")
    rates = [(gettext("writes"), prediction.decode), (gettext("reads"), prediction.prefill)]
    if serves is not None:
        rates.append((gettext("serves, all together"), serves))
    rows = [
        [
            name,
            *(None if value is None else float(f"{value:.4g}") for value in (r.expected, r.low, r.high, r.bound)),
            spoken(r.basis),
        ]
        for name, r in rates
    ]
    show_rows(["tokens/s", "expected", "low", "high", "bound", "basis"], rows, "table")
    for line in notes:
        terminal.say(f"  {say(line)}")


class Whole(NamedTuple):
    """Whether training, or a model of pictures or clips, fits, and how fast it is by the matrix rate, with that in words.

    `speed` is None if it does not run.
    """

    verdict: str
    needed: float
    usable: float
    speed: Rate | None
    said: Sequence[Message]
    steps: Sequence[Step]


def whole_object(whole: Whole, need: Need, gpu: Gpu, count: int) -> dict[str, Any]:
    """The answer about training, or about a model of pictures or clips, for programs."""
    from gpuledger.transform.speed.rules import NOTHING

    tuning = need.tuning
    figures = (whole.speed or NOTHING)._asdict().items()
    rounded = {name: float(f"{figure:.4g}") if isinstance(figure, float) else figure for name, figure in figures}
    answer = {
        "gpu_id": gpu.gpu_id, "gpu": gpu.display_name, "count": count, "model": need.model_id,
        "train": tuning and tuning.way, "precision": need.precision, "verdict": whole.verdict,
        "memory_needed_gb": round(whole.needed / 1e9, 3), "memory_usable_gb": round(whole.usable / 1e9, 3),
        "training" if tuning else "pieces": rounded, "assumptions": [str(line) for line in whole.said],
        "explanation": as_objects(whole.steps),
    }  # fmt: skip
    return answer | ({"context": tuning.tokens, "batch": tuning.batch} if tuning else {})


def show_whole(whole: Whole, need: Need, gpu: Gpu, count: int) -> None:
    """Print the answer about training, or about a model of pictures or clips, for people."""
    title = f"{need.model_id} {need.precision}"
    if need.tuning is not None:
        title = gettext("{model}, trained ({way})").format(model=need.model_id, way=need.tuning.way)
    cards = gpu.display_name if count == 1 else f"{count} × {gpu.display_name}"
    verdict = "waits" if whole.verdict != "no" and whole.needed > whole.usable else whole.verdict
    click.echo(f"{title} · {cards}: {_verdicts()[verdict]}, {_gigabytes(whole.needed, whole.usable)}")
    for line in whole.said:
        terminal.say(f"  {say(line)}")
    show_steps(whole.steps)


def show_what_runs(answers: Sequence[Answer], gpu: Gpu, form: str, limit: int) -> None:
    """Print which models run comfortably, `limit` of them or all for 0: a row each, with the speed that each user sees."""
    from gpuledger.flows.doors.showing.show import no_rows, show_rows
    from gpuledger.transform.buying.rows import Shown, row_of

    names = (
        "precision", "what", "needed_gb", "available_gb", "each_tokens_per_s", "low_tokens_per_s", "high_tokens_per_s",
        "speed_is", "first_token_s", "engine", "users",
    )  # fmt: skip
    rows = []
    for answer in answers[: limit or None]:
        assert answer.picks is not None
        row = row_of(
            Shown(rank=1, option=answer.picks.first, ruled_out=None, answer=answer, origin=lambda sha256: None)
        )
        rows.append({"model": answer.question.model, **{name: row[name] for name in names}})
        rows[-1]["seconds_each"] = row["images_per_s"] and float(f"{row['gpu_count'] / row['images_per_s']:.3g}")
    if more := len(answers) - len(rows):
        terminal.aside(gettext("{count} more with --limit 0").format(count=more))
    if form == "json":
        terminal.give(rows)
        return
    if not rows:
        no_rows(gettext("no model that is known here runs comfortably on it"))
        return
    columns = {
        "model": "model", "precision": "precision", "what": "what", "needed_gb": "GB needed",
        "each_tokens_per_s": "tokens/s", "speed_is": "speed is", "first_token_s": "first token s",
        "seconds_each": "seconds each",
    }  # fmt: skip
    shown = [[spoken(row[name]) if name == "speed_is" else row[name] for name in columns] for row in rows]
    title = gettext("{gpu}: what it runs comfortably, the largest models first").format(gpu=gpu.display_name)
    show_rows([*columns.values()], shown, "table", title=title, worth=[*columns.values()])


def as_objects(steps: Iterable[Step]) -> list[dict[str, Any]]:
    """The steps as objects for programs."""
    return [{**asdict(step), "source": str(step.source)} for step in steps]


def show_steps(steps: Iterable[Step]) -> None:
    """Print the steps for people: one line for each calculation, and below it where its numbers come from."""
    for step in steps:
        terminal.say(f"   {say(step.figure)}: {step.arithmetic} = {step.value:,.6g} {say(step.unit)}")
        terminal.say(f"      {say(step.source)}")
