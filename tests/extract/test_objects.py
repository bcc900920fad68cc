"""What a store promises, held by a folder; `tests/flows/test_store.py` holds a real S3 server to the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpuledger.extract import objects
from tests.support.store_promises import PROMISES, Promise


@pytest.mark.parametrize("promise", PROMISES, ids=lambda promise: promise.__name__)
def test_a_folder(promise: Promise, tmp_path: Path) -> None:
    store = objects.of(f"file://{tmp_path / 'store'}")
    assert store is not None
    promise(store, tmp_path)


@pytest.mark.parametrize(
    ("address", "reason"),
    [
        ("s3://key:secret@bucket/prefix", "holds no credentials"),
        ("s3://bucket/prefix?secret=x", "holds no credentials and no options"),
        ("ftp://bucket/prefix", "is no address of a store"),
        ("s3://", "is no address of a store"),
        ("file://folder", "is no address of a store"),
        ("file:///folder/../other", "is no address of a store"),
        ("bucket/prefix", "is no address of a store"),
    ],
)
def test_what_is_no_address_is_refused(address: str, reason: str) -> None:
    with pytest.raises(objects.BadAddress, match=reason) as refused:
        objects.of(address)
    assert "secret@" not in str(refused.value)


def test_no_store_is_none() -> None:
    assert objects.of("") is None
