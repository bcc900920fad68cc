"""What a person read in the terms of a source, decisions/terms.toml: whether they allow a program to read it.

[[terms]]
source = "newegg"
says = "forbidden"                   # or "allowed"
page = "https://www.example.com/terms"
read = 2026-11-20                    # the day on which a person read it

No program can tell what terms mean. So for a source that is not listed here they are unknown, and only robots.txt decides.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Literal

from gpuledger.extract import records
from gpuledger.extract import source as sources
from gpuledger.extract.message import Message
from gpuledger.extract.spelling import names_like

Says = Literal["allowed", "forbidden"]
SAYS: tuple[Says, ...] = ("allowed", "forbidden")


@dataclass(frozen=True, slots=True)
class Terms:
    """What a person read in the terms of a source: on which page and day, and whether they allow automated reading."""

    source: str
    says: Says
    page: str
    read: date

    def __post_init__(self) -> None:
        known_source(self.source)
        if not self.page.startswith(("https://", "http://")):
            raise ValueError(Message("settings.page_address_terms_quotes", name=self.source))


def known_source(name: str) -> str:
    """The name, if a source has it. Raises ValueError, with the nearest one."""
    if name not in sources.names():
        close = names_like(name, sources.names())
        meant = f"did you mean {close[0]}" if close else "`gpuledger sources` lists all"
        raise ValueError(Message("settings.no_source_called_2", name=name, meant=meant))
    return name


#: Going on without one would read a source although a person knows that its terms forbid it, so a bad one stops a run.
TERMS = records.Kind("terms", "terms.toml", key=lambda terms: terms.source, read=records.typed(Terms))
