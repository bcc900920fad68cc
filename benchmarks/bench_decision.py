"""The decision layer on the bundled sample: how fast it answers, and what the fit of everything would cost as a table."""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from datetime import date
from pathlib import Path

import duckdb

from gpuledger import local_files
from gpuledger.transform.identity.catalogue import gpus
from gpuledger.transform.sizing import catalogue
from gpuledger.transform.sizing.added_models import MODELS as MODELS_ADDED
from gpuledger.warehouse.paths import DataDir
from gpuledger.warehouse.read import query

ROOT = Path(__file__).parents[1]
TIMES = 7
#: What a company might keep.
OFFERS, MODELS = 2000, 300

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
        found = [*_answers(data), *_fit(data, Path(folder) / "table.duckdb"), _builds(data), _audit(data)]
        return [*found, *_large(data)]


def _command(*words: str, data: Path, statuses: tuple[int, ...] = (0,)) -> float:
    """Seconds of one command in a process of its own."""
    started = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", "gpuledger.flows.cli", *words, "--data-dir", str(data)],
        cwd=ROOT, check=False, stdout=subprocess.DEVNULL,
    )  # fmt: skip
    if done.returncode not in statuses:
        raise RuntimeError(f"gpuledger {' '.join(words)} ended with status {done.returncode}")
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


def _large(data: DataDir) -> list[Row]:
    """`buy` where a company keeps 2,000 quotes and 300 models: the folders that a user fills, and the same commands."""
    catalogued, added = len(catalogue.models()), 0
    models: list[dict[str, object]] = []
    shape = dict(catalogue.get("llama-3.1-8b").config)
    while catalogued + added < MODELS:
        added += 1
        config = {**shape, "num_hidden_layers": 20 + added % 20}
        models.append({"model_id": f"tuned-{added}", "added_on": date(2026, 1, 1), "config": config})
    tables = [local_files.toml_table("[[model]]", model) for model in models]
    local_files.write_text(MODELS_ADDED.file(data.root), "\n".join(tables))
    sold = [
        gpu for gpu in gpus() if (gpu.memory_gb or 0) >= 8 and gpu.segment in ("consumer", "workstation", "data_center")
    ]
    lines = ["Product Name,Part No.,Unit Price (USD),Condition,Qty,Supplier"]
    for number in range(OFFERS):
        gpu = sold[number % len(sold)]
        name = f"{gpu.display_name} {gpu.memory_gb:g}GB" if "GB" not in gpu.name else gpu.display_name
        condition = "New" if number < OFFERS / 2 else "Used"
        lines.append(f"{name} graphics card,Q-{number},{500 + number}.00,{condition},1,Kettle Parts")
    data.inbox.mkdir(exist_ok=True)
    (data.inbox / "quotes.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    _command("refresh", "--sample", "--night", "2", "--engine", "plain", "--quiet", data=data.root, statuses=(0, 3))
    _, found = query(
        data,
        """SELECT (SELECT count(*) FROM core.offer), (SELECT count(*) FROM core.model WHERE model_kind <> 'diffusion'),
               (SELECT count(DISTINCT gpu_id) FROM core.best_offer)""",
    )
    offers, models, cards = found[0]
    what = f"the same of {offers:,} offers of {cards} cards and {models} models, {{}}, median of {TIMES}"
    rows: list[Row] = []
    for words, how in (
        (("--model", "llama-2-13b"), "new cards"),
        (("--model", "tuned-7", "--condition", "any", "--users", "8"), "conditions, a model of one's own"),
    ):
        seconds = sorted(_command("buy", *words, data=data.root) for _ in range(TIMES))
        middle = statistics.median(seconds)
        rows.append((what.format(how), f"{middle:.2f} s (best {seconds[0]:.2f})", "0.6 s", middle < 0.6))
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
           WHERE model IN ('mart.rent_vs_buy', 'mart.output_cost', 'mart.marginal_value', 'mart.resale')""",
    )
    seconds, count = rows[0]
    return (
        f"rent or buy, cost of output, marginal value, resale: {count:,} rows",
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
