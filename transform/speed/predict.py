"""What fits on so many cards of a kind, and how fast it will be: bounds, what to expect, and how sure that is."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, NamedTuple

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
from gpuledger.transform.speed.offload import PROGRAMS, Held, HostMemory, Moved, Offload, moved
from gpuledger.transform.speed.peaks import fastest_matrix_tflops, matrix_tflops
from gpuledger.transform.speed.work import work

Basis = Literal["measured", "calibrated", "bound", "unknown"]

#: Cards of one name whose speeds of writing and of reading differ by less are one answer: V100 of a slot or a socket.
_ALIKE = (1.12, 1.2)
#: Most cards of a kind that one machine is asked about.
MOST_CARDS = 16
#: A prompt has so many tokens at least, where the context has them: published benchmarks read 512 to 1,024.
_PROMPT = 1024
#: Standard deviations (natural logarithm) added to a calibrated speed of one sequence: for several at once, which the
#: measurements behind it do not cover; and for what nobody measured with that program at all. Own choice, wide on purpose.
_SEVERAL_AT_ONCE = 0.3
_UNMEASURED = 0.4
#: More of it for mixtures, whose programs became several times faster within a year.
_MIXTURE_UNMEASURED = 0.4
#: The same of a measurement: two runs of one benchmark on one card.
_REPEATED = 0.05
#: Share of the matrix rate that a program reaches where it was not measured. Own choice: half, as servers report for long
#: prompts.
_COMPUTE_SHARE = 0.5
#: What a calibrated card without matrix units reaches at best: the fit has none of them, and would promise more than their
#: peak.
_SHADERS_AT_BEST = 0.8


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """What is asked of the machine: `users` sequences at once, each of `context` tokens of which `prompt` are read."""

    context: int
    users: int
    prompt: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Cards and the program on them. What does not fit may be left with the processor (`offload`), where the memory of the
    machine (`host`) is known. `learned` is what a warehouse's own measurements say of the program.
    """

    gpu: Gpu
    count: int
    engine: Engine
    split: Split
    offload: Offload = "none"
    host: HostMemory | None = None
    learned: Learned = NOTHING_LEARNED


class Rate(NamedTuple):
    """Tokens a second of all users together: what to expect, an 80% range, what physics allows at most, and its basis.

    A field is None where nothing states it; then `basis` is `unknown`.
    """

    expected: float | None
    low: float | None
    high: float | None
    bound: float | None
    basis: Basis


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A model at a precision under a load: all that does not depend on the cards, counted once. Bytes, and operations of a
    token (`decode_flops`, None where nothing is written token by token) and of a prompt (`prefill_flops`).
    """

    shape: Architecture
    size: Weights
    load: Load
    assumptions: Assumptions
    cache: int
    cache_written: int
    activations: int
    #: What each sequence keeps however long it is, which is in `cache` too.
    state: int
    written_at: int
    work: Work
    decode_flops: int | None
    prefill_flops: int | None


class Writing(NamedTuple):
    """The parts of the time in which every user gets one token, in seconds, and what they follow from.

    `alone_s` is the time before cards divide it: reading `card_bytes`, computing, and what the processor reads. Where they
    divide it, they exchange for `exchange_s` and are `speedup` times faster. `times` are the calibration's, None without;
    `layers_s` is what layers of a mixture take on however many cards, where no calibration has it.
    `shift` is what the warehouse's measurements say beside that, None where they say nothing.
    `held_reading_s` is reading all with the cache that is held.
    The bound is `at_work` users times cards over the longer of `bound_reading_s` and `bound_computing_s`, or the processor's
    reading at its full bandwidth beside the cards'.
    """

    card_bytes: float
    computing_s: float
    times: DecodeTimes | None
    host_bytes: float
    host_s: float
    alone_s: float
    exchange_s: float
    speedup: float
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
        """All of it."""
        return (self.alone_s / self.speedup + self.layers_s) / (self.shift.factor if self.shift else 1.0)

    @property
    def bound_of_held_cache(self) -> float | None:
        """The same of one user while a share of the context is held; None for several, whose bound has it."""
        return None if self.at_work > 1 else 1 / (self.held_reading_s + self.bound_host_s)

    @property
    def bound(self) -> float:
        """Tokens a second of all users at most."""
        return self.at_work / (max(self.bound_reading_s, self.bound_computing_s) + self.bound_host_s)


class Prediction(NamedTuple):
    """The answer. Memory in bytes, on all cards together; `moved` is what stays with the processor beside that."""

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
        """What the speed of writing follows from; None where nothing is written or the card's bandwidth is not known."""
        return self._asked.writing()

    @property
    def calibration(self) -> Calibration | None:
        """The measurements that writing rests on, if any."""
        return self._asked.calibration

    @property
    def read_calibration(self) -> Calibration | None:
        """The measurements that reading rests on, if any."""
        return self._asked.read_calibration

    @property
    def _asked(self) -> _Asked:
        return _Asked(self.job, self.plan, self.moved)

    @property
    def split(self) -> Split:
        """How the cards really share the model."""
        return self._asked.split

    @property
    def notes(self) -> tuple[str, ...]:
        """What was assumed, in the order in which it matters."""
        return (*self._not_held(), *self._asked.notes())

    def _not_held(self) -> Iterator[str]:
        """How many of these cards, or how many users, would do where it does not fit."""
        if self.verdict != "no":
            return
        enough = next((n for n in range(self.plan.count + 1, MOST_CARDS + 1) if holds(self.job, self.plan, n)), None)
        more = (
            f"{MOST_CARDS} of these cards do not hold it either"
            if enough is None
            else f"{enough} of these cards hold it"
        )
        # Cache and activations grow with every user by the same bytes.
        users = self.job.load.users
        of_users = self.job.cache + self.plan.count * self.job.activations
        held = (
            int((self.usable - self.needed + of_users) * users // of_users) if users > 1 and self.moved is None else 0
        )
        fewer = f", and these hold {held} at once" if held > 0 else ""
        yield f"the speeds are those of cards with enough memory; {more}{fewer}"


NOTHING = Rate(None, None, None, None, "unknown")


def load_of(shape: Architecture, context: int, users: int, prompt: int | None, assumptions: Assumptions) -> Load:
    """The load of `users` at a context; without a `prompt` a share of the context is read (`context_read`).

    Raises SizingError for what cannot be.
    """
    check_context(shape, context)
    if users < 1:
        raise SizingError(f"there must be at least 1 user, not {users}")
    if prompt is None:
        prompt = max(1, min(context, max(_PROMPT, round(context * assumptions.context_read))))
    if not 1 <= prompt <= context:
        raise SizingError(f"a prompt must have between 1 token and the context's {context}, not {prompt}")
    return Load(context=context, users=users, prompt=prompt)


def job_of(shape: Architecture, precision: str, load: Load, assumptions: Assumptions) -> Job:
    """Everything about the work that is the same for all cards. Raises SizingError where the precision is not known."""
    size, kv = weights(shape, precision), assumptions.kv_cache_bits
    written_at = max(1, round(load.context * assumptions.context_read))
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
    """Whether the model fits, and how fast it writes and reads. Raises SizingError for more cards than a machine holds."""
    if not 1 <= plan.count <= MOST_CARDS:
        raise SizingError(f"between 1 and {MOST_CARDS} cards of a kind can be asked about, not {plan.count}")
    driver = memory.driver_memory(plan.gpu)
    needed = needed_bytes(job, plan)
    usable = memory.usable_bytes(driver.size, plan.count, plan.engine, job.assumptions) if driver else 0
    away = None
    if needed > usable and plan.engine.name in PROGRAMS:
        # As much as leaves a twentieth of the cards free.
        held = Held(job.shape, job.size, job.cache, job.cache_written)
        away = moved(held, plan.offload, math.ceil(needed - usable * (1 - memory.TIGHT_SHARE)), plan.host)
    asked = _Asked(job, plan, away)
    needed -= away.size if away else 0
    return Prediction(
        job=job,
        plan=plan,
        verdict=memory.verdict(needed, usable),
        needed=needed,
        usable=usable,
        decode=asked.decode(),
        prefill=asked.prefill(),
        moved=away,
    )


def holds(job: Job, plan: Plan, count: int) -> bool:
    """Whether `count` cards of the plan's kind hold all of it."""
    driver, of_count = memory.driver_memory(plan.gpu), replace(plan, count=count)
    usable = memory.usable_bytes(driver.size, count, plan.engine, job.assumptions) if driver else 0
    return memory.verdict(needed_bytes(job, of_count), usable) != "no"


def needed_bytes(job: Job, plan: Plan) -> int:
    """Bytes on all cards together: weights, cache of every user, and each card's activations."""
    resident = job.size.on_cards if plan.engine.embedding_on_host else job.size.total
    return resident + job.cache + plan.count * job.activations


def least_of_alike(found: Sequence[Prediction]) -> Prediction | None:
    """The slowest of predictions for cards that share a name, where they answer alike: the same verdict, and speeds of which
    none is more than so many times another. None where it matters which card is meant.
    """
    slowest = min(found, key=lambda one: one.decode.expected or 0.0)
    rates = [(one.decode.expected or 0.0, one.prefill.expected or 0.0) for one in found]
    for most, each in zip(_ALIKE, zip(*rates, strict=True), strict=True):
        if max(each) > most * min(each):
            return None
    return slowest if len({one.verdict for one in found}) == 1 else None


def with_measurement(rate: Rate, tokens_per_s: float, held: float | None = None) -> Rate:
    """A measured speed in place of the expected one, never above the bound, nor above that of the cache that is `held`."""
    value = min(one for one in (tokens_per_s, rate.bound, held) if one is not None)
    low, high = _range(value, _REPEATED, rate.bound)
    return Rate(value, low, high, rate.bound, "measured")


def with_ceiling(rate: Rate, tokens_per_s: float) -> Rate:
    """A rate that is expected no higher than `tokens_per_s`, with a range as wide as before."""
    if rate.expected is None or rate.low is None or rate.expected <= tokens_per_s:
        return rate
    factor = rate.expected / rate.low
    high = tokens_per_s * factor
    high = high if rate.bound is None else min(high, rate.bound)
    return Rate(tokens_per_s, tokens_per_s / factor, high, rate.bound, rate.basis)


@dataclass(frozen=True)
class _Asked:
    """One question, from which bound and expectation of both speeds follow: what both rest on is found once."""

    job: Job
    plan: Plan
    moved: Moved | None

    @cached_property
    def split(self) -> Split:
        """How the model is really divided: one whose heads cannot be shared evenly is divided by layers."""
        attention, plan = self.job.shape.attention, self.plan
        if plan.split == "tensor" and (not attention or attention[0].heads % plan.count):
            return "pipeline"
        return plan.split

    @cached_property
    def card(self) -> CardTraits | None:
        return traits(self.plan.gpu)

    @property
    def calibration(self) -> Calibration | None:
        """Measurements of the engine, where it divides the model as it did when it was measured."""
        return self._fitted(self.plan.engine.calibrated_as)

    @property
    def read_calibration(self) -> Calibration | None:
        """The same of prompts: Ollama's library is llama.cpp, whose reading was measured."""
        found = self._fitted(self.plan.engine.reads_as)
        return found if found is not None and found.reads_prompts else None

    def _fitted(self, name: str | None) -> Calibration | None:
        is_same = self.plan.count == 1 or self.split in ("layer", "pipeline")
        return calibrations()[name] if name and is_same and not self.is_accelerator else None

    @cached_property
    def shift(self) -> Shift | None:
        """What the warehouse's measurements of this program say of this card."""
        return self.plan.learned.shift(self.plan.engine.name, self.plan.gpu, self.job.load.users)

    @property
    def is_beyond(self) -> bool:
        """Whether the work is of a kind that no measurement has: weights with the processor, layers that keep a state."""
        return self.moved is not None or bool(self.job.state)

    @property
    def runs(self) -> bool:
        """Whether the program runs there at this precision."""
        return self.plan.engine.runs_on(self.plan.gpu, self.job.size.precision)

    @cached_property
    def is_accelerator(self) -> bool:
        """Whether the cards are no GPUs, of which nobody here measured any."""
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
            return Rate(None, None, None, timed.bound, "unknown")  # how processors serve several was not measured
        is_known = timed.times is not None or (timed.shift is not None and timed.shift.is_near)
        basis: Basis = "calibrated" if is_known and not self.is_beyond else "bound"
        return _rate(users / timed.seconds, timed.deviation, timed.bound, basis)

    def writing(self) -> Writing | None:
        """The parts of the time of a step; see Writing."""
        card, job, flops = self.card, self.job, self.job.decode_flops
        if card is None or flops is None:
            return None
        if self.is_accelerator and not self.runs:
            return None
        users, count, split = job.load.users, self.plan.count, self.split
        rate, bandwidth = self.tflops, card.bandwidth_gb_s * 1e9
        # Cards that share the layers work at the same time only on different sequences.
        at_once = 1 if split == "tensor" else min(count, users)
        group = users / at_once
        away = self.moved.bytes_a_token if self.moved else 0.0
        reading = job.size.read_bytes(users) + users * job.cache_written - away
        computing = 0.0 if users == 1 else users * flops / self._flops_reached(_COMPUTE_SHARE)
        calibrated, host = self.calibration, self.plan.host
        times = calibrated.decode_times(card, job.work) if calibrated else None
        if times is not None:
            alone = (
                times.a_byte * reading + times.a_layer * job.shape.layers + times.a_handover * (count - 1) + computing
            )
        else:
            alone = reading / (bandwidth * job.assumptions.expected_utilisation) + computing
        host_s = away / (host.gb_s * 1e9 * job.assumptions.host_memory_utilisation) if host and away else 0.0
        alone += host_s
        exchange, speedup = self._divided(alone, users) if times is None and split == "tensor" else (0.0, 1.0)
        # One user begins with an empty cache, and what is held at least is what a bound may count on.
        held = job.cache_written if users > 1 else 0
        per_card = job.size.read_bytes(math.ceil(group)) + group * held - away
        return Writing(
            card_bytes=reading,
            computing_s=computing,
            times=times,
            host_bytes=away,
            host_s=host_s,
            alone_s=alone,
            exchange_s=exchange,
            speedup=speedup,
            layers_s=self._layers_s(times),
            shift=self.shift,
            deviation=self._deviation_of_writing(calibrated, card),
            at_work=users * (count if split == "tensor" else 1),
            bound_reading_s=per_card / bandwidth,
            held_reading_s=reading / bandwidth,
            bound_computing_s=group * flops / (rate * 1e12) if rate else 0.0,
            bound_host_s=away / (host.gb_s * 1e9) if host and away else 0.0,
        )

    def _layers_s(self, times: DecodeTimes | None) -> float:
        """Seconds that layers of a mixture take beside their reading; a calibration has them in its own."""
        if times is not None or self.job.shape.experts == 1:
            return 0.0
        return self.job.shape.layers * self.job.assumptions.mixture_layer_us * 1e-6

    def _deviation_of_writing(self, calibrated: Calibration | None, card: CardTraits) -> float:
        deviation = math.hypot(_UNMEASURED, _MIXTURE_UNMEASURED if self.job.shape.experts > 1 else 0.0)
        if calibrated is not None:
            several = _SEVERAL_AT_ONCE * (self.job.load.users > 1)
            deviation = math.hypot(calibrated.deviation("decode", card, self.job.work), several)
        if self.is_beyond:
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
            reading = job.size.read_bytes(tokens) / (card.bandwidth_gb_s * 1e9)
            bound = count * tokens / max(flops / (rate * 1e12), reading)
        if self.is_accelerator:
            return Rate(None, None, None, bound, "unknown") if self.runs else NOTHING
        calibrated = self.read_calibration
        if calibrated is not None:
            chunk = job.assumptions.prefill_chunk_tokens
            expected = calibrated.prefill_tokens_per_s(card, job.work, count, chunk)
            if expected is not None:
                reached = min(expected, count * self._flops_reached(_SHADERS_AT_BEST) * tokens / flops)
                deviation = calibrated.deviation("prefill", card, job.work)
                if self.is_beyond:
                    return _rate(self._with_transfers(reached), math.hypot(deviation, _UNMEASURED), bound, "bound")
                return _rate(reached, deviation, bound, "calibrated")
        if bound is None:
            return NOTHING
        seconds = flops / self._flops_reached(_COMPUTE_SHARE)
        if self.split == "tensor":
            seconds /= self._divided(seconds, tokens)[1]
        elif self.split == "pipeline":
            # Prompts of several users follow one another through the cards.
            seconds /= pipeline_speedup(tokens * job.load.users, count, job.assumptions.prefill_chunk_tokens)
        return _rate(self._with_transfers(tokens / seconds), _UNMEASURED, bound, "bound")

    def _with_transfers(self, tokens_per_s: float) -> float:
        """Prompt tokens a second where the weights that stay with the processor pass the slot once for each piece of it."""
        if self.moved is None:
            return tokens_per_s
        chunk, slot = self.job.assumptions.prefill_chunk_tokens, self.job.assumptions.link_gb_s * 1e9
        pieces = -(-self.job.load.prompt // chunk)
        return self.job.load.prompt / (self.job.load.prompt / tokens_per_s + pieces * self.moved.size / slot)

    def _divided(self, seconds: float, tokens: int) -> tuple[float, float]:
        """Seconds in which the cards exchange, and how many times faster they are together than one: they divide all work
        but what Amdahl leaves, and exchange in every layer.
        """
        count, exchange = self.plan.count, exchange_seconds(self.job.shape, tokens, self.plan.count, self.link)
        return exchange, amdahl_speedup(self.job.assumptions.parallel_fraction, count, exchange / seconds)

    def _flops_reached(self, share: float) -> float:
        """Operations a second of one card at a share of its 16-bit rate, to which programs unpack; without a known rate they
        are taken to cost nothing.
        """
        rate = matrix_tflops(self.plan.gpu, 16)
        return rate * 1e12 * share if rate else math.inf

    def notes(self) -> list[str]:
        engine, load, assumed = self.plan.engine, self.job.load, self.job.assumptions
        driver = memory.driver_memory(self.plan.gpu)
        lines = [
            f"engine {engine.name}, {_SPLIT_WORDS[self.split] if self.plan.count > 1 else 'one card'}",
            f"{load.users} at once, each with {load.context} tokens of context, of which {load.prompt} are read; speeds "
            f"are of all together, while {self.job.written_at} tokens are held (context_read {assumed.context_read:g})",
        ]
        if not self.runs:
            lines.append(f"{engine.name} is not known to run {self.job.size.precision} on {self.plan.gpu.display_name}")
        if self.split != self.plan.split:
            heads = self.job.shape.attention[0].heads if self.job.shape.attention else 0
            lines.append(f"{heads} heads cannot be divided among {self.plan.count} cards, so they share the layers")
        if driver is not None:
            each = memory.overhead_gb(engine, self.plan.count, assumed)
            lines.append(
                f"{driver.size / 1e9:.2f} GB a GPU: {driver.source}; the engine takes at most "
                f"{engine.memory_share:.0%} of it, {each:.2g} GB of that for itself ({engine.source})"
            )
        if accelerator := accelerator_of(self.plan.gpu):
            lines.append(
                "no GPU: nobody here measured one of its kind, so of its speed only the bound is said, and its program "
                f"is taken to leave as much of its memory as on GPUs ({accelerator.source})"
            )
        lines.append(f"key-value cache at {assumed.kv_cache_bits:g} bits; {_embedding(self.job.size, engine)}")
        if self.job.state:
            lines.append(
                f"a sequence keeps {self.job.state / 1e6:.0f} MB however long it is; nobody here measured a "
                "model whose layers keep a state, so the range is wide"
            )
        calibrated, card = self.calibration, self.card
        if calibrated is not None and card is not None:
            near = _NEAREST[calibrated.nearest("decode", card)]
            lines.append(
                f"calibrated on {calibrated.measurements} measurements of {calibrated.cards} cards "
                f"({calibrated.source}); {near}"
            )
        elif card is not None and not self.is_accelerator:
            lines.append(
                f"nobody measured {engine.name} so divided: {assumed.expected_utilisation:.0%} of the memory's bandwidth "
                f"and {_COMPUTE_SHARE:.0%} of the matrix rate, and a wide range"
            )
            if self.job.shape.experts > 1:
                lines.append(f"{assumed.mixture_layer_us:g} µs for each layer of a mixture (mixture_layer_us)")
        if (shift := self.shift) is not None:
            of = {
                "engine": "none of its architecture",
                "architecture": "others of its architecture",
                "card": "this card",
            }
            lines.append(
                f"{shift.nearest.measurements} measurements of {engine.name} in this warehouse ({of[shift.nearest.level]}) "
                f"put writing at {shift.factor:.2f} times that (core.calibration)"
            )
        if self.moved is not None and self.plan.host is not None:
            away = self.moved
            lines.insert(
                1,
                f"{_AWAY[away.what]} of {away.layers} of {away.of_layers} layers ({away.size / 1e9:.1f} GB) stay with the "
                f"processor, at {assumed.host_memory_utilisation:.0%} of {self.plan.host.gb_s:g} GB/s "
                f"({self.plan.host.source}); nobody measured this, so the range is wide",
            )
        if self.split == "tensor" and self.plan.count > 1 and not self.is_accelerator:
            link = self.link
            lines.append(f"{link.gb_s:g} GB/s between cards, {link.latency_us:g} µs an exchange: {link.source}")
        if self.tflops is None:
            lines.append("the matrix rate of this card at this precision is not known, so reading has no bound")
        return lines


_SPLIT_WORDS = {
    "layer": "each card holds a share of the layers: memory adds up, one sequence is no faster",
    "pipeline": "each card holds a share of the layers and works on another sequence",
    "tensor": "each card holds a part of every layer (tensor parallel)",
}
_AWAY = {"experts": "the experts", "layers": "weights and cache"}
_NEAREST = {
    "card": "this card is among them",
    "architecture": "this card is not among them, others of its architecture are",
    "none": "no card of its architecture is among them, so the range is wide",
}


def _embedding(size: Weights, engine: Engine) -> str:
    on_host = (size.total - size.on_cards) / 1e9
    if engine.embedding_on_host and on_host > 0:
        return f"the token embedding ({on_host:.2f} GB) stays with the processor"
    return "all weights on the cards"


def _rate(expected: float, deviation: float, bound: float | None, basis: Basis) -> Rate:
    value = expected if bound is None else min(expected, bound)
    low, high = _range(value, deviation, bound)
    return Rate(value, low, high, bound, basis)


def _range(value: float, deviation: float, bound: float | None) -> tuple[float, float]:
    factor = math.exp(EIGHTY_PERCENT * deviation)
    high = value * factor
    return value / factor, high if bound is None else min(high, bound)
