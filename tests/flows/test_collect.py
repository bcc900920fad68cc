"""Reading one source over a real connection: links, limits, failures, and what is not parsed twice."""

from __future__ import annotations

import gzip
import hashlib
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest

from gpuledger.errors import LayoutChanged, OutOfTime
from gpuledger.extract.archive import parsed_cache
from gpuledger.extract.archive.parsed_cache import ParsedCache
from gpuledger.extract.archive.snapshots import Archive
from gpuledger.extract.collect import Collected, Reading, collect
from gpuledger.extract.fetch.http import Client, HttpSettings
from gpuledger.extract.pages import Fetching, LocalFile, OfRun
from gpuledger.extract.source import Page, Source
from gpuledger.items import Issue, Link, Offer, Parsed
from tests.extract import faulty_server
from tests.extract.faulty_server import Exchange, FaultyServer, Route, page, status

HOST = "shop.sample.test"
NOW = datetime(2023, 11, 16, 3, tzinfo=UTC)


def parse(found: Page) -> Iterator[Parsed]:
    """A shop of the test's own: a line `offer KEY PRICE`, `link PATH`, `image PATH`, `issue WORDS`, `crash` or `refuse`."""
    for line in found.content.decode().splitlines():
        word, _, rest = line.partition(" ")
        match word:
            case "offer":
                key, price = rest.split()
                money = Decimal(price)
                yield Offer(
                    title=f"Card {key}", url=found.final_url, key=key, price=money, currency="USD", price_kind="now"
                )
            case "link" | "image":
                role = "image" if word == "image" else "next_page"
                yield Link(url=f"http://{HOST}{rest}", role=role)
            case "issue":
                yield Issue(code="odd", message=rest)
            case "crash":
                raise IndexError("list index out of range")
            case "refuse":
                raise LayoutChanged(found.url, "no card here", "look again")


SHOP = Source(name="test_shop", title="Shop", homepage="https://shop.invalid", parse=parse, kinds=("offer",))

Read = Callable[..., Collected]


class Bench:
    """A server, an archive and a cache; `read()` reads the shop once more with them."""

    def __init__(self, server: FaultyServer, client: Client, folder: Path) -> None:
        self.server = server
        self.client = client
        self.archive = Archive(folder / "snapshots")
        self.parsed = folder / "parsed"
        self.seen: list[str] = []

    def serve(self, **pages: str | Route) -> None:
        self.server.routes.update(
            {f"/{name}": page(text.encode()) if isinstance(text, str) else text for name, text in pages.items()}
        )

    def read(self, *starts: str, source: Source = SHOP, files: tuple[LocalFile, ...] = ()) -> Collected:
        reading = Reading(source, [f"http://{HOST}/{start}" for start in starts], files)
        pages = Fetching(self.client, self.archive, NOW, "run")
        return collect(reading, pages, ParsedCache(self.parsed), self.seen.append)


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    with FaultyServer() as server:
        settings = HttpSettings(delay_s=0.0, max_attempts=1, connect_to={HOST: ("127.0.0.1", server.port)})
        with Client(settings) as client:
            yield Bench(server, client, tmp_path)


def keys(found: Collected) -> list[str]:
    return [item.key for item, _ in found.rows if isinstance(item, Offer)]


def test_links_are_followed_once_each_in_the_order_in_which_they_were_found(bench: Bench) -> None:
    bench.serve(
        one="offer a 100\nlink /two\nlink /three\nlink /one",
        two="offer b 200\nlink /three\nlink /one",
        three="offer c 300",
    )
    found = bench.read("one")
    assert keys(found) == ["a", "b", "c"]
    assert bench.server.paths() == ["/one", "/two", "/three"]
    # Of the first page nobody knows yet that it has links.
    assert bench.seen == [f"http://{HOST}/{name}" for name in ("one", "two", "three")]
    assert (found.pages, found.is_complete, found.failure) == (3, True, None)


def test_every_row_and_issue_points_to_the_bytes_that_it_was_read_from(bench: Bench) -> None:
    bench.serve(one="offer a 100\nissue a smudge\nlink /two", two="offer b 200")
    found = bench.read("one")
    for item, sha256 in found.rows:
        assert isinstance(item, Offer)
        assert f"offer {item.key} ".encode() in bench.archive.content_of(sha256)
    ((issue, sha256),) = found.issues
    assert issue.message == "a smudge"
    assert sha256 is not None
    assert b"a smudge" in bench.archive.content_of(sha256)


def test_a_paging_loop_ends_with_an_issue(bench: Bench) -> None:
    def endless(exchange: Exchange) -> None:
        number = int(exchange.path.partition("=")[2] or 0)
        exchange.reply(200, f"offer {number} 100\nlink /list?page={number + 1}".encode())

    bench.serve(list=endless)
    found = bench.read("list", source=replace(SHOP, max_pages=5))
    assert keys(found) == ["0", "1", "2", "3", "4"]
    assert [issue.code for issue, _ in found.issues] == ["too_many_pages"]
    assert not found.is_complete, "what is absent has not vanished"
    assert found.failure is None


@pytest.mark.parametrize(("broken", "is_failure"), [(1, False), (2, False), (3, False), (4, True)])
def test_a_source_fails_where_all_of_its_pages_do(bench: Bench, broken: int, is_failure: bool) -> None:
    for n in range(4):
        bench.serve(**{f"p{n}": status(404) if n < broken else f"offer {n} 100"})
    found = bench.read("p0", "p1", "p2", "p3")
    assert (found.failure is not None) is is_failure
    assert not found.is_complete
    assert [issue.code for issue, _ in found.issues] == ["NotFound"] * broken
    assert [type(failure).__name__ for failure in found.unread] == ["NotFound"] * broken
    assert len(keys(found)) == 4 - broken


@pytest.mark.parametrize(
    ("second", "name"),
    [
        (status(404), "NotFound"), (status(410), "NotFound"), (status(429), "RateLimited"), (status(500), "ServerError"),
        (status(503), "ServerError"), (status(403), "Blocked"), (faulty_server.short_body, "Truncated"), ("", "EmptyBody"),
        ("refuse", "LayoutChanged"), ("offer b 200\ncrash", "LayoutChanged"),
        ("<html><title>Are you a human?</title><div class='g-recaptcha'></div>", "Blocked"),
    ],
)  # fmt: skip
def test_a_page_fails_alone_and_is_named(bench: Bench, second: str | Route, name: str) -> None:
    """The first page of a listing is loaded without the second, and the third, to which only the second leads."""
    bench.serve(one="offer a 100\nlink /two", two=second)
    found = bench.read("one")
    assert (keys(found), found.failure, found.is_complete) == (["a"], None, False)
    (failure,) = found.unread
    assert (type(failure).__name__, failure.url) == (name, f"http://{HOST}/two")


def test_a_product_that_is_gone_is_an_answer_and_no_page_that_lacks(bench: Bench) -> None:
    bench.serve(one="offer a 100", two=status(404))
    found = bench.read("one", "two", source=replace(SHOP, has_lists=False))
    assert (keys(found), found.failure, found.is_complete, found.unread) == (["a"], None, False, [])


def test_a_source_that_is_out_of_time_reads_no_further_page_and_its_replay_does_not_either(bench: Bench) -> None:
    bench.serve(one="offer a 100\nlink /two\nlink /three", two="offer b 200", three="offer c 300")

    def in_time(url: str) -> None:
        if url.endswith("/two"):
            raise OutOfTime(url, "the source took longer than 1 s")

    reading = Reading(SHOP, [f"http://{HOST}/one"])
    first = collect(reading, Fetching(bench.client, bench.archive, NOW, "run", in_time=in_time), None)
    assert bench.server.paths() == ["/one"]
    assert (keys(first), [type(failure) for failure in first.unread]) == (["a"], [OutOfTime])
    again = collect(
        reading, OfRun(bench.archive, bench.archive.log("test_shop").of_run("run"), dict(first.missed)), None
    )
    assert again == first


def test_a_parser_that_dies_is_a_changed_layout_with_its_words(bench: Bench) -> None:
    bench.serve(one="offer a 100\ncrash")
    found = bench.read("one")
    assert isinstance(found.failure, LayoutChanged)
    assert "the parser of test_shop failed: IndexError: list index out of range" in found.failure.seen
    assert found.rows == [], "half a page is no page"
    assert list(bench.archive.history("test_shop")), "the page that broke the parser is there to be looked at"


def test_an_image_is_watched_and_not_parsed(bench: Bench) -> None:
    bench.serve(one="image /chart.png\noffer a 100", **{"chart.png": "crash"})
    found = bench.read("one")
    assert found.failure is None
    (sha256,) = found.images.values()
    assert bench.archive.content_of(sha256) == b"crash"
    assert keys(found) == ["a"]


# ── what nobody foresaw ───────────────────────────────────────────────────────────────────────────────────────────────


class _Broken:
    """Pages whose steps raise what no client of ours does."""

    def __init__(self, whole: Fetching, step: str, error: Exception) -> None:
        self._whole, self._step, self._error = whole, step, error

    def __getattr__(self, name: str) -> object:
        def act(*arguments: object) -> object:
            if name == self._step and "bad" in f"{arguments}":
                raise self._error
            return getattr(self._whole, name)(*arguments)

        return act


ERRORS: list[Exception] = [
    ValueError("odd"), KeyError("key"), IndexError(), TypeError("\ud83d"), RecursionError("deep"), MemoryError(),
    UnicodeEncodeError("utf-8", "\ud83d", 0, 1, "surrogates not allowed"), ZeroDivisionError(), AssertionError("no"),
    OverflowError("large"), ArithmeticError(), AttributeError("none"), RuntimeError("x" * 5000),
    OSError(28, "No space left"),
    OSError(5, "Input/output error"), OSError("without a number"), StopIteration(), NotImplementedError(), BufferError(),
    EOFError(), LookupError(), UnicodeDecodeError("utf-8", b"\xff", 0, 1, "bad"), PermissionError(13, "Permission denied"),
    TimeoutError(), ConnectionResetError(104, "reset"),
]  # fmt: skip


@pytest.mark.parametrize("step", ["fetch", "page_of"])
@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_what_nobody_foresaw_is_one_pages_failure_with_type_and_place(
    bench: Bench, step: str, error: Exception
) -> None:
    bench.serve(**dict.fromkeys(("one", "two", "three", "bad"), "offer good 100"))
    pages = _Broken(Fetching(bench.client, bench.archive, NOW, "run"), step, error)
    reading = Reading(SHOP, [f"http://{HOST}/{name}" for name in ("one", "two", "three", "bad")])
    found = collect(reading, pages, None)  # type: ignore[arg-type]
    assert (found.failure, keys(found)) == (None, ["good"] * 3)
    ((issue, _),) = found.issues
    assert issue.url == f"http://{HOST}/bad"
    assert len(issue.message) < 1000
    issue.message.encode()
    if not isinstance(error, OSError):
        assert issue.code == "Unforeseen"
        assert type(error).__name__ in issue.message
        if step == "page_of":
            assert "the archived page is " in issue.message


def test_a_row_that_is_left_out_takes_no_other_with_it(bench: Bench) -> None:
    bench.serve(one="offer a 1e999999999\noffer b 7", two="offer c 8")
    found = bench.read("one", "two")
    assert (found.failure, keys(found)) == (None, ["b", "c"])
    assert [issue.code for issue, _ in found.issues] == ["out_of_bounds"]


# ── unchanged pages ───────────────────────────────────────────────────────────────────────────────────────────────────


def with_etag(text: str, etag: str = '"v1"') -> Route:
    def answer(exchange: Exchange) -> None:
        if exchange.headers.get("if-none-match") == etag:
            exchange.reply(304, b"", {"ETag": etag})
        else:
            exchange.reply(200, text.encode(), {"ETag": etag})

    return answer


def test_an_unchanged_page_is_not_parsed_again_and_gives_the_same(bench: Bench) -> None:
    bench.serve(one=with_etag("offer a 100\nissue odd\nlink /two"), two="offer b 200")
    first = bench.read("one")
    assert first.pages_unchanged == 0

    def dead(found: Page) -> list[Parsed]:
        raise AssertionError("parsed again")

    second = bench.read("one", source=replace(SHOP, parse=dead))
    assert second.failure is None
    assert (second.pages, second.pages_unchanged) == (2, 2)
    assert (second.rows, second.issues) == (first.rows, first.issues)


def test_a_page_that_was_refused_is_refused_again_without_being_parsed(bench: Bench) -> None:
    bench.serve(one="refuse")
    first = bench.read("one")
    assert isinstance(first.failure, LayoutChanged)

    def dead(found: Page) -> list[Parsed]:
        raise AssertionError("parsed again")

    second = bench.read("one", source=replace(SHOP, parse=dead))
    assert isinstance(second.failure, LayoutChanged)
    assert (str(second.failure), second.issues) == (str(first.failure), first.issues)
    assert second.issues
    bench.serve(one="offer a 100")
    assert bench.read("one").failure is None


def test_a_page_on_which_the_parser_failed_is_parsed_again(bench: Bench) -> None:
    """A full disk or a missing library is mended, while the page stays the same."""
    bench.serve(one="crash")
    assert isinstance(bench.read("one").failure, LayoutChanged)
    mended = bench.read("one", source=replace(SHOP, parse=lambda found: [Offer(title="Card a", url="u", key="a")]))
    assert (mended.failure, mended.pages_unchanged, len(mended.rows)) == (None, 0, 1)


@pytest.mark.parametrize("change", ["address", "bytes", "code"])
def test_another_parser_page_or_address_is_parsed_again(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    bench.serve(one="offer a 100", other="offer a 100")
    bench.read("one")
    start = "one"
    if change == "address":
        start = "other"
    elif change == "bytes":
        bench.serve(one="offer a 101")
    else:
        monkeypatch.setattr(parsed_cache, "parser_code", lambda: "another")
    assert bench.read(start).pages_unchanged == 0


def test_a_damaged_cache_is_no_cache(bench: Bench, tmp_path: Path) -> None:
    bench.serve(one="offer a 100")
    first = bench.read("one")
    (kept,) = (tmp_path / "parsed").rglob("*.gz")
    whole = kept.read_bytes()
    refused = '{"layout_changed": ["u"]}\n'
    head = json.dumps({"items": 1, "sha256": hashlib.sha256(refused.encode()).hexdigest()})
    texts = (
        "",
        "{",
        "[]",
        "1",
        "null\n",
        '1\n{"kind": "x"}\n',
        '1\n["offer"]\n',
        "\n",
        f"{head}\n{refused}",
        '{"price": ' + "[" * 100_000,
    )
    for damage in (
        b"",
        b"not gzip",
        whole[:-4],
        whole[: len(whole) // 2],
        *(gzip.compress(text.encode()) for text in texts),
    ):
        kept.write_bytes(damage)
        again = bench.read("one")
        assert (again.rows, again.pages_unchanged) == (first.rows, 0), damage
    assert bench.read("one").pages_unchanged == 1, "and it is whole again"


def test_the_fingerprint_of_the_parsers_follows_code_and_tables_of_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sources").mkdir()
    for name in ("reader.py", "sources/shop.py", "words.toml", "contract.toml", "notes.txt"):
        (tmp_path / name).write_text("one")
    monkeypatch.setattr(parsed_cache, "ROOM", tmp_path)

    def now() -> str:
        return parsed_cache.parser_code()

    before = now()
    assert now() == before
    for name in ("notes.txt", "contract.toml"):
        (tmp_path / name).write_text("two")
        assert now() == before
    seen = {before}
    for name in ("sources/shop.py", "words.toml"):
        (tmp_path / name).write_text("two")
        seen.add(now())
    assert len(seen) == 3
    monkeypatch.undo()


# ── files of this machine ─────────────────────────────────────────────────────────────────────────────────────────────


def test_a_file_is_read_like_a_page_and_its_folder_is_nobodys_business(bench: Bench, tmp_path: Path) -> None:
    file = tmp_path / "private folder" / "quote.txt"
    file.parent.mkdir()
    file.write_text("offer a 100")
    found = bench.read(files=(LocalFile(file, "text/plain"),))
    assert keys(found) == ["a"]
    (snapshot,) = bench.archive.history("test_shop")
    assert snapshot.url == "file:quote.txt"
    assert not re.search(
        "private folder", "".join(path.read_text() for path in (tmp_path / "snapshots").rglob("*.json*"))
    )


def test_a_file_that_cannot_be_read_fails_alone(bench: Bench, tmp_path: Path) -> None:
    files = []
    for name in ("a", "b", "c"):
        (tmp_path / name).write_text(f"offer {name} 100")
        files.append(LocalFile(tmp_path / name, "text/plain"))
    (tmp_path / "b").unlink()
    (tmp_path / "b").mkdir()  # between listing and reading somebody moved things about
    found = bench.read(files=tuple(files))
    assert keys(found) == ["a", "c"]
    assert found.failure is None
    assert not found.is_complete
    ((issue, _),) = found.issues
    assert issue.url == "file:b"
    assert "the file cannot be read" in issue.message
    assert "take it out of the folder" in issue.message
