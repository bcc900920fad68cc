"""Three real years of prices, and thirty times as many: what a night costs, what a question costs, what the file weighs.

Every ratio is of measures of this run. DuckDB has a gigabyte, as an operator's machine may give it.
"""

from __future__ import annotations

import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb

from benchmarks import market_history as market
from extract.items import Offer
from warehouse.paths import DataDir
from warehouse.read import file_query, reader

EARLY, LATE = 50, 1000
#: Nights measured around each, and quiet ones after the last.
AROUND = 10
CHANGED_SHARE = 0.01
DAYS = 20

Rows = list[tuple[str, str, str, bool | None]]


def run() -> Rows:
    """What was measured, the measure, the bound asked for, and whether it is kept. Empty without the real prices."""
    if not market.files():
        return []
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        return [*_bulk(root / "bulk"), *_nights(root), *_large(root)]


def _bulk(root: Path) -> Rows:
    command = [sys.executable, "-m", "flows.cli", "backfill", *map(str, market.files()), "--data-dir", str(root)]
    started = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True, cwd=Path(__file__).parents[1])
    seconds = time.perf_counter() - started
    shutil.rmtree(root)
    return [("three Danawa years in bulk, start of Python included", f"{seconds:.0f} s", "60 s", seconds <= 60)]


def _nights(root: Path) -> Rows:
    """Nights of their own around the 50th and the 1,000th, each checked, loaded, built, audited and published."""
    nights = market.read(root / "archive")
    medians = {}
    for name, number in (("early", EARLY), ("late", LATE)):
        first = number - AROUND // 2
        market.small(root / name, nights[:first])
        # The first one pays for the imports of the checks.
        market.night(root / name, *nights[first])
        medians[name] = _median(
            lambda crawl, name=name: market.night(root / name, *crawl), nights[first + 1 :][:AROUND]
        )
    seen_at, rows = nights[LATE + AROUND // 2 + 1]
    same = [(seen_at + timedelta(days=n), rows) for n in range(1, AROUND + 1)]
    market.night(root / "late", seen_at, rows)
    quiet = _median(lambda crawl: market.night(root / "late", *crawl, export=True), same)
    ratio = medians["late"] / medians["early"]
    return [
        (f"night {EARLY} on its own, {AROUND} around it", f"{medians['early']:.2f} s", "", None),
        (f"night {LATE:,} on its own", f"{medians['late']:.2f} s", "", None),
        (f"night {LATE:,} against night {EARLY}", f"{ratio:.2f} times", "1.5 times", ratio <= 1.5),
        ("a quiet night after it, own work, CSV files included", f"{quiet:.2f} s", "0.6 s", quiet <= 0.6),
    ]


def _large(root: Path) -> Rows:
    real, big = root / "real", root / "big"
    market.small(real, market.read(root / "archive"))
    market.large(big, real)
    shutil.rmtree(real)
    data = DataDir(big)
    ((prices, newest),) = file_query(data.published, "SELECT count(*), max(valid_from) FROM core.price_span")
    weight, parquet = _weights(data, root / "prices.parquet")
    questions = _questions(data, newest)
    rows = _open_rows(data)
    # One night without a change first: it settles what the copies left open, and pays for the imports.
    market.night(big, newest + timedelta(days=1), rows)
    bare_copy = root / "bare.duckdb"
    shutil.copyfile(data.base, bare_copy)
    moved = _moved(rows)
    ours = _seconds(lambda: market.night(big, newest + timedelta(days=2), moved))
    bare = _seconds(lambda: _bare_night(bare_copy, newest + timedelta(days=2), moved))
    ratio = ours / bare
    what = f"night with {CHANGED_SHARE:.0%} of {len(rows):,} prices changed, {prices:,} price rows behind it"
    return [
        (f"{what}: checked, loaded, built, published", f"{ours:.2f} s", "4 s", ours <= 4),
        ("… the bare DuckDB statements that load and publish the same", f"{bare:.2f} s", "", None),
        ("… ours against bare", f"{ratio:.2f} times", "2 times", ratio <= 2),
        (f"file of {prices:,} price rows and all else", f"{weight / 1e6:.0f} MB", "", None),
        ("… against core.price_history in one zstd Parquet file", f"{weight / parquet:.2f} times", "1.5 times",
         weight <= 1.5 * parquet),
        (f"value_as_of at {prices:,} price rows, median of {DAYS} days", f"{1000 * questions:.0f} ms", "50 ms",
         questions <= 0.05),
    ]  # fmt: skip


def _seconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def _median(work: Callable[[Any], object], items: Sequence[Any]) -> float:
    return statistics.median(_seconds(lambda item=item: work(item)) for item in items)


def _weights(data: DataDir, parquet: Path) -> tuple[int, int]:
    """Bytes of the published file, and of its prices alone in one Parquet file in the same order of rows."""
    with reader(data) as con:
        con.execute(f"COPY (FROM core.price_history) TO '{parquet}' (FORMAT parquet, COMPRESSION zstd)")
    size = parquet.stat().st_size
    parquet.unlink()
    return data.published.stat().st_size, size


def _questions(data: DataDir, newest: datetime) -> float:
    """Median seconds of `value_as_of` over days of three years, each asked once."""
    with reader(data) as con:
        con.execute("SELECT * FROM value_as_of(?)", [newest.date()]).fetchall()
        days = [newest.date() - timedelta(days=50 * n) for n in range(DAYS)]
        return _median(lambda day: con.execute("SELECT * FROM value_as_of(?)", [day]).fetchall(), days)


def _open_rows(data: DataDir) -> list[tuple[Offer, str]]:
    """What the shop shows: every listing that has not ended, as its reader would give it."""
    found = file_query(
        data.published,
        """SELECT l.title, l.url, l.listing_key, o.price, o.currency, o.price_kind, o.price_text, o.availability,
               o.condition, o.seller, o.seller_kind FROM core.price_open o JOIN core.listing l USING (listing_id)""",
    )
    names = ("title", "url", "key", "price", "currency", "price_kind", "price_text", "availability", "condition",
             "seller", "seller_kind")  # fmt: skip
    return [(Offer(**dict(zip(names, values, strict=True))), "0" * 64) for values in found]


def _moved(rows: Sequence[tuple[Offer, str]]) -> list[tuple[Offer, str]]:
    """Every hundredth listing with a price a tenth lower."""
    every = round(1 / CHANGED_SHARE)
    return [
        (replace(offer, price=offer.price * Decimal("0.9")) if number % every == 0 and offer.price else offer, sha256)
        for number, (offer, sha256) in enumerate(rows)
    ]


def _bare_night(base: Path, seen_at: datetime, rows: Sequence[tuple[Offer, str]]) -> None:
    """What a hand-written script would do: stage, compare, close and open, checkpoint, copy, swap. No check, no model."""
    work = base.with_suffix(".work")
    shutil.copyfile(base, work)
    with duckdb.connect(str(work), config={"memory_limit": "1GB"}) as con:
        columns = {"listing_key": "VARCHAR", "price": "DECIMAL(18,4)", "currency": "VARCHAR", "availability": "VARCHAR"}
        listed = ", ".join(f"unnest(?::{kind}[]) AS {name}" for name, kind in columns.items())
        texts = [
            [offer.key for offer, _ in rows],
            [None if offer.price is None else str(offer.price) for offer, _ in rows],
            [offer.currency for offer, _ in rows],
            [offer.availability for offer, _ in rows],
        ]
        con.execute("BEGIN")
        con.execute(f"CREATE TEMP TABLE incoming AS SELECT {listed}", texts)
        con.execute(
            f"""CREATE TEMP TABLE other AS
                SELECT o.listing_id, l.listing_no, i.price, i.currency, i.availability
                FROM incoming i JOIN core.listing l ON l.listing_id = '{market.SOURCE}:' || i.listing_key
                JOIN core.price_open o ON o.listing_id = l.listing_id
                WHERE (o.price, o.currency, o.availability) IS DISTINCT FROM (i.price, i.currency, i.availability)"""
        )
        con.execute(
            """INSERT INTO core.price_span BY NAME
               SELECT t.listing_no, o.* EXCLUDE (listing_id), ?::TIMESTAMPTZ AS valid_to
               FROM core.price_open o JOIN other t USING (listing_id)""",
            [seen_at],
        )
        con.execute("CREATE TEMP TABLE old AS FROM core.price_open SEMI JOIN other USING (listing_id)")
        con.execute("DELETE FROM core.price_open WHERE listing_id IN (SELECT listing_id FROM other)")
        con.execute(
            """INSERT INTO core.price_open BY NAME
               SELECT old.* REPLACE (t.price AS price, t.availability AS availability, ?::TIMESTAMPTZ AS valid_from)
               FROM old JOIN other t USING (listing_id)""",
            [seen_at],
        )
        con.execute(
            "DELETE FROM core.price_span WHERE valid_to IS NULL AND listing_no IN (SELECT listing_no FROM other)"
        )
        con.execute(
            """INSERT INTO core.price_span BY NAME SELECT t.listing_no, o.* EXCLUDE (listing_id)
               FROM core.price_open o JOIN other t USING (listing_id)"""
        )
        con.execute("COMMIT; CHECKPOINT")
    version = base.with_suffix(".version")
    shutil.copyfile(work, version)
    work.replace(base)
