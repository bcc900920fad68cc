"""Any of the formats: which one a file is, and what it says."""

from __future__ import annotations

import json

from gpuledger.extract.readers.measured import inferencex, llama_bench, mlperf, plain, vllm_serve
from gpuledger.extract.readers.measured.figure import Figure, NotReadable, Taken

__all__ = ["Figure", "NotReadable", "Taken", "read"]

FORMATS = (
    "llama-bench (JSON or Markdown), vLLM bench serve, an MLPerf Inference summary, InferenceX, or a CSV with columns"
)


def read(content: bytes) -> Taken:
    """The figures of a file. Raises NotReadable where it is of no known format, or where a row of it cannot be read."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise NotReadable(f"not UTF-8 ({error}); save the file as UTF-8") from None
    if text.lstrip()[:1] in ("[", "{"):
        return _json(text)
    if llama_bench.is_markdown(text):
        return llama_bench.read_markdown(text)
    if mlperf.is_csv(text):
        return mlperf.read(mlperf.rows_of_csv(text))
    if plain.is_csv(text):
        return plain.read(text)
    raise NotReadable(f"this is none of the known formats: {FORMATS} {', '.join(plain.NEEDED)}")


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
    raise NotReadable(f"this JSON is none of the known formats: {FORMATS} {', '.join(plain.NEEDED)}")


def _rows(text: str) -> dict[str, dict[str, object]] | list[dict[str, object]]:
    """One JSON document, or JSON lines. A figure that is no finite number is none."""
    try:
        read_rows = json.loads(text)
    except json.JSONDecodeError as error:
        lines = [line for line in text.splitlines() if line.strip()]
        try:
            read_rows = [json.loads(line) for line in lines]
        except json.JSONDecodeError:
            raise NotReadable(f"the JSON breaks off or is damaged ({error}); write the file again") from None
    if not isinstance(read_rows, dict | list):
        raise NotReadable("the JSON holds neither an object nor a list")
    return read_rows
