"""Rows of a built table that its contract refuses: taken out of it, and put on record."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import duckdb

from gpuledger.transform.build.graph import Model
from gpuledger.warehouse import schema
from gpuledger.warehouse.load.stage import append, stage
from gpuledger.warehouse.outputs.cells import cell, flat


def take_out(
    con: duckdb.DuckDBPyConnection,
    model: Model,
    table: Mapping[str, Sequence[Any]],
    refused: Mapping[int, str],
    run_id: str,
) -> None:
    """Take the rows at the positions of `refused` out of the table of `model`, and write them into ops.refused_row with the
    reason of each. `table` has the rows by column.
    """
    keys = [[table[name][row] for name in model.key] for row in refused]
    # By key and not by row id: DuckDB 2.0 crashes on row ids of a table that the open transaction wrote and deletes from.
    stage(con, "refused_key", model.key, keys, dict(schema.columns(con, model.name)))
    same = " AND ".join(f't."{name}" IS NOT DISTINCT FROM r."{name}"' for name in model.key)
    con.execute(f"DELETE FROM {model.name} t USING refused_key r WHERE {same}")
    append(con, "ops.refused_row", [
        (run_id, model.name, " ".join(map(str, key)), reason,
         json.dumps({name: cell(flat(values[row])) for name, values in table.items()}, ensure_ascii=False))
        for key, (row, reason) in zip(keys, refused.items(), strict=True)
    ])  # fmt: skip
