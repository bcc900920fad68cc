"""Build the models whose inputs changed, and stop where a rebuilt table comes out the same.

A model's fingerprint is its own text and the *content* of its inputs. Content, not time: a night on which a page moved a
price that is not the best price rebuilds the table that looks at all prices, finds the same rows, and goes no further.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import TYPE_CHECKING

import duckdb

from gpuledger.transform.build.graph import Model
from gpuledger.warehouse import schema
from gpuledger.warehouse.dictionary import dictionary
from gpuledger.warehouse.load.stage import append

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class Build:
    """What was done with one model, and why."""

    model: str
    action: str
    reason: str
    fingerprint: str
    content: str
    rows: int
    seconds: float


def refresh_contents(con: duckdb.DuckDBPyConnection, changed: Collection[str]) -> None:
    """Take the fingerprint of the loaded tables named in `changed`, and of those that have none yet; not of a history."""
    known = {table for (table,) in con.execute("SELECT table_id FROM ops.table_content").fetchall()}
    loaded = [t.name for t in dictionary().tables.values() if not t.name.startswith("ops.") and not t.is_history]
    taken = [(table, schema.content(con, table)) for table in loaded if table not in known or table in changed]
    con.execute("DELETE FROM ops.table_content WHERE list_contains(?, table_id)", [[table for table, _ in taken]])
    append(con, "ops.table_content", taken)


def followed(con: duckdb.DuckDBPyConnection) -> dict[str, str]:
    """Fingerprint of the rows of each table and view of which every change is followed, by name; it stays where they do.

    Nobody follows a history, which only grows, nor the records of runs: what is read from one of them is missing here.
    """
    contents: dict[str, str] = dict(con.execute("SELECT table_id, content FROM ops.table_content").fetchall())
    states = _states(con)
    loaded = dictionary().tables

    def is_followed(name: str) -> bool:
        if (state := states.get(name)) is None:
            # What is no table is a function of DuckDB's or of the warehouse's own.
            return name in contents or name not in loaded
        return state.rows >= 0 or all(is_followed(read) for read in state.inputs)

    built = {name: f"{state.definition} {state.content}" for name, state in states.items() if is_followed(name)}
    return contents | built


@dataclass(frozen=True, slots=True)
class _InputState:
    """Content of one input: of the whole table, and of the columns that the model mentions."""

    whole: str
    columns: str


@dataclass(frozen=True, slots=True)
class _State:
    """What a model was last built from."""

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
    """Build what changed, in the order given, and write `ops.model_build`. `force` builds all.

    `refuse` is called with each table that was built, before another is built from it, and may take rows out of it.
    """
    models = list(models)
    # Views and macros: their rows are found at every read.
    views = {model.name for model in models if model.materialized != "table"}
    contents: dict[str, str] = dict(con.execute("SELECT table_id, content FROM ops.table_content").fetchall())
    states = _states(con)
    # A table is built before another reads it, and then no more.
    columns_of = cache(lambda table: schema.columns(con, table))

    def content_of(table: str, names: Collection[str]) -> str:
        return schema.content_of(con, table, [column for column in columns_of(table) if column[0] in names])

    done: list[Build] = []
    for model in models:
        before = states.get(model.name)
        inputs = {
            name: _input_state(
                contents.get(name, ""),
                before.inputs.get(name) if before else None,
                None if columns is None or name in views else partial(content_of, name, columns),
            )
            for name, columns in sorted(model.inputs.items())
        }
        fingerprint = schema.hash_text(
            model.version + json.dumps([(name, state.columns) for name, state in inputs.items()])
        )
        if before and before.fingerprint == fingerprint and not force:
            step = Build(model.name, "kept", "no input changed", fingerprint, before.content, before.rows, 0.0)
        elif before and model.name in views and before.definition == model.version and not force:
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
    """Drop the tables that earlier programs built and this one does not: nobody would update them, and they would answer
    with old numbers. `models` are all that this program builds.
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


def _states(con: duckdb.DuckDBPyConnection) -> dict[str, _State]:
    return {
        model: _State(
            definition,
            {name: _InputState(*state) for name, state in json.loads(inputs).items()},
            fingerprint,
            content,
            rows,
        )
        for model, definition, inputs, fingerprint, content, rows in con.execute("FROM ops.model_state").fetchall()
    }


def _input_state(whole: str, before: _InputState | None, of_columns: Callable[[], str] | None) -> _InputState:
    """What a model reads of a table whose content is `whole`; `of_columns` gives the content of what it reads of it.

    That is asked only where the whole table changed; it is None for a view, and for a model that may read every column.
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
    append(
        con,
        "ops.model_build",
        [(run_id, b.model, b.action, b.reason, b.fingerprint, b.content, b.rows, b.seconds) for b in done],
    )
    con.execute("DELETE FROM ops.model_state")
    built = [(b.model, states[b.model]) for b in done]
    append(
        con,
        "ops.model_state",
        [
            (
                name,
                s.definition,
                json.dumps({k: (r.whole, r.columns) for k, r in s.inputs.items()}),
                s.fingerprint,
                s.content,
                s.rows,
            )
            for name, s in built
        ],
    )


def _materialize(
    con: duckdb.DuckDBPyConnection, model: Model, fingerprint: str, refuse: Callable[[Model], None]
) -> tuple[str, int]:
    """Create the table, view or macro with its comments; returns the fingerprint of its content and its number of rows."""
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
        frames = {name: _frame(con, name, columns) for name, columns in sorted(model.inputs.items())}
        con.register("built_frame", model.build(frames))
        con.execute(f"CREATE OR REPLACE TABLE {model.name} AS SELECT * FROM built_frame")
        con.unregister("built_frame")
    else:
        con.execute(f"CREATE OR REPLACE TABLE {model.name} AS {model.sql}")
    columns = schema.columns(con, model.name)
    comments = describe_columns(model, (name for name, _ in columns))
    schema.comment(con, model.materialized.upper(), model.name, model.description, comments)
    if model.materialized == "view":
        # Its rows follow its inputs at every read, so what stands for its content is what it is made from.
        return fingerprint, -1
    refuse(model)
    content = schema.content_of(con, model.name, columns)
    return content, int(content.partition(":")[0])


def _frame(con: duckdb.DuckDBPyConnection, table: str, columns: Collection[str] | None) -> pd.DataFrame:
    """The columns that a Python model names: what it does not name cannot change its answer unseen."""
    import pandas  # noqa: F401 - where it is not installed DuckDB would name NumPy, which nobody asked for

    listed = "*" if columns is None else ", ".join(f'"{name}"' for name in sorted(columns))
    return con.execute(f"SELECT {listed} FROM {table}").df()


def _create_macro(con: duckdb.DuckDBPyConnection, model: Model) -> None:
    """Create a table macro; its comment carries the parameters, as DuckDB has no place for theirs."""
    names = _parameters(model)
    con.execute(f"CREATE OR REPLACE MACRO {model.name}({', '.join(names)}) AS TABLE {model.sql}")
    # DuckDB binds a macro only when it is called: a call without values finds a wrong name tonight, not at a reader's desk.
    nothing = ", ".join("NULL" for _ in names)
    described = con.execute(f"DESCRIBE SELECT * FROM {model.name}({nothing})").fetchall()
    describe_columns(model, [row[0] for row in described])
    parameters = "; ".join(f"{name}: {p.meaning}" for name, p in model.parameters.items())
    schema.comment(con, "MACRO TABLE", model.name, f"{model.description}. Parameters: {parameters}", {})


def _parameters(model: Model) -> list[str]:
    """A macro's parameters as they are declared; in quotes, since `precision` is a keyword to DuckDB 1.5."""
    return [f'"{name}"' if p.default is None else f'"{name}" := {p.default}' for name, p in model.parameters.items()]


def describe_columns(model: Model, actual: Iterable[str]) -> dict[str, str]:
    """Comment of each column: the sidecar's own words, else the dictionary's. Raises KeyError where neither has it."""
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
