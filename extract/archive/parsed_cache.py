"""What a parser gave for a page, kept beside the archive: unchanged bytes are not parsed again by an unchanged parser."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import zlib
from collections.abc import Collection, Sequence
from functools import cache
from pathlib import Path

from gpuledger.extract.items import Parsed, from_json, to_json
from gpuledger.extract.source import Page, Source, get, names

#: All that parsers are made of.
ROOM = Path(__file__).parents[1]


class ParsedCache:
    """Items by source, parser version and page. A file that cannot be read counts as absent; the page is parsed again."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def get(self, source: Source, page: Page) -> list[Parsed] | None:
        """The items of an earlier parse of the same bytes at the same address; None where there was none."""
        try:
            with gzip.open(self._path(source, page), "rt", encoding="utf-8") as lines:
                # The number of items comes first: a file that lost its content with the power reads as no lines, and a
                # page without items would end every listing that it had.
                count, *items = (json.loads(line) for line in lines)
            return [from_json(item) for item in items] if len(items) == count else None
        except (OSError, EOFError, ValueError, TypeError, AttributeError, ArithmeticError, zlib.error):
            return None

    def put(self, source: Source, page: Page, items: Sequence[Parsed]) -> None:
        """Keep the items of a page."""
        path = self._path(source, page)
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = (len(items), *map(to_json, items))
        text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
        part = path.with_suffix(f".{os.getpid()}.part")
        part.write_bytes(gzip.compress(text.encode(), compresslevel=1, mtime=0))
        part.replace(path)

    def stale(self, pages: Collection[str]) -> list[Path]:
        """Files that nothing will ask for: of another version of a parser, or of a page that is not among `pages`."""
        current = {f"{name}/v{get(name).version}-{parser_code()}" for name in names()}
        return [
            path
            for path in sorted(self._root.glob("*/*/*"))
            if path.parent.relative_to(self._root).as_posix() not in current or path.name.partition("-")[0] not in pages
        ]

    def _path(self, source: Source, page: Page) -> Path:
        # The address is part of the name: relative links and the page's own product depend on it.
        address = hashlib.sha256(f"{page.url} {page.final_url}".encode()).hexdigest()[:12]
        return self._root / source.name / f"v{source.version}-{parser_code()}" / f"{page.sha256}-{address}.jsonl.gz"


@cache
def parser_code() -> str:
    """Fingerprint of all code and tables of words in `extract/`: a parser leans on shared readers, whose change no version
    number tells.
    """
    digest = hashlib.sha256()
    files = (path for kind in ("*.py", "*.toml") for path in ROOM.rglob(kind))
    # What is expected of a source's rows changes nothing of what is read.
    for path in sorted(path for path in files if path.name != "contract.toml"):
        digest.update(path.relative_to(ROOM).as_posix().encode() + path.read_bytes())
    return digest.hexdigest()[:12]
