"""What a source is, and how the sources are found: one folder in `extract/sources/`, with a `SOURCE`, and no registry."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache, partial
from pathlib import Path
from typing import Any, Literal

from gpuledger.extract import sources
from gpuledger.extract.access import Access
from gpuledger.extract.items import Parsed


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """One archived page as a parser sees it: bytes, never decoded text, since the charset may stand in the bytes.

    `url` is the address asked for and `final_url` where redirects ended; resolve relative links against `final_url`.
    Header names are in lower case. `fetched_at` is in UTC. `sha256` is of `content` and names the archived file.
    """

    url: str
    final_url: str
    content: bytes
    sha256: str
    fetched_at: datetime
    status: int = 200
    headers: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """One place that is read every night.

    `parse` is pure: the page in, items, issues and links to follow out. It raises LayoutChanged where the page is not
    what it knows. `start` are the live addresses; none means that the source is read only where the settings give addresses.
    `sample` are the paths on the source's host of the bundled sample site; none means that it has no part in the sample.
    `give_back` is for files that a person dropped: it writes the rows that are none to the path, each with its reason, and
    says whether there were any.
    `hosts` are those that it is read from beside the hosts of its addresses (a shop's pictures may lie elsewhere); whatever
    its pages link or redirect to beyond them is not fetched.
    `country` and `language` (ISO 3166 and ISO 639) decide what `1.299` means; None where the page itself must say.
    """

    name: str
    title: str
    homepage: str
    parse: Callable[[Page], Iterable[Parsed]]
    kinds: tuple[str, ...]
    start: tuple[str, ...] = ()
    sample: tuple[str, ...] = ()
    country: str | None = None
    language: str | None = None
    freshness_hours: int = 48
    hosts: tuple[str, ...] = ()
    give_back: Callable[[Page, Path], bool] | None = None
    #: Who brings its pages: the client, or a browser that lets their scripts run and asks through the client.
    fetch: Literal["client", "browser"] = "client"
    #: Its addresses lead to lists, which may break off; not so where each is the page of one product.
    has_lists: bool = True
    #: Its addresses are those of shops that have nothing to do with each other: `extract.shops` has them read apart.
    is_of_many_shops: bool = False
    #: Its items are kept beside the archive. To keep those of a file that is read once costs more than to read it again.
    keeps_parsed: bool = True
    #: One of its files may take as much processor time as so many pages: a packed table of all days is many in one.
    pages_in_one: int = 1
    #: Pages at most in one run: a paging loop or an endless shop ends here, with an issue.
    max_pages: int = 50
    #: What its interface wants of whoever asks; None for pages that anybody may read.
    access: Access | None = None
    #: The official interface of whoever runs it: the source here that reads it (its own name where it is one), or what it is
    #: called. None where none is known.
    interface: str | None = None
    #: Hours that its terms let a page be kept; the archive then keeps what was read of it. None where nothing is said.
    keep_hours: int | None = None
    #: Product pages behind listings at most in one run, the stalest first.
    max_products: int = 25


def parser_in(package: str) -> Callable[[Page], Iterable[Parsed]]:
    """The function `parse` of the package's module `pages`, which is imported when the first page is parsed.

    A night on which no page changed needs the names and addresses of all sources and no parser, and to import all parsers
    with their libraries takes a tenth of such a night.
    """
    return partial(_call_in_pages, package, "parse")


def give_back_in(package: str) -> Callable[[Page, Path], bool]:
    """The function `give_back` of the package's module `pages`, imported as late as `parse`."""
    return partial(_call_in_pages, package, "give_back")


def _call_in_pages(package: str, function: str, *arguments: object) -> Any:
    return getattr(importlib.import_module(f"{package}.pages"), function)(*arguments)


def load_parser(name: str) -> None:
    """Import the parser of the source called `name` now, and not within the time and memory that its first page may take."""
    importlib.import_module(f"{sources.__name__}.{name}.pages")


@cache
def names() -> tuple[str, ...]:
    """All source names, sorted. Reads the folder only, once; imports nothing."""
    return tuple(sorted(info.name for info in pkgutil.iter_modules(sources.__path__) if not info.name.startswith("_")))


def folder(name: str) -> Path:
    """The folder of a source: its code, its contract, its pages of the sample, and its cases."""
    return Path(sources.__path__[0], name)


def get(name: str) -> Source:
    """The source called `name`. Raises KeyError, with the known names, where there is none."""
    known = names()
    if name not in known:
        raise KeyError(f"no source is called {name!r}; known are {', '.join(known)}")
    source = importlib.import_module(f"{sources.__name__}.{name}").SOURCE
    if not isinstance(source, Source) or source.name != name:
        raise TypeError(f"extract/sources/{name}/__init__.py must hold a Source named {name!r} as SOURCE")
    return source


def discover() -> list[Source]:
    """All sources, by name. Imports no parser."""
    return [get(name) for name in names()]
