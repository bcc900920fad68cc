"""The corrections of a data directory, decisions/corrections.toml: what a source states wrongly, and what is right.

[[correction]]
source = "newegg"
key = "N82E16814990001"              # the listing_key in core.listing; `gpuledger sources correct` finds it
field = "brand"
old = "Norvick"                      # what the source says; leave it out if the field is empty there
new = "Norvik"                       # leave it out to empty the field
reason = "the maker's own page spells it so"
date = 2026-11-20                    # it counts from this day (UTC) on, or from a time with its offset
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

from gpuledger.extract import local_files
from gpuledger.extract import source as sources
from gpuledger.extract.message import Message
from gpuledger.extract.spelling import names_like
from gpuledger.flows.settings.settings import SettingsError
from gpuledger.warehouse.load.corrected import Correction, as_text
from gpuledger.warehouse.paths import DataDir

#: What to do about a correction that no longer fits.
WAY_OUT = "`gpuledger sources correct` renews it, with --remove takes it out"
_FIELDS = ("source", "key", "field", "old", "new", "reason", "date")
#: The fields that a correction has under another name.
_ATTRIBUTES = {"date": "decided"}
_NEEDED = ("source", "key", "field", "reason", "date")


def file(data: DataDir) -> Path:
    """The file with the corrections of a data directory."""
    return data.root / "decisions" / "corrections.toml"


def all_corrections(data: DataDir) -> list[Correction]:
    """All corrections, in the order of the file; none if there is no file.

    Raises SettingsError, with file, line, entry and way out, if an entry cannot be understood: going on without a correction
    would bring back a value that a person knows to be wrong.
    """
    path = file(data)
    if not path.exists():
        return []
    try:
        text = local_files.read_bytes(path, follow=True).decode("utf-8")
        rows = local_files.read_toml(path, follow=True).get("correction", [])
    except (OSError, ValueError) as error:
        raise SettingsError(Message("settings.mend_line_take_correction_out", path=path, error=error)) from None
    lines = [
        number for number, line in enumerate(text.splitlines(), 1) if re.match(r"\s*\[\[\s*correction\s*\]\]", line)
    ]
    if not isinstance(rows, list) or len(lines) != len(rows):
        raise SettingsError(Message("settings.each_correction_begins_line_correction", path=path))
    corrections: list[Correction] = []
    for line, row in zip(lines, rows, strict=True):
        try:
            corrections.append(_correction(row))
        except ValueError as error:
            name = " ".join(str(row[part]) for part in ("source", "key", "field") if row.get(part)) or "without a name"
            raise SettingsError(
                Message("settings.line_correction_2", path=path, line=line, name=name, error=error)
            ) from None
        if sum(correction.name == corrections[-1].name for correction in corrections) > 1:
            raise SettingsError(
                Message("settings.line_correction", path=path, line=line, corrections=corrections[-1].name)
            )
    return corrections


def known(data: DataDir, source: str, at: datetime) -> list[Correction]:
    """The corrections of a source that were decided by `at`, as a replay applies only those that the run knew."""
    return [
        correction for correction in all_corrections(data) if correction.source == source and correction.is_known(at)
    ]


def _correction(row: dict[str, Any]) -> Correction:
    """The correction of one entry. Raises ValueError, saying what is wrong and what to do."""
    if wrong := next((name for name in row if name not in _FIELDS), None):
        close = names_like(wrong, _FIELDS)
        meant = f"; did you mean {close[0]}?" if close else f"; there are {', '.join(_FIELDS)}"
        raise ValueError(Message("settings.no_part_correction", wrong=wrong, meant=meant))
    if missing := [name for name in _NEEDED if row.get(name) in (None, "")]:
        raise ValueError(Message("settings.missing_correction_needs", missing=tuple(missing), needed=tuple(_NEEDED)))
    if row["source"] not in sources.names():
        close = names_like(str(row["source"]), sources.names())
        meant = f"; did you mean {close[0]}?" if close else "; `gpuledger sources` lists all"
        raise ValueError(Message("settings.no_source_called", source=row["source"], meant=meant))
    decided = row["date"]
    if type(decided) is not date and not (isinstance(decided, datetime) and decided.tzinfo):
        raise ValueError(Message("settings.date_day_such_2026_11"))
    texts = {name: _text(row, name) for name in ("key", "field", "reason", "old", "new")}
    if texts["old"] == texts["new"]:
        raise ValueError(Message("settings.old_new_same"))
    return Correction(
        source=row["source"], key=texts["key"] or "", field=texts["field"] or "", old=texts["old"], new=texts["new"],
        reason=texts["reason"] or "", decided=decided,
    )  # fmt: skip


def _text(row: dict[str, Any], name: str) -> str | None:
    value = row.get(name)
    if isinstance(value, float):
        # TOML reads 1299.90 as a binary fraction, which does not keep its last zero.
        raise ValueError(Message("settings.stand_quotes", name=name, value=value, decimal=Decimal(repr(value))))
    if isinstance(value, list | dict):
        raise ValueError(Message("settings.value_quotes", name=name))
    return as_text(value)


def add(data: DataDir, correction: Correction) -> Correction | None:
    """Write a correction. It replaces one of the same field, which is returned. Raises SettingsError."""
    before = all_corrections(data)
    _write(file(data), [*(earlier for earlier in before if earlier.name != correction.name), correction])
    return next((earlier for earlier in before if earlier.name == correction.name), None)


def remove(data: DataDir, source: str, key: str, field: str) -> Correction | None:
    """Remove a correction and return it; None if there is none. Raises SettingsError."""
    before = all_corrections(data)
    removed = next(
        (
            correction
            for correction in before
            if (correction.source, correction.key, correction.field) == (source, key, field)
        ),
        None,
    )
    if removed is not None:
        _write(file(data), [correction for correction in before if correction is not removed])
    return removed


def _write(path: Path, corrections: Sequence[Correction]) -> None:
    entries = [{name: getattr(one, _ATTRIBUTES.get(name, name)) for name in _FIELDS} for one in corrections]
    local_files.write_text(path, "\n".join(local_files.toml_table("[[correction]]", entry) for entry in entries))
