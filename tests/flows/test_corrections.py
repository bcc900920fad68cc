"""What a source says wrongly is corrected by a person's word, for as long as the source says it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import duckdb
import pytest
from click.testing import CliRunner, Result

from gpuledger import local_files
from gpuledger.extract.archive.snapshots import Archive
from gpuledger.extract.collect import Collected
from gpuledger.extract.fetch.fetched import Fetched
from gpuledger.flows.cli import cli
from gpuledger.flows.decisions.corrections import CORRECTIONS
from gpuledger.flows.decisions.releases import RELEASES, Release
from gpuledger.flows.decisions.terms import TERMS, Terms
from gpuledger.flows.night import store
from gpuledger.flows.settings import settings
from gpuledger.flows.telling.watches import WATCHES
from gpuledger.items import IndexPrice, Item, Offer
from gpuledger.records import BadRecord
from gpuledger.transform.identity.added_cards import GPUS
from gpuledger.transform.sizing.added_models import MODELS, OwnModel
from gpuledger.transform.workloads import WORKLOADS
from gpuledger.warehouse.load import corrected
from gpuledger.warehouse.load.batch import Row
from gpuledger.warehouse.load.corrected import Correction
from gpuledger.warehouse.paths import DataDir
from tests.command import gpuledger, rows
from tests.flows.inprocess import SITE, context, take_in_one
from tests.nights import Night
from tests.support.empty import empty_warehouse

SHOP = "quotes"
FIRST = datetime(2024, 1, 2, 3, tzinfo=UTC)


def offer(**fields: object) -> Offer:
    known: dict[str, object] = {
        "title": "GeForce RTX 4090 24GB", "url": "https://shop.example/1", "key": "1", "price": Decimal("1599.00"),
        "currency": "USD", "price_kind": "now", "brand": "Norvick", "availability": "quoted", "condition": "new",
    }  # fmt: skip
    return Offer(**{**known, **fields})  # type: ignore[arg-type]


def correction(**fields: object) -> Correction:
    known: dict[str, object] = {
        "source": SHOP, "key": "1", "field": "brand", "old": "Norvick", "new": "Norvik", "reason": "the maker says so",
        "decided": date(2024, 1, 1),
    }  # fmt: skip
    return Correction(**{**known, **fields})  # type: ignore[arg-type]


@pytest.fixture
def con() -> Iterator[duckdb.DuckDBPyConnection]:
    with empty_warehouse() as connection:
        yield connection


def test_a_correction_holds_until_the_source_changes_its_mind(con: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    data = DataDir(tmp_path)
    CORRECTIONS.put(data.root, correction(decided=FIRST + timedelta(hours=1)))

    def night(number: int, brand: str | None) -> tuple[str | None, str | None, list[str]]:
        at = FIRST + timedelta(days=number)
        run = replace(context(tmp_path, 1), as_of=at, started_at=at, run_id=f"run{number}")
        collected = Collected(SHOP, rows=[(offer(brand=brand), f"sha {brand}")], pages=1)
        outcome = take_in_one(con, run, collected).outcome
        assert outcome.status in ("ok", "unchanged")
        store.write_run(con, run, [outcome])
        ((loaded,),) = con.execute("SELECT brand FROM core.listing").fetchall()
        state = con.execute(
            "SELECT correction_status || ' ' || coalesce(seen_value, '') FROM core.correction"
        ).fetchall()
        issues = con.execute("SELECT code FROM ops.issue WHERE run_id = ?", [f"run{number}"]).fetchall()
        return loaded, state[0][0] if state else None, [code for (code,) in issues]

    assert night(0, "Norvick") == ("Norvick", None, []), "it was decided after this night"
    assert night(1, "Norvick") == ("Norvik", "applied Norvick", [])
    assert con.execute("SELECT snapshot_sha256 FROM core.correction").fetchall() == [("sha Norvick",)]
    assert night(2, "Norvick")[0] == "Norvik", "the same bytes again"
    assert night(3, "Norvik") == ("Norvik", "agreed Norvik", ["correction_agreed"])
    assert night(4, "Halden") == ("Halden", "outdated Halden", ["correction_outdated"])
    ((message,),) = con.execute("SELECT message FROM ops.issue WHERE code = 'correction_outdated'").fetchall()
    assert "changed its mind: it says 'Halden', and the correction of" in message
    assert night(5, None)[:2] == (None, "outdated ")
    CORRECTIONS.remove(data.root, (SHOP, "1", "brand"))
    assert night(6, "Norvick") == ("Norvick", None, [])


def applied(item: Item, *given: Correction) -> tuple[Item, list[str]]:
    (row,), seen = corrected.apply(SHOP, [Row(item, "sha")], given)
    return row.item, [one.status if one.reason is None else f"{one.status}: {one.reason}" for one in seen]


def test_what_can_be_corrected() -> None:
    price = correction(field="price", old="1599", new="1499.50")
    item, states = applied(offer(), price)
    assert (item, states) == (offer(price=Decimal("1499.50")), ["applied"]), "numbers are compared as numbers"
    assert applied(offer(), correction(old="Norvick", new=None))[0] == offer(brand=None)
    assert applied(offer(brand=None), correction(old=None))[0] == offer(brand="Norvik")
    assert applied(offer(), correction(key="2")) == (offer(), ["not_seen"])
    whole = [
        correction(field=f, old=o, new=None)
        for f, o in (("price", "1599.00"), ("price_kind", "now"), ("currency", "USD"))
    ]
    assert applied(offer(), *whole)[0] == offer(price=None, price_kind=None, currency=None)
    assert applied(offer(), correction(field="tax_included", old=None, new="true"))[0] == offer(tax_included=True)
    used = IndexPrice(gpu_name="RTX 3090", price=Decimal(700), currency="USD", condition="used", table="t", column="c")
    key = corrected.key_text(SHOP, used)
    assert key == "RTX 3090|t|c||used"
    item, states = applied(used, correction(key=key, field="price", old="700", new="770"))
    assert (item, states) == (replace(used, price=Decimal(770)), ["applied"])


@pytest.mark.parametrize(
    ("field", "old", "new", "reason"),
    [
        ("price", "1599.00", None, "must come together"),
        ("price", "1599.00", "-5", "above zero"),
        ("price", "1599.00", "cheap", "it makes no row"),
        ("availability", "quoted", "plenty", "one of in_stock, out_of_stock, preorder, quoted, unknown"),
        ("key", "1", "2", "known by its key"),
        ("colour", None, "red", "no field 'colour'"),
        ("quantity", None, "two", "a whole number"),
    ],
)
def test_what_makes_no_row_is_not_put_in(field: str, old: str | None, new: str | None, reason: str) -> None:
    item, (state,) = applied(offer(), correction(field=field, old=old, new=new))
    assert item == offer()
    assert state.startswith("refused: ")
    assert reason in state
    (issue,), _ = zip(
        *corrected.issues([corrected.Seen(correction(), "refused", reason=reason)], "renew it"), strict=True
    )
    assert (issue.code, issue.severity, issue.where) == ("bad_correction", "error", f"{SHOP} 1 brand")


GOOD = """[[correction]]
source = "newegg"
key = "1"
field = "price"
old = "12.99"
new = "1299.00"
reason = "the decimal point slipped"
date = 2024-01-01
"""


@pytest.mark.parametrize(
    ("wrong", "line", "remedy"),
    [
        (GOOD.replace('"newegg"', '"neweg"'), 11, "no source is called 'neweg'; did you mean newegg"),
        (GOOD.replace("reason", "reson"), 11, "there is no field 'reson' here; there are reason"),
        (GOOD.replace('date = 2024-01-01', ""), 11, "missing required field `date`"),
        (GOOD.replace("2024-01-01", '"1 January"'), 11, "date must be a day such as 2026-11-20"),
        (GOOD.replace('"1299.00"', "1299.00"), 11, 'new = 1299.0 must stand in quotes: "1299.0"'),
        (GOOD.replace('"1299.00"', '"12.99"'), 11, "old and new are the same"),
        (GOOD.replace('"1"', '"other"'), 11, "this correction is there twice: keep one"),
        (GOOD.replace('"1"', "1 1"), 13, "correct the file"),
    ],
)  # fmt: skip
def test_a_file_that_was_edited_badly_is_named_with_its_line(
    wrong: str, line: int, remedy: str, tmp_path: Path
) -> None:
    file = CORRECTIONS.file(tmp_path)
    file.parent.mkdir()
    file.write_text(
        f"# what newegg says wrongly\n\n{GOOD.replace(chr(34) + '1' + chr(34), chr(34) + 'other' + chr(34), 1)}{wrong}"
    )
    with pytest.raises(BadRecord) as told:
        CORRECTIONS.all(tmp_path)
    assert str(file) in str(told.value)
    assert f"line {line}" in str(told.value)
    assert remedy in str(told.value)


def test_the_command_keeps_what_the_source_says_and_refuses_what_is_not_there(tmp_path: Path) -> None:
    page = (SITE / "newegg" / "sample" / "night1" / "gpus" / "index.html").read_bytes()
    url = "http://newegg.sample.test/gpus/"
    fetched = Fetched(url=url, final_url=url, status=200, headers={"content-type": "text/html"}, content=page)
    Archive(tmp_path / "snapshots").save("newegg", fetched, FIRST, "run")

    def correct(*words: str) -> tuple[int, str]:
        result = CliRunner().invoke(cli, ["sources", "correct", "newegg", *words, "--data-dir", str(tmp_path)])
        return result.exit_code, result.output

    done = correct("N82E16814990001", "brand", "--new", "Norvik Inc.", "--reason", "its own page")
    assert done == (
        0,
        "newegg N82E16814990001 brand: 'Norvik Inc.' counts instead of 'Norvik' from the next refresh on\n",
    )
    (kept,) = CORRECTIONS.all(tmp_path)
    assert (kept.old, kept.new, kept.reason) == ("Norvik", "Norvik Inc.", "its own page")
    for words, said in (
        (("N82E1681499000", "brand", "--new", "x", "--reason", "r"), "did you mean N82E16814990001"),
        (("N82E16814990001", "brand", "--new", "x"), "needs a --reason"),
        (("N82E16814990001", "brand", "--new", "Norvik", "--reason", "r"), "says 'Norvik' in brand already"),
        (("N82E16814990001", "maker", "--new", "x", "--reason", "r"), "no field 'maker'"),
        (("N82E16814990001", "sku", "--remove"), "there is no correction of newegg N82E16814990001 sku"),
    ):
        status, output = correct(*words)
        assert (status, said in " ".join(output.split())) == (2, True), output
    refused = CliRunner().invoke(cli, ["sources", "correct", "neweg", "k", "brand", "--new", "x"])
    assert (refused.exit_code, "did you mean newegg?" in refused.output) == (2, True)
    listed = CliRunner().invoke(cli, ["sources", "corrections", "--format", "csv", "--data-dir", str(tmp_path)]).output
    assert "newegg,N82E16814990001,brand,Norvik,Norvik Inc.,not_read" in listed
    assert correct("N82E16814990001", "brand", "--remove")[0] == 0
    assert CORRECTIONS.all(tmp_path) == []


# ── a person's pin of a title: kept with its reason, used by the next rebuild, and taken back ─────────────────────────


#: A title of the sample that leaves two cards open.
OPEN = "Halden Mini GeForce RTX 3060 PCI Express 4.0 Video Card H-3060M"
CARD = "nvidia-geforce-rtx-3060-12gb"


def run(data: Path, *words: str) -> Result:
    return CliRunner().invoke(cli, [*words, "--data-dir", str(data)])


def meaning(data: Path) -> list[tuple[object, ...]]:
    return rows(data, f"SELECT gpu_id, match_status, match_rule FROM core.listing WHERE title = '{OPEN}'")


def test_a_pin_counts_from_the_next_rebuild_on_and_can_be_taken_back(nights: dict[int, Night], tmp_path: Path) -> None:
    data = nights[1].copy(tmp_path / "data")
    assert meaning(data) == [(None, "ambiguous", "open")]
    offers = rows(data, f"SELECT offers FROM mart.gpu_price WHERE gpu_id = '{CARD}'")[0][0]

    assert run(data, "alias", "add", OPEN, CARD, "--reason", "the maker's page says 12 GB").exit_code == 0
    assert meaning(data)[0][1] == "ambiguous", "a pin changes nothing that is published"
    rebuilt = run(data, "rebuild")
    assert rebuilt.exit_code == 0, rebuilt.output
    assert meaning(data) == [(CARD, "matched", "pin")]
    assert rows(data, f"SELECT count(*) FROM core.unmatched_title WHERE title = '{OPEN}'") == [(0,)]
    assert rows(data, f"SELECT offers FROM mart.gpu_price WHERE gpu_id = '{CARD}'") == [(offers + 1,)]

    assert "0 to rebuild" in run(data, "rebuild").output, "the same pins: nothing is resolved again"
    assert run(data, "alias", "remove", OPEN).exit_code == 0
    assert run(data, "rebuild").exit_code == 0
    assert meaning(data) == [(None, "ambiguous", "open")]


def test_pins_are_listed_with_their_reasons_and_replaced_aloud(tmp_path: Path) -> None:
    run(tmp_path, "alias", "add", "Card X", CARD, "--reason", "first")
    again = run(tmp_path, "alias", "add", "Card  X ", "not_a_gpu", "--reason", "it is a poster")
    assert f"replaced the pin to {CARD}" in again.output
    run(tmp_path, "alias", "add", "Card X", CARD, "--reason", "there it is one", "--source", "newegg")
    listed = json.loads(run(tmp_path, "alias", "list", "--format", "json").output)
    assert [(pin["title"], pin["gpu_id"], pin["source"], pin["reason"]) for pin in listed] == [
        ("Card  X ", "not_a_gpu", None, "it is a poster"),
        ("Card X", CARD, "newegg", "there it is one"),
    ]


def test_resolve_reads_the_pins_of_the_data_directory(tmp_path: Path) -> None:
    run(tmp_path, "alias", "add", OPEN, CARD, "--reason", "the maker's page says 12 GB", "--source", "newegg")
    pinned = json.loads(run(tmp_path, "resolve", OPEN, "--source", "newegg", "--explain").output)
    assert (pinned["status"], pinned["gpu_id"], pinned["rule"]) == ("matched", CARD, "pin")
    assert json.loads(run(tmp_path, "resolve", OPEN).output)["status"] == "ambiguous", "it is a pin of one source"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["add", "Card X", "nvidia-geforce-rtx-3060-12g", "--reason", "r"], f"near it are {CARD}"),
        (["add", "Card X", CARD, "--reason", " "], "needs a reason"),
        (["add", " ", CARD, "--reason", "r"], "a pin needs a title"),
        (["add", "Card X", CARD, "--reason", "r", "--source", "nowhere"], "no source is called nowhere"),
        (["remove", "Card X"], "no pin of 'Card X' for all sources; there are:\n  'Card Y' --source newegg"),
        (["remove", "Card Y"], "no pin of 'Card Y' for all sources"),
    ],
)
def test_bad_use_is_answered_and_nothing_is_written(tmp_path: Path, words: list[str], message: str) -> None:
    run(tmp_path, "alias", "add", "Card Y", CARD, "--reason", "r", "--source", "newegg")
    before = (tmp_path / "decisions" / "pins.toml").read_bytes()
    refused = run(tmp_path, "alias", *words)
    assert refused.exit_code == 2
    assert message in refused.output
    assert (tmp_path / "decisions" / "pins.toml").read_bytes() == before


def test_pins_that_were_edited_badly_stop_a_refresh_before_it_reads_anything(tmp_path: Path) -> None:
    file = tmp_path / "decisions" / "pins.toml"
    file.parent.mkdir()
    file.write_text('[[pin]]\ntitle = "Card X"\ngpu_id = "no-card"\npinned_on = 2026-11-20\nreason = "r"\n')
    refused = gpuledger("refresh", "--sample", "--engine", "plain", data=tmp_path)
    assert refused.status == 2
    assert refused.err.startswith(f"gpuledger: {file}, line 1: 'no-card'")
    assert refused.err.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["decisions"]


# ── decisions that an earlier program kept are in force after an upgrade, and none is lost ────────────────────────────


DECIDED = datetime(2026, 11, 1, 8, tzinfo=UTC)
_DECIDED = '"decided_at": "2026-11-01T08:00:00+00:00"'
RELEASED = f"""{{"listing_id": "newegg:1", "price": "549.00", "currency": "USD", "reason": "seen", {_DECIDED}}}
{{"listing_id": "torn
{{"source": "newegg", "rows": 12, "last_night": "2026-10-31T03:00:00+00:00", "reason": "fewer", {_DECIDED}}}
"""


def test_what_an_earlier_program_kept_is_carried_over_once(tmp_path: Path) -> None:
    before = local_files.write_text(tmp_path / "decisions" / "releases.jsonl", RELEASED)
    local_files.write_text(
        tmp_path / "decisions" / "terms.toml",
        '[newegg]\nsays = "forbidden"\npage = "https://www.example.com/terms"\nread = 2026-11-20\n',
    )
    local_files.write_text(
        tmp_path / "watches.toml",
        '[[watch]]\nid = 3\nrule = "below"\ngpu_id = "x"\ngpu = "X"\nbelow = "1499.50"\nadded_on = 2026-11-20\n',
    )
    for _ in range(2):
        settings.load({"data_dir": str(tmp_path)}).data()
        assert RELEASES.all(tmp_path) == [
            Release(
                listing_id="newegg:1", price=Decimal("549.00"), currency="USD", reason="seen", decided_at=DECIDED
            ),
            Release(
                source="newegg", rows=12, last_night=datetime(2026, 10, 31, 3, tzinfo=UTC), reason="fewer",
                decided_at=DECIDED,
            ),
        ]  # fmt: skip
        assert TERMS.all(tmp_path) == [
            Terms("newegg", "forbidden", "https://www.example.com/terms", date(2026, 11, 20))
        ]
        (watch,) = WATCHES.all(tmp_path)
        assert (watch.id, watch.below) == (3, Decimal("1499.50"))
    assert before.with_name("releases.jsonl.carried").read_text() == RELEASED


def test_what_a_person_added_to_an_earlier_program_is_carried_over_once(tmp_path: Path) -> None:
    config = {"model_type": "llama", "of": "O'Neill\x7f", "rope": {"type": None, "factors": [1.5, True]}}
    model = {"model_id": "mine", "added_on": "2026-11-01", "config": config}
    card = {
        "gpu_id": "nvidia-rtx-4090-48gb", "vendor": "NVIDIA", "name": "RTX 4090 48GB", "memory_gb": "48.0",
        "memory_bandwidth_gb_s": "1008.0", "segment": "consumer", "catalogue_key": "x", "msrp_usd": "1599.50",
    }  # fmt: skip
    older = {
        "models/mine.json": json.dumps(model),
        "models/broken.json": "{",
        "gpus/nvidia-rtx-4090-48gb.json": json.dumps({"added_on": "2026-11-02", "source": "a page", "gpu": card}),
        "workloads/my-test.toml": 'workload = "a"\nunit = "s"\ndescription = "b"\niterations = 3\n',
    }
    for name, text in older.items():
        local_files.write_text(tmp_path / name, text)
    for _ in range(2):
        settings.load({"data_dir": str(tmp_path)}).data()
        assert MODELS.all(tmp_path) == [OwnModel("mine", date(2026, 11, 1), config)]
        (own,) = GPUS.all(tmp_path)
        assert (own.gpu.gpu_id, own.gpu.memory_gb, own.gpu.msrp_usd) == ("nvidia-rtx-4090-48gb", 48, Decimal("1599.50"))
        assert (own.added_on, own.source) == (date(2026, 11, 2), "a page")
        (workload,) = WORKLOADS.all(tmp_path)
        assert (workload.workload_id, workload.iterations) == ("my-test", 3)
    names = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.parent.name != "decisions"}
    assert {name.removesuffix(".carried") for name in names} >= older.keys()
    assert "models/broken.json" in names, "what could not be read before either stays where it is"
    local_files.write_text(tmp_path / "workloads" / "second.toml", 'workload = "a"\nunit = "s"\ndescription = "b"\n')
    settings.load({"data_dir": str(tmp_path)}).data()
    assert [one.workload_id for one in WORKLOADS.all(tmp_path)] == ["my-test", "second"]
