"""Results of `vllm bench throughput` and `vllm bench latency`, which name no model, no card and no lengths.

The throughput is of read and written tokens together, so it becomes a rate of written tokens only with the lengths of a
request. A latency is the time of one batch. Source: vllm-project/vllm, benchmarks/benchmark_throughput.py,
benchmark_latency.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gpuledger.extract.readers.measured.figure import Figure, MeasurementFile, Said, ServedRun, amount

FORMAT = "vLLM bench throughput and latency"
_THROUGHPUT, _LATENCY = {"requests_per_second", "tokens_per_second", "elapsed_time"}, {"avg_latency", "latencies"}


def is_row(row: Mapping[str, Any]) -> bool:
    """Return whether this is a result of either program."""
    return row.keys() >= _THROUGHPUT or row.keys() >= _LATENCY


def read_json(rows: Sequence[Mapping[str, Any]], said: Said) -> MeasurementFile:
    """Return the rate of written tokens of each run. What it follows from and is not said is named in `missing`."""
    file = MeasurementFile(FORMAT)
    for number, row in enumerate(rows, start=1):
        where, is_latency = f"result {number}", "avg_latency" in row
        needed = {"--model": said.model, "--output": said.output, "--input": said.input}
        if is_latency:
            needed["--users"] = said.users
        file.figures.append(_figure(row, said, where, tuple(name for name, value in needed.items() if not value)))
    return file


def _figure(row: Mapping[str, Any], said: Said, where: str, missing: tuple[str, ...]) -> Figure:
    written = said.output or 1
    if "avg_latency" in row:
        rate = (said.users or 1) * written / amount(row["avg_latency"], "avg_latency", where)
    else:
        rate = amount(row["requests_per_second"], "requests_per_second", where) * written
    run = ServedRun(server="vLLM", where=where, rate=rate, load="all requests given at once", setting="offline")
    return run.figure(said, missing=missing)
