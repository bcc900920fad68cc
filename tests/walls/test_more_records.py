# ruff: noqa: E501  tables of cases
"""What may lie on the disk: files that are no quotes, and records that were damaged, in ways thought of after the code was done."""

from __future__ import annotations

import gzip
import io
import json
import os
import random
import socket
import zipfile
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import pytest

from gpuledger import local_files
from gpuledger.errors import ExtractError, NotFound
from gpuledger.extract.archive import sealed
from gpuledger.extract.archive.fetch_log import FetchLog
from gpuledger.extract.archive.snapshot import Snapshot
from gpuledger.extract.collect import parse_page
from gpuledger.extract.source import Page, get
from gpuledger.flows.decisions import releases
from gpuledger.flows.decisions.releases import RELEASES, Release
from gpuledger.flows.night import run_log
from gpuledger.items import Issue, to_json
from gpuledger.records import BadRecord
from gpuledger.warehouse.paths import DataDir
from tests.walls.cases import failing

NOW = datetime(2024, 1, 1, 3, tzinfo=UTC)
LATER = datetime(2100, 1, 1, tzinfo=UTC)

# ── what lies in the inbox ────────────────────────────────────────────────────────────────────────────────────────────

_HEAD = "product,price,currency\n"
_ROW = "GeForce RTX 4070 12GB,599.00,USD\n"


def _zip(*parts: tuple[str, bytes], **how: int) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", **how) as archive:  # type: ignore[arg-type]
        for name, content in parts:
            archive.writestr(name, content)
    return file.getvalue()


_BOOK = _zip(("xl/workbook.xml", b"<workbook/>"), ("[Content_Types].xml", b"<Types/>"))
#: Bytes of a file that somebody dropped, none of which is a table that can be read whole.
CONTENTS = {
    "nothing": b"", "a space": b" ", "line ends": b"\r\n" * 999, "a mark of order": b"\xef\xbb\xbf", "half a mark": b"\xef\xbb", "UTF-16 cut": "product".encode("utf-16")[:-1],
    "UTF-16 of half characters": b"\xff\xfe\x00\xd8\x00\xd8", "UTF-32": "product,price\n".encode("utf-32"), "UTF-7": b"+AGEAYg-,price\n", "EBCDIC": "product,price,currency\nRTX,5,USD\n".encode("cp037"),
    "zeros": b"\0" * 100_000, "every byte": bytes(range(256)) * 40, "chance": random.Random(1).randbytes(50_000), "only a header": _HEAD.encode(), "a header and commas": (_HEAD + ",,,,,\n" * 99).encode(),
    "an open quote": (_HEAD + '"' + _ROW * 3000).encode(), "quotes in quotes": (_HEAD + '""""""""' * 5000).encode(), "a cell of 200 KB": (_HEAD + "x" * 200_000 + ",5,USD\n").encode(),
    "3,000 columns": (",".join(map(str, range(3000))) + "\n").encode(), "a header twice": (_HEAD + _HEAD).encode(), "two prices": b"product,price,price,currency\nRTX 4070 12GB,5,6,USD\n",
    "formulas": (_HEAD + "=HYPERLINK(\"http://evil\"),=1+1,USD\n@SUM(A1),-5,USD\n").encode(), "escapes": (_HEAD + "\x1b[2JRTX 4070 12GB,\x1b[31m5,USD\n").encode(),
    "HTML": b"<html><body>quote</body></html>", "JSON": b'{"product": "RTX", "price": 5}', "deep JSON": b"[" * 90_000, "XML": b"<?xml version='1.0'?><a>" * 5000, "PDF": b"%PDF-1.7\n" + b"\0" * 900,
    "an old workbook": b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 900, "gzip": gzip.compress(_HEAD.encode()), "a picture": b"\x89PNG\r\n\x1a\n" + b"\0" * 99, "an ELF": b"\x7fELF" + b"\0" * 99,
    "a zip of nothing": _zip(), "a zip of itself only": _zip(("a.csv", _HEAD.encode())), "a zip cut": _BOOK[:-30], "a zip without its head": b"PK\x03\x04" + b"\0" * 200, "a zip of a wrong sum": _BOOK.replace(b"<workbook/>", b"<workbooq/>"),
    "a zip of names that climb": _zip(("../../etc/passwd", b"x"), ("xl/workbook.xml", b"<workbook/>")), "a zip of one name twice": _BOOK[:-22] + _BOOK, "a zip of 20,000 files": _zip(*((str(n), b"") for n in range(3000))),
    "a zip that lies of its size": _BOOK.replace((11).to_bytes(4, "little"), (2**32 - 1).to_bytes(4, "little")), "a zip with a password": _BOOK.replace(b"PK\x03\x04\x14\0\0\0", b"PK\x03\x04\x14\0\1\0").replace(b"PK\x01\x02\x14\x03\x14\0\0\0", b"PK\x01\x02\x14\x03\x14\0\1\0"),
    "a workbook of no sheet": _BOOK, "a workbook of entities": _zip(("xl/workbook.xml", b"<!DOCTYPE a [<!ENTITY b SYSTEM 'file:///etc/passwd'>]><workbook>&b;</workbook>"), ("[Content_Types].xml", b"<Types/>")),
    "a workbook of laughter": _zip(("[Content_Types].xml", b"<!DOCTYPE l [<!ENTITY a 'ha'>" + b"".join(b"<!ENTITY a%d '%s'>" % (n, b"&a;" * 9) for n in range(9)) + b"]><l>&a8;</l>")),
    "a workbook of bytes": _zip(("xl/workbook.xml", b"\xff" * 5000), ("[Content_Types].xml", b"\0" * 5000)), "prices that are none": (_HEAD + "".join(f"RTX 4070 12GB,{price},USD\n" for price in ("", "nan", "inf", "-5", "0", "1e9", "5..5", "⁵", "५", "0x5"))).encode(),
    "currencies that are none": (_HEAD + "".join(f"RTX 4070 12GB,599,{code}\n" for code in ("", "XXX", "usd usd", "€€", "BTC", "\x00", "🪙", "U$D"))).encode(), "no title": (_HEAD + ",599,USD\n ,599,USD\n\u200b,599,USD\n").encode(),
    "quantities": b"product,price,currency,quantity\nRTX 4070 12GB,599,USD,-1\nRTX 4070 12GB,599,USD,1e999999999\nRTX 4070 12GB,599,USD,1.5\n", "days": b"product,price,currency,valid until\nRTX 4070 12GB,599,USD,0000-00-00\nRTX 4070 12GB,599,USD,99999-01-01\n",
    "separators mixed": b"product;price,currency\tx|y\nRTX 4070;599,USD\t1|2\n", "line ends mixed": b"product,price,currency\rRTX 4070 12GB,5\n\r99,USD\x0b\x0c", "a date of blanks": b"product,price,currency,valid until\nRTX 4070 12GB,599,USD,2024" + b" " * 90_000 + b"x\n",
}  # fmt: skip


def test_files_that_are_no_quotes_are_said_to_be_none() -> None:
    def read(content: bytes) -> None:
        page = Page(url="file:q", final_url="file:q", content=content, sha256="0" * 64, fetched_at=NOW, headers={})
        try:
            items = parse_page(get("quotes"), page)
        except ExtractError as error:
            said = str(error)
        else:
            said = ""
        if said:
            assert len(said.encode()) < 2000
            return
        json.dumps([to_json(item) for item in items], allow_nan=False, ensure_ascii=False).encode()
        assert any(isinstance(item, Issue) for item in items), items

    assert failing({name: lambda c=content: read(c) for name, content in CONTENTS.items()}) == {}  # type: ignore[misc]


def _file_of(size: int) -> Callable[[Path], None]:
    return lambda path: os.truncate(path.open("wb").name, size)


def _hard_link(path: Path) -> None:
    path.with_suffix(".1").write_bytes(b"x")
    path.hardlink_to(path.with_suffix(".1"))


def _link_to_link(path: Path, target: str) -> None:
    path.with_suffix(".1").symlink_to(target)
    path.symlink_to(path.with_suffix(".1"))


def _pipe(path: Path) -> int:
    """A pipe that somebody has open for writing; who calls closes it."""
    os.mkfifo(path)
    return os.open(path, os.O_RDWR)


def _socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as one:
        one.bind(str(path))


def _linked_quote(path: Path) -> None:
    (path.parent / "elsewhere.csv").write_text(_HEAD + _ROW)
    path.symlink_to(path.parent / "elsewhere.csv")


#: What stands in the place of a file, by its bytes; None where it is to be refused.
PLACES: dict[str, tuple[Callable[[Path], object], bytes | None]] = {
    "an empty file": (Path.touch, b""), "the largest": (_file_of(50), bytes(50)), "one more": (_file_of(51), None), "sparse": (_file_of(10**13), None),
    "a hard link": (_hard_link, b"x"),
    "a link to a link": (lambda path: _link_to_link(path, "/dev/zero"), None),
    "a ring of links": (lambda path: _link_to_link(path, str(path)), None),
    "a link of 4,000 letters": (lambda path: path.symlink_to("./" * 1900 + "x"), None), "a pipe with a writer": (_pipe, None),
    "a pipe": (os.mkfifo, None), "a socket": (_socket, None), "an empty folder": (Path.mkdir, None), "a link to a quote": (_linked_quote, None),
    "a folder that is full": (lambda path: (path / "x").mkdir(parents=True), None), "nothing": (lambda path: None, None),
    **{f"a link to {target}": (lambda path, to=target: path.symlink_to(to), None) for target in (  # type: ignore[misc]
        "/proc/self/cmdline", "/proc/self/root", "/proc/self/cwd", "/proc/self/exe", "/proc/self/fd/1", "/proc/self/task", "/proc/self/mounts", "/proc/self/pagemap",
        "/proc/self/auxv", "/proc/kcore", "/proc/kallsyms", "/proc/version", "/proc/net/tcp", "/proc/sys/kernel/hostname", "/proc/sysrq-trigger", "/proc/self/clear_refs", "/sys", "/sys/kernel",
        "/dev", "/dev/fd", "/dev/fd/0", "/dev/stdout", "/dev/stderr", "/dev/urandom", "/dev/ptmx", "/dev/pts", "/dev/shm", "/dev/mem", "/dev/kmsg", "/dev/port", "/run", "/tmp", "/root/.ssh/id_rsa",
        "/dev/zero", "/dev/random", "/dev/tty", "/dev/null", "/dev/stdin", "/dev/full", "/proc", "/proc/self/environ", "/proc/self/mem", "/proc/self/maps", "/proc/kmsg", "/proc/1/environ", "/proc/self/fd/0",
        "/etc/passwd", "/etc/hostname", "/", ".", "..", "nowhere", "../inbox", "../state/writer.lock", "../snapshots/runs.jsonl", "trap.csv",
        "/etc/shadow", "/etc/ssl/private", "/var/run/docker.sock", "../../../../../../etc/passwd", "//etc/passwd", "/./etc/../etc/passwd", "~/.netrc", "$HOME/.netrc", "trap.csv/", "trap.csv/.", ".//trap.csv",
    )},
}  # fmt: skip


def test_only_a_small_regular_file_is_read(tmp_path: Path) -> None:
    def stands(number: int, make: Callable[[Path], object], expected: bytes | None) -> None:
        path = tmp_path / str(number) / "trap.csv"
        path.parent.mkdir()
        opened = make(path)
        try:
            found, refused = local_files.read_bytes(path, 50), None
        except OSError as error:
            found, refused = None, error
        finally:
            if isinstance(opened, int):
                os.close(opened)
        assert found == expected
        if refused is not None:
            assert refused.filename == str(path)
            assert local_files.why(refused)

    cases = {
        name: lambda n=number, m=make, e=expected: stands(n, m, e)
        for number, (name, (make, expected)) in enumerate(PLACES.items())
    }  # type: ignore[misc]
    assert failing(cases) == {}


# ── decisions of people ───────────────────────────────────────────────────────────────────────────────────────────────

_DECIDED = "decided_at = 2026-01-01T00:00:00+00:00"
_NIGHT = "last_night = 2026-01-01T00:00:00+00:00"
#: Releases that an editor, a merge or a torn write leaves. None releases anything.
ENTRIES = [
    "", _DECIDED, 'listing_id = "a"', f'colour = "red"\n{_DECIDED}',
    *(f'listing_id = "a"\nprice = {price}\n{_DECIDED}' for price in (
        "true", "[]", "{}", '""', '"x"', '"nan"', '"sNaN"', '"inf"', '"-5"', '"0"', '"1e999999"', '"1e-999999"', "nan", "-inf", "1e400", '"5,00"', '"$5"', '"' + "9" * 9000 + '"')),
    *(f'listing_id = {listing}\nprice = "5"\n{_DECIDED}' for listing in ("7", "[]", '""')),
    *(f'source = "newegg"\nrows = {rows}\n{_NIGHT}\n{_DECIDED}' for rows in ("true", "[]", '"x"', "-1", "1e400", "nan", "9" * 12, '"1e5"', "1.5")),
    *(f'source = "newegg"\nrows = 5\nlast_night = {night}\n{_DECIDED}' for night in ("7", '"x"', "2026-01-01T00:00:00")),
    *(f'source = {source}\nrows = 5\n{_NIGHT}\n{_DECIDED}' for source in ("7", "[]", '""')),
    *(f'listing_id = "a"\nprice = "5"\ndecided_at = {time}' for time in ("7", "-1", "true", "1.5", "{}", "[]", '"now"', "2026-01-01", "2026-01-01T00:00:00", "03:00:00")),
]  # fmt: skip
#: What takes the whole file along.
TORN = ["<<<<<<< HEAD", "\x00", "listing_id = ", "[" * 9000, "\x1b[2J"]


def _released(root: Path, listing_id: str, price: int) -> None:
    RELEASES.put(root, Release(listing_id=listing_id, price=Decimal(price), currency="USD", decided_at=NOW))


def test_no_entry_of_decisions_releases_what_it_does_not_say(tmp_path: Path) -> None:
    def between(number: int, entry: str) -> None:
        data = DataDir(tmp_path / str(number))
        _released(data.root, "one", 5)
        path = RELEASES.file(data.root)
        path.write_text(f"{path.read_text()}\n[[release]]\n{entry}\n")
        found = releases.releases(data, LATER)
        assert (found.prices, found.sources) == ([("one", Decimal(5))], [])
        (named,) = map(str, RELEASES.usable(data.root)[1])
        assert "releases.toml, line 8" in named
        assert len(named) < 1000
        before = path.read_bytes()
        with pytest.raises(BadRecord, match="line 8"):
            _released(data.root, "two", 6)
        assert path.read_bytes() == before, "nothing of a bad file is lost by a decision beside it"

    cases = {f"{n} {entry[:80]!a}": lambda n=n, entry=entry: between(n, entry) for n, entry in enumerate(ENTRIES)}  # type: ignore[misc]
    assert failing(cases) == {}


@pytest.mark.parametrize("text", TORN)
def test_a_file_of_decisions_that_is_torn_releases_nothing_and_is_named(tmp_path: Path, text: str) -> None:
    _released(tmp_path, "one", 5)
    path = RELEASES.file(tmp_path)
    path.write_text(f"{path.read_text()}\n{text}\n")
    assert releases.releases(DataDir(tmp_path), LATER).prices == []
    (named,) = map(str, RELEASES.usable(tmp_path)[1])
    assert named.startswith(f"{path}: ")


# ── the log of runs, and of fetches ───────────────────────────────────────────────────────────────────────────────────


def _record(number: int) -> run_log.RunRecord:
    missed = NotFound("https://shop.example/x", "404")
    source = run_log.SourceRecord(
        source="newegg", fetched_by=f"run{number}", starts=("https://www.newegg.com/p",), fetched=3, missed={"https://shop.example/x": missed},
    )  # fmt: skip
    time = NOW + timedelta(days=number)
    return run_log.RunRecord(
        run_id=f"run{number}", as_of=time, started_at=time, engine="plain", sample_night=None,
        settings={"gate_max_move": 0.4}, sources=(source,),
    )  # fmt: skip


def _logs(folder: Path) -> tuple[DataDir, FetchLog, Path]:
    """A directory with four published runs on record, and a log of their four fetches."""
    data = DataDir(folder)
    path = data.snapshots / "log" / "newegg.jsonl"
    fetches = FetchLog(path, "newegg")
    for number in range(4):
        fetches.append(
            Snapshot(
                source="newegg", url=f"https://www.newegg.com/{number}", final_url=f"https://www.newegg.com/{number}",
                sha256=f"{number}" * 64, fetched_at=NOW + timedelta(days=number), status=200, headers={}, run_id=f"run{number}",
                size=5,
            )
        )  # fmt: skip
        run_log.publishing(data, _record(number))
        run_log.published(data, f"run{number}")
    return data, fetches, path


def _resealed(lines: list[bytes], number: int, edit: Callable[[dict[str, object]], object]) -> list[bytes]:
    """A line edited by somebody who computes its own sum again, and not those of the lines behind it."""
    words = json.loads(lines[number])
    after = words.pop("after")
    del words["seal"]
    edit(words)
    return [*lines[:number], sealed.line(words, after), *lines[number + 1 :]]


def _moved(lines: list[bytes], start: int, to: int) -> list[bytes]:
    rest = lines[:start] + lines[start + 1 :]
    return [*rest[:to], lines[start], *rest[to:]]


def _replaced(old: bytes, new: bytes) -> Callable[[list[bytes]], list[bytes]]:
    return lambda lines: [*lines[:2], lines[2].replace(old, new), *lines[3:]]


def _middle(edit: Callable[[bytes], bytes]) -> Callable[[list[bytes]], list[bytes]]:
    return lambda lines: [lines[0], edit(lines[1]), *lines[2:]]


#: What a hand, a program or a disk does to the lines of a log; each changes what it says, or how it is written.
EDITS: dict[str, Callable[[list[bytes]], list[bytes]]] = {
    **{f"{old!r} to {new!r}": _replaced(old, new) for old, new in (
        (b"run", b"Run"), (b"5", b"6"), (b"2024-01-0", b"2023-01-0"), (b"03:00:00", b"04:00:00"), (b"+00:00", b"+09:00"), (b"newegg", b"amazon"), (b"https", b"http"), (b"www.", b""),
        (b'"fetched', b'"Fetched'), (b"4", b"3"), (b": ", b":"), (b", ", b",  "), (b'"', b"'"), (b"{", b"{ "), (b"e", b"\\u0065"), (b"a", "а".encode()), (b"seal", b"Seal"), (b"after", b"After"), (b"}", b"}}"), (b"\n", b" \n#\n"),
    )},
    "the first is gone": lambda lines: lines[1:], "the second is gone": lambda lines: [lines[0], *lines[2:]], "the first two are gone": lambda lines: lines[2:], "every second is gone": lambda lines: lines[::2],
    "backwards": lambda lines: lines[::-1], "the first comes last": lambda lines: _moved(lines, 0, 9), "the last comes first": lambda lines: _moved(lines, -1, 0), "the second comes first": lambda lines: _moved(lines, 1, 0),
    "all twice": lambda lines: lines + lines, "the first twice": lambda lines: [lines[0], *lines], "the second twice": lambda lines: [*lines[:2], *lines[1:]], "the first again at the end": lambda lines: [*lines, lines[0]],
    "the second at the end too": lambda lines: [*lines, lines[1]], "the second cut": _middle(lambda line: line[: len(line) // 2] + b"}\n"), "cut before the seal": _middle(lambda line: line.partition(b', "after')[0] + b"}\n"),
    "without its end": _middle(lambda line: line.rstrip(b"\n")), "two in one": lambda lines: [lines[0].rstrip(b"\n") + lines[1], *lines[2:]], "zeros": _middle(lambda line: b"\0" * len(line)), "a zero": _middle(lambda line: line[:9] + b"\0" + line[9:]),
    "backspaces": _middle(lambda line: b"\x08" + line), "a mark of order": _middle(lambda line: b"\xef\xbb\xbf" + line), "upper case": _middle(bytes.upper), "lower seal": _middle(lambda line: line[:-6] + b'0000"}\n'[-6:]),
    "rubbish after it": _middle(lambda line: line[:-1] + b"garbage\n"), "rubbish before it": _middle(lambda line: b"garbage" + line), "a line by hand": lambda lines: [lines[0], b'{"event": "published", "run_id": "run9"}\n', *lines[1:]],
    "a line by hand at the end": lambda lines: [*lines, b'{"event": "published", "run_id": "run9"}\n'], "null": lambda lines: [lines[0], b"null\n", *lines[1:]], "a number": lambda lines: [lines[0], b"7\n", *lines[1:]],
    "sealed anew": lambda lines: _resealed(lines, 1, lambda words: words.update(extra=1)), "sealed anew at the start": lambda lines: _resealed(lines, 0, lambda words: words.update(extra=1)),
    "sealed without all": lambda lines: _resealed(lines, 1, lambda words: words.clear()), "sealed as the first": lambda lines: [lines[0], sealed.line(json.loads(lines[1])), *lines[2:]],
    "from another log": lambda lines: [lines[0], *sealed.chain([{"event": "published", "run_id": "run9"}]), *lines[1:]], "another log behind it": lambda lines: [*lines, *sealed.chain([{"event": "published", "run_id": "run9"}])],
}  # fmt: skip


def test_edited_logs_are_named_and_not_believed(tmp_path: Path) -> None:
    data, fetches, path = _logs(tmp_path)
    runs, fetched = [*map(repr, run_log.records(data))], [*fetches.fetches()]
    assert len(runs) == len(fetched) == 4
    good = {file: file.read_bytes() for file in (data.runs, path)}

    def edited(file: Path, edit: Callable[[list[bytes]], list[bytes]]) -> None:
        lines = good[file].splitlines(keepends=True)
        try:
            file.write_bytes(b"".join(edit(lines)))
            assert file.read_bytes() != good[file]
            if file == path:
                assert FetchLog(path, "newegg").damage() != []
                assert all(one in fetched for one in FetchLog(path, "newegg").fetches() if one.run_id != "run9")
            else:
                named = run_log.damage(data)
                assert named != []
                assert all(str(file) in one and "line " in one for one in named)
                with pytest.raises(run_log.BadRecord, match=r"runs\.jsonl, line \d"):
                    run_log.records(data)
                assert all(repr(one) in runs for one in run_log.records(data, skip_damaged=True))
        finally:
            for one, content in good.items():
                one.write_bytes(content)

    cases = {
        f"{file.name}: {name}": lambda f=file, e=edit: edited(f, e) for file in good for name, edit in EDITS.items()
    }  # type: ignore[misc]
    assert failing(cases) == {}
