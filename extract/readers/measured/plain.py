"""A plain CSV of figures, with one row for each figure and columns by name.

The program also stores the figures of all other formats in this form.

Spreadsheets write such a CSV in many ways: with other names of columns, semicolons and decimal commas, days in the form of a
country. The reader accepts a text that can be read in one way only, and refuses one that may mean two numbers or two days.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import date
from decimal import Decimal, InvalidOperation
from typing import Any

from gpuledger.extract.readers.measured.figure import (
    Figure,
    MeasurementFile,
    NotReadable,
    StoredFigure,
    amount,
    day,
    whole,
)

FORMAT = "CSV"
NEEDED = ("workload_id", "gpu_name", "score", "unit")
COLUMNS = (
    *NEEDED, "gpu_count", "claim", "model", "precision", "software", "batch_size", "context_tokens", "prompt_tokens",
    "concurrent_users",    "measured_on", "measured_by", "place", "origin", "origin_sha256",
)  # fmt: skip
#: The columns of counts that may be empty.
_COUNTS = ("batch_size", "context_tokens", "prompt_tokens", "concurrent_users")
CLAIMS = ("own", "published", "vendor")
#: Other names that people give the columns, in small letters and with underscores for spaces.
_OTHER_NAMES = {
    "workload_id": ("workload", "benchmark", "워크로드", "벤치마크"),
    "gpu_name": ("gpu", "card", "graphics_card", "그래픽카드", "그래픽_카드", "gpu_이름"),
    "score": ("result", "점수", "측정값", "결과"),
    "unit": ("units", "단위"),
    "gpu_count": ("count", "gpus", "cards", "개수", "수량", "gpu_수", "gpu_개수"),
    "claim": ("구분",),
    "model": ("모델",),
    "precision": ("정밀도", "양자화"),
    "software": ("engine", "소프트웨어", "엔진"),
    "batch_size": ("batch", "배치", "배치_크기"),
    "context_tokens": ("context", "컨텍스트"),
    "prompt_tokens": ("prompt", "input", "프롬프트", "입력"),
    "concurrent_users": ("users", "concurrency", "사용자", "동시_사용자"),
    "measured_on": ("date", "day", "날짜", "측정일"),
    "measured_by": ("by", "측정자"),
}
_NAMES = {other: name for name, others in _OTHER_NAMES.items() for other in others}
#: Columns of which tables of this program with a `gpu_id` have one, and that nobody types.
_OF_OURS = {"rank", "match_status", "price_basis"}
#: A first line of a file, in which Excel may name the separator of columns.
_SEPARATOR = re.compile(r"^sep=(.)\r?\n", re.IGNORECASE)


def is_csv(text: str) -> bool:
    """Return whether the first line names the columns that a figure needs, by any of their names."""
    return set(NEEDED) <= set(_header(text))


def _header(text: str) -> list[str]:
    delimiter, text = _parts(text)
    return [_column(name) for name in next(csv.reader([text.split("\n", 1)[0].strip()], delimiter=delimiter), [])]


def _column(name: str | None) -> str:
    """Return the name of a column for the name that somebody gave it."""
    plain = re.sub(r"[\s_-]+", "_", (name or "").strip().lower())
    return _NAMES.get(plain, plain)


def _parts(text: str) -> tuple[str, str]:
    """Return the separator of columns, and the text from the header on.

    Spreadsheets of many countries separate columns by semicolons, since the comma is their decimal point.
    """
    match = _SEPARATOR.match(text)
    if match is not None:
        return match[1], text[match.end() :]
    return max(",;\t", key=text.split("\n", 1)[0].count), text


def read_csv(text: str) -> MeasurementFile:
    """Return the figures of a person's CSV. Raises NotReadable, naming the line."""
    if "gpu_id" in _header(text) and _OF_OURS & set(_header(text)):
        raise NotReadable("this is a table that this program wrote, and its figures are in the warehouse already")
    file = MeasurementFile(FORMAT)
    rows = [(number, row) for number, row in _rows(text) if any(row.values())]
    numbers = _Numbers([row["score"] for _, row in rows], _parts(text)[0])
    for number, row in rows:
        where = f"line {number}"
        for name in NEEDED:
            if not row[name]:
                raise NotReadable(f"{where}: {name} is empty")
        claim = row.get("claim") or None
        if claim is not None and claim.lower() not in CLAIMS:
            raise NotReadable(f"{where}: claim is {', '.join(CLAIMS)} or empty, not {claim!r}")
        counts: dict[str, Any] = {name: _count(row, name, where) for name in _COUNTS}
        file.figures.append(
            Figure(
                workload_id=row["workload_id"], workload="", unit=row["unit"], score=numbers.amount(row["score"], where),
                gpu_name=row["gpu_name"], gpu_count=_count(row, "gpu_count", where), model=row.get("model") or None,
                precision=row.get("precision") or None, software=row.get("software") or None,
                measured_on=_day(row.get("measured_on"), where),
                measured_by=row.get("measured_by") or None, claim=claim.lower() if claim else None, where=where,
                **counts,
            )
        )  # fmt: skip
    return file


def _count(row: Mapping[str, str], name: str, where: str) -> int | None:
    """Return a whole number from 1 on; None for an empty or missing cell. Raises NotReadable for any other text."""
    text = row.get(name)
    if not text:
        return None
    count = whole(text)
    if count is None or count < 1:
        raise NotReadable(f"{where}: {name} must be a whole number from 1 on, not {text!r}")
    return count


class _Numbers:
    """The numbers of one column. Together they show whether a comma or a point stands before the decimals."""

    def __init__(self, texts: Iterable[str], delimiter: str) -> None:
        signs = {sign for text in texts if (sign := _decimal_sign(_bare(text)))}
        self.sign = signs.pop() if len(signs) == 1 else None
        # If commas separate columns, no comma is a decimal point.
        self.is_open = delimiter != "," and self.sign is None

    def amount(self, text: str, where: str) -> Decimal:
        """Return the number of a cell. Raises NotReadable if the cell is not a number, or may be two numbers."""
        bare = _bare(text)
        sign = _decimal_sign(bare) or self.sign
        if sign is None and _MAY_BE_TWO.fullmatch(bare):
            if self.is_open:
                whole_number, part = re.split("[.,]", bare)
                raise NotReadable(
                    f"{where}: score {text!r} may be {whole_number}{part} or {whole_number}.{part}: write it without a sign "
                    "between thousands, or with another count of decimals"
                )
            sign = "."
        if sign == "," and re.fullmatch(r"\d+,\d+|\d{1,3}(\.\d{3})+(,\d+)?", bare):
            bare = bare.replace(".", "").replace(",", ".")
        elif re.fullmatch(r"\d{1,3}(,\d{3})+(\.\d+)?", bare):
            bare = bare.replace(",", "")
        return amount(bare, "score", where)


def _bare(text: str) -> str:
    """Return a number without spaces between its thousands."""
    return re.sub(r"(?<=\d)[ \u00a0\u202f](?=\d{3}\b)", "", text)


#: A number whose only sign stands before its last three digits: the sign may separate thousands or decimals.
_MAY_BE_TWO = re.compile(r"[1-9]\d{0,2}[.,]\d{3}")


def _decimal_sign(text: str) -> str | None:
    """Return the sign before the decimals of a number, if that is certain; None for a number that does not show it."""
    if "," in text and "." in text:
        return max(",.", key=text.rfind)
    for sign, opposite in ((",", "."), (".", ",")):
        if text.count(sign) > 1:
            return opposite
        if sign in text and not _MAY_BE_TWO.fullmatch(text):
            return sign
    return None


def _day(text: str | None, where: str) -> date | None:
    """Return the day of a cell: ISO, 2026. 11. 2., 2026/11/2, 2.11.2026, or 11/25/2026 if only one order is a day."""
    if not text:
        return None
    parts = [int(part) for part in re.findall(r"\d+", text)]
    orders: list[tuple[int, int, int]] = []
    if re.fullmatch(r"\d{4}([./-])\s?\d{1,2}\1\s?\d{1,2}\.?", text):
        orders = [(parts[0], parts[1], parts[2])]
    elif re.fullmatch(r"\d{1,2}\.\s?\d{1,2}\.\s?\d{4}", text):
        orders = [(parts[2], parts[1], parts[0])]
    elif re.fullmatch(r"\d{1,2}/\d{1,2}/\d{4}", text):
        orders = [(parts[2], parts[0], parts[1]), (parts[2], parts[1], parts[0])]
    days = {candidate for order in orders if (candidate := day("{:04}-{:02}-{:02}".format(*order)))}
    if not orders and (iso_day := day(text)):
        days = {iso_day}
    if len(days) != 1:
        why = f"may be {' or '.join(map(str, sorted(days)))}" if days else "is no day"
        raise NotReadable(f"{where}: measured_on {text!r} {why}: write it as 2026-11-25")
    return days.pop()


def _rows(text: str) -> Iterable[tuple[int, Mapping[str, str]]]:
    delimiter, from_header = _parts(text)
    before = text[: len(text) - len(from_header)].count("\n")
    rows = csv.DictReader(io.StringIO(from_header, newline=""), skipinitialspace=True, delimiter=delimiter)
    names = [_column(name) for name in rows.fieldnames or ()]
    if twice := sorted(name for name, times in Counter(names).items() if name and times > 1):
        raise NotReadable(f"two columns are {' and '.join(twice)}: leave one")
    try:
        for row in rows:
            if None in row or None in row.values():
                raise NotReadable(f"line {rows.line_num + before}: not as many values as the header has columns")
            yield rows.line_num + before, {_column(name): (value or "").strip() for name, value in row.items()}
    except csv.Error as error:
        raise NotReadable(f"line {rows.line_num + before}: {error}") from None


def write(figures: Iterable[StoredFigure]) -> bytes:
    """Return figures as a CSV that `read_stored` reads."""
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for figure in figures:
        cells = (getattr(figure, "where" if name == "place" else name) for name in COLUMNS)
        writer.writerow("" if cell is None else f"{cell:f}" if isinstance(cell, Decimal) else cell for cell in cells)
    return out.getvalue().encode()


def read_stored(content: bytes) -> list[StoredFigure]:
    """Return the figures of a file that `write` wrote. Raises NotReadable, naming the line, if somebody edited it badly."""
    text = content.decode("utf-8-sig")
    header = set(_header(text))
    if missing := [name for name in COLUMNS if name not in header]:
        raise NotReadable(f"no column {', '.join(missing)}; take the measurement in again")
    figures = []
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
        counts: dict[str, Any] = {name: whole(row[name]) for name in _COUNTS}
        figures.append(
            StoredFigure(
                workload_id=row["workload_id"], workload="", gpu_name=row["gpu_name"], score=score, unit=row["unit"],
                gpu_count=count, claim=row["claim"], measured_on=measured_on, measured_by=row["measured_by"] or None,
                model=row["model"] or None, precision=row["precision"] or None, software=row["software"] or None,
                where=row["place"], origin=row["origin"], origin_sha256=row["origin_sha256"],
                **counts,
            )
        )  # fmt: skip
    return figures
