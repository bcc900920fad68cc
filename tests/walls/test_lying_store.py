# ruff: noqa: E501  tables of cases
"""A store is written by others: whatever its head says, a reader gets a warehouse that was written there, or keeps its own."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gpuledger.extract.archive.objects import StoreError
from gpuledger.flows.history import copies
from gpuledger.warehouse import publish
from gpuledger.warehouse.errors import NotAWarehouse, WarehouseError
from gpuledger.warehouse.paths import DataDir
from gpuledger.warehouse.read import query
from gpuledger.warehouse.shared import files
from tests.walls.cases import failing

RUN, LATER = "20260101T000000000000Z-000000", "20260102T000000000000Z-000000"
JUNK = b"no warehouse" * 99


def _sum(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A warehouse without rows, and with a view that reads a file of whoever asks."""
    folder = tmp_path_factory.mktemp("whole")
    (folder / "secret.txt").write_text("hunter2")
    data = DataDir(folder / "data")
    with publish.workspace(data, RUN) as (con, work):
        con.execute(f"CREATE VIEW mart.reaching AS SELECT content FROM read_text('{folder}/secret.txt')")
        return publish.publish(con, data, work, RUN)


def _head(whole: Path, **other: Any) -> dict[str, Any]:
    content = whole.read_bytes()
    version = {"run_id": RUN, "key": f"versions/{RUN}.duckdb", "sha256": _sum(content), "size": len(content)}
    return {
        "format": 1, "versions": [version], "files": {}, **other,
    }  # fmt: skip


#: What else one version of a head may say of itself. All of it is refused, and none of it is followed out of the store.
_OF_VERSIONS: dict[str, tuple[Any, ...]] = {
    "run_id": (5, None, [], "", "..", "../../x", "a/b", "a\0b", "a\n", "\x1b[2J", "\ud800", "a" * 5000),
    "key": (5, None, {}, "", "..", "../../../etc/passwd", "/etc/passwd", "versions", "versions/../head.json", "head.json", "a\0b", "\x1b[2J", "versions/none", "versions//x", "versions/" + "a" * 5000),
    "sha256": (5, None, [], "", "0" * 64, "0" * 63, "../../x", "\x1b[2J", "A" * 64), "size": (-1, 0, 1, "1", None, 1.5, True, 10**30), "more": (1,),
}  # fmt: skip
VERSIONS: dict[str, dict[str, Any]] = {
    f"{name} {value!a:.40}": {name: value} for name, values in _OF_VERSIONS.items() for value in values
} | {"no warehouse": {"key": "versions/junk", "sha256": _sum(JUNK), "size": len(JUNK)}}
_OF_HEADS: dict[str, tuple[Any, ...]] = {
    "format": ([], "x", None, 2, float("inf")),
    "versions": ("x", None, 5, [5], [[]], {"a": 1}), "files": ([], None, "x", {"models/a": "x"}, {"models/a": {"sha256": "../../x", "size": 1}}, {"models/a": {"sha256": "0" * 64, "size": 1}}),
}  # fmt: skip
_PATHS = (
    "../x", "/etc/passwd", "models/../../x", "models//x", "models/./x", "models/a\0b", "models/\x1b[2J", "state/base.duckdb", "gpuledger.duckdb", "models", "", ".", "models/" + "a" * 300,
    "decisions/\ud800", "workloads/a\\..\\b", "models/a\n", "versions/x/gpuledger.duckdb",
)  # fmt: skip
HEADS: dict[str, bytes | dict[str, Any]] = {
    **{
        f"{text!a:.30}": text
        for text in (b"", b"null", b"[]", b"5", b"[" * 200_000, b'{"a":' * 200_000, b"\xff", b"<html>")
    },
    **{f"{name} {value!a:.40}": {name: value} for name, values in _OF_HEADS.items() for value in values},
    **{f"file {path!a:.40}": {"files": {path: {"sha256": _sum(b"x"), "size": 1}}} for path in _PATHS},
}


def _files(folder: Path) -> list[Path]:
    """All files but notes and locks."""
    return sorted(
        path for path in folder.rglob("*") if path.is_file() and path.suffix in (".duckdb", ".part", ".toml", "")
    )


def test_whatever_a_head_says_the_copy_that_is_there_stays(whole: Path, tmp_path: Path) -> None:
    store = tmp_path / "store"
    for name, content in (
        ("versions/junk", JUNK),
        (f"versions/{RUN}.duckdb", whole.read_bytes()),
        (f"files/{_sum(b'x')}", b"x"),
    ):
        (store / name).parent.mkdir(parents=True, exist_ok=True)
        (store / name).write_bytes(content)
    data = DataDir(tmp_path / "copy")
    good = json.dumps(_head(whole)).encode()
    (store / "head.json").write_bytes(good)
    assert copies.pull(data, f"file://{store}") is not None
    there = _files(tmp_path)

    def refused(head: bytes | dict[str, Any], may_be: str = "") -> None:
        said = head if isinstance(head, bytes) else json.dumps({**_head(whole), **head}).encode()
        (store / "head.json").write_bytes(said)
        told = ""
        try:
            copies.pull(data, f"file://{store}")
        except (StoreError, WarehouseError) as error:
            told = str(error)
        assert told or may_be  # what is not for readers is not looked at
        assert len(told) < 1000
        assert _files(tmp_path) == there

    of_versions = {
        name: {
            "versions": [
                {**_head(whole)["versions"][0], "run_id": LATER, "sha256": _sum(JUNK), "size": len(JUNK), **words}
            ]
        }
        for name, words in VERSIONS.items()
    }
    cases: dict[str, Callable[[], None]] = {
        name: lambda h=head, n=name: refused(h, may_be=n if n.startswith("file ") else "")
        for name, head in {**HEADS, **of_versions}.items()
    }  # type: ignore[misc]
    assert failing(cases) == {}
    assert query(data, "SELECT count(*) FROM core.gpu")[1] == [(0,)]


def test_a_file_from_a_store_reads_no_other_file(whole: Path) -> None:
    """Its views run with the rights of whoever asks."""
    data = DataDir(whole.parents[2])
    with pytest.raises(NotAWarehouse, match="asks for a file outside of it"):
        query(data, "FROM mart.reaching")


def test_a_file_that_no_store_can_name_stops_no_machine(tmp_path: Path) -> None:
    """A name in CP949 ended every publish; a backslash in one every machine that read the head."""
    data = DataDir(tmp_path)
    for name in ("견적.csv".encode("cp949"), b"a\\b.csv", b"a\nb.csv", b"\x1b[2J.csv", "견적 1.csv".encode()):
        path = Path(f"{tmp_path}/inbox/{name.decode('utf-8', 'surrogateescape')}")
        path.parent.mkdir(exist_ok=True)
        path.touch()
    with (tmp_path / "inbox" / "sparse.csv").open("wb") as file:
        file.truncate(20_000_000_000)
    assert files.files_of(data) == ["inbox/견적 1.csv"]
