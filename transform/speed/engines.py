"""What runs on which hardware: programs, and accelerators that are no GPUs.

Of a program it is known how it divides a model over several cards, and how much of their memory it needs. Few programs run
on an accelerator (Gaudi, TPU, Trainium), and its machines have fixed numbers of chips. We have not measured any of them, and
speeds on GPUs say nothing about them. So the program states only the speed that physics allows at most.
"""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

from gpuledger.message import Label, Message
from gpuledger.spelling import names_like
from gpuledger.transform.identity.gpu import Gpu
from gpuledger.transform.sizing.errors import SizingError
from gpuledger.transform.sizing.gguf import is_file_type
from gpuledger.transform.sizing.weights import UNIFORM_BITS, normalise_precision, with_bits

#: Why a model does not run on a card.
NOT_KNOWN_TO_RUN = "{engine} is not known to run {precision} on {card}"
#: The precisions that every program for accelerators runs.
_AT_16_BITS = frozenset(("fp16", "bf16"))


@dataclass(frozen=True, slots=True)
class Accelerator:
    """One architecture (see accelerators.toml). `nodes` lists the numbers of chips that one machine may have."""

    nodes: tuple[int, ...]
    engines: tuple[str, ...]
    host: bool
    source: str

    def runs(self, engine: str, precision: str) -> bool:
        """Whether a program runs on this architecture at a precision."""
        return engine in self.engines and precision in _AT_16_BITS


@functools.cache
def _accelerators() -> Mapping[str, Accelerator]:
    entries = tomllib.loads((Path(__file__).parent / "accelerators.toml").read_text(encoding="utf-8"))
    return MappingProxyType(
        {
            name: Accelerator(tuple(entry["nodes"]), tuple(entry["engines"]), entry["host"], entry["source"])
            for name, entry in entries.items()
        }
    )


def accelerator_of(gpu: Gpu) -> Accelerator | None:
    """The accelerator architecture of a card, None for a GPU."""
    return _accelerators().get(gpu.architecture or "")


def check_node(gpu: Gpu, count: int, engine: str, precision: str) -> None:
    """Raises SizingError if a program does not run on an accelerator, or if no machine has that number of chips."""
    accelerator = accelerator_of(gpu)
    if accelerator is None:
        return
    if not accelerator.runs(engine, precision):
        able = (
            Message("{engines: or } at bf16 is", engines=tuple(accelerator.engines))
            if accelerator.engines
            else Message("nothing else is either")
        )
        raise SizingError(
            "{engine} is not known to run {precision} on {display_name}; {able} ({source})", engine=engine,
            precision=precision, display_name=gpu.display_name, able=able, source=accelerator.source,
        )  # fmt: skip
    if count not in accelerator.nodes:
        numbers = " or ".join(map(str, accelerator.nodes))
        raise SizingError(
            "{display_name} is bought or rented in machines of {numbers}, not of {count}: ask for those",
            display_name=gpu.display_name, numbers=numbers, count=count,
        )  # fmt: skip


#: `layer`: each card holds some of the layers, and a sequence passes the cards one after another. The memory of the cards
#: adds up, but one sequence is not faster. `tensor`: each card holds a part of every layer, and the cards exchange data
#: twice in each layer. `pipeline`: like `layer`, but several sequences keep all cards busy.
Split = Literal["layer", "tensor", "pipeline"]

#: Where the table of token embeddings lies. A token reads one row of it.
Embedding = Literal["host", "cards"]

#: Formats of other programs, which llama.cpp cannot load.
_FOR_SERVERS = ("fp8", "gptq-int4-g128", "gptq-int8-g128", "awq-int4-g128", "nf4", "nvfp4")
#: The GGUF type that llama.cpp makes of weights that are published in a packed format. Around the experts it has 8 bits
#: instead of 16.
_AS_FILE = {"mxfp4": "MXFP4_MOE"}
#: The GGUF names of precisions that every program loads.
_AS_PUBLISHED = {"F16": "fp16", "BF16": "bf16", "F32": "fp32"}
#: Other names of programs.
_ALSO = {
    "llamacpp": "llama.cpp", "llama-cpp": "llama.cpp", "llama-bench": "llama.cpp", "llama-server": "llama.cpp",
    "exllama": "exllamav2", "exl2": "exllamav2", "tabbyapi": "exllamav2", "trt-llm": "tensorrt-llm",
    "tensorrt": "tensorrt-llm", "trtllm": "tensorrt-llm", "hf": "transformers", "mlx-lm": "mlx",
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """One program (see engines.toml)."""

    name: str
    split: Split
    overhead_gb: float
    shared_overhead_gb: float
    embedding_on_host: bool
    loads: tuple[str, ...]
    source: Label
    calibrated_as: str | None = None
    reads_as: str | None = None
    piece_tokens: int = 0
    tried_tokens: int = 0
    tried_sequences: int = 1
    tower_overhead_gb: float = 0.0
    architectures: tuple[str, ...] = ()
    fp8_architectures: tuple[str, ...] = ()
    mxfp4_architectures: tuple[str, ...] = ()
    excluded_chips: tuple[str, ...] = ()

    def runs_on(self, gpu: Gpu, precision: str) -> bool:
        """Whether the program runs on a card at a precision. True if we know nothing about that and the card is a GPU."""
        accelerator = accelerator_of(gpu)
        if accelerator is not None:
            return accelerator.runs(self.name, precision)
        narrow = {"fp8": self.fp8_architectures, "mxfp4": self.mxfp4_architectures}
        known = narrow.get(precision) or self.architectures
        if gpu.chip in self.excluded_chips:
            return False
        return not known or not gpu.architecture or gpu.architecture in known


@functools.cache
def engines() -> Mapping[str, Engine]:
    """Every engine by name. It reads prompts as it is calibrated, unless the file says otherwise."""
    entries = tomllib.loads((Path(__file__).parent / "engines.toml").read_text(encoding="utf-8"))

    def engine(name: str, entry: Mapping[str, Any]) -> Engine:
        fields: dict[str, Any] = {
            key: tuple(value) if isinstance(value, list) else value for key, value in entry.items()
        }
        fields.setdefault("reads_as", entry.get("calibrated_as"))
        return Engine(name=name, **fields | {"source": Label(entry["source"])})

    return MappingProxyType({name: engine(name, entry) for name, entry in entries.items()})


def engine_of(name: str) -> Engine:
    """The engine called `name`, in upper or lower case. Raises SizingError, which names the known ones."""
    known = engines()
    lower_name = name.strip().lower().replace("_", "-")
    engine = known.get(_ALSO.get(lower_name, lower_name))
    if engine is None:
        close = names_like(lower_name, known)
        meant = Message("did you mean {close: or }? Known", close=tuple(close)) if close else Message("known")
        raise SizingError(
            "no engine is called {name!r}; {meant} are {known}", name=name, meant=meant, known=tuple(known)
        )
    return engine


def default_engine(precision: str, users: int = 1) -> Engine:
    """The program that most people would run: llama.cpp for its formats and for one person, vLLM otherwise."""
    name = normalise_precision(precision)
    if kind := with_bits(name):
        return engines()["exllamav2" if kind == "exl2" else kind]
    if name in _FOR_SERVERS or (users > 1 and not is_file_type(name)):
        return engines()["vllm"]
    return engines()["llama.cpp"]


def embedding_of(engine: Engine, where: Embedding | None) -> Engine:
    """`engine` with its token embeddings at `where`, or where it keeps them by default if that is None.

    Raises SizingError if the program can keep them on the cards only.
    """
    if where is None or (where == "host") == engine.embedding_on_host:
        return engine
    if where == "host":
        able = [candidate.name for candidate in engines().values() if candidate.embedding_on_host]
        raise SizingError(
            "{engine} keeps token embeddings on the cards; {able} leave them with the processor", engine=engine.name,
            able=tuple(able),
        )  # fmt: skip
    return replace(engine, embedding_on_host=False)


def loaded_as(engine: Engine, precision: str) -> str:
    """The precision at which `engine` loads weights that are published at `precision`. llama.cpp has file types of its own.

    Raises SizingError if the program cannot load them.
    """
    check_loads(engine, precision)
    name = normalise_precision(precision)
    return _AS_FILE.get(name, name) if "gguf" in engine.loads else _of_hub(engine, name)


def _of_hub(engine: Engine, precision: str) -> str:
    """16 and 32 bits under the names that programs without GGUF use: F16 becomes fp16."""
    return _AS_PUBLISHED.get(precision, precision) if "gguf" not in engine.loads else precision


def check_loads(engine: Engine, precision: str) -> None:
    """Raises SizingError, which names engines that can, if `engine` cannot load weights at `precision`."""
    kind = _format_of(_of_hub(engine, normalise_precision(precision)))
    if kind not in engine.loads:
        able = [candidate.name for candidate in engines().values() if kind in candidate.loads]
        raise SizingError(
            "{engine} does not load {precision}; {able} do", engine=engine.name, precision=precision, able=tuple(able)
        )


def _format_of(precision: str) -> str:
    if is_file_type(precision):
        return "gguf"
    if precision == "mxfp4":
        return "mxfp4"
    if kind := with_bits(precision):
        return kind
    return "packed" if precision in _FOR_SERVERS or precision not in UNIFORM_BITS else "uniform"
