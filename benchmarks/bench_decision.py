"""The decision layer on the bundled sample: how fast it answers, and what the fit of everything would cost as a table."""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import duckdb

from gpuledger.warehouse.paths import DataDir
from gpuledger.warehouse.read import query

ROOT = Path(__file__).parents[1]
TIMES = 7

Row = tuple[str, str, str] | tuple[str, str, str, bool]

#: 60 models, 4 precisions, 3 contexts, 4 counts, every card: what was asked for, of the view that has more of each.
_ASKED = """
    SELECT * FROM mart.model_fit f
    WHERE f.context_tokens IN (512, 2048, 8192) AND f.model_id IN (
        SELECT model_id FROM core.model WHERE model_kind = 'decoder' AND max_context_tokens >= 8192
        ORDER BY model_id LIMIT 60
    )
"""
_ONE = "SELECT count(*) FROM mart.model_fit WHERE model_id = 'llama-2-13b' AND precision = 'int4'"
_CHEAPEST = "FROM cheapest_fit('llama-2-13b', 'int4', 4096)"


def run() -> list[Row]:
    """What was measured, the measure, the bound asked for, and whether it is kept."""
    with tempfile.TemporaryDirectory() as folder:
        data = DataDir(Path(folder) / "data")
        _command("refresh", "--sample", "--night", "1", "--engine", "plain", "--quiet", data=data.root)
        return [*_answers(data), *_fit(data, Path(folder) / "table.duckdb"), _builds(data), _audit(data)]


def _command(*words: str, data: Path) -> float:
    """Seconds of one command in a process of its own."""
    started = time.perf_counter()
    subprocess.run(
        [sys.executable, "-m", "gpuledger.flows.cli", *words, "--data-dir", str(data)],
        cwd=ROOT, check=True, stdout=subprocess.DEVNULL,
    )  # fmt: skip
    return time.perf_counter() - started


def _answers(data: DataDir) -> list[Row]:
    rows: list[Row] = []
    for words in (
        ("buy", "--model", "llama-2-13b", "--min-tokens-per-s", "20", "--limit", "0"),
        ("size", "llama-2-13b"),
        ("audit", "--format", "csv"),
    ):
        seconds = sorted(_command(*words, data=data.root) for _ in range(TIMES))
        middle = statistics.median(seconds)
        what = f"gpuledger {words[0]}, start-up included, median of {TIMES}"
        if words[0] == "buy":
            rows.append((what, f"{middle:.2f} s (best {seconds[0]:.2f})", "0.5 s", middle < 0.5))
        else:
            rows.append((what, f"{middle:.2f} s (best {seconds[0]:.2f})", ""))
    return rows


def _fit(data: DataDir, table: Path) -> list[Row]:
    """The view beside the table that it replaces."""
    with duckdb.connect() as con:
        con.execute(f"ATTACH '{data.published.resolve()}' AS gpuledger (READ_ONLY); USE gpuledger")
        cards = con.execute("SELECT count(*) FROM core.gpu WHERE memory_gb > 0").fetchone()
        assert cards is not None
        whole, count = _time(con, f"SELECT count(*), sum(needed_gb), sum(expected_tokens_per_s) FROM ({_ASKED})")
        one, _ = _time(con, _ONE)
        cheapest, _ = _time(con, _CHEAPEST)
        con.execute(f"ATTACH '{table}' AS built")
        built, _ = _time(con, f"CREATE TABLE built.fit AS {_ASKED}")
        con.execute("DETACH built")
    size = table.stat().st_size / 1e6
    asked = f"60 models × {cards[0]:,} cards × 4 precisions × 3 contexts × 4 counts ({count:,} rows)"
    return [
        (f"mart.model_fit as a view, all of {asked}", f"{whole:.1f} s", "10 s", whole < 10),
        (
            "the same built as a table",
            f"{built:.1f} s and {size:,.0f} MB in every version of the file",
            "a view instead",
        ),
        ("mart.model_fit for one model and precision", f"{one * 1000:.0f} ms", ""),
        ("cheapest_fit(model, precision, context)", f"{cheapest * 1000:.0f} ms", ""),
    ]


def _time(con: duckdb.DuckDBPyConnection, sql: str) -> tuple[float, int]:
    """Seconds of a statement, and its first value."""
    started = time.perf_counter()
    row = con.execute(sql).fetchone()
    seconds = time.perf_counter() - started
    return seconds, row[0] if row and isinstance(row[0], int) else 0


def _builds(data: DataDir) -> Row:
    _, rows = query(
        data,
        """SELECT sum(seconds), sum(rows) FROM ops.model_build
           WHERE model IN ('mart.rent_vs_buy', 'mart.rent_vs_buy_sensitivity', 'mart.output_cost', 'mart.marginal_value',
               'mart.resale')""",
    )
    seconds, count = rows[0]
    return (
        f"rent or buy, its sensitivity, cost of output, marginal value, resale: {count:,} rows",
        f"{seconds:.2f} s",
        "",
    )


def _audit(data: DataDir) -> Row:
    _, rows = query(
        data,
        """SELECT count(*), count(*) FILTER (verdict = 'agrees'), count(*) FILTER (verdict = 'erratum'),
               count(*) FILTER (verdict = 'not verifiable'),
               count(*) FILTER (document = 'survey'), count(*) FILTER (document = 'survey' AND agrees)
           FROM mart.claim_audit""",
    )
    count, agree, errata, open_, cells, agreeing = rows[0]
    measured = f"{agree} agree, {errata} errata, {open_} not verifiable; {agreeing} of {cells} cells of the survey"
    kept = agree + errata + open_ == count and agreeing == cells == 97
    return (f"figures of the four documents, of {count}", measured, "each agrees or has its reason", kept)


if __name__ == "__main__":
    for row in run():
        print(" | ".join(map(str, row)))
