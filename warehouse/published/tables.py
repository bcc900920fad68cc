"""What of a warehouse is published, and how it is put into another one: a table a kind of fact, each row with its source.

Only what was read from sources is published. Cards, models, workloads, settings and assumptions are the reader's own, as its
program brings them, and every table that is built is built anew by the reader. So nothing that was computed from a withheld
price can be in it.
"""

from __future__ import annotations

from dataclasses import dataclass

#: Sources of a table in the connection: those that may be published.
_MAY = "SEMI JOIN publishable USING (source)"
#: What a title means is kept as it was resolved, unless only this machine knows the card: a reader resolves that anew.
_CARD = """CASE WHEN NOT has_own_card(gpu_id, match_candidates) THEN gpu_id END AS gpu_id,
    CASE WHEN NOT has_own_card(gpu_id, match_candidates) THEN match_candidates END AS match_candidates,
    CASE WHEN NOT has_own_card(gpu_id, match_candidates) THEN $version END AS match_version"""
#: Whether cards that a user added are among the ids.
MACRO = """CREATE OR REPLACE TEMP MACRO has_own_card(id, ids) AS EXISTS (
    FROM core.gpu g WHERE g.added_on IS NOT NULL AND contains(concat_ws(' ', id, ids), g.gpu_id))"""


@dataclass(frozen=True, slots=True)
class Table:
    """One kind of published fact: the name of its files, the SELECT that gives its rows in a warehouse, the key of a row,
    and the column that dates a row, by whose month the first publication puts it into files. `into` are the statements that
    put the rows of the relation `published` into a warehouse.
    """

    name: str
    rows: str
    key: tuple[str, ...]
    dated: str | None
    into: tuple[str, ...]


def _plain(name: str, table: str, key: str, dated: str | None, rows: str = "") -> Table:
    """A table that is published as it is loaded."""
    return Table(name, rows or f"FROM {table} {_MAY}", tuple(key.split()), dated, (
        f"INSERT INTO {table} BY NAME FROM published",
    ))  # fmt: skip


_LISTED = f"(SELECT listing_no, listing_id, source FROM core.listing {_MAY})"
_NUMBERED = "JOIN (SELECT listing_no, listing_id FROM core.listing) l USING (listing_id)"

TABLES = (
    Table(
        "listing",
        f"""SELECT * EXCLUDE (listing_no) REPLACE ({_CARD},
                CASE WHEN NOT has_own_card(contained_gpu_id, NULL) THEN contained_gpu_id END AS contained_gpu_id)
            FROM core.listing {_MAY}""",
        ("listing_id",),
        "first_seen_at",
        (
            """INSERT INTO core.listing BY NAME SELECT *, (row_number() OVER (ORDER BY first_seen_at, listing_id)
                   + coalesce((SELECT max(listing_no) FROM core.listing), 0))::UINTEGER AS listing_no FROM published""",
        ),
    ),
    Table(
        "offer",
        f"""SELECT l.source, l.listing_id, p.* EXCLUDE (listing_no)
            FROM core.price_span p JOIN {_LISTED} l USING (listing_no)""",
        ("listing_id", "valid_from"),
        "valid_from",
        (
            f"""INSERT INTO core.price_span BY NAME SELECT listing_no, p.* EXCLUDE (source, listing_id)
                FROM published p {_NUMBERED} ORDER BY valid_to, listing_no""",
            "INSERT INTO core.price_open BY NAME SELECT * EXCLUDE (source, valid_to) FROM published WHERE valid_to IS NULL",
        ),
    ),
    Table(
        "listing_history",
        f"""SELECT l.source, l.listing_id, h.* EXCLUDE (listing_no) REPLACE (
                CASE WHEN NOT has_own_card(h.gpu_id, NULL) THEN h.gpu_id END AS gpu_id)
            FROM core.listing_history h JOIN {_LISTED} l USING (listing_no)""",
        ("listing_id", "valid_from"),
        "valid_from",
        (
            f"""INSERT INTO core.listing_history BY NAME SELECT listing_no, p.* EXCLUDE (source, listing_id)
                FROM published p {_NUMBERED}""",
        ),
    ),
    _plain("price_change", "core.price_change", "listing_id changed_at change", "changed_at"),
    _plain("held_price", "core.held_price", "listing_id", None),
    _plain(
        "cloud_offer", "core.cloud_offer_history", "offer_id valid_from", "valid_from",
        f"SELECT * REPLACE ({_CARD}) FROM core.cloud_offer_history {_MAY}",
    ),
    _plain("token_price", "core.token_price", "source provider hosted_name valid_from", "valid_from"),
    _plain(
        "index_price", "core.index_price", "source gpu_name table_name column_name period valid_from", "valid_from",
        f"SELECT * REPLACE ({_CARD}) FROM core.index_price {_MAY}",
    ),
    _plain(
        "benchmark_score", "core.benchmark_score",
        "source workload_id gpu_name table_name column_name published_on valid_from", "valid_from",
        # Who measured, and on what machine, is a person's own note.
        f"""SELECT * REPLACE ({_CARD}, CASE WHEN source <> 'measurements' THEN measured_by END AS measured_by,
                CASE WHEN source <> 'measurements' THEN specs END AS specs,
                CASE WHEN source <> 'measurements' THEN article_url END AS article_url,
                CASE WHEN source <> 'measurements' THEN source_image END AS source_image)
            FROM core.benchmark_score {_MAY} WHERE list_contains($workloads, workload_id) OR workload_id IS NULL""",
    ),
    Table(
        "exchange_rate",
        "SELECT 'ecb_fx' AS source, * FROM core.fx_rate WHERE EXISTS (FROM publishable WHERE source LIKE 'ecb_fx%')",
        ("day", "currency", "loaded_at"),
        "day",
        ("INSERT INTO core.fx_rate BY NAME SELECT * EXCLUDE (source) FROM published",),
    ),
    _plain("source_night", "core.source_night", "source seen_at", "seen_at"),
    _plain(
        "source_state", "ops.source_state", "source", None,
        f"SELECT * REPLACE (NULL::VARCHAR AS reason) FROM ops.source_state {_MAY}",
    ),
    _plain(
        "night", "ops.run", "run_id", "as_of",
        """SELECT run_id, started_at, finished_at, as_of, 'published' AS engine, status, sample_night FROM ops.run
           WHERE status LIKE 'published%' AND engine <> 'published'""",
    ),
)  # fmt: skip

#: What a folder loses before it takes in what was published anew: all that was published before. `own` are its own sources.
CLEARED = (
    *(
        f"""DELETE FROM {table} WHERE listing_no IN (SELECT listing_no FROM core.listing ANTI JOIN own USING (source))"""
        for table in ("core.price_span", "core.listing_history")
    ),
    "DELETE FROM core.price_open WHERE listing_id IN (SELECT listing_id FROM core.listing ANTI JOIN own USING (source))",
    *(
        f"DELETE FROM {table} WHERE source NOT IN (FROM own)"
        for table in (
            "core.listing", "core.price_change", "core.held_price", "core.cloud_offer_history", "core.token_price",
            "core.index_price", "core.benchmark_score", "core.source_night", "ops.source_state",
        )
    ),
    "DELETE FROM core.fx_rate WHERE NOT EXISTS (FROM own WHERE source LIKE 'ecb_fx%')",
    "DELETE FROM ops.run WHERE engine = 'published'",
)  # fmt: skip
