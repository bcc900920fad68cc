"""`gpuledger sources check`: one page of each source, what it gives, and nothing written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from gpuledger.extract import source as sources
from gpuledger.extract.sample import server
from gpuledger.flows.cli import cli


def check(data: Path, *words: str) -> Result:
    return CliRunner().invoke(
        cli, ["sources", "check", "--sample", "--data-dir", str(data), *words], standalone_mode=False
    )


def answers(result: Result) -> dict[str, dict[str, Any]]:
    return {row["source"]: row for row in json.loads(result.output)}


def test_every_source_is_asked_for_one_page_and_nothing_is_written(tmp_path: Path) -> None:
    result = check(tmp_path / "data", "--format", "json")
    assert result.return_value == 0
    found = answers(result)
    assert tuple(sorted(found)) == sources.names()
    for name, row in found.items():
        source = sources.get(name)
        assert row["status"] == ("ok" if source.sample else "idle"), row
        if source.sample:
            assert row["url"] == server.start_urls(source)[0]
            assert set(row["items"]) & set(source.kinds), "what it promises to give"
    assert found["ecb_fx"]["first"]["kind"] == "fx_rate"
    assert [issue["code"] for issue in found["newegg"]["issues"]] == ["no_price"]
    assert not (tmp_path / "data").exists()


def test_a_source_that_fails_says_why_and_the_status_is_1(tmp_path: Path) -> None:
    result = check(tmp_path, "bhphoto", "ecb_fx", "--night", "2", "--format", "json")
    assert result.return_value == 1
    found = answers(result)
    assert {name: row["status"] for name, row in found.items()} == {"bhphoto": "failed", "ecb_fx": "ok"}
    assert found["bhphoto"]["reason"].startswith("LayoutChanged: no listing card matches")
    assert "2 checked, 1 failed: bhphoto" in check(tmp_path, "bhphoto", "ecb_fx", "--night", "2").output


def test_a_page_that_is_read_without_finding_anything_fails(tmp_path: Path) -> None:
    quote = tmp_path / "inbox" / "quote.csv"
    quote.parent.mkdir()
    quote.write_text("product,price,currency\n")
    words = ("sources", "check", "quotes", "--format", "json", "--data-dir", str(tmp_path))
    (row,) = answers(CliRunner().invoke(cli, words)).values()
    assert (row["status"], row["url"]) == ("failed", "file:quote.csv")
    assert row["reason"].startswith("neither an item nor a link")
    quote.write_text("product,price,currency\nGeForce RTX 4090,1599,USD\n")
    (row,) = answers(CliRunner().invoke(cli, words)).values()
    assert (row["status"], row["items"], row["first"]["price"]) == ("ok", {"offer": 1}, "1599")


def test_a_page_that_is_not_there_fails(tmp_path: Path, site: Path) -> None:
    (site / "danawa" / "sample" / "night1" / "list" / "index.html").unlink()
    row = answers(check(tmp_path / "data", "danawa", "--format", "json"))["danawa"]
    assert (row["status"], row["items"], row["reason"].partition(":")[0]) == ("failed", {}, "NotFound")


def test_the_list_still_stands_without_a_subcommand() -> None:
    listed = json.loads(CliRunner().invoke(cli, ["sources", "--format", "json"]).output)
    assert tuple(row["source"] for row in listed) == sources.names()
