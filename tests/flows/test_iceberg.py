"""Iceberg tables on a real S3 server: the rows of each night, whole nights for who reads meanwhile, and old ones expired.

Two nights also on an emulator of Azure where a person has installed that.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import pytest

from gpuledger.extract.archive import objects
from gpuledger.extract.items import Offer
from gpuledger.warehouse.paths import DataDir
from gpuledger.warehouse.read import query
from tests.command import IS_DUCKDB_1, environment, gpuledger, python_path, succeeds
from tests.nights import Night
from tests.support import market_history as market
from tests.support.iceberg_readers import Reading, published, readers
from tests.support.stores import DUCKDB_ICEBERG, ICEBERG, azure_server, s3_server

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not (ICEBERG.exists() and DUCKDB_ICEBERG.exists()),
        reason="no pyiceberg, or no extension of DuckDB (`make test` installs requirements-iceberg.lock and "
        "requirements-duckdb-iceberg.lock)",
    ),
]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """The environment of a program that writes Iceberg tables, with a store."""
    with s3_server(tmp_path_factory.mktemp("s3")) as variables, pytest.MonkeyPatch.context() as patch:
        for name, value in variables.items():
            patch.setenv(name, value)
        yield {**variables, "PYTHONPATH": os.pathsep.join([python_path(), str(ICEBERG)])}


def test_tables_have_the_rows_of_each_night_and_write_only_what_changed(
    tmp_path: Path, store: dict[str, str], nights: dict[int, Night]
) -> None:
    """Two nights of the sample; while the second is published, DuckDB reads. The other engines: in the test below."""
    location = "s3://bucket/nights"
    first = nights[1].copy(tmp_path / "first")
    second = nights[2].copy(tmp_path / "second")
    right = dict(published(machine) for machine in (first, second))
    succeeds("iceberg", location, data=first, env=store)
    shutil.copy(first / "state" / "iceberg.db", second / "state" / "iceberg.db")
    with readers(["duckdb"], location, tmp_path, environment(store)) as found:
        again = gpuledger("iceberg", location, data=second, env=store)
    assert again.status == 0, again.err
    assert "core.price_history             2 of 2 partitions written" in again.out, "prices ended and others opened"
    assert "mart.claim_audit               0 of 1 partitions written, 0 rows" in again.out, "figures of papers stay"
    _have_read_whole_nights(found, right)
    quiet = gpuledger("iceberg", location, data=second, env=store)
    assert all(" 0 of " in line for line in quiet.out.splitlines())

    script = Path(__file__).parents[1] / "support" / "read_iceberg.py"
    catalog = f"sqlite:///{second / 'state' / 'iceberg.db'}"
    table = "mart.gpu_price"
    said = subprocess.run(
        [sys.executable, str(script), catalog, location, table], env=environment(store), check=False,
        capture_output=True, text=True, timeout=100,
    )  # fmt: skip
    assert said.returncode == 0, said.stderr
    read = json.loads(said.stdout)
    expected = [_as_json(data, table) for data in (first, second)]
    assert _sorted(read["snapshots"][0]) == expected[0], "a night that has passed"
    assert _sorted(read["snapshots"][-1]) == expected[1]
    assert _sorted(read["polars"]) == expected[1]
    index = objects.store_at(location)
    assert index is not None
    content = index.get("tables.json")
    assert content is not None
    assert json.loads(content[0])["tables"][table] == read["place"]


def _have_read_whole_nights(found: list[list[Reading]], right: dict[str, dict[str, str]]) -> None:
    assert all(len({sums[table] for sums in right.values()}) == 2 for table in ("core.price_history", "mart.gpu_price"))
    for readings in found:
        assert {night for night, _ in readings} == right.keys(), "each reader saw both"
        assert [(night, sums) for night, sums in readings if right[night] != sums] == []


def _as_json(data: Path, table: str) -> list[str]:
    columns, values = query(DataDir(data), f"SELECT 'all' AS partition, * FROM {table}")
    return _sorted(json.loads(json.dumps([dict(zip(columns, row, strict=True)) for row in values], default=str)))


def _sorted(found: list[dict[str, object]]) -> list[str]:
    return sorted(json.dumps(row, sort_keys=True) for row in found)


@pytest.mark.slow_combination
def test_every_engine_finds_whole_nights_while_several_are_published(
    tmp_path: Path, store: dict[str, str], nights: dict[int, Night]
) -> None:
    """The sample's first two nights in turn: each publish writes every table that differs between them."""
    machines = [nights[number].copy(tmp_path / f"night{number}") for number in (1, 2)]
    location = "s3://bucket/in-turn"
    env = {**store, "GPULEDGER_ICEBERG_CATALOG": f"sqlite:///{tmp_path / 'iceberg.db'}"}

    def publish(number: int) -> None:
        succeeds("iceberg", location, data=machines[number % 2], env=env)

    publish(0)
    with readers(["pyiceberg", "polars", "duckdb"], location, tmp_path, environment(env)) as found:
        for number in range(1, 4):
            publish(number)
    _have_read_whole_nights(found, dict(published(machine) for machine in machines))


def test_old_snapshots_expire_with_a_vacuum(tmp_path: Path, store: dict[str, str]) -> None:
    _two_nights_and_a_vacuum(tmp_path, store, "s3://bucket/expire")


def test_a_container_of_azure_has_tables_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with azure_server(tmp_path / "azure") as variables:
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        store = {**variables, "PYTHONPATH": os.pathsep.join([python_path(), str(ICEBERG)])}
        _two_nights_and_a_vacuum(tmp_path, store, "az://bucket/expire")


def _two_nights_and_a_vacuum(tmp_path: Path, store: dict[str, str], location: str) -> None:
    """In a warehouse without benchmarks: a table that is made in Python and never had a row has columns without a type, and
    is left out until it has one.
    """
    data = tmp_path / "data"
    env = {**store, "GPULEDGER_ICEBERG": location}
    offer = Offer(
        title="GeForce RTX 4070 dual fan", url="https://shop.invalid/1", key="1", price=Decimal(500), currency="USD",
        price_kind="now", price_text="500", availability="in_stock", condition="new",
    )  # fmt: skip
    # The store's clock is the real one: the second night is later than what is written here, so that nothing is too young.
    began = datetime.now(UTC)
    market.night(data, began, [(offer, "0" * 64)])
    done = succeeds("iceberg", data=data, env=env)
    assert "core.price_history             1 of 1 partitions written, 1 rows" in done.out
    # DuckDB 1.5 gives such a column a type of its own choice.
    assert ("mart.comparison" in done.out) is IS_DUCKDB_1
    market.night(data, began + timedelta(days=1), [(replace(offer, price=Decimal(450), price_text="450"), "0" * 64)])
    done = succeeds("iceberg", data=data, env=env)
    before = _files(location, "core/price_history/data/")

    succeeds("vacuum", "--keep-days", "2", data=data, env=env)
    assert _files(location, "core/price_history/data/") == before, "both snapshots are of the last two days"
    night, sums = published(data)
    succeeds("vacuum", "--keep-days", "0", data=data, env=env)
    after = _files(location, "core/price_history/data/")
    assert after < before, "files that only the older snapshot has"
    assert after
    # A vacuum may publish a version of its own, and writes no tables: those are of the night before it.
    with readers(["pyiceberg"], location, tmp_path, environment(env)) as found:
        pass
    assert {(one, tuple(had.items())) for one, had in found[0]} == {(night, tuple(sums.items()))}


def _files(location: str, prefix: str) -> set[str]:
    store = objects.store_at(location)
    assert store is not None
    return {one.key for one in store.listed(prefix)}
