"""Updates the seeded tables from the project's data. A table with the same rows stays as it is.

On nearly every night nothing of it has changed. So each seed has a fingerprint, which is compared with the last one. The
code that makes the rows is imported only if they are made: the claims, the shapes of models and the calibration of speeds
are forty modules, a twentieth of a quiet night.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb

from gpuledger.transform.assumptions import Assumptions
from gpuledger.transform.buying.costs import electricity_prices
from gpuledger.transform.identity import catalogue
from gpuledger.transform.identity.added_cards import OwnGpu
from gpuledger.transform.identity.gpu import Gpu
from gpuledger.transform.seeds import markets
from gpuledger.transform.seeds.version import version_of
from gpuledger.transform.workloads import Workload, packaged
from gpuledger.warehouse import table_content
from gpuledger.warehouse.dictionary import dictionary
from gpuledger.warehouse.load.stage import Value, empty, stage
from gpuledger.warehouse.schema import content, hash_text

if TYPE_CHECKING:
    from gpuledger.transform.identity.resolver import Resolver
    from gpuledger.transform.sizing.added_models import OwnModel

_TRANSFORM = Path(__file__).parents[1]
_SIZING, _CLAIMS, _SPEED = _TRANSFORM / "sizing", _TRANSFORM / "claims", _TRANSFORM / "speed"


@dataclass(frozen=True, slots=True)
class OfUser:
    """What the user decides about the tables: settings, assumptions, and added models, workloads and cards."""

    #: Value, unit and description by name.
    settings: Mapping[str, tuple[str, str | None, str]]
    assumptions: Assumptions
    models: Sequence[OwnModel] = ()
    workloads: Sequence[Workload] = ()
    gpus: Sequence[OwnGpu] = ()


def load(
    con: duckdb.DuckDBPyConnection,
    resolver: Callable[[], Resolver],
    version: str,
    user: OfUser,
    day: date,
) -> list[str]:
    """Fill the tables that need no source; returns the names of those that changed.

    `version` is that of the catalogue, so that its three thousand rows are compared only if it changed. `day` is the run's.
    """
    known = table_content.every(con)
    moved: dict[str, str] = {}

    def has_moved(table: str, version: str) -> bool:
        """Whether the data behind `table` has another fingerprint than last time; the new one is then kept at the end."""
        seed = f"seed:{table}"
        if known.get(seed) == version:
            return False
        moved[seed] = version
        return True

    changed = []
    if has_moved("core.gpu", version):
        own = (_gpu(one.gpu, one.added_on, one.source) for one in user.gpus)
        changed += _replace(con, "core.gpu", [*map(_gpu, catalogue.gpus()), *own])
    if has_moved("core.gpu_speed", version + version_of(_SPEED)):
        from gpuledger.transform.seeds import speeds

        changed += _replace(
            con, "core.gpu_speed", list(speeds.rows([*catalogue.gpus(), *(own.gpu for own in user.gpus)]))
        )
    sizing = version_of(_SIZING, _CLAIMS)
    if has_moved("core.published_claim", version + sizing):
        from gpuledger.transform.claims import recompute
        from gpuledger.transform.seeds import claims

        documents = recompute()
        changed += _replace(con, "core.published_claim", list(claims.published(resolver(), documents)))
        changed += _replace(con, "core.recomputed_figure", list(claims.recomputed(documents)))
        changed += _replace(con, "core.supercomputer", list(_supercomputers()))
    added = json.dumps(
        [(model.model_id, str(model.added_on), dict(model.config)) for model in user.models], sort_keys=True
    )
    if has_moved("core.model", sizing + hash_text(added)):
        from gpuledger.transform.seeds import counted

        for table, of_models in counted.rows(user.models).items():
            changed += _replace(con, table, of_models)
    every_workload = [*packaged().values(), *user.workloads]
    few: dict[str, Sequence[Sequence[Value]]] = {
        "core.workload": list(_workloads(every_workload)),
        "core.setting": [(name, *columns) for name, columns in sorted(user.settings.items())],
        "core.assumption": list(assumption_rows(user.assumptions)),
        "core.electricity_price": [
            (name, one.price, one.currency, one.period, one.source) for name, one in electricity_prices().items()
        ],
        "core.tax_rate": markets.tax_rates(),
        "core.market": markets.markets(day),
    }
    for table, its_rows in few.items():
        # These few rows are made every night. To compare them in DuckDB took a fiftieth of a quiet night.
        if has_moved(table, hash_text(repr([tuple(row) for row in its_rows]))):
            changed += _replace(con, table, its_rows)
    table_content.put(con, moved)
    return changed


def try_rows(added: OwnModel | OwnGpu | Workload) -> None:
    """Make the rows of something that a person added, and put them into empty tables. Raises whatever goes wrong."""
    if isinstance(added, Workload):
        tables: dict[str, Sequence[Sequence[Value]]] = {"core.workload": list(_workloads([added]))}
    elif isinstance(added, OwnGpu):
        from gpuledger.transform.seeds import speeds

        row = _gpu(added.gpu, added.added_on, added.source)
        tables = {"core.gpu": [row], "core.gpu_speed": list(speeds.rows([added.gpu]))}
    else:
        from gpuledger.transform.seeds import models
        from gpuledger.transform.sizing import added_models

        added_models.check(added)
        tables = dict(models.with_own(models.no_rows(), [added]))
    with empty() as con:
        for table, rows in tables.items():
            _stage(con, table, rows)


def _stage(con: duckdb.DuckDBPyConnection, table: str, rows: Sequence[Sequence[Value]]) -> None:
    stage(con, "seed", [column.name for column in dictionary().tables[table].columns], rows)


def _replace(con: duckdb.DuckDBPyConnection, table: str, rows: Sequence[Sequence[Value]]) -> list[str]:
    _stage(con, table, rows)
    if content(con, "seed") == content(con, table):
        return []
    con.execute(f"DELETE FROM {table}")
    con.execute(f"INSERT INTO {table} SELECT * FROM seed")
    return [table]


def _gpu(gpu: Gpu, added_on: date | None = None, source: str | None = None) -> list[Value]:
    other: dict[str, Value] = {"gpu": gpu.display_name, "added_on": added_on, "figures_source": source}
    names = (column.name for column in dictionary().tables["core.gpu"].columns)
    return [other[name] if name in other else getattr(gpu, name) for name in names]


def _workloads(workloads: Iterable[Workload]) -> Iterator[Sequence[Value]]:
    for workload in workloads:
        yield (
            workload.workload_id, workload.workload, workload.unit, workload.direction, workload.description,
            workload.gpu_count, workload.output, workload.iterations, workload.model, workload.precision,
            workload.resolution, workload.software, workload.source,
        )  # fmt: skip


def assumption_rows(assumptions: Assumptions) -> Iterator[Sequence[Value]]:
    """The rows of core.assumption."""
    for described in assumptions.describe():
        about = described.setting
        yield (
            described.name,
            described.value,
            about.unit,
            described.default,
            about.low,
            about.high,
            about.meaning,
            about.source,
        )


def _supercomputers() -> Iterator[Sequence[Value]]:
    """LINPACK efficiency (Rmax / Rpeak) and PFlop/s for each megawatt of the five systems of the third source document.

    It does not print these two figures, only the columns from which they follow. So they are not claims.
    """
    from gpuledger.transform.claims.audit import load as claim_file

    for row in claim_file("ai_computing")["inputs"]["top500"]:
        reached, peak, power = Fraction(row["rmax_pflops"]), Fraction(row["rpeak_pflops"]), row.get("power_kw")
        yield (
            row["system"], row["cores"], row["rmax_pflops"], row["rpeak_pflops"], power, float(reached / peak),
            float(reached * 1000 / power) if power else None,
        )  # fmt: skip
