"""Pins: titles that a person has assigned to a card. They are in a TOML file, with the day and the reason of every pin.

[[pin]]
title = "Gigabyte WINDFORCE OC"
gpu_id = "nvidia-geforce-rtx-4070"      # or "not_a_gpu"
source = "newegg"                       # optional: only in this source
pinned_on = 2026-11-20
reason = "the product page says so"
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from gpuledger.extract import local_files
from gpuledger.extract.message import Mistake
from gpuledger.transform.identity import catalogue

NOT_A_GPU = "not_a_gpu"


class PinError(Mistake):
    """A pin cannot be read or written; the message names the file and the pin, and how to correct it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pin:
    """A person's decision that a title means `gpu_id` (or `not_a_gpu`), everywhere or in one source."""

    title: str
    gpu_id: str
    pinned_on: date
    reason: str
    source: str | None = None

    def __post_init__(self) -> None:
        texts = (self.title, self.gpu_id, self.reason, self.source or "")
        if not all(isinstance(text, str) for text in texts) or type(self.pinned_on) is not date:
            raise PinError("question.pin_hold_texts_pinned_day", title=self.title)
        if not self.title.strip():
            raise PinError("question.pin_needs_title")
        if not self.reason.strip():
            raise PinError("question.pin_needs_reason", title=self.title)
        if self.gpu_id != NOT_A_GPU and self.gpu_id not in catalogue.by_id():
            raise PinError(
                "question.pinned_no_gpu_id_catalogue", gpu_id=self.gpu_id, title=self.title, not_a_gpu=NOT_A_GPU
            )

    @property
    def place(self) -> tuple[str, str]:
        """The key of the pin; see `place_of`."""
        return place_of(self.title, self.source)


def read_pins(path: Path) -> tuple[Pin, ...]:
    """The pins of a file, in its order; empty if there is no file. Raises PinError if the file cannot be understood."""
    if not path.exists():
        return ()
    try:
        raw: list[dict[str, Any]] = local_files.read_toml(path, follow=True).get("pin", [])
        pins = tuple(Pin(**row) for row in raw)
    except (OSError, ValueError, TypeError) as error:
        raise PinError("question.correct_file_take_pin_out", path=path, error=error) from error
    _check(pins, path)
    return pins


def add(path: Path, pin: Pin) -> tuple[Pin, ...]:
    """Write `pin` to the file and return all its pins. A pin of the same title and source is replaced.

    The file is replaced in one step, so that a reader sees the old pins or the new ones, never half of them.
    """
    pins = (*(old_pin for old_pin in read_pins(path) if old_pin.place != pin.place), pin)
    _write(path, pins)
    return pins


def remove(path: Path, title: str, source: str | None = None) -> Pin:
    """Remove the pin of `title` in `source` from the file and return it. Raises KeyError with the title if there is none.

    Only the pin of exactly this source is removed: a pin that holds everywhere stays if one source is named.
    """
    pins, place = read_pins(path), place_of(title, source)
    removed = next((pin for pin in pins if pin.place == place), None)
    if removed is None:
        raise KeyError(title)
    _write(path, tuple(pin for pin in pins if pin is not removed))
    return removed


def place_of(title: str, source: str | None) -> tuple[str, str]:
    """The key of a pin: its source, and its title without blanks at the ends and repeated blanks."""
    return (source or "", " ".join(title.split()))


def _write(path: Path, pins: Iterable[Pin]) -> None:
    local_files.write_text(path, "\n".join(_entry(pin) for pin in pins))


def _check(pins: Iterable[Pin], path: Path) -> None:
    seen: dict[tuple[str, str], Pin] = {}
    for pin in pins:
        first = seen.setdefault(pin.place, pin)
        if first is not pin:
            raise PinError(
                "question.pinned_twice_keep", path=path, title=pin.title, gpu_id=first.gpu_id, gpu_id2=pin.gpu_id
            )


def _entry(pin: Pin) -> str:
    lines = ["[[pin]]", f"title = {_quoted(pin.title)}", f"gpu_id = {_quoted(pin.gpu_id)}"]
    if pin.source:
        lines.append(f"source = {_quoted(pin.source)}")
    return "\n".join([*lines, f"pinned_on = {pin.pinned_on.isoformat()}", f"reason = {_quoted(pin.reason)}", ""])


def _quoted(text: str) -> str:
    # A JSON string is a TOML basic string, except that TOML wants DEL escaped too.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
