"""Reads the models and puts them in order.

A model is a SELECT in `models/<schema>/<table>/query.sql`, or a pandas function in `model.py` there for the few things that
SQL cannot express. Beside it is its description, the sidecar `table.toml`. Its `materialized` is one of:

* `table` or `view`;
* `macro`: a SELECT with `[parameters]`, a question with arguments that any DuckDB client can ask in the published file;
* `function`: an expression with parameters that several models share.

If the sidecar has `[as_of]`, the model answers for the present, and the macro `<table>_as_of(as_of_day)` with the same SQL
answers for a past day. In the macro, each relation or condition that `[as_of]` names is replaced by one that gives what was
known at the end of that day.

The tables that a model reads are found in its SQL, so nobody has to keep a list of them. The sidecar of a pandas function
declares them as `inputs`: it is read every night, and the function with all that it imports only when it is called.
"""

from __future__ import annotations

import dataclasses
import importlib
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from graphlib import TopologicalSorter
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import duckdb

from gpuledger.transform.queries import FOLDER_OF_MODELS as MODELS
from gpuledger.warehouse.dictionary import dictionary
from gpuledger.warehouse.references import references
from gpuledger.warehouse.schema import hash_text

if TYPE_CHECKING:
    import pandas as pd

#: Ending of the name of a macro that answers for a past day.
AS_OF = "_as_of"


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a macro: its meaning, and its default as SQL (None if the caller must give a value)."""

    meaning: str
    default: str | None


@dataclass(frozen=True, slots=True)
class Model:
    """One table, view, macro or function that is built.

    `text` is the whole definition: the model's own file, its sidecar, and what the sidecar of a Python model says that it
    `uses`. `inputs` are the tables that it reads, each with the column names that it mentions, or None if it may read every
    column. A change in any other column does not matter to this model. `build` is the function of a Python model. It takes
    frames by the name of the input, and returns one frame. `parameters` are those of a macro, in the order of a call.
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
    """All models of `folder`, each after the models that it reads. Raises ValueError, with the file, if one is wrong."""
    models = {
        model.name: model for path in sorted(folder.glob("*/*/table.toml")) for model in _models_described_in(con, path)
    }
    order = TopologicalSorter({name: model.inputs.keys() & models.keys() for name, model in models.items()})
    ordered = [models[name] for name in order.static_order()]
    # Changes of history tables are not tracked, so a table built from one, directly or through views, would become out of
    # date.
    histories_and_views = {table.name for table in dictionary().tables.values() if table.is_history}
    for model in ordered:
        if histories := sorted(histories_and_views & model.inputs.keys()):
            if model.materialized == "table":
                raise ValueError(
                    f"{folder}: {model.name} is built whole from {histories[0]}, which only grows: make it a view"
                )
            histories_and_views.add(model.name)
    return ordered


def one(con: duckdb.DuckDBPyConnection, name: str) -> Model:
    """The model of a built table such as `mart.answer`, by its name with its schema. Raises ValueError as `load` does."""
    return next(_models_described_in(con, folder_of(name) / "table.toml"))


def needed(models: Sequence[Model], names: Iterable[str]) -> list[Model]:
    """Those of the ordered `models` that are called one of `names`, and all that these are built from."""
    wanted = set(names)
    for model in reversed(models):
        wanted |= model.inputs.keys() if model.name in wanted else set()
    return [model for model in models if model.name in wanted]


def folder_of(table: str, folder: Path = MODELS) -> Path:
    """The folder of a built table such as `mart.value`, with its query, description, contract and cases."""
    return folder.joinpath(*table.split("."))


def module_of(name: str) -> str:
    """The module that has the function `build` of a Python model, by the model's name with its schema."""
    return f"gpuledger.transform.models.{name}.model"


def _models_described_in(con: duckdb.DuckDBPyConnection, sidecar: Path) -> Iterator[Model]:
    """The model that a sidecar describes, and the macro that answers the same question for a past day, if it has one."""
    name = f"{sidecar.parents[1].name}.{sidecar.parent.name}"
    sidecar_fields = tomllib.loads(sidecar.read_text(encoding="utf-8"))
    sql_file, python_file = sidecar.with_name("query.sql"), sidecar.with_name("model.py")
    if sql_file.exists() == python_file.exists():
        raise ValueError(f"{sidecar}: needs exactly one of {sql_file.name} and {python_file.name} beside it")
    definition = (sql_file if sql_file.exists() else python_file).read_text(encoding="utf-8")
    materialized = sidecar_fields.get("materialized", "table")
    build = None
    inputs: dict[str, frozenset[str] | None]
    if python_file.exists():
        inputs = {table: frozenset(columns) for table, columns in sidecar_fields["inputs"].items()}
        build = _function_in(module_of(name))
        # The functions that it calls are part of its definition, so that a change in them rebuilds it.
        definition += "".join(
            MODELS.parent.joinpath(path).read_text(encoding="utf-8") for path in sidecar_fields.get("uses", ())
        )
    else:
        inputs = _inputs(con, sql_file, definition if materialized != "function" else f"SELECT ({definition})")
    if (materialized in ("macro", "function")) != ("parameters" in sidecar_fields) or (
        build and materialized != "table"
    ):
        raise ValueError(
            f"{sidecar}: a macro or function, and nothing else, has parameters, and a Python model is a table"
        )
    model = Model(
        name=name,
        materialized=materialized,
        description=sidecar_fields["description"],
        key=tuple(sidecar_fields["key"]),
        columns=sidecar_fields.get("columns", {}),
        parameters={name: _parameter(entry) for name, entry in sidecar_fields.get("parameters", {}).items()},
        text=definition + sidecar.read_text(encoding="utf-8"),
        inputs=inputs,
        sql=definition if build is None else None,
        build=build,
    )
    yield model
    if "as_of" in sidecar_fields:
        yield _as_of(con, sidecar, model, sidecar_fields["as_of"])


def _function_in(module: str) -> Callable[[Mapping[str, pd.DataFrame]], pd.DataFrame]:
    """The function `build` of a module, which is imported when it is called: most nights build no Python model."""

    def build(inputs: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
        frame: pd.DataFrame = importlib.import_module(module).build(inputs)
        return frame

    return build


def _inputs(con: duckdb.DuckDBPyConnection, file: Path, select: str) -> dict[str, frozenset[str] | None]:
    """The tables that a SELECT reads, each with the column names in the SELECT. Aggregates are among the tables too, which
    does no harm because they never change.
    """
    try:
        read = references(con, select)
    except ValueError as error:
        raise ValueError(f"{file}: {error}") from None
    return {table: None if read.has_star else frozenset(read.names) for table in sorted(read.tables)}


def _as_of(con: duckdb.DuckDBPyConnection, sidecar: Path, model: Model, replacements: Mapping[str, str]) -> Model:
    """The macro that answers a model's question for a past day: the model's SQL with `replacements` made in it."""
    sql = model.sql or ""
    for now in replacements:
        if not re.search(rf"\b{re.escape(now)}\b", sql):
            raise ValueError(f"{sidecar}: [as_of] names {now!r}, which its SQL does not have")
    # In one pass, because a replacement may itself have words that another one replaces.
    every = "|".join(re.escape(now) for now in replacements)
    sql = re.sub(rf"\b(?:{every})\b", lambda match: replacements[match[0]].strip(), sql)
    return dataclasses.replace(
        model,
        name=f"main.{sidecar.parent.name}{AS_OF}",
        materialized="macro",
        description=f"{model.description}, as it was known at the end of a day (UTC)",
        parameters={"as_of_day": Parameter("Day, as DATE", None)},
        inputs=_inputs(con, sidecar, sql),
        sql=sql,
    )


def column_descriptions(name: str) -> Mapping[str, str]:
    """The column descriptions in the sidecar of a model, by the model's name with its schema; empty if it is no model."""
    schema, _, table = name.partition(".")
    now = MODELS.glob(f"*/{table.removesuffix(AS_OF)}/table.toml") if schema == "main" and table.endswith(AS_OF) else ()
    for sidecar in (folder_of(name) / "table.toml", *now):
        if sidecar.exists():
            columns: Mapping[str, str] = tomllib.loads(sidecar.read_text(encoding="utf-8")).get("columns", {})
            return columns
    return {}


def _parameter(entry: str | Mapping[str, str]) -> Parameter:
    """A parameter from the sidecar, where it is either its meaning or a table of `meaning` and `default`."""
    return Parameter(entry, None) if isinstance(entry, str) else Parameter(entry["meaning"], entry["default"])
