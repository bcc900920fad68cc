"""`vllm bench serve --save-result`: one JSON object a run, or JSON lines where results were appended.

The file names no GPU unless somebody gave it with `--metadata`. Its date is local and has no zone, so its day is taken as it
stands. Source: vllm-project/vllm, vllm/benchmarks/serve.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gpuledger.extract.readers.measured.figure import Figure, Taken, amount, day, slug, whole

FORMAT = "vLLM bench serve"
_GPU_KEYS = ("gpu", "gpu_name", "gpu_type", "hardware", "accelerator")
_COUNT_KEYS = ("gpu_count", "num_gpus", "tensor_parallel_size", "tp")


def is_json(rows: Any) -> bool:
    """Whether these are results of vLLM."""
    return (
        isinstance(rows, list)
        and bool(rows)
        and all(isinstance(row, dict) and "output_throughput" in row and "total_output_tokens" in row for row in rows)
    )


def read_json(rows: Sequence[Mapping[str, Any]]) -> Taken:
    """The rate of written tokens of each run."""
    taken = Taken(FORMAT)
    for number, row in enumerate(rows, start=1):
        where = f"result {number}"
        completed = whole(row.get("completed")) or 0
        if not completed:
            taken.left_out.append(f"{where}: no request was completed")
            continue
        read, written = (
            round((whole(row.get(key)) or 0) / completed) for key in ("total_input_tokens", "total_output_tokens")
        )
        users = whole(row.get("max_concurrency"))
        rate = (
            "as fast as possible" if str(row.get("request_rate")) == "inf" else f"{row.get('request_rate')} requests/s"
        )
        load = f"at most {users} at once" if users else rate
        if failed := whole(row.get("failed")):
            taken.left_out.append(
                f"{where}: {failed} of {failed + completed} requests failed; the rate is of the others"
            )
        model = str(row.get("model_id") or "")
        setting = f"c{users}" if users else f"r{row.get('request_rate')}"
        given = next((str(row[key]) for key in _GPU_KEYS if row.get(key)), None)
        count = next((whole(row[key]) for key in _COUNT_KEYS if row.get(key)), None)
        taken.figures.append(
            Figure(
                workload_id=slug("vllm", model.rpartition("/")[2], f"{read}-{written}", setting),
                workload=f"{model}, served by vLLM: {read} tokens read and {written} written a request, {load}",
                unit="tokens/s", score=amount(row["output_throughput"], "output_throughput", where), gpu_name=given,
                gpu_count=count, is_single_stream=users == 1, model=model,
                precision=str(row["dtype"]) if row.get("dtype") else None,
                software=f"vLLM {row.get('vllm_version') or ''}".strip(), context_tokens=read + written,
                concurrent_users=users, measured_on=day(row.get("date")), where=where,
            )
        )  # fmt: skip
    return taken
