"""Reads a picture in a separate process with limits of time and memory."""

from __future__ import annotations

import importlib.util
import json
import signal

from gpuledger.extract.charts.outcome import MOST_MEMORY, MOST_SECONDS, MOST_WAIT, BadPicture, ChartReading
from gpuledger.extract.processes import child


def is_installed() -> bool:
    """Whether `gpuledger[charts]` is installed. Imports nothing of it."""
    return all(importlib.util.find_spec(name) for name in ("rapidocr", "onnxruntime", "cv2"))


def read_chart(content: bytes, wait: float = MOST_WAIT) -> ChartReading:
    """What the picture with these bytes shows. `wait` is in seconds. Raises BadPicture if nothing can be read from it."""
    try:
        done = child.run("-m", "gpuledger.extract.charts", content=content, seconds=wait)
    except child.TimeoutExpired:
        raise BadPicture("too_slow", f"not read within {wait:g} seconds; read it by eye") from None
    if done.returncode == -signal.SIGXCPU:
        raise BadPicture("too_slow", f"not read within {MOST_SECONDS} seconds of processor; read it by eye")
    if done.returncode:
        last = (done.stderr.decode("utf-8", "replace").strip().splitlines() or [f"status {done.returncode}"])[-1]
        message = f"reading it failed within {MOST_MEMORY // 1_000_000:,} MB of memory ({last}); read it by eye"
        raise BadPicture("not_read", message)
    answer = json.loads(done.stdout.decode("utf-8").splitlines()[-1])
    if "reading" not in answer:
        raise BadPicture(answer["code"], answer["problem"])
    return ChartReading.from_json(answer["reading"])
