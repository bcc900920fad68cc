"""A published table of LLaMA 3 under llama.cpp on 1 to 8 cards (`llama3_llama_cpp_*.csv`), row by row."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from gpuledger.transform.identity.catalogue import by_id
from gpuledger.transform.identity.gpu import Gpu
from gpuledger.transform.identity.resolver import Resolver

#: Tokens that the publisher read and wrote in each run.
TOKENS = 1024
MODELS = {"8B": "llama-3-8b", "70B": "llama-3-70b"}


@dataclass(frozen=True, slots=True)
class TableRow:
    """One cell: `tokens_per_s` is None where the model did not fit."""

    measure: str
    printed: str
    gpu: Gpu
    count: int
    model_id: str
    precision: str
    tokens_per_s: float | None


def read_table(path: Path, resolver: Resolver) -> Iterator[TableRow]:
    """Every row of the table. Raises ValueError for a card that the name does not decide."""
    with path.open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines):
            gpu_id = resolver.resolve(row["gpu"]).gpu_id
            if gpu_id is None:
                raise ValueError(f"{path.name}: which card is {row['gpu']!r}?")
            model, precision = row["model_and_precision"].split()
            printed = row["tokens_per_s"]
            yield TableRow(
                row["measure"], row["gpu"], by_id()[gpu_id], int(row["gpu_count"]), MODELS[model], precision,
                None if printed == "OOM" else float(printed),
            )  # fmt: skip
