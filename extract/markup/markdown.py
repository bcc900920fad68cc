"""Tables of a Markdown file, as GitHub's flavour writes them: pipes between cells, and a line of dashes under the header."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

from gpuledger.extract.markup.tables import MAX_CELLS, Row, Table, TableTooLarge

_HEADING = re.compile(r"^ {0,3}#{1,6}\s+(?P<text>.*?)\s*#*\s*$")
_FENCE = re.compile(r"^ {0,3}(```|~~~)")
_RULE = re.compile(r"^\s*\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*$")
#: A pipe between two cells. A pipe behind a backslash is part of its cell's text.
_PIPE = re.compile(r"(?<!\\)\|")
_FOOTNOTE = re.compile(r"<sup>.*?</sup>|\[\^[^\]]*\]", re.IGNORECASE)
_IMAGE = re.compile(r"!\[[^\]]*\]\([^)]*\)")
_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
_TAG = re.compile(r"<[^>]{1,200}>")
_MARKS = re.compile(r"(\*\*|__|~~|`|(?<![\w*])\*(?=\S)|(?<=\S)\*(?![\w*]))")


def read_tables(text: str) -> Iterator[Table]:
    """Every table with a header and at least one row, in the order of the file. Skips code blocks.

    Raises TableTooLarge.
    """
    heading, fenced, position = "", "", 0
    lines = text.splitlines()
    at = 0
    while at < len(lines):
        line = lines[at]
        if fence := _FENCE.match(line):
            fenced = "" if fenced == fence[1] else fenced or fence[1]
        elif not fenced and (match := _HEADING.match(line)):
            heading = plain(match["text"])
        elif not fenced and "|" in line and at + 1 < len(lines) and "-" in lines[at + 1] and _RULE.match(lines[at + 1]):
            header = _cells(line)
            rows: list[Row] = []
            at += 2
            while at < len(lines) and "|" in lines[at] and not _FENCE.match(lines[at]):
                cells = _cells(lines[at])
                rows.append((*cells[: len(header)], *[""] * (len(header) - len(cells))))
                if len(rows) * len(header) > MAX_CELLS:
                    raise TableTooLarge(f"a table of more than {MAX_CELLS:,} cells below {heading!r}")
                at += 1
            if rows and any(header):
                yield Table(position=position, caption="", heading=heading, header=header, rows=tuple(rows))
                position += 1
            continue
        at += 1


def plain(text: str) -> str:
    """The words of a cell or heading: without links, pictures, footnotes, tags and emphasis."""
    text = _LINK.sub(r"\1", _IMAGE.sub("", _FOOTNOTE.sub("", text)))
    text = _MARKS.sub("", _TAG.sub(" ", text).replace(r"\|", "|"))
    return re.sub(r"\s+", " ", html.unescape(text)).strip()


def _cells(line: str) -> Row:
    line = line.strip()
    line = line[1:] if line.startswith("|") else line
    line = line[:-1] if line.endswith("|") and not line.endswith(r"\|") else line
    return tuple(plain(cell) for cell in _PIPE.split(line))
