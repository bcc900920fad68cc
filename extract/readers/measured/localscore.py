"""Results of LocalScore, as its program sends and saves them: a run with one row for each test.

A run names the one GPU that it used. A test reads a prompt and then writes, and it has a separately timed rate for each. The
lists of LocalScore's API are not read: they hold averages over all tests of a run, and do not say how long the tests were.

Source: cjpais/LocalScore, src/pages/api/results.ts, src/db/schema.ts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gpuledger.extract.readers.measured.figure import Figure, MeasurementFile, Said, amount, quantisation, slug, whole

FORMAT = "LocalScore"


def is_row(row: Mapping[str, Any]) -> bool:
    """Return whether this is a run of LocalScore."""
    return isinstance(row.get("accelerator_info"), dict) and isinstance(row.get("results"), list)


def read_json(runs: Sequence[Mapping[str, Any]], said: Said) -> MeasurementFile:
    """Return both rates of each test of each run."""
    file = MeasurementFile(FORMAT)
    for run, row in enumerate(runs, start=1):
        accelerator, runtime = row["accelerator_info"], row.get("runtime_info") or {}
        for number, test in enumerate(row["results"], start=1):
            where = f"run {run}, result {number}"
            if str(accelerator.get("type") or "GPU").upper() != "GPU":
                file.left_out.append(f"{where}: it ran on {accelerator.get('name')!r}, which is no GPU")
                continue
            if not isinstance(test, Mapping):
                file.left_out.append(f"{where}: no result of a test")
                continue
            file.figures += _figures(test, accelerator, runtime, where)
    return file


def _figures(
    test: Mapping[str, Any], accelerator: Mapping[str, Any], runtime: Mapping[str, Any], where: str
) -> list[Figure]:
    prompt, answer = whole(test.get("n_prompt")) or 0, whole(test.get("n_gen")) or 0
    model, quantised = str(test.get("model_name") or ""), quantisation(str(test.get("model_quant_str") or ""))
    software = " ".join(str(part) for part in (runtime.get("name") or FORMAT, runtime.get("version")) if part)
    figures = []
    for key, tokens, is_prompt in (("prompt_tps", prompt, True), ("gen_tps", answer, False)):
        if not tokens or not test.get(key):
            continue
        kind = "of prompt read" if is_prompt else f"written after {prompt}" if prompt else "written"
        name = f"pp{tokens}" if is_prompt else f"tg{tokens}"
        figures.append(
            Figure(
                workload_id=slug("localscore", model, quantised, name, f"d{prompt}" if prompt and not is_prompt else None),
                workload=f"{model} {quantised or ''}".strip() + f", {tokens} tokens {kind}", unit="tokens/s",
                score=amount(test[key], key, where), gpu_name=str(accelerator.get("name") or "") or None, gpu_count=1,
                is_single_stream=not is_prompt, model=model, precision=quantised, software=software,
                context_tokens=tokens if is_prompt else prompt + tokens, where=where,
            )
        )  # fmt: skip
    return figures
