"""Measurements that users of llmfit share: one file of a machine, with the mean rate of each model.

Source: AlexsJones/llmfit, its community data (schemaVersion 1). A rate is tokens written in the time of the whole answer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from gpuledger.extract.readers.measured.figure import Figure, MeasurementFile, Said, amount, slug, whole
from gpuledger.extract.readers.measured.llama_bench import precision_of_file

FORMAT = "llmfit"
_PROGRAMS = {"llamacpp": "llama.cpp"}


def is_row(row: Mapping[str, Any]) -> bool:
    """Return whether this is a shared measurement of llmfit."""
    return isinstance(row.get("hardware"), dict) and isinstance(row.get("results"), list)


def read_json(rows: Sequence[Mapping[str, Any]], said: Said) -> MeasurementFile:
    """Return the rate of each model on the GPU of each machine."""
    file = MeasurementFile(FORMAT, claim="published")
    for number, row in enumerate(rows, start=1):
        hardware, shared = row["hardware"], whole(row.get("submittedAtUnix"))
        kind = str(hardware.get("hwClass") or "")
        for at, result in enumerate(row["results"], start=1):
            where = f"file {number}, result {at}"
            if not isinstance(result, Mapping) or not result.get("avgTps"):
                file.left_out.append(f"{where}: no rate")
            elif not hardware.get("gpuCount") or kind.startswith("CPU"):
                file.left_out.append(f"{where}: it ran on the processor")
            else:
                on = datetime.fromtimestamp(shared, UTC).date() if shared else None
                file.figures.append(_figure(result, hardware, where, on))
    return file


def _figure(result: Mapping[str, Any], hardware: Mapping[str, Any], where: str, on: Any) -> Figure:
    model = str(result.get("model") or "").removesuffix(".gguf")
    program = str(result.get("provider") or "")
    memory = hardware.get("ramGb") if hardware.get("unifiedMemory") else hardware.get("vramGb")
    return Figure(
        workload_id=slug("llmfit", model), workload=f"{model}, one answer written", unit="tokens/s",
        score=amount(result["avgTps"], "avgTps", where), gpu_name=str(hardware.get("hardwareName") or "") or None,
        gpu_count=whole(hardware.get("gpuCount")), is_single_stream=True, model=model,
        precision=precision_of_file(model), software=_PROGRAMS.get(program, program) or None, measured_on=on,
        device_gb=float(memory) if isinstance(memory, int | float) else None, where=where,
    )  # fmt: skip
