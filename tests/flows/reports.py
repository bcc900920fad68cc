"""The report as the command writes it, its tree, and the tables in it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import lxml.html
from click.testing import CliRunner
from lxml.html import HtmlElement

from gpuledger.flows.cli import cli


def write_report(data: Path, to: Path) -> None:
    """`gpuledger report`, in this process."""
    result = CliRunner().invoke(cli, ["report", str(to), "--data-dir", str(data)], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    assert result.output == f"{to / 'index.html'}\n"


def report(data: Path, to: Path) -> tuple[bytes, HtmlElement]:
    """The file that the command writes, and its tree."""
    write_report(data, to)
    return (to / "index.html").read_bytes(), tree(to / "index.html")


def tree(file: Path) -> HtmlElement:
    """The page of a file."""
    parser = lxml.html.HTMLParser(encoding="utf-8", huge_tree=True)
    return lxml.html.document_fromstring(file.read_bytes(), parser=parser)


def shown(page: HtmlElement) -> dict[str, Any]:
    """What the page's scripts read."""
    found: dict[str, Any] = json.loads(page.xpath("//script[@id='contents']")[0].text)
    return found


def table(found: dict[str, Any], name: str) -> list[dict[str, Any]]:
    """The rows of a table of the page."""
    return [dict(zip(found[name]["columns"], row, strict=True)) for row in found[name]["rows"]]
