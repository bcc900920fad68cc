"""How fast a model runs on cards: what is asked, and how it is answered."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Literal, NamedTuple

from gpuledger.transform.assumptions import Assumptions
from gpuledger.transform.figures import shown
from gpuledger.transform.identity.gpu import Gpu
from gpuledger.transform.sizing.running import activation_bytes, kv_cache_bytes
from gpuledger.transform.sizing.tensors import Architecture
from gpuledger.transform.sizing.weights import Weights
from gpuledger.transform.speed.calibration import (
    EIGHTY_PERCENT,
    Calibration,
    Case,
    basis,
    calibrations,
    pipeline_speedup,
)
from gpuledger.transform.speed.cards import CardTraits, fastest_matrix_tflops, matrix_tflops, traits
from gpuledger.transform.speed.engines import Engine, Split, accelerator_of
from gpuledger.transform.speed.learned import NOTHING_LEARNED, Learned, Shift
from gpuledger.transform.speed.links import Link, amdahl_speedup, exchange_seconds, link_between
from gpuledger.transform.speed.memory import HostMemory, Moved, Offload
from gpuledger.transform.speed.served import SERVED, prompt_seconds, step_parts
from gpuledger.transform.speed.served import deviation as served_deviation
from gpuledger.transform.speed.work import Batch, ServedWork, Work, served_work

Basis = Literal["measured", "calibrated", "estimated", "bound", "unknown"]
#: Standard deviations (natural logarithm) that are added to the calibrated speed of one sequence: for several sequences at
#: once, which the measurements behind the calibration do not cover, and for anything that nobody measured with the program
#: at all. Own choice, wide on purpose.
_SEVERAL_AT_ONCE = 0.3
_UNMEASURED = 0.4
#: What is added to _UNMEASURED for mixtures, because their programs became several times faster within a year.
_MIXTURE_UNMEASURED = 0.4
#: What is added for the reading of servers, which was measured on one card by itself, else with their writing. Own choice.
_READING_SERVED = 0.2
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

    @classmethod
    def around(cls, expected: float, deviation: float, bound: float | None, basis: Basis) -> Rate:
        """An expected speed with a range for 8 of 10 cases, by the standard deviation of its logarithm. Neither
        exceeds the bound.
        """
        most = math.inf if bound is None else bound
        value, factor = min(expected, most), math.exp(EIGHTY_PERCENT * deviation)
        return cls(value, value / factor, min(value * factor, most), bound, basis)

    @classmethod
    def only(cls, bound: float | None) -> Rate:
        """A speed of which only the bound is known."""
        return cls(None, None, None, bound, "unknown")


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

    def cache_in(self, engine: Engine) -> int:
        """Bytes of the cache of all users in a program, by what it keeps of layers with a window."""
        if not engine.piece_tokens:
            return self.cache
        load, bits = self.load, self.assumptions.kv_cache_bits
        return kv_cache_bytes(self.shape, load.context, load.users, bits, piece=engine.piece_tokens)

    def at_once_in(self, engine: Engine) -> tuple[int, int]:
        """The sequences, and tokens of each, whose activations a program keeps room for on each card.

        A server tries itself at the start with as many as it takes at most, whoever uses it.
        """
        if engine.tried_tokens:
            return engine.tried_sequences, engine.tried_tokens // engine.tried_sequences
        return self.load.users, min(self.load.context, self.assumptions.prefill_chunk_tokens)

    def activations_in(self, engine: Engine) -> int:
        """Bytes of the activations that a program keeps room for on each card."""
        sequences, tokens = self.at_once_in(engine)
        return activation_bytes(self.shape, tokens, sequences) if engine.tried_tokens else self.activations

    def tower_in(self, engine: Engine) -> int:
        """Bytes that a program takes on each card to try a model that sees pictures."""
        return round(engine.tower_overhead_gb * 1e9) if self.shape.extra else 0

    def padding_in(self, engine: Engine) -> int:
        """Bytes that servers add to 4-bit experts, whose programs ask for widths of whole blocks of 128 and of 256. Source:
        vLLM 0.10 to 0.14 load gpt-oss-120b, a file of 60.8 GiB, as 64.4 (Triton) or 66.0 (Marlin; issues 33155 and 23278).
        """
        if not engine.tried_tokens or self.size.precision != "mxfp4":
            return 0
        hidden = self.shape.hidden
        return round(self.size.expert * ((-hidden // 128 * 128) * (-hidden // 256 * 256) / hidden**2 - 1))

    def temporary_in(self, engine: Engine) -> int:
        """Bytes that a program takes on each card beside weights and cache."""
        return self.activations_in(engine) + self.tower_in(engine)


class Step(NamedTuple):
    """The time of a step on one card, before the cards share it and the processor adds its part.

    `layers_s` is what the layers of a mixture take on any number of cards. A measured time includes it, and the exchange of
    data between cards. Then `is_fitted` is true.
    """

    seconds: float
    computing_s: float
    deviation: float
    is_fitted: bool = True
    layers_s: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Writing:
    """The parts of the time of a step, in which every user gets one token, in seconds, and the figures behind them.

    `step` is the step on one card. `alone_s` is its time if the cards do not share it: reading `card_bytes`, computing, and
    the reading of the processor. If the cards share the step, they exchange data for `exchange_s` and are `speedup` times
    faster. `shift` is what the warehouse's measurements say in addition, None if they say nothing. `held_reading_s` is the
    time to read everything with the cache that is held on average.

    The bound divides `at_work` (users, or users × cards that share every layer) by a time: the longer of `bound_reading_s`
    and `bound_computing_s`, plus the time of the processor to read its part at full bandwidth (`bound_host_s`).
    """

    step: Step
    card_bytes: float
    host_bytes: float
    alone_s: float
    exchange_s: float
    speedup: float
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
        whole = self.alone_s
        if self.speedup != 1:
            whole = shown("time of a step, divided", whole / self.speedup, "s")
        if self.step.layers_s:
            whole = shown("time of a step with its experts", whole + self.step.layers_s, "s")
        return shown("time of a step, as measured here", whole / self.shift.factor, "s") if self.shift else whole

    @property
    def bound_of_held_cache(self) -> float | None:
        """The bound for one user while a share of the context is held. None for several users, whose `bound` covers this."""
        return None if self.at_work > 1 else 1 / (self.held_reading_s + self.bound_host_s)

    @property
    def bound(self) -> float:
        """The largest possible number of tokens a second of all users together."""
        step_s = max(self.bound_reading_s, self.bound_computing_s) + self.bound_host_s
        return shown("bound", self.at_work / step_s, "tokens/s")


NOTHING = Rate.only(None)


def share_layers(shape: Architecture, cards: int) -> bool:
    """Whether each of the cards can hold a part of every layer."""
    return bool(shape.attention) and all(layer.divides_among(cards) for layer in shape.attention_kinds)


@dataclass(frozen=True)
class Question:
    """A job on a plan, which gives the bound and the expectation of both speeds. Facts that both need are looked up once."""

    #: The share of the matrix rate that a program reaches if it was not measured. Own choice: half, as servers report for
    #: long prompts.
    COMPUTE_SHARE: ClassVar = 0.5

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
        """What is known about one GPU of the card, None if its bandwidth is not."""
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
        return calibrations()[SERVED] if is_server and self.job.decode_flops else None

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
        return self._fitted(self.plan.engine.reads_as)

    def _fitted(self, name: str | None) -> Calibration | None:
        is_same = self.plan.count == 1 or self.split in ("layer", "pipeline")
        return calibrations()[name] if name and name != SERVED and is_same and not self.is_accelerator else None

    @cached_property
    def shift(self) -> Shift | None:
        """What the warehouse's measurements of this program say about this card."""
        return self.plan.learned.shift(self.plan.engine.name, self.plan.gpu, self.job.load.users)

    @property
    def is_covered(self) -> bool:
        """Whether such models were measured on such cards while as much was written, and for as many users."""
        fitted, held, users = self.served or self.calibration, self.job.written_at, self.job.load.users
        return bool(fitted and self.card and fitted.covers(self.case(self.card), held, users))

    @property
    def is_kept(self) -> bool:
        """Whether such a speed may be called calibrated: it is covered, and the ranges of such measurements held."""
        fitted = self.served or self.calibration
        return bool(self.is_covered and fitted and self.card and fitted.keeps(self.case(self.card)))

    def case(self, card: CardTraits, what: str = "") -> Case:
        """The case of what is done on the `card`: of writing if `what` is not said."""
        written_as = "decode" if self.served is None else SERVED
        return Case(what or written_as, card, self.job.work.kind)

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
        """How the cards exchange data."""
        return link_between(self.plan.gpu, self.job.assumptions, self.plan.host and self.plan.host.slot)

    @property
    def moved_bytes(self) -> float:
        """Bytes that the processor reads for a token, of the part of the model that stays with it."""
        return self.moved.bytes_a_token if self.moved else 0.0

    @property
    def weights_read(self) -> float:
        """Bytes of weights that the cards read in a step."""
        return self.job.size.read_bytes(self.job.load.users) - self.moved_bytes

    @property
    def cache_read(self) -> int:
        """Bytes of the cache that the cards read in a step."""
        return self.job.load.users * self.job.cache_written

    @property
    def computing_s(self) -> float:
        """Seconds of a step that operations take. One user's take no longer than the reading beside them."""
        users, flops = self.job.load.users, self.job.decode_flops or 0
        return 0.0 if users == 1 else users * flops / self.flops_reached(self.COMPUTE_SHARE)

    def writing(self) -> Writing | None:
        """The parts of the time of a step (see Writing)."""
        card, job, flops = self.card, self.job, self.job.decode_flops
        if card is None or flops is None or (self.is_accelerator and not self.runs):
            return None
        users, count, split, host = job.load.users, self.plan.count, self.split, self.plan.host
        rate, bandwidth, moved = self.tflops, card.bandwidth_gb_s * 1e9, self.moved_bytes
        # Cards that each hold some of the layers can work at the same time only on different sequences.
        group = users / (1 if split == "tensor" else min(count, users))
        step = _calibrated_step(self, card) or _served_step(self, card) or _usual_step(self, card)
        host_s = moved / (host.gb_s * 1e9 * job.assumptions.host_memory_utilisation) if host and moved else 0.0
        alone_s = shown("time of a step", step.seconds + host_s, "s")
        is_shared = split == "tensor" and not step.is_fitted
        exchange_s, speedup = self.divided(alone_s, users) if is_shared else (0.0, 1.0)
        # A bound may count only the cache that is always held, and the cache of one user is empty at first. Of a mixture all
        # users may reach the same experts.
        held_cache = job.cache_written if users > 1 else 0
        bytes_read = self.weights_read + self.cache_read
        return Writing(
            step=step,
            card_bytes=bytes_read,
            host_bytes=moved,
            alone_s=alone_s,
            exchange_s=exchange_s,
            speedup=speedup,
            shift=self.shift,
            deviation=self._deviation(step),
            at_work=users * (count if split == "tensor" else 1),
            bound_reading_s=(job.size.read_bytes(1) + group * held_cache - moved) / bandwidth,
            held_reading_s=bytes_read / bandwidth,
            bound_computing_s=group * flops / (rate * 1e12) if rate else 0.0,
            bound_host_s=moved / (host.gb_s * 1e9) if host and moved else 0.0,
        )

    def _deviation(self, step: Step) -> float:
        """The standard deviation of a step's time, with what the warehouse's measurements say."""
        if self.moved:
            return math.hypot(step.deviation, _UNMEASURED) if self.calibration is not None else step.deviation
        return step.deviation if self.shift is None else min(step.deviation, self.shift.nearest.deviation)

    @property
    def read_bound(self) -> float | None:
        """The largest possible number of prompt tokens a second, None if the matrix rate of the card is not known."""
        card, job, flops = self.card, self.job, self.job.prefill_flops
        if card is None or flops is None or not self.tflops:
            return None
        reading = job.size.read_bytes(1) / (card.bandwidth_gb_s * 1e9)
        return self.plan.count * job.load.prompt / max(flops / (self.tflops * 1e12), reading)

    def decode(self) -> Rate:
        """The speed of writing."""
        timed = self.writing()
        if timed is None:
            return NOTHING
        # No such card was measured, and nobody measured how a processor with a part of the model serves several.
        if self.is_accelerator or (timed.host_bytes and self.job.load.users > 1):
            return Rate.only(timed.bound)
        return _expected(self, timed)

    def prefill(self) -> Rate:
        """The speed of reading a prompt."""
        card, bound = self.card, self.read_bound
        if card is None or not self.job.prefill_flops or (self.is_accelerator and not self.runs):
            return NOTHING
        if self.is_accelerator:
            return Rate.only(bound)
        measured = _served_reading(self, card) or _calibrated_reading(self, card)
        is_known = bound is not None and math.isfinite(self.flops_reached(1))
        return measured or (_usual_reading(self) if is_known else NOTHING)

    def with_transfers(self, tokens_per_s: float) -> float:
        """Prompt tokens a second, if weights that stay with the processor pass the slot once for each piece of it."""
        if self.moved is None:
            return tokens_per_s
        chunk, slot = self.job.assumptions.prefill_chunk_tokens, self.job.assumptions.link_gb_s * 1e9
        pieces = -(-self.job.load.prompt // chunk)
        return self.job.load.prompt / (self.job.load.prompt / tokens_per_s + pieces * self.moved.size / slot)

    def divided(self, seconds: float, tokens: int) -> tuple[float, float]:
        """Seconds in which the cards exchange data, and how many times faster all cards together are than one.

        They divide all of the work except the part that Amdahl's law leaves, and exchange data in every layer.
        """
        count, exchange = self.plan.count, exchange_seconds(self.job.shape, tokens, self.plan.count, self.link)
        faster = amdahl_speedup(self.job.assumptions.parallel_fraction, count, exchange / seconds)
        return exchange, shown("times faster together", faster, "times")

    def flops_reached(self, share: float) -> float:
        """Operations a second of one card at a share of its 16-bit rate, since programs unpack weights to 16 bits.

        Infinite if the rate is not known: then operations take no time.
        """
        rate = matrix_tflops(self.plan.gpu, 16)
        return rate * 1e12 * share if rate else math.inf


def _calibrated_step(asked: Question, card: CardTraits) -> Step | None:
    """The program was measured on cards that divide a model as these do."""
    fitted, job = asked.calibration, asked.job
    if fitted is None:
        return None
    times = fitted.decode_times(card, job.work)
    cache_s = times.a_cached_byte * asked.cache_read
    reading_s = times.seconds(asked.weights_read, asked.cache_read, job.shape.layers, asked.plan.count)
    measured = fitted.deviation(asked.case(card), job.work, job.written_at, cache_s / reading_s)
    deviation = math.hypot(measured, _SEVERAL_AT_ONCE * (job.load.users > 1))
    return Step(reading_s + asked.computing_s, asked.computing_s, deviation)


def _served_step(asked: Question, card: CardTraits) -> Step | None:
    """Servers were measured, by the parts of their steps."""
    if asked.served is None:
        return None
    seconds = sum(step_parts(asked.served, asked.plan.engine.name, card, asked.served_work).values())
    deviation = served_deviation(asked.served, asked.case(card), asked.served_work, is_covered=asked.is_covered)
    return Step(seconds, 0.0, deviation)


def _usual_step(asked: Question, card: CardTraits) -> Step:
    """Nobody measured it: programs reach a usual share of a card's bandwidth."""
    job, is_mixture = asked.job, asked.job.shape.experts > 1
    reached = card.bandwidth_gb_s * 1e9 * job.assumptions.expected_utilisation
    return Step(
        seconds=(asked.weights_read + asked.cache_read) / reached + asked.computing_s,
        computing_s=asked.computing_s,
        deviation=math.hypot(_UNMEASURED, _MIXTURE_UNMEASURED if is_mixture else 0.0),
        is_fitted=False,
        layers_s=job.shape.layers * job.assumptions.mixture_layer_us * 1e-6 if is_mixture else 0.0,
    )


def _expected(asked: Question, timed: Writing) -> Rate:
    """Every user gets one token in each step."""
    is_near = timed.shift is not None and timed.shift.is_near
    is_known = timed.step.is_fitted or is_near
    called: Basis = basis(timed.deviation, is_covered=asked.is_kept or is_near)
    called = called if is_known and not asked.moved else "bound"
    return Rate.around(asked.job.load.users / timed.seconds, timed.deviation, timed.bound, called)


def _served_reading(asked: Question, card: CardTraits) -> Rate | None:
    """Servers were measured reading, together with their writing."""
    if asked.served is None:
        return None
    each = prompt_seconds(asked.served, asked.plan.engine.name, card, asked.served_work)
    if not each:
        return None
    spread = served_deviation(asked.served, asked.case(card), asked.served_work, is_covered=asked.is_covered)
    deviation = math.hypot(spread, _READING_SERVED)
    called = basis(deviation, is_covered=asked.is_kept)
    return Rate.around(asked.job.load.prompt / each, deviation, asked.read_bound, called)


def _calibrated_reading(asked: Question, card: CardTraits) -> Rate | None:
    """The program was measured reading on cards that divide a model as these do."""
    fitted, job, count = asked.read_calibration, asked.job, asked.plan.count
    if fitted is None or job.prefill_flops is None:
        return None
    expected = fitted.prefill_tokens_per_s(card, job.work, count, job.assumptions.prefill_chunk_tokens)
    if expected is None:
        return None
    best = count * asked.flops_reached(_SHADERS_AT_BEST) * job.load.prompt / job.prefill_flops
    case = asked.case(card, "prefill")
    reached, deviation = min(expected, best), fitted.deviation(case, job.work, job.load.prompt)
    if asked.moved:
        return Rate.around(asked.with_transfers(reached), math.hypot(deviation, _UNMEASURED), asked.read_bound, "bound")
    is_covered = fitted.covers(case, job.load.prompt) and fitted.keeps(case)
    if job.shape.kind == "encoder":  # only models that write were measured
        is_covered, deviation = False, math.hypot(deviation, _UNMEASURED)
    return Rate.around(reached, deviation, asked.read_bound, basis(deviation, is_covered=is_covered))


def _usual_reading(asked: Question) -> Rate:
    """Nobody measured it: programs reach a usual share of the matrix rate."""
    job, tokens = asked.job, asked.job.load.prompt
    seconds = (job.prefill_flops or 0) / asked.flops_reached(asked.COMPUTE_SHARE)
    if asked.split == "tensor":
        seconds /= asked.divided(seconds, tokens)[1]
    elif asked.split == "pipeline":
        # The prompts of several users pass the cards one after another.
        pieces = job.assumptions.prefill_chunk_tokens
        seconds /= pipeline_speedup(tokens * job.load.users, asked.plan.count, pieces)
    return Rate.around(asked.with_transfers(tokens / seconds), _UNMEASURED, asked.read_bound, "bound")
