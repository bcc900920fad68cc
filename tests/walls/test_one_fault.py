"""Whatever one page, one answer, one file or one row does, it is that one's failure: the others are read and loaded."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest

from gpuledger.errors import ExtractError
from gpuledger.extract.archive.parsed_cache import ParsedCache
from gpuledger.extract.collect import Collected, Reading, parse_page
from gpuledger.extract.source import Page, get
from gpuledger.flows.night import run_log
from gpuledger.flows.night.gather import Reader
from gpuledger.flows.night.refresh import run
from gpuledger.items import MAX_COUNT, CloudOffer, IndexPrice, Issue, Item, Offer, admitted, to_json
from gpuledger.warehouse.paths import DataDir
from gpuledger.warehouse.read import query
from tests.flows.inprocess import context, refresh

NOW = datetime(2023, 11, 16, 3, tzinfo=UTC)

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
