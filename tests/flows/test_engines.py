"""Under Prefect the same functions give the same tables, and its own database shows the run, a task a source, artifacts."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import psutil
import pytest

from gpuledger.extract import source as sources
from gpuledger.flows.night.summary import Summary
from gpuledger.flows.prefect_ import artifacts
from gpuledger.warehouse.ledger import SourceOutcome
from tests.command import Outcome, csv_files, gpuledger, python_path, rows, tables
from tests.nights import Night
from tests.prove.test_same_everywhere import AT_ONCE


@pytest.fixture(scope="module")
def under_prefect(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Outcome]:
    """The first night by the command as it is typed: Prefect is the engine unless another is asked for. With another seed
    of hashes, time zone and locale, in a process of its own as the seed asks: what one of these changes is seen as well.
    """
    data = tmp_path_factory.mktemp("prefect") / "data"
    env = {**AT_ONCE, "PYTHONPATH": python_path()}
    return data, gpuledger("refresh", "--sample", "--night", 1, data=data, env=env)


@pytest.fixture(scope="module")
def database(under_prefect: tuple[Path, Outcome]) -> Iterator[sqlite3.Connection]:
    (file,) = (under_prefect[0] / "state").rglob("prefect.db")
    with closing(sqlite3.connect(file)) as con:
        yield con


def test_it_publishes(under_prefect: tuple[Path, Outcome]) -> None:
    data, outcome = under_prefect
    assert outcome.status == 0, outcome.err
    assert rows(data, "SELECT engine, status, sample_night FROM ops.run") == [("prefect", "published", 1)]


def test_both_engines_give_the_same_rows(under_prefect: tuple[Path, Outcome], nights: dict[int, Night]) -> None:
    here, there = tables(under_prefect[0]), tables(nights[1].data)
    assert here.keys() == there.keys()
    for table, held in here.items():
        assert there[table] == held, table


def test_both_engines_write_the_same_files(under_prefect: tuple[Path, Outcome], nights: dict[int, Night]) -> None:
    assert csv_files(under_prefect[0] / "exports") == csv_files(nights[1].data / "exports") != {}


def test_both_engines_keep_the_same_account(under_prefect: tuple[Path, Outcome], nights: dict[int, Night]) -> None:
    sql = """SELECT source, status, reason, pages, bytes, parsed, loaded, quarantined, duplicate, changed, issues
             FROM ops.source_run ORDER BY ALL"""
    assert rows(under_prefect[0], sql) == rows(nights[1].data, sql)
    sql = "SELECT model, action, reason, content, rows FROM ops.model_build ORDER BY ALL"
    assert rows(under_prefect[0], sql) == rows(nights[1].data, sql)


def test_prefect_shows_one_flow_run_that_is_completed(
    under_prefect: tuple[Path, Outcome], database: sqlite3.Connection
) -> None:
    ((run_id,),) = rows(under_prefect[0], "SELECT run_id FROM ops.run")
    found = database.execute("SELECT name, state_type FROM flow_run WHERE name LIKE 'refresh %'").fetchall()
    assert found == [(f"refresh 2023-11-16 03:00 {run_id[-6:]}", "COMPLETED")]


def test_prefect_shows_a_task_for_every_source(database: sqlite3.Connection) -> None:
    found = dict(database.execute("SELECT name, state_type FROM task_run").fetchall())
    expected = {source.name for source in sources.discover() if source.sample}
    reading = {name for name in found if any(word in expected for word in name.replace("-", " ").split())}
    assert {word for name in reading for word in name.replace("-", " ").split()} & expected == expected
    assert {found[name] for name in reading} == {"COMPLETED"}


def artifact(database: sqlite3.Connection, key: str) -> Any:
    """What Prefect's UI shows under a key; a table comes as JSON inside JSON."""
    ((text,),) = database.execute("SELECT data FROM artifact WHERE key = ?", [key]).fetchall()
    shown = json.loads(text)
    return json.loads(shown) if isinstance(shown, str) and shown.startswith("[{") else shown


def test_prefect_shows_what_changed(under_prefect: tuple[Path, Outcome], database: sqlite3.Connection) -> None:
    shown = artifact(database, "what-changed")
    count = rows(under_prefect[0], "SELECT count(*) FROM core.price_change")[0][0]
    assert len(shown) == max(count, 1)


def test_prefect_shows_the_best_ten_of_every_workload(
    under_prefect: tuple[Path, Outcome], database: sqlite3.Connection
) -> None:
    shown = artifact(database, "top-value")
    best = rows(
        under_prefect[0],
        """SELECT workload_id, value_rank, gpu, price_usd FROM mart.value
           WHERE price_basis = 'street' AND value_rank <= 10 ORDER BY workload_id, value_rank, gpu_id""",
    )
    assert len(best) > 10
    assert [(row["workload"], row["rank"], row["gpu"], row["price_usd"]) for row in shown] == [
        tuple(map(str, row)) for row in best
    ]
    assert all(row["url"].startswith("http") for row in shown)


def test_prefect_shows_the_failed_sources_and_links_to_the_report(
    under_prefect: tuple[Path, Outcome], database: sqlite3.Connection
) -> None:
    assert artifact(database, "failed-sources").startswith("Every source was read.")
    link = artifact(database, "report")
    page = (under_prefect[0] / "report" / "index.html").resolve()
    assert page.as_uri() in link
    ((best,),) = rows(under_prefect[0], "SELECT gpu FROM mart.gpu_price ORDER BY price_usd LIMIT 1")
    assert best in page.read_text(encoding="utf-8")


def test_a_failed_source_is_a_row_that_no_reason_can_break() -> None:
    failed = SourceOutcome("newegg", "failed", "LayoutChanged: a|b\nc")
    table = artifacts.failed_sources(Summary("r", [failed, SourceOutcome("danawa", "ok")]), str)
    assert "| newegg | failed | LayoutChanged: a\\|b c |" in table.splitlines()
    assert "danawa" not in table


def test_no_server_is_left_behind(under_prefect: tuple[Path, Outcome]) -> None:
    left = [
        process.info["cmdline"]
        for process in psutil.process_iter(["cmdline", "environ"])
        if str(under_prefect[0]) in (process.info["environ"] or {}).get("PREFECT_HOME", "")
    ]
    assert left == []
