"""What every store promises, as functions that are held against each of them."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

from gpuledger.extract.archive.objects import Objects

Promise = Callable[[Objects, Path], None]
_AT_ONCE = 4
_ROUNDS = 3


def what_is_written_is_read(store: Objects, folder: Path) -> None:
    assert store.get("a/b") is None
    assert store.size("a/b") is None
    assert store.create("a/b", b"content")
    found = store.get("a/b")
    assert found is not None
    assert found[0] == b"content"
    assert store.size("a/b") == 7


def what_is_there_is_not_written_over(store: Objects, folder: Path) -> None:
    assert store.create("once", b"first")
    assert not store.create("once", b"second")
    found = store.get("once")
    assert found is not None
    assert found[0] == b"first"


def of_many_that_create_one_does(store: Objects, folder: Path) -> None:
    for number in range(_ROUNDS):
        assert sum(_at_once(lambda own, key=f"race/{number}": store.create(key, b"%d" % own))) == 1


def of_many_that_replace_the_same_one_does(store: Objects, folder: Path) -> None:
    version = store.replace("head", b"0", None)
    assert store.replace("head", b"1", None) is None, "it is there"
    for number in range(_ROUNDS):
        was = version
        written = _at_once(lambda own, was=was, number=number: store.replace("head", b"%d %d" % (number, own), was))
        (version,) = (one for one in written if one is not None)
        assert store.replace("head", b"late", was) is None
    found = store.get("head")
    assert found is not None
    assert found[1] == version


def a_large_file_comes_back_whole(store: Objects, folder: Path) -> None:
    content = bytes(range(256)) * 50_000  # in several parts
    (folder / "large").write_bytes(content)
    store.upload("large/file", folder / "large")
    assert store.download("large/file", folder / "back")
    assert (folder / "back").read_bytes() == content
    assert not store.download("large/none", folder / "none")


def what_begins_so_is_listed_in_order_and_removed(store: Objects, folder: Path) -> None:
    for key in ("list/b", "list/a/1", "listing", "list/a/2"):
        store.create(key, key.encode())
    assert [(one.key, one.size) for one in store.listed("list/")] == [("list/a/1", 8), ("list/a/2", 8), ("list/b", 6)]
    store.delete(["list/a/1", "list/nothing", "list/b"])
    assert [one.key for one in store.listed("list/")] == ["list/a/2"]
    assert list(store.listed("nothing/")) == []


def no_key_leads_out_of_it(store: Objects, folder: Path) -> None:
    for key in ("../out", "/out", "a/../../out", "a//b", ""):
        with pytest.raises(ValueError, match="is no key"):
            store.create(key, b"")


def _at_once(write: Callable[[int], object]) -> list[object]:
    barrier = Barrier(_AT_ONCE)

    def one(number: int) -> object:
        barrier.wait()
        return write(number)

    with ThreadPoolExecutor(_AT_ONCE) as threads:
        return list(threads.map(one, range(_AT_ONCE)))


PROMISES: list[Promise] = [
    what_is_written_is_read, what_is_there_is_not_written_over, of_many_that_create_one_does,
    of_many_that_replace_the_same_one_does, a_large_file_comes_back_whole, what_begins_so_is_listed_in_order_and_removed,
    no_key_leads_out_of_it,
]  # fmt: skip
