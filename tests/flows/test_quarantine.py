"""What a contract refuses is kept with its reason and its page, and what the audit refuses reaches nobody."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from gpuledger.expectations import suite
from gpuledger.expectations.errors import AuditFailed
from gpuledger.extract.archive.snapshots import Archive
from gpuledger.flows import cli
from gpuledger.flows.night import building, run_log
from gpuledger.flows.night.gather import read_plain
from gpuledger.flows.night.refresh import run
from gpuledger.flows.night.summary import Summary
from gpuledger.flows.settings.settings import SettingsError
from gpuledger.items import from_json
from gpuledger.warehouse.paths import DataDir
from tests.command import rows, tables
from tests.flows.inprocess import context, refresh
from tests.nights import Night

#: Two shops and the rates: enough for one that is refused and others that are not.
ONLY = ("danawa", "ecb_fx", "newegg")


def edit(path: Path, change: Callable[[str], str]) -> None:
    text = path.read_text(encoding="utf-8")
    assert change(text) != text, f"{path.name} is not what the test takes it for"
    path.write_text(change(text), encoding="utf-8")


def _outcome(summary: Summary, source: str) -> tuple[str, str]:
    (found,) = (outcome for outcome in summary.sources if outcome.source == source)
    return found.status, found.reason or ""


def test_a_quarantined_row_has_its_reason_its_item_and_its_archived_page(nights: dict[int, Night]) -> None:
    data = nights[1].data
    archive = Archive(data / "snapshots")
    found = rows(data, "SELECT source, kind, reason, item, snapshot_sha256 FROM ops.quarantine")
    assert found
    for source, kind, reason, item, sha in found:
        assert re.fullmatch(r"[a-z_]+: .+: .+", reason), reason
        read = from_json(json.loads(item))
        assert read.KIND == kind == "offer"
        page = archive.content_of(sha).decode("utf-8")
        assert json.loads(item)["sku"] in page, (source, item)


def test_a_price_that_turns_bad_ends_no_listing_and_changes_no_price(
    nights: dict[int, Night], site: Path, tmp_path: Path
) -> None:
    """A card for 9 dollars is a slip: the shop still sells it, for what it cost before."""
    data = nights[1].copy(tmp_path / "data")
    sql = "SELECT listing_id, price, valid_from, valid_to FROM core.price_history WHERE source = 'newegg' ORDER BY ALL"
    before = rows(data, sql)
    (title, price) = rows(
        data,
        """SELECT title, price FROM core.listing JOIN core.price_history USING (listing_id, source)
           WHERE source = 'newegg' AND price > 1000 AND starts_with(title, 'Halden') ORDER BY price DESC LIMIT 1""",
    )[0]
    dollars, cents = f"{price:,.2f}".split(".")
    for page in (site / "newegg/sample/night2/gpus").glob("*.html"):
        # The second night is the first one with one price moved.
        text = (site / "newegg/sample/night1/gpus" / page.name).read_text(encoding="utf-8")
        slipped = re.sub(
            rf"\${dollars}\.{cents}|<strong>{dollars}</strong><sup>\.{cents}</sup>",
            lambda m: m[0].replace(dollars, "9"),
            text,
        )
        page.write_text(slipped, encoding="utf-8")
    summary = refresh(data, 2, only=ONLY)
    held = rows(
        data,
        "SELECT item FROM ops.quarantine WHERE run_id = (SELECT arg_max(run_id, rowid) FROM ops.run) AND source = 'newegg'",
    )
    assert title in {json.loads(item)["title"] for (item,) in held}, summary.sources
    assert rows(data, sql) == before


def test_a_refused_batch_leaves_its_shop_stale_and_the_others_publish(
    nights: dict[int, Night], site: Path, tmp_path: Path
) -> None:
    data = nights[1].copy(tmp_path / "data")
    sql = "SELECT * EXCLUDE (last_seen_at) FROM core.price_history WHERE source = 'danawa' ORDER BY ALL"
    before = rows(data, sql)
    # Every price of the page is a tenth of a won's: a column has shifted, and no row is to be believed.
    edit(
        site / "danawa/sample/night2/list/index.html",
        lambda text: re.sub(r"(\d{1,3}(,\d{3})+)", lambda m: m[0].split(",")[0], text),
    )
    summary = refresh(data, 2, only=ONLY)
    status, reason = _outcome(summary, "danawa")
    assert status == "refused"
    assert "rows break the contract" in reason
    assert (summary.exit_status, [s.source for s in summary.failed_sources]) == (3, ["danawa"])
    assert rows(data, sql) == before
    assert rows(data, "SELECT source FROM mart.source_status WHERE is_stale") == [("danawa",)]
    parsed, loaded, quarantined, duplicate = rows(
        data,
        """SELECT parsed, loaded, quarantined, duplicate FROM ops.source_run
           WHERE source = 'danawa' ORDER BY rowid DESC LIMIT 1""",
    )[0]
    assert loaded == 0
    assert parsed == quarantined + duplicate > 0
    kept = rows(
        data,
        """SELECT reason FROM ops.quarantine
           WHERE run_id = (SELECT arg_max(run_id, rowid) FROM ops.run) AND source = 'danawa'""",
    )
    assert len(kept) == quarantined
    assert rows(data, "SELECT count(*) FROM core.price_change WHERE source = 'newegg' AND change = 'price'")[0][0] > 0


# ── the audit ─────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def published(nights: dict[int, Night], tmp_path: Path) -> Path:
    return nights[1].copy(tmp_path / "data")


def _unchanged(data: Path, nights: dict[int, Night]) -> None:
    assert tables(data, "core", "mart", "ops") == tables(nights[1].data, "core", "mart", "ops")
    assert len(list((data / "versions").iterdir())) == 1
    assert not list((data / "state").glob("work-*"))


def no_price_above(monkeypatch: pytest.MonkeyPatch, dollars: float) -> None:
    """A stricter contract of mart.value."""
    real = building.mart_contract

    def strict(table: str, folder: Path) -> object:
        contract = real(table, folder)
        if table == "mart.value" and contract is not None:
            (price,) = (c for c in contract.checks if c.column == "price_usd" and c.rule == "between")
            price.arguments["max"] = dollars  # type: ignore[index]
        return contract

    monkeypatch.setattr(building, "mart_contract", strict)


def test_a_mart_that_breaks_its_contract_rolls_everything_back(
    published: Path, nights: dict[int, Night], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second night moves street prices, and a contract that no price passes stands for one that is really broken."""
    no_price_above(monkeypatch, 20)
    with pytest.raises(
        AuditFailed,
        match=r"audit failed, nothing is published: mart\.value: \d+ of \d+ rows break its contract, more than 20%",
    ):
        refresh(published, 2)
    _unchanged(published, nights)
    last = run_log.entries(DataDir(published))[-1]
    assert last.status == "failed"
    assert last.reason is not None
    assert last.reason.startswith("AuditFailed: audit failed, nothing is published: mart.value")
    monkeypatch.undo()
    assert refresh(published, 2).exit_status == 3
    assert tables(published) == tables(nights[2].data)
    assert rows(published, "SELECT status FROM ops.run ORDER BY rowid") == [
        ("published",), ("failed",), ("published_with_failures",)
    ]  # fmt: skip


def test_a_row_that_a_mart_refuses_is_taken_out_and_the_night_publishes(
    published: Path, nights: dict[int, Night], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One card of the second night is dearer than a contract allows: the others are published, and so is what they make."""
    ((dearest, gpu),) = rows(
        nights[2].data,
        "SELECT price_usd, gpu_id FROM mart.value WHERE price_basis = 'street' ORDER BY price_usd DESC LIMIT 1",
    )
    no_price_above(monkeypatch, float(dearest) - 0.01)
    summary = refresh(published, 2)
    assert summary.published is not None
    refused = rows(published, "SELECT run_id, model, row_key, reason, item FROM ops.refused_row")
    assert {(run, model) for run, model, *_ in refused} == {(summary.run_id, "mart.value")}
    assert {key for _, _, key, *_ in refused} >= {
        f"{workload} street {gpu}"
        for (workload,) in rows(nights[2].data, f"SELECT workload_id FROM mart.value WHERE gpu_id = '{gpu}'")
    }
    assert all("price_usd: between" in reason for *_, reason, _ in refused)
    assert {json.loads(item)["gpu_id"] for *_, item in refused} >= {gpu}
    value = "SELECT * FROM mart.value WHERE price_usd < {} ORDER BY ALL"
    assert rows(published, value.format(1e9)) == rows(nights[2].data, value.format(dearest))
    # What is built from it is built without it.
    assert not rows(
        published, f"SELECT 1 FROM mart.marginal_value WHERE price_basis = 'street' AND to_gpu_id = '{gpu}'"
    )


def test_a_check_that_cannot_run_is_told_apart_from_bad_data_and_said_in_one_line(
    published: Path, nights: dict[int, Night], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    # Let every check of a mart ask for a column that is not there.
    real = suite.columns
    monkeypatch.setattr(suite, "columns", lambda check: ["nobody_has"] if check.kind == "" else real(check))
    words = ["refresh", "--sample", "--engine", "plain", "--night", "2", "--quiet", "--data-dir", str(published)]
    monkeypatch.setattr(sys, "argv", ["gpuledger", *words])
    with pytest.raises(SystemExit) as ended:
        cli.call()
    told = capsys.readouterr()
    assert ended.value.code == 1
    line = told.err.splitlines()[-1]
    assert line == "gpuledger: audit broken: the checks name columns that are not there: nobody_has"
    assert "Traceback" not in told.err
    assert told.out == ""
    _unchanged(published, nights)
    reason = run_log.entries(DataDir(published))[-1].reason or ""
    assert reason.startswith("AuditBroken: ")


def test_a_baseline_that_is_no_card_stops_the_run(published: Path, nights: dict[int, Night]) -> None:
    """Every ratio would be empty, and nobody would know why."""
    asked = context(published, 2, only=["ecb_fx"])
    settings = replace(asked.settings, baseline_gpu_id="nvidia-geforce-rtx-9999")
    with pytest.raises(SettingsError, match=r"baseline_gpu_id: no GPU is called 'nvidia-geforce-rtx-9999'"):
        run(replace(asked, settings=settings), read_plain)
    _unchanged(published, nights)
