"""A file of another schema is refused by name and stays as it is; an older one is made anew from the archive."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

import duckdb
import pytest

from gpuledger import __version__
from gpuledger.warehouse import integrity, schema
from gpuledger.warehouse.errors import NewerWarehouse, OlderWarehouse
from gpuledger.warehouse.paths import DataDir
from gpuledger.warehouse.shared import bring
from tests.command import gpuledger, rows, succeeds, tables
from tests.flows.inprocess import refresh
from tests.history.files import edit, of_a_newer_duckdb
from tests.nights import Night

#: The fingerprint of each schema. A change of a table, a column or a type needs the next number: add a line here and move
#: `schema.NUMBER`. A line that is here stays as it is, as there are files of that schema.
SCHEMAS = {4: "750b09d132bbda1e", 5: "efa5d5b8dd516fb7", 6: "9b412805e7d948f1", 7: "1aada9642f0d0020"}


def number_is(number: int, program: str = "7.8.9") -> str:
    return f"INSERT INTO ops.schema_version VALUES ('y', {number}, 'other', '{program}')"


def test_the_number_moves_with_every_change_of_the_schema(nights: dict[int, Night]) -> None:
    columns = rows(
        nights[1].data,
        """SELECT schema_name || '.' || table_name, column_name, data_type FROM duckdb_columns()
           WHERE database_name = 'gpuledger' ORDER BY 1, column_index""",
    )
    assert {"core.price_open", "core.card_fit", "mart.value", "ops.run"} <= {table for table, _, _ in columns}
    fingerprint = hashlib.sha256(repr(columns).encode()).hexdigest()[:16]
    assert SCHEMAS.get(schema.NUMBER) == fingerprint, "another schema: move schema.NUMBER, and add it to SCHEMAS"
    assert max(SCHEMAS) == schema.NUMBER
    assert len({*SCHEMAS.values()}) == len(SCHEMAS)


@pytest.mark.parametrize(
    "statement",
    [
        number_is(schema.NUMBER - 1),
        pytest.param("DROP TABLE ops.schema_version", marks=pytest.mark.slow_combination),
    ],
)
def test_an_older_file_is_refused_and_a_replay_makes_it_anew(
    nights: dict[int, Night], tmp_path: Path, statement: str
) -> None:
    data = nights[1].copy(tmp_path / "data")
    edit(data, statement)
    base = (data / "state" / "base.duckdb").read_bytes()
    for words in (
        ("value", "sd-512-image-generation"),
        ("status",),
        ("rebuild",),
        ("refresh", "--sample", "--engine", "plain"),
    ):
        outcome = gpuledger(*words, data=data)
        assert outcome.status == 1, words
        assert (
            f"this gpuledger {__version__} has schema {schema.NUMBER}: `gpuledger replay` makes it anew" in outcome.err
        )
    assert (data / "state" / "base.duckdb").read_bytes() == base
    outcome = succeeds("replay", data=data)
    assert tables(data)["core.price_history"] == tables(nights[1].data)["core.price_history"]
    assert rows(data, "SELECT version, program FROM ops.schema_version") == [(schema.NUMBER, __version__)]


def test_an_older_copy_of_a_store_says_who_makes_it_anew(nights: dict[int, Night], tmp_path: Path) -> None:
    """A copy has no archive, so no replay helps; neither does one of the version in the store."""
    root = nights[1].copy(tmp_path / "data")
    edit(root, number_is(schema.NUMBER - 1))
    data = DataDir(root)
    data.shared.write_text("{}")
    assert "`gpuledger replay` makes it anew" in gpuledger("status", data=root).err, "a machine that writes the store"
    data.base.unlink()
    outcome = gpuledger("status", data=root)
    assert outcome.status == 1
    assert outcome.err.rstrip().endswith("and let it publish, then `gpuledger pull`")
    with pytest.raises(OlderWarehouse, match=r"s3://b/v has schema .* then `gpuledger pull`"):
        bring._check_opens(data.published.resolve(), "s3://b/v")


def test_a_newer_file_is_refused_with_what_is_true(nights: dict[int, Night], tmp_path: Path) -> None:
    """Also if both programs have the same version, as before a release."""
    data = nights[1].copy(tmp_path / "data")
    newer = schema.NUMBER + 1
    edit(data, number_is(newer, __version__))
    before = (data / "state" / "base.duckdb").read_bytes(), (data / "gpuledger.duckdb").resolve()
    with pytest.raises(
        NewerWarehouse, match=f"has schema {newer}, written by gpuledger .* has schema {schema.NUMBER}: "
    ):
        refresh(data, 2, only=("ecb_fx",))
    assert before == ((data / "state" / "base.duckdb").read_bytes(), (data / "gpuledger.duckdb").resolve())
    outcome = gpuledger("status", data=data)
    assert outcome.status == 1
    assert "open it with the program that wrote it, or use another --data-dir" in outcome.err


def test_a_baseline_of_another_schema_is_refused_by_name_and_kept(nights: dict[int, Night], tmp_path: Path) -> None:
    root = nights[1].copy(tmp_path / "data")
    data = DataDir(root)
    shutil.copyfile(data.base, data.baseline)
    with duckdb.connect(str(data.baseline)) as con:
        con.execute(number_is(schema.NUMBER - 1, "0.9"))
    integrity.note(data, data.baseline, integrity.digest(data.baseline))
    kept = {path: path.read_bytes() for path in (data.baseline, data.base)}
    outcome = gpuledger("replay", data=root)
    assert outcome.status == 1
    assert f"{data.baseline} has schema {schema.NUMBER - 1}, written by gpuledger 0.9" in outcome.err
    assert "only the program that wrote it reads it; replay with that one" in outcome.err
    assert kept == {path: path.read_bytes() for path in kept}


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
