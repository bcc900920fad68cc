"""Summaries of MLPerf Inference: summary.csv and summary.json of a round.

`Result` is of the whole system, so each figure is of `total_accelerators` cards. A second row of the same run in watts is
the power and not a speed. A latency is in seconds or in milliseconds, and less is better. `inferred` rows are not
measurements of their own. Quotes inside the values of the CSV are not escaped.

Source: mlcommons/inference, tools/submission/submission_checker.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from gpuledger.extract.readers.measured.figure import Figure, MeasurementFile, NotReadable, Said, amount, slug, whole

FORMAT = "MLPerf Inference summary"
_NEEDED = {"Organization", "MlperfModel", "Scenario", "Result", "Units", "accelerator_model_name", "total_accelerators"}


def is_row(row: Mapping[str, Any]) -> bool:
    """Return whether this is a row of a summary."""
    return row.keys() >= _NEEDED


def is_csv(text: str) -> bool:
    """Return whether the first line is a summary's header."""
    return set(next(csv.reader([text.split("\n", 1)[0].strip()]), [])) >= _NEEDED


def rows_of_csv(text: str) -> list[dict[str, str]]:
    """Return the rows of a summary whose values may contain quotes.

    Raises NotReadable if a line has more or fewer values than there are columns.
    """
    header, *lines = [line for line in text.splitlines() if line.strip()]
    names = next(csv.reader([header]))
    rows = []
    for number, line in enumerate(lines, start=2):
        cells = next(csv.reader([line]))
        if len(cells) != len(names):
            # A value ends at a quote that is followed by a comma or by the end of the line, whatever stands inside it.
            cells = [quoted or bare for quoted, bare in _CELL.findall(line + ",")]
        if len(cells) != len(names):
            raise NotReadable(
                f"line {number}: {len(cells)} values for {len(names)} columns; the JSON summary has the same rows"
            )
        rows.append(dict(zip(names, cells, strict=True)))
    return rows


_CELL = re.compile(r'"((?:[^"]|"(?!,))*)",|([^",]*),')


def read_json(rows: Sequence[Mapping[str, Any]], said: Said) -> MeasurementFile:
    """Return the figures of a summary: one for each system, model, scenario and unit."""
    file = MeasurementFile(FORMAT, claim="published")
    for number, row in enumerate(rows, start=1):
        where = f"row {number} ({row['Organization']}, {row.get('Platform') or row.get('SystemName')})"
        unit = str(row["Units"])
        if str(row.get("inferred")) in ("1", "1.0", "True"):
            file.left_out.append(f"{where}: inferred from another run, no measurement of its own")
            continue
        if "watt" in unit.lower() or "joule" in unit.lower():
            file.left_out.append(f"{where}: {unit} is the power of the run, not its speed")
            continue
        if not str(row["Result"] or "").strip():
            file.left_out.append(f"{where}: it has no result")
            continue
        count = whole(row["total_accelerators"])
        if not row["accelerator_model_name"] or not count:
            file.left_out.append(f"{where}: no accelerator")
            continue
        file.figures.append(_figure(row, unit, count, where))
    return file


def _figure(row: Mapping[str, Any], unit: str, count: int, where: str) -> Figure:
    score, is_time = amount(row["Result"], "Result", where), "latency" in unit.lower()
    if is_time and "ms" in unit.lower():
        score = score / Decimal(1000)
    score_unit = "s" if is_time else unit.lower()
    version, division = str(row.get("version") or ""), str(row.get("Division") or "")
    model, scenario = str(row["MlperfModel"]), str(row["Scenario"])
    kind = "" if division == "closed" else division
    cards = f"{count} card{'s' if count > 1 else ''}"
    return Figure(
        workload_id=slug("mlperf", version, model, scenario, kind, f"{count}x"),
        workload=f"MLPerf Inference {version} {model}, {scenario}{f', {kind}' if kind else ''}, {cards}",
        unit=score_unit, score=score, gpu_name=str(row["accelerator_model_name"]), gpu_count=count,
        direction="less" if is_time else "more", model=model, precision=str(row.get("weight_data_types") or "") or None,
        software=str(row.get("framework") or "")[:120] or None, measured_by=str(row["Organization"]), where=where,
    )  # fmt: skip
