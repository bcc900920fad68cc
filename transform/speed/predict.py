"""Whether a model fits on a number of equal cards, and how fast it runs: bounds, expected speed, and uncertainty.

Of several users each sends a prompt, gets the answer and sends the next prompt. While the machine reads a prompt, it writes
for nobody. So a round in which every one of U users gets one answer takes
U × (time to read a prompt) + (tokens of an answer) × (time of a step for all users).

`notes` says in words what a prediction assumes: the program and its load, the memory, and the measurements that it rests on.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from gpuledger.message import Message
from gpuledger.transform.assumptions import Assumptions
from gpuledger.transform.figures import shown
from gpuledger.transform.sizing.errors import SizingError
from gpuledger.transform.sizing.running import (
    activation_bytes,
    check_context,
    decode_flops,
    kv_cache_bytes,
    prefill_flops,
    state_bytes,
)
from gpuledger.transform.sizing.tensors import Architecture
from gpuledger.transform.sizing.weights import weights
from gpuledger.transform.speed import memory
from gpuledger.transform.speed.engines import NOT_KNOWN_TO_RUN, Engine, Split, accelerator_of
from gpuledger.transform.speed.memory import OFFLOADING_PROGRAMS, Held, Moved, layers_to_move
from gpuledger.transform.speed.rules import Job, Load, Plan, Question, Rate, share_layers
from gpuledger.transform.speed.work import work

#: If several cards share a name (a V100 for a slot or a socket), and their speeds of writing and of reading differ by less
#: than these factors, they get one answer.
_ALIKE = (1.12, 1.2)
#: The largest number of equal cards in one machine that can be asked about.
MOST_CARDS = 16
#: The least number of tokens in a prompt, if the context is as long as that. Published benchmarks read 512 to 1,024.
_PROMPT = 1024
#: How many times as fast one user is written to with a draft, and the programs that have it.
#: Source: sudoingX/qwen38-mtp, August 2026, 51 of 53 settings of llama.cpp and vLLM.
_DRAFTED, _DRAFTING = (1.33, 2.45), ("llama.cpp", "vllm", "sglang")
#: What is said of that where no draft is asked for.
WITHOUT_DRAFT = (
    "speed and bound are without a draft: a draft head or model (--draft) wrote {low} to {high} times as fast in 51 of "
    "53 public settings of August 2026, code faster than prose (sudoingX/qwen38-mtp)"
)
#: What is said in its place of an answer with a draft. Source: sudoingX/qwen38-mtp, sweeps of a 4060 Ti and of RX 7900 XTX
#: (medians for code and prose, two tokens guessed ahead); 5p00kyy/club-5060ti, May 2026 (chat, a 9B on a 5060 Ti).
DRAFTED_BY_TEXT = Message(
    "with two tokens guessed ahead a draft wrote code {code} times as fast as without, prose {prose} times and chat {chat} "
    "times on single cards (sudoingX/qwen38-mtp, 5p00kyy/club-5060ti, 2026)",
    code="1.4–2.3", prose="1.1–1.7", chat="1.2–1.3",
)  # fmt: skip
#: What is said of Intel's cards, whose two backends llama.cpp's name does not tell apart. Source: an Arc Pro B70 in
#: PMZFX/intel-arc-pro-b70-benchmarks (SYCL, April 2026) and in llama.cpp's build b9739 (Vulkan, July 2026).
_BACKENDS_OF_INTEL = Message(
    "measured with SYCL and with Vulkan: with Vulkan the same card wrote {share} times as fast, so expect the low end",
    share="0.51–0.58",
)
#: The standard deviation of a measurement: that of two runs of one benchmark on one card.
_REPEATED = 0.05
#: The largest share of a card's memory that is proposed for a server. Own choice: public starts of 2026 go to 0.98, on cards
#: without a display.
_LARGEST_SHARE = 0.95


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
    def question(self) -> Question:
        """What the answer is about, with the figures and the measurements behind both speeds."""
        return Question(self.job, self.plan, self.moved)

    @property
    def split(self) -> Split:
        """How the cards really divide the model."""
        return self.question.split

    @property
    def notes(self) -> tuple[Message, ...]:
        """The assumptions in words, the most important ones first."""
        return (*self._not_held(), *notes(self.question))

    @property
    def needs_higher_limit(self) -> bool:
        """Whether it fits once its owner lets the graphics take more of a memory shared with the processor."""
        return self.verdict == "tight" and self.needed > self.usable

    @property
    def users_at_once(self) -> int:
        """How many of the users these cards can serve at once. The others wait until one of these has its answer."""
        users = self.job.load.users
        if self.verdict != "no":
            return users
        # The cache grows with every user by the same bytes, and so do activations where their room is that of the users.
        engine = self.plan.engine
        of_users = math.ceil(self.job.cache_in(engine) * cache_copies(self.job, self.plan.split, self.plan.count))
        of_users += 0 if engine.tried_tokens else self.plan.count * self.job.activations
        if not of_users or self.moved is not None:  # a model of texts keeps no cache
            return 0
        room = self.usable - self.needed + of_users
        return max(0, int(room * users // of_users))

    def _not_held(self) -> Iterator[Message]:
        """If the model does not fit: with which share of the memory it would, and how many of these cards would hold it. If
        it only just fits: what to lower or to raise.
        """
        if self.verdict != "no":
            yield from self._just_held()
            return
        share = memory.share_of(self.plan.engine, self.job.assumptions)
        lacking = (self.needed - self.usable) / self.plan.count
        driver = memory.driver_memory(self.plan.gpu)
        if (
            driver
            and share < 1
            and (larger := math.ceil((share + lacking / driver.size) * 100) / 100) <= _LARGEST_SHARE
        ):
            yield Message(
                "a server that takes {share:g} of the memory holds it (vLLM: --gpu-memory-utilization {share:g}; here: "
                "--assume server_memory_share={share:g})", share=larger,
            )  # fmt: skip
        counts = [n for n in range(self.plan.count + 1, MOST_CARDS + 1) if holds(self.job, self.plan, n)]
        divided = (n for n in counts if self.plan.split != "tensor" or share_layers(self.job.shape, n))
        enough = next(divided, counts[0] if counts else None)
        more = (
            Message("{most_cards} of these cards do not hold it either", most_cards=MOST_CARDS)
            if enough is None
            else Message("{enough} of these cards hold it", enough=enough)
        )
        at_once, users = self.users_at_once, self.job.load.users
        if at_once:
            yield Message(
                "these hold {held} at once and {waiting} wait, so the speeds are of {held} at once; {more} all at once",
                more=more, held=at_once, waiting=users - at_once,
            )  # fmt: skip
        else:
            yield Message("the speeds are those of cards with enough memory; {more}", more=more)

    def _just_held(self) -> Iterator[Message]:
        """Of a tight fit: the limit that must be raised, or what leaves room again if it is lowered."""
        if self.needs_higher_limit:
            yield Message(
                "it fits once the owner lets the graphics take {needed:.0f} GB of the memory (macOS: iogpu.wired_limit_mb, "
                "Linux: ttm.pages_limit, also set in the firmware)", needed=self.needed / 1e9,
            )  # fmt: skip
        elif self.verdict == "tight":
            room = self.usable * (1 - memory.TIGHT_SHARE)
            shorter = (self.job.load.context * eighths // 8 for eighths in range(7, 0, -1))
            context = next((tokens for tokens in shorter if self._needed_at(tokens) <= room), None)
            lower = f"--context {context}" if context else "--precision"
            yield Message(
                "less than {least:.0%} stays free, which the next driver or a longer prompt may need: lower {lower}, "
                "--users or --kv-bits", least=memory.TIGHT_SHARE, lower=lower,
            )  # fmt: skip

    def _needed_at(self, context: int) -> int:
        """Bytes that the cards must hold with another context."""
        job, plan = self.job, self.plan
        load = replace(
            job.load, context=context, held=min(context, job.load.held), prompt=min(context, job.load.prompt)
        )
        other = job_of(job.shape, job.size.precision, load, job.assumptions)
        return needed_bytes(other, plan.engine, plan.split, plan.count)


def load_of(shape: Architecture, context: int, users: int, prompt: int | None, assumptions: Assumptions) -> Load:
    """The load of `users` at a context. Without a `prompt` a share of the context is read (`context_read`).

    Raises SizingError if the model does not allow the context, or if a number is impossible.
    """
    check_context(shape, context)
    if users < 1:
        raise SizingError("there must be at least 1 user, not {users}", users=users)
    held = max(1, round(context * assumptions.context_read))
    if prompt is None:
        prompt = max(1, min(context, max(_PROMPT, held)))
    elif not 1 <= prompt <= context:
        raise SizingError(
            "a prompt must have between 1 token and the context's {context}, not {prompt}", context=context,
            prompt=prompt,
        )  # fmt: skip
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
        raise SizingError(
            "between 1 and {most_cards} cards of a kind can be asked about, not {count}", most_cards=MOST_CARDS,
            count=plan.count,
        )  # fmt: skip
    driver = memory.driver_memory(plan.gpu)
    needed = needed_bytes(job, plan.engine, plan.split, plan.count)
    usable = memory.usable_bytes(driver.size, plan.count, plan.engine, job.assumptions) if driver else 0
    moved_part = None
    if needed > usable and plan.engine.name in OFFLOADING_PROGRAMS:
        # Move so much that a twentieth of the usable memory stays free.
        held = Held(job.shape, job.size, job.cache, job.cache_written)
        moved_part = layers_to_move(
            held, plan.offload, math.ceil(needed - usable * (1 - memory.TIGHT_SHARE)), plan.host
        )
    question = Question(job, plan, moved_part)
    needed -= moved_part.size if moved_part else 0
    verdict = memory.verdict(needed, usable)
    if driver and needed <= memory.usable_bytes(driver.raised, plan.count, plan.engine, job.assumptions):
        verdict = "tight" if verdict == "no" else verdict
    return Prediction(
        job=job,
        plan=plan,
        verdict=verdict,
        needed=needed,
        usable=usable,
        decode=question.decode(),
        prefill=question.prefill(),
        moved=moved_part,
    )


def holds(job: Job, plan: Plan, count: int) -> bool:
    """Whether `count` cards of the plan's kind hold the whole model."""
    driver = memory.driver_memory(plan.gpu)
    usable = memory.usable_bytes(driver.size, count, plan.engine, job.assumptions) if driver else 0
    return memory.verdict(needed_bytes(job, plan.engine, plan.split, count), usable) != "no"


def needed_bytes(job: Job, engine: Engine, split: Split, count: int) -> int:
    """Bytes on `count` cards together: weights, the cache of every user, and the activations of each card."""
    resident = job.size.on_cards if engine.embedding_on_host else job.size.total
    cache = math.ceil(job.cache_in(engine) * cache_copies(job, split, count))
    return resident + job.padding_in(engine) + cache + count * job.temporary_in(engine)


def cache_copies(job: Job, split: Split, count: int) -> float:
    """How often the cards hold the cache: once, but more often if they share every layer and are more than its heads."""
    layers = [layer for layer in job.shape.attention_kinds if layer.cached]
    if split != "tensor" or not layers or not share_layers(job.shape, count):
        return 1.0
    return max(1.0, count / min(layer.kv_heads for layer in layers))


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
    return Rate.around(value, _REPEATED, rate.bound, "measured")


def with_draft(prediction: Prediction) -> Prediction:
    """The prediction with a draft head or a small model that guesses tokens ahead.

    How many guesses hold depends on the text: code is guessed best. No bound is known. Raises SizingError for a program
    without it, and for several users at once.
    """
    plan, rate = prediction.plan, prediction.decode
    if plan.engine.name not in _DRAFTING or prediction.job.load.users > 1:
        raise SizingError(
            "drafts were measured for one user under {able:, }, and nothing is known of {engine} as asked; leave "
            "--draft out", engine=plan.engine.name, able=tuple(_DRAFTING),
        )  # fmt: skip
    if rate.expected is None or rate.low is None or rate.high is None:
        return prediction
    low, high = _DRAFTED
    drafted = Rate(rate.expected * math.sqrt(low * high), rate.low * low, rate.high * high, None, "estimated")
    return prediction._replace(decode=drafted)


def with_ceiling(rate: Rate, tokens_per_s: float) -> Rate:
    """The rate with an expected speed of at most `tokens_per_s`. The range stays as wide as before."""
    if rate.expected is None or rate.low is None or rate.expected <= tokens_per_s:
        return rate
    factor = rate.expected / rate.low
    high = tokens_per_s * factor
    high = high if rate.bound is None else min(high, rate.bound)
    return Rate(tokens_per_s, tokens_per_s / factor, high, rate.bound, rate.basis)


class Serving(NamedTuple):
    """The speed that several users see.

    `first_token_s` is the time until the first token if the machine is otherwise free. `each_tokens_per_s` is the speed that
    a user sees while an answer is written, and `all_tokens_per_s` the speed of all users together. `read_share` is the part
    of the time that reading takes.
    """

    first_token_s: float
    each_tokens_per_s: float
    all_tokens_per_s: float
    read_share: float


def serving(prediction: Prediction, answer_tokens: int) -> Serving | None:
    """The steady state under the load of a prediction, from its expected speeds. None if one of the speeds is not known."""
    writing, reading = prediction.decode.expected, prediction.prefill.expected
    if not writing or not reading:
        return None
    users, prompt = prediction.job.load.users, prediction.job.load.prompt
    read_s, step_s = prompt / reading, users / writing
    first_s = shown("time until the first token", read_s + step_s, "s", "the prompt is read, then a step of all")
    around = "every user is answered once; while a prompt is read nobody writes"
    round_s = shown("a round", users * read_s + answer_tokens * step_s, "s", around)
    written = "an answer by the time in which it is written"
    each = shown("each user sees", answer_tokens / (round_s - read_s), "tokens/s", written)
    all_ = shown("all together", users * answer_tokens / round_s, "tokens/s", "answers of a round by its time")
    return Serving(first_s, each, all_, read_share=users * read_s / round_s)


_SPLIT_WORDS = {
    "layer": Message("each card holds a share of the layers: memory adds up, one sequence is no faster"),
    "pipeline": Message("each card holds a share of the layers and works on another sequence"),
    "tensor": Message("each card holds a part of every layer (tensor parallel)"),
}
_MOVED_PARTS = {"experts": Message("the experts"), "layers": Message("weights and cache")}
_NEAREST = {
    "card": Message("this card is among them"),
    "architecture": Message("this card is not among them, others of its architecture are"),
    "none": Message("no card of its architecture is among them, so the range is wide"),
}
_LEVELS = {
    "engine": Message("none of its architecture"),
    "architecture": Message("others of its architecture"),
    "card": Message("this card"),
}


def notes(asked: Question) -> Iterator[Message]:
    """The assumptions behind an answer, in the order in which a person reads them."""
    yield from _of_program(asked)
    yield from _of_memory(asked)
    yield from _of_measurements(asked)
    if asked.plan.gpu.vendor == "Intel" and asked.plan.engine.name in ("llama.cpp", "ollama"):
        yield _BACKENDS_OF_INTEL
    if asked.plan.engine.name in _DRAFTING and asked.job.load.users == 1 and asked.job.decode_flops is not None:
        yield Message(WITHOUT_DRAFT, low=_DRAFTED[0], high=_DRAFTED[1])
    if asked.split == "tensor" and asked.plan.count > 1 and not asked.is_accelerator:
        link = asked.link
        yield Message(
            "{gb_s:g} GB/s between cards, {latency_us:g} µs an exchange: {source}", gb_s=link.gb_s,
            latency_us=link.latency_us, source=link.source,
        )  # fmt: skip
    if asked.tflops is None:
        yield Message("the matrix rate of this card at this precision is not known, so reading has no bound")


def _of_program(asked: Question) -> Iterator[Message]:
    """The program, what it holds where, its load, and what it cannot do."""
    job, plan, assumed = asked.job, asked.plan, asked.job.assumptions
    load, part = job.load, asked.moved
    split = _SPLIT_WORDS[asked.split] if plan.count > 1 else Message("one card")
    yield Message("engine {engine}, {split}", engine=plan.engine.name, split=split)
    if part is not None and plan.host is not None:
        yield Message(
            "{moved_parts} of {layers} of {of_layers} layers ({size:.1f} GB) stay with the processor, at "
            "{host_memory_utilisation:.0%} of {gb_s:g} GB/s ({source}); nobody measured this, so the range is wide",
            moved_parts=_MOVED_PARTS[part.what],
            layers=part.layers,
            of_layers=part.of_layers,
            size=part.size / 1e9,
            host_memory_utilisation=assumed.host_memory_utilisation,
            gb_s=plan.host.gb_s,
            source=plan.host.source,
        )
    yield Message(
        "{users} at once, each with {context} tokens of context, of which {prompt} are read; speeds are of all "
        "together, while {written_at} tokens are held (context_read {context_read:g})",
        users=load.users,
        context=load.context,
        prompt=load.prompt,
        written_at=job.written_at,
        context_read=assumed.context_read,
    )
    if not asked.runs:
        yield Message(
            NOT_KNOWN_TO_RUN, engine=plan.engine.name, precision=job.size.precision, card=plan.gpu.display_name
        )
    if asked.split != plan.split:
        first = job.shape.attention[0] if job.shape.attention else None
        yield Message(
            "{heads} heads with {kv_heads} key-value heads cannot be divided among {count} cards, so they share the "
            "layers", heads=first.heads if first else 0, kv_heads=first.kv_heads if first else 0, count=plan.count,
        )  # fmt: skip


def _of_memory(asked: Question) -> Iterator[Message]:
    """What of a card's memory is there, and what lies in it."""
    job, plan, assumed = asked.job, asked.plan, asked.job.assumptions
    if (driver := memory.driver_memory(plan.gpu)) is not None:
        yield Message(
            "{size:.2f} GB a GPU: {source}; the engine takes at most {memory_share:.0%} of it, {each:.2g} GB of that "
            "for itself ({source2})",
            size=driver.size / 1e9,
            source=driver.source,
            memory_share=memory.share_of(plan.engine, assumed),
            each=memory.overhead_gb(plan.engine, plan.count, assumed),
            source2=plan.engine.source,
        )
    if accelerator := accelerator_of(plan.gpu):
        yield Message(
            "no GPU: nobody here measured one of its kind, so of its speed only the bound is said, and its program "
            "is taken to leave as much of its memory as on GPUs ({source})", source=accelerator.source,
        )  # fmt: skip
    embedding, on_host = Message("all weights on the cards"), (job.size.total - job.size.on_cards) / 1e9
    if plan.engine.embedding_on_host and on_host > 0:
        embedding = Message("the token embedding ({on_host:.2f} GB) stays with the processor", on_host=on_host)
    yield Message(
        "key-value cache at {kv_cache_bits:g} bits; {embedding}", kv_cache_bits=assumed.kv_cache_bits,
        embedding=embedding,
    )  # fmt: skip
    if job.state:
        yield Message("a sequence keeps {state:.0f} MB however long it is", state=job.state / 1e6)


def _of_measurements(asked: Question) -> Iterator[Message]:
    """What was measured, and what stands in its place where nothing was."""
    plan, assumed, card = asked.plan, asked.job.assumptions, asked.card
    fitted = asked.served or asked.calibration
    if fitted is not None and card is not None:
        near = _NEAREST[fitted.nearest("decode" if asked.served is None else "served", card)]
        if not fitted.keeps(asked.case(card)):
            near = Message(
                "too few ranges of such measurements held when cards were left out, so this one is as wide as they were off"
            )
        elif not asked.is_covered:
            near = Message(
                "no model of this kind, of this length or for so many users is among them on its architecture, so the "
                "range is wide"
            )
        yield Message(
            "calibrated on {measurements} measurements of {cards} cards ({source}); {near}",
            measurements=fitted.measurements, cards=fitted.cards, source=fitted.source, near=near,
        )  # fmt: skip
    elif card is not None and not asked.is_accelerator:
        yield Message(
            "nobody measured {engine} so divided: {expected_utilisation:.0%} of the memory's bandwidth and "
            "{compute_share:.0%} of the matrix rate, and a wide range", engine=plan.engine.name,
            expected_utilisation=assumed.expected_utilisation, compute_share=asked.COMPUTE_SHARE,
        )  # fmt: skip
        if asked.job.shape.experts > 1:
            yield Message(
                "{mixture_layer_us:g} µs for each layer of a mixture (mixture_layer_us)",
                mixture_layer_us=assumed.mixture_layer_us,
            )
    if (shift := asked.shift) is not None:
        yield Message(
            "{measurements} measurements of {engine} in this warehouse ({levels}) put writing at {factor:.2f} times "
            "that (core.calibration)", measurements=shift.nearest.measurements, engine=plan.engine.name,
            levels=_LEVELS[shift.nearest.level], factor=shift.factor,
        )  # fmt: skip
