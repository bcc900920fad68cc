"""What `gpuledger predict` asks: what measurements teach and correct, what several users get, and what training costs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING, NamedTuple

from gpuledger.flows.doors.showing.prediction import Whole
from gpuledger.message import Message

if TYPE_CHECKING:
    from gpuledger.transform.assumptions import Assumptions
    from gpuledger.transform.buying.hosts import Host
    from gpuledger.transform.buying.need import Need
    from gpuledger.transform.buying.question import Usage
    from gpuledger.transform.identity.gpu import Gpu
    from gpuledger.transform.sizing.diffusion import DiffusionModel
    from gpuledger.transform.sizing.tensors import Architecture
    from gpuledger.transform.speed.engines import Engine, Split
    from gpuledger.transform.speed.learned import Learned
    from gpuledger.transform.speed.predict import Prediction
    from gpuledger.transform.speed.rules import Job, Rate
    from gpuledger.warehouse.paths import DataDir


def learned(data: DataDir) -> Learned:
    """What the measurements of the warehouse teach. NOTHING_LEARNED if there is no warehouse."""
    from gpuledger.transform.buying import market
    from gpuledger.transform.speed.learned import NOTHING_LEARNED
    from gpuledger.warehouse.read import reader

    if not data.published.exists():
        return NOTHING_LEARNED
    with reader(data) as con:
        return market.learned(con)


def measured(data: DataDir, prediction: Prediction, model_id: str, precision: str) -> tuple[Rate, str | None]:
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
        figures = measurements(con, catalogue.canonical(model_id) or model_id, normalise_precision(precision))
    rate, _ = beside_measurements(prediction, figures, prediction.plan.gpu.gpu_id, bandwidth)
    return rate, next((measurement.url for measurement in figures.values()), None)


class Asked(NamedTuple):
    """What is asked of any cards: a model at a precision, the program, how it divides the model, and the load."""

    shape: Architecture
    precision: str
    program: Engine
    split: Split
    load: Usage
    assumptions: Assumptions


class Predicted(NamedTuple):
    """A prediction, and what is said beside it."""

    prediction: Prediction
    notes: list[Message]


def predicted(asked: Asked, card_name: str, cards: Sequence[Gpu], count: int, learned: Learned) -> Predicted | None:
    """The prediction for so many of each of the cards called `card_name`. None if these differ too much for one answer.

    If not all users fit, it is that of as many as run at once. Raises SizingError.
    """
    from gpuledger.transform.buying.hosts import host_with_room
    from gpuledger.transform.buying.need import DEFAULT_CONTEXT
    from gpuledger.transform.sizing.weights import normalise_precision
    from gpuledger.transform.speed import pieces
    from gpuledger.transform.speed.engines import check_node, embedding_of, loaded_as
    from gpuledger.transform.speed.memory import check_offload
    from gpuledger.transform.speed.predict import job_of, least_of_alike, load_of, predict
    from gpuledger.transform.speed.rules import Plan

    shape, program, load, assumptions = asked.shape, asked.program, asked.load, asked.assumptions
    loaded = loaded_as(program, asked.precision)
    context = min(DEFAULT_CONTEXT, shape.context) if load.context is None else load.context

    def job_for(users: int) -> Job:
        return job_of(shape, loaded, load_of(shape, context, users, load.prompt, assumptions), assumptions)

    job, answers = job_for(load.users), []
    for card in cards:
        check_node(card, count, program.name, job.size.precision)
        plan = Plan(
            gpu=card, count=count, engine=embedding_of(program, load.embedding), split=asked.split,
            offload=check_offload(load.offload, program, shape), learned=learned,
        )  # fmt: skip

        def on(host: Host, plan: Plan = plan) -> Prediction:
            return predict(job, replace(plan, host=host.memory(assumptions)))

        host = host_with_room(card, max(1, count // card.gpus_on_board), card.tdp_w, on)
        answers.append(predict(job, plan) if host is None else on(host))
    prediction = least_of_alike(answers)
    if prediction is None:
        return None
    notes = [*pieces.heard(prediction.plan.gpu, shape), *prediction.notes]
    if prediction.verdict == "no" and (at_once := prediction.users_at_once):
        held = predict(job_for(at_once), prediction.plan)
        prediction = held._replace(verdict="no", needed=prediction.needed)
        notes[1:] = held.notes
    if loaded.lower() not in (asked.precision.lower(), normalise_precision(asked.precision).lower()):
        engine = prediction.plan.engine.name
        notes.append(
            Message("{engine} loads {precision} as {loaded}", engine=engine, precision=asked.precision, loaded=loaded)
        )
    if len(cards) > 1:
        others = ", ".join(card.display_name for card in cards if card != prediction.plan.gpu)
        notes.insert(
            0,
            Message(
                "{card_name!r} may mean {others} too, of which the answer is nearly the same", card_name=card_name,
                others=others,
            ),
        )  # fmt: skip
    return Predicted(prediction, notes)


class Served(NamedTuple):
    """What all users together get while prompts are read too, what each of them sees, and that in words."""

    rate: Rate
    each: float
    note: Message


def served(
    data: DataDir, prediction: Prediction, model_id: str, engine: str | None, *, explain: bool
) -> tuple[Served | None, Sequence[Message]]:
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

        near = [Message(
            "measured near this: {measurement}", measurement=str(one),
        ) for one in stored.nearest(measurements, prediction, known)]  # fmt: skip
        near = near or [
            Message("the warehouse has no measurement of a language model; `gpuledger measure import` takes some in")
        ]
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
    note = Message(
        "serves {users} at once: each gets {each:.4g} tokens/s while its answer is written, and its first token "
        "after {first:.2g} s", users=load.users, each=expected.each_tokens_per_s, first=expected.first_token_s,
    )  # fmt: skip
    if (case := stored.served_case(measurements, prediction, known, engine)) is not None:
        measured = with_measurement(rate, case.tokens_per_s)
        note = Message(
            "serves as measured with {software} ({claim}, {on}), {users} at once", users=load.users,
            software=case.software, claim=case.claim, on=case.on,
        )  # fmt: skip
        return Served(measured, case.tokens_per_s / load.users, note), near
    return Served(rate, expected.each_tokens_per_s, note), near


def whole(need: Need, gpu: Gpu, count: int, data: DataDir, tokens: int | None) -> Whole:
    """The answer about training of so many `tokens`, or about a model of pictures or clips."""
    from gpuledger.transform.buying import costs
    from gpuledger.transform.buying.explained import tuning_steps
    from gpuledger.transform.buying.headline import made_in
    from gpuledger.transform.speed import memory, training

    tuning, model, against = need.tuning, need.diffusion, need.against(gpu)
    needed, usable = need.needed_bytes(count), need.usable_bytes(gpu, count)
    verdict, steps = memory.verdict(needed, usable), list(tuning_steps(tuning, count)) if tuning else []
    rate, waiting = need.trained(gpu, count) if model is None else need.made(gpu), need.waiting(gpu)
    if verdict == "no" and waiting:
        verdict = "tight"
    speed = None if verdict == "no" or against is not None else rate
    said = [against] if against is not None else []
    if speed is not None:
        said.append(training.said(speed, tokens) if model is None else made_in(model, speed))
        said += costs.energy(gpu, count, speed.expected, need.assumptions)
        said += _of_training(data, gpu, count, speed, need) if tuning else ()
    if need.image is not None:
        said.append(Message(
            "one network after the other on the card, as ComfyUI and diffusers' offloading run it; {resident:.1f} GB "
            "with all of them there", resident=need.image.all_resident / 1e9,
        ))  # fmt: skip
        said += waiting
    if tuning is not None:
        said.append(tuning.description)
    return Whole(verdict, needed, usable, speed, said, steps)


def fits_at(asked: Need, shape: Architecture | DiffusionModel, load: Usage, gpu: Gpu, count: int) -> Iterator[Message]:
    """The most bits at which a model fits on the cards that does not as it was asked; nothing for a training."""
    from gpuledger.transform.buying.advice import smaller
    from gpuledger.transform.buying.need import need_of
    from gpuledger.transform.sizing.errors import SizingError
    from gpuledger.transform.speed import memory

    for precision in () if load.train else smaller(asked):
        with suppress(SizingError):
            other = need_of(asked.model_id, shape, precision, load, asked.assumptions)
            needed, usable = other.needed_bytes(count), other.usable_bytes(gpu, count)
            if needed < asked.needed_bytes(count) and memory.verdict(needed, usable) != "no":
                yield Message(
                    "At {precision} it fits: {needed:.1f} of {usable:.1f} GB.", precision=precision,
                    needed=needed / 1e9, usable=usable / 1e9,
                )  # fmt: skip
                return


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
        yield Message(
            "A million tokens on an instance for {hour:.2f} USD an hour: {usd:,.2f} USD.", hour=min(rents),
            usd=min(rents) * hours,
        )  # fmt: skip
    if price is not None and gpu.tdp_w is not None:
        own = costs.ownership(price, round(gpu.tdp_w), need.assumptions, count=max(1, count // gpu.gpus_on_board))
        usd = own.total / own.busy_hours * hours if own.busy_hours else own.total
        yield Message(
            "A million tokens on cards at {price:,.0f} USD each, which work {hours:,.0f} hours until they are sold: "
            "{usd:,.2f} USD with machine and electricity.", price=price, hours=own.busy_hours, usd=usd,
        )  # fmt: skip
