"""Load all items but offers: scores, published prices, cloud offers, prices of tokens and
exchange rates."""

from __future__ import annotations

import hashlib
from collections.abc import Container, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

import duckdb

from gpuledger.items import (
    Chart,
    CloudOffer,
    FxRate,
    IndexPrice,
    Item,
    Offer,
    OpenModel,
    Score,
    TokenPrice,
)
from gpuledger.warehouse.load.batch import Batch, ChangeSet, Row
from gpuledger.warehouse.load.spans import Spans, Staged, fresh_since, merge
from gpuledger.warehouse.load.stage import Value, count, stage

#: The source whose file has the reference rates of all past days.
HISTORY = "ecb_fx_history"


@dataclass(frozen=True, slots=True)
class Kind:
    """How items of one class become rows of a versioned table.

    A column has the value of the field of its name, or of the field that `fields` names for it.
    """

    item: type[Item]
    spans: Spans
    fields: Mapping[str, str] = field(default_factory=dict)

    @property
    def columns(self) -> Sequence[str]:
        """The columns that are staged."""
        return (*self.spans.key, *self.spans.state, *self.spans.extra)

    def values(self, source: str, row: Row) -> Sequence[Value]:
        """The values of a row, in the order of the columns."""
        given: dict[str, Value] = {"source": source, "snapshot_sha256": row.snapshot_sha256}
        if isinstance(row.item, CloudOffer):
            given["offer_id"] = offer_id(source, row.item)
        return [
            given[column] if column in given else getattr(row.item, self.fields.get(column, column))
            for column in self.columns
        ]


def offer_id(source: str, offer: CloudOffer) -> str:
    """Identity of a cloud offer over time. It has a hash of the machine's shape, as an instance name may be missing."""
    shape = (offer.instance, offer.gpu_name, offer.gpu_count, offer.gpu_memory_gb, offer.cpu_count, offer.memory_gb)
    digest = hashlib.sha256("|".join(str(part or "") for part in shape).encode()).hexdigest()[:10]
    return f"{source}:{offer.provider}:{offer.region or ''}:{offer.pricing_model}:{digest}"


KINDS = (
    Kind(
        Score,
        Spans(
            table="core.benchmark_score",
            key=("source", "gpu_name", "table_name", "column_name"),
            state=("workload_id", "score", "unit", "relative_percent", "published_on", "gpu_count", "claim"),
            extra=("article_url", "source_image", "specs", "software", "precision", "batch_size", "context_tokens",
                   "prompt_tokens", "concurrent_users", "measured_by", "snapshot_sha256"),
        ),
        {"table_name": "table", "column_name": "column"},
    ),
    Kind(
        IndexPrice,
        Spans(
            table="core.index_price",
            key=("source", "gpu_name", "table_name", "column_name", "period", "condition"),
            state=("price", "currency", "quantity_sold"),
            extra=("price_text", "snapshot_sha256"),
        ),
        {"table_name": "table", "column_name": "column"},
    ),
    Kind(
        CloudOffer,
        Spans(
            table="core.cloud_offer_history",
            key=("offer_id",),
            state=("price", "currency", "gpu_count", "gpu_name"),
            extra=("source", "provider", "region", "instance", "memory_gb", "pricing_model", "price_text", "note",
                   "snapshot_sha256"),
            has_doubt=True,
        ),
        {"memory_gb": "gpu_memory_gb"},
    ),
    Kind(
        TokenPrice,
        Spans(
            table="core.token_price",
            key=("source", "provider", "hosted_name"),
            state=("repository", "input_price", "cached_input_price", "output_price", "rates", "currency"),
            extra=("price_text", "snapshot_sha256"),
        ),
        {"hosted_name": "model"},
    ),
)  # fmt: skip

#: The fields that tell an item of these classes from the others of its source.
_KEYS = {
    kind.item: [kind.fields.get(column, column) for column in kind.spans.key if column != "source"] for kind in KINDS
}


def key_of(source: str, item: Item) -> tuple[Hashable, ...]:
    """The key of a row. Two rows of one batch with the same key are duplicates."""
    match item:
        case Offer():
            return (item.KIND, item.key)
        case CloudOffer():
            return (item.KIND, offer_id(source, item))
        case FxRate():
            return (item.KIND, item.day, item.currency, item.base)
        case OpenModel():
            return (item.KIND, item.repository, item.config is None)
        case Chart():
            return (item.KIND, item.article_url, item.image_url)
        case _:
            return (item.KIND, *(getattr(item, field) for field in _KEYS[type(item)]))


def stage_cloud(con: duckdb.DuckDBPyConnection, batch: Batch) -> None:
    """Stage the cloud offers of `batch` as `incoming_cloud`, for the price gate."""
    kind = next(kind for kind in KINDS if kind.item is CloudOffer)
    rows = [kind.values(batch.source, row) for row in batch.rows if isinstance(row.item, CloudOffer)]
    stage(con, "incoming_cloud", kind.columns, rows)


def hold_cloud(batch: Batch, held: Container[str]) -> Batch:
    """The batch with the cloud offers of these ids among its `held` rows, so that their rates are not loaded."""
    accepted: list[Row] = []
    doubtful: list[Row] = [*batch.held]
    for row in batch.rows:
        is_held = isinstance(row.item, CloudOffer) and offer_id(batch.source, row.item) in held
        (doubtful if is_held else accepted).append(row)
    return replace(batch, rows=accepted, held=doubtful)


def load(con: duckdb.DuckDBPyConnection, batch: Batch, previous_success: datetime | None) -> ChangeSet:
    """Load the items of `batch` that are in KINDS. Their keys must be unique. Returns what changed."""
    changes = ChangeSet()
    seen = {type(row.item) for row in batch.rows}
    for kind in KINDS:
        rows = []
        if kind.item in seen:
            rows = [kind.values(batch.source, row) for row in batch.rows if isinstance(row.item, kind.item)]
        known = con.execute(f"SELECT 1 FROM {kind.spans.table} WHERE source = ? LIMIT 1", [batch.source]).fetchone()
        if not rows and not known:
            continue
        stage(con, "incoming", kind.columns, rows)
        refused = [kind.values(batch.source, row) for row in batch.held if isinstance(row.item, kind.item)]
        stage(con, "held", kind.columns, refused)
        staged = Staged(
            incoming="incoming", held="held", seen_at=batch.seen_at, is_complete=batch.is_complete,
            scope=f"o.source = '{batch.source}' AND o.valid_to IS NULL",
            fresh_since=fresh_since(con, batch.source, batch.seen_at),
        )  # fmt: skip
        changes.add(kind.spans.table, merge(con, kind.spans, staged, previous_success))
    return changes


def load_rates(con: duckdb.DuckDBPyConnection, batch: Batch) -> ChangeSet:
    """Load exchange rates: new days are added, absent days stay, and a corrected rate is added beside the earlier one.

    Readers use the newest rate of a day. A question about a past day uses the first rate, or the correction that had been
    loaded by then. The file of all days (HISTORY) only adds days, and corrects none.
    """
    changes = ChangeSet()
    rows = [
        (r.item.day, r.item.currency, r.item.rate, r.item.base, r.snapshot_sha256, batch.seen_at)
        for r in batch.rows
        if isinstance(r.item, FxRate)
    ]
    if not rows:
        return changes
    stage(con, "incoming_rate", ("day", "currency", "rate", "base", "snapshot_sha256", "loaded_at"), rows)
    # A repeated run replaces its own correction.
    con.execute(
        """DELETE FROM core.fx_rate o USING incoming_rate i WHERE o.loaded_at = i.loaded_at
           AND o.day = i.day AND o.currency = i.currency AND o.base = i.base AND o.rate <> i.rate"""
    )
    is_correction = "" if batch.source == HISTORY else ", rate"
    added = count(
        con,
        f"""INSERT INTO core.fx_rate SELECT i.* FROM incoming_rate i ANTI JOIN (
               SELECT day, currency, base, arg_max(rate, loaded_at) AS rate FROM core.fx_rate GROUP BY ALL
           ) o USING (day, currency, base{is_correction}) ORDER BY day, currency""",
    )
    changes.add("core.fx_rate", added)
    return changes
