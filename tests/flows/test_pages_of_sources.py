"""What a person who mends a parser is given: two pages side by side, selectors from an example, and a report to send."""

from __future__ import annotations

import hashlib
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from gpuledger.extract import side_by_side
from gpuledger.extract import source as sources
from gpuledger.extract.archive.snapshots import Archive
from gpuledger.extract.fetch.fetched import Fetched
from gpuledger.extract.sample import server
from gpuledger.extract.source import Page
from gpuledger.flows.cli import cli
from tests.flows.inprocess import SITE
from tests.flows.test_drift import CHANGES

NIGHT = datetime(2024, 1, 1, 3, tzinfo=UTC)
LISTS = {"newegg": "gpus/index.html", "bhphoto": "c/buy/graphics-cards/index.html", "danawa": "list/index.html"}


def text_of(source: str) -> str:
    return (SITE / source / "sample" / "night1" / LISTS[source]).read_text(encoding="utf-8")


def page_of(source: str, text: str) -> Page:
    content, url = text.encode(), f"http://{server.host(source)}/list"
    sha256 = hashlib.sha256(content).hexdigest()
    return Page(url=url, final_url=url, content=content, sha256=sha256, fetched_at=NIGHT, headers={})


def run(*words: str) -> Result:
    return CliRunner().invoke(cli, ["sources", *words], standalone_mode=False)


#: What was where a field is lost, and what a person must see in its place: the line of each page that differs.
SEEN = {
    "the price has another class": ("offer.price", "price-current", "price-now"),
    "the maker is a text": ("offer.brand", "<img src=", "Norvik"),
    "the line of numbers is gone": ("offer.sku", "miniProductPageProductSkuInfo", "productCodes"),
    "the cards are other elements": ("offer", "prod_item", "prod_card"),
}


@pytest.mark.parametrize("name", SEEN)
def test_two_pages_side_by_side(name: str) -> None:
    source, change, _ = CHANGES[name]
    field, before, after = SEEN[name]
    then = page_of(source, text_of(source))
    compared = side_by_side.compare(sources.get(source), then, page_of(source, change(text_of(source))))
    (one,) = [one for one in compared.lost if one.name == field]
    assert one.then.count > one.now.count
    different = [pair for pair in side_by_side.aligned(one.then.markup, one.now.markup) if pair[0] != pair[1]]
    assert any(before in line for line, _ in different), different
    assert any(after in line for _, line in different), different
    assert bool(compared.failure) == (field == "offer")
    same = side_by_side.compare(sources.get(source), then, then)
    assert [one.name for one in same.lost] == []


def test_the_command_finds_the_two_pages_itself(tmp_path: Path) -> None:
    archive = Archive(tmp_path / "snapshots")
    source, change, _ = CHANGES["the price has another class"]
    url = f"http://{server.host(source)}/gpus/"
    texts = [text_of(source), text_of(source), change(text_of(source))]
    hashes = [
        archive.save(
            source,
            Fetched(url=url, final_url=url, status=200, headers={"content-type": "text/html"}, content=text.encode()),
            NIGHT + timedelta(days=day),
            f"run{day}",
        ).sha256
        for day, text in enumerate(texts)
    ]
    result = run("diff", source, "--format", "json", "--data-dir", str(tmp_path))
    shown: dict[str, Any] = json.loads(result.output)
    assert result.return_value == 3
    assert (shown["then"]["sha256"], shown["now"]["sha256"]) == (hashes[0], hashes[2])
    price = next(one for one in shown["fields"] if one["name"] == "offer.price")
    assert (price["is_lost"], price["now"]["count"]) == (True, 0)
    assert any("price-now" in line for line in price["now"]["markup"])
    backwards = run("diff", source, "--page", hashes[0][:8], "--against", hashes[2][:8], "--data-dir", str(tmp_path))
    assert backwards.return_value == 0, "nothing is lost"
    table = run("diff", source, "--data-dir", str(tmp_path)).output
    assert '≠\t·<li class="price-current">\t·<li class="price-now">' in table
    with pytest.raises(Exception, match="no page of it is archived"):
        CliRunner().invoke(cli, ["sources", "diff", "danawa", "--data-dir", str(tmp_path)], standalone_mode=False,
                           catch_exceptions=False)  # fmt: skip


def test_a_name_that_is_no_source(tmp_path: Path) -> None:
    commands: list[tuple[str, ...]] = [("diff", "neweg"),
                                       ("correct", "neweg", "k", "brand", "--new", "x")]  # fmt: skip
    for words in commands:
        refused = CliRunner().invoke(cli, ["sources", *words, "--data-dir", str(tmp_path)])
        assert refused.exit_code == 2
        assert "did you mean newegg?" in refused.output
