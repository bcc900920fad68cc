"""What lies in a folder where people drop files is a regular file of a size that is read, or it is named and left alone."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from gpuledger.extract import local_files
from gpuledger.warehouse.paths import DataDir
from gpuledger.warehouse.read import query
from tests.flows.inprocess import refresh

QUOTE = "product,price,currency\nGeForce RTX 4070 12GB,599.00,USD\n"


def _fifo(path: Path) -> None:
    os.mkfifo(path)


def _sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(20_000_000_000)


def _link(target: str) -> Callable[[Path], None]:
    return lambda path: path.symlink_to(target)


def _linked_quote(path: Path) -> None:
    (path.parent.parent / "elsewhere.csv").write_text(QUOTE)
    path.symlink_to(path.parent.parent / "elsewhere.csv")


#: What a night meets of what test_more_records.py sets in the place of a file.
TRAPS: tuple[Callable[[Path], None], ...] = (
    _fifo, _link("/dev/zero"), _sparse, _link("/proc/self/environ"), _linked_quote, Path.mkdir,
)  # fmt: skip


def test_a_night_goes_on_and_archives_nothing_of_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_OF_THE_SERVICE", "hunter2hunter2")
    inbox = tmp_path / "data" / "inbox"
    inbox.mkdir(parents=True)
    for number, make in enumerate(TRAPS):
        make(inbox / f"trap{number}.csv")
        (inbox / f"good{number}.csv").write_text(QUOTE)
    (inbox / "good.csv").write_text(QUOTE)
    done: list[object] = []
    night = threading.Thread(target=lambda: done.append(refresh(tmp_path / "data", 1, only=["quotes"])), daemon=True)
    night.start()
    night.join(60)
    assert done, "the night hangs"
    reasons = query(
        DataDir(tmp_path / "data"), "SELECT url, message FROM ops.issue WHERE url LIKE '%trap%' ORDER BY url"
    )[1]
    assert [url for url, _ in reasons] == [f"file:trap{number}.csv" for number in range(len(TRAPS))]
    assert all("the file cannot be read" in message for _, message in reasons)
    blobs = [*(tmp_path / "data" / "snapshots" / "blobs").rglob("*.gz")]
    assert len(blobs) == 1, "the good files, which are the same bytes"


def test_what_grows_while_it_is_read_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.csv").write_text("x" * 100)
    monkeypatch.setattr(os, "fstat", lambda handle: os.stat_result((0o100644, 0, 0, 1, 0, 0, 10, 0, 0, 0)))
    with pytest.raises(local_files.Refused, match="the bound is 50"):
        local_files.read_bytes(tmp_path / "a.csv", 50)


def test_a_person_may_name_a_link(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text("{}")
    (tmp_path / "b.json").symlink_to(tmp_path / "a.json")
    assert local_files.read_bytes(tmp_path / "b.json", follow=True) == b"{}"


@pytest.mark.parametrize("number", sorted(local_files.WAYS_OUT))
def test_a_fault_of_the_disk_is_named_with_its_own_remedy(number: int) -> None:
    words = local_files.why(OSError(number, os.strerror(number)))
    assert words.startswith(os.strerror(number))
    assert ("permissions" in words) == (number in (1, 13))
