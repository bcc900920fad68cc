"""Any of the formats: which one a file is, and what it says."""

from __future__ import annotations

import csv
import json

from gpuledger.extract import local_files
from gpuledger.extract.readers.measured import inferencex, llama_bench, localscore, mlperf, plain, vllm_serve
from gpuledger.extract.readers.measured.figure import Figure, NotReadable, Taken

__all__ = ["Figure", "NotReadable", "Taken", "read"]

FORMATS = (
    "llama-bench (all that it writes), vLLM bench serve, an MLPerf Inference summary, InferenceX, LocalScore, or a CSV with"
    " columns"
)
#: What a Windows shell writes where output goes into a file begins with one of these.
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")


def read(content: bytes) -> Taken:
    """The figures of a file. Raises NotReadable where it is of no known format, or where a row of it cannot be read."""
    try:
        return _read(content)
    except csv.Error as error:  # a cell beyond all cells
        raise NotReadable(f"the CSV cannot be read ({error}); write the file again") from None


def _read(content: bytes) -> Taken:
    text = _text(content)
    if not text.strip():
        raise NotReadable("the file is empty; write it again")
    if text.lstrip()[:1] in ("[", "{"):
        return _json(text)
    if llama_bench.is_markdown(text):
        return llama_bench.read_markdown(text)
    if llama_bench.is_sql(text):
        return llama_bench.read_sql(text)
    if llama_bench.is_csv(text):
        return llama_bench.read_csv(text)
    if mlperf.is_csv(text):
        return mlperf.read(mlperf.rows_of_csv(text))
    if plain.is_csv(text):
        return plain.read(text)
    raise NotReadable(f"this is none of the known formats: {FORMATS} {', '.join(plain.NEEDED)}")


def _text(content: bytes) -> str:
    """What a file says. A spreadsheet in Korean saves its CSV in CP949, which its header proves."""
    try:
        return content.decode("utf-16" if content.startswith(_UTF_16) else "utf-8-sig")
    except UnicodeDecodeError as error:
        korean = content.decode("cp949", errors="ignore")
        is_korean = any("가" <= sign <= "힣" for sign in korean.split("\n", 1)[0])
        if is_korean and plain.is_csv(korean) and korean.encode("cp949", errors="ignore") == content:
            return korean
        raise NotReadable(f"not UTF-8 ({error}); save the file as UTF-8") from None


def _json(text: str) -> Taken:
    rows = _rows(text)
    if mlperf.is_json(rows):
        return mlperf.read(rows.values() if isinstance(rows, dict) else rows)
    listed = rows if isinstance(rows, list) else [rows]
    if llama_bench.is_json(listed):
        return llama_bench.read_json(listed)
    if vllm_serve.is_json(listed):
        return vllm_serve.read_json(listed)
    if inferencex.is_json(listed):
        return inferencex.read_json(listed)
    if localscore.is_json(listed):
        return localscore.read_json(listed)
    if not listed:
        raise NotReadable("the JSON is an empty list; write the file again")
    seen = ", ".join(list(listed[0])[:8]) if isinstance(listed[0], dict) else type(listed[0]).__name__
    raise NotReadable(
        f"this JSON, which begins with {seen}, is none of the known formats: {FORMATS} {', '.join(plain.NEEDED)}"
    )


def _rows(text: str) -> dict[str, dict[str, object]] | list[dict[str, object]]:
    """One JSON document, or JSON lines. A figure that is no finite number is none."""
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
    """JSON lines: one object each. `error` is why the text is no single document."""
    found = []
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            found.append(local_files.loads(line))
        except json.JSONDecodeError as broken:
            # Where not even the first line is whole, the file was meant as one document.
            message = str(error) if not found else f"line {number}: {broken.msg}, after {broken.pos} characters"
            raise NotReadable(f"the JSON breaks off or is damaged ({message}); write the file again") from None
        except ValueError as broken:
            raise NotReadable(f"line {number}: the JSON is none of a benchmark ({broken})") from None
    return found
