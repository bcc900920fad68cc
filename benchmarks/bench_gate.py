"""The price gate on three years of a real market: how often it holds what was real, and whether it lets errors through."""

from __future__ import annotations

import random
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path

import duckdb

from gpuledger.extract.source import Page
from gpuledger.extract.sources.danawa_daily.nights import nights
from gpuledger.items import Offer
from gpuledger.transform.gate import Bounds, good_nights, loading, shops
from gpuledger.transform.identity import assign
from gpuledger.transform.identity.resolver import Resolver
from gpuledger.warehouse import publish
from gpuledger.warehouse.load import offers
from gpuledger.warehouse.load.batch import Batch, Row
from gpuledger.warehouse.paths import DataDir

DANAWA = Path(__file__).parents[2] / "shared" / "data" / "danawa_daily"
SOURCE = "danawa_daily"
INJECTED = 1000


def run(months: int = 35) -> list[tuple[str, str, str]]:
    """What, measured and bound asked. ValueError where the real prices are not on this machine."""
    nightly = crawls(months)
    rng = random.Random(1)
    holds: list[tuple[str, datetime, Decimal | None, str]] = []
    seen: dict[str, list[tuple[datetime, Decimal | None]]] = {}
    caught: Counter[str] = Counter()
    tried: Counter[str] = Counter()
    whole: list[str] = []
    cells = 0
    with tempfile.TemporaryDirectory() as folder, publish.workspace(DataDir(Path(folder)), "bench") as (con, _):
        con.execute("SET threads = 1; BEGIN")
        for number, (seen_at, rows) in enumerate(nightly):
            batch = Batch(SOURCE, seen_at, rows, is_one_of_many=True)
            cells += len(rows)
            if number >= 30:
                share = -(-(INJECTED - sum(tried.values())) // (len(nightly) - number))
                for _ in range(share):
                    _inject(con, batch, rng, caught, tried)
            loaded = loading.load_batch(con, batch, Bounds(), good_nights.Released(), ("offer",))
            good_nights.note(con, {SOURCE: good_nights.GoodNight(seen_at, len(rows), loaded.is_complete)})
            assign.assign(con, _resolver, "bench")
            if loaded.is_shuffled:
                whole.append(f"{seen_at:%Y-%m-%d}")
            for listing, price, hold in con.execute(
                """SELECT listing_id, price, hold FROM core.held_price
                   WHERE hold NOT IN ('lost', 'shuffled') AND times_held = 1"""
            ).fetchall():
                holds.append((listing, seen_at, price, hold))
            for row in rows:
                assert isinstance(row.item, Offer)
                if row.item.price is not None:
                    seen.setdefault(f"{SOURCE}:{row.item.key}", []).append((seen_at, row.item.price))
    false = [hold for hold in holds if _was_real(seen[hold[0]], hold[1], hold[2])]
    missed = {kind: count - caught[kind] for kind, count in tried.items() if count > caught[kind]}
    kinds = ", ".join(f"{kind} {count}" for kind, count in sorted(tried.items()))
    return [
        ("listing-nights", f"{cells}", ""),
        ("prices held", f"{len(holds)} ({', '.join(f'{k} {n}' for k, n in Counter(h[3] for h in holds).items())})", ""),
        ("held though real, per 1,000 listing-nights", f"{1000 * len(false) / cells:.2f}", "at most 1"),
        ("nights held whole", f"{len(whole)}: {', '.join(whole)}", "the shuffled ones"),
        (f"injected errors that are held, of {sum(tried.values())} ({kinds})", f"{sum(caught.values())} missed: {missed}",
         "all"),
    ]  # fmt: skip


def crawls(months: int) -> list[tuple[datetime, list[Row]]]:
    """The first `months` files as nights of rows. ValueError where they are not on this machine."""
    files = sorted(DANAWA.glob("VGA_*.csv.gz"))[:months]
    if not files:
        raise ValueError("the real prices (../shared/data/danawa_daily) are not on this machine")
    nightly = []
    for seen_at, pairs in nights(_pages(files)):
        first: dict[str, Row] = {}
        for offer, sha256 in pairs:
            first.setdefault(offer.key, Row(offer, sha256))
        nightly.append((seen_at, list(first.values())))
    return nightly


def _pages(files: list[Path]) -> Iterator[Page]:
    now = datetime.fromisoformat("2026-01-01T00:00:00+00:00")
    for path in files:
        yield Page(
            url=path.name, final_url=path.name, content=path.read_bytes(), sha256=path.stem, fetched_at=now, headers={}
        )


def _resolver() -> Resolver:
    global _loaded
    _loaded = _loaded or Resolver.load()
    return _loaded


_loaded: Resolver | None = None


def _inject(
    con: duckdb.DuckDBPyConnection, batch: Batch, rng: random.Random, caught: Counter[str], tried: Counter[str]
) -> None:
    """Spoil one listing of the batch, or the batch itself, and ask the gate; nothing of it stays."""
    believed = dict(
        con.execute(
            "SELECT listing_id, price FROM core.price_open WHERE price IS NOT NULL AND valid_from < ?",
            [batch.seen_at],
        ).fetchall()
    )
    position = {
        f"{SOURCE}:{r.item.key}": n for n, r in enumerate(batch.rows) if isinstance(r.item, Offer) and r.item.price
    }
    known = sorted(believed.keys() & position.keys())
    if len(known) < 100:
        return
    listing = rng.choice(known)
    kind = rng.choice(["×10", "÷1000", "currency", "placeholder", "broken week", "shuffled night"])
    rows = list(batch.rows)
    tried[kind] += 1
    if kind == "broken week":
        caught[kind] += _is_broken_week_caught(con, batch, rng)
        return
    if kind == "shuffled night":
        caught[kind] += _is_shuffle_caught(con, batch, rng)
        return
    item = rows[position[listing]].item
    assert isinstance(item, Offer)
    assert item.price is not None
    spoiled = {
        "×10": lambda: replace(item, price=item.price * 10 if item.price else None),
        "÷1000": lambda: replace(item, price=item.price / 1000 if item.price else None),
        "currency": lambda: replace(item, currency="USD"),
        "placeholder": lambda: replace(item, price=Decimal(9_999_990)),
    }[kind]()
    rows[position[listing]] = Row(spoiled, "")
    offers.stage_batch(con, replace(batch, rows=rows))
    with _as_it_was(con):
        shops.hold(con, batch, Bounds(), ())
        caught[kind] += bool(con.execute("SELECT 1 FROM core.held_price WHERE listing_id = ?", [listing]).fetchone())


def _is_broken_week_caught(con: duckdb.DuckDBPyConnection, batch: Batch, rng: random.Random) -> bool:
    """A crawl that gives a part of its rows, and goes on giving that: every one of its nights is short."""
    past = good_nights.past(con, SOURCE, batch.seen_at, Bounds())
    if not past:
        return True
    usual = past[0].rows
    rows = int(usual * rng.uniform(0.2, 0.75))
    for day in range(7):
        seen_at = batch.seen_at + timedelta(days=day)
        night = Batch(SOURCE, seen_at, [batch.rows[0]] * rows)
        if good_nights.rows_missed(night, Bounds(), past, good_nights.Released()) is None:
            return False
        past = [good_nights.GoodNight(seen_at, rows, False), *past]
    return True


def _is_shuffle_caught(con: duckdb.DuckDBPyConnection, batch: Batch, rng: random.Random) -> bool:
    """The prices of the night beside other listings than their own, and the same page twice more within hours: each time
    the night is held whole.
    """
    priced = [n for n, row in enumerate(batch.rows) if isinstance(row.item, Offer) and row.item.price]
    prices = [row.item.price for row in (batch.rows[n] for n in priced) if isinstance(row.item, Offer)]
    rng.shuffle(prices)
    rows = list(batch.rows)
    for n, price in zip(priced, prices, strict=True):
        item = rows[n].item
        assert isinstance(item, Offer)
        rows[n] = Row(replace(item, price=price), "")
    with _as_it_was(con):
        for hours in (0, 3, 9):
            again = replace(batch, rows=rows, seen_at=batch.seen_at + timedelta(hours=hours))
            offers.stage_batch(con, again)
            if not shops.hold(con, again, Bounds(), ()).is_shuffled:
                return False
    return True


@contextmanager
def _as_it_was(con: duckdb.DuckDBPyConnection) -> Iterator[None]:
    """Give back the prices that were held before."""
    before = con.execute("FROM core.held_price").fetchall()
    yield
    con.execute("DELETE FROM core.held_price")
    if before:
        con.executemany(f"INSERT INTO core.held_price VALUES ({', '.join('?' * len(before[0]))})", before)


def _was_real(history: list[tuple[datetime, Decimal | None]], held_at: datetime, price: Decimal | None) -> bool:
    """The next sighting asked the same price: what was held was no slip."""
    later = [p for seen_at, p in history if seen_at > held_at]
    return bool(later) and price is not None and later[0] is not None and abs(later[0] / price - 1) <= Decimal("0.05")
