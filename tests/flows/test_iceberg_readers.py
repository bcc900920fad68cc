"""Who reads the Iceberg tables while nights are published finds every table as it was on one night."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest

from gpuledger.extract.items import Offer
from tests.command import IS_DUCKDB_1, environment, gpuledger, python_path
from tests.nights import Night
from tests.support import market_history as market
from tests.support.iceberg_readers import published, readers
from tests.support.stores import ICEBERG, s3_server

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not ICEBERG.exists(), reason="pyiceberg is not there (`make test` installs requirements-iceberg.lock)"
    ),
]
PUBLISHES = 4


def test_a_reader_finds_whole_nights_while_others_are_published(tmp_path: Path, nights: dict[int, Night]) -> None:
    """The sample's first two nights in turn: each publish writes every table that differs between them."""
    machines = [nights[number].copy(tmp_path / f"night{number}") for number in (1, 2)]
    right = dict(published(machine) for machine in machines)
    assert all(len({sums[table] for sums in right.values()}) == 2 for table in ("core.price_history", "mart.gpu_price"))
    catalog = f"sqlite:///{tmp_path / 'iceberg.db'}"
    location = "s3://bucket/readers"
    with s3_server(tmp_path / "s3") as store:
        env = {
            **store, "GPULEDGER_ICEBERG_CATALOG": catalog,
            "PYTHONPATH": os.pathsep.join([python_path(), str(ICEBERG)]),
        }  # fmt: skip

        def publish(number: int) -> None:
            done = gpuledger("iceberg", location, data=machines[number % 2], env=env)
            assert done.status == 0, done.err

        publish(0)
        with readers(1, location, tmp_path, environment(env)) as found:
            for number in range(1, PUBLISHES):
                publish(number)
    (readings,) = found
    assert {night for night, _ in readings} == right.keys(), "the reader saw both"
    assert [(night, sums) for night, sums in readings if right[night] != sums] == []


def test_a_warehouse_without_benchmarks_is_published_too(tmp_path: Path) -> None:
    """A table that is made in Python and never had a row has columns without a type, and is left out until it has one."""
    offer = Offer(
        title="GeForce RTX 4070 dual fan", url="https://shop.invalid/1", key="1", price=Decimal(500), currency="USD",
        price_kind="now", price_text="500", availability="in_stock", condition="new",
    )  # fmt: skip
    market.night(tmp_path / "data", datetime(2023, 11, 1, 3, tzinfo=UTC), [(offer, "0" * 64)])
    with s3_server(tmp_path / "s3") as store:
        env = {**store, "PYTHONPATH": os.pathsep.join([python_path(), str(ICEBERG)])}
        done = gpuledger("iceberg", "s3://bucket/bare", data=tmp_path / "data", env=env)
    assert done.status == 0, done.err
    assert "core.price_history             1 of 1 partitions written, 1 rows" in done.out
    # DuckDB 1.5 gives such a column a type of its own choice.
    assert ("mart.comparison" in done.out) is IS_DUCKDB_1
