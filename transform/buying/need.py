"""What a model asks of cards: memory by their number, and how fast they can be."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from gpuledger.transform.assumptions import Assumptions
from gpuledger.transform.identity.gpu import Gpu
from gpuledger.transform.sizing import catalogue
from gpuledger.transform.sizing.architecture import read_config
from gpuledger.transform.sizing.diffusion import DiffusionModel, diffusion_models, image_memory
from gpuledger.transform.sizing.errors import SizingError
from gpuledger.transform.sizing.own import load, own_model
from gpuledger.transform.sizing.tensors import Architecture
from gpuledger.transform.sizing.tuning import PRECISIONS, Tuning, Way, tuning
from gpuledger.transform.sizing.weights import UNIFORM_BITS, normalise_precision
from gpuledger.transform.speed import memory
from gpuledger.transform.speed.engines import Embedding, Engine, default_engine, embedding_of, engines, loaded_as
from gpuledger.transform.speed.learned import NOTHING_LEARNED, Learned
from gpuledger.transform.speed.offload import HostMemory, Offload, check_offload
from gpuledger.transform.speed.peaks import matrix_tflops
from gpuledger.transform.speed.predict import Job, Plan, Prediction, job_of, load_of, predict

#: Context where none is asked for, at most the model's own.
DEFAULT_CONTEXT = 4096
#: Tokens of a sequence that is trained with, where none are asked for: what most sets of instructions stay under.
_TRAINED_TOKENS = 2048
#: The programs that are assumed to make pictures, and to train.
_OF_PICTURES, _TRAINING = "transformers", "peft"


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """How a model is used: tokens of `context` (None: the default), `users` at once, tokens that each reads (`prompt`,
    None: a share of the context) and writes (`answer`, None: the rest of the context); what may stay with the processor
    where it does not fit (`offload`), and whether token embeddings do (`embedding`, None: as the program does it).
    """

    context: int | None = None
    users: int = 1
    prompt: int | None = None
    answer: int | None = None
    offload: Offload = "none"
    embedding: Embedding | None = None
    #: How it is trained, and with how many sequences in a step of each card; None where it answers.
    train: Way | None = None
    batch: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """A model at one precision under a load.

    `job` is the work of a model of text, None for an image model, which needs `image_bytes` on each card: each makes its own
    pictures, so `splits` is false.
    """

    model_id: str
    precision: str
    context_tokens: int | None
    users: int
    answer_tokens: int
    engine: Engine
    assumptions: Assumptions
    job: Job | None
    image_bytes: int
    offload: Offload = "none"
    tuning: Tuning | None = None
    #: What the warehouse's own measurements say of the program.
    learned: Learned = NOTHING_LEARNED
    #: The predictions made so far: a market has many offers of a card.
    _predictions: dict[tuple[Gpu, int, HostMemory | None], Prediction] = field(
        init=False, default_factory=dict, compare=False, repr=False
    )

    @property
    def splits(self) -> bool:
        """Whether the model may be spread over several cards."""
        return self.job is not None or self.tuning is not None

    @property
    def writes(self) -> bool:
        """Whether it writes token by token."""
        return self.job is not None and self.job.decode_flops is not None

    def on(self, gpu: Gpu, count: int, host: HostMemory | None = None) -> Prediction | None:
        """What so many GPUs make of it, in a machine whose memory is known or not; None for an image model."""
        if self.job is None:
            return None
        asked = (gpu, count, host)
        found = self._predictions.get(asked)
        if found is None:
            plan = Plan(
                gpu=gpu, count=count, engine=self.engine, split=self.engine.split, offload=self.offload, host=host,
                learned=self.learned,
            )  # fmt: skip
            found = self._predictions[asked] = predict(self.job, plan)
        return found

    def needed_bytes(self, count: int) -> int:
        """Bytes on `count` GPUs together."""
        if self.tuning is not None:
            return self.tuning.shared + count * self.tuning.each
        if self.job is None:
            return self.image_bytes
        resident = self.job.size.on_cards if self.engine.embedding_on_host else self.job.size.total
        return resident + self.job.cache + count * self.job.activations

    def usable_bytes(self, gpu: Gpu, count: int) -> int:
        """Bytes that so many GPUs have for it."""
        driver = memory.driver_memory(gpu)
        return 0 if driver is None else memory.usable_bytes(driver.size, count, self.engine, self.assumptions)

    def training_bound(self, gpu: Gpu, count: int) -> float | None:
        """Tokens a second of all cards at most while it is trained, by their 16-bit matrix rate; None if not known."""
        if self.tuning is None or not self.engine.runs_on(gpu, self.precision):
            return None
        rate = matrix_tflops(gpu, 16)
        return None if rate is None else count * rate * 1e12 / self.tuning.flops

    def bound_of_empty_cache(self, bandwidth_gb_s: float) -> float:
        """Tokens a second of one sequence on one GPU before anything was written, by its memory alone."""
        assert self.job is not None, "an image model writes nothing"
        return bandwidth_gb_s * 1e9 / self.job.size.read_bytes(1)


def shape_of(model_id: str, own: Path) -> Architecture | DiffusionModel:
    """The model of that name, of the catalogue (see catalogue.canonical) or added in the folder `own`.

    Raises UnknownModel with the known names.
    """
    if model_id in catalogue.models():
        return catalogue.architecture(model_id)
    if model_id in diffusion_models():
        return diffusion_models()[model_id]
    added = own_model(own, model_id)
    if added is not None:
        return read_config(added.config)
    known = catalogue.canonical(model_id)
    if known is not None:
        return catalogue.architecture(known)
    others = (model.model_id for model in load(own)[0])
    raise catalogue.unknown(model_id, [*catalogue.models(), *diffusion_models(), *others])


def usual_precision(shape: Architecture | DiffusionModel) -> str:
    """What most people run where nothing else is said: 4 bits for text, 16 for pictures."""
    return "fp16" if isinstance(shape, DiffusionModel) else "int4"


def text_shape(model_id: str, own: Path) -> Architecture:
    """The same of a model of text. Raises UnknownModel, and SizingError for an image model."""
    shape = shape_of(model_id, own)
    if isinstance(shape, DiffusionModel):
        makes = "pictures" if shape.clip is None else "video"
        raise SizingError(
            f"{model_id} makes {makes}, and no text: `gpuledger buy --model {model_id}` says what holds it, and how fast it "
            "was measured if anybody did"
        )
    return shape


def need_of(
    model_id: str, shape: Architecture | DiffusionModel, precision: str, asked: Asked, assumptions: Assumptions
) -> Need:
    """What the model needs. Raises SizingError where the precision is not known or the load cannot be."""
    if isinstance(shape, DiffusionModel):
        if asked.context is not None:
            raise SizingError("a model of images or video has no context; leave it out")
        if asked.train is not None:
            raise SizingError("what training of an image model needs is not known here")
        if asked.offload != "none" or asked.embedding is not None:
            raise SizingError("what of an image model stays with the processor is not known; leave it out")
        return Need(
            model_id=model_id,
            precision=precision.lower(),
            context_tokens=None,
            users=1,
            answer_tokens=0,
            engine=engines()[_OF_PICTURES],
            assumptions=assumptions,
            job=None,
            image_bytes=sum(image_memory(shape, precision, 1, assumptions)),
        )
    if asked.train is not None:
        return _training(model_id, shape, asked.train, asked, assumptions)
    name = normalise_precision(precision)
    if name.isdigit():  # `4` says the same as `int4`, which is what the tables call it
        name = next(other for other, bits in UNIFORM_BITS.items() if not other.isdigit() and bits == int(name))
    context = _context(shape, asked)
    engine = default_engine(name, asked.users)
    load = load_of(shape, context, asked.users, asked.prompt, assumptions)
    job = job_of(shape, loaded_as(engine, name), load, assumptions)
    return Need(
        model_id=catalogue.canonical(model_id) or model_id,
        precision=name,
        context_tokens=context,
        users=asked.users,
        answer_tokens=asked.answer or max(1, context - job.load.prompt),
        engine=embedding_of(engine, asked.embedding),
        assumptions=assumptions,
        job=job,
        image_bytes=0,
        offload=check_offload(asked.offload, engine, shape),
    )


def _training(model_id: str, shape: Architecture, way: Way, asked: Asked, assumptions: Assumptions) -> Need:
    if asked.offload != "none" or asked.embedding is not None or asked.users > 1:
        raise SizingError("who trains serves nobody: leave --users, --offload and --embedding out")
    tokens = min(_TRAINED_TOKENS, shape.context) if asked.context is None else asked.context
    return Need(
        model_id=catalogue.canonical(model_id) or model_id,
        precision=PRECISIONS[way],
        context_tokens=tokens,
        users=1,
        answer_tokens=0,
        engine=engines()[_TRAINING],
        assumptions=assumptions,
        job=None,
        image_bytes=0,
        tuning=tuning(shape, way, tokens, asked.batch, assumptions),
    )


def _context(shape: Architecture, asked: Asked) -> int:
    """The context that is asked for, that prompt and answer need, or the default."""
    if asked.context is not None:
        return asked.context
    if asked.prompt is not None or asked.answer is not None:
        return (asked.prompt or 0) + (asked.answer or 0)
    return min(DEFAULT_CONTEXT, shape.context)
