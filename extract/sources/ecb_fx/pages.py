"""Parser of the European Central Bank's files of recent rates.

The file of a day and the file of 90 days have the same form: a `gesmes:Envelope` with a `Cube time=…` for each day, which
holds a `Cube currency=… rate=…` for each currency.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import date
from decimal import Decimal, InvalidOperation

from lxml import etree

from gpuledger.errors import LayoutChanged
from gpuledger.extract.markup import xml
from gpuledger.extract.source import Page
from gpuledger.items import FxRate, Issue, Parsed

_CUBE = "{http://www.ecb.int/vocabulary/2002-08-01/eurofxref}Cube"
_NUMBER = re.compile(r"[0-9]{1,9}(?:\.[0-9]{1,9})?")


def parse(page: Page) -> Iterable[Parsed]:
    """Yield an FxRate with base EUR for each day and currency.

    Raises LayoutChanged if the file is not an envelope of rates.
    """
    root, days = xml.root_of(page.content, page.url), 0
    if root.getroottree().docinfo.doctype:
        raise LayoutChanged(page.url, "a document type declaration, which the bank's files do not have")
    for day in root.iter(_CUBE):
        if "time" in day.attrib:
            days += 1
            yield from _day(day, page.url)
    if not days:
        raise LayoutChanged(page.url, "no Cube with a time in the file")


def _day(element: etree._Element, url: str) -> Iterator[Parsed]:
    text = element.attrib["time"]
    try:
        day = date.fromisoformat(text)
    except ValueError:
        yield _issue(f"time {text!r} is no date", "time", text, url)
        return
    rates = element.findall(_CUBE)
    if not rates:
        yield _issue(f"{day} has no rates", text, "", url)
    for rate in rates:
        currency, value = rate.get("currency", ""), rate.get("rate", "")
        try:
            # FxRate refuses 0, and a currency that is not three letters.
            yield FxRate(day=day, currency=currency, rate=Decimal(value if _NUMBER.fullmatch(value) else "NaN"))
        except (ValueError, InvalidOperation):
            yield _issue(f"{day}: {currency} {value!r} is no rate", f"{text} {currency}", value, url)


def _issue(message: str, where: str, text: str, url: str) -> Issue:
    return Issue(code="unreadable_rate", message=message, where=where, text=text, url=url)
