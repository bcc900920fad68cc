"""Pictures of charts, each read by the real reader in its own process, and once a test session however many tests ask."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from filelock import FileLock

from gpuledger.extract.charts import apart
from gpuledger.extract.charts.outcome import MOST_WAIT, BadPicture, ChartReading
from tests.nights import once

#: The reader itself, before a test puts the remembered one in its place.
_read: Callable[[bytes], ChartReading] = apart.read_chart


class Readings:
    """What `apart.read_chart` answers, kept in a folder by the hash of the picture: the workers of a session share it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __call__(self, content: bytes, wait: float = MOST_WAIT) -> ChartReading:
        """As `apart.read_chart`."""
        path = self._folder / f"{hashlib.sha256(content).hexdigest()}.json"
        with FileLock(path.with_suffix(".lock")):
            if not path.exists():
                path.write_text(json.dumps(self._answer(content)), encoding="utf-8")
        answer = json.loads(path.read_text(encoding="utf-8"))
        if "reading" not in answer:
            raise BadPicture(answer["code"], answer["problem"])
        return ChartReading.from_json(answer["reading"])

    def _answer(self, content: bytes) -> dict[str, object]:
        try:
            return {"reading": _read(content).to_json()}
        except BadPicture as error:
            return {"code": error.code, "problem": str(error)}


def readings(factory: pytest.TempPathFactory) -> Readings:
    """Those of this session."""
    return Readings(once(factory, "readings", lambda folder: None))
