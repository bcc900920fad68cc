"""Builds the models whose inputs changed. A table that comes out with the same rows does not cause further builds.

A model's fingerprint covers its own text and the *content* of its inputs, not their time. Suppose that only a price which is
not the best price changed. Then the table that reads all prices is rebuilt, has the same rows, and nothing else is built.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass
from functools import cache, partial
from typing import NamedTuple

import duckdb

from gpuledger.transform.build.graph import Model
from gpuledger.warehouse import schema, table_content
from gpuledger.warehouse.dictionary import dictionary
from gpuledger.warehouse.load.stage import append


@dataclass(frozen=True, slots=True)
class Build:
    """The action for one model, and the reason."""

    model: str
    action: str
    reason: str
    fingerprint: str
    content: str
    rows: int
    seconds: float


def refresh_contents(con: duckdb.DuckDBPyConnection, changed: Collection[str]) -> None:
    """Compute the fingerprints of the loaded tables in `changed`, and of those that have none yet. Histories have none."""
    known = table_content.every(con)
    loaded = [t.name for t in dictionary().tables.values() if not t.name.startswith("ops.") and not t.is_history]
    stale = [table for table in loaded if table not in known or table in changed]
    table_content.put(con, {table: schema.content(con, table) for table in stale})


class _InputState(NamedTuple):
    """Fingerprints of one input: of the whole table, and of the columns that the model mentions."""

    whole: str
    columns: str


class _State(NamedTuple):
    """The state of a model and its inputs at its last build."""

    definition: str
    inputs: Mapping[str, _InputState]
    fingerprint: str
    content: str
    rows: int


def build(
    con: duckdb.DuckDBPyConnection,
    models: Iterable[Model],
    run_id: str,
    *,
    force: bool = False,
    refuse: Callable[[Model], None] = lambda model: None,
) -> list[Build]:
    """Build those of `models` that changed, in their order, and write `ops.model_build`. With `force`, build all of them.

    `refuse` is called with each model whose table was built, before another table is built from it. It may remove rows.
    """
    states = _states(con)
    contents = table_content.every(con) | {name: state.content for name, state in states.items()}

    def is_view(name: str) -> bool:  # or a macro: its rows are computed at every read
        return name in states and states[name].rows < 0

    # A table is built before other models read it and does not change afterwards, so its columns can be cached.
    columns_of = cache(lambda table: schema.columns(con, table))

    def content_of(table: str, names: Collection[str]) -> str:
        return schema.content(con, table, [column for column in columns_of(table) if column[0] in names])

    done: list[Build] = []
    for model in models:
        before = states.get(model.name)
        inputs = {
            name: _input_state(
                contents.get(name, ""),
                before.inputs.get(name) if before else None,
                None if columns is None or is_view(name) else partial(content_of, name, columns),
            )
            for name, columns in sorted(model.inputs.items())
        }
        fingerprint = schema.hash_text(
            model.version + json.dumps([(name, state.columns) for name, state in inputs.items()])
        )
        if before and before.fingerprint == fingerprint and not force:
            step = Build(model.name, "kept", "no input changed", fingerprint, before.content, before.rows, 0.0)
        elif before and model.materialized != "table" and before.definition == model.version and not force:
            reason = f"a {model.materialized} follows its inputs"
            step = Build(model.name, "kept", reason, fingerprint, fingerprint, before.rows, 0.0)
        else:
            started = time.perf_counter()
            content, rows = _materialize(con, model, fingerprint, refuse)
            reason = _reason(model, before, inputs)
            if before and before.content == content:
                reason += "; its rows came out the same, so nothing is rebuilt for it"
            step = Build(model.name, "rebuilt", reason, fingerprint, content, rows, time.perf_counter() - started)
        states[model.name] = _State(model.version, inputs, fingerprint, step.content, step.rows)
        contents[model.name] = step.content
        done.append(step)
    _record(con, run_id, done, states)
    return done


def drop_retired(con: duckdb.DuckDBPyConnection, models: Iterable[Model]) -> None:
    """Drop tables, views and macros that earlier versions of the program built and this version does not.

    Nobody would update them, so they would answer with old numbers. `models` are all models that this version builds.
    """
    for name in sorted(_states(con).keys() - {model.name for model in models}):
        kinds = con.execute(
            """SELECT 'TABLE' FROM duckdb_tables() WHERE schema_name || '.' || table_name = $name
               UNION ALL SELECT 'VIEW' FROM duckdb_views() WHERE schema_name || '.' || view_name = $name
               UNION ALL SELECT DISTINCT if(function_type = 'macro', 'MACRO', 'MACRO TABLE') FROM duckdb_functions()
                   WHERE schema_name || '.' || function_name = $name AND function_type LIKE '%macro'""",
            {"name": name},
        ).fetchall()
        for (kind,) in kinds:
            con.execute(f"DROP {kind} {name}")
        con.execute("DELETE FROM ops.model_state WHERE model = ?", [name])


def _states(con: duckdb.DuckDBPyConnection) -> dict[str, _State]:
    return {
        model: _State(definition, {name: _InputState(*state) for name, state in json.loads(inputs).items()}, *rest)
        for model, definition, inputs, *rest in con.execute("FROM ops.model_state").fetchall()
    }


def _input_state(whole: str, before: _InputState | None, of_columns: Callable[[], str] | None) -> _InputState:
    """The state of an input table whose content is `whole`. `of_columns` computes the content of the columns that are read.

    It is called only if the whole table changed. It is None for a view, and for a model that may read every column.
    """
    if of_columns is None or not whole:
        return _InputState(whole, whole)
    if before and before.whole == whole:
        return before
    return _InputState(whole, of_columns())


def _reason(model: Model, before: _State | None, inputs: Mapping[str, _InputState]) -> str:
    if before is None:
        return "first build"
    if before.definition != model.version:
        return "its definition changed"
    changed = [
        name
        for name, state in inputs.items()
        if name not in before.inputs or before.inputs[name].columns != state.columns
    ]
    return f"{', '.join(changed)} changed" if changed else "a full build was asked for"


def _record(con: duckdb.DuckDBPyConnection, run_id: str, done: Sequence[Build], states: Mapping[str, _State]) -> None:
    append(con, "ops.model_build", [(run_id, *astuple(build)) for build in done])
    con.execute("DELETE FROM ops.model_state WHERE list_contains(?, model)", [[b.model for b in done]])
    built = [(b.model, states[b.model]) for b in done]
    append(con, "ops.model_state", [(name, s.definition, json.dumps(s.inputs), *s[2:]) for name, s in built])


def _materialize(
    con: duckdb.DuckDBPyConnection, model: Model, fingerprint: str, refuse: Callable[[Model], None]
) -> tuple[str, int]:
    """Create the table, view or macro with its comments; returns the fingerprint of its content and its number of rows.

    The number of rows is -1 for a view or macro.
    """
    if model.materialized == "macro":
        _create_macro(con, model)
        return fingerprint, -1
    if model.materialized == "function":
        con.execute(f"CREATE OR REPLACE MACRO {model.name}({', '.join(_parameters(model))}) AS ({model.sql})")
        schema.comment(con, "MACRO", model.name, model.description, {})
        return fingerprint, -1
    if model.materialized == "view":
        con.execute(f"CREATE OR REPLACE VIEW {model.name} AS {model.sql}")
    elif model.build is not None:
        import pandas  # noqa: F401 - if it is missing, this import names pandas; DuckDB's own error would name NumPy

        frames = {}
        for name, read in sorted(model.inputs.items()):
            # It gets no other columns than it names, so no unnamed one can change its answer unnoticed.
            listed = "*" if read is None else ", ".join(f'"{column}"' for column in sorted(read))
            frames[name] = con.execute(f"SELECT {listed} FROM {name}").df()
        con.register("built_frame", model.build(frames))
        con.execute(f"CREATE OR REPLACE TABLE {model.name} AS SELECT * FROM built_frame")
        con.unregister("built_frame")
    else:
        con.execute(f"CREATE OR REPLACE TABLE {model.name} AS {model.sql}")
    columns = schema.columns(con, model.name)
    comments = describe_columns(model, (name for name, _ in columns))
    schema.comment(con, model.materialized.upper(), model.name, model.description, comments)
    if model.materialized == "view":
        # Its rows follow from its inputs at every read, so the fingerprint of its inputs stands for its content.
        return fingerprint, -1
    refuse(model)
    content = schema.content(con, model.name, columns)
    return content, int(content.partition(":")[0])


def _create_macro(con: duckdb.DuckDBPyConnection, model: Model) -> None:
    """Create a table macro. Its comment also describes the parameters, because DuckDB has no comments for parameters."""
    names = _parameters(model)
    con.execute(f"CREATE OR REPLACE MACRO {model.name}({', '.join(names)}) AS TABLE {model.sql}")
    # DuckDB checks the names in a macro only when it is called. This call with NULLs finds a wrong name before a user does.
    nulls = ", ".join("NULL" for _ in names)
    columns = con.execute(f"DESCRIBE SELECT * FROM {model.name}({nulls})").fetchall()
    describe_columns(model, [row[0] for row in columns])
    parameters = "; ".join(f"{name}: {p.meaning}" for name, p in model.parameters.items())
    schema.comment(con, "MACRO TABLE", model.name, f"{model.description}. Parameters: {parameters}", {})


def _parameters(model: Model) -> list[str]:
    """The declarations of a macro's parameters. Names are in quotes, because `precision` is a keyword in DuckDB 1.5."""
    return [f'"{name}"' if p.default is None else f'"{name}" := {p.default}' for name, p in model.parameters.items()]


def describe_columns(model: Model, actual: Iterable[str]) -> dict[str, str]:
    """The comment of each column, from the sidecar or else from the dictionary. Raises KeyError if neither has one."""
    columns = dictionary().columns
    comments = {}
    for name in actual:
        if name in model.columns:
            comments[name] = model.columns[name]
        elif name in columns:
            comments[name] = columns[name].comment
        elif pattern := next((p for p in model.columns if p.startswith("*") and name.endswith(p[1:])), None):
            comments[name] = model.columns[pattern]
        else:
            raise KeyError(f"column {name} of {model.name} is described neither in its sidecar nor in the dictionary")
    return comments
