"""The models and their order. A model is a SELECT in `models/<schema>/<table>/query.sql`, or a pandas function in
`model.py` there for the few things that SQL cannot say, beside its description `table.toml`. The description's
`materialized` is `table`, `view`, `macro` for a SELECT with `[parameters]` (a question that takes an argument, answered in
the published file by any DuckDB client), or `function` for an expression with parameters that several models share.

Where the sidecar has `[as_of]`, the model answers for now, and the same SQL answers for a past day as the macro
`<table>_as_of(as_of_day)`: each relation or condition that `[as_of]` names is replaced by what was known at the end of
that day.

What a model reads is found from the SQL itself; nobody keeps a list.
"""

from __future__ import annotations

import dataclasses
import importlib
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from graphlib import TopologicalSorter
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import duckdb

from gpuledger.transform.models import FOLDER
from gpuledger.warehouse.dictionary import dictionary
from gpuledger.warehouse.references import Remembered
from gpuledger.warehouse.schema import hash_text

if TYPE_CHECKING:
    import pandas as pd

MODELS = FOLDER
#: What the name of a macro that answers for a past day ends with.
AS_OF = "_as_of"


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a macro: its meaning, and its default as SQL (None where it must be given)."""

    meaning: str
    default: str | None


@dataclass(frozen=True, slots=True)
class Model:
    """One table, view or table macro that is built.

    `text` is all that defines it (its own file and its sidecar). `inputs` are the tables that it reads with the column
    names that it mentions, None where it may read every column: a change in another column is none for this model.
    `build` is the pandas function of a Python model (frames by input name in, one frame out). Its table.toml declares its
    `inputs`, and the modules and files that it `uses`, which are part of its text. `parameters` are those of a macro, in
    the order in which they are given.
    """

    name: str
    materialized: Literal["table", "view", "macro", "function"]
    description: str
    key: tuple[str, ...]
    columns: Mapping[str, str]
    parameters: Mapping[str, Parameter]
    text: str
    inputs: Mapping[str, frozenset[str] | None]
    sql: str | None
    build: Callable[[Mapping[str, pd.DataFrame]], pd.DataFrame] | None

    @property
    def version(self) -> str:
        """Fingerprint of the definition alone."""
        return hash_text(self.text)


def load(con: duckdb.DuckDBPyConnection, folder: Path = MODELS) -> list[Model]:
    """All models of `folder`, each after those that it reads. Raises ValueError, naming the file, where one is wrong."""
    remembered = Remembered(con)
    models = {
        model.name: model
        for path in sorted(folder.glob("*/*/table.toml"))
        for model in _models_described_in(remembered, path)
    }
    remembered.keep()
    order = TopologicalSorter({name: model.inputs.keys() & models.keys() for name, model in models.items()})
    ordered = [models[name] for name in order.static_order()]
    _keep_off_history(ordered, folder)
    return ordered


def folder_of(table: str, folder: Path = MODELS) -> Path:
    """The folder of a built table, `mart.value` for example: its query, description, contract and cases."""
    return folder.joinpath(*table.split("."))


def _keep_off_history(ordered: Iterable[Model], folder: Path) -> None:
    """Raise ValueError where a table is built from a history table, also through views: its changes are not followed."""
    long = {table.name for table in dictionary().tables.values() if table.is_history}
    for model in ordered:
        if histories := sorted(long & model.inputs.keys()):
            if model.materialized == "table":
                raise ValueError(
                    f"{folder}: {model.name} is built whole from {histories[0]}, which only grows: make it a view"
                )
            long.add(model.name)


def _models_described_in(remembered: Remembered, sidecar: Path) -> Iterator[Model]:
    """The model of a table's description, and the macro that answers the same question for a past day, where it has one."""
    name = f"{sidecar.parents[1].name}.{sidecar.parent.name}"
    described = tomllib.loads(sidecar.read_text(encoding="utf-8"))
    sql_file, python_file = sidecar.with_name("query.sql"), sidecar.with_name("model.py")
    if sql_file.exists() == python_file.exists():
        raise ValueError(f"{sidecar}: needs exactly one of {sql_file.name} and {python_file.name} beside it")
    definition = (sql_file if sql_file.exists() else python_file).read_text(encoding="utf-8")
    materialized = described.get("materialized", "table")
    build = None
    inputs: dict[str, frozenset[str] | None]
    if python_file.exists():
        inputs = {table: frozenset(columns) for table, columns in described["inputs"].items()}
        build = _function_in(f"gpuledger.transform.models.{name}.model")
        # Its own text says less than it does: the rules that it calls are part of its definition.
        definition += "".join(
            FOLDER.parent.joinpath(used).read_text(encoding="utf-8") for used in described.get("uses", ())
        )
    else:
        inputs = _inputs(remembered, sql_file, definition if materialized != "function" else f"SELECT ({definition})")
    if (materialized in ("macro", "function")) != ("parameters" in described) or (build and materialized != "table"):
        raise ValueError(
            f"{sidecar}: a macro or function, and nothing else, has parameters, and a Python model is a table"
        )
    model = Model(
        name=name,
        materialized=materialized,
        description=described["description"],
        key=tuple(described["key"]),
        columns=described.get("columns", {}),
        parameters={name: _parameter(entry) for name, entry in described.get("parameters", {}).items()},
        text=definition + sidecar.read_text(encoding="utf-8"),
        inputs=inputs,
        sql=definition if build is None else None,
        build=build,
    )
    yield model
    if "as_of" in described:
        yield _as_of(remembered, sidecar, model, described["as_of"])


def _function_in(module: str) -> Callable[[Mapping[str, pd.DataFrame]], pd.DataFrame]:
    """The function `build` of a module, which is imported when it is called: most nights build no Python model."""

    def build(inputs: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
        frame: pd.DataFrame = importlib.import_module(module).build(inputs)
        return frame

    return build


def _inputs(remembered: Remembered, file: Path, select: str) -> dict[str, frozenset[str] | None]:
    """Tables that a SELECT reads, with the column names in it. An aggregate is among them too: it never changes."""
    try:
        read = remembered.of(select)
    except ValueError as error:
        raise ValueError(f"{file}: {error}") from None
    return {table: None if read.has_star else frozenset(read.names) for table in sorted(read.tables)}


def _as_of(remembered: Remembered, sidecar: Path, model: Model, replaced: Mapping[str, str]) -> Model:
    """The macro that answers a model's question for a past day: its SQL with other relations and conditions put in."""
    sql = model.sql or ""
    for now in replaced:
        if not re.search(rf"\b{re.escape(now)}\b", sql):
            raise ValueError(f"{sidecar}: [as_of] names {now!r}, which its SQL does not have")
    # In one pass: what is put in may hold the words of another.
    every = "|".join(re.escape(now) for now in replaced)
    sql = re.sub(rf"\b(?:{every})\b", lambda match: replaced[match[0]].strip(), sql)
    return dataclasses.replace(
        model,
        name=f"main.{sidecar.parent.name}{AS_OF}",
        materialized="macro",
        description=f"{model.description}, as it was known at the end of a day (UTC)",
        parameters={"as_of_day": Parameter("Day, as DATE", None)},
        inputs=_inputs(remembered, sidecar, sql),
        sql=sql,
    )


def column_words(name: str) -> Mapping[str, str]:
    """The sidecar's own words for the columns of a model, by its schema-qualified name; empty where it is no model."""
    schema, _, table = name.partition(".")
    now = MODELS.glob(f"*/{table.removesuffix(AS_OF)}/table.toml") if schema == "main" and table.endswith(AS_OF) else ()
    for sidecar in (folder_of(name) / "table.toml", *now):
        if sidecar.exists():
            columns: Mapping[str, str] = tomllib.loads(sidecar.read_text(encoding="utf-8")).get("columns", {})
            return columns
    return {}


def _parameter(entry: str | Mapping[str, str]) -> Parameter:
    """A parameter in the sidecar is its meaning, or a table of `meaning` and `default`."""
    return Parameter(entry, None) if isinstance(entry, str) else Parameter(entry["meaning"], entry["default"])
