"""What people decide and add: one TOML file for each kind, in the folder `decisions` of a data directory.

    [[pin]]
    title = "Gigabyte WINDFORCE OC"
    gpu_id = "nvidia-geforce-rtx-4070"
    pinned_on = 2026-11-20
    reason = "the product page says so"

A person may read and edit the files. Each kind is declared beside the type of its records (`KIND`), and this module is the
only one that reads and writes them.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Generic, TypeVar

import msgspec

from gpuledger import local_files
from gpuledger.message import Failure, Message, reason_of
from gpuledger.spelling import names_like

T = TypeVar("T")
#: The folder of a data directory that holds the files.
FOLDER = "decisions"
#: Most letters of what a person names: it becomes the name of files and heads a column of a terminal.
LONGEST_NAME = 200
#: Most letters of any other text that a person adds, such as a shop's title or a reason.
LONGEST_TEXT = 2_000


class BadRecord(Failure):
    """A record cannot be used. The message names the file, the line and the way out."""

    status = 2


def typed(kind: type[T]) -> Callable[[Mapping[str, Any]], T]:
    """A reader of entries as a dataclass. It raises ValueError for an unknown field and msgspec.ValidationError for a value
    of another type or a missing one.
    """
    known = [field.name for field in fields(kind)]  # type: ignore[arg-type]  # it is a dataclass

    def read(entry: Mapping[str, Any]) -> T:
        if unknown := next((name for name in entry if name not in known), None):
            close = names_like(unknown, known)
            raise ValueError(Message(
                "there is no field {unknown!r} here; there are {known}", unknown=unknown, known=tuple(close or known),
            ))  # fmt: skip
        return msgspec.convert(entry, kind)

    return read


def _texts(value: object) -> Iterator[str]:
    """The texts in a value of a record, at any depth."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping | list | tuple):
        for part in value.values() if isinstance(value, Mapping) else value:
            yield from _texts(part)


@dataclass(frozen=True, slots=True)
class Kind(Generic[T]):
    """One kind of records. `read` makes a record of an entry, `write` an entry of a record. Each has its own key."""

    entry: str
    file_name: str
    key: Callable[[T], Hashable]
    read: Callable[[Mapping[str, Any]], T]
    write: Callable[[T], Mapping[str, Any]] = asdict  # type: ignore[assignment]  # of a dataclass

    def file(self, root: Path) -> Path:
        """The file of this kind in the data directory `root`."""
        return root / FOLDER / self.file_name

    def all(self, root: Path) -> list[T]:
        """All records, in the order of the file; none if there is no file. Raises BadRecord if one cannot be used."""
        records = []
        for record in self.each(root):
            if isinstance(record, BadRecord):
                raise record
            records.append(record)
        return records

    def usable(self, root: Path, check: Callable[[T], object] = lambda record: None) -> tuple[list[T], list[BadRecord]]:
        """The records that can be used, and an error for each that cannot, or for which `check` raises anything."""
        found = list(self.each(root, check))
        bad = [record for record in found if isinstance(record, BadRecord)]
        return [record for record in found if not isinstance(record, BadRecord)], bad

    def by_key(self, root: Path) -> dict[Any, T]:
        """All records by their keys. Raises BadRecord if one cannot be used."""
        return {self.key(record): record for record in self.all(root)}

    def each(self, root: Path, check: Callable[[T], object] = lambda record: None) -> Iterator[T | BadRecord]:
        """Each record, or the reason why it cannot be used, or why `check` refuses it."""
        file = self.file(root)
        if not file.exists():
            return
        try:
            text = local_files.read_text(file, follow=True)
            entries = tomllib.loads(text).get(self.entry, [])
        except (OSError, ValueError, RecursionError) as error:
            why = local_files.why(error) if isinstance(error, OSError) else str(error)
            yield BadRecord(Message("{file}: {reason}; correct the file, or take it away", file=file, reason=why))
            return
        begins = rf"(?m)^\s*\[\[\s*{self.entry}\s*\]\]"
        lines = [text.count("\n", 0, match.end()) + 1 for match in re.finditer(begins, text)]
        if not isinstance(entries, list) or len(lines) != len(entries):
            yield BadRecord(
                Message("{file}: each entry begins with a line [[{entry}]]; write them so", file=file, entry=self.entry)
            )
            return
        seen: set[Hashable] = set()
        for line, entry in zip(lines, entries, strict=True):
            try:
                record = self.read(entry)
                if self.key(record) in seen:
                    raise ValueError(Message("this {entry} is there twice: keep one", entry=self.entry))
                check(record)
            except Exception as error:  # noqa: BLE001  no entry may take the others along
                # msgspec hands on what the record itself says against its values.
                reason = reason_of(error.__cause__ or error)
                yield BadRecord(Message(
                    "{file}, line {line}: {reason}; correct this [[{entry}]], or take it out", file=file, line=line,
                    entry=self.entry, reason=reason,
                ))  # fmt: skip
            else:
                seen.add(self.key(record))
                yield record

    def put(self, root: Path, record: T) -> T | None:
        """Write a record. One of the same key is replaced, and returned.

        Raises BadRecord for a name or another text that is too long, and if the file has a bad record.
        """
        before, key = self.all(root), self.key(record)
        if isinstance(key, str) and len(key) > LONGEST_NAME:
            raise BadRecord(Message("a {entry}'s name has at most {most} letters", entry=self.entry, most=LONGEST_NAME))
        if any(len(text) > LONGEST_TEXT for text in _texts(asdict(record))):  # type: ignore[call-overload]  # a dataclass
            raise BadRecord(Message(
                "a text of a {entry} has at most {most:,} letters: shorten it", entry=self.entry, most=LONGEST_TEXT,
            ))  # fmt: skip
        others = [other for other in before if self.key(other) != key]
        self._write(root, [*others, record])
        return next((other for other in before if self.key(other) == key), None)

    def remove(self, root: Path, key: Hashable) -> T | None:
        """Take the record of that key out and return it, None if there is none. Raises BadRecord as `put` does."""
        before = self.all(root)
        removed = next((record for record in before if self.key(record) == key), None)
        if removed is not None:
            self._write(root, [record for record in before if record is not removed])
        return removed

    def _write(self, root: Path, records: Iterable[T]) -> None:
        # The file is replaced in one step, so that a reader sees the old records or the new ones.
        tables = [local_files.toml_table(f"[[{self.entry}]]", self.write(record)) for record in records]
        try:
            local_files.write_text(self.file(root), "\n".join(tables))
        except UnicodeEncodeError:
            raise BadRecord(Message("a text of this {entry} is no UTF-8: correct it", entry=self.entry)) from None
