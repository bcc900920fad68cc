"""The price gate: a price that moved too far to be believed at once is held until it is seen again.

The old price stands meanwhile, marked as not confirmed. One bad night (a parser that lost a digit, a shop's slip, half a
page) therefore never reaches a decision table, and a real move of the market arrives one run late. All comparisons are in
the listing's own currency, so an exchange rate moves nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

import duckdb

from warehouse.load.batch import Night
from warehouse.load.offers import COLUMNS
from warehouse.load.stage import stage


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """What is believed at once. Shares and moves are fractions.

    The defaults were read off three years of a real market; docs/gate.md shows the trade-off.
    """

    #: One listing's move up in one step, and the same factor down: 0.67 is +67% or -40%.
    max_move: float = 0.67
    #: A smaller move, which is held only where many listings make it at once …
    crowd_move: float = 0.2
    #: … which is this share of those that can be compared.
    max_crowd_share: float = 0.2
    #: Fewer than this say nothing about a crowd.
    min_crowd: int = 10
    #: Rows against the median of the last nights.
    min_row_share: float = 0.8
    #: Nights that the median is over.
    row_nights: int = 7
    #: Share of the listings with a price that may lose it in one step.
    max_lost_share: float = 0.5
    #: A price older than this many days is no reference any more.
    reference_days: int = 30
    #: The same held price, seen again within this fraction, is released.
    same_price: float = 0.05
    #: Listings of the same GPU that make a market to compare a single move with.
    min_peers: int = 3


#: Whole amounts that stand for "no price": 9999 (.99), 99999. Never released by being seen again. In won and yen, where
#: 99,990 is an ordinary price, only from eight digits on.
_PLACEHOLDER = "CASE WHEN currency IN ('KRW', 'JPY') THEN '^(9{5,}0*|1{8,})$' ELSE '^(9{4,}|1{5,})$' END"


@dataclass(frozen=True, slots=True)
class GoodNight:
    """One night on which a source was read well, as core.source_night has it."""

    seen_at: datetime
    rows: int
    is_complete: bool


@dataclass(frozen=True, slots=True)
class Verdict:
    """How many prices are held, how many were before, and whether the batch is as long as usual.

    Where it is not, absent listings must not be taken for ended.
    """

    held: int
    held_before: int
    is_long: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Market:
    """What differs between the prices of shops and those of clouds, as SQL over the table `compared`."""

    #: What core.held_price has as `kind`.
    kind: str
    #: A relation of the open prices, with the columns that core.price_open has.
    open: str
    #: Takes the single moves that other evidence explains from the table `suspect`.
    clear: Callable[[duckdb.DuckDBPyConnection, Night, Bounds], None]
    #: Which prices stand still from day to day, so that many that move at once say something.
    steady: str = "true"
    #: How far a price, seen again, may lie from the one that is held.
    same_price: str = "$same_price"
    #: What stands before the reason.
    prefix: str = ""


def hold(
    con: duckdb.DuckDBPyConnection,
    night: Night,
    bounds: Bounds,
    past: Sequence[GoodNight],
    released: Sequence[tuple[str, Decimal]] = (),
) -> Verdict:
    """Hold the staged prices of `incoming_offer` that are not to be believed yet.

    Moves them from `incoming_offer` to `held_offer` and brings core.held_price up to date; the reasons stand in the
    temporary table `held_now`. `past` are the source's good nights, newest first; see `past_nights`. `released` are
    listings with the price that a person let pass.
    """
    _compare(con, night, bounds)
    verdict = judge(con, night, bounds, past, released, _SHOPS)
    if verdict.held:
        columns = ", ".join(COLUMNS)
        con.execute(
            f"INSERT INTO held_offer ({columns}) SELECT {columns} FROM incoming_offer SEMI JOIN held_now USING (listing_id)"
        )
        con.execute("DELETE FROM incoming_offer WHERE listing_id IN (SELECT listing_id FROM held_now)")
    return verdict


def judge(
    con: duckdb.DuckDBPyConnection,
    night: Night,
    bounds: Bounds,
    past: Sequence[GoodNight],
    released: Sequence[tuple[str, Decimal]],
    market: Market,
) -> Verdict:
    """Judge what is staged as `compared` (see `_compare`); `held_now` and core.held_price are written."""
    held, before = _decide(con, night, bounds, released, market)
    return Verdict(held, before, not _is_short(night, bounds, past))


def _compare(con: duckdb.DuckDBPyConnection, night: Night, bounds: Bounds) -> None:
    """Stage `compared`: each incoming price beside the newest one that was believed, within the reference time."""
    since = night.seen_at - timedelta(days=bounds.reference_days)
    # For those that show no price now, the newest that they had: a price that comes back is compared with it.
    con.execute(
        f"""CREATE OR REPLACE TEMP TABLE compared AS
            WITH shown AS (
                SELECT listing_id, price, currency FROM core.price_open
                WHERE price IS NOT NULL AND valid_from < $seen_at AND starts_with(listing_id, '{night.source}:')
            ),
            missing AS (
                SELECT l.listing_id, l.listing_no FROM core.listing l
                SEMI JOIN incoming_offer i ON i.listing_id = l.listing_id AND i.price IS NOT NULL
                ANTI JOIN shown s ON s.listing_id = l.listing_id
            ),
            past AS (
                SELECT m.listing_id, arg_max(c.price, c.valid_from) AS price, arg_max(c.currency, c.valid_from) AS currency
                FROM core.price_span c JOIN missing m USING (listing_no)
                WHERE c.valid_to > $since AND c.valid_from < $seen_at AND c.price IS NOT NULL
                GROUP BY m.listing_id
            )
            SELECT i.listing_id, i.price, i.currency, i.condition, i.snapshot_sha256,
                coalesce(s.price, if(i.price IS NULL, NULL, p.price)) AS reference_price,
                coalesce(s.currency, if(i.price IS NULL, NULL, p.currency)) AS reference_currency,
                s.listing_id IS NOT NULL AS had_price,
                CASE WHEN i.currency = reference_currency
                    THEN i.price::DOUBLE / reference_price::DOUBLE - 1 END AS move
            FROM incoming_offer i LEFT JOIN shown s USING (listing_id) LEFT JOIN past p USING (listing_id)""",
        {"seen_at": night.seen_at, "since": since},
    )


def _decide(
    con: duckdb.DuckDBPyConnection,
    night: Night,
    bounds: Bounds,
    released: Sequence[tuple[str, Decimal]],
    market: Market,
) -> tuple[int, int]:
    """Write `held_now` and core.held_price; the number of held prices, and of those before."""
    alone = f"""CASE
        WHEN price = 0 OR (price > 9999000 OR currency NOT IN ('KRW', 'JPY'))
            AND regexp_matches(trunc(price)::DECIMAL(18,0)::VARCHAR, {_PLACEHOLDER}) THEN 'placeholder'
        WHEN currency <> reference_currency THEN 'currency'
        WHEN abs(ln(1 + move)) > ln(1 + $max_move) THEN 'move' END"""
    crowd = con.execute(
        f"""SELECT count(move) FILTER ({market.steady}), count(*) FILTER (abs(move) > $crowd_move AND {market.steady}),
                count(*) FILTER (had_price), count(*) FILTER (had_price AND price IS NULL), count({alone}),
                bool_or({alone} = 'move') FROM compared""",
        {"crowd_move": bounds.crowd_move, "max_move": bounds.max_move},
    ).fetchone()
    assert crowd is not None
    comparable, moved, known, lost, suspects, has_moves = crowd
    is_crowd = comparable >= bounds.min_crowd and moved > comparable * bounds.max_crowd_share
    is_loss = known >= bounds.min_crowd and lost > known * bounds.max_lost_share
    if not suspects and not is_crowd and not is_loss:
        con.execute("CREATE OR REPLACE TEMP TABLE held_now AS FROM core.held_price LIMIT 0")
        return 0, _let_go(con, night, market)
    con.execute(
        f"""CREATE OR REPLACE TEMP TABLE suspect AS
            FROM (SELECT *, coalesce({alone}, CASE
                WHEN $is_crowd AND abs(move) > $crowd_move AND {market.steady} THEN 'crowd'
                WHEN $is_loss AND had_price AND price IS NULL THEN 'lost'
            END) AS hold FROM compared) WHERE hold IS NOT NULL""",
        {"max_move": bounds.max_move, "crowd_move": bounds.crowd_move, "is_crowd": is_crowd, "is_loss": is_loss},
    )
    if has_moves:
        market.clear(con, night, bounds)
    return _write_held(con, night, bounds, f"{lost} of {known}", released, market)


def _clear(con: duckdb.DuckDBPyConnection, night: Night, bounds: Bounds) -> None:
    """Take from `suspect` the single moves that other evidence explains.

    A listing that goes back and forth between two sellers asks a price that it asked before; a card that was far off its
    market comes home to what the other listings of the same GPU ask. Neither is a slip.
    """
    con.execute(
        f"""DELETE FROM suspect WHERE hold = 'move' AND (
                listing_id IN (
                    SELECT s.listing_id FROM suspect s JOIN core.listing l USING (listing_id)
                    JOIN core.price_span o ON o.listing_no = l.listing_no AND o.currency = s.currency
                    WHERE o.valid_to > $since AND o.valid_from < $seen_at AND o.price IS NOT NULL
                    GROUP BY s.listing_id, s.price
                    HAVING s.price::DOUBLE BETWEEN min(o.price)::DOUBLE * (1 - $same) AND max(o.price)::DOUBLE * (1 + $same)
                )
                OR listing_id IN (
                    SELECT s.listing_id FROM suspect s
                    JOIN core.listing l USING (listing_id)
                    JOIN core.listing m ON m.gpu_id = l.gpu_id AND m.source = l.source AND m.condition = s.condition
                        AND m.listing_id <> l.listing_id
                    JOIN core.price_open o ON o.listing_id = m.listing_id AND o.currency = s.currency
                    WHERE l.source = '{night.source}' AND o.price IS NOT NULL
                    GROUP BY s.listing_id, s.price
                    HAVING count(*) >= $min_peers
                        AND abs(ln(s.price::DOUBLE / median(o.price)::DOUBLE)) <= ln(1 + $max_move)
                )
            )""",
        {
            "since": night.seen_at - timedelta(days=bounds.reference_days), "seen_at": night.seen_at,
            "same": bounds.same_price, "max_move": bounds.max_move, "min_peers": bounds.min_peers,
        },
    )  # fmt: skip


def _write_held(
    con: duckdb.DuckDBPyConnection,
    night: Night,
    bounds: Bounds,
    lost: str,
    released: Sequence[tuple[str, Decimal]],
    market: Market,
) -> tuple[int, int]:
    """Of the suspects, `held_now` and core.held_price get those that were not seen before at the same price.

    Returns how many, and how many were held before.
    """
    stage(con, "released", ("listing_id", "price"), released)
    row = con.execute(
        f"""CREATE OR REPLACE TEMP TABLE held_now AS
            SELECT j.listing_id, $source AS source, j.price, j.currency, j.reference_price, j.reference_currency, j.hold,
                {market.prefix} CASE j.hold
                    WHEN 'placeholder' THEN j.price || ' ' || j.currency || ' stands for no price'
                    WHEN 'currency' THEN 'currency was ' || j.reference_currency || ' and is ' || j.currency
                    WHEN 'lost' THEN 'the price is gone, as on {lost} listings at once'
                    ELSE j.reference_price || ' to ' || j.price || ' ' || j.currency || ' ('
                        || format('{{:+.0f}}%', j.move * 100) || ') at once'
                        || CASE j.hold WHEN 'crowd' THEN ', as on many others' ELSE '' END
                END AS reason,
                CASE WHEN h.is_same THEN h.held_at ELSE $seen_at END AS held_at,
                CASE WHEN h.is_same THEN 1 + (
                    SELECT count(*) FROM core.source_night n
                    WHERE n.source = $source AND n.seen_at >= h.held_at AND n.seen_at < $seen_at
                ) ELSE 1 END AS times_held, j.snapshot_sha256, '{market.kind}' AS kind
            FROM suspect j LEFT JOIN (
                -- Another price than the one that is held is a first sighting, whenever the listing was first held.
                SELECT s.listing_id, h.held_at, h.currency IS NOT DISTINCT FROM s.currency AND coalesce(
                    abs(s.price::DOUBLE / h.price::DOUBLE - 1) <= {market.same_price}, s.price IS NULL AND h.price IS NULL
                ) AS is_same
                FROM suspect s JOIN core.held_price h USING (listing_id)
            ) h USING (listing_id)
            WHERE NOT EXISTS (
                    SELECT 1 FROM released r WHERE r.listing_id = j.listing_id
                        AND abs(j.price::DOUBLE / r.price::DOUBLE - 1) <= $same_price
                )
                -- Seen before, on an earlier run, at the same price: believed.
                AND (j.hold = 'placeholder' OR NOT coalesce(h.is_same AND h.held_at < $seen_at, false))
                -- Believed by this very run when it ran before: a repeated run comes to the same.
                AND NOT EXISTS (
                    SELECT 1 FROM {market.open} o WHERE o.listing_id = j.listing_id AND o.valid_from = $seen_at
                        AND o.confirmed_until IS NULL AND o.price IS NOT DISTINCT FROM j.price
                        AND o.currency IS NOT DISTINCT FROM j.currency
                )""",
        {"source": night.source, "seen_at": night.seen_at, "same_price": bounds.same_price},
    ).fetchone()
    before = _let_go(con, night, market)
    con.execute("INSERT INTO core.held_price FROM held_now")
    return int(row[0]) if row else 0, before


def _let_go(con: duckdb.DuckDBPyConnection, night: Night, market: Market) -> int:
    # A row without a kind is one of a file from before clouds had a gate.
    row = con.execute(
        "DELETE FROM core.held_price WHERE source = ? AND coalesce(kind, 'offer') = ?", [night.source, market.kind]
    ).fetchone()
    return int(row[0]) if row else 0


_SHOPS = Market(kind="offer", open="core.price_open", clear=_clear)


def _is_short(night: Night, bounds: Bounds, past: Sequence[GoodNight]) -> bool:
    """Fewer rows than usual, for the first time: a page that lost half of its list looks like a shop that sold out.

    A second short night in a row, about as short, is believed.
    """
    usual = sorted(good.rows for good in past[: bounds.row_nights])
    rows = night.rows
    if not usual or rows >= usual[len(usual) // 2] * bounds.min_row_share:
        return False
    return past[0].is_complete or abs(rows - past[0].rows) > rows * (1 - bounds.min_row_share)


def note_nights(con: duckdb.DuckDBPyConnection, source: str, nights: Sequence[GoodNight]) -> None:
    """Put good nights of a source on record; a repeated run replaces its own row."""
    stage(con, "noted", ("source", "seen_at", "rows", "is_complete"), [
        (source, good.seen_at, good.rows, good.is_complete) for good in nights
    ])  # fmt: skip
    con.execute("DELETE FROM core.source_night WHERE source = ? AND seen_at IN (SELECT seen_at FROM noted)", [source])
    con.execute("INSERT INTO core.source_night FROM noted")


def past_nights(con: duckdb.DuckDBPyConnection, source: str, before: datetime, bounds: Bounds) -> list[GoodNight]:
    """The source's good nights before a time, newest first: as many as the median of rows is over."""
    rows = con.execute(
        """SELECT seen_at, rows, is_complete FROM core.source_night WHERE source = ? AND seen_at < ?
           ORDER BY seen_at DESC LIMIT ?""",
        [source, before, bounds.row_nights],
    ).fetchall()
    return [GoodNight(*row) for row in rows]
