"""Our models as a dbt project: the same SQL text, the same pandas functions, the same comments on tables and columns."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import duckdb
import yaml

from gpuledger.transform.build.graph import Model, module_of
from gpuledger.transform.build.run import describe_columns

NAME = "ledger"
#: Models that dbt may build at once: the two cores that both sides have.
THREADS = 2
#: DuckDB's, on both sides.
SETTINGS: dict[str, Any] = {
    "TimeZone": "UTC",
    "threads": 2,
    "memory_limit": "1GB",
    "autoinstall_known_extensions": False,
}

#: dbt puts a schema of its own before the model's where it is not told otherwise.
_SCHEMA_NAMES = """
{% macro generate_schema_name(custom_schema_name, node) %}{{ custom_schema_name }}{% endmacro %}
"""


def built(models: Iterable[Model]) -> list[Model]:
    """The tables and views among `models`. Macros and functions stand in the file already; dbt has no such kind."""
    return [model for model in models if model.materialized in ("table", "view")]


def write(con: duckdb.DuckDBPyConnection, models: Sequence[Model], folder: Path, file: Path, *, comments: bool) -> None:
    """Write the project of `models` for the warehouse `file` under `folder`; `con` knows their columns. Our build sets the
    comments of tables and columns every time, and dbt does so with `comments`.

    dbt follows nothing but ref(), so each name of another model becomes one; a loaded table keeps its plain name, which
    costs dbt nothing. Raises ValueError where a model's SQL holds what dbt would take for a template.
    """
    (folder / "macros").mkdir(parents=True)
    (folder / "macros" / "schema_names.sql").write_text(_SCHEMA_NAMES, encoding="utf-8")
    _yaml(
        folder / "dbt_project.yml",
        {
            "name": NAME,
            "profile": NAME,
            "version": "1.0",
            "flags": {"send_anonymous_usage_stats": False, "partial_parse": True},
            "models": {NAME: {"+persist_docs": {"relation": comments, "columns": comments}}},
        },
    )
    _yaml(
        folder / "profiles.yml",
        {
            NAME: {
                "target": "built",
                "outputs": {
                    "built": {
                        "type": "duckdb",
                        "path": str(file),
                        "threads": THREADS,
                        "settings": SETTINGS,
                    }
                },
            }
        },
    )
    ours = built(models)
    for model in ours:
        path = folder / "models" / f"{_id(model.name)}{'.py' if model.build else '.sql'}"
        path.parent.mkdir(exist_ok=True)
        path.write_text(_python(model, ours) if model.build else _sql(model, models), encoding="utf-8")
    _yaml(folder / "models" / "models.yml", {"models": [_described(con, model) for model in ours]})


def _id(name: str) -> str:
    """dbt's models live in one name space."""
    return name.replace(".", "__")


def _sql(model: Model, models: Sequence[Model]) -> str:
    assert model.sql is not None
    if found := re.search(r"\{[{%#]", model.sql):
        raise ValueError(f"{model.name} holds {found[0]}, which dbt takes for a template")
    schema, table = model.name.split(".")
    head = f"{{{{ config(materialized='{model.materialized}', schema='{schema}', alias='{table}') }}}}\n"
    known = {other.name for other in built(models)}
    # What it reads through a macro is not in its text; this is how dbt is told.
    head += "".join(f"-- depends_on: {_ref(name)}\n" for name in sorted(_through_macros(model, models)))
    read = sorted(known & model.inputs.keys())
    names = rf"\b({'|'.join(map(re.escape, read))})\b(?!\s*\()"
    return head + (re.sub(names, lambda found: _ref(found[0]), model.sql) if read else model.sql)


def _ref(name: str) -> str:
    return f"{{{{ ref('{_id(name)}') }}}}"


def _through_macros(model: Model, models: Sequence[Model]) -> set[str]:
    """The tables and views that `model` reads through macros and functions."""
    known = {other.name: other for other in models}
    found, left = set[str](), [model.name]
    while left:
        for name in known[left.pop()].inputs.keys() & known.keys():
            (found.add if known[name].materialized in ("table", "view") else left.append)(name)
    return found - model.inputs.keys()


def _python(model: Model, ours: Sequence[Model]) -> str:
    """The columns that the function names, as frames, as our build hands them over."""
    schema, table = model.name.split(".")
    known = {other.name for other in ours}
    frames = []
    for name, columns in sorted(model.inputs.items()):
        assert columns is not None
        relation = f"dbt.ref('{_id(name)}')" if name in known else f"session.table('{name}')"
        listed = ", ".join(f'"{column}"' for column in sorted(columns))
        frames.append(f"        {name!r}: {relation}.project({listed!r}).df(),\n")
    text = """\
        from {module} import build


        def model(dbt, session):
            dbt.config(materialized="table", schema="{schema}", alias="{table}")
            return build({{
        {frames}    }})
        """
    return textwrap.dedent(text).format(
        module=module_of(model.name), schema=schema, table=table, frames="".join(frames)
    )


def _described(con: duckdb.DuckDBPyConnection, model: Model) -> dict[str, object]:
    actual = [name for (name,) in con.execute(f"SELECT column_name FROM (DESCRIBE {model.name})").fetchall()]
    columns = describe_columns(model, actual)
    return {
        "name": _id(model.name),
        "description": model.description,
        "columns": [{"name": name, "description": text, "quote": True} for name, text in columns.items()],
    }


def _yaml(path: Path, content: object) -> None:
    path.write_text(yaml.safe_dump(content, sort_keys=False, allow_unicode=True), encoding="utf-8")
