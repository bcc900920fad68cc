"""Results of `vllm bench serve` and of SGLang's `bench_serving`, which grew from it: as JSON, JSON lines, and as printed.

The file names no GPU unless somebody gave it with `--metadata`, and SGLang's names no model. Its date is local and has no
time zone, so the reader takes the day as written. The printed block is what people paste where nothing else was kept; the
command or the arguments before it name the model.

Sources: vllm-project/vllm, vllm/benchmarks/serve.py; sgl-project/sglang, python/sglang/bench_serving.py.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

from gpuledger.extract.readers.measured.figure import Figure, MeasurementFile, Said, ServedRun, day, whole

FORMAT = "vLLM bench serve"
_GPU_KEYS = ("gpu", "gpu_name", "gpu_type", "hardware", "accelerator")
_COUNT_KEYS = ("gpu_count", "num_gpus")
#: The counts of cards that answer a request together, one after the other, and in copies of the model.
_PARALLEL = (("tensor_parallel_size", "tp"), ("pipeline_parallel_size", "pp"), ("data_parallel_size", "dp"))
#: The server that was measured, by the backend that the program was given, or by the metadata `server`: vLLM's program
#: measures other servers too.
_SERVERS = {
    "sglang": "SGLang", "sglang-native": "SGLang", "sglang-oai": "SGLang", "sglang-oai-chat": "SGLang", "tgi": "TGI",
    "tensorrt-llm": "TensorRT-LLM", "trt": "TensorRT-LLM", "lmdeploy": "LMDeploy", "deepspeed-mii": "DeepSpeed-MII",
    "scalellm": "ScaleLLM", "llama.cpp": "llama.cpp", "infinity-embeddings": "Infinity",
}  # fmt: skip
_BLOCK = re.compile(r"=+ Serving Benchmark Result =+\n(.*?)\n=+ *(?:\n|$)", re.DOTALL)
#: The labels of the printed block, and the names that the JSON has for them.
_LABELS = {
    "Backend": "backend", "Traffic request rate": "request_rate", "Request rate configured (RPS)": "request_rate",
    "Max request concurrency": "max_concurrency", "Maximum request concurrency": "max_concurrency",
    "Successful requests": "completed", "Failed requests": "failed", "Total input tokens": "total_input_tokens",
    "Total generated tokens": "total_output_tokens", "Output token throughput (tok/s)": "output_throughput",
}  # fmt: skip
#: The model, in the command or in the arguments that the program prints before its block.
_MODEL = re.compile(r"""--model[= ]+([^\s\\'"]+)|\bmodel=["']([^"']+)["']""")


def is_row(row: Mapping[str, Any]) -> bool:
    """Return whether this is a result of vLLM or SGLang."""
    return "output_throughput" in row and ("total_output_tokens" in row or "random_output_len" in row)


def is_text(text: str) -> bool:
    """Return whether the text has a block as the programs print it."""
    return _BLOCK.search(text) is not None


def read_text(text: str, said: Said) -> MeasurementFile:
    """Return the rate of written tokens of each printed block."""
    rows, before = [], 0
    for block in _BLOCK.finditer(text):
        lines = (line.rpartition(":") for line in block[1].splitlines())
        row: dict[str, Any] = {
            _LABELS[name.strip()]: value.strip() for name, _, value in lines if name.strip() in _LABELS
        }
        named = _MODEL.findall(text, before, block.start())
        if named:
            row["model_id"] = named[-1][0] or named[-1][1]
        rows.append(row)
        before = block.end()
    return read_json(rows, said)


def read_json(rows: Sequence[Mapping[str, Any]], said: Said) -> MeasurementFile:
    """Return the rate of written tokens of each run."""
    file = MeasurementFile(FORMAT)
    for number, row in enumerate(rows, start=1):
        where = f"result {number}"
        completed = whole(row.get("completed")) or 0
        if not completed and "total_output_tokens" in row:
            file.left_out.append(f"{where}: no request was completed")
            continue
        if failed := whole(row.get("failed")):
            file.left_out.append(
                f"{where}: {failed} of {failed + completed} requests failed; the rate is of the others"
            )
        file.figures.append(_figure(row, completed, said, where))
    return file


def _figure(row: Mapping[str, Any], completed: int, said: Said, where: str) -> Figure:
    # Without totals, the lengths that were asked for are limits, and requests may be shorter.
    read, written = (
        round((whole(row.get(key)) or 0) / completed) if completed else None
        for key in ("total_input_tokens", "total_output_tokens")
    )
    asked = f"{row.get('random_input_len')}-{row.get('random_output_len')}"
    rate = str(row.get("request_rate") or "inf").lower()
    load = "as fast as possible" if rate.startswith("inf") else f"{rate} requests/s"
    server = _SERVERS.get(str(row.get("server") or row.get("backend") or "").lower(), "vLLM")
    version = row.get("vllm_version") or row.get("version") or row.get("engine_version") or ""
    run = ServedRun(
        server=server, where=where, rate=row.get("output_throughput"),
        model=str(row.get("model_id") or row.get("model") or "") or None, read=read, written=written,
        users=whole(row.get("max_concurrency")), precision=str(row["dtype"]) if row.get("dtype") else None,
        software=f"{server} {version}".strip(), load=load if completed else f"{load}, up to {asked} tokens",
        setting=f"r{rate}" + ("" if completed else f"-{asked}"),
    )  # fmt: skip
    name = next((str(row[key]) for key in _GPU_KEYS if row.get(key)), None)
    return run.figure(said, gpu_name=name, gpu_count=_cards(row), measured_on=day(row.get("date")))


def _cards(row: Mapping[str, Any]) -> int | None:
    """Return the number of cards of the server, if somebody gave it with `--metadata`.

    It may be given as a count, or by the ways in which the cards share the work.
    """
    if (count := next((whole(row[key]) for key in _COUNT_KEYS if row.get(key)), None)) is not None:
        return count
    ways = [next((whole(row[key]) for key in keys if row.get(key)), None) for keys in _PARALLEL]
    # The number of copies or stages alone does not say how many cards each of them has.
    return None if ways[0] is None else prod(way or 1 for way in ways)
