"""What a person read in the terms of a source, decisions/terms.toml: whether they allow a program to read it.

[newegg]
says = "forbidden"                   # or "allowed"
page = "https://www.example.com/terms"
read = 2026-11-20                    # the day on which a person read it

No program can tell what terms mean. So for a source that is not listed here they are unknown, and only robots.txt decides.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import Literal, cast

from gpuledger.extract import local_files
from gpuledger.extract import source as sources
from gpuledger.extract.message import Message
from gpuledger.extract.spelling import names_like
from gpuledger.flows.settings.settings import SettingsError
from gpuledger.warehouse.paths import DataDir

Says = Literal["allowed", "forbidden"]
SAYS: tuple[Says, ...] = ("allowed", "forbidden")


@dataclass(frozen=True, slots=True)
class Terms:
    """What a person read in the terms of a source: on which page and day, and whether they allow automated reading."""

    source: str
    says: Says
    page: str
    read: date


def file(data: DataDir) -> Path:
    """The file of a data directory that records what people read in terms."""
    return data.root / "decisions" / "terms.toml"


def terms_of(data: DataDir) -> dict[str, Terms]:
    """The terms that people read, by source; empty if there is no file.

    Raises SettingsError, with the file, the source and the way out, if an entry cannot be understood: going on without it
    would read a source although a person knows that its terms forbid it.
    """
    path = file(data)
    if not path.exists():
        return {}
    try:
        tables = local_files.read_toml(path, follow=True)
        return {name: _terms(name, table) for name, table in tables.items()}
    except (OSError, ValueError) as error:
        raise SettingsError(Message("settings.mend_take_table_out", path=path, error=error)) from None


def _terms(name: str, table: object) -> Terms:
    if name not in sources.names():
        close = names_like(name, sources.names())
        meant = f"did you mean {close[0]}" if close else "`gpuledger sources` lists all"
        raise ValueError(Message("settings.no_source_called_2", name=name, meant=meant))
    row = table if isinstance(table, dict) else {}
    says, page, read = row.get("says"), row.get("page"), row.get("read")
    if says not in SAYS or row.keys() - {"says", "page", "read"}:
        raise ValueError(Message("settings.needs_says_allowed_forbidden_page", name=name))
    if not isinstance(page, str) or not page.startswith(("https://", "http://")):
        raise ValueError(Message("settings.page_address_terms_quotes", name=name))
    if not isinstance(read, date) or isinstance(read, datetime):
        raise ValueError(Message("settings.read_day_such_2026_11", name=name))
    return Terms(name, cast("Says", says), page, read)


def put(data: DataDir, terms: Terms) -> None:
    """Write the terms of a source, replacing what was known before. Raises SettingsError."""
    _write(data, {**terms_of(data), terms.source: terms})


def remove(data: DataDir, source: str) -> bool:
    """Remove the terms of a source; False if there were none. Raises SettingsError."""
    known = terms_of(data)
    if known.pop(source, None) is None:
        return False
    _write(data, known)
    return True


def _write(data: DataDir, known: dict[str, Terms]) -> None:
    tables = [
        local_files.toml_table(f"[{terms.source}]", {"says": terms.says, "page": terms.page, "read": terms.read})
        for terms in known.values()
    ]
    local_files.write_text(file(data), "\n".join(tables))
