"""Daily prices of every GPU, kept by day: a night adds its own day, and the years before it are left alone.

What a night brings is dated: prices, rates and nights of its own day. What the days before it rest on beside those (which
card a listing is, what it cost at launch, the rule for a price that counts) has a fingerprint; where that moved, every day
is computed anew.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import duckdb

from gpuledger.warehouse.schema import hash_text

_SQL = Path(__file__).with_suffix(".sql").read_text(encoding="utf-8")
_SUSPECT = Path(__file__).with_name("price_days_suspect.sql").read_text(encoding="utf-8")
#: Days on each side of a day that say whether its low and high can be.
NEIGHBOURS = 14
_ROW = "price_day:settled"
_INPUTS = {"core.price_open", "core.source_night", "core.fx_rate", "core.listing", "core.gpu", "core.setting"}
#: Days that are computed in one go, and of a history of so many prices: there the prices of a quarter are ten million, which
#: take more room than the night may.
PART_DAYS, MANY, PART_DAYS_OF_MANY = 92, 30_000_000, 31
#: No price is older; of days before it none can be told.
_FIRST_DAY = date(1900, 1, 1)
#: Later than anything that is known.
_ALWAYS = datetime(9999, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Since:
    """What a run brought is no older than this: prices, rates and nights of `day` and later. Everything else was there
    before `known_before`.
    """

    day: date
    known_before: datetime


def is_newest(con: duckdb.DuckDBPyConnection, seen_at: datetime) -> bool:
    """Nothing was read at that time or later: a run at it only adds to what is known. Ask before the run loads."""
    return not con.execute("SELECT 1 FROM core.source_night WHERE seen_at >= ? LIMIT 1", [seen_at]).fetchall()


def since(con: duckdb.DuckDBPyConnection, seen_at: datetime) -> Since:
    """The bound of a run whose first night is `seen_at`. Ask when its batches are loaded: old rates count."""
    row = con.execute("SELECT min(day) FROM core.fx_rate WHERE loaded_at >= ?", [seen_at]).fetchone()
    day = seen_at.astimezone(UTC).date()
    return Since(min(day, row[0]) if row and row[0] else day, seen_at)


def keep(
    con: duckdb.DuckDBPyConnection, changed: Collection[str], bound: Since | None, *, force: bool = False
) -> date | None:
    """Bring core.price_day up to date after the tables in `changed` changed; the first day that was computed, or None.

    `bound` says what the run brought; without it, or with `force`, every day is computed. The models must be built.
    """
    row = con.execute("SELECT content FROM ops.table_content WHERE table_id = ?", [_ROW]).fetchone()
    before = row[0] if row else None
    settled = _settled(con, _ALWAYS)
    if before == settled and not _INPUTS & {*changed} and not force:
        return None
    first = date.min
    if bound and not force and before == _settled(con, bound.known_before):
        first = bound.day
    con.execute("DELETE FROM core.price_day WHERE day >= $since", {"since": first})
    for since, until in _parts(con, first):
        con.execute(f"INSERT INTO core.price_day BY NAME {_SQL}", {"since": since, "until": until})
    _mark_suspects(con, first)
    con.execute("DELETE FROM ops.table_content WHERE table_id = ?", [_ROW])
    con.execute("INSERT INTO ops.table_content VALUES (?, ?)", [_ROW, settled])
    return first


def _mark_suspects(con: duckdb.DuckDBPyConnection, first: date) -> None:
    """Mark the days whose low or high their neighbours do not allow, from those on that have one of `first` or later."""
    since = first if first == date.min else first - timedelta(days=NEIGHBOURS)
    con.execute(f"CREATE OR REPLACE TEMP TABLE judged AS {_SUSPECT}", {"since": max(since, _FIRST_DAY)})
    con.execute(
        """UPDATE core.price_day d SET suspect = j.suspect FROM judged j
           WHERE d.gpu_id = j.gpu_id AND d.market IS NOT DISTINCT FROM j.market AND d.day = j.day
               AND d.suspect <> j.suspect"""
    )


def _parts(con: duckdb.DuckDBPyConnection, first: date) -> Iterator[tuple[date, date]]:
    """The days from `first` to the last night, in parts: ten million spans are thirty million days."""
    row = con.execute(
        """SELECT min((seen_at AT TIME ZONE 'UTC')::DATE), max((seen_at AT TIME ZONE 'UTC')::DATE),
               (SELECT count(*) FROM core.price_span) FROM core.source_night"""
    ).fetchone()
    if not row or row[0] is None:
        return
    since, last = max(first, row[0]), row[1]
    days = PART_DAYS if row[2] < MANY else PART_DAYS_OF_MANY
    while since <= last:
        until = min(last, since + timedelta(days=days - 1))
        yield since, until
        since = until + timedelta(days=1)


def _settled(con: duckdb.DuckDBPyConnection, known_before: datetime) -> str:
    """Fingerprint of what a day rests on beside its prices, rates and nights: of all that was known before a time."""
    row = con.execute(
        """SELECT concat_ws(' ',
               (SELECT count(*) || ':' || sum(hash(
                       listing_id, source, gpu_id, gpu_count, match_status, market, channel, tax_included)) FROM core.listing
                   WHERE first_seen_at < $known_before),
               (SELECT sum(hash(gpu_id, msrp_usd)) FROM core.gpu),
               (SELECT sum(hash(setting, value)) FROM core.setting),
               (SELECT sum(hash(market, prices_include_tax)) FROM core.market),
               (SELECT sum(hash(market, taxed_from, taxed_until, tax_rate)) FROM core.tax_rate),
               (SELECT string_agg(definition, ' ' ORDER BY model) FROM ops.model_state
                   WHERE model IN (
                       'core.fx_usd_daily', 'core.usd_rate_on', 'core.offer_exclusion', 'core.shelf_factor')))""",
        {"known_before": known_before},
    ).fetchone()
    assert row is not None
    return f"{hash_text(_SQL + _SUSPECT)} {row[0]}"
