"""Hooks that MkDocs calls while it builds the site. They add pages from outside docs/ and a reference made from the program.

`mkdocs build --strict` (`make site`) ends with an error if a link leads nowhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click
import duckdb

from gpuledger.flows.cli import cli
from gpuledger.flows.settings.settings import explain
from gpuledger.transform.build import graph
from gpuledger.transform.build.run import build
from gpuledger.warehouse import schema

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files

ROOT = Path(__file__).parents[1]
#: Pages outside docs/ that are also pages of the site, with their names on the site.
_OUTSIDE = {
    "README.md": "index.md",
    "README.ko.md": "README.ko.md",
    "CONTRIBUTING.md": "CONTRIBUTING.md",
    "SECURITY.md": "SECURITY.md",
    "CHANGELOG.md": "CHANGELOG.md",
    "examples/README.md": "examples/README.md",
}


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are not files in docs/."""
    from mkdocs.structure.files import File

    pages = {name: _moved((ROOT / path).read_text(encoding="utf-8")) for path, name in _OUTSIDE.items()}
    pages |= {"reference/commands.md": commands(), "reference/settings.md": settings(), "reference/tables.md": tables()}
    # These are not pages but files for download.
    pages |= {f"examples/{path.name}": path.read_text(encoding="utf-8") for path in (ROOT / "examples").glob("*.ipynb")}
    for name, text in pages.items():
        files.append(File.generated(config, name, content=text))
    return files


def on_page_markdown(markdown: str, **_: object) -> str:
    """Change links to pages outside docs/ so that they lead to the place of these pages on the site."""
    return re.sub(r"\]\(((?:\.\./)+)(SECURITY\.md|CONTRIBUTING\.md|examples/README\.md)", _inside, markdown)


def _inside(link: re.Match[str]) -> str:
    """The link with one `../` less: on the site these pages lie beside the pages of docs/, not above them."""
    return f"]({link[1].removeprefix('../')}{link[2]}"


def _moved(text: str) -> str:
    """The text of a page in the top folder, with its links changed to what they are on the site."""
    return re.sub(r"\]\((?:docs/)?([^):]+)\)", lambda link: f"]({_OUTSIDE.get(link[1], link[1])})", text)


def commands() -> str:
    """Every command with its help."""
    parts = ["# Commands\n", *_commands(cli, "gpuledger")]
    return "\n".join(parts)


def _commands(command: click.Command, name: str) -> Iterator[str]:
    context = command.context_class(command, info_name=name, terminal_width=100)
    yield f"## `{name}`\n\n```text\n{command.get_help(context)}\n```\n"
    if isinstance(command, click.Group):
        for one in command.list_commands(context):
            if (inner := command.get_command(context, one)) is not None:
                yield from _commands(inner, f"{name} {one}")


def settings() -> str:
    """Every setting with its default, unit and meaning."""
    origins = explain({}, ROOT / "there-is-none.toml")
    rows = [
        f"| `{origin.name}` | {_cell(origin.value)} | {_cell(origin.unit)} | {_cell(origin.meaning)} |"
        for origin in origins
    ]
    return "\n".join(
        [
            "# Settings\n",
            "In `gpuledger.toml`, or as `GPULEDGER_NAME` in the environment. `gpuledger settings` says where each value",
            "comes from.\n",
            "| setting | default | unit | meaning |\n|---|---|---|---|",
            *rows,
        ]
    )


def tables() -> str:
    """Every table, view and macro with its columns, as an empty warehouse has them."""
    with duckdb.connect() as con:
        schema.create(con)
        build(con, graph.load(con), "site")
        described = con.execute(
            """SELECT schema_name || '.' || table_name AS name, comment FROM duckdb_tables()
               UNION ALL SELECT schema_name || '.' || view_name, comment FROM duckdb_views() WHERE NOT internal
               ORDER BY name"""
        ).fetchall()
        columns = con.execute(
            """SELECT schema_name || '.' || table_name, column_name, data_type, comment FROM duckdb_columns()
               WHERE NOT internal ORDER BY column_index"""
        ).fetchall()
        macros = con.execute(
            """SELECT DISTINCT schema_name || '.' || function_name, comment FROM duckdb_functions()
               WHERE function_type LIKE '%macro' AND comment IS NOT NULL AND NOT internal ORDER BY ALL"""
        ).fetchall()
    parts = ["# Tables\n"]
    for name, comment in described:
        rows = [f"| `{column}` | {type_} | {_cell(text)} |" for table, column, type_, text in columns if table == name]
        parts.append(f"## {name}\n\n{comment}\n\n| column | type | meaning |\n|---|---|---|\n" + "\n".join(rows) + "\n")
    parts.append("## Macros\n\n| macro | answers |\n|---|---|")
    parts += [f"| `{name}` | {_cell(comment)} |" for name, comment in macros]
    return "\n".join(parts)


def _cell(text: str | None) -> str:
    """Text as one cell of a table."""
    return " ".join((text or "").split()).replace("|", "\\|").replace("<", "&lt;")
