"""What a source is, and how the program finds the sources.

Each source is a folder in `extract/sources/`: `source.toml` declares it, with the fields of `Source`, and `pages.py` holds
its parser. There is no registry.
"""

from __future__ import annotations

import importlib
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from functools import cache, partial
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar
from urllib.parse import urlsplit

from gpuledger.extract import sources
from gpuledger.items import Parsed
from gpuledger.message import Label

_Declared = TypeVar("_Declared")


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """One archived page as a parser sees it.

    The content is bytes and not decoded text, since the page itself may name its charset.

    `url` is the requested address, `final_url` the address at which its redirects ended. Resolve relative links against
    `final_url`. Header names are in lower case. `fetched_at` is in UTC. `sha256` is the hash of `content` and names the
    archived file.
    """

    url: str
    final_url: str
    content: bytes
    sha256: str
    fetched_at: datetime
    status: int = 200
    headers: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """What a source's interface requires. `credentials` names the settings with the credentials.

    The source is not read unless both of these settings are set. They are exchanged at `token_url` for a bearer token of
    `scope` (OAuth 2.0, client credentials: RFC 6749, 4.4). A query parameter in `as_header` is sent as that header instead.
    """

    credentials: tuple[str, str]
    token_url: str
    scope: str
    as_header: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Publishing:
    """Whether the terms of a source allow what was read from it to be published: the sentence that says so, its page, and
    the day on which somebody read it there, None if nobody did. `licence` is what goes with the rows.
    """

    allowed: bool
    sentence: str
    page: str
    read: date | None = None
    licence: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """One place that the program reads every night.

    - `parse` is pure: it takes a page and yields items, issues and links to follow. It raises LayoutChanged if the page is
      not one that it knows.
    - `start` holds the live addresses. A source without start addresses reads only the addresses that the settings give.
    - `sample` holds paths on the source's host of the bundled sample site. A source without them has no part in the sample.
    - `give_back` is for files that a person dropped: it writes the rows that could not be read to the path, each with its
      reason, and returns whether there were any.
    - `hosts` names further hosts from which the source may be fetched, beside the hosts of its addresses (a shop's pictures
      may lie elsewhere). The program fetches nothing from any other host that the pages link or redirect to.
    - `country` and `language` (ISO 3166 and ISO 639) decide what `1.299` means. They are None if the page itself must say.
    """

    name: str
    title: str
    parse: Callable[[Page], Iterable[Parsed]]
    kinds: tuple[str, ...]
    homepage: str = ""
    start: tuple[str, ...] = ()
    sample: tuple[str, ...] = ()
    country: str | None = None
    language: str | None = None
    freshness_hours: int = 48
    hosts: tuple[str, ...] = ()
    give_back: Callable[[Page, Path], bool] | None = None
    #: The setting that names its addresses. For a name in braces within an address of `start`, see `addresses`.
    setting: str = ""
    #: The folders of the data directory in which a person drops files for it, each with the content types by the ends of
    #: the files' names. A file is read like a page.
    drops: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    #: Files of the program that it reads.
    bundled: Callable[[], list[Path]] | None = None
    #: What gives it something to read if it has nothing.
    way_in: str = "it has no live address"
    #: Whether its addresses are lists, which may be incomplete. False if each address is the page of one product.
    has_lists: bool = True
    #: Whether its addresses belong to shops that have nothing to do with each other: `extract.shops` reads each shop
    #: separately.
    is_of_many_shops: bool = False
    #: Whether the program caches its items beside the archive. For a file that is read once the cache costs more than it
    #: saves.
    keeps_parsed: bool = True
    #: How many pages' processor time one of its files may take: a packed table of all days holds as much as many pages.
    pages_in_one: int = 1
    #: The most pages of one run. A loop of next-page links or an endless shop ends here, with an issue.
    max_pages: int = 50
    #: The credentials that its interface requires; None for pages that anybody may read.
    access: Access | None = None
    #: The official interface of the company that runs the site: the name of the source that reads that interface (its own
    #: name if this source does), or else what the interface is called. None if no interface is known.
    interface: str | None = None
    #: What its terms say about publishing. Of a source without it nothing is published, unless the operator has read its
    #: terms; if they forbid it, nobody can allow it.
    publishing: Publishing | None = None
    #: The most product pages behind listings in one run; those that were read longest ago come first.
    max_products: int = 25

    def addresses(self, settings: object) -> list[str]:
        """Return its live addresses. The name of a setting in braces stands for each of the values of the setting."""
        if self.setting:
            return list(getattr(settings, self.setting))
        starts: list[str] = []
        for start in self.start:
            name = start.partition("{")[2].partition("}")[0]
            starts += [start.replace(f"{{{name}}}", value) for value in getattr(settings, name)] if name else [start]
        return starts


def _call_in_pages(name: str, function: str, *arguments: object) -> Any:
    """Call a function of a source's module `pages`, importing that module only now.

    A night on which no page changed needs the names and addresses of all sources but no parser. Importing all parsers with
    their libraries takes a tenth of such a night.
    """
    return getattr(load_parser(name), function)(*arguments)


def load_parser(name: str) -> ModuleType:
    """Import the parser of the source called `name` now, so that the limits on its first page do not count the import."""
    return importlib.import_module(f"{sources.__name__}.{name}.pages")


@cache
def names() -> tuple[str, ...]:
    """Return all source names, sorted. Lists the folder once and imports nothing."""
    return tuple(sorted(file.parent.name for file in Path(sources.__path__[0]).glob("*/source.toml")))


def folder(name: str) -> Path:
    """Return the folder of a source: its code, its contract, its pages of the sample site, and its cases."""
    return Path(sources.__path__[0], name)


@cache
def priced_is_in_stock(name: str) -> bool:
    """Return whether a price alone says that the goods are in stock, as the source's contract states with its reason.

    That holds for lists that show only what can be bought, or that mark everything else.
    """
    document = tomllib.loads((folder(name) / "contract.toml").read_text(encoding="utf-8"))
    return bool(document.get("stock", {}).get("priced") == "in_stock")


@cache
def get(name: str) -> Source:
    """Return the source called `name`, as its `source.toml` declares it.

    `in_pages` there names what its module `pages` has beside `parse`. Raises KeyError, with the known names, if there is no
    such source, and TypeError, naming the file, for a field that there is not or that is missing.
    """
    known = names()
    if name not in known:
        raise KeyError(f"no source is called {name!r}; known are {', '.join(known)}")
    file = folder(name) / "source.toml"
    declared = tomllib.loads(file.read_text(encoding="utf-8"))
    own = ("parse", *declared.pop("in_pages", ()))
    functions = {function: partial(_call_in_pages, name, function) for function in own}
    try:
        for field_name, kind in (("access", Access), ("publishing", Publishing)):
            if field_name in declared:
                declared[field_name] = _of(kind, declared[field_name])
        return _of(Source, {"name": name, **functions, **declared})
    except TypeError as error:
        raise TypeError(f"{file}: {error}") from None


def _of(kind: type[_Declared], fields: Mapping[str, Any]) -> _Declared:
    return kind(**{name: tuple(value) if isinstance(value, list) else value for name, value in fields.items()})


@cache
def country_of(host: str) -> str | None:
    """Return the country (ISO 3166) of the shop at a host, if it is a source of one country."""
    hosts = ((urlsplit(one.homepage).hostname or "", one.country) for one in discover() if one.country)
    bare = host.lower().removeprefix("www.")
    return next((country for its_host, country in hosts if its_host.removeprefix("www.") == bare), None)


def seller(name: str, url: str | None = None, vendor: str | None = None) -> str:
    """Return who sells an offer of the source `name`, as people are told: `Newegg`, `GPU Barn (Newegg)` of a marketplace's
    `vendor`, `BuildShop` of a quote, `shop.example` of a shop for whose pages there are no rules of their own. A source that
    this program has no more is called by its name.
    """
    if name not in names():
        return name
    source = get(name)
    if source.is_of_many_shops and (host := urlsplit(url or "").hostname):
        return host
    if vendor is None:
        return Label(source.title)
    return vendor if name == "quotes" else f"{vendor} ({source.title})"


def discover() -> list[Source]:
    """Return all sources, sorted by name. Imports no parser."""
    return [get(name) for name in names()]
