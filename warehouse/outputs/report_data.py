"""What the report shows, read from the published file in one go: every row with its source page and its archived page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import duckdb

from gpuledger.warehouse.errors import WarehouseError
from gpuledger.warehouse.paths import DataDir
from gpuledger.warehouse.read import reader

Row = Mapping[str, Any]

_SQL = Path(__file__).with_name("report_sql")
#: Rows at most of the lists that grow with the market; what is left out is counted.
MOST = 40
#: Offers shown for each GPU behind its street price.
MOST_OFFERS = 10
#: Tables that the report is made of; their columns are explained at its end.
TABLES = (
    "mart.source_status", "mart.value", "mart.ranking", "mart.gpu_price", "mart.price_trend", "mart.price_daily",
    "mart.cloud_price", "mart.claim_audit", "core.price_change", "core.held", "core.unmatched_title", "ops.quarantine",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """The newest published version. Lists are in the order in which they are shown."""

    run: Row
    sources: Sequence[Row]
    workloads: Sequence[Row]
    value: Mapping[tuple[str, str], Sequence[Row]]
    prices: Sequence[Row]
    offers: Mapping[str, Sequence[Row]]
    left_out: Mapping[str, Sequence[Row]]
    daily: Mapping[str, Sequence[Row]]
    cloud: Sequence[Row]
    audit: Mapping[str, Sequence[Row]]
    audit_open: Sequence[Row]
    changes: Sequence[Row]
    held: Sequence[Row]
    unmatched: Sequence[Row]
    quarantine: Sequence[Row]
    tables: Mapping[str, Sequence[Row]] = field(repr=False)

    @property
    def as_of(self) -> datetime:
        """The time that the prices stand for."""
        time = self.run["as_of"]
        assert isinstance(time, datetime)
        return time

    @property
    def old_sources(self) -> frozenset[str]:
        """Sources whose numbers are older than they may be, or whose last attempt failed."""
        return frozenset(row["source"] for row in self.sources if row["is_old"])

    def pages(self) -> list[str]:
        """Hashes of all archived pages that a number of the report was read from, sorted."""
        groups = [self.prices, self.cloud, self.changes, self.held, self.quarantine, *self.value.values()]
        rows = (row for group in [*groups, *self.offers.values()] for row in group)
        return sorted({row[name] for row in rows for name in row if name.endswith("sha256") and row[name]})


def read_report(data: DataDir) -> Report:
    """The report of what is published now. Raises NoWarehouse or NotAWarehouse, or WarehouseError for an old version."""
    with reader(data) as con:
        try:
            return _report_of(con)
        except duckdb.CatalogException as error:
            reason = str(error).splitlines()[0]
            raise WarehouseError(
                f"{data.published} lacks what a report needs ({reason}): run `gpuledger rebuild`"
            ) from None


def _report_of(con: duckdb.DuckDBPyConnection) -> Report:
    run = _rows(con, "run")
    if not run:
        raise WarehouseError("no run of this warehouse was published, so there is nothing to report")
    now = {"as_of": run[0]["as_of"]}
    return Report(
        run=run[0],
        sources=_rows(con, "sources"),
        workloads=_rows(con, "workloads"),
        value=_by(_rows(con, "value"), "workload_id", "price_basis"),
        prices=_rows(con, "prices"),
        offers=_by_one(_rows(con, "offers", {"most": MOST_OFFERS}), "gpu_id"),
        left_out=_by_one(_rows(con, "left_out"), "gpu_id"),
        daily=_by_one(_rows(con, "daily", now), "gpu_id"),
        cloud=_rows(con, "cloud"),
        audit=_by_one(_rows(con, "audit"), "document"),
        audit_open=_rows(con, "audit_open", {"most": MOST}),
        changes=_rows(con, "changes", {**now, "most": MOST}),
        held=_rows(con, "held"),
        unmatched=_rows(con, "unmatched", {"most": MOST}),
        quarantine=_rows(con, "quarantine"),
        tables=_by_one(_rows(con, "tables", {"tables": list(TABLES)}), "name"),
    )


def _rows(con: duckdb.DuckDBPyConnection, name: str, parameters: dict[str, object] | None = None) -> list[Row]:
    result = con.execute((_SQL / f"{name}.sql").read_text(encoding="utf-8"), parameters)
    columns = [column[0] for column in result.description or []]
    return [dict(zip(columns, row, strict=True)) for row in result.fetchall()]


def _by(rows: Sequence[Row], *names: str) -> dict[Any, list[Row]]:
    """Rows by their values in the columns `names`, in their order."""
    grouped: dict[Any, list[Row]] = {}
    for row in rows:
        grouped.setdefault(tuple(row[name] for name in names), []).append(row)
    return grouped


def _by_one(rows: Sequence[Row], name: str) -> dict[str, list[Row]]:
    return {key: group for (key,), group in _by(rows, name).items()}


def by_model(cloud: Sequence[Row]) -> Iterator[tuple[Row, Mapping[str, Row]]]:
    """The cheapest offers of each GPU: one of its rows, and all of them by pricing model."""
    for group in _by(cloud, "gpu_id", "gpu").values():
        yield group[0], {row["pricing_model"]: row for row in group}
