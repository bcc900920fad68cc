"""The outputs of llama.cpp's llama-bench: `-o json`, `jsonl`, `csv` and its Markdown table.

`gpu_info` lists every GPU of the machine, not the GPUs that ran. If it lists several, the number of cards stays open unless
the row names its devices. A row with prompt and answer together divides both counts of tokens by one time, so it is the
speed of neither and is left out. A setting is part of the workload if the file varies it (`-fa 0,1`), if it keeps a part of
the model off the card, or if it stores the cache in another type. Otherwise one figure could be taken for another.

Source: ggml-org/llama.cpp, tools/llama-bench/llama-bench.cpp.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from gpuledger.extract.readers.measured.figure import (
    NOTHING,
    Figure,
    MeasurementFile,
    NotReadable,
    Said,
    amount,
    day,
    quantisation,
    slug,
    whole,
)

FORMAT = "llama-bench"
_QUANTISATION = re.compile(r"(?i)(?:^|[-_.])((?:I?Q\d(?:_[A-Z0-9]+)*|F16|BF16|F32|MXFP4(?:_MOE)?))(?=[-_.]|$)")
#: How ggml prints its devices: for CUDA, ROCm and SYCL; for Vulkan; for Metal.
_DEVICES = (
    re.compile(r"(?m)^\s*Device \d+: ([^,\n]+),"),
    re.compile(r"(?m)^ggml_vulkan: \d+ = (.+?) \([^()]*\) \|"),
    re.compile(r"(?m)^ggml_metal_\w*init: (?:picking default device|GPU name): +(.+?)\s*$"),
)
#: The memory of a device, as ggml prints it behind its name.
_DEVICE_MIB = re.compile(r"(?m)^\s*Device \d+: .*\bVRAM: (\d+) MiB")
#: Settings that make another workload if a file varies them: their names in the JSON and the Markdown, and their short
#: names.
_VARIED = {
    "flash_attn": "fa", "fa": "fa", "n_batch": "b", "n_ubatch": "ub", "n_threads": "t", "threads": "t", "split_mode": "sm",
    "sm": "sm", "no_kv_offload": "nkvo", "nkvo": "nkvo",
}  # fmt: skip
#: A row of the Markdown table gives the rate as `123.45 ± 0.67`.
_RATE = re.compile(r"^([\d.]+)\s*(?:±|\+/-)?\s*[\d.]*$")
#: Backends without a graphics card.
_NO_GPU = {"CPU", "BLAS", "BLAS,CPU", "CPU,BLAS"}
_TEST = re.compile(
    r"^(?=pp|tg)(?:pp(?P<n_prompt>\d+))?(?:\s*\+\s*)?(?:tg(?P<n_gen>\d+))?(?:\s*@\s*d(?P<n_depth>\d+))?$"
)


def is_row(row: Mapping[str, Any]) -> bool:
    """Return whether this is a row of llama-bench."""
    return "avg_ts" in row


def read_json(rows: Sequence[Mapping[str, Any]], said: Said = NOTHING) -> MeasurementFile:
    """Return the figures of the rows of one file."""
    return _read(MeasurementFile(FORMAT), [(f"row {number}", row) for number, row in enumerate(rows, start=1)])


def _read(file: MeasurementFile, rows: Sequence[tuple[str, Mapping[str, Any]]]) -> MeasurementFile:
    """Return the file with the figures of rows as the JSON has them, each with its place."""
    varied = _varied(row for _, row in rows)
    for where, row in rows:
        prompt, answer = whole(row.get("n_prompt")) or 0, whole(row.get("n_gen")) or 0
        if prompt and answer:
            file.left_out.append(
                f"{where}: {prompt} prompt and {answer} answer tokens are divided by one time: the speed of neither"
            )
        elif not prompt and not answer:
            raise NotReadable(f"{where}: neither n_prompt nor n_gen is set")
        elif why := _no_card(row.get("n_gpu_layers"), row.get("backends")):
            file.left_out.append(f"{where}: {why}")
        else:
            file.figures.append(_figure(row, where, varied))
    return file


def _no_card(layers: Any, backend: Any) -> str | None:
    """Return why a row is no figure of cards in one machine, None if it is one."""
    if whole(layers) == 0:
        return "no layer was on the card: it ran on the processor"
    if str(backend or "GPU") in _NO_GPU:
        return f"its backend is {backend}: it ran on the processor"
    if "RPC" in str(backend or "").split(","):
        return f"its backend is {backend}: machines that share the model over a network, so the speed of no one machine"
    return None


def is_csv(text: str) -> bool:
    """Return whether the first line is the header of `-o csv`."""
    return {"avg_ts", "n_prompt", "n_gen"} <= set(next(csv.reader([text.split("\n", 1)[0].strip()]), []))


def read_csv(text: str) -> MeasurementFile:
    """Return the figures of `-o csv`. A file to which several runs were written has several headers."""
    lines = csv.DictReader(io.StringIO(text, newline=""))
    rows = []
    for row in lines:
        if None in row or None in row.values():
            raise NotReadable(f"line {lines.line_num}: not as many values as the header has columns")
        if row["avg_ts"] != "avg_ts":
            rows.append(row)
    return read_json(rows)


def _varied(rows: Iterable[Mapping[str, Any]]) -> dict[tuple[str, ...], set[str]]:
    """Return the settings that differ between rows of the same build, model, test and card, by the values they share."""
    seen: dict[tuple[str, ...], dict[str, set[str]]] = {}
    for row in rows:
        values_by_setting = seen.setdefault(_shared_values(row), {})
        for name in _VARIED.keys() & row.keys():
            values_by_setting.setdefault(name, set()).add(str(row[name]))
    return {shared: {name for name, values in settings.items() if len(values) > 1} for shared, settings in seen.items()}


#: The columns, in JSON and in Markdown, whose values rows of one measurement share.
_SHARED = (
    "build_commit", "model_filename", "model_type", "model", "gpu_info", "backend", "n_prompt", "n_gen", "n_depth", "test",
    "n_gpu_layers", "ngl", "n_cpu_moe", "type_k", "type_v",
)  # fmt: skip


def _shared_values(row: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(str(row.get(name)) for name in _SHARED)


def _settings(row: Mapping[str, Any], varied: Mapping[tuple[str, ...], set[str]]) -> tuple[str, ...]:
    """Return what makes a row a workload of its own: settings that the file varies, and an unusual type of cache."""
    settings = [f"{_VARIED[name]}{_sign(row[name])}" for name in _VARIED if name in varied.get(_shared_values(row), ())]
    types = [(name, str(row.get(f"type_{name}") or "f16")) for name in "kv"]
    return (*settings, *(f"{name}-{kind}" for name, kind in types if kind.lower() != "f16"))


def _sign(value: Any) -> str:
    return str(int(value)) if isinstance(value, bool) else {"true": "1", "false": "0"}.get(str(value), str(value))


def _off_card(row: Mapping[str, Any]) -> tuple[str, ...]:
    """Return which parts of the model were not on the card: experts of some layers, or tensors that a pattern names."""
    experts = whole(row.get("n_cpu_moe")) or 0
    pattern = next((str(row[name]) for name in ("tensor_buft_overrides", "ot") if row.get(name)), "none")
    return (
        *((f"cpu-moe{experts}",) if experts else ()),
        *((f"ot-{pattern}"[:_LONGEST],) if pattern != "none" else ()),
    )


def _layers(value: Any) -> int | None:
    """Return the number of layers on the card, if the file names a number that may be fewer than all; else None."""
    layers = whole(value)
    return layers if layers is not None and 0 < layers < _ALL else None


#: People write 99, 100 or 999 to put all layers on the card.
_ALL = 99
#: How many letters of a pattern go into a workload's name.
_LONGEST = 40


def _cards(row: Mapping[str, Any]) -> tuple[str | None, int | None]:
    """Return the card, and how many cards ran; None for either if the row does not say it for sure."""
    names = [name.strip() for name in str(row.get("gpu_info") or "").split(",") if name.strip()]
    kinds = Counter(names)
    if len(names) == 1:
        return names[0], 1
    name = names[0] if len(kinds) == 1 else None
    if str(row.get("split_mode", row.get("sm"))) == "none":
        main = whole(row.get("main_gpu"))
        return (names[main] if main is not None and main < len(names) else name), 1
    devices = str(row.get("devices") or "auto")
    if devices not in ("auto", "none", ""):
        return name, len([device for device in re.split(r"[/,;+]", devices) if device])
    return name, None


def is_markdown(text: str) -> bool:
    """Return whether this text contains a table of llama-bench."""
    return any(_header(line) is not None for line in text.splitlines())


def read_markdown(text: str) -> MeasurementFile:
    """Return the figures of all tables of a text.

    The card comes from the lines that ggml prints before them, if there are any.
    """
    file = MeasurementFile(FORMAT)
    # With several cards ggml lists all of them, even those that did not run.
    devices = [device.strip() for pattern in _DEVICES for device in pattern.findall(text)]
    printed, build = _DEVICE_MIB.search(text), re.search(r"(?m)^build: (\S+) \((\d+)\)", text)
    of_all = {
        "gpu_info": ",".join(devices), "device_gb": int(printed[1]) / 1024 if printed else None,
        "build_commit": build and build[1], "build_number": build and build[2],
    }  # fmt: skip
    rows = []
    for number, row in _rows_of_tables(text):
        test, rate = _TEST.match(row["test"]), _RATE.match(row["t/s"])
        if test is None or rate is None:
            file.left_out.append(f"line {number}: test {row['test']!r} with {row['t/s']!r} is no speed that is known")
            continue
        as_in_json = {
            **test.groupdict(), "avg_ts": rate[1], "model_type": row["model"], "n_gpu_layers": row.get("ngl"),
            "backends": row.get("backend"),
        }  # fmt: skip
        rows.append((f"line {number}", row | of_all | as_in_json))
    return _read(file, rows)


def _rows_of_tables(text: str) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the rows of all tables of a text, each with the number of its line and its cells by column name."""
    columns: dict[str, int] | None = None
    for number, line in enumerate(text.splitlines(), start=1):
        if (header := _header(line)) is not None:
            columns = header
            continue
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if columns is None or not line.strip().startswith("|") or set(line) <= set("|-: \t"):
            continue
        if len(cells) <= max(columns.values()):
            raise NotReadable(f"line {number}: {len(cells)} cells, and the header has more")
        yield number, {name: cells[at] for name, at in columns.items()}


def _header(line: str) -> dict[str, int] | None:
    cells = [cell.strip().lower() for cell in line.strip().strip("|").split("|")]
    return {cell: at for at, cell in enumerate(cells)} if {"model", "test", "t/s"} <= set(cells) else None


def precision_of_file(name: str) -> str | None:
    """Return the quantisation that the name of a GGUF file says."""
    match = _QUANTISATION.search(name.replace(" ", "_"))
    return match[1].upper() if match else None


def _figure(row: Mapping[str, Any], where: str, varied: Mapping[tuple[str, ...], set[str]]) -> Figure:
    """Return the figure of one row."""
    prompt, answer, depth = (whole(row.get(name)) or 0 for name in ("n_prompt", "n_gen", "n_depth"))
    kind = str(row.get("model_type") or "")
    file_name = str(row.get("model_filename") or kind).replace("\\", "/").rpartition("/")[2]
    stem = re.sub(r"(?i)\.gguf$", "", file_name)
    build = " ".join(str(row[key]) for key in ("build_number", "build_commit") if row.get(key))
    off_card = _off_card(row)
    # What makes the row a workload of its own.
    extras = (*_settings(row, varied), *off_card)
    workload = f"{stem}, {prompt or answer} tokens {'of prompt read' if prompt else 'written'}"
    workload += (f" after {depth}" if depth else "") + (f" ({', '.join(extras)})" if extras else "")
    test, (name, count) = f"pp{prompt}" if prompt else f"tg{answer}", _cards(row)
    return Figure(
        workload_id=slug("llama-bench", stem, test, f"d{depth}" if depth else None, *extras), workload=workload,
        unit="tokens/s", score=amount(row.get("avg_ts"), "the rate", where), gpu_name=name, gpu_count=count,
        # With experts on the processor the figure is not the card's own speed.
        is_single_stream=not prompt and not off_card, model=stem,
        precision=precision_of_file(stem) or quantisation(kind), context_tokens=(prompt or answer) + depth,
        software=f"llama.cpp {build}".strip(), measured_on=day(row.get("test_time")), where=where,
        layers_on_card=_layers(row.get("n_gpu_layers")), device_gb=row.get("device_gb"),
    )  # fmt: skip
