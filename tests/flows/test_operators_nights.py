"""What an operator lives through: the documented commands typed between nights, and a week in which sources fail.

The nights are those of the live sources, whose hosts lead to the sample site on this machine.
"""

from __future__ import annotations

import json
import logging
import re
import shlex
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import minisign
import pytest
from click.testing import CliRunner

from gpuledger.extract import source as sources
from gpuledger.extract.collect import Collected, Reading
from gpuledger.extract.fetch.http import Client, HttpSettings
from gpuledger.extract.sample import server
from gpuledger.extract.sample.server import SampleSite, start_urls
from gpuledger.flows.cli import cli
from gpuledger.flows.night import gather
from gpuledger.flows.night.context import Context, utc_now
from gpuledger.flows.night.gather import Reader
from gpuledger.flows.night.refresh import run
from gpuledger.flows.night.summary import Summary
from gpuledger.flows.settings import settings
from gpuledger.flows.telling import health, logs
from gpuledger.flows.telling.alerts import run_and_report
from gpuledger.warehouse.paths import DataDir
from tests.command import Outcome, gpuledger, rows, succeeds
from tests.flows import inprocess
from tests.nights import Night
from tests.test_docs import called

#: Nobody listens there.
NOBODY = "http://127.0.0.1:1"
OPERATIONS = Path(__file__).parents[2] / "docs" / "operations.md"
#: The sources that have a part in the sample, so that a host of theirs answers here.
HERE = [source.name for source in sources.discover() if source.sample and source.start]


def live(data: Path, night: int, site: int | None = None) -> Context:
    """The night of all live sources, as a timer starts it; `site` is the night of the sample that answers for them."""
    first = inprocess.context(data, min(site or night, 3))
    return replace(first, sample_night=None, as_of=server.clock(1) + timedelta(days=night - 1))


def night(context: Context, site: int, answers: Callable[[str], bool] = lambda name: True) -> Summary:
    """Run a night with its log and alerts. Sources for which `answers` is false find nobody who listens."""

    def read(reader: Reader, readings: list[Reading]) -> list[Collected]:
        with (
            SampleSite(site) as sample,
            Client(HttpSettings(delay_s=0.0, max_attempts=1, connect_to=dict(sample.connect_to))) as client,
        ):
            here = replace(reader, client=client)
            return [here.read_source(_of_the_sample(reading, answers)) for reading in readings]

    return run_and_report(context, lambda: run(context, read))


def picked(data: Path) -> tuple[str, str]:
    """The shop of the first pick, and the mark of its price."""
    asked = ("buy", "--model", "llama-3.1-8b", "--condition", "new", "--format", "json")
    first = json.loads(succeeds(*asked, data=data).out)["options"][0]
    return first["source"], first["price_mark"]


def _of_the_sample(reading: Reading, answers: Callable[[str], bool]) -> Reading:
    if not reading.starts:
        return reading
    if reading.source.name in HERE and answers(reading.source.name):
        return replace(reading, starts=start_urls(reading.source))
    return replace(reading, starts=["http://nobody.invalid/"])


@pytest.fixture
def logged() -> Iterator[None]:
    """The log as a unit writes it."""
    logs.set_up(settings.load({}), "INFO")
    yield
    logging.getLogger("gpuledger").handlers[:] = []


#: What a reader of docs/operations.md puts in place of a word of it.
MEANT = {
    "FILE": "{folder}/metrics", "SOURCE": "newegg", "my_shop": "danawa", "KEY": "{key}", "FIELD": "seller", "VALUE": "N",
    "TITLE": "'Card X'", "GPU_ID": "not_a_gpu", "WHY": "r", "URL": "https://www.example.com/terms", "LISTING": "{listing}",
    "WORKLOAD": "sd-512-image-generation", "2026-11-01": "{today}", "/srv/gpuledger": "{folder}/data",
    "s3://bucket/prefix": "{public}", "https://host/path": "{address}", "RWQ…": "{public_key}",
}  # fmt: skip
#: The commands that are not typed with the others, each with the reason and the test that types it.
NOT_TYPED = {
    "serve": "it stays: ops/test_serve.py",
    "watch test --send": "somebody must be there to be told: ops/test_watches.py",
}
#: How commands end that do not end with 0, by their night: nothing is to release, and a shop of the sample fails.
STATUS = {
    (1, "release --source SOURCE"): 2, (1, "release LISTING --reason WHY"): 2, (2, "refresh"): 3, (3, "refresh"): 3,
}  # fmt: skip
#: After this one the second night comes; after the last one the third.
FORBIDDEN = "sources terms SOURCE forbidden --page URL"


def test_the_documented_commands_in_their_order_leave_the_nights_after_them_whole(
    tmp_path: Path, place: tuple[Path, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A source that a person left out ended each later night in a traceback, and was asked four times a night for it."""
    data, keys = tmp_path / "data", minisign.KeyPair.generate()
    monkeypatch.setenv("GPULEDGER_DATA_DIR", str(data))
    monkeypatch.setenv("GPULEDGER_DELAY_S", "0")
    monkeypatch.setattr(sources.Source, "addresses", lambda source, settings: start_urls(source))
    known = {
        "folder": tmp_path, "today": datetime.now(UTC).date(), "public": place[0], "address": place[1],
        "public_key": keys.public_key.to_base64().decode(),
    }  # fmt: skip
    secret = {"GPULEDGER_PUBLISH_KEY": bytes(keys.secret_key).decode(), "GPULEDGER_DATA_DIR": str(data)}

    def here(*words: str) -> Outcome:
        """Asks sources in this process, which alone knows where their hosts are tonight."""
        done = CliRunner().invoke(cli, words, standalone_mode=False)
        assert done.exception is None, (words, done.exception)
        return Outcome(done.return_value, done.stdout, done.stderr)

    def typed(command: str) -> Outcome:
        for word, meant in MEANT.items():
            command = re.sub(rf"(?<![\w/]){re.escape(word)}(?!\w)", meant, command)
        words = [word.format_map(known) for word in shlex.split(command)]
        if words[0] == "refresh":
            return here(*words, "--engine", "plain")
        asks_sources = words[0] == "doctor" or words[:2] == ["sources", "check"]
        return here(*words) if asks_sources else gpuledger(*words, env=secret)

    named = [*dict.fromkeys(call for call, _, _ in called(OPERATIONS))]
    commands = [command for command in named if command not in NOT_TYPED]
    assert len(named) == len(commands) + len(NOT_TYPED)
    second = commands.index(FORBIDDEN) + 1
    ended: dict[tuple[int, str], tuple[int, str]] = {}
    for number, part in ((1, commands[:second]), (2, ["refresh", *commands[second:]]), (3, ["refresh"])):
        with SampleSite(number) as site, monkeypatch.context() as tonight:
            tonight.setattr(gather, "own_machines", lambda *hubs, site=site: site.connect_to)
            for command in part:
                outcome = typed(command)
                if outcome.status:
                    ended[number, command] = outcome.status, outcome.err[-300:]
                if (number, command) == (1, "refresh"):
                    newegg = (
                        "SELECT listing_key, listing_id FROM core.listing WHERE source = 'newegg' ORDER BY 1 LIMIT 1"
                    )
                    known["key"], known["listing"] = rows(data, newegg)[0]
                    (data / "inbox").mkdir()
                    (data / "inbox" / "quote.csv").write_text("product,price,currency\nGeForce RTX 4090,1599,USD\n")
                elif command == "refresh":
                    assert "newegg left out: its terms forbid it" in outcome.out
                    assert "warehouse  " in outcome.out, "it published"
    assert {command: status for command, (status, _) in ended.items()} == STATUS, ended


@pytest.mark.usefixtures("logged")
def test_a_night_in_which_no_shop_answers_publishes_nothing_and_every_other_fault_is_of_one_source(
    tmp_path: Path,
) -> None:
    """35 figures that come with the program were a published night, with no alert and no second try."""
    data = tmp_path / "data"
    assert night(live(data, 1), 1).published
    day = 1
    others = [name for name in HERE if name != "newegg"]
    for away in ({"newegg"}, *map(set, zip(others[::2], others[1::2], strict=True))):
        day += 1
        summary = night(live(data, day, 1), 1, lambda asked, away=away: asked not in away)  # type: ignore[misc]
        assert summary.exit_status == 3, away
        assert {one.source for one in summary.sources if one.needs_somebody} >= away
        assert not any(one.emptied for one in summary.sources), "that nobody answers is no change of a layout"
        if away == {"newegg"}:
            assert picked(data) == ("newegg", "stale"), (
                "a dearer card of a shop that answered was picked: 1,129, not 280"
            )
    published = (data / "gpuledger.duckdb").resolve()
    for _ in range(2):
        day += 1
        nobody = night(live(data, day, 1), 1, lambda asked: False)
        assert (nobody.exit_status, nobody.published) == (1, None)
        assert nobody.reason == "no shop, cloud or exchange rate answered"
    assert (data / "gpuledger.duckdb").resolve() == published
    told = json.loads(gpuledger("status", "--format", "json", data=data).out)
    assert "failed" in json.dumps(told)
    assert night(live(data, day + 100, 1), 1, lambda asked: asked != "newegg").published, "the next good night goes on"
    assert picked(data) == ("bhphoto", ""), "a price that nobody confirmed for three months is behind"


def test_invented_prices_are_marked_at_every_door_and_no_real_run_stands_beside_them(
    nights: dict[int, Night], tmp_path: Path
) -> None:
    """`show` said "lowest ever" of a page that we wrote, and after one real run nothing was marked any more."""
    data = nights[2].copy(tmp_path / "data")
    before = (data / "gpuledger.duckdb").resolve()
    (tmp_path / "VGA.csv").write_text("Id,Name,2021-03-01 10:10:01\n", encoding="utf-8")
    for real in (("refresh", "--engine", "plain"), ("refresh",), ("backfill", tmp_path / "VGA.csv"), ("pull", NOBODY)):
        refused = gpuledger(*real, data=data)
        assert refused.status == 2
        assert all(word in refused.err for word in ("--data-dir", "--keep-sample", "invented"))
    assert (data / "gpuledger.duckdb").resolve() == before
    assert night(live(data, 9, 1), 1).published, "with --keep-sample"
    asked_at = utc_now()
    assert health.clock(DataDir(data)) >= asked_at, "of real prices ages count until now"

    def asked(*words: str) -> str:
        return succeeds(*words, data=data).out

    for words in (
        ("price", "4090"), ("price", "4090", "--as-of", "2023-11-16"), ("value", "sd-512-image-generation"),
        ("value", "sd-512-image-generation", "--as-of", "2023-11-16"), ("show", "4090"),
        ("buy", "--model", "llama-3-8b"),
    ):  # fmt: skip
        assert "invented" in asked(*words), words
        if words[0] != "buy":
            assert "invented" in asked(*words, "--format", "json"), words
    report = tmp_path / "report"
    succeeds("report", report, data=data)
    pages = [page.read_text("utf-8") for page in report.rglob("*") if page.suffix in (".html", ".js", ".json")]
    assert any('"is_sample":true' in page.replace(" ", "") for page in pages)


def test_what_no_shop_has_has_the_price_of_its_maker_behind_them_and_a_currency_the_rate_of_the_program(
    tmp_path: Path,
) -> None:
    """An empty folder answered in euro and in won, and of more cards, and a folder with a good night did not."""
    data = tmp_path / "data"
    assert night(live(data, 1), 1, lambda name: name in ("newegg", "danawa")).published
    in_won = json.loads(succeeds("price", "--market", "kr", "--format", "json", data=data).out)
    priced = {(row["source"], row["price_mark"]) for row in in_won if row["price_usd"]}
    assert priced == {("danawa", "rate of 2026-10-30")}, "no night has read a rate"
    for market, currency in (("de", "EUR"), ("kr", "KRW")):
        asked = ("buy", "--model", "llama-3.1-8b", "--market", market, "--currency", currency)
        found = json.loads(succeeds(*asked, "--limit", 0, "--format", "json", data=data).out)["options"]
        marks = {row["price_mark"] for row in found if row["way"] == "buy" and row[f"price_{currency.lower()}"]}
        assert marks == {"launch price", "list price"} | ({"rate of 2026-10-30"} if market == "kr" else set())
    asked = ("buy", "--model", "llama-3.1-8b", "--format", "json", "--limit", 0)
    (tmp_path / "home").mkdir()
    empty = {row["gpu_id"]: row for row in json.loads(succeeds(*asked, cwd=tmp_path / "home").out)["options"]}
    found = json.loads(succeeds(*asked, "--order", "total", data=data).out)["options"]
    assert {row["gpu_id"] for row in found} >= empty.keys()
    newest = {row["gpu_id"]: row["source"] for row in found if row["gpu_count"] == 1}
    assert {"newegg", "list price"} <= set(newest.values())
    listed = json.loads(succeeds(*asked[:-2], data=data).out)["options"]
    assert {row["source"] for row in listed if row["condition"] == "new"} == {"newegg"}, "the shop's come first"
    of_one = gpuledger("buy", "--model", "llama-3.1-405b", "--shop", "newegg", data=data)
    assert "without --shop there are " in of_one.err
    assert re.search(r"1 USD = 1,\d{3} KRW, 2026-10-30", succeeds("price", "4090", "--currency", "KRW", data=data).err)
    assert night(live(data, 2, 1), 1, lambda name: name in ("newegg", "ecb_fx")).published
    for day in (10, 30):
        assert night(live(data, day, 1), 1, lambda name: name == "newegg").published
    held = rows(data, "SELECT fx_day::VARCHAR FROM core.fx_usd WHERE currency = 'KRW'")
    assert held == [("2023-11-16",)], "the last rate stays, with its day"
