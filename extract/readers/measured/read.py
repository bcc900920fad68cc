"""Reader of a file of any of the formats: it recognises the format."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from gpuledger import local_files
from gpuledger.extract.readers.measured import (
    aiperf,
    inferencex,
    llama_bench,
    llmfit,
    mlperf,
    ollama,
    plain,
    vllm_offline,
    vllm_serve,
)
from gpuledger.extract.readers.measured.figure import NOTHING, Figure, MeasurementFile, NotReadable, Said

__all__ = ["Figure", "MeasurementFile", "NotReadable", "Said", "read_figures"]

FORMATS = (
    "llama-bench (JSON, CSV or Markdown), vLLM bench (serve, throughput, latency), SGLang bench_serving, aiperf, ollama run"
    " --verbose, llmfit, an MLPerf Inference summary, InferenceX, or a CSV with columns"
)


class _OfJson(Protocol):
    """A format whose files are rows of JSON objects: what tells its rows from others, and what reads all of them."""

    def is_row(self, row: Mapping[str, Any], /) -> bool: ...

    def read_json(self, rows: Sequence[Mapping[str, Any]], said: Said, /) -> MeasurementFile: ...


#: In this order, as the rows of one format may have what tells those of a later one.
_OF_JSON: tuple[_OfJson, ...] = (
    mlperf, llama_bench, vllm_serve, aiperf, vllm_offline, inferencex, llmfit,
)  # fmt: skip
#: When a Windows shell redirects output into a file, the file begins with one of these.
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")


def read_figures(content: bytes, said: Said = NOTHING) -> MeasurementFile:
    """Return the figures of a file. What it leaves open is as `said`.

    Raises NotReadable if the file has no known format, or if one of its rows cannot be read.
    """
    try:
        return _read(content, said)
    except csv.Error as error:  # a cell longer than the csv module allows
        raise NotReadable(f"the CSV cannot be read ({error}); write the file again") from None


def _read(content: bytes, said: Said) -> MeasurementFile:
    text = _text(content)
    if not text.strip():
        raise NotReadable("the file is empty; write it again")
    if text.lstrip()[:1] in ("[", "{"):
        return _json(text, said)
    if llama_bench.is_markdown(text):
        return llama_bench.read_markdown(text)
    if llama_bench.is_csv(text):
        return llama_bench.read_csv(text)
    if vllm_serve.is_text(text):
        return vllm_serve.read_text(text, said)
    if ollama.is_text(text):
        return ollama.read_text(text, said)
    if mlperf.is_csv(text):
        return mlperf.read_json(mlperf.rows_of_csv(text), said)
    if plain.is_csv(text):
        return plain.read_csv(text)
    raise NotReadable(f"this is none of the known formats: {FORMATS} {', '.join(plain.NEEDED)}")


def _text(content: bytes) -> str:
    """Return the text of a file. A Korean spreadsheet saves its CSV in CP949; the header shows whether that is so."""
    try:
        return content.decode("utf-16" if content.startswith(_UTF_16) else "utf-8-sig")
    except UnicodeDecodeError as error:
        korean = content.decode("cp949", errors="ignore")
        is_korean = any("가" <= sign <= "힣" for sign in korean.split("\n", 1)[0])
        if is_korean and plain.is_csv(korean) and korean.encode("cp949", errors="ignore") == content:
            return korean
        raise NotReadable(f"not UTF-8 ({error}); save the file as UTF-8") from None


def _json(text: str, said: Said) -> MeasurementFile:
    rows = _rows(text)
    listed = rows if isinstance(rows, list) else [rows]
    by_number = [*rows.values()] if isinstance(rows, dict) else []
    if _are_all(mlperf, by_number):
        return mlperf.read_json(by_number, said)
    if (known := next((known for known in _OF_JSON if _are_all(known, listed)), None)) is not None:
        return known.read_json(listed, said)
    if not listed:
        raise NotReadable("the JSON is an empty list; write the file again")
    seen = ", ".join(list(listed[0])[:8]) if isinstance(listed[0], dict) else type(listed[0]).__name__
    raise NotReadable(
        f"this JSON, which begins with {seen}, is none of the known formats: {FORMATS} {', '.join(plain.NEEDED)}"
    )


def _are_all(known: _OfJson, rows: Sequence[Any]) -> bool:
    """Return whether there are rows, and all are of this format."""
    return bool(rows) and all(isinstance(row, dict) and known.is_row(row) for row in rows)


def _rows(text: str) -> dict[str, dict[str, object]] | list[dict[str, object]]:
    """Return the rows of one JSON document, or of JSON lines. Raises NotReadable."""
    try:
        read_rows = local_files.loads(text)
    except json.JSONDecodeError as error:
        read_rows = _lines(text, error)
    except ValueError as error:  # a number of thousands of digits, lists without end
        raise NotReadable(f"the JSON is none of a benchmark ({error})") from None
    if not isinstance(read_rows, dict | list):
        raise NotReadable("the JSON holds neither an object nor a list")
    return read_rows


def _lines(text: str, error: json.JSONDecodeError) -> list[dict[str, object]]:
    """Return the objects of JSON lines. `error` says why the text is not a single document."""
    rows = []
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            rows.append(local_files.loads(line))
        except json.JSONDecodeError as broken:
            # If not even the first line is complete, the file was meant as one document.
            message = str(error) if not rows else f"line {number}: {broken.msg}, after {broken.pos} characters"
            raise NotReadable(f"the JSON breaks off or is damaged ({message}); write the file again") from None
        except ValueError as broken:
            raise NotReadable(f"line {number}: the JSON is none of a benchmark ({broken})") from None
    return rows
