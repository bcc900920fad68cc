"""Backfill and replay as flows, with a Prefect server that is gone: the progress is not shown, and nothing is lost."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from prefect.settings import PREFECT_API_URL, PREFECT_CLIENT_MAX_RETRIES, temporary_settings

from gpuledger.flows.night.retries import NothingPublished, can_help
from gpuledger.flows.night.summary import Summary
from gpuledger.flows.prefect_ import history_deployments
from gpuledger.warehouse.ledger import SourceOutcome
from tests.command import rows, tables
from tests.history.replays import price_table
from tests.nights import Night


@pytest.fixture(autouse=True)
def _server_is_gone() -> Iterator[None]:
    with temporary_settings({PREFECT_API_URL: "http://127.0.0.1:9/api", PREFECT_CLIENT_MAX_RETRIES: 0}):
        yield


def test_a_backfill_and_a_replay_of_it(nights: dict[int, Night], tmp_path: Path) -> None:
    data, again = nights[1].copy(tmp_path / "data"), tmp_path / "again"
    prices = price_table(tmp_path / "prices.csv", 3, lambda product, night: f"{700_000 + 1000 * product:,}")
    done = history_deployments.backfill.fn([str(prices)], data_dir=str(data))
    assert "3 nights" in str(done.message)
    assert rows(data, "SELECT count(*) FROM core.source_night WHERE source = 'danawa_daily'") == [(3,)]
    done = history_deployments.backfill.fn([str(prices)], data_dir=str(data))
    assert "already published" in str(done.message)
    done = history_deployments.replay.fn(to=str(again), data_dir=str(data))
    assert "2 runs" in str(done.message)
    assert tables(again, "core") == tables(data, "core")


@pytest.mark.parametrize(
    ("reason", "helps"),
    [
        ("ConnectionFailed: https://shop.invalid: refused; check the network", True),
        ("ServerError: https://shop.invalid: 503; try later", True),
        ("LayoutChanged: file:quote.csv: no column; name it", False),
        ("NotFound: https://shop.invalid: 404; correct it", False),
    ],
)
def test_only_what_may_pass_is_tried_again(reason: str, helps: bool) -> None:
    found = Summary(
        "r", [SourceOutcome("newegg", "failed", "LayoutChanged: x"), SourceOutcome("quotes", "failed", reason)]
    )
    assert can_help(found) is helps
    assert not can_help(Summary("r", [SourceOutcome("newegg", "ok")], reason="no source is configured"))


def test_a_run_that_published_nothing_fails_with_its_reason() -> None:
    with pytest.raises(NothingPublished, match="all nights were refused"):
        history_deployments._completed(Summary("r", reason="all nights were refused"), "3 nights")
