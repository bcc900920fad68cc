"""Whatever one page, one answer, one file or one row does, it is that one's failure: the others are read and loaded."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest

from gpuledger.extract.archive.parsed_cache import ParsedCache
from gpuledger.extract.archive.snapshots import Archive
from gpuledger.extract.collect import Collected, Reading, collect, parse_page
from gpuledger.extract.errors import ExtractError
from gpuledger.extract.fetch.http import Client, HttpSettings
from gpuledger.extract.items import MAX_COUNT, CloudOffer, IndexPrice, Issue, Item, Offer, Parsed, admitted, to_json
from gpuledger.extract.pages import Fetching, LocalFile
from gpuledger.extract.source import Page, Source, get
from gpuledger.flows.night import run_log
from gpuledger.flows.night.gather import Reader
from gpuledger.flows.night.refresh import run
from gpuledger.warehouse.paths import DataDir
from gpuledger.warehouse.read import query
from tests.extract.faulty_server import Exchange, FaultyServer
from tests.flows.inprocess import context, refresh

HOST = "shop.sample.test"
NOW = datetime(2023, 11, 16, 3, tzinfo=UTC)
GOOD = b"offer good 100"


def _parse(page: Page) -> Iterator[Parsed]:
    """A shop of the test's own: each line `offer KEY PRICE`, or JSON of an offer's fields."""
    for line in page.content.decode("utf-8", "replace").splitlines():
        words = json.loads(line) if line.startswith("{") else {}
        key, price = line.split()[1:] if not words else (words.pop("key", "k"), words.pop("price", "100"))
        fields = {"title": f"Card {key}", "url": page.url, **words}
        yield Offer(key=key, price=Decimal(price), currency="USD", price_kind="now", **fields)


SHOP = Source(name="test_shop", title="Shop", homepage="https://shop.invalid", parse=_parse, kinds=("offer",))


@pytest.fixture
def read(tmp_path: Path) -> Iterator[Callable[..., Collected]]:
    """Reads `good` three times and then `/bad`, whose answer is `answer`."""
    with FaultyServer() as server:
        settings = HttpSettings(
            delay_s=0.0, max_attempts=1, deadline_s=3.0, connect_to={HOST: ("127.0.0.1", server.port)}
        )
        with Client(settings) as client:

            def go(answer: Callable[[Exchange], None], files: tuple[LocalFile, ...] = ()) -> Collected:
                server.routes.update({f"/{n}": lambda exchange: exchange.reply(200, GOOD) for n in range(3)})
                server.routes["/bad"] = answer
                starts = [f"http://{HOST}/{name}" for name in (0, 1, 2, "bad")]
                pages = Fetching(client, Archive(tmp_path / "snapshots"), NOW, "run")
                return collect(Reading(SHOP, starts, files), pages, ParsedCache(tmp_path / "parsed"))

            yield go


def others_are_read(found: Collected) -> None:
    assert found.failure is None
    assert [item.key for item, _ in found.rows if isinstance(item, Offer)][:3] == ["good"] * 3


# ── half characters and numbers without end ───────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("half", [*range(0xD800, 0xE000, 41)])
def test_half_a_character_in_json_ld_is_a_mark_in_the_title(half: int, tmp_path: Path) -> None:
    data = json.dumps({
        "@context": "https://schema.org", "@type": "Product", "name": f"GeForce RTX 4070 12GB {chr(half)}", "sku": chr(half),
        "offers": {"@type": "Offer", "price": "599.99", "priceCurrency": "USD"},
    })  # fmt: skip
    content = f"<html><head><script type='application/ld+json'>{data}</script></head><body>x</body></html>".encode()
    page = Page(
        url="https://s.example/p",
        final_url="https://s.example/p",
        content=content,
        sha256="0" * 64,
        fetched_at=NOW,
        headers={},
    )
    (offer,) = [item for item in parse_page(get("generic_shop"), page) if isinstance(item, Offer)]
    assert offer.title == "GeForce RTX 4070 12GB \ufffd"
    ParsedCache(tmp_path).put(get("generic_shop"), page, [offer])
    assert ParsedCache(tmp_path).get(get("generic_shop"), page) == [offer]


def test_two_halves_that_belong_together_are_whole() -> None:
    offer = Offer(title="Card \ud83d\ude80", url="u", key="k")
    assert admitted(offer) == Offer(title="Card \U0001f680", url="u", key="k")


def _wild_items() -> Iterator[Item]:
    for text in ("1e999999999", "1e15", "1e-15", "9" * 15, "1e-999999", "0." + "0" * 20 + "1"):
        for name in ("price", "list_price"):
            amounts = {"price": Decimal(5), name: Decimal(text)}
            yield Offer(title="Card", url="u", key="k", currency="USD", price_kind="now", **amounts)  # type: ignore[arg-type]
        yield CloudOffer(provider="p", gpu_name="g", gpu_count=1, pricing_model="spot", memory_gb=Decimal(text))
    for count in (MAX_COUNT + 1, 2**63, 10**400):
        yield Offer(title="Card", url="u", key="k", quantity=count)
        yield Offer(title="Card", url="u", key="k", shop_count=-count)
        yield CloudOffer(provider="p", gpu_name="g", gpu_count=count, pricing_model="spot")
    for name in ("title", "url", "key", "seller", "specs", "brand", "sku"):
        for length in (20_001, 300_000, 3_000_000):
            yield Offer(**{"title": "Card", "url": "u", "key": "k", name: "x" * length})


@pytest.mark.parametrize("item", [*_wild_items()], ids=range(len([*_wild_items()])))
def test_a_row_larger_than_any_that_is_true_becomes_an_issue(item: Item) -> None:
    found = admitted(item)
    assert isinstance(found, Issue)
    assert found.code == "out_of_bounds"
    assert len(json.dumps(to_json(found))) < 1000


def test_a_row_that_is_left_out_takes_no_other_with_it(read: Callable[..., Collected]) -> None:
    bad = b'{"key": "a", "price": "1e999999999"}\noffer b 7\n{"key": "c", "title": "x \\ud83d"}'
    found = read(lambda exchange: exchange.reply(200, bad))
    others_are_read(found)
    assert [item.key for item, _ in found.rows if isinstance(item, Offer)][3:] == ["b", "c"]
    assert [issue.code for issue, _ in found.issues] == ["out_of_bounds"]


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
    tmp_path: Path, step: str, error: Exception
) -> None:
    with FaultyServer() as server:
        settings = HttpSettings(
            delay_s=0.0, max_attempts=1, deadline_s=3.0, connect_to={HOST: ("127.0.0.1", server.port)}
        )
        server.routes.update(dict.fromkeys(("/0", "/1", "/2", "/bad"), lambda exchange: exchange.reply(200, GOOD)))
        with Client(settings) as client:
            pages = _Broken(Fetching(client, Archive(tmp_path / "snapshots"), NOW, "run"), step, error)
            reading = Reading(SHOP, [f"http://{HOST}/{name}" for name in (0, 1, 2, "bad")])
            found = collect(reading, pages, ParsedCache(tmp_path / "parsed"))  # type: ignore[arg-type]
    others_are_read(found)
    ((issue, _),) = found.issues
    assert issue.url == f"http://{HOST}/bad"
    assert len(issue.message) < 1000
    issue.message.encode()
    if not isinstance(error, OSError):
        assert issue.code == "Unforeseen"
        assert type(error).__name__ in issue.message
        if step == "page_of":
            assert "the archived page is " in issue.message


# ── files of a person ─────────────────────────────────────────────────────────────────────────────────────────────────

QUOTE = "product,price,currency\nGeForce RTX 4070 12GB,599.00,USD\n"


NAMES = [
    "견적.csv".encode("cp949"), "見積.csv".encode("shift_jis"), "报价.csv".encode("gb18030"), b"\xff\xfe.csv", b"a\x80b.csv",
    b"%41.csv", "naïve.csv".encode("latin-1"), b"a b#c?d.csv", b"new\nline.csv", b"\x1b]8;;x\x07.csv", b"-rf.csv",
    b"x" * 240 + b".csv", *(bytes([0x80 + n, 0x41 + n % 26]) + b".csv" for n in range(40)),
]  # fmt: skip


def test_files_of_any_name_are_read_and_stay_on_record(tmp_path: Path) -> None:
    inbox = tmp_path / "data" / "inbox"
    inbox.mkdir(parents=True)
    for number, name in enumerate(NAMES):
        path = Path(os.fsdecode(os.fsencode(inbox) + b"/" + name))
        path.write_text(QUOTE.replace("12GB", f"12GB of vendor {number}"))
    summary = refresh(tmp_path / "data", 1, only=["quotes"])
    assert summary.published is not None
    data = DataDir(tmp_path / "data")
    assert query(data, "SELECT count(*) FROM core.listing")[1] == [(len(NAMES),)]
    ((record,),) = [[one for one in run.sources if one.files] for run in run_log.records(data)]
    assert len({name for name, _, _ in record.files}) == len(NAMES)
    assert run_log.damage(data) == []


# ── a source that cannot be stored ────────────────────────────────────────────────────────────────────────────────────


def test_a_batch_that_cannot_be_stored_is_its_sources_failure(tmp_path: Path) -> None:
    """A count that no column holds: the parsers' door keeps it out, so it is put behind the door."""
    name = "toms_price_index"

    def read_all(reader: Reader, readings: list[Reading]) -> list[Collected]:
        collected = [reader.read_source(one) for one in readings]
        return [
            replace(one, rows=[_too_many_sold(row) for row in one.rows]) if one.source == name else one
            for one in collected
        ]

    summary = run(context(tmp_path / "data", 1, only=[name, "ecb_fx"]), read_all)
    assert summary.published is not None
    found = {one.source: one for one in summary.sources}
    assert found["ecb_fx"].status == "ok"
    assert found[name].status == "failed"
    assert "could not be stored" in (found[name].reason or "")


def _too_many_sold(row: tuple[Item, str]) -> tuple[Item, str]:
    item, sha256 = row
    return (replace(item, quantity_sold=2**80) if isinstance(item, IndexPrice) else item, sha256)


def test_a_night_in_which_every_source_fails_otherwise_is_on_record(tmp_path: Path) -> None:
    first = refresh(tmp_path / "data", 1, only=["ecb_fx"])
    assert first.published is not None
    doomed = context(tmp_path / "data", 2)
    errors = iter([ExtractError("u\ud83d", "seen", "act"), *[None] * 100])

    def all_fail(reader: object, readings: list[Reading]) -> list[Collected]:
        return [
            Collected(one.source.name, failure=next(errors) or ExtractError("x", "\udcff", "y"), is_complete=False)
            for one in readings
        ]

    summary = run(doomed, all_fail)  # type: ignore[arg-type]
    assert summary.published is None
    last = run_log.entries(DataDir(tmp_path / "data"))[-1]
    assert (last.run_id, last.status) == (doomed.run_id, "failed")
    assert refresh(tmp_path / "data", 2, only=["ecb_fx"]).published is not None
    runs = query(DataDir(tmp_path / "data"), "SELECT run_id, status FROM ops.run ORDER BY rowid")[1]
    assert (doomed.run_id, "failed") in runs
