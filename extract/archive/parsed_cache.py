"""The cache of parsed items beside the archive, so that an unchanged parser does not parse unchanged bytes again."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import zlib
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from gpuledger.errors import LayoutChanged
from gpuledger.extract.source import Page, Source, names
from gpuledger.items import Parsed, from_json, to_json

#: A record with this key stands in place of items if the parser refused the page: address, what was seen, what to do.
_REFUSED = "layout_changed"
#: The folder with the code of all parsers.
ROOM = Path(__file__).parents[1]


class ParsedCache:
    """The items of each page, or its refusal, by source, parser and page.

    A file that cannot be read counts as absent, and the page is parsed again.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        # Computed here and not for the first page, because pages of many sources come at once and each would read all files.
        self._parsers = parser_code()

    def get(self, source: Source, page: Page) -> list[Parsed] | None:
        """The items of an earlier parse of the same bytes at the same address. None if there was no such parse.

        Raises LayoutChanged if that parse raised it.
        """
        try:
            with gzip.open(self._path(source, page), "rt", encoding="utf-8") as lines:
                head, *items = lines
            # The checksum makes sure that we do not believe a price that somebody edited in this file. The count makes sure
            # that a file which lost its content in a power cut does not count as a page without items, which would end every
            # listing of the page.
            if json.loads(head) != _head(items):
                return None
            records = [json.loads(item) for item in items]
            if not (records and _REFUSED in records[0]):
                return [from_json(record) for record in records]
            refusal = LayoutChanged(*records[0][_REFUSED])
        except (OSError, EOFError, ValueError, TypeError, AttributeError, ArithmeticError, RecursionError, zlib.error):
            return None
        raise refusal

    def put(self, source: Source, page: Page, items: Sequence[Parsed]) -> None:
        """Store the items of a page."""
        self._write(source, page, [to_json(item) for item in items])

    def put_refusal(self, source: Source, page: Page, refusal: LayoutChanged) -> None:
        """Store that the parser refused a page, if the same bytes will be refused again."""
        if refusal.is_by_content:
            self._write(source, page, [{_REFUSED: [refusal.url, refusal.seen, refusal.action]}])

    def _write(self, source: Source, page: Page, records: Sequence[Mapping[str, object]]) -> None:
        path = self._path(source, page)
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = [json.dumps(record, ensure_ascii=False) + "\n" for record in records]
        text = "".join([json.dumps(_head(lines)) + "\n", *lines])
        part = path.with_suffix(f".{os.getpid()}.part")
        part.write_bytes(gzip.compress(text.encode(), compresslevel=1, mtime=0))
        part.replace(path)

    def stale(self, pages: Collection[str]) -> list[Path]:
        """Files that nobody will need again: those of an earlier parser, or of a page that is not in `pages`."""
        current = {f"{name}/{self._parsers}" for name in names()}
        return [
            path
            for path in sorted(self._root.glob("*/*/*"))
            if path.parent.relative_to(self._root).as_posix() not in current or path.name.partition("-")[0] not in pages
        ]

    def _path(self, source: Source, page: Page) -> Path:
        # The address is part of the file name, because relative links and the page's own product depend on it.
        address = hashlib.sha256(f"{page.url} {page.final_url}".encode()).hexdigest()[:12]
        return self._root / source.name / self._parsers / f"{page.sha256}-{address}.jsonl.gz"


def _head(lines: Sequence[str]) -> dict[str, int | str]:
    """The first line of a file: the count and the checksum of the other lines."""
    return {"items": len(lines), "sha256": hashlib.sha256("".join(lines).encode()).hexdigest()}


def parser_code() -> str:
    """Fingerprint of all code and word tables in `extract/`, because a parser also uses shared readers."""
    digest = hashlib.sha256()
    files = (path for kind in ("*.py", "*.toml") for path in ROOM.rglob(kind))
    # A contract does not change what a parser reads.
    for path in sorted(path for path in files if path.name != "contract.toml"):
        digest.update(path.relative_to(ROOM).as_posix().encode() + path.read_bytes())
    return digest.hexdigest()[:12]
