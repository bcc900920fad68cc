"""What is asked about a model: each argument once, with its kind (the type), its help and its name at the doors.

The options of the commands are made of these fields (flows/doors/asking/fields.py), and of those what an agent may ask.
"""

# ruff: noqa: RUF009  # what `_asked` returns is a field, as of dataclasses.field

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal, NamedTuple, get_type_hints

from gpuledger.message import Message
from gpuledger.transform.buying.costs import DAYS_A_YEAR
from gpuledger.transform.sizing.tuning import Way
from gpuledger.transform.speed.engines import Embedding, Split
from gpuledger.transform.speed.memory import Offload

Condition = Literal["new", "used", "any"]
Use = Literal["chat", "agent", "documents", "batch", "pictures", "clips", "speech", "embedding", "training"]
#: How the answers may be sorted: picks first, or by the whole cost, what is paid on day one, speed, or memory.
Order = Literal["picks", "total", "day-one", "speed", "memory"]
KvBits = Literal["16", "8.5", "8", "4.5", "4", "f16", "q8_0", "fp8", "q4_0"]
#: Bits of a cached value, by the names that programs give the formats. Those of llama.cpp have a 16-bit scale for each 32
#: values.
_KV_BITS = {"f16": "16", "q8_0": "8.5", "fp8": "8", "q4_0": "4.5"}


class Asked(NamedTuple):
    """How doors ask for a field: its help, a word for its value, and the options, if their name is not that of the field.

    `least` is the least number, None for more than nothing. The field makes sense only beside the one that it `needs`, and
    not beside the one that it is `instead` of.
    """

    help: str
    metavar: str | None = None
    options: tuple[str, ...] = ()
    least: int | None = None
    needs: str = ""
    instead: str = ""


def _asked(help: str, metavar: str | None = None, *options: str, default: Any = None, **more: Any) -> Any:
    """A field with its `Asked`; one without a default (`...`) must be given."""
    given = {} if default is ... else {"default": default}
    return dataclasses.field(**given, metadata={"asked": Asked(help, metavar, options, **more)})


def _assumed() -> Any:
    """Assumptions as texts, by their names."""
    help_ = (
        "Another value of one assumption, such as electricity_usd_per_kwh=0.40; several times for several (`gpuledger "
        "describe assumptions` lists them)."
    )
    return dataclasses.field(default_factory=dict, metadata={"asked": Asked(help_, "NAME=VALUE", ("--assume",))})


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """How a model is used, and if it is trained instead, how."""

    context: int | None = _asked("Tokens of context (default: 8192, or the model's own).", "N", least=1)
    users: int = _asked("People served at once.", "N", default=1, least=1)
    prompt: int | None = _asked("Length of the prompt of each person, in tokens (default: a part of the context).", "N",
                                "--input", least=1)  # fmt: skip
    answer: int | None = _asked("Length of the answer to each person, in tokens.", "N",
                                "--output", least=1)  # fmt: skip
    offload: Offload = _asked(
        "What may stay with the processor if the model does not fit on the cards (llama.cpp only).", default="none",
    )  # fmt: skip
    embedding: Embedding | None = _asked("Where the table of token embeddings lies (default: as the program does it).")
    train: Way | None = _asked("Train it instead: all weights, an adapter, or one over 4-bit weights.")
    train_tokens: int | None = _asked(
        "Tokens of the whole training, all passes together (default: it is said for a million).", "N", least=1,
        needs="train",
    )  # fmt: skip
    batch: int = _asked("Sequences in a step of training, on each card.", "B", default=1, least=1)
    size: str | None = _asked("Pixels of a picture or clip (default: the makers' or ComfyUI's).", "WxH")
    frames: int | None = _asked("Frames of a clip (default: the makers' or ComfyUI's).", "N", least=1)
    steps: int | None = _asked("Steps of the denoiser (default: the makers' or ComfyUI's).", "N", least=1)

    @property
    def is_of_a_picture(self) -> bool:
        """Whether it says what a picture or a clip is to be like."""
        return bool(self.size or self.frames or self.steps)


@dataclass(frozen=True, slots=True, kw_only=True)
class SizeQuestion:
    """What `size` asks beside the model."""

    precision: str | None = _asked(
        "Number format of the weights: fp16, int8, int4, awq-int4-g128 … (default: the maker's own files, else Q4_K_M).",
        "P",
    )  # fmt: skip
    context: int | None = _asked("Tokens of context (default: 8192, or the model's own).", "N", least=1)
    batch: int = _asked("Sequences at once.", "B", default=1, least=1)
    assumed: Mapping[str, str] = _assumed()


@dataclass(frozen=True, slots=True, kw_only=True)
class OfModel:
    """What every question about running a model asks."""

    model: str = _asked("Model to run; `gpuledger model list` lists all.", "M", default=...)
    precision: str | None = _asked(
        "fp16, Q8_0, Q4_K_M … (default: the maker's own files, else Q4_K_M, for several users AWQ, of an image model fp16; "
        "int4 is ideal: 4 bits a weight, which no file has).", "P",
    )  # fmt: skip
    usage: Usage = dataclasses.field(default_factory=Usage)
    kv_bits: KvBits | None = _asked(
        "Precision of the key-value cache, in bits or as programs call it (default: the assumption kv_cache_bits). q8_0 and "
        "q4_0, of llama.cpp, have 8.5 and 4.5 bits with their scales."
    )
    assumed: Mapping[str, str] = _assumed()

    def changed(self) -> dict[str, str]:
        """All assumptions that the question changes, as texts."""
        bits = {} if self.kv_bits is None else {"kv_cache_bits": _KV_BITS.get(self.kv_bits, self.kv_bits)}
        return {**bits, **self.assumed}


@dataclass(frozen=True, slots=True, kw_only=True)
class CardQuestion(OfModel):
    """What `predict` asks: what a number of equal cards in one machine do, with one model or with any."""

    model: str = _asked(
        "Model to run; `gpuledger model list` lists all (default: every model that these cards run comfortably).", "M",
        default="",
    )  # fmt: skip
    gpu: str = _asked(
        'A card as shops and tables name it: "RTX 4090 24GB", "A100 SXM 80GB", "2x RTX 3090".', "G", default=...
    )
    count: int = _asked("How many of this card are in one machine.", "N", default=1, least=1)
    engine: str | None = _asked(
        "llama.cpp, ollama, vllm … (default: llama.cpp for one user and its formats, else vllm).", "E"
    )
    split: Split | None = _asked("How the cards share the model (default: the engine's).")
    draft: bool = _asked("Speculative decoding: a draft head or model guesses tokens ahead.", default=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Question(OfModel):
    """What `buy` asks. `owned` has a gpu_id for each card, once the names that people write are resolved."""

    use: Use | None = _asked(
        "What for: sets context, prompt, answer and least speed where you do not (default: chat).", None, "--for"
    )
    budget: Decimal | None = _asked(
        "Most that may be paid on day one for cards and machine, or as rent over the horizon, in the currency that is "
        "shown.", "A",
    )  # fmt: skip
    budget_cards: bool = _asked("The budget is for the cards alone.", default=False, needs="budget")
    host: Literal["own"] | None = _asked("You have a machine for the cards: it costs nothing.")
    slots: int | None = _asked(
        "With --host own: how many cards of double width it takes (default: 2, as a desktop).",
        "N",
        least=1,
        needs="host",
    )
    owned: tuple[str, ...] = _asked(
        "A card that you have; several times for several. More of it counts new or used.", "CARD", "--own", default=()
    )
    shops: tuple[str, ...] = _asked(
        "Only offers of this shop, vendor or source, such as quotes; several times for several.", "NAME", "--shop",
        default=(),
    )  # fmt: skip
    min_tokens_per_s: float | None = _asked(
        "Least speed that each user must see, in tokens a second.", "R", "--min-tokens-per-s", "--min-speed"
    )
    tokens_per_month: str | None = _asked(
        "Tokens to read and write in a month, such as 500k or 5M: what is too slow for them is left out.", "N"
    )
    speech_hours_per_day: float | None = _asked(
        "Hours of speech to write down in a day: what is too slow for them is left out.", "H"
    )
    hours_per_day: str | None = _asked("Hours a day in which it is on or rented.", "H")
    horizon_years: str | None = _asked("Years until the card is sold.", "Y")
    days: float | None = _asked("Days until the card is sold, instead of years.", "N", least=1, instead="horizon_years")
    country: str | None = _asked(
        "Electricity at the household price of this country (US, KR, DE, EU …).", "CC",
    )  # fmt: skip
    condition: Condition = _asked("Cards on sale new, used (also refurbished and opened), or both.", default="any")
    order: Order = _asked("How the rows are sorted: picks first, or by one figure alone.", default="picks")

    def changed(self) -> dict[str, str]:
        """All assumptions that the question changes, as texts."""
        years = self.horizon_years if self.days is None else str(round(Decimal(str(self.days)) / DAYS_A_YEAR, 6))
        times = {"hours_per_day": self.hours_per_day, "horizon_years": years}
        return {**{name: text for name, text in times.items() if text}, **OfModel.changed(self)}


def given(question: Any) -> dict[str, Any]:
    """What a question says that is not the default, by the names of its options, as an agent writes them."""
    said: dict[str, Any] = {}
    for field in dataclasses.fields(question):
        value = getattr(question, field.name)
        if dataclasses.is_dataclass(value):
            said |= given(value)
        elif value not in (None, (), {}, field.default):
            # A budget of 3000000.0 is typed as 3000000.
            said[_written(field)] = Decimal(f"{value.normalize():f}") if isinstance(value, Decimal) else value
    return said


def of_given(said: Mapping[str, Any]) -> Question:
    """The question of which `given` says that. Raises ValueError for what `buy` does not ask, or not so."""
    left = dict(said)
    question: Question = _filled(Question, left)
    if left:
        raise ValueError(Message("buy has no argument {name!r}", name=next(iter(left))))
    return question


def _filled(kind: type[Any], left: dict[str, Any]) -> Any:
    import msgspec

    hints, values = get_type_hints(kind), {}
    for field in dataclasses.fields(kind):
        if dataclasses.is_dataclass(hints[field.name]):
            values[field.name] = _filled(hints[field.name], left)
        elif _written(field) in left:
            values[field.name] = msgspec.convert(left.pop(_written(field)), hints[field.name], strict=False)
        elif field.default is field.default_factory:  # neither is given
            raise ValueError(Message("a question needs {name}", name=_written(field)))
    return kind(**values)


def _written(field: dataclasses.Field[Any]) -> str:
    name = next(iter(field.metadata["asked"].options), field.name)
    return str(name).removeprefix("--").replace("-", "_")
