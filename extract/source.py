"""Defines what a source is, and finds the sources: each is a folder in `extract/sources/` with a `SOURCE`. No registry."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Literal

from gpuledger.extract import sources
from gpuledger.extract.access import Access
from gpuledger.extract.items import Parsed


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """One archived page as a parser sees it: bytes and never decoded text, because the bytes may name the charset.

    `url` is the requested address and `final_url` the address where redirects ended. Resolve relative links against
    `final_url`. Header names are in lower case. `fetched_at` is in UTC. `sha256` is the hash of `content` and the name of
    the archived file.
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

    `parse` is a pure function: it takes a page and returns items, issues and links to follow. It raises LayoutChanged if it
    does not know the layout of the page.
    `start` holds the live addresses. If it is empty, the source is read only if the settings give addresses.
    `sample` holds the paths on the source's host of the bundled sample site. If it is empty, the sample has no such source.
    `give_back` is for files that a person dropped. It writes the rows that are not valid to the path, each with its reason,
    and returns whether there were any.
    `hosts` names hosts that the source is read from besides the hosts of its addresses (a shop's pictures may be elsewhere).
    Links and redirects to other hosts are not fetched.
    `country` and `language` (ISO 3166 and ISO 639) decide what `1.299` means. They are None if the page itself must say it.
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
    #: What fetches the pages: the client, or a browser that runs their scripts and sends its requests through the client.
    fetch: Literal["client", "browser"] = "client"
    #: Whether the addresses lead to lists, which may be incomplete. False if each address is the page of one product.
    has_lists: bool = True
    #: Whether the addresses belong to independent shops. `extract.shops` then lets each shop be read on its own.
    is_of_many_shops: bool = False
    #: Whether parsed items are cached. For a file that is read once, the cache costs more than parsing the file again.
    keeps_parsed: bool = True
    #: One file may take the processor time of this many pages, as a compressed table of all days is many pages in one.
    pages_in_one: int = 1
    #: Most pages in one run. A paging loop or an endless shop ends here, with an issue.
    max_pages: int = 50
    #: The credentials that the source's interface requires. None if anybody may read the pages.
    access: Access | None = None
    #: The official interface of the site's owner: the name of the source that reads it (which may be this source), or else
    #: the interface's own name. None if no interface is known.
    interface: str | None = None
    #: Hours that the terms allow a page to be kept. The archive then keeps only the items. None if the terms do not say it.
    keep_hours: int | None = None
    #: Most product pages behind listings in one run, the stalest first.
    max_products: int = 25


@cache
def names() -> tuple[str, ...]:
    """All source names, sorted. Only lists the folder, once, and imports nothing."""
    return tuple(sorted(info.name for info in pkgutil.iter_modules(sources.__path__) if not info.name.startswith("_")))


def folder(name: str) -> Path:
    """The folder of a source, with its code, its contract, its sample pages and its cases."""
    return Path(sources.__path__[0], name)


def get(name: str) -> Source:
    """The source called `name`. Raises KeyError, with the known names, if there is no such source."""
    known = names()
    if name not in known:
        raise KeyError(f"no source is called {name!r}; known are {', '.join(known)}")
    source = importlib.import_module(f"gpuledger.extract.sources.{name}").SOURCE
    if not isinstance(source, Source) or source.name != name:
        raise TypeError(f"extract/sources/{name}/__init__.py must hold a Source named {name!r} as SOURCE")
    return source


def discover() -> list[Source]:
    """All sources, by name."""
    return [get(name) for name in names()]
