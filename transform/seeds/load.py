"""Bring the seeded tables in line with the project's data. A table whose rows are the same is not touched."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import duckdb

from gpuledger.transform import claims as claim_files
from gpuledger.transform.assumptions import Assumptions
from gpuledger.transform.buying.costs import electricity_prices
from gpuledger.transform.claims import ai_computing, published_methods, recompute
from gpuledger.transform.claims.audit import load as claim_file
from gpuledger.transform.identity import catalogue
from gpuledger.transform.identity.resolver import Resolver
from gpuledger.transform.seeds import claims, counted
from gpuledger.transform.seeds.version import version_of
from gpuledger.transform.sizing import own as own_models
from gpuledger.transform.sizing.own import OwnModel
from gpuledger.warehouse.dictionary import dictionary
from gpuledger.warehouse.load.stage import Value, stage
from gpuledger.warehouse.schema import content, hash_text

_HERE = Path(__file__).parent
_SIZING, _CLAIMS = Path(own_models.__file__).parent, Path(claim_files.__file__).parent
_METHODS = Path(published_methods.__file__)


def load(
    con: duckdb.DuckDBPyConnection,
    resolver: Callable[[], Resolver],
    settings: Mapping[str, tuple[str, str | None, str]],
    version: str,
    assumptions: Assumptions,
    own: Sequence[OwnModel] = (),
) -> list[str]:
    """Fill the tables of what is known without reading any source; returns those that changed.

    `settings` are value, unit and description by name; `version` is the catalogue's, so that three thousand rows are only
    compared where it moved. `own` are the models that the user added.
    """
    changed = []
    if _moved(con, "core.gpu", version):
        changed += _replace(con, "core.gpu", list(_gpus()))
    sizing = version_of(_SIZING, _CLAIMS, _METHODS)
    if _moved(con, "core.published_claim", version + sizing):
        documents = recompute()
        changed += _replace(con, "core.published_claim", list(claims.published(resolver(), documents)))
        changed += _replace(con, "core.recomputed_figure", list(claims.recomputed(documents)))
        changed += _replace(con, "core.supercomputer", list(_supercomputers()))
    added = json.dumps([(model.model_id, str(model.added_on), dict(model.config)) for model in own], sort_keys=True)
    if _moved(con, "core.model", sizing + hash_text(added)):
        rows = counted.rows(own)
        changed += _replace(con, "core.model", rows.model)
        changed += _replace(con, "core.model_weights", rows.weights)
        changed += _replace(con, "core.model_cache", rows.cache)
    changed += _replace(con, "core.workload", list(_workloads()))
    changed += _replace(con, "core.setting", [(name, *words) for name, words in sorted(settings.items())])
    changed += _replace(con, "core.assumption", list(_assumptions(assumptions)))
    changed += _replace(con, "core.electricity_price", list(_electricity()))
    return changed


def _moved(con: duckdb.DuckDBPyConnection, table: str, version: str) -> bool:
    """Whether the project's data behind `table` is another than last time; remembers it."""
    seed = f"seed:{table}"
    last = con.execute("SELECT content FROM ops.table_content WHERE table_id = ?", [seed]).fetchone()
    if last is not None and last[0] == version:
        return False
    con.execute("DELETE FROM ops.table_content WHERE table_id = ?", [seed])
    con.execute("INSERT INTO ops.table_content VALUES (?, ?)", [seed, version])
    return True


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


def workload_units() -> dict[str, str]:
    """The unit of every workload that is known, by its id."""
    return {workload_id: words["unit"] for workload_id, words in _workload_words().items()}


def _workload_words() -> dict[str, dict[str, Any]]:
    return tomllib.loads((_HERE / "workloads.toml").read_text(encoding="utf-8"))


def _workloads() -> Iterator[Sequence[Value]]:
    for workload_id, words in _workload_words().items():
        yield (
            workload_id, words["workload"], words["unit"], words["description"], words.get("output"),
            words.get("iterations"), words.get("model"), words.get("precision"),
        )  # fmt: skip


def _assumptions(assumptions: Assumptions) -> Iterator[Sequence[Value]]:
    for one in assumptions.describe():
        about = one.setting
        yield one.name, one.value, about.unit, one.default, about.low, about.high, about.meaning, about.source


def _electricity() -> Iterator[Sequence[Value]]:
    for country, words in electricity_prices().items():
        yield country, words.price, words.currency, words.period, words.source


def _supercomputers() -> Iterator[Sequence[Value]]:
    inputs = claim_file("ai_computing")["inputs"]
    for printed, row in zip(inputs["top500"], ai_computing.top500(inputs), strict=True):
        yield (
            row.system, row.cores, printed["rmax_pflops"], printed["rpeak_pflops"], printed.get("power_kw"),
            float(row.efficiency), None if row.pflops_per_mw is None else float(row.pflops_per_mw),
        )  # fmt: skip
