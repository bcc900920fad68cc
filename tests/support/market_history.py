"""Warehouses with a long history: the three real years of a Korean price comparison, and a market thirty times as large.

The large one is the real one thirty times over, with other product numbers, prices that are moved by a factor of each
listing's own, and nights an hour apart: nothing in it repeats a byte pattern that the real series does not have.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from functools import cache
from pathlib import Path

from gpuledger.extract.collect import Collected
from gpuledger.extract.source import Page
from gpuledger.extract.sources.ecb_fx_history import pages as ecb_fx_history
from gpuledger.flows.history import backfill
from gpuledger.flows.night.context import Context, new_run_id, utc_now
from gpuledger.flows.night.refresh import store
from gpuledger.flows.night.summary import Summary
from gpuledger.flows.settings import settings
from gpuledger.items import FxRate, Item, Offer
from gpuledger.transform.build import price_days
from gpuledger.warehouse import publish
from gpuledger.warehouse.paths import DataDir

DATA = Path(__file__).parents[3] / "shared" / "data" / "danawa_daily"
SOURCE = backfill.SOURCE
COPIES = 30


def files() -> list[Path]:
    """The monthly tables; none where they are not on this machine."""
    return sorted(DATA.glob("*.csv.gz"))


def context(root: Path, as_of: datetime, memory_limit: str = "1GB") -> Context:
    """A plain run that counts as `as_of`."""
    chosen = settings.load(
        {"data_dir": str(root), "memory_limit": memory_limit, "keep_versions": 2},
        environment={},
        file=root / "none.toml",
    )
    return Context(
        settings=chosen, data=DataDir(root), run_id=new_run_id(), as_of=as_of, started_at=utc_now(), engine="plain"
    )


@cache
def _real_rates() -> list[FxRate]:
    """The bank's rates of all days, from the installed package."""
    file = ecb_fx_history.embedded()
    content = file.path.read_bytes()
    page = Page(
        url=file.address, final_url=file.address, content=content, sha256="", fetched_at=datetime.now(UTC), headers={}
    )
    return [item for item in ecb_fx_history.parse(page) if isinstance(item, FxRate)]


def rates(first: date, last: date) -> list[FxRate]:
    """The bank's real reference rates of the days of a range."""
    return [rate for rate in _real_rates() if first <= rate.day <= last]


def _collected_rates(last: date) -> Collected:
    """The rates of the ninety days up to `last`, as the nightly source of exchange rates would give them."""
    rows: list[tuple[Item, str]] = [(rate, "0" * 64) for rate in rates(last - timedelta(days=90), last)]
    return Collected("ecb_fx", rows=rows, pages=1)


def night(root: Path, seen_at: datetime, rows: Sequence[tuple[Offer, str]], *, export: bool = False) -> Summary:
    """One night of the market and of the exchange rates of its day: checked, loaded, built, audited, published."""
    run = context(root, seen_at)
    batches = [_collected_rates(seen_at.date()), Collected(SOURCE, rows=[*rows], pages=1)]
    return store(run, batches, export=export)


def small(root: Path, nights: Sequence[backfill.Crawl]) -> None:
    """Load `nights` in bulk, as the command does: the rates of all their days come with the program."""
    backfill.backfill(context(root, nights[-1][0]), nights)


def read(root: Path) -> list[backfill.Crawl]:
    """All nights of the real series, archived under `root`."""
    return backfill.read_crawls(context(root, datetime(2023, 8, 1, tzinfo=UTC)), files())


#: SQL that makes copy `k` of a table's rows. `n` is the listing's number; a price moves by a factor of the listing's own
#: between 0.7 and 1.3, in tens of won, and a night by minutes.
_FACTOR = "(round(price::DOUBLE * (0.7 + (hash(n, k) % 600) / 1000.0) / 10) * 10)::DECIMAL(18,4)"
_MINUTES = {
    name: f"{name} + INTERVAL 1 MINUTE * k"
    for name in ("first_seen_at", "ended_at", "valid_from", "valid_to", "confirmed_until")
}
_COPIED = {
    "listing_id": f"'{SOURCE}:' || (split_part(listing_id, ':', 2)::BIGINT + k * 100000000)",
    "listing_key": "listing_key::BIGINT + k * 100000000",
    "listing_no": "n + k * getvariable('numbers')",
    "price": _FACTOR,
    "price_text": f"coalesce({_FACTOR}::BIGINT::VARCHAR, price_text)",
    **_MINUTES,
}
#: The large tables, with the order in which a history of nights would have written them.
_TABLES = {
    "core.listing": "first_seen_at, listing_no",
    "core.listing_history": "valid_from, listing_no",
    "core.price_open": "valid_from, listing_id",
    "core.price_span": "valid_to, listing_no",
}


def large(root: Path, real: Path, copies: int = COPIES) -> None:
    """A warehouse with `copies` times the listings and prices of the one under `real`.

    The prices are copied a month of ends at a time: sorted at once, a hundred million of them would need ten times the room.
    """
    shutil.copytree(real, root, symlinks=True)
    run = context(root, datetime(2023, 8, 2, tzinfo=UTC))
    with publish.workspace(run.data, run.run_id, memory_limit="4GB") as (con, work):
        con.execute(f"ATTACH '{DataDir(real).published.resolve()}' AS once (READ_ONLY)")
        con.execute(
            "CREATE TEMP TABLE once_listing AS SELECT listing_id, listing_no AS n, listing_no FROM once.core.listing"
        )
        con.execute("SET VARIABLE numbers = (SELECT max(listing_no) FROM once.core.listing)")
        con.execute("; ".join(f"DELETE FROM {table}" for table in _TABLES))
        # What the tables hold is another; their own nights are the same.
        con.execute("DELETE FROM ops.table_content; UPDATE ops.model_state SET fingerprint = ''")
        con.execute(f"CHECKPOINT {publish.CATALOG}")
        for table, order in _TABLES.items():
            columns = [name for (name,) in con.execute(f"SELECT column_name FROM (DESCRIBE {table})").fetchall()]
            key = "listing_no" if "listing_no" in columns else "listing_id"
            values = ", ".join(f"{_COPIED.get(name, name)} AS {name}" for name in columns)
            rows, parts = f"once.{table}", ["true"]
            if table == "core.price_span":
                months = con.execute(
                    f"SELECT DISTINCT date_trunc('month', valid_to) AS month FROM {rows} ORDER BY month"
                ).fetchall()
                parts = [f"date_trunc('month', valid_to) IS NOT DISTINCT FROM {_literal(month)}" for (month,) in months]
            for part in parts:
                con.execute(
                    f"""INSERT INTO {table} BY NAME
                        SELECT {values} FROM (
                            SELECT {table.split(".")[1]}.*, n, k
                            FROM {rows} JOIN (SELECT {key}, n FROM once_listing) USING ({key}), range({copies}) r(k)
                            WHERE {part}
                        ) ORDER BY {order}"""
                )
        con.execute("DETACH once")
        publish.compact(con, work)
        publish.publish(con, run.data, work, run.run_id, 1)


def _literal(month: datetime | None) -> str:
    return "NULL" if month is None else f"TIMESTAMPTZ '{month.isoformat()}'"


def deepen(root: Path, times: int) -> None:
    """Put `times` the prices behind a warehouse: those that are there again and again, of listings that ended after its last
    night.

    The daily prices of the days before stay what they were, which a night does not look at.
    """
    run = context(root, datetime(2023, 8, 2, tzinfo=UTC))
    with publish.workspace(run.data, run.run_id, memory_limit="4GB") as (con, work):
        ((last, numbers),) = con.execute(
            """SELECT (SELECT max(seen_at) FROM core.source_night) + INTERVAL 1 HOUR,
                   (SELECT max(listing_no) FROM core.listing)"""
        ).fetchall()
        again = {"core.price_span": "valid_to", "core.listing_history": "valid_to", "core.listing": "ended_at"}
        for k in range(1, times):
            for table, end in again.items():
                keys = ("listing_id", "listing_key") if table == "core.listing" else ()
                ids = "".join(f", {key} || '-{k}' AS {key}" for key in keys)
                con.execute(
                    f"""INSERT INTO {table} SELECT * REPLACE (
                            listing_no + {k * numbers} AS listing_no, coalesce({end}, $last) AS {end}{ids}
                        ) FROM {table} WHERE listing_no <= {numbers}""",
                    {"last": last},
                )
        con.execute("DELETE FROM ops.table_content WHERE table_id = 'core.listing'")
        con.execute(
            "UPDATE ops.table_content SET content = $settled WHERE table_id = $row",
            {"settled": price_days._settled(con, price_days._ALWAYS), "row": price_days._ROW},
        )
        publish.publish(con, run.data, work, run.run_id, 1)
