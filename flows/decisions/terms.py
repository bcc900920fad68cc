"""What a person read in the terms of a source, decisions/terms.toml: whether they allow a program to read it.

[[terms]]
source = "newegg"
says = "forbidden"                   # or "allowed"
page = "https://www.example.com/terms"
read = 2026-11-20                    # the day on which a person read it
publish = "All prices may be …"      # the sentence that allows what was read to be published, and its licence
licence = "CC-BY-4.0"

No program can tell what terms mean. So for a source that is not listed here they are unknown, and only robots.txt decides.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Literal

from gpuledger import records
from gpuledger.extract import source as sources
from gpuledger.flows.words.lang import N_
from gpuledger.spelling import names_like
from gpuledger.warehouse.published import manifest

Says = Literal["allowed", "forbidden"]


@dataclass(frozen=True, slots=True)
class Terms:
    """What a person read in the terms of a source: on which page and day, and whether they allow automated reading."""

    source: str
    says: Says
    page: str
    read: date
    publish: str = ""
    licence: str = ""

    def __post_init__(self) -> None:
        known_source(self.source)
        if not self.page.startswith(("https://", "http://")):
            raise ValueError(f"[{self.source}] page must be the address of the terms, in quotes")


def known_source(name: str) -> str:
    """The name, if a source has it. Raises ValueError, with the nearest one."""
    if name not in sources.names():
        close = names_like(name, sources.names())
        meant = f"did you mean {close[0]}" if close else "`gpuledger sources` lists all"
        raise ValueError(f"no source is called {name!r}; {meant}")
    return name


#: Going on without one would read a source although a person knows that its terms forbid it, so a bad one stops a run.
TERMS = records.Kind("terms", "terms.toml", key=lambda terms: terms.source, read=records.typed(Terms))


def publishable(
    root: Path, names: Iterable[str]
) -> tuple[dict[str, tuple[str, manifest.Terms]], list[manifest.Withheld]]:
    """Of the sources `names` those that may be published, each with its title and terms; and the others, with the reason.

    The default is no: a source is published if its own declaration has the sentence that allows it, or if a person read one,
    unless the declaration says that its terms forbid it. Raises BadRecord.
    """
    read, may, withheld = TERMS.by_key(root), {}, []
    for name in names:
        source = sources.get(name) if name in sources.names() else None
        declared, decided = source.publishing if source else None, read.get(name)
        if source is None or (not source.homepage and source.kinds != ("score",)):
            withheld.append(manifest.Withheld(name, N_("it is this folder's own")))
        elif declared is not None and not declared.allowed:
            read_on = declared.read or N_("not read")
            withheld.append(manifest.Withheld(name, f"{declared.sentence} ({declared.page}, {read_on})"))
        elif decided is not None and decided.says == "forbidden":
            withheld.append(manifest.Withheld(name, N_("its terms forbid it")))
        elif decided is not None and decided.publish:
            terms = manifest.Terms(decided.read, decided.page, decided.publish, decided.licence or "as its source")
            may[name] = (source.title, terms)
        elif declared is not None and declared.read is not None:
            terms = manifest.Terms(declared.read, declared.page, declared.sentence, declared.licence)
            may[name] = (source.title, terms)
        else:
            withheld.append(manifest.Withheld(name, N_("nobody read in its terms that it may be published")))
    return may, withheld
