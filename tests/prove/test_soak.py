"""Many nights with faults: no price is made up, lost without a word or ended by a fault, and a replay gives the same.

`SOAK=20` for twenty seeds of fifty nights, a thousand in all, with a fault in 5% of the fetches.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import pytest

from gpuledger.extract.collect import Collected, Reading
from gpuledger.extract.fetch.http import Client, HttpSettings
from gpuledger.flows.night.gather import Reader, read_plain
from gpuledger.flows.night.refresh import run
from gpuledger.warehouse.paths import DataDir
from gpuledger.warehouse.read import query
from tests.command import tables
from tests.extract import faulty_server
from tests.extract.faulty_server import FaultyServer, Route, page, status
from tests.flows.inprocess import context
from tests.history.replays import replayed

SEEDS, NIGHTS, FAULTS = (int(os.environ["SOAK"]), 50, 0.05) if "SOAK" in os.environ else (1, 5, 0.25)
PAGES, CARDS = 3, 8
HOST = "newegg.sample.test"
START = datetime(2023, 11, 1, 3, tzinfo=UTC)
FAULTY: tuple[Route, ...] = (
    status(404), status(410), status(429), status(500), status(503), status(403), faulty_server.reset,
    faulty_server.hang_up, faulty_server.short_body, faulty_server.truncated_gzip, page(b""),
    page(b"<html><title>Are you a human?</title><div class='g-recaptcha'></div></html>"),
    page(b"<html><title>Oops</title><p>Something went wrong</p></html>"),
)  # fmt: skip


def listing(number: int, prices: dict[int, Decimal]) -> bytes:
    """A page of the shop: cards with their prices, and the link to the next page."""
    cards = "".join(
        f"""<div class="item-cell"><div class="item-container">
            <a class="item-title" href="/card-{n}/p/N82E16814{n:06}">Norvik GeForce RTX 4070 12GB model {n}</a>
            <ul class="price"><li class="price-current">$<strong>{price:,}</strong><sup>.00</sup></li></ul>
            <button title="Add to cart">Add to cart</button></div></div>"""
        for n, price in prices.items()
        if n // CARDS == number
    )
    more = f'<a title="Next" href="{path(number + 1)}">Next</a>' if number + 1 < PAGES else ""
    return f"<html><head><title>Cards</title></head><body>{cards}{more}</body></html>".encode()


def path(number: int) -> str:
    return "/gpus/" if number == 0 else f"/gpus/page-{number + 1}.html"


def night(data: Path, number: int, server: FaultyServer) -> str:
    """One night of the shop alone; returns how its source went."""

    def read_all(reader: Reader, readings: list[Reading]) -> list[Collected]:
        settings = HttpSettings(delay_s=0.0, max_attempts=1, connect_to={HOST: ("127.0.0.1", server.port)})
        with Client(settings) as client:
            return read_plain(replace(reader, client=client), readings)

    one = replace(context(data, 1, only=["newegg"]), as_of=START + timedelta(days=number))
    summary = run(one, read_all)
    assert (summary.published is None) == (summary.sources[0].status == "failed")
    return summary.sources[0].status


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(SEEDS))
def test_nights_with_faults(seed: int, tmp_path: Path, record_property: Callable[[str, object], None]) -> None:
    chance, data = random.Random(20261125 + seed), DataDir(tmp_path / "data")
    prices = {n: Decimal(500 + 20 * n) for n in range(PAGES * CARDS)}
    shown: dict[str, set[Decimal]] = {f"N82E16814{n:06}": set() for n in prices}
    known: dict[str, Decimal] = {}
    faults = 0
    with FaultyServer() as server:
        for number in range(NIGHTS):
            prices = {n: price + chance.choice((-5, 0, 0, 0, 5)) for n, price in prices.items()}
            broken = next((p for p in range(PAGES) if chance.random() < FAULTS), PAGES)
            faults += broken < PAGES
            for p in range(PAGES):
                server.routes[path(p)] = chance.choice(FAULTY) if p == broken else page(listing(p, prices))
            went = night(data.root, number, server)
            assert went in (["failed"] if broken == 0 else ["degraded"] if broken < PAGES else ["ok", "unchanged"]), (
                went
            )
            seen = {f"N82E16814{n:06}": price for n, price in prices.items() if n // CARDS < broken}
            known |= seen
            for key, price in seen.items():
                shown[key].add(price)
            if known:
                found = dict(
                    query(data, "SELECT listing_key, price FROM core.price_open JOIN core.listing USING (listing_id)")[
                        1
                    ]
                )
                assert found == known, f"night {number}: what was seen counts, and the rest stays as it was"
    if known:
        ended = query(data, "SELECT count(*) FROM core.listing WHERE ended_at IS NOT NULL")[1]
        assert ended == [(0,)], "no fault ends a listing"
        history = query(data, "SELECT listing_key, price FROM core.price_history JOIN core.listing USING (listing_id)")[
            1
        ]
        assert all(price in shown[key] for key, price in history), "no price is made up"
        lost = query(data, "SELECT count(*) FROM ops.source_run WHERE parsed <> loaded + quarantined + duplicate")[1]
        assert lost == [(0,)]
        replayed(data.root, tmp_path / "again")
        assert tables(tmp_path / "again") == tables(data.root)
    record_property("tried", NIGHTS)
    record_property("faults", faults)
