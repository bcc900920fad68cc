"""The programs that answer: how each divides a model over several cards, and what it needs of their memory."""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Literal, get_args

from gpuledger.extract.near import near
from gpuledger.transform.identity.gpu import Gpu
from gpuledger.transform.sizing.errors import SizingError
from gpuledger.transform.sizing.gguf import gguf_types
from gpuledger.transform.sizing.weights import UNIFORM_BITS, is_exl2, is_mlx, normalise_precision
from gpuledger.transform.speed.accelerators import accelerator_of

#: `layer`: each card holds some layers, a sequence passes one after another: memory adds up, one sequence is no faster.
#: `tensor`: each card holds a part of every layer, and they exchange twice a layer. `pipeline`: layers, kept busy by several
#: sequences at once.
Split = Literal["layer", "tensor", "pipeline"]
SPLITS: tuple[str, ...] = get_args(Split)

#: Where the table of token embeddings lies, of which a token reads one row.
Embedding = Literal["host", "cards"]
EMBEDDINGS: tuple[str, ...] = get_args(Embedding)

#: What llama.cpp cannot load: formats of other programs.
_FOR_SERVERS = ("fp8", "gptq-int4-g128", "gptq-int8-g128", "awq-int4-g128", "nf4", "nvfp4")
#: The packing of the published weights, and the file that llama.cpp makes of them: 8 bits instead of 16 around the experts.
_AS_FILE = {"mxfp4": "MXFP4_MOE"}
#: Names of GGUF files for what every program loads.
_AS_PUBLISHED = {"F16": "fp16", "BF16": "bf16", "F32": "fp32"}
#: Programs by their other names.
_ALSO = {
    "llamacpp": "llama.cpp", "llama-cpp": "llama.cpp", "llama-bench": "llama.cpp", "llama-server": "llama.cpp",
    "exllama": "exllamav2", "exl2": "exllamav2", "tabbyapi": "exllamav2", "trt-llm": "tensorrt-llm",
    "tensorrt": "tensorrt-llm", "trtllm": "tensorrt-llm", "hf": "transformers", "mlx-lm": "mlx",
}  # fmt: skip


class UnknownEngine(SizingError):
    """No such program; the message names the known ones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """One program (see engines.toml)."""

    name: str
    split: Split
    calibrated_as: str | None
    reads_as: str | None
    memory_share: float
    overhead_gb: float
    shared_overhead_gb: float
    embedding_on_host: bool
    loads: tuple[str, ...]
    architectures: tuple[str, ...]
    fp8_architectures: tuple[str, ...]
    mxfp4_architectures: tuple[str, ...]
    excluded_chips: tuple[str, ...]
    source: str

    def runs_on(self, gpu: Gpu, precision: str) -> bool:
        """Whether it runs on a card at a precision; where nothing is known of either, it may, unless that is no GPU."""
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
    """Every engine by name."""
    words = tomllib.loads((Path(__file__).parent / "engines.toml").read_text(encoding="utf-8"))
    return MappingProxyType(
        {
            name: Engine(
                name=name, split=one["split"], calibrated_as=one.get("calibrated_as"),
                reads_as=one.get("reads_as", one.get("calibrated_as")), memory_share=one["memory_share"],
                overhead_gb=one["overhead_gb"], shared_overhead_gb=one["shared_overhead_gb"],
                embedding_on_host=one["embedding_on_host"], loads=tuple(one["loads"]),
                architectures=tuple(one.get("architectures", ())),
                fp8_architectures=tuple(one.get("fp8_architectures", ())),
                mxfp4_architectures=tuple(one.get("mxfp4_architectures", ())),
                excluded_chips=tuple(one.get("excluded_chips", ())), source=one["source"],
            )
            for name, one in words.items()
        }
    )  # fmt: skip


def engine_of(name: str) -> Engine:
    """The engine called `name`, in any case. Raises UnknownEngine."""
    known = engines()
    written = name.strip().lower().replace("_", "-")
    found = known.get(_ALSO.get(written, written))
    if found is None:
        close = near(written, known)
        meant = f"did you mean {' or '.join(close)}? Known" if close else "known"
        raise UnknownEngine(f"no engine is called {name!r}; {meant} are {', '.join(known)}")
    return found


def default_engine(precision: str, users: int = 1) -> Engine:
    """What most people would run: llama.cpp for its formats and for one person, vLLM otherwise."""
    name = normalise_precision(precision)
    if is_exl2(name) or is_mlx(name):
        return engines()["exllamav2" if is_exl2(name) else "mlx"]
    if name in _FOR_SERVERS or (users > 1 and name not in gguf_types()):
        return engines()["vllm"]
    return engines()["llama.cpp"]


def embedding_of(engine: Engine, where: Embedding | None) -> Engine:
    """`engine` with its token embeddings there; None for its own way. Raises SizingError where it keeps all on the cards."""
    if where is None or (where == "host") == engine.embedding_on_host:
        return engine
    if where == "host":
        able = [one.name for one in engines().values() if one.embedding_on_host]
        raise SizingError(
            f"{engine.name} keeps token embeddings on the cards; {', '.join(able)} leave them with the processor"
        )
    return replace(engine, embedding_on_host=False)


def loaded_as(engine: Engine, precision: str) -> str:
    """The precision under which `engine` loads weights that are published at `precision`: llama.cpp reads files of its own.

    Raises SizingError where it cannot load them.
    """
    check_loads(engine, precision)
    name = normalise_precision(precision)
    return _AS_FILE.get(name, name) if "gguf" in engine.loads else _of_hub(engine, name)


def _of_hub(engine: Engine, precision: str) -> str:
    """16 and 32 bits as programs call them that load no GGUF: F16 is fp16."""
    return _AS_PUBLISHED.get(precision, precision) if "gguf" not in engine.loads else precision


def check_loads(engine: Engine, precision: str) -> None:
    """Raise SizingError where `engine` cannot load weights at `precision`, with engines that can."""
    kind = _format_of(_of_hub(engine, normalise_precision(precision)))
    if kind not in engine.loads:
        others = [one.name for one in engines().values() if kind in one.loads]
        raise SizingError(f"{engine.name} does not load {precision}; {', '.join(others)} do")


def _format_of(precision: str) -> str:
    if precision in gguf_types():
        return "gguf"
    if precision == "mxfp4":
        return "mxfp4"
    if is_exl2(precision) or is_mlx(precision):
        return "exl2" if is_exl2(precision) else "mlx"
    return "packed" if precision in _FOR_SERVERS or precision not in UNIFORM_BITS else "uniform"
