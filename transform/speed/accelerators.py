"""Accelerators that are no GPUs (Gaudi, TPU, Trainium): which programs run on them, and how many chips a machine has.

We have not measured any of them, and speeds on GPUs say nothing about them. So the program states only the speed that
physics allows at most.
"""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from gpuledger.extract.message import Message
from gpuledger.transform.identity.gpu import Gpu
from gpuledger.transform.sizing.errors import SizingError

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
            Message("model.bf16", engines=tuple(accelerator.engines))
            if accelerator.engines
            else Message("model.nothing_else_either")
        )
        raise SizingError(
            Message(
                "model.not_known_run",
                engine=engine,
                precision=precision,
                display_name=gpu.display_name,
                able=able,
                source=accelerator.source,
            )
        )
    if count not in accelerator.nodes:
        numbers = " or ".join(map(str, accelerator.nodes))
        raise SizingError(
            Message("model.bought_rented_machines_not", display_name=gpu.display_name, numbers=numbers, count=count)
        )
