"""What an earlier program wrote opens: loaded tables and a baseline are carried over by name, and built tables made anew.

What cannot be carried over, and a file of a newer program, is refused by name and stays as it is.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

from gpuledger import __version__
from gpuledger.flows.history.rebuild import rebuild
from gpuledger.transform import queries
from gpuledger.transform.build import graph
from gpuledger.warehouse import dictionary, integrity, read, schema
from gpuledger.warehouse.errors import NewerWarehouse, OlderWarehouse
from gpuledger.warehouse.paths import DataDir
from tests.command import gpuledger, rows, succeeds
from tests.flows.inprocess import refresh
from tests.history import kept
from tests.history.files import edit, of_a_newer_duckdb
from tests.history.replays import context, replayed
from tests.nights import Night

#: Loaded tables that no program could make anew without the archive.
HISTORY = (
    "core.price_span", "core.price_open", "core.listing", "core.listing_history", "core.price_change", "core.source_night",
    "core.cloud_offer_history", "core.benchmark_score", "core.fx_rate", "core.held_price",
)  # fmt: skip
READING: tuple[tuple[object, ...], ...] = (
    ("value", "sd-512-image-generation"), ("rank", "sd-512-image-generation", "--as-of", "2023-11-17"), ("status",),
    ("show", "rtx 4090"), ("changes",), ("price", "rtx 4090"), ("buy", "--model", "llama-13b"), ("workloads",), ("audit",),
    ("describe", "core.listing"), ("doctor", "--offline"),
)  # fmt: skip
#: What a later program might declare: tables with new first columns, those columns, with and without a default, and a column
#: with another type.
LATER = {
    "core.listing": '"shelf", "aisle", ', "core.price_span": '"aisle", ', "core.gpu": '"display_name", ',
}  # fmt: skip
LATER_COLUMNS = """
shelf = { type = "VARCHAR", description = "Where it stands", default = "upper(source)" }
aisle = { type = "INTEGER", description = "Where the shelf stands" }
display_name = { type = "VARCHAR", description = "Name of a card with its memory" }
"""


def number_is(number: int, program: str = "7.8.9") -> str:
    return f"INSERT INTO ops.schema_version VALUES ('y', {number}, 'other', '{program}')"


def history(data: DataDir, columns: dict[str, list[str]]) -> dict[str, list[tuple[Any, ...]]]:
    """The rows of HISTORY in the published file, in the given columns: those of the program that wrote it."""
    return {
        table: rows(data.root, f"SELECT {', '.join(columns[table])} FROM {table} ORDER BY ALL") for table in HISTORY
    }


def columns_of(data: DataDir) -> dict[str, list[str]]:
    with read.reader(data) as con:
        # Each program gives a title its card anew, and says by which rules.
        return {table: [name for name, _ in schema.columns(con, table) if name != "match_version"] for table in HISTORY}


@pytest.fixture
def later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A later program in this process, which declares what LATER says; the command is the program of today."""
    text = dictionary._FILE.read_text(encoding="utf-8")
    for table, first in LATER.items():
        before, header, of_table = text.partition(f'[table."{table}"]')
        text = before + header + of_table.replace("columns = [", f"columns = [{first}", 1)
    text = text.replace('gpu_count = { type = "INTEGER"', LATER_COLUMNS + 'gpu_count = { type = "BIGINT"')
    file = tmp_path / "dictionary.toml"
    file.write_text(text, encoding="utf-8")
    with monkeypatch.context() as patch:
        patch.setattr(dictionary, "_FILE", file)
        patch.setattr(schema, "NUMBER", schema.NUMBER + 1)
        dictionary.dictionary.cache_clear()
        yield
    dictionary.dictionary.cache_clear()


def test_every_change_of_a_loaded_table_keeps_a_file_of_its_schema(tmp_path: Path) -> None:
    assert max(kept.NUMBERS) == schema.NUMBER, "`python -m tests.history.kept` keeps one, and this file says how"
    data = kept.unpack(schema.NUMBER, tmp_path / "data")
    with read.reader(data) as con:
        written = {name: schema.columns(con, name) for name in dictionary.dictionary().tables}
        with duckdb.connect() as new:
            schema.create(new)
            declared = {name: schema.columns(new, name) for name in written}
    assert written == declared, "raise NUMBER in warehouse/schema.py, then run `python -m tests.history.kept`"


@pytest.mark.parametrize("number", kept.NUMBERS)
def test_what_every_earlier_program_wrote_opens_without_a_replay(number: int, tmp_path: Path) -> None:
    data = kept.unpack(number, tmp_path / "data")
    columns = columns_of(data)
    before = history(data, columns)
    assert len(before["core.price_span"]) > 5
    # What is farthest from today is read and replayed too.
    is_oldest = number == min(kept.NUMBERS)
    for words in READING if is_oldest else ():
        asked = gpuledger(*words, data=data.root)
        assert asked.status in (0, 3) or "lacks what this asks" in asked.err, words
    succeeds("rebuild", "--full", data=data.root)
    assert history(data, columns) == before
    assert rows(data.root, "SELECT max(version) FROM ops.schema_version") == [(schema.NUMBER,)]
    with read.reader(data) as con:
        listed = con.execute("SELECT schema_name || '.' || table_name FROM duckdb_tables()").fetchall()
        known = {*dictionary.dictionary().tables, *(model.name for model in graph.load(con))}
    assert {name for (name,) in listed} <= known, "what is gone from the program is gone from the file"
    if is_oldest:
        succeeds("replay", "--to", tmp_path / "again", data=data.root)
        assert history(DataDir(tmp_path / "again"), columns) == before


def test_a_later_program_carries_over_each_loaded_table_and_the_baseline(tmp_path: Path, later: None) -> None:
    data = kept.unpack(max(kept.NUMBERS), tmp_path / "data")
    succeeds("rebuild", "--full", data=data.root)
    columns = columns_of(data)
    before, as_of = history(data, columns), "SELECT * FROM value_as_of(DATE '2023-11-17') ORDER BY ALL"
    answer = rows(data.root, as_of)
    assert answer
    rebuild(context(data.root))
    replayed(data.root, tmp_path / "again")
    for carried in (data, DataDir(tmp_path / "again")):
        assert history(carried, columns) == before
        assert rows(carried.root, as_of) == answer
        assert rows(carried.root, "SELECT DISTINCT aisle FROM core.price_span") == [(None,)]
        assert rows(carried.root, "SELECT DISTINCT display_name = gpu FROM core.gpu") == [(True,)], "seeded anew"
        ((number_now, type),) = rows(
            carried.root,
            """SELECT (SELECT max(version) FROM ops.schema_version), data_type FROM duckdb_columns()
               WHERE table_name = 'listing' AND column_name = 'gpu_count'""",
        )
        assert (number_now, type) == (schema.NUMBER, "BIGINT")
    assert rows(data.root, "SELECT count(*) FROM core.listing WHERE shelf IS DISTINCT FROM upper(source)") == [(0,)]
    assert rebuild(context(data.root)).published is None, "it is carried over once"


def test_what_a_later_program_wrote_is_refused_by_every_writer(tmp_path: Path, later: None) -> None:
    data = kept.unpack(max(kept.NUMBERS), tmp_path / "data")
    rebuild(context(data.root))
    files = {path: path.read_bytes() for path in (data.base, data.published.resolve(), data.baseline)}
    (tmp_path / "prices.csv").write_text("Id,Name,2023-11-20 00:00:00\n")
    for words in (
        ("refresh", "--sample", "--engine", "plain"), ("replay",), ("backfill", tmp_path / "prices.csv"), ("rebuild",),
        ("restore",), ("vacuum",), ("status",),
    ):  # fmt: skip
        outcome = gpuledger(*words, data=data.root)
        assert outcome.status == 1, words
        assert f"has schema {schema.NUMBER}, written by gpuledger {__version__}" in outcome.err, words
        assert "open it with the program that wrote it, or use another --data-dir" in outcome.err
    assert files == {path: path.read_bytes() for path in files}
    assert (data.root / "gpuledger.duckdb").resolve() in files


@pytest.mark.parametrize(
    ("statement", "lost"),
    [
        ("ALTER TABLE core.listing ADD COLUMN place INTEGER; UPDATE core.listing SET place = 7", "place"),
        ("ALTER TABLE core.listing ALTER first_seen_at TYPE VARCHAR USING 'in spring'", "first_seen_at"),
        ("ALTER TABLE core.listing ALTER gpu_count TYPE DOUBLE USING 1.5", "gpu_count"),
    ],
)  # fmt: skip
def test_what_cannot_be_carried_over_is_refused_before_anything_is_written(
    tmp_path: Path, statement: str, lost: str
) -> None:
    """A column that is no more and had values, and values that another type does not hold."""
    data = kept.unpack(max(kept.NUMBERS), tmp_path / "data")
    edit(data.root, statement, number_is(schema.NUMBER - 1))
    base = data.base.read_bytes()
    outcome = gpuledger("rebuild", data=data.root)
    assert outcome.status == 1
    assert f"no place for the values of core.listing.{lost}: nothing was changed; `gpuledger replay`" in outcome.err
    assert "or go back to gpuledger 7.8.9" in outcome.err
    shutil.copyfile(data.base, data.baseline)
    integrity.note(data, data.baseline, integrity.digest(data.baseline))
    assert "vacuum forgot its pages, so go back to gpuledger 7.8.9" in gpuledger("replay", data=data.root).err
    assert base == data.base.read_bytes() == data.baseline.read_bytes()


def test_a_column_without_values_goes_and_a_type_that_holds_them_comes(tmp_path: Path) -> None:
    data = kept.unpack(max(kept.NUMBERS), tmp_path / "data")
    listings = "SELECT * EXCLUDE match_version FROM core.listing ORDER BY ALL"
    before = rows(data.root, listings)
    edit(
        data.root,
        "ALTER TABLE core.listing ADD COLUMN empty VARCHAR",
        "ALTER TABLE core.listing ALTER gpu_count TYPE VARCHAR",
        number_is(schema.NUMBER - 1),
    )
    succeeds("rebuild", data=data.root)
    assert rows(data.root, listings) == before


def test_a_new_column_of_a_mart_is_named_until_the_next_run_makes_it(
    nights: dict[int, Night], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the number of the schema unchanged, and for a reader beside it."""
    data = DataDir(nights[1].copy(tmp_path / "data"))
    models = tmp_path / "models"
    shutil.copytree(queries.FOLDER_OF_MODELS, models)
    query = models / "mart" / "gpu_price" / "query.sql"
    query.write_text(f"SELECT *, 1 AS new_here FROM ({query.read_text(encoding='utf-8').rstrip().rstrip(';')})")
    table = query.with_name("table.toml")
    table.write_text(table.read_text(encoding="utf-8").replace("[columns]", '[columns]\nnew_here = "a trial"'))
    ask = "SELECT new_here FROM mart.gpu_price LIMIT 1"
    with pytest.raises(
        OlderWarehouse,
        match=r'lacks what this asks \(.*"new_here".*\): .* `gpuledger rebuild` brings it now; .* report it',
    ):
        rows(data.root, ask)
    load = graph.load
    monkeypatch.setattr(graph, "load", lambda con: load(con, models))
    assert rebuild(context(data.root)).published
    assert rows(data.root, ask) == [(1,)]


def test_a_newer_file_is_refused_with_what_is_true(nights: dict[int, Night], tmp_path: Path) -> None:
    """Also if both programs have the same version, as before a release."""
    data = nights[1].copy(tmp_path / "data")
    newer = schema.NUMBER + 1
    edit(data, number_is(newer, __version__))
    match = f"has schema {newer}, written by gpuledger .* has schema {schema.NUMBER}: "
    with pytest.raises(NewerWarehouse, match=match):
        refresh(data, 2, only=("ecb_fx",))


def test_a_file_of_a_newer_duckdb_is_refused_with_both_versions(nights: dict[int, Night], tmp_path: Path) -> None:
    data = nights[1].copy(tmp_path / "data")
    of_a_newer_duckdb(data)
    with pytest.raises(
        NewerWarehouse, match=rf"newer DuckDB, and this is DuckDB {duckdb.__version__} .*version number 10"
    ):
        refresh(data, 2, only=("ecb_fx",))
    with pytest.raises(NewerWarehouse, match="update gpuledger and its DuckDB"):
        rows(data, "SELECT 1")


def test_a_comment_that_changed_is_written_into_the_file(tmp_path: Path) -> None:
    with duckdb.connect(str(tmp_path / "some.duckdb")) as con:
        schema.begin(con, "first", "some")
        comment = "SELECT comment FROM duckdb_tables() WHERE schema_name = 'core' AND table_name = 'listing'"
        (meaning,) = con.execute(comment).fetchall()
        con.execute(
            "COMMENT ON TABLE core.listing IS 'an older text'; UPDATE ops.schema_version SET definition = 'older'"
        )
        schema.begin(con, "second", "some")
        assert con.execute(comment).fetchall() == [meaning]
        schema.begin(con, "third", "some")
        assert con.execute("SELECT run_id FROM ops.schema_version ORDER BY rowid").fetchall() == [
            ("first",),
            ("second",),
        ]
