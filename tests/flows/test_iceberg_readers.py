"""Who reads the Iceberg tables while nights are published finds every table as it was on one night."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.command import environment, gpuledger, python_path
from tests.nights import Night
from tests.support.iceberg_readers import published, readers
from tests.support.stores import ICEBERG, s3_server

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not ICEBERG.exists(), reason="pyiceberg is not there (`make test` installs requirements-iceberg.lock)"
    ),
]
PUBLISHES = 5


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
