"""Results of InferenceX (formerly InferenceMAX): agg_bmk.json of a run, and rows of its API.

Rates are of one GPU. The API's `num_*_gpu` is tensor parallelism times expert parallelism, which is several times too high.
So the number of cards is tp × pp × pcp_size, or if prefill and decode run on separate GPUs, the GPUs of both.

Source: SemiAnalysisAI/InferenceX, utils/process_result.py, docs/results-and-ingestion.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gpuledger.extract.readers.measured.figure import Figure, MeasurementFile, Said, amount, day, slug, whole

FORMAT = "InferenceX"
#: Cards that are sold in two forms, and the form that the benchmark runs on: https://inferencex.semianalysis.com/gpu-specs.
FORMS = {"H100": "H100 SXM", "H200": "H200 SXM"}

#: What the benchmark calls a program that has another name.
_PROGRAMS = {"trt": "TensorRT-LLM", "trtllm": "TensorRT-LLM"}


def is_row(row: Mapping[str, Any]) -> bool:
    """Return whether this is a result of a run or a row of the API."""
    return "conc" in row and ("hw" in row or "hardware" in row) and ("isl" in row or "output_tput_per_gpu" in row)


def read_json(rows: Sequence[Mapping[str, Any]], said: Said) -> MeasurementFile:
    """Return for each row the rate of written tokens of all its cards together. Early runs do not state the lengths."""
    file = MeasurementFile(FORMAT, claim="published")
    for number, row in enumerate(rows, start=1):
        measures = {**row, **(row.get("metrics") or {})}
        hardware = str(row.get("hw") or row.get("hardware"))
        where = f"row {number} ({hardware}, {row.get('conc')} at once)"
        count, rate = cards_of(measures), measures.get("output_tput_per_gpu")
        if rate is None or count is None:
            file.left_out.append(f"{where}: no output_tput_per_gpu, or no count of cards that can be trusted")
            continue
        model = str(row.get("model") or row.get("infmax_model_prefix"))
        prefix = str(row.get("infmax_model_prefix") or model).rpartition("/")[2]
        precision, framework = str(row.get("precision") or ""), str(row.get("framework") or "")
        framework = _PROGRAMS.get(framework, framework)
        speculative = str(row.get("spec_decoding") or row.get("spec_method") or "none")
        read, written = whole(row.get("isl")) or said.input or 0, whole(row.get("osl")) or said.output or 0
        missing = tuple(name for name, tokens in (("--input", read), ("--output", written)) if not tokens)
        lengths, cards = f"{read}-{written}", f"{count} card{'s' if count > 1 else ''}"
        extra = None if speculative == "none" else speculative
        several = "" if str(row["conc"]) == "1" else "s"
        load = f"{read} tokens read and {written} written, {row['conc']} request{several} at once"
        file.figures.append(
            Figure(
                workload_id=slug("inferencex", prefix, precision, lengths, f"c{row['conc']}", extra, f"{count}x"),
                workload=f"{model} {precision}, {load}, {cards}",
                unit="tokens/s", score=amount(rate, "output_tput_per_gpu", where) * count,
                gpu_name=FORMS.get(name := hardware.split("-")[0].split("_")[0].upper(), name), gpu_count=count,
                is_single_stream=str(row["conc"]) == "1" and count == 1, is_written=True,
                model=model, precision=precision or None, software=f"{framework} {row.get('image') or ''}".strip() or None,
                context_tokens=read + written or None, prompt_tokens=read or None, concurrent_users=whole(row["conc"]),
                measured_on=day(row.get("date")), measured_by="InferenceX", missing=missing, where=where,
            )
        )  # fmt: skip
    return file


def cards_of(row: Mapping[str, Any]) -> int | None:
    """Return the number of cards of the system. If prefill and decode run on separate cards, count both."""
    if row.get("disagg") in (True, "true", "True") or row.get("is_multinode") in (True, "true", "True"):
        parts = [whole(row.get("num_prefill_gpu")), whole(row.get("num_decode_gpu"))]
        return sum(part or 0 for part in parts) or None
    tensor = whole(row.get("tp")) or whole(row.get("prefill_tp")) or whole(row.get("decode_tp"))
    if tensor is None:
        return None
    return tensor * (whole(row.get("pp")) or 1) * (whole(row.get("pcp_size")) or 1)
