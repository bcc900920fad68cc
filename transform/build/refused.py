"""Removes from a built table the rows that its contract refuses, and records them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import duckdb

from gpuledger.transform.build.graph import Model
from gpuledger.warehouse import schema
from gpuledger.warehouse.load.stage import append, stage
from gpuledger.warehouse.outputs.answer import cell, flat


def take_out(
    con: duckdb.DuckDBPyConnection,
    model: Model,
    table: Mapping[str, Sequence[Any]],
    refused: Mapping[int, str],
    run_id: str,
) -> None:
    """Remove the refused rows from the table of `model`, and write them to ops.refused_row with their reasons.

    `table` has all rows of the table, by column. `refused` has the reasons by the position of the row.
    """
    keys = [[table[name][row] for name in model.key] for row in refused]
    # By key and not by row id: DuckDB 2.0 crashes on row ids if the same transaction wrote the table and deletes from it.
    stage(con, "refused_key", model.key, keys, dict(schema.columns(con, model.name)))
    same = " AND ".join(f't."{name}" IS NOT DISTINCT FROM r."{name}"' for name in model.key)
    con.execute(f"DELETE FROM {model.name} t USING refused_key r WHERE {same}")
    append(con, "ops.refused_row", [
        (run_id, model.name, " ".join(map(str, key)), reason,
         json.dumps({name: cell(flat(values[row])) for name, values in table.items()}, ensure_ascii=False))
        for key, (row, reason) in zip(keys, refused.items(), strict=True)
    ])  # fmt: skip
