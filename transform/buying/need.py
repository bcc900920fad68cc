"""What a model needs: the memory on a number of cards, and the work that decides how fast they can be.

To write text token by token, a card reads every weight once for each token, so memory bandwidth bounds the speed. Source:
Williams, Waterman & Patterson 2009, "Roofline"; Pope et al. 2022.

Cards that exchange data over slots lose more time with each further card that shares a layer. So if a part of the cards
holds the whole model, many users are served faster by several copies of it (vLLM: --data-parallel-size)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

from gpuledger.message import Message
from gpuledger.transform.assumptions import Assumptions
from gpuledger.transform.buying.question import Usage
from gpuledger.transform.identity.gpu import MACHINE, Gpu
from gpuledger.transform.sizing import catalogue
from gpuledger.transform.sizing.diffusion import DiffusionModel, ImageMemory, image_memory
from gpuledger.transform.sizing.errors import SizingError
from gpuledger.transform.sizing.tensors import Architecture
from gpuledger.transform.sizing.weights import UNIFORM_BITS, normalise_precision
from gpuledger.transform.speed import memory, pieces
from gpuledger.transform.speed.engines import NOT_KNOWN_TO_RUN, Engine, default_engine, embedding_of, engines, loaded_as
from gpuledger.transform.speed.learned import NOTHING_LEARNED, Learned
from gpuledger.transform.speed.links import is_module
from gpuledger.transform.speed.memory import HostMemory, Offload, check_offload
from gpuledger.transform.speed.predict import Prediction, job_of, load_of, needed_bytes, predict
from gpuledger.transform.speed.rules import Job, Plan, Rate

#: Why a model does not run on a card that its program runs on.
WITHOUT_BF16 = "{card} does not multiply bf16, which {model} needs"
#: What is said of a card on which weights of a model of pictures wait.
WAITING = (
    "{waiting:.1f} GB of its weights wait in the machine's memory and are read from it in every step, as ComfyUI does by "
    "itself; the machine needs {resident:.0f} GB for the model."
)
# Training is loaded where it is asked for: most questions are about answers.
if TYPE_CHECKING:
    from gpuledger.transform.sizing.tuning import Tuning, Way

#: The context if the user does not give one: of 18 guides of 2025-10 to 2026-10 that state one, 8 say 8k and none less.
#: A model with a shorter context has its own.
DEFAULT_CONTEXT = 8192
#: The tokens of a sequence in training, if the user does not give a number. Most sets of instructions have shorter texts.
_TRAINED_TOKENS = 2048
#: The programs that we assume for making pictures and for training.
_OF_PICTURES, _TRAINING = "transformers", "peft"


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """A model at one precision under a load.

    `job` is the work of a model of text, and None for an image model (`diffusion`). An image model needs `image` on each
    card. Each card makes its own pictures, so `splits` is false.
    """

    model_id: str
    precision: str
    engine: Engine
    assumptions: Assumptions
    context_tokens: int | None = None
    users: int = 1
    answer_tokens: int = 0
    job: Job | None = None
    image: ImageMemory | None = None
    offload: Offload = "none"
    diffusion: DiffusionModel | None = None
    tuning: Tuning | None = None
    #: What the measurements of the warehouse say about the program.
    learned: Learned = NOTHING_LEARNED
    #: The predictions that were made so far. They are kept because a market has many offers of the same card.
    _predictions: dict[tuple[Gpu, int, HostMemory | None], Prediction] = field(
        init=False, default_factory=dict, compare=False, repr=False
    )

    @property
    def splits(self) -> bool:
        """Whether the model may be spread over several cards."""
        return self.job is not None or self.tuning is not None

    @property
    def writes(self) -> bool:
        """Whether the model writes token by token."""
        return self.job is not None and self.job.decode_flops is not None

    @property
    def reads_only(self) -> bool:
        """Whether the model reads texts and writes none: embeddings and the like."""
        return self.job is not None and self.job.shape.kind == "encoder"

    @property
    def request(self) -> tuple[int, int, int]:
        """The tokens of one request of what writes: read, read again from what went before (`reread_share`), and written."""
        assert self.job is not None, "only what writes is asked for tokens"
        load = self.job.load
        before = max(0, load.context - load.prompt - self.answer_tokens)
        return load.prompt, round(before * self.assumptions.reread_share), self.answer_tokens

    @property
    def is_by_rate(self) -> bool:
        """Whether its speed follows from the matrix rate alone: pictures, clips, training, speech."""
        is_speech = self.job is not None and self.job.shape.is_of_speech
        return self.diffusion is not None or self.tuning is not None or is_speech

    def on(self, gpu: Gpu, count: int, host: HostMemory | None = None) -> Prediction | None:
        """The prediction for `count` GPUs in a machine with the memory `host`, None if that is not known.

        None for an image model.
        """
        if self.job is None:
            return None
        key = (gpu, count, host)
        prediction = self._predictions.get(key)
        if prediction is None:
            plan = Plan(
                gpu=gpu, count=count, engine=self.engine, split=self.engine.split, offload=self.offload, host=host,
                learned=self.learned,
            )  # fmt: skip
            prediction = self._predictions[key] = predict(self.job, plan)
        return prediction

    def needed_bytes(self, count: int) -> int:
        """Bytes on `count` GPUs together."""
        if self.tuning is not None:
            return self.tuning.shared + count * self.tuning.each
        if self.job is None:
            return self.image.needed if self.image else 0
        return needed_bytes(self.job, self.engine, self.engine.split, count)

    def usable_bytes(self, gpu: Gpu, count: int) -> int:
        """Bytes that `count` GPUs have for the model."""
        driver = memory.driver_memory(gpu)
        return 0 if driver is None else memory.usable_bytes(driver.size, count, self.engine, self.assumptions)

    def trained(self, gpu: Gpu, count: int) -> Rate | None:
        """The tokens a second in training on all cards, None if nothing is trained or the matrix rate is not known."""
        if self.tuning is None:
            return None
        from gpuledger.transform.speed import training

        return training.rate(gpu, count, self.tuning.way, self.tuning.flops)

    def made(self, gpu: Gpu) -> Rate | None:
        """Pictures or clips a second of one card, with the weights that do not fit in the machine's memory. None if nothing
        is made or the matrix rate is not known.
        """
        if self.diffusion is None:
            return None
        rate = pieces.pace(gpu, self.diffusion, self.precision)
        waiting = self.waiting_bytes(gpu)
        return rate if rate is None or not waiting else pieces.streamed(rate, self.diffusion, waiting)

    def waiting_bytes(self, gpu: Gpu) -> int:
        """Bytes of the weights of an image model that wait in the machine's memory, since programs keep `KEPT_FREE` of the
        card free. 0 if none do, and if it does not run so: too many would wait, or the machine has no other memory.
        """
        if self.image is None or gpu.form_factor == MACHINE:
            return 0
        usable = self.usable_bytes(gpu, 1)
        if self.image.needed - usable >= pieces.MOST_WAITING * self.image.weights:
            return 0
        return max(0, round(self.image.needed - (1 - pieces.KEPT_FREE) * usable))

    def waiting(self, gpu: Gpu) -> tuple[Message, ...]:
        """What is said of a card on which weights wait, nothing for others."""
        if self.image is None or not (waiting := self.waiting_bytes(gpu)):
            return ()
        return (Message(WAITING, waiting=waiting / 1e9, resident=self.image.all_resident / 1e9),)

    def against(self, gpu: Gpu) -> Message | None:
        """Why the model does not run on a card, None if it does or if nothing is known about that."""
        if not self.engine.runs_on(gpu, self.precision):
            return Message(NOT_KNOWN_TO_RUN, engine=self.engine.name, precision=self.precision, card=gpu.display_name)
        made, trained = self.diffusion, self.tuning
        is_in_bf16 = (made is not None and made.bf16) or (trained is not None and trained.way == "full")
        if is_in_bf16 and gpu.architecture in pieces.WITHOUT_BF16:
            return Message(WITHOUT_BF16, card=gpu.display_name, model=self.model_id)
        return None


def need_of(
    model_id: str, shape: Architecture | DiffusionModel, precision: str, usage: Usage, assumptions: Assumptions
) -> Need:
    """What the model needs. Raises SizingError if the precision is not known, or if the model does not allow the load."""
    if isinstance(shape, DiffusionModel):
        if usage.context is not None:
            raise SizingError("a model of images or video has no context; leave it out")
        if usage.train is not None:
            raise SizingError("what training of an image model needs is not known here")
        if usage.offload != "none" or usage.embedding is not None:
            raise SizingError("what of an image model stays with the processor is not known; leave it out")
        shape = shape.asked(usage.size, usage.frames, usage.steps)
        return Need(
            model_id=model_id,
            precision=precision.lower(),
            engine=engines()[_OF_PICTURES],
            assumptions=assumptions,
            image=image_memory(shape, precision, 1, assumptions),
            diffusion=shape,
        )
    if usage.is_of_a_picture:
        raise SizingError("{model_id} makes no pictures; leave --size, --frames and --steps out", model_id=model_id)
    if usage.train is not None:
        return _training(model_id, shape, usage.train, usage, assumptions)
    name = normalise_precision(precision)
    if name.isdigit():  # `4` means `int4`, which is its name in the tables
        name = next(alias for alias, bits in UNIFORM_BITS.items() if not alias.isdigit() and bits == int(name))
    context = usage.context
    if context is None and (usage.prompt is not None or usage.answer is not None):
        context = (usage.prompt or 0) + (usage.answer or 0)
    elif context is None:
        context = min(DEFAULT_CONTEXT, shape.context)
    users = 1 if shape.kind == "encoder" else usage.users  # what only reads takes one text after another
    engine = default_engine(name, users)
    load = load_of(shape, context, users, usage.prompt, assumptions)
    job = job_of(shape, loaded_as(engine, name), load, assumptions)
    return Need(
        model_id=catalogue.canonical(model_id) or model_id,
        precision=name,
        context_tokens=context,
        users=users,
        answer_tokens=usage.answer or max(1, context - job.load.prompt),
        engine=embedding_of(engine, usage.embedding),
        assumptions=assumptions,
        job=job,
        offload=check_offload(usage.offload, engine, shape),
    )


def _training(model_id: str, shape: Architecture, way: Way, usage: Usage, assumptions: Assumptions) -> Need:
    if usage.offload != "none" or usage.embedding is not None or usage.users > 1:
        raise SizingError("who trains serves nobody: leave --users, --offload and --embedding out")
    from gpuledger.transform.sizing.tuning import PRECISIONS, tuning

    tokens = min(_TRAINED_TOKENS, shape.context) if usage.context is None else usage.context
    return Need(
        model_id=catalogue.canonical(model_id) or model_id,
        precision=PRECISIONS[way],
        context_tokens=tokens,
        engine=engines()[_TRAINING],
        assumptions=assumptions,
        tuning=tuning(shape, way, tokens, usage.batch, assumptions),
    )


Verdict = Literal["error in data or formula", "limited by software or CPU, not by the card", "limited by the card"]


def verdict_on(measured: float, bound: float, assumptions: Assumptions) -> Verdict:
    """What a measured speed says in comparison with its bound.

    A share above 1 is impossible, so the data or the formula is wrong. A share below `low_utilisation` means that the card
    was waiting for something else.
    """
    share = measured / bound
    if share > 1:
        return "error in data or formula"
    if share < assumptions.low_utilisation:
        return "limited by software or CPU, not by the card"
    return "limited by the card"


#: A further copy must make the model faster by at least this factor, because it costs memory and gives each card less work
#: at once.
HARDLY_FASTER = 1.05


@dataclass(frozen=True, slots=True)
class Copies:
    """The ways to load a model several times for the users of `need`."""

    need: Need
    _shares: dict[int, Need] = field(default_factory=dict, compare=False, repr=False)

    def on(self, gpu: Gpu, count: int) -> Iterator[int]:
        """The numbers of copies that `count` cards can hold, each copy on an equal part of the cards.

        Nothing for modules, which exchange data fast enough, and for models that are partly left with the processor.
        """
        need = self.need
        is_served = need.job is not None and need.engine.split == "tensor" and need.offload == "none"
        if not is_served or is_module(gpu):
            return
        for copies in range(2, min(count, need.users) + 1):
            cards, left_over = divmod(count, copies)
            if not left_over and self.of(copies).needed_bytes(cards) <= need.usable_bytes(gpu, cards):
                yield copies

    def of(self, copies: int) -> Need:
        """What one of `copies` copies needs. If the users do not divide evenly, this is the copy with most users."""
        need = self.need
        if copies == 1:
            return need
        share = self._shares.get(copies)
        if share is None:
            assert need.job is not None, "an image model is loaded on each card anyway"
            users = math.ceil(need.users / copies)
            job = job_of(need.job.shape, need.job.size.precision, replace(need.job.load, users=users), need.assumptions)
            share = self._shares[copies] = replace(need, users=users, job=job)
        return share
