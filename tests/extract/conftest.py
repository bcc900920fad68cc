"""Pages of the sources' cases as the parsers get them. What a case is, `test_sources.py` says."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from datetime import datetime

import pytest

from gpuledger.extract import source
from gpuledger.extract.source import Page


@pytest.fixture(scope="session")
def fixture_page() -> Callable[[str, str], Page]:
    """`fixture_page(source, case)`: the page beside `cases/<case>.json` in the source's folder."""
    return _load


def _load(name: str, case: str) -> Page:
    expectation = source.folder(name) / "cases" / f"{case}.json"
    files = [file for file in expectation.parent.glob(f"{case}.*") if file != expectation]
    assert len(files) == 1, f"{expectation} needs exactly one page beside it, and has {[file.name for file in files]}"
    told = json.loads(expectation.read_text(encoding="utf-8"))
    content = files[0].read_bytes()
    url = told.get("url", "")
    return Page(
        url=url,
        final_url=url,
        content=content,
        sha256=hashlib.sha256(content).hexdigest(),
        fetched_at=datetime.fromisoformat(told.get("fetched_at", "2023-11-16T03:00:00+00:00")),
        headers={"content-type": told.get("content_type", "text/html; charset=utf-8")},
    )
