"""`gpuledger predict`: whether a model fits on a number of equal cards, and how fast it will be.

Needs no warehouse. If there is one and no engine is named, its measurements of that model and precision count before the
calculation.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from gpuledger.extract.message import Message
from gpuledger.flows.asking.assume import assume_option, explain_option, of_settings, serving_options, with_texts
from gpuledger.flows.asking.card_names import ambiguous_name, count_and_name, gpus_of
from gpuledger.flows.asking.options import Whole, complete_cards, complete_models, data_dir_option, read_from
from gpuledger.flows.showing import terminal
from gpuledger.flows.showing.explained import as_objects, show_steps
from gpuledger.flows.words.lang import gettext
from gpuledger.flows.words.say import say

if TYPE_CHECKING:
    from gpuledger.transform.buying.hosts import Host
    from gpuledger.transform.buying.need import Need, Usage
    from gpuledger.transform.identity.gpu import Gpu
    from gpuledger.transform.speed.learned import Learned
    from gpuledger.transform.speed.offload import Moved
    from gpuledger.transform.speed.predict import Prediction
    from gpuledger.transform.speed.rules import Rate
    from gpuledger.warehouse.paths import DataDir


@click.command()
@click.option(
    "--gpu",
    required=True,
    metavar="G",
    shell_complete=complete_cards,
    help='A card as shops and tables name it: "RTX 4090 24GB", "A100 SXM 80GB", "2x RTX 3090".',
)
@click.option(
    "--count",
    type=click.IntRange(1, 16),
    default=1,
    show_default=True,
    metavar="N",
    help="How many of this card are in one machine.",
)
@click.option(
    "--model",
    "model_id",
    required=True,
    metavar="M",
    shell_complete=complete_models,
    help="Model of the catalogue, added, or meta-llama/Llama-3.1-8B.",
)
@click.option("--precision", metavar="P", help="fp16, int8, Q4_K_M, fp8 … (default: that of the name or the files, else "
              "Q4_K_M).")  # fmt: skip
@click.option(
    "--engine",
    metavar="E",
    help="llama.cpp, ollama, vllm … (default: llama.cpp for one user and its formats, else vllm).",
)
@click.option(
    "--split",
    type=click.Choice(["layer", "tensor", "pipeline"]),
    help="How the cards share the model (default: the engine's).",
)
@click.option("--context", type=Whole(1), metavar="N", help="Tokens of context (default: 4096, or the model's own).")
@click.option(
    "--input",
    "prompt",
    type=Whole(1),
    metavar="N",
    help="Length of the prompt, in tokens (default: a part of the context).",
)
@click.option("--users", type=Whole(1), default=1, show_default=True, metavar="N", help="Sequences at once.")
@serving_options
@explain_option
@click.option(
    "--how-to-measure", is_flag=True, help="Print the commands that check this prediction, and how to take it in."
)
@assume_option
@data_dir_option
@click.option("--format", "form", type=click.Choice(["table", "json"]), default="table", show_default=True,
              help="How the answer is written.")  # fmt: skip
def command(
    gpu: str,
    count: int,
    model_id: str,
    precision: str | None,
    engine: str | None,
    split: str | None,
    load: Usage,
    kv_bits: str | None,
    explain: bool,
    how_to_measure: bool,
    assumed: tuple[str, ...],
    data_dir: str | None,
    form: str,
) -> None:
    """What fits on N cards and how fast it will be: what to expect, a range that holds in 8 of 10 cases, and a bound."""
    from gpuledger.flows.asking.from_hub import bring
    from gpuledger.transform.buying.hosts import host_with_room
    from gpuledger.transform.buying.need import DEFAULT_CONTEXT, need_of
    from gpuledger.transform.sizing.diffusion import DiffusionModel
    from gpuledger.transform.sizing.errors import SizingError
    from gpuledger.transform.sizing.files.named import shape_of, usual_precision
    from gpuledger.transform.sizing.weights import normalise_precision
    from gpuledger.transform.speed import explained
    from gpuledger.transform.speed.accelerators import check_node
    from gpuledger.transform.speed.by_rate import pieces
    from gpuledger.transform.speed.engines import default_engine, embedding_of, engine_of, loaded_as
    from gpuledger.transform.speed.offload import check_offload
    from gpuledger.transform.speed.predict import MOST_CARDS, job_of, least_of_alike, load_of, predict
    from gpuledger.transform.speed.rules import Plan

    count_in_name, card_name = count_and_name(read_from(data_dir), gpu)
    if count_in_name > 1 and count not in (1, count_in_name):
        raise click.UsageError(gettext("{name!r} says {named} cards and --count {count}").format(
            name=gpu, named=count_in_name, count=count))  # fmt: skip
    if not 1 <= max(count_in_name, count) <= MOST_CARDS:
        raise click.UsageError(gettext("{name!r}: the number of cards must be from 1 to {most}").format(
            name=gpu, most=MOST_CARDS))  # fmt: skip
    count, cards = max(count_in_name, count), gpus_of(read_from(data_dir), card_name)
    assumptions = of_settings(assumed)
    if kv_bits is not None:
        assumptions = with_texts(assumptions, {"kv_cache_bits": kv_bits})
    bring(model_id, read_from(data_dir))
    try:
        shape = shape_of(model_id, read_from(data_dir).models)
        precision = precision or usual_precision(shape, model_id, "Q4_K_M")
        if load.train is not None or isinstance(shape, DiffusionModel):
            if len(cards) > 1:
                raise ambiguous_name(card_name, cards)
            need = need_of(model_id, shape, precision, load, assumptions)
            check_node(cards[0], count, need.engine.name, need.precision)
            data = read_from(data_dir)
            _show_whole(need, cards[0], count, form, data, how_to_measure=how_to_measure, tokens=load.train_tokens)
            return
        program = engine_of(engine) if engine else default_engine(precision, load.users)
        loaded = loaded_as(program, precision)
        context = min(DEFAULT_CONTEXT, shape.context) if load.context is None else load.context
        job_load = load_of(shape, context, load.users, load.prompt, assumptions)
        job, learned = job_of(shape, loaded, job_load, assumptions), _learned(read_from(data_dir))
        answers = []
        for card in cards:
            check_node(card, count, program.name, job.size.precision)
            plan = Plan(
                gpu=card, count=count, engine=embedding_of(program, load.embedding), split=split or program.split,  # type: ignore[arg-type]
                offload=check_offload(load.offload, program, shape), learned=learned,
            )  # fmt: skip

            def on(host: Host, plan: Plan = plan) -> Prediction:
                return predict(job, replace(plan, host=host.memory(assumptions)))

            host = host_with_room(card, max(1, count // card.gpus_on_board), card.tdp_w, on)
            answers.append(predict(job, plan) if host is None else on(host))
    except SizingError as error:
        raise click.UsageError(say(error)) from None
    prediction = least_of_alike(answers)
    if prediction is None:
        raise ambiguous_name(card_name, cards)
    notes, asked_users = list(prediction.notes), load.users
    heard = pieces.heard(prediction.plan.gpu, shape)
    notes[:0] = heard
    if prediction.verdict == "no" and (at_once := prediction.users_at_once):
        # No speed is shown for users that do not fit: it is that of as many as run at once.
        fewer = load_of(shape, context, at_once, load.prompt, assumptions)
        held = predict(job_of(shape, loaded, fewer, assumptions), prediction.plan)
        prediction = held._replace(verdict="no", needed=prediction.needed)
        notes[1:] = held.notes
    if how_to_measure:
        from gpuledger.flows.showing.how_to_measure import commands

        lines = list(commands(prediction, model_id, loaded)) if not heard else [say(Message("speed.time_speech"))]
        click.echo("\n".join(lines or [say(Message("speed.no_benchmark_program", engine=program.name))]))
        return
    if loaded.lower() not in (precision.lower(), normalise_precision(precision).lower()):
        notes.append(Message("speed.loads", engine=prediction.plan.engine.name, precision=precision, loaded=loaded))
    if len(cards) > 1:
        others = ", ".join(card.display_name for card in cards if card != prediction.plan.gpu)
        notes.insert(0, Message("speed.mean_too_answer_nearly_same", card_name=card_name, others=others))
    if engine is None:
        rate, url = _measured(read_from(data_dir), prediction, model_id, precision)
        if rate != prediction.decode:
            notes.insert(0, Message("speed.measured_other_software_rests", url=url))
        prediction = prediction._replace(decode=rate)
    served, near = _served(read_from(data_dir), prediction, model_id, engine, explain=explain)
    if served is not None:
        notes.insert(0, served.note)
    notes += near
    steps = list(explained.steps(prediction)) if explain else []
    if form == "json":
        answer = as_object(prediction, model_id, precision, notes) | {
            "users": asked_users, "users_at_once": prediction.job.load.users if prediction.verdict == "no" else asked_users,
            "serves": served and {**_rate(served.rate), "each": round(served.each, 2)},
        } | ({"explanation": as_objects(steps)} if explain else {})  # fmt: skip
        click.echo(terminal.json_text(answer, indent=1))
    else:
        _show(prediction, f"{model_id} {precision}", notes, served)
        show_steps(steps)


def _show_whole(
    need: Need, gpu: Gpu, count: int, form: str, data: DataDir, *, how_to_measure: bool, tokens: int | None
) -> None:
    """Print whether training, or a model of pictures or clips, fits, and how fast it is by the matrix rate."""
    from gpuledger.flows.showing.how_to_measure import of_pictures
    from gpuledger.transform.buying import costs
    from gpuledger.transform.buying.explained import tuning_steps
    from gpuledger.transform.buying.headline import made_in
    from gpuledger.transform.speed import memory
    from gpuledger.transform.speed.by_rate import pieces, training
    from gpuledger.transform.speed.rules import NOTHING

    if how_to_measure:
        timed = Message("speed.time_training")
        click.echo("\n".join(of_pictures(need.diffusion, need.precision, gpu)) if need.diffusion else say(timed))
        return
    tuning, model, against = need.tuning, need.diffusion, need.against(gpu)
    needed, usable = need.needed_bytes(count), need.usable_bytes(gpu, count)
    verdict, steps = memory.verdict(needed, usable), list(tuning_steps(tuning, count)) if tuning else []
    rate = need.trained(gpu, count) if model is None else pieces.pace(gpu, model)
    speed = None if verdict == "no" or against is not None else rate
    said = [against] if against is not None else []
    if speed is not None:
        said.append(training.said(speed, tokens) if model is None else made_in(model, speed))
        said += costs.energy(gpu, count, speed.expected, need.assumptions)
        said += _of_training(data, gpu, count, speed, need) if tuning else ()
    if tuning is not None:
        said.append(tuning.description)
    if form == "json":
        figures = (speed or NOTHING)._asdict().items()
        rounded = {name: float(f"{figure:.4g}") if isinstance(figure, float) else figure for name, figure in figures}
        answer = {
            "gpu_id": gpu.gpu_id, "gpu": gpu.display_name, "count": count, "model": need.model_id,
            "train": tuning and tuning.way, "precision": need.precision, "verdict": verdict,
            "memory_needed_gb": round(needed / 1e9, 3), "memory_usable_gb": round(usable / 1e9, 3),
            "training" if tuning else "pieces": rounded, "assumptions": [str(line) for line in said],
            "explanation": as_objects(steps),
        }  # fmt: skip
        answer |= {"context": tuning.tokens, "batch": tuning.batch} if tuning else {}
        click.echo(terminal.json_text(answer, indent=1))
        return
    title = f"{need.model_id} {need.precision}"
    if tuning is not None:
        title = gettext("{model}, trained ({way})").format(model=need.model_id, way=tuning.way)
    cards = gpu.display_name if count == 1 else f"{count} × {gpu.display_name}"
    click.echo(f"{title} · {cards}: {_verdicts()[verdict]}, {_gigabytes(needed, usable)}")
    for line in said:
        terminal.say(f"  {say(line)}")
    show_steps(steps)


def _of_training(data: DataDir, gpu: Gpu, count: int, speed: Rate, need: Need) -> Iterator[Message]:
    """What a million tokens cost: on rented cards if a warehouse has them, on cards of a shop, or at their launch price."""
    from gpuledger.transform.buying import costs, market
    from gpuledger.warehouse.read import reader

    hours, price, rents = Decimal(1e6 / 3600 / (speed.expected or 1)), gpu.msrp_usd, list[Decimal]()
    if data.published.exists():
        with reader(data) as con:
            price = next((card.price_usd for card in market.cards(con) if card.gpu_id == gpu.gpu_id), price)
            rents = [
                offer.hour_usd for offer in market.instances(con)
                if (offer.gpu_id, offer.gpu_count, offer.pricing_model) == (gpu.gpu_id, count, "on_demand")
            ]  # fmt: skip
    if rents:
        yield Message("speed.trained_rented", hour=min(rents), usd=min(rents) * hours)
    if price is not None and gpu.tdp_w is not None:
        own = costs.ownership(price, round(gpu.tdp_w), need.assumptions, count=max(1, count // gpu.gpus_on_board))
        usd = own.total / own.busy_hours * hours if own.busy_hours else own.total
        yield Message("speed.trained_owned", price=price, hours=own.busy_hours, usd=usd)


def _learned(data: DataDir) -> Learned:
    """What the measurements of the warehouse teach. NOTHING_LEARNED if there is no warehouse."""
    from gpuledger.transform.buying.market import learned
    from gpuledger.transform.speed.learned import NOTHING_LEARNED
    from gpuledger.warehouse.read import reader

    if not data.published.exists():
        return NOTHING_LEARNED
    with reader(data) as con:
        return learned(con)


def _measured(data: DataDir, prediction: Prediction, model_id: str, precision: str) -> tuple[Rate, str | None]:
    """The rate of writing, corrected by the measurements of the warehouse, and the address where these were published."""
    bandwidth = prediction.plan.gpu.memory_bandwidth_gb_s
    if not data.published.exists() or not bandwidth or prediction.decode.expected is None:
        return prediction.decode, None
    from gpuledger.transform.buying.market import measurements
    from gpuledger.transform.buying.options import beside_measurements
    from gpuledger.transform.sizing import catalogue
    from gpuledger.transform.sizing.weights import normalise_precision
    from gpuledger.warehouse.read import reader

    with reader(data) as con:
        measured = measurements(con, catalogue.canonical(model_id) or model_id, normalise_precision(precision))
    rate, _ = beside_measurements(prediction, measured, prediction.plan.gpu.gpu_id, bandwidth)
    return rate, next((measurement.url for measurement in measured.values()), None)


class _Served(NamedTuple):
    """What all users together get while prompts are read too, what each of them sees, and that in words."""

    rate: Rate
    each: float
    note: Message


def _served(
    data: DataDir, prediction: Prediction, model_id: str, engine: str | None, *, explain: bool
) -> tuple[_Served | None, Sequence[Message]]:
    """What several users get, as measured if exactly this was; and where it is explained, the nearest measurements."""
    from gpuledger.transform.sizing import catalogue
    from gpuledger.transform.speed import stored
    from gpuledger.transform.speed.predict import serving, with_measurement
    from gpuledger.warehouse.read import reader

    load, known = prediction.job.load, catalogue.canonical(model_id) or model_id
    expected = (
        serving(prediction, load.context - load.prompt) if load.users > 1 and load.prompt < load.context else None
    )
    if expected is None and not explain:
        return None, ()
    measurements: Sequence[stored.Stored] = ()
    if data.published.exists():
        with reader(data) as con:
            measurements = stored.measurements(con)
    near: list[Message] = []
    if explain:
        from gpuledger.transform.buying.costs import energy

        near = [
            Message("speed.nearest", measurement=str(one)) for one in stored.nearest(measurements, prediction, known)
        ]
        near = near or [Message("speed.none_near")]
        near += energy(
            prediction.plan.gpu, prediction.plan.count, prediction.decode.expected, prediction.job.assumptions
        )
    if expected is None:
        return None, near
    writes, total = prediction.decode, expected.all_tokens_per_s
    share = total / (writes.expected or total)
    rate = writes._replace(
        expected=total, low=writes.low and writes.low * share, high=writes.high and writes.high * share,
    )  # fmt: skip
    note = Message("speed.serves", users=load.users, each=expected.each_tokens_per_s, first=expected.first_token_s)
    if (case := stored.served_case(measurements, prediction, known, engine)) is not None:
        measured = with_measurement(rate, case.tokens_per_s)
        note = Message(
            "speed.served_as_measured", users=load.users, software=case.software, claim=case.claim, on=case.on
        )
        return _Served(measured, case.tokens_per_s / load.users, note), near
    return _Served(rate, expected.each_tokens_per_s, note), near


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
        "decode": _rate(prediction.decode),
        "prefill": _rate(prediction.prefill),
        "offload": None if prediction.moved is None else _moved(prediction.moved),
        "assumptions": list(map(str, notes)),
    }


def _moved(moved: Moved) -> dict[str, Any]:
    """The part of the model that stays with the processor, for programs."""
    return {"what": moved.what, "layers": moved.layers, "of_layers": moved.of_layers, "gb": round(moved.size / 1e9, 3)}


def _rate(rate: Rate) -> dict[str, Any]:
    figures = {name: getattr(rate, name) for name in ("expected", "low", "high", "bound")}
    return {name: None if value is None else round(value, 2) for name, value in figures.items()} | {"basis": rate.basis}


def _gigabytes(needed: float, usable: float) -> str:
    return gettext("{needed} of {usable} GB").format(needed=f"{needed / 1e9:.1f}", usable=f"{usable / 1e9:.1f}")


def _verdicts() -> dict[str, str]:
    return {
        "fits": gettext("fits"),
        "tight": gettext("fits, with less than 5% left over"),
        "no": gettext("does not fit"),
    }


def _show(prediction: Prediction, what: str, notes: Sequence[Message], served: _Served | None) -> None:
    from gpuledger.flows.showing.show import show_rows

    plan = prediction.plan
    title = (
        f"{what} · {plan.count} × {plan.gpu.display_name}" if plan.count > 1 else f"{what} · {plan.gpu.display_name}"
    )
    click.echo(f"{title}: {_verdicts()[prediction.verdict]}, {_gigabytes(prediction.needed, prediction.usable)}")
    rates = [(gettext("writes"), prediction.decode), (gettext("reads"), prediction.prefill)]
    if served is not None:
        rates.append((gettext("serves, all together"), served.rate))
    rows = [
        [
            name,
            *(None if value is None else float(f"{value:.4g}") for value in (r.expected, r.low, r.high, r.bound)),
            r.basis,
        ]
        for name, r in rates
    ]
    show_rows(["tokens/s", "expected", "low", "high", "bound", "basis"], rows, "table")
    for line in notes:
        terminal.say(f"  {say(line)}")
