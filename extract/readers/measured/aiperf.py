"""Results of NVIDIA's aiperf and of genai-perf before it: the summary of a run that they write as JSON.

The summary names model, load and lengths. It asks a server by its address, so it does not say which server, GPU or number
of GPUs.

Sources: ai-dynamo/aiperf, docs/tutorials/working-with-profile-exports.md; triton-inference-server/perf_analyzer, genai-perf.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gpuledger.extract.readers.measured.figure import MeasurementFile, Said, ServedRun, day, whole

FORMAT = "aiperf"


def is_row(row: Mapping[str, Any]) -> bool:
    """Return whether this is a summary of aiperf or genai-perf."""
    return "avg" in _part(row, "output_token_throughput")


def read_json(rows: Sequence[Mapping[str, Any]], said: Said) -> MeasurementFile:
    """Return the rate of written tokens of each run."""
    file = MeasurementFile(FORMAT)
    for number, row in enumerate(rows, start=1):
        settings = _part(row, "input_config")
        names = _part(settings, "endpoint").get("model_names") or settings.get("model") or settings.get("model_names")
        model = names[0] if isinstance(names, list) and names else names
        load = _part(settings, "loadgen") or _part(_part(settings, "perf_analyzer"), "stimulus") or settings
        rate = load.get("request_rate")
        run = ServedRun(
            server=said.software or "server", where=f"result {number}", rate=_part(row, "output_token_throughput")["avg"],
            model=str(model) if model else None, read=_tokens(row, "input_sequence_length"),
            written=_tokens(row, "output_sequence_length"), users=whole(load.get("concurrency")),
            load=f"{rate} requests/s" if rate else "as fast as possible", setting=f"r{rate}" if rate else "",
        )  # fmt: skip
        file.figures.append(run.figure(said, measured_on=day(row.get("start_time"))))
    return file


def _part(row: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    part = row.get(name)
    return part if isinstance(part, dict) else {}


def _tokens(row: Mapping[str, Any], name: str) -> int | None:
    mean = _part(row, name).get("avg")
    return round(mean) if isinstance(mean, int | float) and mean == mean else None
