# ruff: noqa: E501  tables of cases
"""Files that a person names in a command, or keeps beside the warehouse: what is no such file is named, and nothing hangs."""

from __future__ import annotations

import gzip
import os
import resource
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from openpyxl import Workbook

from gpuledger import local_files
from gpuledger.extract.readers import transcriptions
from gpuledger.extract.readers.measured.figure import NotReadable
from gpuledger.extract.readers.measured.read import read_figures
from gpuledger.flows.cli import cli
from gpuledger.flows.doors.asking import evidence
from gpuledger.flows.settings import settings
from gpuledger.flows.settings.settings import SettingsError
from gpuledger.flows.telling import watches as store
from gpuledger.records import BadRecord
from gpuledger.transform.workloads import WORKLOADS
from gpuledger.warehouse.outputs import xlsx_files
from gpuledger.warehouse.outputs.sheet import Column, Sheet
from gpuledger.warehouse.paths import DataDir
from gpuledger.warehouse.read import query
from tests.flows.inprocess import refresh
from tests.walls.cases import failing


def _sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(20_000_000_000)


TRAPS: dict[str, Callable[[Path], object]] = {
    "pipe": os.mkfifo, "sparse": _sparse, "folder": Path.mkdir, "link": lambda path: path.symlink_to("/dev/zero"),
    "deep": lambda path: path.write_text("a = " + "[" * 100_000), "no text": lambda path: path.write_bytes(b"\xff" * 99),
    "a number": lambda path: path.write_text("a = " + "9" * 5000),
}  # fmt: skip


@pytest.mark.parametrize("trap", TRAPS)
def test_what_lies_beside_the_warehouse_is_named_or_left_out(tmp_path: Path, trap: str) -> None:
    """A pipe among the workloads hung every command, one among the transcriptions the night."""
    (tmp_path / "decisions").mkdir()
    for name in ("decisions/workloads.toml", "trap.csv"):
        TRAPS[trap](tmp_path / name)
    found, (wrong,) = WORKLOADS.usable(tmp_path)
    assert found == []
    assert f"{WORKLOADS.file(tmp_path)}: " in str(wrong)
    with pytest.raises((OSError, transcriptions.TranscriptionError)):
        transcriptions.read_csv(local_files.read_bytes(tmp_path / "trap.csv"), "trap.csv")


# ── what lies in a folder where people drop files ─────────────────────────────────────────────────────────────────────

QUOTE = "product,price,currency\nGeForce RTX 4070 12GB,599.00,USD\n"


def _link(target: str) -> Callable[[Path], None]:
    return lambda path: path.symlink_to(target)


def _linked_quote(path: Path) -> None:
    (path.parent.parent / "elsewhere.csv").write_text(QUOTE)
    path.symlink_to(path.parent.parent / "elsewhere.csv")


#: What a night meets of what test_more_records.py sets in the place of a file.
DROPPED: tuple[Callable[[Path], None], ...] = (
    os.mkfifo, _link("/dev/zero"), _sparse, _link("/proc/self/environ"), _linked_quote, Path.mkdir,
)  # fmt: skip


def test_a_night_goes_on_and_archives_nothing_of_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_OF_THE_SERVICE", "hunter2hunter2")
    inbox = tmp_path / "data" / "inbox"
    inbox.mkdir(parents=True)
    for number, make in enumerate(DROPPED):
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
    assert [url for url, _ in reasons] == [f"file:trap{number}.csv" for number in range(len(DROPPED))]
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


# ── what a person names ───────────────────────────────────────────────────────────────────────────────────────────────

BOMB = gzip.compress(bytes(200_000_000), 1)
#: Each with a file that is none, and without a word of Python's.
NAMED = {
    "parse product": ["parse", "product"], "parse quotes": ["parse", "quotes"], "quotes check": ["quotes", "check"], "measure": ["measure", "import"],
    "size": ["size", "--config"], "model": ["model", "add", "--id", "a"],
}  # fmt: skip
CONTENTS = {
    "empty": b"", "a gzip bomb": BOMB, "half a gzip": gzip.compress(b"x" * 99)[:-9], "a broken gzip": b"\x1f\x8b" + b"x" * 99, "deep": b"[" * 200_000, "digits": b'{"hidden_size": ' + b"9" * 5000 + b"}",
}  # fmt: skip


def test_what_a_person_names_is_no_file_of_that_kind(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    _sparse(tmp_path / "sparse")
    for number, content in enumerate(CONTENTS.values()):
        (tmp_path / str(number)).write_bytes(content)
    files = {"/dev/zero": Path("/dev/zero"), "a pipe": tmp_path / "pipe", "sparse": tmp_path / "sparse"}
    files |= {name: tmp_path / str(number) for number, name in enumerate(CONTENTS)}

    def named(words: list[str], file: Path) -> None:
        outcome = CliRunner().invoke(cli, [*words, str(file)], env={"GPULEDGER_DATA_DIR": str(tmp_path / "data")})
        # Whatever `main` knows how to say is one sentence; anything else would be a traceback.
        kind = type(outcome.exception)
        assert kind.__module__.startswith(("gpuledger", "builtins", "click")), repr(outcome.exception)
        assert (
            kind in (SystemExit, type(None)) or issubclass(kind, OSError) or kind.__module__.startswith("gpuledger")
        ), repr(outcome.exception)

    before = resource.getrusage(resource.RUSAGE_SELF)
    assert (
        failing(
            {
                f"{name} {what}": lambda w=words, f=file: named(w, f)
                for name, words in NAMED.items()
                for what, file in files.items()
            }
        )
        == {}
    )  # type: ignore[misc]
    after = resource.getrusage(resource.RUSAGE_SELF)
    assert after.ru_maxrss - before.ru_maxrss < 300_000, "kB"


def test_a_gzip_file_of_several_members_is_read_to_its_end(tmp_path: Path) -> None:
    """Of a feed that a shop put together of two, the second was lost without a word."""
    (tmp_path / "a.gz").write_bytes(gzip.compress(b"one ") + gzip.compress(b"two") + bytes(512))
    assert local_files.read_page(tmp_path / "a.gz") == b"one two"
    with pytest.raises(local_files.TooMuch, match="more than 6 bytes"):
        local_files.gunzipped((tmp_path / "a.gz").read_bytes(), 6)


@pytest.mark.parametrize(
    "text",
    [
        "[" * 200_000, '{"a": ' + "9" * 5000 + "}", '{"a": 1}\n{"a": ' + "9" * 5000 + "}", "* " * 100_000,
        "avg_ts,n_prompt,n_gen\n" + "7" * 200_000 + ",1,1", "Model,GPU\n" + "x" * 200_000,
    ],
)  # fmt: skip
def test_a_benchmark_file_that_python_cannot_follow_is_none(text: str) -> None:
    with pytest.raises(NotReadable):
        read_figures(text.encode())


VALUES: tuple[Any, ...] = (
    "inf",
    "nan",
    "-1",
    "9" * 400,
    "1e400",
    "[1, 2]",
    '[["a"]]',
    "{a = 1}",
    '"' + "x" * 900 + '"',
)


def test_no_value_of_a_setting_ends_in_a_traceback(tmp_path: Path) -> None:
    file = tmp_path / "gpuledger.toml"

    def said(name: str, value: str) -> None:
        file.write_text(f"{name} = {value}\n")
        try:
            settings.explain({}, file)
        except SettingsError as error:
            said = str(error)
        else:
            said = name
        assert name in said
        assert len(said) < 2000

    names = (
        "keep_versions",
        "page_timeout_s",
        "offline",
        "product_urls",
        "market",
        "sql_memory_limit",
    )  # of each kind
    assert (
        failing({f"{name} = {value:.40}": lambda n=name, v=value: said(n, v) for name in names for value in VALUES})
        == {}
    )  # type: ignore[misc]


def test_a_watch_that_is_edited_badly_is_named(tmp_path: Path) -> None:
    good = {"id": "1", "rule": '"below"', "gpu_id": '"g"', "gpu": '"G"', "below": '"100"', "currency": '"USD"'}

    def said(name: str, value: str) -> None:
        local_files.write_text(
            store.WATCHES.file(tmp_path),
            "[[watch]]\n" + "\n".join(f"{n} = {v}" for n, v in {**good, name: value}.items()),
        )
        with pytest.raises(BadRecord, match=r"watches\.toml, line 1: "):
            store.WATCHES.all(tmp_path)

    values = ("[1]", "true", "inf", "nan", "-1", "{a = 1}", "2020-01-01T00:00:00Z", '""', '"nan"', '"-5"')
    cases = {(name, value) for name in good for value in values}
    cases -= {(name, value) for name in ("gpu_id", "gpu") for value in values if value.startswith('"')}
    assert failing({f"{name} = {value}": lambda n=name, v=value: said(n, v) for name, value in sorted(cases)}) == {}  # type: ignore[misc]
    for text in ("watch = 5", "watch = [5]", "[watch]\na = 1"):
        local_files.write_text(store.WATCHES.file(tmp_path), text)
        with pytest.raises(BadRecord, match=r"\[\[watch\]\]"):
            store.WATCHES.all(tmp_path)


# ── a page that is shown ──────────────────────────────────────────────────────────────────────────────────────────────

_FIGURE = {"name": "RTX 4090", "printed": "$1,599.00", "more": ""}


@pytest.mark.parametrize(
    "piece", ["$<", "$1<", "$1,<b>", "$ ", "$1 ,", "$1&nbsp;", "$1,599.0", "$1,599.00 ", "<" * 50 + "$"]
)
def test_a_page_is_looked_through_once_for_a_figure(piece: str) -> None:
    """Five megabytes of brackets took hours."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_utime
    assert evidence.place_in(piece * (2_000_000 // len(piece)) + "RTX 4090 $1,599.00", _FIGURE)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_utime - before < 3, "seconds of processor"


# ── what leaves the warehouse, and who may ask it ─────────────────────────────────────────────────────────────────────


def test_a_workbook_opens_whatever_a_title_holds(tmp_path: Path) -> None:
    columns = [Column("a", "a", "text", ""), Column("l", "l", "link", "")]
    titles = ["RTX \uffff", "\ufffe", "\x0b", "x" * 40_000, "=1"]
    links = [
        "https://a.example/\uffff\x08",
        "javascript:alert(1)",
        "file://evil/share",
        "https://a.example/" + "x" * 3000,
        "https://b.example/",
    ]
    rows = list(zip(titles, links, strict=True))
    book = Workbook()
    xlsx_files._list(
        book,
        Sheet(name="a", title="a", subtitle="", columns=columns, rows=rows, printed=2, colours={}),
        str,
    )
    sheet = book[book.sheetnames[-1]]
    book.save(tmp_path / "a.xlsx")
    found = [sheet.cell(row, 1).value for row in range(5, 10)]
    assert found == ["RTX ", "", "", "x" * 32_767, "'=1"]
    shown = [sheet.cell(row, 2).hyperlink for row in range(5, 10)]
    assert [one.target if one else None for one in shown] == [
        "https://a.example/",
        None,
        None,
        None,
        "https://b.example/",
    ]
