"""A replay makes of the archive alone what the runs made: row for row, failures and decisions included."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest

from gpuledger import local_files
from gpuledger.extract.sample import server
from gpuledger.flows.decisions.releases import RELEASES, Release
from gpuledger.flows.history.replay import ReplayRefused, runs_until
from gpuledger.flows.night import gather, run_log
from gpuledger.flows.night.context import utc_now
from gpuledger.warehouse import integrity, publish
from gpuledger.warehouse.paths import FROM_PEOPLE, DataDir
from tests.command import gpuledger, rows, succeeds, tables
from tests.flows.inprocess import context, refresh
from tests.history.replays import load, price_table, replayed
from tests.nights import Night

pytestmark = pytest.mark.usefixtures("no_rates")

#: What of ops is of the replay and not of the runs: when a run ended and how long it took; which pages had been parsed
#: before; what was built, once instead of every night.
MODEL = {
    "architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 1024, "num_hidden_layers": 8,
    "num_attention_heads": 8, "num_key_value_heads": 8, "intermediate_size": 4096, "vocab_size": 32000,
    "max_position_embeddings": 4096,
}  # fmt: skip
OWN_TABLES = {"ops.run", "ops.last_run", "ops.source_run", "ops.model_build", "ops.schema_version"}
OWN_COLUMNS = {"finished_at", "seconds", "models_rebuilt", "models_kept", "pages_unchanged"}


def assert_same(left: Path, right: Path, schemas: Iterable[str] = ("core", "mart")) -> None:
    one, other = tables(left, *schemas), tables(right, *schemas)
    assert one.keys() == other.keys()
    for table, held in one.items():
        assert other[table] == held, table


def test_the_command_rebuilds_three_nights_from_the_archive_alone(nights: dict[int, Night], tmp_path: Path) -> None:
    data = tmp_path / "data"
    shutil.copytree(nights[3].data / "snapshots", data / "snapshots")
    outcome = succeeds("replay", data=data)
    assert "replayed 3 runs of 9 sources, 2023-11-16 to 2023-11-18" in outcome.out
    assert_same(nights[3].data, data)
    before, after = tables(nights[3].data, "ops"), tables(data, "ops")
    assert {table for table in before if before[table] != after[table]} <= OWN_TABLES
    for table in ("ops.run", "ops.source_run"):
        columns = [name for (name,) in rows(data, f"SELECT column_name FROM (DESCRIBE {table})")]
        kept = ", ".join(f'"{name}"' for name in columns if name not in OWN_COLUMNS)
        shared = (
            f"SELECT {kept} FROM {table} WHERE sources_failed IS NULL OR parsed > 0 ORDER BY ALL"
            if (table == "ops.run")
            else f"SELECT {kept} FROM {table} ORDER BY ALL"
        )
        assert rows(data, shared) == rows(nights[3].data, shared), table


def test_what_people_added_of_each_kind_is_there_after_a_replay_elsewhere(
    nights: dict[int, Night], tmp_path: Path
) -> None:
    """A card that was added was not in the replayed folder, so it left the tables and every answer."""
    data, other = nights[1].copy(tmp_path / "data"), tmp_path / "other"
    config = local_files.write_text(tmp_path / "mine" / "config.json", json.dumps(MODEL))
    listing = rows(data, "SELECT listing_key FROM core.listing WHERE source = 'newegg' ORDER BY 1 LIMIT 1")[0][0]
    for words in (
        ("alias", "add", "Card X", "not_a_gpu", "--reason", "r"),
        ("sources", "correct", "newegg", listing, "seller", "--new", "Norvik", "--reason", "r"),
        ("sources", "terms", "newegg", "allowed", "--page", "https://www.example.com/terms"),
        ("watch", "add", "rtx 4090", "--below", "1500"),
        ("gpu", "add", "RTX 4090 48GB", "memory_gb=48", "--like", "RTX 4090", "--source", "a page"),
        ("model", "add", config, "--id", "mine"),
        ("workload", "add", "own-load", "--name", "Own", "--unit", "it/s", "--description", "What I run"),
        ("measure", "add", "own-load", "12", "--gpu", "RTX 4090"),
    ):
        succeeds(*words, data=data)
    release = Release(listing_id="newegg:1", price=Decimal(5), currency="USD", decided_at=utc_now())
    RELEASES.put(data, release)
    for folder in ("transcriptions", "inbox", "rates", "models"):
        local_files.write_text(data / folder / "kept.txt", folder)
    refresh(data, 2)
    added = """SELECT 'gpu', gpu_id FROM core.gpu WHERE added_on IS NOT NULL
        UNION ALL SELECT 'model', model_id FROM core.model WHERE model_id = 'mine' ORDER BY 1"""
    assert rows(data, added) == [("gpu", "nvidia-rtx-4090-48gb"), ("model", "mine")]
    succeeds("replay", "--to", other, data=data)
    assert rows(other, added) == rows(data, added)
    assert_same(data, other)
    for folder in FROM_PEOPLE:
        kept = {path.relative_to(data): path.read_bytes() for path in (data / folder).rglob("*") if path.is_file()}
        assert kept, f"this test adds nothing to {folder}"
        assert {name: (other / name).read_bytes() for name in kept} == kept


def test_a_replay_in_place_keeps_the_old_versions_and_the_next_night_goes_on(
    nights: dict[int, Night], tmp_path: Path
) -> None:
    data = nights[2].copy(tmp_path / "data")
    versions = {path.name for path in (data / "versions").iterdir()}
    published = replayed(data, data).published
    assert published is not None
    assert {path.name for path in (data / "versions").iterdir()} == versions | {published.parent.name}
    refresh(data, 3)
    assert_same(nights[3].data, data)
    assert len(runs_until(DataDir(data), None)) == 3, "a replay is no run of its own"


def test_a_source_that_is_gone_is_named_and_takes_no_run_along(nights: dict[int, Night], tmp_path: Path) -> None:
    data = nights[1].copy(tmp_path / "data")
    (record,) = run_log.records(DataDir(data))
    gone = replace(record.sources[0], source="azure_retail", fetched=0)
    run_log.publishing(DataDir(data), replace(record, sources=[*record.sources, gone]))
    outcome = gpuledger("replay", "--to", tmp_path / "again", data=data)
    assert outcome.status == 3, outcome.err
    assert "azure_retail, in 1 runs: this version no longer reads it" in outcome.out
    assert_same(data, tmp_path / "again")


def test_until_stops_after_the_night(nights: dict[int, Night], tmp_path: Path) -> None:
    data = nights[3].copy(tmp_path / "data")
    replayed(data, tmp_path / "then", until=server.clock(2))
    assert_same(nights[2].data, tmp_path / "then")
    assert_same(nights[3].data, data)
    assert gpuledger("replay", "--until", "2023-11-15", data=data).status == 1
    assert "is not a time" in gpuledger("replay", "--until", "", data=data).err


def test_pages_that_did_not_come_are_missed_again_and_sources_not_asked_and_runs_not_published_stay_out(
    site: Path, tmp_path: Path
) -> None:
    data = tmp_path / "data"
    refresh(data, 1, only=("danawa", "ecb_fx", "generic_shop"))
    shutil.rmtree(site / "generic_shop" / "sample" / "night1" / "products" / "rtx-4070")
    for night in (1, 2):
        shutil.rmtree(site / "danawa" / "sample" / f"night{night}")
        (site / "danawa" / "sample" / f"night{night}").mkdir()
    summary = refresh(data, 2, only=("danawa", "generic_shop"))
    assert {s.source: s.status for s in summary.sources} == {"danawa": "failed", "generic_shop": "partial"}
    killed = context(data, 3, only=("ecb_fx", "generic_shop"))
    with gather.reader(killed) as reader:  # reads and archives the pages, and gets no further
        gather.read_plain(reader, gather.readings(killed))
    replayed(data, tmp_path / "again")
    assert_same(data, tmp_path / "again")
    issues = "SELECT * FROM ops.issue WHERE code = 'NotFound' ORDER BY ALL"
    assert rows(data, issues) == rows(tmp_path / "again", issues) != []


def test_a_run_killed_between_publish_and_record_is_put_on_record_and_one_killed_before_is_not(
    nights: dict[int, Night], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = tmp_path / "data"
    with monkeypatch.context() as patch:
        patch.setattr(run_log, "published", lambda data, run_id: None)
        summary = refresh(data, 1, only=("ecb_fx",))
    assert run_log.records(DataDir(data)) == []
    assert [run.run_id for run in runs_until(DataDir(data), None)] == [summary.run_id]
    (line,) = run_log.records(DataDir(data))
    run_log.publishing(DataDir(data), replace(line, run_id="20990101T000000Z-aaaaaa"))
    run_log.heal(DataDir(data))
    assert [run.run_id for run in run_log.records(DataDir(data))] == [summary.run_id]


def _price(product: int, night: int) -> str:
    if (product, night) in {(2, 3), (5, 6)}:
        return "일시품절"
    slip = 10 if (product, night) == (4, 4) else 1
    return f"{(300_000 + 10_000 * product + (1_000 * night if product % 2 else 0)) * slip:,}"


@pytest.mark.slow_combination
def test_a_backfill_replays_whole_and_night_by_night(tmp_path: Path) -> None:
    files = [
        price_table(tmp_path / f"{n}.csv", nights, _price, first=first) for n, nights, first in ((1, 5, 0), (2, 2, 5))
    ]
    data = tmp_path / "data"
    load(data, files[0])
    load(data, *files, by_night=True)
    for path in files:
        path.unlink()
    # The rates of all days come in a run of their own before the first night that needs them.
    told = [sorted(outcome.source for outcome in run.sources) for run in run_log.records(DataDir(data))]
    assert [sources for sources in told if "danawa_daily" in sources] == [["danawa_daily"]] * 3
    assert "ecb_fx_history" in told[0]
    replayed(data, tmp_path / "again")
    assert_same(data, tmp_path / "again")


def test_a_release_applies_to_the_runs_after_it(tmp_path: Path) -> None:
    """A price ten times as high, released by a person before the run that would otherwise have held it."""
    data = tmp_path / "data"
    load(data, price_table(tmp_path / "one.csv", 4, _price))
    high = Decimal(_price(4, 4).replace(",", ""))
    seen = Release(listing_id="danawa_daily:88000005", price=high, currency="KRW", reason="seen", decided_at=utc_now())
    RELEASES.put(data, seen)
    load(data, price_table(tmp_path / "two.csv", 1, _price, first=4))
    sql = f"SELECT valid_from FROM core.price_history WHERE price = {high}"
    assert rows(data, sql)
    replayed(data, tmp_path / "again")
    assert_same(data, tmp_path / "again")
    # A decision of a later day does not reach back.
    RELEASES.remove(data, seen)
    RELEASES.put(data, replace(seen, decided_at=datetime(2099, 1, 1, tzinfo=UTC)))
    replayed(data, tmp_path / "later")
    assert rows(tmp_path / "later", sql) == []
    assert rows(tmp_path / "later", f"SELECT 1 FROM core.held_price WHERE price = {high}")


def test_a_damaged_page_is_named_and_nothing_is_changed_and_can_be_passed_over(
    nights: dict[int, Night], tmp_path: Path
) -> None:
    data = nights[3].copy(tmp_path / "data")
    ((sha,),) = rows(data, "SELECT DISTINCT snapshot_sha256 FROM core.listing WHERE source = 'generic_shop' LIMIT 1")
    blob = data / "snapshots" / "blobs" / sha[:2] / f"{sha}.gz"
    blob.write_bytes(blob.read_bytes()[:-20])
    published = (data / "gpuledger.duckdb").resolve()
    outcome = gpuledger("replay", data=data)
    assert outcome.status == 1
    assert str(blob) in outcome.err
    assert "--skip-damaged" in outcome.err
    assert (data / "gpuledger.duckdb").resolve() == published
    outcome = gpuledger("--lang", "ko", "replay", "--skip-damaged", "--to", tmp_path / "again", data=data)
    assert outcome.status == 3
    assert f"뺀 것: 1\n  {blob}: " in outcome.out
    issues = rows(tmp_path / "again", "SELECT DISTINCT source FROM ops.issue WHERE code = 'CorruptSnapshot'")
    assert issues == [("generic_shop",)]
    elsewhere = "SELECT * FROM core.price_history WHERE source NOT IN ('generic_shop', 'bhphoto') ORDER BY ALL"
    assert rows(tmp_path / "again", elsewhere) == rows(data, elsewhere)


def test_a_lost_line_of_the_log_is_noticed(nights: dict[int, Night], tmp_path: Path) -> None:
    data = nights[1].copy(tmp_path / "data")
    log = data / "snapshots" / "log" / "newegg.jsonl"
    log.write_bytes(log.read_bytes().split(b"\n", 1)[1])
    with pytest.raises(ReplayRefused, match=r"log/newegg\.jsonl: 1 of 2 fetches"):
        replayed(data, tmp_path / "again")
    log.write_bytes(b"")
    runs = data / "snapshots" / "runs.jsonl"
    with runs.open("ab") as file:
        file.write(b"{}\n" * 7)
    outcome = gpuledger("replay", "--skip-damaged", "--to", tmp_path / "again", data=data)
    assert outcome.status == 3
    listed = outcome.out.partition("left out, as damaged or missing: ")[2].splitlines()
    assert listed[0] == "8"
    assert [line.rpartition("line ")[2][:1] for line in listed[1:6]] == ["5", "6", "7", "8", "9"]
    assert listed[6:] == ["  and 3 more"]
    runs.write_text("{}\n")
    with pytest.raises(run_log.BadRecord, match="line 1"):
        replayed(data, tmp_path / "again")


@pytest.mark.parametrize("skip_damaged", [False, True])
def test_a_damaged_baseline_is_never_gone_on_from(nights: dict[int, Night], tmp_path: Path, skip_damaged: bool) -> None:
    data = DataDir(nights[1].copy(tmp_path / "data"))
    shutil.copyfile(publish.versions(data)[-1], data.baseline)
    integrity.note(data, data.baseline, integrity.digest(data.baseline))
    with data.baseline.open("r+b") as file:
        file.seek(data.baseline.stat().st_size // 2)
        file.write(b"damaged")
    with pytest.raises(ReplayRefused, match="is not what was written"):
        replayed(data.root, tmp_path / "again", skip_damaged=skip_damaged)
    assert not (tmp_path / "again" / "gpuledger.duckdb").exists()
