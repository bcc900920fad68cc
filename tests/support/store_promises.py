"""What every store promises, as functions that are held against each of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from gpuledger.extract.archive.objects import Objects

Promise = Callable[[Objects, Path], None]


def what_is_written_is_read(store: Objects, folder: Path) -> None:
    assert store.get("a/b") is None
    assert store.size("a/b") is None
    store.write("a/b", b"content")
    assert store.get("a/b") == b"content"
    assert store.size("a/b") == 7


def what_is_written_again_is_replaced(store: Objects, folder: Path) -> None:
    store.write("head", b"first")
    store.write("head", b"2nd")
    assert (store.get("head"), store.size("head")) == (b"2nd", 3)


def what_begins_so_is_listed_in_order_and_removed(store: Objects, folder: Path) -> None:
    for key in ("list/b", "list/a/1", "listing", "list/a/2"):
        store.write(key, key.encode())
    assert list(store.listed("list/")) == ["list/a/1", "list/a/2", "list/b"]
    store.delete(["list/a/1", "list/nothing", "list/b"])
    assert list(store.listed("list/")) == ["list/a/2"]
    assert list(store.listed("nothing/")) == []


def no_key_leads_out_of_it(store: Objects, folder: Path) -> None:
    for key in ("../out", "/out", "a/../../out", "a//b", ""):
        with pytest.raises(ValueError, match="is no key"):
            store.write(key, b"")


PROMISES: list[Promise] = [
    what_is_written_is_read, what_is_written_again_is_replaced, what_begins_so_is_listed_in_order_and_removed,
    no_key_leads_out_of_it,
]  # fmt: skip
