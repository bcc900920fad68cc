"""Counts what a change has to know: `python -m tools.concepts` (needs no warehouse, takes half a minute).

Modules of ours that `value` and `buy` load, packages included. And the way of one batch of the second night of the sample
through check and load: a stay is what successive calls of ours spend in one folder, counted by `sys.setprofile`. With
`--way` each stay is printed, with the function that begins it.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

from gpuledger.flows.night import gather, refresh, store
from gpuledger.flows.night.start import Request, context_for
from gpuledger.flows.settings.settings import load

ROOT = Path(__file__).resolve().parents[1]
#: The source whose batch is followed: a shop with listings, an unchanged and a held price.
SOURCE = "newegg"
ASKED = {
    "value": ["value", "sd-512-image-generation"],
    "buy": ["buy", "--model", "qwen3-32b", "--budget", "3000"],
}
_LIST = """
import sys
from gpuledger.flows import cli
sys.argv = ["gpuledger", *sys.argv[1:]]
try:
    cli.call()
finally:
    print(*(name for name in sys.modules if name.partition(".")[0] == "gpuledger"), file=sys.stderr)
"""


def modules(words: Sequence[str], data: Path) -> set[str]:
    """The modules of ours that a command loads."""
    command = [sys.executable, "-c", _LIST, *words, "--data-dir", str(data)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return set(done.stderr.splitlines()[-1].split())


@dataclass(slots=True)
class Way:
    """The folders that successive calls lie in, each with the function that entered it."""

    stays: list[tuple[str, str]] = field(default_factory=list)

    def __call__(self, frame: FrameType, event: str, _argument: Any) -> None:
        """Note a call of ours, as `sys.setprofile` reports it."""
        code = frame.f_code
        if event != "call" or code.co_name.startswith("<") or code.co_filename.startswith("<"):
            return  # what a dataclass generates, and the body of a comprehension, is no call that somebody reads
        folder = self._folder(code.co_filename)
        if folder and (not self.stays or self.stays[-1][0] != folder):
            self.stays.append((folder, code.co_qualname))

    @staticmethod
    def _folder(file: str) -> str:
        path = Path(file).resolve()
        if not path.is_relative_to(ROOT) or ".venv" in path.parts:
            return ""
        return path.parent.relative_to(ROOT).as_posix()


def night(data: Path, number: int, *sources: str, way: Way | None = None) -> None:
    """One night of the sample, of all sources or of some; `way` follows their batches from the load to the build."""
    settings = load({"data_dir": str(data)}, environment={}, file=Path("/nowhere.toml"))
    context = context_for(settings, settings.data(), "plain", Request(sample=True, night=number, only=sources))
    take_in = store.take_in_one

    def followed(*arguments: Any, **named: Any) -> Any:
        sys.setprofile(way)
        try:
            return take_in(*arguments, **named)
        finally:
            sys.setprofile(None)

    store.take_in_one = followed
    try:
        refresh.run(context, gather.read_plain)
    finally:
        store.take_in_one = take_in


def main(arguments: list[str]) -> None:
    """Print the counts."""
    with tempfile.TemporaryDirectory() as folder:
        data, way = Path(folder) / "data", Way()
        night(data, 1)
        night(data, 2, SOURCE, way=way)
        for name, words in ASKED.items():
            print(f"{name}: {len(modules(words, data))} modules")
    changes, rooms = len(way.stays) - 1, len({folder for folder, _ in way.stays})
    print(f"one batch: {changes} changes of folder, {rooms} folders")
    if "--way" in arguments:
        for folder, entered in way.stays:
            print(f"  {folder:28} {entered}")


if __name__ == "__main__":
    main(sys.argv[1:])
