"""Keeps the daily prices of every GPU. A night adds its own day and does not touch the years before.

The prices, rates and nights that a run adds have a date and affect only days from that date on. Days also depend on other
data: the card of each listing, launch prices, and the rule for prices that count. These have a fingerprint. If it changes,
every day is computed anew.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import duckdb

from gpuledger.warehouse import table_content
from gpuledger.warehouse.schema import hash_text

_SQL = Path(__file__).with_suffix(".sql").read_text(encoding="utf-8")
_SUSPECT = Path(__file__).with_name("price_days_suspect.sql").read_text(encoding="utf-8")
#: Days on each side of a day with which its low and high are compared.
NEIGHBOURS = 14
#: The models that the days are computed with. They are built before the days, and all others after.
MODELS = ("core.fx_usd_daily", "core.home_market", "core.net_factor", "core.offer_exclusion", "core.shelf_factor",
          "core.usd_rate_on", "main.suspect_price_as_of")  # fmt: skip
_ROW = "price_day:settled"
_INPUTS = {"core.price_open", "core.source_night", "core.fx_rate", "core.listing", "core.gpu", "core.setting"}
#: Number of days that are computed in one step. A history of MANY prices or more is computed in smaller steps of
#: PART_DAYS_OF_MANY days: a quarter of it has ten million prices, which would need more memory than a night may use.
PART_DAYS, MANY, PART_DAYS_OF_MANY = 92, 30_000_000, 31
#: Earlier than any price.
_FIRST_DAY = date(1900, 1, 1)
#: Later than all data.
_ALWAYS = datetime(9999, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Since:
    """The bound of a run's new data. All its prices, rates and nights are of `day` or later; everything else was known
    before `known_before`.
    """

    day: date
    known_before: datetime


def is_newest(con: duckdb.DuckDBPyConnection, seen_at: datetime) -> bool:
    """Whether no source was read at `seen_at` or later, so that a run at this time only adds data. Call before it loads."""
    return not con.execute("SELECT 1 FROM core.source_night WHERE seen_at >= ? LIMIT 1", [seen_at]).fetchall()


def since(con: duckdb.DuckDBPyConnection, seen_at: datetime) -> Since:
    """The bound of a run whose first night is `seen_at`. Call after its batches are loaded: they may have old rates."""
    row = con.execute("SELECT min(day) FROM core.fx_rate WHERE loaded_at >= ?", [seen_at]).fetchone()
    day = seen_at.astimezone(UTC).date()
    return Since(min(day, row[0]) if row and row[0] else day, seen_at)


def keep(
    con: duckdb.DuckDBPyConnection, changed: Collection[str], bound: Since | None, *, force: bool = False
) -> date | None:
    """Update core.price_day after changes in the tables `changed`; returns the first day that was computed, or None.

    `bound` is the bound of the run's new data. Without it, or with `force`, every day is computed. MODELS must be built.
    """
    before = table_content.content_of(con, _ROW)
    settled = _settled(con, _ALWAYS)
    if before == settled and not _INPUTS & {*changed} and not force:
        return None
    first = date.min
    if bound and not force and before == _settled(con, bound.known_before):
        first = bound.day
    con.execute("DELETE FROM core.price_day WHERE day >= $since", {"since": first})
    is_of_several = con.execute("SELECT market IN ('eu', 'all') FROM core.home_market").fetchone() == (True,)
    for since, until in _parts(con, first):
        for is_net in (False, True)[: 1 + is_of_several]:
            con.execute(
                f"INSERT INTO core.price_day BY NAME {_SQL}", {"since": since, "until": until, "is_net": is_net}
            )
    _mark_suspects(con, first)
    table_content.put(con, {_ROW: settled})
    return first


def _mark_suspects(con: duckdb.DuckDBPyConnection, first: date) -> None:
    """Mark the days whose low or high is implausible next to their neighbours. The days marked anew are those from `first`
    on, and the days before that have one of them as a neighbour. Then note what is suspect now.
    """
    since = first if first == date.min else first - timedelta(days=NEIGHBOURS)
    con.execute(f"CREATE OR REPLACE TEMP TABLE judged AS {_SUSPECT}", {"since": max(since, _FIRST_DAY)})
    con.execute(
        """UPDATE core.price_day d SET suspect = j.suspect FROM judged j
           WHERE d.gpu_id = j.gpu_id AND d.market IS NOT DISTINCT FROM j.market AND d.day = j.day
               AND d.suspect <> j.suspect"""
    )
    con.execute(
        """DELETE FROM core.suspect_price; INSERT INTO core.suspect_price BY NAME
           FROM suspect_price_as_of((SELECT max(seen_at AT TIME ZONE 'UTC')::DATE FROM core.source_night)) ORDER BY ALL"""
    )


def _parts(con: duckdb.DuckDBPyConnection, first: date) -> Iterator[tuple[date, date]]:
    """The days from `first` to the last night, in parts, because ten million spans give thirty million days of prices."""
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
    """Fingerprint of the data that a day depends on besides its prices, rates and nights, as known before a time."""
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
                   WHERE list_contains($models, model)))""",
        {"known_before": known_before, "models": list(MODELS)},
    ).fetchone()
    assert row is not None
    return f"{hash_text(_SQL + _SUSPECT)} {row[0]}"
