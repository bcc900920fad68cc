"""Every source, against the pages among its cases.

`extract/sources/<source>/cases/<case>.json` says what the page beside it (`<case>.html`, `.csv`, `.xml`, `.xlsx`, or
`<case>.page.json` for a page that is JSON) must give:

    {"url": …, "fetched_at": …, "content_type": …, "raises": "LayoutChanged", "items": [{"kind": "offer", …}, …]}

`url`, `fetched_at` and `content_type` are of the page and may be left out. `items` are all items, issues and links in
their order, each as one line of `items.to_json`; `gpuledger parse` prints the items of it, and tells the issues on standard
error. A field that an expectation leaves out must have its default, so that a value that appears from nowhere fails. Of an
issue only the fields that are written are compared: its wording is free.
"""

from __future__ import annotations

import dataclasses
import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gpuledger import errors, items
from gpuledger.extract import source
from gpuledger.extract.source import Page
from gpuledger.flows.words import lang
from tests.command import environment

_KINDS = {cls.KIND: cls for cls in vars(items).values() if dataclasses.is_dataclass(cls) and hasattr(cls, "KIND")}


def _expectations(name: str) -> list[Path]:
    return sorted(
        file for file in (source.folder(name) / "cases").glob("*.json") if not file.name.endswith(".page.json")
    )


def _defaults(kind: str) -> dict[str, Any]:
    fields = dataclasses.fields(_KINDS[kind])
    return {field.name: None if field.default is dataclasses.MISSING else field.default for field in fields}


CASES = [(name, expectation) for name in source.names() for expectation in _expectations(name)]


@pytest.mark.parametrize(("name", "expectation"), CASES, ids=[f"{name}-{file.stem}" for name, file in CASES])
def test_page_gives_what_is_expected(
    name: str, expectation: Path, fixture_page: Callable[[str, str], Page], subtests: pytest.Subtests
) -> None:
    told = json.loads(expectation.read_text(encoding="utf-8"))
    page = fixture_page(name, expectation.stem)
    if "raises" in told:
        with pytest.raises(getattr(errors, told["raises"])):
            list(source.get(name).parse(page))
        return
    found = [items.to_json(item) for item in source.get(name).parse(page)]
    wanted = told["items"]
    assert [_label(item) for item in found] == [_label(item) for item in wanted]
    for position, (item, want) in enumerate(zip(found, wanted, strict=True)):
        unknown = want.keys() - item.keys()
        assert not unknown, f"item {position} has no field {unknown}"
        fields = want.keys() if item["kind"] == "issue" else item.keys() - {"kind"}
        defaults = _defaults(item["kind"])
        for field in sorted(fields - {"kind"}):
            with subtests.test(msg=f"item {position}", field=field):
                assert item[field] == want.get(field, defaults[field])


def _label(item: dict[str, Any]) -> tuple[str, str]:
    naming = ("key", "gpu_name", "code", "instance", "currency", "image_url", "url")
    return item["kind"], str(next((item[field] for field in naming if item.get(field)), ""))


@pytest.mark.parametrize("name", source.names())
def test_source_has_a_case(name: str) -> None:
    assert _expectations(name), f"write extract/sources/{name}/cases/<case>.html and .json"


@pytest.mark.parametrize("name", source.names())
def test_no_stub_of_a_source_is_left(name: str) -> None:
    files = [file for file in source.folder(name).rglob("*") if file.is_file() and file.suffix != ".pyc"]
    unfinished = [file for file in files if b"TODO" in file.read_bytes()]
    assert not unfinished, "do what the TODOs say"


def test_every_page_of_a_source_has_an_expectation() -> None:
    expectations = {expectation for _, expectation in CASES}
    for name in source.names():
        for file in (source.folder(name) / "cases").glob("*"):
            assert file in expectations or file.with_name(f"{file.name.partition('.')[0]}.json") in expectations, file


@pytest.mark.parametrize("name", source.names())
def test_source_says_what_it_is(name: str) -> None:
    found = source.get(name)
    assert found.title
    assert found.kinds
    assert set(found.kinds) <= _KINDS.keys() - {"issue", "link"}
    assert all(address.startswith(("https://", "{hubs}/")) for address in found.start)
    assert all(path.startswith("/") for path in found.sample)


@pytest.mark.parametrize("name", source.names())
def test_what_a_source_is_called_is_korean_unless_it_is_a_name(name: str) -> None:
    title = source.get(name).title
    korean = lang.translations("ko")
    assert isinstance(korean, lang.Catalogue)
    assert title in korean.messages or not re.search(" [a-z]", title), "flows/words/locale/ko/LC_MESSAGES/gpuledger.po"


#: Modules that only parsers need. A night on which no page changed must not spend its time on importing them.
OF_PARSERS = (
    "lxml", "bs4", "gpuhunt", "gpuledger.extract.price", "gpuledger.extract.markup", "gpuledger.extract.product",
    "gpuledger.extract.readers", "gpuledger.extract.words",
)  # fmt: skip


def test_to_know_all_sources_imports_no_parser() -> None:
    program = "import sys; from gpuledger.extract.source import discover; discover(); print(*sys.modules, sep='\\n')"
    done = subprocess.run(
        [sys.executable, "-c", program], check=True, env=environment(), capture_output=True, text=True, encoding="utf-8"
    )
    imported = done.stdout.split()
    assert "gpuledger.extract.sources" in imported
    assert [name for name in imported if f"{name}.".startswith(tuple(f"{one}." for one in OF_PARSERS))] == []
    assert [name for name in imported if name.startswith("gpuledger.extract.sources.")] == []


def test_unknown_source_is_told_with_the_known_ones() -> None:
    with pytest.raises(KeyError, match="newegg"):
        source.get("no_such_shop")


def test_a_price_counts_as_a_sign_of_stock_only_where_a_contract_says_why() -> None:
    says = {name for name in source.names() if source.priced_is_in_stock(name)}
    assert says == {"danawa", "danawa_daily", "ebay", "newegg"}
    for name in says:
        document = tomllib.loads((source.folder(name) / "contract.toml").read_text(encoding="utf-8"))
        assert len(document["stock"]["reason"].split()) > 5
