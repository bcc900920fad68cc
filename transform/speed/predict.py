"""Whether a model fits on a number of equal cards, and how fast it runs: bounds, expected speed, and uncertainty."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, NamedTuple

from gpuledger.extract.message import Message
from gpuledger.transform.assumptions import Assumptions
from gpuledger.transform.identity.gpu import Gpu
from gpuledger.transform.sizing.errors import SizingError
from gpuledger.transform.sizing.flops import decode_flops, prefill_flops
from gpuledger.transform.sizing.memory import activation_bytes, check_context, kv_cache_bytes, state_bytes
from gpuledger.transform.sizing.tensors import Architecture
from gpuledger.transform.sizing.weights import Weights, weights
from gpuledger.transform.speed import memory
from gpuledger.transform.speed.accelerators import accelerator_of
from gpuledger.transform.speed.calibration import EIGHTY_PERCENT, Calibration, DecodeTimes, calibrations
from gpuledger.transform.speed.engines import Engine, Split
from gpuledger.transform.speed.features import CardTraits, Work, pipeline_speedup, traits
from gpuledger.transform.speed.learned import NOTHING_LEARNED, Learned, Shift
from gpuledger.transform.speed.links import Link, amdahl_speedup, exchange_seconds, link_between
from gpuledger.transform.speed.offload import PROGRAMS, Held, HostMemory, Moved, Offload, layers_to_move
from gpuledger.transform.speed.peaks import fastest_matrix_tflops, matrix_tflops
from gpuledger.transform.speed.served import SERVED, ServedWork, prompt_seconds, step_parts
from gpuledger.transform.speed.served import deviation as served_deviation
from gpuledger.transform.speed.work import Batch, served_work, work

Basis = Literal["measured", "calibrated", "bound", "unknown"]

#: If several cards share a name (a V100 for a slot or a socket), and their speeds of writing and of reading differ by less
#: than these factors, they get one answer.
_ALIKE = (1.12, 1.2)
#: The largest number of equal cards in one machine that can be asked about.
MOST_CARDS = 16
#: The least number of tokens in a prompt, if the context is as long as that. Published benchmarks read 512 to 1,024.
_PROMPT = 1024
#: Standard deviations (natural logarithm) that are added to the calibrated speed of one sequence: for several sequences at
#: once, which the measurements behind the calibration do not cover, and for anything that nobody measured with the program
#: at all. Own choice, wide on purpose.
_SEVERAL_AT_ONCE = 0.3
_UNMEASURED = 0.4
#: What is added to _UNMEASURED for mixtures, because their programs became several times faster within a year.
_MIXTURE_UNMEASURED = 0.4
#: What is added for the reading of servers, which was measured together with their writing alone. Own choice.
_READING_SERVED = 0.2
#: The standard deviation of a measurement: that of two runs of one benchmark on one card.
_REPEATED = 0.05
#: The share of the matrix rate that a program reaches if it was not measured. Own choice: half, as servers report for long
#: prompts.
_COMPUTE_SHARE = 0.5
#: The largest share of its peak that a calibrated card without matrix units reaches. No such card is in the fit,
#: which would promise more than the peak without this limit.
_SHADERS_AT_BEST = 0.8


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """The load of the machine: `users` sequences at once, each of `context` tokens. The first `prompt` of these are read.
    While the others are written, `held` are there on average.
    """

    context: int
    users: int
    prompt: int
    held: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Cards and the program on them.

    `offload` says which part of a model that does not fit may stay with the processor. This needs the memory of the machine
    (`host`). `learned` is what the measurements of a warehouse say about the program.
    """

    gpu: Gpu
    count: int
    engine: Engine
    split: Split
    offload: Offload = "none"
    host: HostMemory | None = None
    learned: Learned = NOTHING_LEARNED


class Rate(NamedTuple):
    """Tokens a second of all users together: the expected speed, its 80% range, the speed that physics allows at most, and
    the basis of the expectation.

    A field that is not known is None. `basis` is `unknown` if `expected` is None.
    """

    expected: float | None
    low: float | None
    high: float | None
    bound: float | None
    basis: Basis


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A model at a precision under a load: everything that does not depend on the cards, counted only once.

    Memory is in bytes. `decode_flops` are the operations to write a token, None if the model does not write token by token.
    `prefill_flops` are the operations to read a prompt. Speeds of writing hold while each user's cache has `written_at`
    tokens.
    """

    shape: Architecture
    size: Weights
    load: Load
    assumptions: Assumptions
    cache: int
    cache_written: int
    activations: int
    #: The state that each sequence keeps, whatever its length. It is a part of `cache` too.
    state: int
    written_at: int
    work: Work
    decode_flops: int | None
    prefill_flops: int | None


class Writing(NamedTuple):
    """The parts of the time of a step, in which every user gets one token, in seconds, and the figures behind them.

    `alone_s` is the time of the step if the cards do not share it: reading `card_bytes`, computing, and the reading of the
    processor. If the cards share the step, they exchange data for `exchange_s` and are `speedup` times faster. `times` come
    from the calibration, None without one. `layers_s` is the time of the layers of a mixture on any number of cards; it is 0
    with a calibration, whose times include it. `parts` are those of a server's step, by name. `shift` is what the
    warehouse's measurements say in addition, None if they say nothing. `held_reading_s` is the time to read everything with
    the cache that is held on average.

    The bound divides `at_work` (users, or users × cards that share every layer) by a time: the longer of `bound_reading_s`
    and `bound_computing_s`, plus the time of the processor to read its part at full bandwidth (`bound_host_s`).
    """

    card_bytes: float
    computing_s: float
    times: DecodeTimes | None
    host_bytes: float
    host_s: float
    alone_s: float
    exchange_s: float
    speedup: float
    parts: Mapping[str, float]
    layers_s: float
    shift: Shift | None
    deviation: float
    at_work: int
    bound_reading_s: float
    held_reading_s: float
    bound_computing_s: float
    bound_host_s: float

    @property
    def seconds(self) -> float:
        """The time of the whole step."""
        return (self.alone_s / self.speedup + self.layers_s) / (self.shift.factor if self.shift else 1.0)

    @property
    def bound_of_held_cache(self) -> float | None:
        """The bound for one user while a share of the context is held. None for several users, whose `bound` covers this."""
        return None if self.at_work > 1 else 1 / (self.held_reading_s + self.bound_host_s)

    @property
    def bound(self) -> float:
        """The largest possible number of tokens a second of all users together."""
        return self.at_work / (max(self.bound_reading_s, self.bound_computing_s) + self.bound_host_s)


class Prediction(NamedTuple):
    """The answer. Memory is in bytes on all cards together, without the part that stays with the processor (`moved`)."""

    job: Job
    plan: Plan
    verdict: memory.Verdict
    needed: int
    usable: int
    decode: Rate
    prefill: Rate
    moved: Moved | None = None

    @property
    def writing(self) -> Writing | None:
        """The figures behind the speed of writing, None if nothing is written or the card's bandwidth is not known."""
        return self._question.writing()

    @property
    def calibration(self) -> Calibration | None:
        """The measurements behind the speed of writing, if there are any."""
        return self._question.calibration

    @property
    def read_calibration(self) -> Calibration | None:
        """The measurements behind the speed of reading, if there are any."""
        return self._question.read_calibration

    @property
    def served(self) -> Calibration | None:
        """The measurements behind both speeds of a server, if there are any."""
        return self._question.served

    @property
    def _question(self) -> _Question:
        return _Question(self.job, self.plan, self.moved)

    @property
    def split(self) -> Split:
        """How the cards really divide the model."""
        return self._question.split

    @property
    def notes(self) -> tuple[Message, ...]:
        """The assumptions in words, the most important ones first."""
        return (*self._not_held(), *self._question.notes())

    def _not_held(self) -> Iterator[Message]:
        """If the model does not fit: how many of these cards would hold it, or how many users these cards can serve."""
        if self.verdict != "no":
            return
        enough = next((n for n in range(self.plan.count + 1, MOST_CARDS + 1) if holds(self.job, self.plan, n)), None)
        more = (
            Message("speed.these_cards_not_hold_either", most_cards=MOST_CARDS)
            if enough is None
            else Message("speed.these_cards_hold", enough=enough)
        )
        # Cache and activations grow with every user by the same bytes.
        users = self.job.load.users
        of_users = self.job.cache + self.plan.count * self.job.activations
        users_held = (
            int((self.usable - self.needed + of_users) * users // of_users) if users > 1 and self.moved is None else 0
        )
        if users_held > 0:
            more = Message("speed.and_these_hold", more=more, held=users_held)
        yield Message("speed.of_cards_with_enough_memory", more=more)


NOTHING = Rate(None, None, None, None, "unknown")


def load_of(shape: Architecture, context: int, users: int, prompt: int | None, assumptions: Assumptions) -> Load:
    """The load of `users` at a context. Without a `prompt` a share of the context is read (`context_read`).

    Raises SizingError if the model does not allow the context, or if a number is impossible.
    """
    check_context(shape, context)
    if users < 1:
        raise SizingError(Message("model.least_1_user_not", users=users))
    held = max(1, round(context * assumptions.context_read))
    if prompt is None:
        prompt = max(1, min(context, max(_PROMPT, held)))
    elif not 1 <= prompt <= context:
        raise SizingError(Message("model.prompt_between_1_token_context", context=context, prompt=prompt))
    else:
        held = (prompt + context) // 2
    return Load(context=context, users=users, prompt=prompt, held=held)


def job_of(shape: Architecture, precision: str, load: Load, assumptions: Assumptions) -> Job:
    """The part of the work that is the same for all cards. Raises SizingError if the precision is not known."""
    size, kv, written_at = weights(shape, precision), assumptions.kv_cache_bits, load.held
    is_decoder, reads = shape.kind == "decoder", shape.kind != "encoder_decoder"
    return Job(
        shape=shape,
        size=size,
        load=load,
        assumptions=assumptions,
        cache=kv_cache_bytes(shape, load.context, load.users, kv),
        cache_written=kv_cache_bytes(shape, written_at, 1, kv),
        activations=activation_bytes(shape, min(load.context, assumptions.prefill_chunk_tokens), load.users),
        state=state_bytes(shape),
        written_at=written_at,
        work=work(shape, size.precision, written_at, load.prompt, kv_bits=kv),
        decode_flops=decode_flops(shape, written_at).total if is_decoder else None,
        prefill_flops=prefill_flops(shape, load.prompt).total if reads else None,
    )


def predict(job: Job, plan: Plan) -> Prediction:
    """Whether the model fits, and how fast it writes and reads. Raises SizingError if no machine has so many cards."""
    if not 1 <= plan.count <= MOST_CARDS:
        raise SizingError(Message("model.between_1_cards_kind_asked", most_cards=MOST_CARDS, count=plan.count))
    driver = memory.driver_memory(plan.gpu)
    needed = needed_bytes(job, plan)
    usable = memory.usable_bytes(driver.size, plan.count, plan.engine, job.assumptions) if driver else 0
    moved_part = None
    if needed > usable and plan.engine.name in PROGRAMS:
        # Move so much that a twentieth of the usable memory stays free.
        held = Held(job.shape, job.size, job.cache, job.cache_written)
        moved_part = layers_to_move(
            held, plan.offload, math.ceil(needed - usable * (1 - memory.TIGHT_SHARE)), plan.host
        )
    question = _Question(job, plan, moved_part)
    needed -= moved_part.size if moved_part else 0
    return Prediction(
        job=job,
        plan=plan,
        verdict=memory.verdict(needed, usable),
        needed=needed,
        usable=usable,
        decode=question.decode(),
        prefill=question.prefill(),
        moved=moved_part,
    )


def holds(job: Job, plan: Plan, count: int) -> bool:
    """Whether `count` cards of the plan's kind hold the whole model."""
    driver, of_count = memory.driver_memory(plan.gpu), replace(plan, count=count)
    usable = memory.usable_bytes(driver.size, count, plan.engine, job.assumptions) if driver else 0
    return memory.verdict(needed_bytes(job, of_count), usable) != "no"


def needed_bytes(job: Job, plan: Plan) -> int:
    """Bytes on all cards together: weights, the cache of every user, and the activations of each card."""
    resident = job.size.on_cards if plan.engine.embedding_on_host else job.size.total
    return resident + math.ceil(job.cache * cache_copies(job, plan)) + plan.count * job.activations


def cache_copies(job: Job, plan: Plan) -> float:
    """How often the cards hold the cache: once, but more often if they share every layer and are more than its heads."""
    layers = [layer for layer in job.shape.attention if layer.cached]
    if plan.split != "tensor" or not layers or not share_layers(job.shape, plan.count):
        return 1.0
    return max(1.0, plan.count / min(layer.kv_heads for layer in layers))


def share_layers(shape: Architecture, cards: int) -> bool:
    """Whether each of the cards can hold a part of every layer."""
    return bool(shape.attention) and all(layer.divides_among(cards) for layer in shape.attention)


def least_of_alike(predictions: Sequence[Prediction]) -> Prediction | None:
    """The slowest of the predictions for cards that share a name, if the predictions are alike.

    They are alike if they have as much memory and the same verdict, and if their speeds differ by less than the factors in
    _ALIKE. None if they are not alike, because then it matters which card the user means.
    """
    if len({prediction.plan.gpu.memory_gb for prediction in predictions}) > 1:
        return None
    slowest = min(predictions, key=lambda prediction: prediction.decode.expected or 0.0)
    rates = [(prediction.decode.expected or 0.0, prediction.prefill.expected or 0.0) for prediction in predictions]
    for most, each in zip(_ALIKE, zip(*rates, strict=True), strict=True):
        if max(each) > most * min(each):
            return None
    return slowest if len({prediction.verdict for prediction in predictions}) == 1 else None


def with_measurement(rate: Rate, tokens_per_s: float, held_bound: float | None = None) -> Rate:
    """The rate with a measured speed as the expected one, but never above its bound or above `held_bound`."""
    value = min(speed for speed in (tokens_per_s, rate.bound, held_bound) if speed is not None)
    low, high = _range(value, _REPEATED, rate.bound)
    return Rate(value, low, high, rate.bound, "measured")


def with_ceiling(rate: Rate, tokens_per_s: float) -> Rate:
    """The rate with an expected speed of at most `tokens_per_s`. The range stays as wide as before."""
    if rate.expected is None or rate.low is None or rate.expected <= tokens_per_s:
        return rate
    factor = rate.expected / rate.low
    high = tokens_per_s * factor
    high = high if rate.bound is None else min(high, rate.bound)
    return Rate(tokens_per_s, tokens_per_s / factor, high, rate.bound, rate.basis)


@dataclass(frozen=True)
class _Question:
    """A job on a plan, which gives the bound and the expectation of both speeds. Facts that both need are looked up once."""

    job: Job
    plan: Plan
    moved: Moved | None

    @cached_property
    def split(self) -> Split:
        """How the model is really divided. If its heads do not divide evenly among the cards, it is divided by layers."""
        is_uneven = self.plan.split == "tensor" and not share_layers(self.job.shape, self.plan.count)
        return "pipeline" if is_uneven else self.plan.split

    @cached_property
    def card(self) -> CardTraits | None:
        return traits(self.plan.gpu)

    @property
    def calibration(self) -> Calibration | None:
        """The measurements of the engine, None if it now divides the model in another way than when it was measured."""
        return self._fitted(self.plan.engine.calibrated_as)

    @cached_property
    def served(self) -> Calibration | None:
        """The measurements of servers, if the engine is one and the cards share every layer as they did there."""
        is_same = self.plan.count == 1 or self.split == "tensor"
        is_server = self.plan.engine.calibrated_as == SERVED and is_same and not self.is_accelerator
        return calibrations()[SERVED] if is_server and self.job.decode_flops and not self.job.state else None

    @cached_property
    def served_work(self) -> ServedWork:
        """What each of the cards does for a server."""
        job = self.job
        batch = Batch(users=job.load.users, held=job.written_at, prompt=job.load.prompt, count=self.plan.count,
                      kv_bits=job.assumptions.kv_cache_bits)  # fmt: skip
        return served_work(job.shape, job.size, batch, self.plan.gpu, self.link)

    @property
    def read_calibration(self) -> Calibration | None:
        """The measurements of reading prompts. For Ollama these are llama.cpp's, which is its library."""
        calibration = self._fitted(self.plan.engine.reads_as)
        return calibration if calibration is not None and calibration.reads_prompts else None

    def _fitted(self, name: str | None) -> Calibration | None:
        is_same = self.plan.count == 1 or self.split in ("layer", "pipeline")
        return calibrations()[name] if name and name != SERVED and is_same and not self.is_accelerator else None

    @cached_property
    def shift(self) -> Shift | None:
        """What the warehouse's measurements of this program say about this card."""
        return self.plan.learned.shift(self.plan.engine.name, self.plan.gpu, self.job.load.users)

    @property
    def is_uncovered(self) -> bool:
        """Whether no measurement covers this kind of work: weights with the processor, or layers that keep a state."""
        return self.moved is not None or bool(self.job.state)

    @property
    def runs(self) -> bool:
        """Whether the program runs on the card at this precision."""
        return self.plan.engine.runs_on(self.plan.gpu, self.job.size.precision)

    @cached_property
    def is_accelerator(self) -> bool:
        """Whether the cards are no GPUs. We have not measured any such card."""
        return accelerator_of(self.plan.gpu) is not None

    @cached_property
    def tflops(self) -> float | None:
        """The highest matrix rate that programs may use for these weights."""
        return fastest_matrix_tflops(self.plan.gpu, self.job.size.bits_per_weight)

    @cached_property
    def link(self) -> Link:
        return link_between(self.plan.gpu, self.job.assumptions)

    def decode(self) -> Rate:
        timed, users = self.writing(), self.job.load.users
        if timed is None:
            return NOTHING
        if self.is_accelerator:
            return Rate(None, None, None, timed.bound, "unknown")
        if timed.host_bytes and users > 1:
            return Rate(None, None, None, timed.bound, "unknown")  # nobody measured how processors serve several users
        is_known = timed.times is not None or timed.parts or (timed.shift is not None and timed.shift.is_near)
        basis: Basis = "calibrated" if is_known and not self.is_uncovered else "bound"
        return _rate(users / timed.seconds, timed.deviation, timed.bound, basis)

    def writing(self) -> Writing | None:
        """The parts of the time of a step (see Writing)."""
        card, job, flops = self.card, self.job, self.job.decode_flops
        if card is None or flops is None:
            return None
        if self.is_accelerator and not self.runs:
            return None
        users, count, split = job.load.users, self.plan.count, self.split
        rate, bandwidth = self.tflops, card.bandwidth_gb_s * 1e9
        # Cards that each hold some of the layers can work at the same time only on different sequences.
        at_once = 1 if split == "tensor" else min(count, users)
        group = users / at_once
        moved_bytes = self.moved.bytes_a_token if self.moved else 0.0
        weights_read, cache_read = job.size.read_bytes(users) - moved_bytes, users * job.cache_written
        bytes_read = weights_read + cache_read
        computing_s = 0.0 if users == 1 else users * flops / self._flops_reached(_COMPUTE_SHARE)
        calibrated, served, host = self.calibration, self.served, self.plan.host
        times = calibrated.decode_times(card, job.work) if calibrated else None
        parts: Mapping[str, float] = {}
        cache_share = 0.0
        if times is not None:
            cache_s = times.a_cached_byte * cache_read
            reading_s = times.a_byte * weights_read + cache_s + times.a_layer * job.shape.layers
            reading_s += times.a_handover * (count - 1)
            cache_share, alone_s = cache_s / reading_s, reading_s + computing_s
        elif served is not None:
            parts, computing_s = step_parts(served, self.plan.engine.name, card, self.served_work), 0.0
            alone_s = sum(parts.values())
        else:
            alone_s = bytes_read / (bandwidth * job.assumptions.expected_utilisation) + computing_s
        host_s = (
            moved_bytes / (host.gb_s * 1e9 * job.assumptions.host_memory_utilisation) if host and moved_bytes else 0.0
        )
        alone_s += host_s
        is_fitted = times is not None or served is not None
        exchange_s, speedup = (0.0, 1.0) if is_fitted or split != "tensor" else self._divided(alone_s, users)
        # A bound may count only the cache that is always held, and the cache of one user is empty at first. Of a mixture all
        # users may reach the same experts.
        held_cache = job.cache_written if users > 1 else 0
        per_card = job.size.read_bytes(1) + group * held_cache - moved_bytes
        return Writing(
            card_bytes=bytes_read,
            computing_s=computing_s,
            times=times,
            host_bytes=moved_bytes,
            host_s=host_s,
            alone_s=alone_s,
            exchange_s=exchange_s,
            speedup=speedup,
            parts=parts,
            layers_s=0.0 if is_fitted else self._layers_s(),
            shift=self.shift,
            deviation=self._deviation_of_writing(card, cache_share),
            at_work=users * (count if split == "tensor" else 1),
            bound_reading_s=per_card / bandwidth,
            held_reading_s=bytes_read / bandwidth,
            bound_computing_s=group * flops / (rate * 1e12) if rate else 0.0,
            bound_host_s=moved_bytes / (host.gb_s * 1e9) if host and moved_bytes else 0.0,
        )

    def _layers_s(self) -> float:
        """Seconds that the layers of a mixture take beside reading. A calibration's times include this."""
        if self.job.shape.experts == 1:
            return 0.0
        return self.job.shape.layers * self.job.assumptions.mixture_layer_us * 1e-6

    def _deviation_of_writing(self, card: CardTraits, cache_share: float) -> float:
        calibrated = self.calibration
        deviation = math.hypot(_UNMEASURED, _MIXTURE_UNMEASURED if self.job.shape.experts > 1 else 0.0)
        if calibrated is not None:
            several = _SEVERAL_AT_ONCE * (self.job.load.users > 1)
            deviation = math.hypot(calibrated.deviation("decode", card, self.job.work, cache_share), several)
        elif self.served is not None:
            deviation = served_deviation(self.served, card, self.served_work)
        if self.is_uncovered:
            return deviation if calibrated is None else math.hypot(deviation, _UNMEASURED)
        shift = self.shift
        return deviation if shift is None else min(deviation, shift.nearest.deviation)

    def prefill(self) -> Rate:
        card, job, rate, flops = self.card, self.job, self.tflops, self.job.prefill_flops
        if card is None or flops is None:
            return NOTHING
        tokens, count = job.load.prompt, self.plan.count
        bound = None
        if rate:
            reading = job.size.read_bytes(1) / (card.bandwidth_gb_s * 1e9)
            bound = count * tokens / max(flops / (rate * 1e12), reading)
        if self.is_accelerator:
            return Rate(None, None, None, bound, "unknown") if self.runs else NOTHING
        calibrated, served = self.read_calibration, self.served
        if served is not None and (each := prompt_seconds(served, self.plan.engine.name, card, self.served_work)):
            deviation = math.hypot(served_deviation(served, card, self.served_work), _READING_SERVED)
            return _rate(tokens / each, deviation, bound, "calibrated")
        if calibrated is not None:
            chunk = job.assumptions.prefill_chunk_tokens
            expected = calibrated.prefill_tokens_per_s(card, job.work, count, chunk)
            if expected is not None:
                reached = min(expected, count * self._flops_reached(_SHADERS_AT_BEST) * tokens / flops)
                deviation = calibrated.deviation("prefill", card, job.work)
                if self.is_uncovered:
                    return _rate(self._with_transfers(reached), math.hypot(deviation, _UNMEASURED), bound, "bound")
                return _rate(reached, deviation, bound, "calibrated")
        if bound is None:
            return NOTHING
        seconds = flops / self._flops_reached(_COMPUTE_SHARE)
        if self.split == "tensor":
            seconds /= self._divided(seconds, tokens)[1]
        elif self.split == "pipeline":
            # The prompts of several users pass the cards one after another.
            seconds /= pipeline_speedup(tokens * job.load.users, count, job.assumptions.prefill_chunk_tokens)
        return _rate(self._with_transfers(tokens / seconds), _UNMEASURED, bound, "bound")

    def _with_transfers(self, tokens_per_s: float) -> float:
        """Prompt tokens a second, if weights that stay with the processor pass the slot once for each piece of it."""
        if self.moved is None:
            return tokens_per_s
        chunk, slot = self.job.assumptions.prefill_chunk_tokens, self.job.assumptions.link_gb_s * 1e9
        pieces = -(-self.job.load.prompt // chunk)
        return self.job.load.prompt / (self.job.load.prompt / tokens_per_s + pieces * self.moved.size / slot)

    def _divided(self, seconds: float, tokens: int) -> tuple[float, float]:
        """Seconds in which the cards exchange data, and how many times faster all cards together are than one.

        They divide all of the work except the part that Amdahl's law leaves, and exchange data in every layer.
        """
        count, exchange = self.plan.count, exchange_seconds(self.job.shape, tokens, self.plan.count, self.link)
        return exchange, amdahl_speedup(self.job.assumptions.parallel_fraction, count, exchange / seconds)

    def _flops_reached(self, share: float) -> float:
        """Operations a second of one card at a share of its 16-bit rate, since programs unpack weights to 16 bits.

        Infinite if the rate is not known: then operations take no time.
        """
        rate = matrix_tflops(self.plan.gpu, 16)
        return rate * 1e12 * share if rate else math.inf

    def notes(self) -> list[Message]:
        engine, load, assumed = self.plan.engine, self.job.load, self.job.assumptions
        driver = memory.driver_memory(self.plan.gpu)
        lines = [
            Message(
                "speed.engine",
                engine=engine.name,
                split=_SPLIT_WORDS[self.split] if self.plan.count > 1 else Message("speed.one_card"),
            ),
            Message(
                "speed.load",
                users=load.users,
                context=load.context,
                prompt=load.prompt,
                written_at=self.job.written_at,
                context_read=assumed.context_read,
            ),
        ]
        if not self.runs:
            precision, card_name = self.job.size.precision, self.plan.gpu.display_name
            lines.append(Message("speed.not_known_to_run", engine=engine.name, precision=precision, card=card_name))
        if self.split != self.plan.split:
            first = self.job.shape.attention[0] if self.job.shape.attention else None
            lines.append(
                Message(
                    "speed.heads_cannot_divided_among_cards",
                    heads=first.heads if first else 0,
                    kv_heads=first.kv_heads if first else 0,
                    count=self.plan.count,
                )
            )
        if driver is not None:
            each = memory.overhead_gb(engine, self.plan.count, assumed)
            lines.append(
                Message(
                    "speed.memory_of_gpu",
                    size=driver.size / 1e9,
                    source=driver.source,
                    memory_share=engine.memory_share,
                    each=each,
                    source2=engine.source,
                )
            )
        if accelerator := accelerator_of(self.plan.gpu):
            lines.append(Message("speed.no_gpu", source=accelerator.source))
        lines.append(
            Message(
                "speed.key_value_cache_bits",
                kv_cache_bits=assumed.kv_cache_bits,
                embedding=_embedding(self.job.size, engine),
            )
        )
        if self.job.state:
            lines.append(Message("speed.sequence_keeps_mb_however_long", state=self.job.state / 1e6))
        fitted, card = self.served or self.calibration, self.card
        if fitted is not None and card is not None:
            near = _NEAREST[fitted.nearest("decode" if self.served is None else "served", card)]
            lines.append(
                Message(
                    "speed.calibrated_measurements_cards",
                    measurements=fitted.measurements,
                    cards=fitted.cards,
                    source=fitted.source,
                    near=near,
                )
            )
        elif card is not None and not self.is_accelerator:
            lines.append(
                Message(
                    "speed.nobody_measured_divided",
                    engine=engine.name,
                    expected_utilisation=assumed.expected_utilisation,
                    compute_share=_COMPUTE_SHARE,
                )
            )
            if self.job.shape.experts > 1:
                lines.append(Message("speed.each_layer_mixture", mixture_layer_us=assumed.mixture_layer_us))
        if (shift := self.shift) is not None:
            levels = {
                "engine": Message("speed.of_none_of_its_architecture"),
                "architecture": Message("speed.of_its_architecture"),
                "card": Message("speed.of_this_card"),
            }
            lines.append(
                Message(
                    "speed.measurements_warehouse",
                    measurements=shift.nearest.measurements,
                    engine=engine.name,
                    levels=levels[shift.nearest.level],
                    factor=shift.factor,
                )
            )
        if self.moved is not None and self.plan.host is not None:
            part = self.moved
            lines.insert(
                1,
                Message(
                    "speed.layers_gb_stay_processor_gb",
                    moved_parts=_MOVED_PARTS[part.what],
                    layers=part.layers,
                    of_layers=part.of_layers,
                    size=part.size / 1e9,
                    host_memory_utilisation=assumed.host_memory_utilisation,
                    gb_s=self.plan.host.gb_s,
                    source=self.plan.host.source,
                ),
            )
        if self.split == "tensor" and self.plan.count > 1 and not self.is_accelerator:
            link = self.link
            lines.append(
                Message(
                    "speed.gb_between_cards_exchange", gb_s=link.gb_s, latency_us=link.latency_us, source=link.source
                )
            )
        if self.tflops is None:
            lines.append(Message("speed.matrix_rate_card_precision_not"))
        return lines


_SPLIT_WORDS = {
    "layer": Message("speed.split_layer"),
    "pipeline": Message("speed.split_pipeline"),
    "tensor": Message("speed.split_tensor"),
}
_MOVED_PARTS = {"experts": Message("speed.the_experts"), "layers": Message("speed.weights_and_cache")}
_NEAREST = {
    "card": Message("speed.card_among"),
    "architecture": Message("speed.card_not_among_others_architecture"),
    "none": Message("speed.no_card_architecture_among_range"),
}


def _embedding(size: Weights, engine: Engine) -> Message:
    on_host = (size.total - size.on_cards) / 1e9
    if engine.embedding_on_host and on_host > 0:
        return Message("speed.token_embedding", on_host=on_host)
    return Message("speed.all_weights_cards")


def _rate(expected: float, deviation: float, bound: float | None, basis: Basis) -> Rate:
    value = expected if bound is None else min(expected, bound)
    low, high = _range(value, deviation, bound)
    return Rate(value, low, high, bound, basis)


def _range(value: float, deviation: float, bound: float | None) -> tuple[float, float]:
    factor = math.exp(EIGHTY_PERCENT * deviation)
    high = value * factor
    return value / factor, high if bound is None else min(high, bound)
