"""A plain CSV of figures: one row each, columns by name. It is also how figures of every format are kept."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal, InvalidOperation

from gpuledger.extract.readers.measured.figure import Figure, NotReadable, Taken, amount, day, whole

FORMAT = "CSV"
NEEDED = ("workload_id", "gpu_name", "score", "unit")
COLUMNS = (
    *NEEDED, "gpu_count", "claim", "model", "precision", "software", "batch_size", "context_tokens", "concurrent_users",
    "measured_on", "measured_by", "place", "origin", "origin_sha256",
)  # fmt: skip
CLAIMS = ("own", "published", "vendor")


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """One figure as it is kept: complete, with whose it is and the file that it came from."""

    workload_id: str
    gpu_name: str
    score: Decimal
    unit: str
    gpu_count: int
    claim: str
    model: str | None
    precision: str | None
    software: str | None
    batch_size: int | None
    context_tokens: int | None
    concurrent_users: int | None
    measured_on: date
    measured_by: str | None
    place: str
    origin: str
    origin_sha256: str


def is_csv(text: str) -> bool:
    """Whether the first line names the columns that a figure needs."""
    return set(NEEDED) <= set(_header(text))


def _header(text: str) -> list[str]:
    first = text.split("\n", 1)[0].strip()
    return [name.strip() for name in next(csv.reader([first], delimiter=_delimiter(first)), [])]


def _delimiter(first: str) -> str:
    """What separates the columns: spreadsheets of many countries write semicolons, as the comma is their decimal point."""
    return max(",;\t", key=first.count)


def read(text: str) -> Taken:
    """The figures of a person's CSV."""
    taken = Taken(FORMAT)
    for number, row in _rows(text):
        where = f"line {number}"
        count = row.get("gpu_count") or "1"
        if whole(count) is None or int(whole(count) or 0) < 1:
            raise NotReadable(f"{where}: gpu_count must be a whole number from 1 on, not {count!r}")
        for name in ("workload_id", "gpu_name", "unit"):
            if not row[name]:
                raise NotReadable(f"{where}: {name} is empty")
        taken.figures.append(
            Figure(
                workload_id=row["workload_id"], workload="", unit=row["unit"], score=amount(row["score"], "score", where),
                gpu_name=row["gpu_name"], gpu_count=whole(count), model=row.get("model") or None,
                precision=row.get("precision") or None, software=row.get("software") or None,
                batch_size=whole(row.get("batch_size")), context_tokens=whole(row.get("context_tokens")),
                concurrent_users=whole(row.get("concurrent_users")), measured_on=day(row.get("measured_on")),
                measured_by=row.get("measured_by") or None, where=where,
            )
        )  # fmt: skip
    return taken


def _rows(text: str) -> Iterable[tuple[int, Mapping[str, str]]]:
    delimiter = _delimiter(text.split("\n", 1)[0])
    rows = csv.DictReader(io.StringIO(text, newline=""), skipinitialspace=True, delimiter=delimiter)
    for row in rows:
        if None in row or None in row.values():
            raise NotReadable(f"line {rows.line_num}: not as many values as the header has columns")
        yield rows.line_num, {(name or "").strip(): (value or "").strip() for name, value in row.items()}


def write(kept: Iterable[Kept]) -> bytes:
    """Figures as a CSV that `read_kept` reads."""
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for one in kept:
        cells = (getattr(one, name) for name in COLUMNS)
        writer.writerow("" if cell is None else f"{cell:f}" if isinstance(cell, Decimal) else cell for cell in cells)
    return out.getvalue().encode()


def read_kept(content: bytes) -> list[Kept]:
    """The figures of a file that `write` wrote. Raises NotReadable, naming the line, where somebody edited it badly."""
    text = content.decode("utf-8-sig")
    if missing := [name for name in COLUMNS if name not in _header(text)]:
        raise NotReadable(f"no column {', '.join(missing)}; take the measurement in again")
    found = []
    for number, row in _rows(text):
        where = f"line {number}"
        measured_on, count = day(row["measured_on"]), whole(row["gpu_count"])
        if (
            measured_on is None
            or not count
            or row["claim"] not in CLAIMS
            or not row["workload_id"]
            or not row["gpu_name"]
        ):
            raise NotReadable(f"{where}: workload_id, gpu_name, gpu_count, claim or measured_on is missing or wrong")
        try:
            score = amount(row["score"], "score", where)
        except InvalidOperation:
            raise NotReadable(f"{where}: score {row['score']!r} has too many digits") from None
        found.append(
            Kept(
                workload_id=row["workload_id"], gpu_name=row["gpu_name"], score=score, unit=row["unit"], gpu_count=count,
                claim=row["claim"], model=row["model"] or None, precision=row["precision"] or None,
                software=row["software"] or None, batch_size=whole(row["batch_size"]),
                context_tokens=whole(row["context_tokens"]), concurrent_users=whole(row["concurrent_users"]),
                measured_on=measured_on, measured_by=row["measured_by"] or None, place=row["place"], origin=row["origin"],
                origin_sha256=row["origin_sha256"],
            )
        )  # fmt: skip
    return found
