"""Accelerators that are no GPUs (Gaudi, TPU, Trainium): what runs on them, and in which numbers they can be had.

Nobody here measured one, and what programs reach on GPUs says nothing of them: of their speed only what physics allows is
said.
"""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from gpuledger.transform.identity.gpu import Gpu
from gpuledger.transform.sizing.errors import SizingError

#: The precisions that every program for them runs.
_AT_16_BITS = frozenset(("fp16", "bf16"))


@dataclass(frozen=True, slots=True)
class Accelerator:
    """One architecture (see accelerators.toml). `nodes` are the numbers of chips in one machine."""

    nodes: tuple[int, ...]
    engines: tuple[str, ...]
    host: bool
    source: str

    def runs(self, engine: str, precision: str) -> bool:
        """Whether a program runs on it at a precision."""
        return engine in self.engines and precision in _AT_16_BITS


@functools.cache
def _all() -> Mapping[str, Accelerator]:
    words = tomllib.loads((Path(__file__).parent / "accelerators.toml").read_text(encoding="utf-8"))
    return MappingProxyType(
        {
            name: Accelerator(tuple(one["nodes"]), tuple(one["engines"]), one["host"], one["source"])
            for name, one in words.items()
        }
    )


def accelerator_of(gpu: Gpu) -> Accelerator | None:
    """What is known of it as an accelerator; None for a GPU."""
    return _all().get(gpu.architecture or "")


def check_node(gpu: Gpu, count: int, engine: str, precision: str) -> None:
    """Raise SizingError where a program does not run on an accelerator, or so many are no machine that can be had."""
    found = accelerator_of(gpu)
    if found is None:
        return
    if not found.runs(engine, precision):
        able = f"{' or '.join(found.engines)} at bf16 is" if found.engines else "nothing else is either"
        raise SizingError(f"{engine} is not known to run {precision} on {gpu.display_name}; {able} ({found.source})")
    if count not in found.nodes:
        numbers = " or ".join(map(str, found.nodes))
        raise SizingError(
            f"{gpu.display_name} is bought or rented in machines of {numbers}, not of {count}: ask for those"
        )
