"""The report: one file that needs nothing else; every figure leads to its evidence, and nothing that a shop wrote runs."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import shutil
import subprocess
import tomllib
from datetime import date, timedelta
from decimal import Decimal
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml.html import HtmlElement

from gpuledger.extract.archive.snapshots import Archive
from gpuledger.flows.cli import cli
from gpuledger.flows.doors.agent.tools import Tools
from gpuledger.transform.report import contents as contents_module
from gpuledger.transform.report.advised import advice
from gpuledger.transform.report.history import Day, packed
from gpuledger.transform.report.questions import QUESTIONS, Kept
from gpuledger.warehouse.outputs.report import files
from gpuledger.warehouse.paths import DataDir
from tests.command import rows
from tests.flows.inprocess import refresh
from tests.flows.reports import report, shown, table, tree
from tests.nights import Night


@pytest.fixture(scope="module")
def page(report_file: Path) -> HtmlElement:
    return tree(report_file)


@pytest.fixture(scope="module")
def found(page: HtmlElement) -> dict[str, Any]:
    return shown(page)


def test_nothing_is_fetched_and_only_its_own_scripts_run(page: HtmlElement) -> None:
    assert not page.xpath("//link | //img | //iframe | //object | //embed | //video | //form | //@src | //base")
    assert not page.xpath("//@*[starts-with(name(), 'on')]")
    assert not re.search(r"url\(|@import", " ".join(page.xpath("//style/text()")))
    assert set(page.xpath("//a/@href")) == {"#main"}, "the others are made of what is shown"
    (policy,) = page.xpath("//meta[@http-equiv='Content-Security-Policy']/@content")
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    running = [script.text for script in page.xpath("//script[not(@type)]")]
    assert len(running) == len(files.LIBRARIES) + len(files.SCRIPTS)
    for script in running:
        assert base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() in policy


def test_the_libraries_are_those_that_were_published() -> None:
    listed = tomllib.loads((files.ROOM / "vendor" / "libraries.toml").read_text(encoding="utf-8"))["library"]
    assert {f"vendor/{one['file']}" for one in listed} == {*files.LIBRARIES}
    for one in listed:
        content = (files.ROOM / "vendor" / one["file"]).read_bytes()
        assert hashlib.sha256(content).hexdigest() == one["sha256"]
        assert one["version"].encode() in content[:200]
        licence = (files.ROOM / "vendor" / one["licence_file"]).read_text(encoding="utf-8")
        assert "Permission to use, copy, modify, and/or distribute" in licence


def test_every_price_has_its_shop_its_age_and_its_archived_page(
    nights: dict[int, Night], found: dict[str, Any]
) -> None:
    archive = Archive(nights[2].data / "snapshots")
    prices = rows(
        nights[2].data,
        "SELECT market, gpu_id, price_usd, url, snapshot_sha256 FROM mart.market_price WHERE price_usd IS NOT NULL",
    )
    assert len(prices) > 30
    by_card = {(row["market"], row["gpu_id"]): row for row in table(found, "prices")}
    for name, gpu_id, price_usd, url, sha256 in prices:
        row = by_card[name, gpu_id]
        assert row["price_usd"] == float(price_usd)
        assert row["url"] == url
        evidence, origin = found["pages"][row["evidence"]], archive.origin(sha256)
        assert origin is not None
        assert evidence == {"sha256": sha256, "url": origin.url, "fetched_at": f"{origin.fetched_at:%Y-%m-%dT%H:%MZ}"}
    assert {row["confirmed_at"][:10] for row in by_card.values() if row["shop"] == "newegg"} == {"2023-11-17"}


def test_the_tables_are_those_of_the_warehouse(nights: dict[int, Night], found: dict[str, Any]) -> None:
    (count, front), *_ = rows(nights[2].data, "SELECT count(*), count(*) FILTER (on_pareto_frontier) FROM mart.value")
    home = [row for row in table(found, "value") if row["market"] == found["run"]["home"]]
    assert (len(home), sum(row["is_front"] for row in home)) == (count, front)
    assert {row["market"] for row in table(found, "value")} == {"us", "kr", "all"}
    (stale,) = [row for row in table(found, "sources") if row["is_old"]]
    assert stale["source"] == "bhphoto"
    assert "LayoutChanged" in stale["reason"]
    changes = table(found, "changes")
    assert (1749.99, 1699.99) in {(row["old_price"], row["new_price"]) for row in changes}
    assert 799.99 not in {row["new_price"] for row in changes}, "what was there on the first night is no change"
    assert any("Halden Mini GeForce RTX 3060" in row["title"] for row in table(found, "unmatched"))
    assert sum(row["verdict"] == "agrees" for row in table(found, "claims")) > 90
    assert {row["table"] for row in table(found, "tables")} == {*contents_module.TABLES}


def test_what_is_to_be_bought_is_on_a_front_and_owning_is_what_rent_or_buy_says(
    nights: dict[int, Night], found: dict[str, Any]
) -> None:
    data = nights[2].data
    front = rows(
        data,
        """SELECT DISTINCT gpu_id FROM mart.value JOIN core.workload USING (workload_id)
           WHERE price_basis = 'street' AND on_pareto_frontier AND output IS NOT NULL""",
    )
    for _, ways in groupby(table(found, "ways"), key=lambda way: way["question"]):
        line = sorted(
            (way["outlay_usd"], way["images_per_s"] or way["each_tokens_per_s"]) for way in ways if way["is_front"]
        )
        assert [speed for _, speed in line] == sorted(speed for _, speed in line), "more money is never slower on it"
    owned = dict(rows(data, "SELECT DISTINCT gpu_id, own_total_usd FROM mart.rent_vs_buy WHERE cards = 1"))
    judged = {row["gpu_id"]: row for row in table(found, "prices") if row["market"] == "us"}
    assert {name for name, row in judged.items() if row["advice"] in ("buy", "unjudged", "wait")} == {
        gpu_id for (gpu_id,) in front
    }
    assert all(row["beaten_by"] for row in judged.values() if row["advice"] == "other")
    assert owned
    for gpu_id, own_total in owned.items():
        assert judged[gpu_id]["own_total_usd"] == pytest.approx(own_total, abs=0.011)


#: Kept questions of each kind that the grid does not hold: what is asked, the market, the currency.
KEPT: dict[str, tuple[dict[str, Any], str | None, str]] = {
    "training": ({"model": "llama-3.1-8b", "train": "qlora", "train_tokens": 20_000_000}, None, "USD"),
    "own card": ({"model": "qwen3-32b", "own": ["nvidia-geforce-rtx-3090"]}, None, "USD"),
    "days": ({"model": "gpt-oss-120b", "days": 60, "users": 4}, None, "USD"),
    "a month": ({"model": "llama-3.3-70b", "tokens_per_month": "5M", "budget": "2600"}, None, "USD"),
    "pictures": ({"model": "flux.1-dev"}, "de", "EUR"),
    "speech": ({"model": "whisper-large-v3", "speech_hours_per_day": 20}, "kr", "KRW"),
    "nothing": ({"model": "llama-3.3-70b", "budget": "10"}, None, "USD"),
}


def test_a_kept_question_of_any_kind_is_there_with_the_sentences_and_the_pick_of_buy(
    nights: dict[int, Night], tmp_path: Path
) -> None:
    data = nights[2].copy(tmp_path / "data")
    for name, (asked, market, currency) in KEPT.items():
        QUESTIONS.put(data, Kept(name=name, asked=asked, market=market, currency=currency))
    _, page = report(data, tmp_path)
    found, said = shown(page), json.loads(page.xpath("//script[@id='words']")[0].text)["said"]["en"]
    numbers = {row["name"]: number for number, row in enumerate(table(found, "questions"))}
    first = {row["question"]: row["first"] for row in table(found, "steps")}
    buy = Tools(DataDir(data), cli).all()["buy"]
    for row in table(found, "kept"):
        asked, market, currency = KEPT[row["name"]]
        told = buy(**asked, market=market, currency=currency)
        text = " ".join(said[number] for number in row["said"])
        between = ".*?".join(re.escape(part) for part in re.split("⟦.*?⟧", text))
        refusal = told["refusal"] and " ".join([told["refusal"]["reason"], *told["refusal"]["ways_out"]])
        answered = (refusal or " ".join(told["sentences"])).replace("`budget`", "--budget")  # as an agent writes it
        assert re.fullmatch(between, answered), row["name"]
        ways = [way for way in table(found, "ways") if way["question"] == numbers[row["name"]]]
        pick = ways[first[numbers[row["name"]]]]["what"] if ways else None
        assert pick == (told["picks"][0]["what"] if told["picks"] else None), row["name"]


def test_a_card_that_is_dear_just_now_is_to_be_waited_for_and_one_whose_past_is_not_known_is_not_called_a_buy() -> None:
    assert advice(Decimal(1), [True, False], "wait") == "wait"
    assert advice(Decimal(1), [True, False], "neutral") == "buy"
    assert advice(Decimal(1), [True], "buy") == "buy"
    assert advice(Decimal(1), [True, False], "unknown") == "unjudged"
    assert advice(Decimal(1), [True], None) == "unjudged"
    assert advice(Decimal(1), [False], "wait") == "other"
    assert advice(Decimal(1), [], None) == "unmeasured"
    assert advice(None, [True], "buy") == "no_price"


def test_what_a_shop_writes_is_text_and_a_warehouse_without_its_archive_is_reported_all_the_same(
    nights: dict[int, Night], tmp_path: Path, site: Path
) -> None:
    listing = site / "newegg" / "sample" / "night2" / "gpus" / "index.html"
    evil = "Norvik GeForce RTX 4090 24GB </script><script>alert(1)</script><!--"
    text = listing.read_text(encoding="utf-8")
    title = "Norvik Storm GeForce RTX 4090 24GB GDDR6X PCI Express 4.0 x16 Graphics Card NV4090-24ST"
    assert title in text
    listing.write_text(text.replace(title, evil.replace("<", "&lt;").replace(">", "&gt;")), encoding="utf-8")
    data = nights[1].copy(tmp_path / "data")
    refresh(data, 2, only=["newegg"])
    shutil.rmtree(data / "snapshots")
    content, page = report(data, tmp_path / "report")
    assert {one["fetched_at"] for one in shown(page)["pages"]} == {None}
    assert evil in {row["title"] for row in table(shown(page), "offers")}
    assert b"alert(1)</script>" not in content
    assert len(page.xpath("//script")) == len(files.LIBRARIES) + len(files.SCRIPTS) + 2
    scripts = "".join((files.ROOM / name).read_text(encoding="utf-8") for name in files.SCRIPTS)
    assert not re.search(
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|fetch\(", scripts
    )


def test_equal_warehouses_give_equal_files(nights: dict[int, Night], report_file: Path, tmp_path: Path) -> None:
    data = nights[2].copy(tmp_path / "data")
    refresh(data, 2)
    assert rows(data, "SELECT count(*) FROM ops.run") == [(3,)], "another run of the same night"
    assert report(data, tmp_path / "after")[0] == report_file.read_bytes()


@pytest.mark.parametrize(
    "url", ["javascript:alert(1)", "file:///etc/passwd", "file:quote.csv", "data:text/html,x", "", None, "//host/x", "http:///x",
            "http://[bad"]
)  # fmt: skip
def test_an_address_that_no_browser_may_be_sent_to_is_no_link(url: str | None) -> None:
    assert contents_module.web(url) is None


def unpacked(steps: dict[str, Any]) -> dict[date, tuple[int, int, int]]:
    """Every day that a price is known of, as the page reads them: low in cents, the others in dollars."""
    day, known, days = date.fromisoformat(steps["start"]), (0, 0, 0), {}
    is_known = False
    for gap, *moved in zip(steps["days"], steps["low"], steps["median"], steps["high"], strict=True):
        for n in range(gap):
            if is_known:
                days[day + timedelta(days=n)] = known
        day += timedelta(days=gap)
        is_known = moved[0] is not None
        known = tuple(a + b for a, b in zip(known, moved, strict=True)) if is_known else known  # type: ignore[assignment]
    return days


@settings(deadline=None)
@given(st.dictionaries(st.integers(0, 60), st.tuples(*[st.integers(1, 5) for _ in range(3)]), min_size=1))
def test_a_history_is_unpacked_to_the_days_that_were_packed(found: dict[int, tuple[int, int, int]]) -> None:
    days = {date(2023, 1, 1) + timedelta(days=n): prices for n, prices in sorted(found.items())}
    steps = packed(Day(day, *(Decimal(one) for one in prices), suspect=False) for day, prices in days.items())  # type: ignore[misc]
    assert unpacked(steps) == {day: (100 * low, median, high) for day, (low, median, high) in days.items()}


def test_every_text_of_the_scripts_goes_through_the_catalogue() -> None:
    """A sentence that is no `_("…")` would stay English: two words or more between quotes, or a capital letter first."""
    stray = []
    for name in files.SCRIPTS:
        text = re.sub(r"(?m)^\s*(?://|/?\*).*$", "", (files.ROOM / name).read_text(encoding="utf-8"))
        for before, literal in re.findall(r'(.{0,12})"((?:[^"\\\n]|\\.)*)"', text):
            is_prose = re.fullmatch(r"[A-Z][a-z]+|[A-Za-z]+(?: [A-Za-z,.]+)+", literal)
            if is_prose and not before.endswith("_(") and literal not in _NO_PROSE:
                stray.append(f"{name}: {literal}")
    assert stray == []
    assert len(files.of_scripts((files.ROOM / name).read_text(encoding="utf-8") for name in files.SCRIPTS)) > 200


#: Names of keys and classes, and what a browser is told.
_NO_PROSE = {
    "use strict", "noreferrer noopener", "same card", "Enter", "Escape", "fresh nowrap", "old nowrap", "utf", "Home", "End",
    "wide spare", "wide message",
}  # fmt: skip


def test_the_scripts_are_what_a_browser_reads() -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("no node is installed, which checks the syntax of scripts")
    for name in files.SCRIPTS:
        checked = subprocess.run([node, "--check", str(files.ROOM / name)], capture_output=True, text=True, check=False)
        assert checked.returncode == 0, checked.stderr
