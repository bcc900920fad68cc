"""The rows of a publication: what the files say now, what a warehouse says otherwise, and how it gets into another one.

A file holds what became known on its day: rows that are new, rows that go on (their times moved), rows that were corrected,
and the keys of rows that were withdrawn. The newest row of a key counts. So a closed month stays byte for byte as it was,
whatever is corrected later. The first files of a month carry what its answers need: what holds still, and the
four weeks before. So a month answers for its days alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime
from pathlib import Path

import duckdb

from gpuledger.warehouse.paths import DataDir
from gpuledger.warehouse.published import manifest as manifests
from gpuledger.warehouse.published.manifest import File, Untrusted
from gpuledger.warehouse.published.tables import CLEARED, MACRO, TABLES, Table
from gpuledger.warehouse.read import query
from gpuledger.warehouse.schema import columns, quote

#: Columns that every file has beside those of its rows.
_ABOUT = ("ledger_day", "ledger_edition", "ledger_entry", "ledger_changed", "ledger_why")
#: Columns that move while a fact holds, without a correction.
_TIMES = {
    "valid_to", "confirmed_until", "ended_at", "last_attempt_at", "last_success_at", "status", "rows", "times_held",
    "finished_at",
}  # fmt: skip
_CARD = {
    "gpu_id", "gpu_count", "match_status", "match_rule", "match_version", "product_kind", "contained_gpu_id", "contents",
}  # fmt: skip
#: The first publication has a file a month for so many months; what is older is in the first of them.
_MONTHS = 36


def files_of(table: Table, names: Iterable[str]) -> list[str]:
    """The files of one kind of fact among `names`."""
    return sorted(name for name in names if name.rpartition(".")[0].rstrip("-0123456789") == table.name)


def changes(
    con: duckdb.DuckDBPyConnection,
    folder: Path,
    edition: tuple[date, int],
    names: Sequence[str],
    parameters: Mapping[str, object],
) -> list[File]:
    """Write what the warehouse says otherwise than the files `names` in `folder`, as files of that edition of a day.

    Of the `parameters`, `sources` are those that may be published, `version` is that of the catalogue, and `workloads` are
    those that come with the program. Months that are over become one file each.
    """
    sources = {"sources": parameters["sources"]}
    con.execute("CREATE OR REPLACE TEMP TABLE publishable AS SELECT unnest($sources::VARCHAR[]) AS source", sources)
    written = []
    day, today = edition[0], manifests.period(*edition)
    con.execute(MACRO)
    is_new_month = not of_month(names, day)
    for table in TABLES:
        before = files_of(table, names)
        used = {name: value for name, value in parameters.items() if f"${name}" in table.rows}
        con.execute(f"CREATE OR REPLACE TEMP TABLE said AS FROM ({table.rows})", used)
        con.execute(f"CREATE OR REPLACE TEMP TABLE was AS {_state(table, folder, before) or 'FROM said LIMIT 0'}")
        con.execute(f"CREATE OR REPLACE TEMP TABLE news AS {_news(con, table, edition, is_new_month)}")
        month = "NULL" if before or table.dated is None else (
            f"CASE WHEN {table.dated} < date_trunc('month', DATE '{day}') AND NOT ({_now(table, day)}) THEN strftime("
            f"greatest({table.dated}::TIMESTAMP, date_trunc('month', DATE '{day}') - INTERVAL {_MONTHS} MONTH), '%Y-%m') END"
        )  # fmt: skip
        for (period,) in con.execute(f"SELECT DISTINCT coalesce({month}, '{today}') FROM news ORDER BY 1").fetchall():
            rows = f"FROM news WHERE coalesce({month}, '{today}') = '{period}'"
            written.append(_write(con, folder, table, period, rows))
        for period, closed in _over(table, before, day).items():
            written.append(_write(con, folder, table, period, f"FROM {_read(folder, closed)}"))
    return written


def of_month(names: Iterable[str], day: date) -> list[str]:
    """The files among `names` that are of the month of `day`."""
    return [name for name in names if name.partition("-")[2].startswith(f"{day:%Y-%m}")]


def _now(table: Table, day: date) -> str:
    return table.now.replace("{day}", str(day))


def _over(table: Table, names: Iterable[str], day: date) -> dict[str, list[str]]:
    """The files of single days of months that are over, by month."""
    months: dict[str, list[str]] = {}
    for name in names:
        period = name.removeprefix(f"{table.name}-").removesuffix(".parquet")
        month = period[:7]
        if period != month < f"{day:%Y-%m}":
            months.setdefault(month, []).append(name)
    return months


def _read(folder: Path, names: Iterable[str]) -> str:
    listed = ", ".join(quote(str(folder / name)) for name in names)
    return f"read_parquet([{listed}], union_by_name = true)"


def _state(table: Table, folder: Path, names: Sequence[str]) -> str:
    """The SELECT of what the files say: the newest row of each key. Empty if there is no file."""
    if not names:
        return ""
    return f"""SELECT * EXCLUDE ({", ".join(_ABOUT)}) FROM {_read(folder, names)}
        QUALIFY row_number() OVER (PARTITION BY {", ".join(table.key)} ORDER BY ledger_day DESC, ledger_edition DESC) = 1
            AND ledger_entry <> 'withdrawn'"""


def _news(con: duckdb.DuckDBPyConnection, table: Table, edition: tuple[date, int], is_new_month: bool) -> str:
    """The SELECT of the rows in which `said` differs from `was`, and in a new month of those that hold still, each with what
    changed, when and why.
    """
    when = "DATE '{}' AS ledger_day, {} AS ledger_edition".format(*edition)
    now, old = columns(con, "said"), {name for name, _ in columns(con, "was")}
    same = " AND ".join(f"n.{column} IS NOT DISTINCT FROM w.{column}" for column in table.key)
    others = [column for column, _ in now if column not in table.key]
    differs = {c: f"n.{c} IS DISTINCT FROM {f'w.{c}' if c in old else 'NULL'}" for c in others}
    any_differs = " OR ".join(differs.values()) or "false"
    lasting = " OR ".join(sql for c, sql in differs.items() if c not in _TIMES) or "false"
    beyond = " OR ".join(sql for c, sql in differs.items() if c not in _TIMES | _CARD) or "false"
    told = ", ".join(
        f"CASE WHEN {sql} THEN '{c}: ' || coalesce({f'w.{c}' if c in old else 'NULL'}::VARCHAR, 'none') || ' → '"
        f" || coalesce(n.{c}::VARCHAR, 'none') END"
        for c, sql in differs.items()
    )
    by_hand = "false"
    if "listing_id" in table.key:
        by_hand = """EXISTS (FROM core.correction c WHERE n.listing_id = c.source || ':' || c.correction_key)"""
    left = "NULL"
    if any(name == "source" for name, _ in now):
        left = "CASE WHEN w.source NOT IN (FROM publishable) THEN 'its source may not be published any more' END"
    kept = ", ".join(f"w.{c} AS {c}" for c in table.key)
    return f"""
        SELECT n.* EXCLUDE (holds), {when},
            CASE WHEN w.was_there IS NULL THEN 'new' WHEN {lasting} THEN 'corrected' WHEN {any_differs} THEN 'updated'
                ELSE 'carried' END AS ledger_entry,
            CASE WHEN w.was_there AND ({any_differs}) THEN concat_ws('; ', {told or "NULL"}) END AS ledger_changed,
            CASE WHEN w.was_there IS NULL THEN NULL WHEN NOT ({any_differs}) THEN 'answers of this month need it too'
                WHEN NOT ({lasting}) THEN 'it was seen again, or it ended'
                WHEN NOT ({beyond}) THEN 'its title is read as another product'
                WHEN {by_hand} THEN 'a person corrected what its source says'
                ELSE 'its source says otherwise now, or was read wrongly before' END AS ledger_why
        FROM (SELECT *, {is_new_month} AND ({_now(table, edition[0])}) AS holds FROM said) n
        LEFT JOIN (SELECT *, true AS was_there FROM was) w ON {same}
        WHERE w.was_there IS NULL OR n.holds OR {any_differs}
        UNION ALL BY NAME
        SELECT {kept}, {when}, 'withdrawn' AS ledger_entry, NULL AS ledger_changed,
            coalesce({left}, 'it is not in the ledger any more') AS ledger_why
        FROM was w WHERE NOT EXISTS (FROM said n WHERE {same})"""


def _write(con: duckdb.DuckDBPyConnection, folder: Path, table: Table, period: str, rows: str) -> File:
    name = f"{table.name}-{period}.parquet"
    part = folder / f"{name}.part"
    con.execute(
        f"CREATE OR REPLACE TEMP TABLE of_file AS {rows} ORDER BY ledger_day, ledger_edition, {', '.join(table.key)}"
    )
    con.execute(f"COPY of_file TO {quote(str(part))} (FORMAT parquet, COMPRESSION zstd)")
    part.replace(folder / name)
    has_source = any(column == "source" for column, _ in columns(con, "of_file"))
    source = "source" if has_source else "NULL"
    ((count, sources),) = con.execute(f"SELECT count(*), list_sort(list(DISTINCT {source})) FROM of_file").fetchall()
    content = (folder / name).read_bytes()
    return File(
        name=name, table=table.name, period=period, sha256=manifests.digest(content), bytes=len(content), rows=count,
        sources=[*filter(None, sources)],
    )  # fmt: skip


def has_aged(data: DataDir, now: datetime) -> bool:
    """Whether a source passed its limit since the warehouse was built, so that its prices have to be marked."""
    sql = """SELECT 1 FROM core.source_freshness f JOIN ops.source_state s USING (source)
             WHERE f.is_usable AND core.is_fresh(s.last_success_at, $now::TIMESTAMPTZ, s.freshness_hours) IS NOT TRUE
                 AND NOT (SELECT is_sample FROM ops.last_run)"""
    return bool(query(data, sql, {"now": now})[1])


def load(con: duckdb.DuckDBPyConnection, folder: Path, names: Sequence[str]) -> tuple[list[str], int | None]:
    """Put what the files say into the warehouse of an open transaction, in the place of what was published before.

    The rows of sources that the folder reads itself stay, and those that are published of them are left out. Returns these
    sources, and the night of the sample if that was published. Raises Untrusted for files that do not hold such rows.
    """
    con.execute("CREATE OR REPLACE TEMP TABLE own AS SELECT DISTINCT source FROM ops.source_run")
    for statement in CLEARED:
        con.execute(statement)
    both: set[str] = set()
    for table in TABLES:
        state = _state(table, folder, files_of(table, names))
        if not state:
            continue
        try:
            con.execute(f"CREATE OR REPLACE TEMP TABLE published AS {state}")
            if any(column == "source" for column, _ in columns(con, "published")):
                removed = con.execute("DELETE FROM published WHERE source IN (FROM own) RETURNING source").fetchall()
                both |= {source for (source,) in removed}
            for statement in table.into:
                con.execute(statement)
        except (duckdb.BinderException, duckdb.ConversionException, duckdb.InvalidInputException) as error:
            reason = str(error).splitlines()[0]
            raise Untrusted(f"the published files of {table.name} hold no such rows: {reason}") from None
    row = con.execute("SELECT max(sample_night) FROM ops.run WHERE engine = 'published'").fetchone()
    return sorted(both), row[0] if row else None
