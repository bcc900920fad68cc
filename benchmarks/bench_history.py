"""Three real years of prices, and thirty times as many: what a night costs, what a question costs, what the file weighs.

Every ratio is of measures of this run. DuckDB has a gigabyte, as an operator's machine may give it.
"""

from __future__ import annotations

import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr
from dataclasses import replace
from datetime import date, datetime, timedelta
from decimal import Decimal
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from io import StringIO
from pathlib import Path
from typing import Any

from benchmarks.bare_statements import recorded, replay
from gpuledger.expectations.check import check_batch
from gpuledger.expectations.contract import source_contract
from gpuledger.items import Offer
from gpuledger.warehouse.paths import DataDir
from gpuledger.warehouse.read import file_query, reader
from tests.support import market_history as market

EARLY, LATE = 50, 1000
#: Nights measured around each, and quiet ones after the last.
AROUND = 10
CHANGED_SHARE = 0.01
DAYS = 20

#: The lowest day of each card, where it is below half of the median of the days around it.
_LONELY_LOWS = """
    WITH low AS (
        SELECT gpu_id, day, low_usd, listings FROM mart.price_daily WHERE NOT suspect
        QUALIFY row_number() OVER (PARTITION BY gpu_id ORDER BY low_usd, day) = 1
    )
    SELECT l.gpu_id FROM low l JOIN mart.price_daily d ON d.gpu_id = l.gpu_id AND d.day <> l.day AND abs(d.day - l.day) <= 14
    GROUP BY l.gpu_id, l.low_usd, l.listings HAVING l.low_usd < median(d.low_usd) / 2 AND l.listings < 2
"""

Rows = list[tuple[str, str, str, bool | None]]


def run() -> Rows:
    """What was measured, the measure, the bound asked for, and whether it is kept. Empty without the real prices."""
    if not market.files():
        return []
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        return [*_bulk(root / "bulk"), *_nights(root), *_large(root)]


def _bulk(root: Path) -> Rows:
    seconds = _seconds(lambda: _command("backfill", *market.files(), "--data-dir", root))
    data = DataDir(root)
    ((cards,),) = file_query(data.published, "SELECT count(DISTINCT gpu_id) FROM mart.price_daily")
    ((values,),) = file_query(
        data.published, "SELECT count(*) FROM value_as_of(DATE '2022-03-01') WHERE price_basis = 'street'"
    )
    lows = file_query(data.published, _LONELY_LOWS)
    page = [*_report(root), *_pulled(root)]
    shutil.rmtree(root)
    return [
        ("three Danawa years in bulk, start of Python included", f"{seconds:.0f} s", "120 s", seconds <= 120),
        ("… cards with daily prices, with nothing else done", str(cards), "160", cards >= 160),
        ("… values by street price on 2022-03-01", str(values), "", None),
        ("… lows of a card below half of its neighbours' that one listing alone shows", str(len(lows)), "0", not lows),
        *page,
    ]


def _report(root: Path) -> Rows:
    """The report of those years: how long it takes, start of Python included, and what it weighs."""
    seconds = _median(lambda _: _command("report", root / "report", "--data-dir", root), range(3))
    size = (root / "report" / "index.html").stat().st_size / 1e6
    return [
        ("… the report of them, every day of every card in it", f"{seconds:.1f} s", "10 s", seconds <= 10),
        ("… its one file", f"{size:.2f} MB", "3 MB", size <= 3),
    ]


def _pulled(root: Path) -> Rows:
    """Those years as if they might be published, pulled from a web server of this machine: time, weight and answers."""
    place, reader_root = root / "public", root / "reader"
    terms = (
        "terms",
        market.SOURCE,
        "allowed",
        "--page",
        "https://shop.example/terms",
        "--publish",
        "Prices may be reused",
    )
    _command("sources", *terms, "--data-dir", root)
    _command("publish", place, "--data-dir", root)
    with (
        ThreadingHTTPServer(("127.0.0.1", 0), partial(SimpleHTTPRequestHandler, directory=place)) as server,
        redirect_stderr(StringIO()),
    ):
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}"
        seconds = _seconds(lambda: _command("pull", address, "--data-dir", reader_root))
        server.shutdown()
    newest = json.loads((place / "latest.json").read_text())["newest"]
    files = json.loads((place / newest["manifest"]).read_text())["files"]
    month = sum(file["bytes"] for file in files if file["period"].startswith(newest["day"][:7])) / 1e6
    days = [date.fromisoformat(newest["day"]) - timedelta(days=100 * n) for n in range(10)]
    ours, theirs = (
        [file_query(DataDir(at).published, f"FROM price_as_of(DATE '{day}') ORDER BY ALL") for day in days]
        for at in (root, reader_root)
    )
    differ = sum(one != other for one, other in zip(ours, theirs, strict=True))
    return [
        ("… pulled from a web server, start of Python included", f"{seconds:.1f} s", "30 s", seconds <= 30),
        (f"… in {len(files)} files", f"{sum(file['bytes'] for file in files) / 1e6:.1f} MB", "", None),
        ("… of it the open month", f"{month:.2f} MB", "5 MB", month <= 5),
        ("… days of ten whose prices are others at the reader", str(differ), "0", not differ),
    ]


def _command(*words: object) -> None:
    subprocess.run(
        [sys.executable, "-m", "gpuledger.flows.cli", *map(str, words)], check=True, capture_output=True,
        cwd=Path(__file__).parents[1],
    )  # fmt: skip


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
    late = DataDir(root / "late").published
    seen_at, rows = nights[LATE + AROUND // 2 + 1]
    # Within a day: a backfill knows the rates of all days, and with those of the next one some tables are others.
    same = [(seen_at + timedelta(minutes=n), rows) for n in range(1, AROUND + 1)]
    market.night(root / "late", seen_at, rows)
    quiet = _median(lambda crawl: market.night(root / "late", *crawl, export=True), same)
    ((rebuilt,),) = file_query(
        late,
        """SELECT count(*) FROM ops.model_build WHERE action = 'rebuilt'
           AND run_id = (SELECT run_id FROM ops.run ORDER BY as_of DESC LIMIT 1)""",
    )
    if rebuilt:
        raise RuntimeError(f"the night was not quiet: {rebuilt} models were rebuilt")
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
    rows = open_rows(data)
    # One night without a change first: it settles what the copies left open, and pays for the imports.
    market.night(big, newest + timedelta(days=1), rows)
    changed = moved(rows)
    contract = source_contract(market.SOURCE)
    check_batch(contract, [offer for offer, _ in rows])
    check = _seconds(lambda: check_batch(contract, [offer for offer, _ in changed]))
    before = root / "before.duckdb"
    shutil.copyfile(data.base, before)
    ours = _seconds(lambda: market.night(big, newest + timedelta(days=2), changed))
    # The same night once more from the same state, to write its statements down; then these alone.
    shutil.copyfile(before, data.base)
    statements = recorded(lambda: market.night(big, newest + timedelta(days=2), changed))
    bare = _seconds(lambda: replay(statements, before, root / "bare"))
    load = ours - check
    ratio = load / bare
    what = f"night with {CHANGED_SHARE:.0%} of {len(rows):,} prices changed, {prices:,} price rows behind it"
    return [
        (f"{what}: check to publish", f"{ours:.2f} s", "4 s", ours <= 4),
        ("… of it the contract of the batch, in Great Expectations", f"{check:.2f} s", "", None),
        (f"… its {len(statements)} statements alone, and the copies of the file", f"{bare:.2f} s", "", None),
        ("… load to publish against them", f"{ratio:.2f} times", "2 times", ratio <= 2),
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
    with reader(data, parquet.parent) as con:
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


def open_rows(data: DataDir) -> list[tuple[Offer, str]]:
    """What the shop shows: every listing that has not ended, as its reader would give it."""
    found = file_query(
        data.published,
        """SELECT l.title, l.url, l.listing_key, o.price, o.currency, o.price_kind, o.price_text, o.availability,
               o.condition, o.seller, o.seller_kind FROM core.price_open o JOIN core.listing l USING (listing_id)""",
    )
    names = ("title", "url", "key", "price", "currency", "price_kind", "price_text", "availability", "condition",
             "seller", "seller_kind")  # fmt: skip
    return [(Offer(**dict(zip(names, values, strict=True))), "0" * 64) for values in found]


def moved(rows: Sequence[tuple[Offer, str]]) -> list[tuple[Offer, str]]:
    """Every hundredth listing with a price a tenth lower."""
    every = round(1 / CHANGED_SHARE)
    return [
        (replace(offer, price=offer.price * Decimal("0.9")) if number % every == 0 and offer.price else offer, sha256)
        for number, (offer, sha256) in enumerate(rows)
    ]
