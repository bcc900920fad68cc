"""Bring the seeded tables in line with the project's data. A table whose rows are the same is not touched."""

from __future__ import annotations

import csv
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import duckdb

from transform.identity import catalogue
from transform.identity.resolver import Resolver
from warehouse.dictionary import dictionary
from warehouse.load.stage import Value, stage
from warehouse.schema import content, hash_text

_HERE = Path(__file__).parent


def load(
    con: duckdb.DuckDBPyConnection,
    resolver: Callable[[], Resolver],
    settings: Mapping[str, tuple[str, str | None, str]],
    version: str,
) -> list[str]:
    """Fill core.gpu, core.workload, core.setting and core.published_claim; returns the tables that changed.

    `settings` are value, unit and description by name; `version` is the catalogue's, so that three thousand rows are only
    compared where it moved.
    """
    changed = []
    last = con.execute("SELECT content FROM ops.table_content WHERE table_id = 'seed:core.gpu'").fetchone()
    if last is None or last[0] != version:
        changed += _replace(con, "core.gpu", list(_gpus()))
        con.execute("DELETE FROM ops.table_content WHERE table_id = 'seed:core.gpu'")
        con.execute("INSERT INTO ops.table_content VALUES ('seed:core.gpu', ?)", [version])
        changed += _replace(con, "core.published_claim", list(_survey_claims(resolver())))
    changed += _replace(con, "core.workload", list(_workloads()))
    changed += _replace(con, "core.setting", [(name, *words) for name, words in sorted(settings.items())])
    return changed


def _replace(con: duckdb.DuckDBPyConnection, table: str, rows: Sequence[Sequence[Value]]) -> list[str]:
    stage(con, "seed", [column.name for column in dictionary().tables[table].columns], rows)
    if content(con, "seed") == content(con, table):
        return []
    con.execute(f"DELETE FROM {table}")
    con.execute(f"INSERT INTO {table} SELECT * FROM seed")
    return [table]


def _gpus() -> Iterator[Sequence[Value]]:
    columns = [column.name for column in dictionary().tables["core.gpu"].columns]
    for gpu in catalogue.gpus():
        yield [gpu.display_name if name == "gpu" else getattr(gpu, name) for name in columns]


def _workloads() -> Iterator[Sequence[Value]]:
    document = tomllib.loads((_HERE / "workloads.toml").read_text(encoding="utf-8"))
    for workload_id, words in document.items():
        yield workload_id, words["workload"], words["unit"], words["description"]


def _survey_claims(resolver: Resolver) -> Iterator[Sequence[Value]]:
    """The derived cells of the survey's tables, as printed. A claim's id says table, measure, workload and GPU."""
    with (_HERE / "survey_claims.csv").open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines):
            found = resolver.resolve(row["gpu_name"], source="toms_ai_articles")
            words = "score per launch dollar" if row["measure"] == "score_per_usd" else "score relative to the RTX 3060"
            claim = f"{row['place']}/{row['workload_id']}/{row['measure']}/{row['gpu_name'].lower().replace(' ', '-')}"
            place = row["place"].replace("-", " ").capitalize()
            statement = f"{place}: {words} of {row['gpu_name']} in {row['workload_id']}"
            yield (
                "survey", claim, statement, row["workload_id"], row["gpu_name"], found.gpu_id, row["measure"],
                row["published"], row["decimals"],
            )  # fmt: skip


def version_of(*folders: Path) -> str:
    """Fingerprint of all files below the folders: code and data of the catalogue and the rules."""
    kinds = {".py", ".toml", ".csv", ".gz"}
    files = sorted(path for folder in folders for path in folder.rglob("*") if path.suffix in kinds)
    return hash_text("".join(hash_text(path.read_bytes().hex()) for path in files))
