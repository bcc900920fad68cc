"""Results of `vllm bench serve --save-result`: one JSON object for a run, or JSON lines if results were appended.

The file names no GPU unless somebody gave it with `--metadata`. Its date is local and has no time zone, so the reader takes
the day as written. Source: vllm-project/vllm, vllm/benchmarks/serve.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

from gpuledger.extract.readers.measured.figure import Figure, MeasurementFile, amount, day, slug, whole

FORMAT = "vLLM bench serve"
_GPU_KEYS = ("gpu", "gpu_name", "gpu_type", "hardware", "accelerator")
_COUNT_KEYS = ("gpu_count", "num_gpus")
#: The counts of cards that answer a request together, one after the other, and in copies of the model.
_PARALLEL = (("tensor_parallel_size", "tp"), ("pipeline_parallel_size", "pp"), ("data_parallel_size", "dp"))
#: The server that was measured, by the backend that the program was given: vLLM's program measures other servers too.
_SERVERS = {
    "sglang": "SGLang", "sglang-native": "SGLang", "sglang-oai": "SGLang", "sglang-oai-chat": "SGLang", "tgi": "TGI",
    "tensorrt-llm": "TensorRT-LLM", "trt": "TensorRT-LLM", "lmdeploy": "LMDeploy", "deepspeed-mii": "DeepSpeed-MII",
    "scalellm": "ScaleLLM", "llama.cpp": "llama.cpp", "infinity-embeddings": "Infinity",
}  # fmt: skip


def is_json(rows: Any) -> bool:
    """Return whether these are results of vLLM."""
    return (
        isinstance(rows, list)
        and bool(rows)
        and all(isinstance(row, dict) and "output_throughput" in row and "total_output_tokens" in row for row in rows)
    )


def read_json(rows: Sequence[Mapping[str, Any]]) -> MeasurementFile:
    """Return the rate of written tokens of each run."""
    file = MeasurementFile(FORMAT)
    for number, row in enumerate(rows, start=1):
        where = f"result {number}"
        completed = whole(row.get("completed")) or 0
        if not completed:
            file.left_out.append(f"{where}: no request was completed")
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
            file.left_out.append(
                f"{where}: {failed} of {failed + completed} requests failed; the rate is of the others"
            )
        model = str(row.get("model_id") or "")
        setting = f"c{users}" if users else f"r{row.get('request_rate')}"
        gpu_name = next((str(row[key]) for key in _GPU_KEYS if row.get(key)), None)
        server = _SERVERS.get(str(row.get("backend") or "").lower(), "vLLM")
        version = row.get("vllm_version") or row.get("version") or row.get("engine_version") or ""
        file.figures.append(
            Figure(
                workload_id=slug(server, model.rpartition("/")[2], f"{read}-{written}", setting),
                # Without a model there is no workload yet: the program asks the person for one.
                workload=f"{model}, served by {server}: {read} tokens read and {written} written a request, {load}"
                if model else "",
                unit="tokens/s", score=amount(row["output_throughput"], "output_throughput", where), gpu_name=gpu_name,
                gpu_count=_cards(row), is_single_stream=users == 1, is_written=True, model=model or None,
                precision=str(row["dtype"]) if row.get("dtype") else None,
                software=f"{server} {version}".strip(), context_tokens=read + written, prompt_tokens=read,
                concurrent_users=users, measured_on=day(row.get("date")), where=where,
            )
        )  # fmt: skip
    return file


def _cards(row: Mapping[str, Any]) -> int | None:
    """Return the number of cards of the server, if somebody gave it with `--metadata`.

    It may be given as a count, or by the ways in which the cards share the work.
    """
    if (count := next((whole(row[key]) for key in _COUNT_KEYS if row.get(key)), None)) is not None:
        return count
    ways = [next((whole(row[key]) for key in keys if row.get(key)), None) for keys in _PARALLEL]
    # The number of copies or stages alone does not say how many cards each of them has.
    return None if ways[0] is None else prod(way or 1 for way in ways)
