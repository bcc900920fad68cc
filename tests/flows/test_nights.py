"""Night after night: what changed is rebuilt and the rest is kept, a broken shop is named and its prices stay, and every
row that was parsed is accounted for.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import duckdb
import pytest

from gpuledger.extract import source as sources
from gpuledger.extract.archive.snapshots import Archive
from gpuledger.extract.collect import parse_page
from gpuledger.extract.sample.server import clock
from gpuledger.flows.history.rebuild import rebuild
from gpuledger.items import Aside, Chart
from gpuledger.transform.build import graph
from gpuledger.warehouse import schema
from tests.command import gpuledger, rows, tables
from tests.flows.inprocess import context, refresh
from tests.nights import Night

#: The shop whose layout the second night breaks.
BROKEN = "bhphoto"


def test_the_exit_status_tells_of_the_broken_shop(nights: dict[int, Night]) -> None:
    assert [nights[n].outcome.status for n in (1, 2, 3)] == [0, 3, 3], nights[1].outcome.err
    assert all("Traceback" not in night.outcome.err for night in nights.values())


def test_the_first_night_reads_every_source_of_the_sample(nights: dict[int, Night]) -> None:
    found = dict(rows(nights[1].data, "SELECT source, status FROM ops.source_run"))
    assert found == {source.name: "ok" for source in sources.discover() if source.sample}


@pytest.mark.parametrize("night", [2, 3])
def test_the_broken_shop_is_named_with_its_reason_and_the_remedy(nights: dict[int, Night], night: int) -> None:
    lines = " ".join(nights[night].outcome.out.split())
    assert f"{BROKEN} failed: LayoutChanged: http://{BROKEN}.sample.test/" in lines
    assert "its last good data stand, marked stale" in lines
    failed = rows(nights[night].data, "SELECT source, status FROM mart.source_status WHERE is_stale")
    assert failed == [(BROKEN, "failed")]
    ((status, count, reason),) = rows(
        nights[night].data,
        f"SELECT status, sources_failed, reason FROM ops.run WHERE sample_night = {night}",
    )
    assert (status, count) == ("published_with_failures", 1)
    assert reason.startswith(f"{BROKEN}: LayoutChanged")


@pytest.mark.parametrize("night", [2, 3])
def test_the_broken_shop_keeps_its_prices(nights: dict[int, Night], night: int) -> None:
    sql = f"""SELECT listing_id, price, currency, availability, valid_from, valid_to FROM core.price_history
              WHERE source = '{BROKEN}' ORDER BY ALL"""
    before = rows(nights[1].data, sql)
    assert before
    assert rows(nights[night].data, sql) == before
    seen = {
        seen
        for (seen,) in rows(
            nights[night].data, f"SELECT last_seen_at FROM core.price_history WHERE source = '{BROKEN}'"
        )
    }
    assert seen == {clock(1)}, "nobody saw them on the night on which the shop could not be read"


def test_the_second_night_records_each_change_between_the_two_pages(nights: dict[int, Night]) -> None:
    sql = """SELECT listing_id, price, currency, availability, price_kind, list_price FROM core.price_history
             WHERE valid_to IS NULL"""
    before, after = ({row[0]: row[1:] for row in rows(nights[n].data, sql)} for n in (1, 2))
    expected = {}
    for listing in before.keys() | after.keys():
        if listing not in before:
            expected[listing] = ("appeared", None, after[listing][0])
        elif listing not in after:
            expected[listing] = ("ended", before[listing][0], None)
        elif before[listing][:2] != after[listing][:2]:
            expected[listing] = ("price", before[listing][0], after[listing][0])
        elif before[listing] != after[listing]:
            expected[listing] = ("availability", before[listing][0], after[listing][0])
    found = rows(
        nights[2].data,
        "SELECT listing_id, change, old_price, new_price FROM core.price_change WHERE changed_at = '2023-11-17 03:00:00Z'",
    )
    assert {listing: (change, old, new) for listing, change, old, new in found} == expected
    assert {"price", "appeared", "ended"} <= {change for change, _, _ in expected.values()}
    old_versions = rows(
        nights[2].data, "SELECT count(*) FROM core.price_history WHERE valid_to = '2023-11-17 03:00:00Z'"
    )
    assert old_versions == [(sum(change in ("price", "ended", "availability") for change, _, _ in expected.values()),)]


def _builds(night: Night) -> dict[str, tuple[str, str]]:
    sql = f"""SELECT model, action, reason FROM ops.model_build
              WHERE run_id = (SELECT run_id FROM ops.run WHERE sample_night = {night.number})"""
    return {model: (action, reason) for model, action, reason in rows(night.data, sql)}


def _dependents(changed: set[str]) -> set[str]:
    """Every model that reads one of the tables, directly or through another model."""
    con = duckdb.connect()
    schema.create(con)
    found = set(changed)
    for model in graph.load(con):
        if model.inputs.keys() & found:
            found.add(model.name)
    return found - changed


def test_every_model_of_every_night_is_on_record_with_a_reason(nights: dict[int, Night]) -> None:
    con = duckdb.connect()
    schema.create(con)
    names = {model.name for model in graph.load(con)}
    for night in nights.values():
        builds = _builds(night)
        assert set(builds) == names
        assert all(action in ("rebuilt", "kept") and reason for action, reason in builds.values())


def test_the_first_night_builds_all_and_the_third_none(nights: dict[int, Night]) -> None:
    assert {action for action, _ in _builds(nights[1]).values()} == {"rebuilt"}
    # A source that failed marks its prices in the answers, and no table else.
    assert {model for model, (action, _) in _builds(nights[3]).items() if action != "kept"} == {"mart.answer"}
    assert rows(nights[3].data, "SELECT models_rebuilt FROM ops.run WHERE sample_night = 3") == [(0,)]


def test_the_second_night_rebuilds_only_what_depends_on_a_change(nights: dict[int, Night]) -> None:
    before, after = tables(nights[1].data), tables(nights[2].data)
    builds = _builds(nights[2])
    changed = {name for name in after if name not in builds and before[name] != after[name]}
    rebuilt = {model for model, (action, _) in builds.items() if action == "rebuilt"}
    assert {"core.listing", "core.price_open", "core.fx_rate"} <= changed
    assert rebuilt - {"mart.answer"} <= _dependents(changed)  # it asks, and is made of no table by name
    # Scores did not change, so nothing that is made of scores alone was made again.
    assert not {"mart.ranking", "mart.claim_audit"} & rebuilt
    assert {"mart.gpu_price", "mart.value"} <= rebuilt
    # What was kept is what would have come out.
    views = {name for (name,) in rows(nights[2].data, "SELECT schema_name || '.' || view_name FROM duckdb_views()")}
    for model in (builds.keys() - rebuilt - views) & after.keys():
        assert before[model] == after[model], model


def test_every_run_has_its_row_and_no_two_count_as_the_same_time(nights: dict[int, Night]) -> None:
    found = rows(nights[3].data, "SELECT sample_night, as_of, engine FROM ops.run ORDER BY rowid")
    assert found == [(n, clock(n), "plain") for n in (1, 2, 3)]


@pytest.mark.parametrize("night", [1, 2, 3])
def test_parsed_is_loaded_and_quarantined_and_duplicate(nights: dict[int, Night], night: int) -> None:
    data = nights[night].data
    counts = rows(
        data, "SELECT run_id, source, parsed, loaded, quarantined, duplicate FROM ops.source_run ORDER BY ALL"
    )
    for run_id, source, parsed, loaded, quarantined, duplicate in counts:
        assert parsed == loaded + quarantined + duplicate, (run_id, source)
    kept = rows(data, "SELECT run_id, source, count(*) FROM ops.quarantine GROUP BY ALL ORDER BY ALL")
    assert kept == [(run, source, quarantined) for run, source, _, _, quarantined, _ in counts if quarantined]
    totals = rows(data, "SELECT run_id, parsed, loaded, quarantined, duplicate FROM ops.run ORDER BY ALL")
    sums = {run: tuple(sum(row[i] for row in counts if row[0] == run) for i in (2, 3, 4, 5)) for run, *_ in totals}
    assert {run: tuple(words) for run, *words in totals} == sums
    assert any(quarantined for *_, quarantined, _ in counts), "the sample holds rows that a contract refuses"
    assert any(duplicate for *_, duplicate in counts), "and rows that are on a page twice"


def test_what_is_counted_as_parsed_is_what_the_archived_pages_hold(nights: dict[int, Night]) -> None:
    archive = Archive(nights[1].data / "snapshots")
    counted = dict(rows(nights[1].data, "SELECT source, parsed FROM ops.source_run"))
    for name in archive.sources():
        source = sources.get(name)
        found = [
            item
            for snapshot in archive.history(name)
            if not snapshot.headers.get("content-type", "").startswith("image/")
            for item in parse_page(source, archive.page(snapshot))
        ]
        assert sum(not isinstance(item, Aside | Chart) for item in found) == counted[name], name


def test_what_is_counted_as_loaded_is_in_the_tables(nights: dict[int, Night]) -> None:
    loaded = dict(rows(nights[1].data, "SELECT source, loaded FROM ops.source_run"))
    held = """SELECT source, count(*) FROM (
                  SELECT source FROM core.price_history UNION ALL SELECT source FROM core.benchmark_score
                  UNION ALL SELECT source FROM core.index_price UNION ALL SELECT source FROM core.cloud_offer_history
                  UNION ALL SELECT 'ecb_fx' FROM core.fx_rate
              ) GROUP BY source"""
    assert dict(rows(nights[1].data, held)) == loaded


def test_every_row_is_traced_to_bytes_that_are_in_the_archive(nights: dict[int, Night]) -> None:
    data = nights[3].data
    archive = Archive(data / "snapshots")
    traced = (
        "core.listing", "core.price_open", "core.price_span", "core.benchmark_score", "core.index_price",
        "core.cloud_offer_history", "core.fx_rate", "ops.quarantine", "mart.ranking",
    )  # fmt: skip
    hashes = {sha for table in traced for (sha,) in rows(data, f"SELECT DISTINCT snapshot_sha256 FROM {table}")}
    assert None not in hashes
    for sha in hashes:
        assert archive.content_of(sha)
    assert archive.verify() == []


# ── a question about a past day has the answer that was published on that day ────────────────────────────────────────────

VALUE = "SELECT * FROM {} ORDER BY ALL"


@pytest.mark.parametrize("night", [1, 2, 3])
@pytest.mark.parametrize(
    ("then", "later"), [("mart.value", "value_as_of"), ("mart.ranking", "ranking_as_of")], ids=["value", "ranking"]
)
def test_the_last_file_answers_as_each_night_did(nights: dict[int, Night], night: int, then: str, later: str) -> None:
    day = clock(night).date()
    published = rows(nights[night].data, VALUE.format(then))
    assert published
    assert rows(nights[3].data, VALUE.format(f"{later}(DATE '{day}')")) == published


@pytest.mark.parametrize("night", [1, 2, 3])
def test_street_prices_of_a_night_are_those_that_it_published(nights: dict[int, Night], night: int) -> None:
    columns = "gpu_id, price_usd, median_usd, offers, listing_id, price, currency, fx_day, price_since, snapshot_sha256"
    published = rows(
        nights[night].data, f"SELECT {columns} FROM mart.gpu_price WHERE price_usd IS NOT NULL ORDER BY ALL"
    )
    day = clock(night).date()
    assert rows(nights[3].data, f"SELECT {columns} FROM price_as_of(DATE '{day}') ORDER BY ALL") == published


def test_before_the_first_night_nothing_was_known(nights: dict[int, Night]) -> None:
    assert rows(nights[3].data, "FROM price_as_of(DATE '2023-11-15')") == []
    assert rows(nights[3].data, "FROM ranking_as_of(DATE '2023-11-15')") == []


@pytest.mark.parametrize(
    "command", [("value", "sd-512-image-generation"), ("rank", "sd-512-image-generation"), ("price",)]
)
def test_commands_take_a_day(nights: dict[int, Night], command: tuple[str, ...]) -> None:
    answers = [
        gpuledger(*command, "--as-of", day, "--format", "csv", data=nights[3].data)
        for day in ("2023-11-16", "2023-11-15")
    ]
    # Before the first night nothing had been read: a question without an answer.
    assert [answer.status for answer in answers] == [0, 4]
    then, before = (answer.out.splitlines() for answer in answers)
    assert len(then) > 5
    assert len(before) == 1


# ── a night costs what changed ────────────────────────────────────────────────────────────────────────────────────────


#: Of the sample: the lowest price of an RTX 4090, and a higher one of the same card.
BEST, HIGHER = "1,749", "1,899"


@pytest.fixture
def data(nights: dict[int, Night], tmp_path: Path) -> Path:
    return nights[1].copy(tmp_path / "data")


@pytest.fixture
def page(site: Path) -> Path:
    for later in site.glob("*/sample/night2"):
        shutil.rmtree(later)
    return site / "newegg" / "sample" / "night1" / "gpus" / "index.html"


def rebuilt(data: Path) -> set[str]:
    found = rows(
        data,
        """SELECT model FROM ops.model_build WHERE action = 'rebuilt'
           AND run_id = (SELECT arg_max(run_id, rowid) FROM ops.run)""",
    )
    return {model for (model,) in found}


def tables_below(name: str) -> set[str]:
    models = graph.load(duckdb.connect())
    below = {name}
    for model in models:
        if below & model.inputs.keys():
            below.add(model.name)
    return {model.name for model in models if model.name in below and model.materialized == "table"}


def change(page: Path, old: str, new: str) -> None:
    text = page.read_text(encoding="utf-8")
    assert f"<strong>{old}</strong>" in text, "the sample has another price there now"
    page.write_text(text.replace(f"<strong>{old}</strong>", f"<strong>{new}</strong>"), encoding="utf-8")


#: What reads every price, of cards and of machines.
READ_ALL = {"mart.gpu_price", "core.node_price", "mart.answer"}


def test_a_price_that_is_not_the_best_rebuilds_what_reads_every_price(data: Path, page: Path) -> None:
    change(page, HIGHER, "1,879")
    refresh(data, 2, only=["newegg"])
    assert rebuilt(data) == READ_ALL


def test_a_best_price_rebuilds_exactly_what_is_below_it(data: Path, page: Path) -> None:
    change(page, BEST, "1,739")
    refresh(data, 2, only=["newegg"])
    assert rebuilt(data) == tables_below("mart.gpu_price") | READ_ALL
    assert "mart.value" in rebuilt(data)


def test_a_rebuild_of_nothing_publishes_nothing(data: Path) -> None:
    before = (data / "gpuledger.duckdb").resolve()
    summary = rebuild(context(data, 1))
    assert not [build for build in summary.builds if build.action == "rebuilt"]
    assert (data / "gpuledger.duckdb").resolve() == before


def test_an_edited_model_is_rebuilt_and_explained_first(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import shutil

    models = tmp_path / "models"
    shutil.copytree(graph.MODELS, models)
    sql = models / "mart" / "value" / "query.sql"
    sql.write_text(sql.read_text(encoding="utf-8").replace("DESC", "ASC", 1), encoding="utf-8")
    monkeypatch.setattr(graph.load, "__defaults__", (models,))
    plan = rebuild(context(data, 1), explain=True)
    why = {build.model: build.reason for build in plan.builds if build.action == "rebuilt"}
    assert why["mart.value"] == "its definition changed"
    assert "mart.ranking" not in why
    assert plan.published is None
    done = rebuild(context(data, 1))
    assert {build.model for build in done.builds if build.action == "rebuilt"} == why.keys()
    assert done.published is not None
