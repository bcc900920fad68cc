"""Parser of Danawa's monthly tables of daily prices.

A file holds tens of thousands of cells, so the rows are light. `observations` yields one Observation for each cell, with the
price in Korean won (an int is exact, since the won has no smaller unit) and the crawl's time in UTC. `parse` is the function
that every source has: it yields the prices of the file by day.

Known of the files: times are Korean (UTC+9). A cell is a price, or several shops with a price each
(`11번가_24,790|쿠팡_26,950`, of which the lowest counts), or a mark that there is no price (0, 일시품절, 가격비교예정).
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from functools import cache
from typing import Literal, NamedTuple

from gpuledger.errors import LayoutChanged
from gpuledger.extract import words
from gpuledger.extract.readers import feeds
from gpuledger.extract.source import Page
from gpuledger.items import Condition, IndexPrice, Issue, Parsed

KST = timezone(timedelta(hours=9), "KST")
#: A month of all graphics cards has 0.4 to 2 MB. A month that names all shops could have ten times as much.
MAX_BYTES = 64_000_000


Status = Literal["priced", "several_shops", "no_price", "unreadable", "repeated"]

_NUMBER = re.compile(r"\d{1,3}(?:,\d{3})+|\d+")
#: A mark in the place of a price, without spaces, and the reason under which it is counted.
_NO_PRICE = {
    "": "empty",
    "-": "empty",
    "0": "zero",
    "일시품절": "sold_out",
    "품절": "sold_out",
    "가격비교예정": "comparison_planned",
    "가격비교중지": "comparison_stopped",
    "단종": "discontinued",
    "판매중지": "discontinued",
    "출시예정": "announced",
}


class Cell(NamedTuple):
    """The meaning of one cell's text.

    `reason` says why there is no price. `shop` is the shop with the lowest price, if the cell names shops.
    """

    status: Status
    price_krw: int | None
    shop: str | None
    shop_count: int | None
    reason: str | None


class Observation(NamedTuple):
    """One product at one crawl.

    `observed_at` is in UTC, `price_krw` is in won for one piece, `text` is the cell as printed.
    """

    product_code: str
    name: str
    observed_at: datetime
    price_krw: int | None
    shop: str | None
    shop_count: int | None
    status: Status
    reason: str | None
    text: str


def observations(page: Page) -> Iterator[Observation]:
    """Yield one observation for each cell under a time, row by row. `page.content` may be gzip.

    A second cell of the same product at the same time is `repeated` if it says the same, else `unreadable`. Raises
    LayoutChanged if the file is not such a table, TooLarge and Truncated if it cannot be unpacked.
    """
    for observation, _ in _observations(page):
        if observation is not None:
            yield observation


def parse(page: Page) -> Iterator[Parsed]:
    """Yield the last price of each product on each Korean day, and an Issue for each cell that cannot be read."""
    last: dict[tuple[str, str], Observation] = {}
    outside: Counter[str] = Counter()
    for observation, reason in _observations(page):
        if observation is None:
            outside[reason] += 1
        elif observation.status == "unreadable":
            message = (
                f"{observation.name!r}: {observation.text!r} is neither a price nor a known mark ({observation.reason})"
            )
            where = f"product {observation.product_code} at {observation.observed_at.isoformat()}"
            yield Issue(code="unreadable_cell", message=message, where=where, text=observation.text, url=page.final_url)
        elif observation.price_krw is not None and observation.status != "repeated":
            day = observation.observed_at.astimezone(KST).date().isoformat()
            known = last.get((observation.product_code, day))
            if known is None or known.observed_at <= observation.observed_at:
                last[observation.product_code, day] = observation
    for reason, count in outside.items():
        message = f"{count} cells belong to no product and time ({reason})"
        yield Issue(code="unreadable_cell", message=message, url=page.final_url)
    for (code, day), observation in last.items():
        yield IndexPrice(
            gpu_name=observation.name,
            price=Decimal(observation.price_krw or 0),
            currency="KRW",
            condition=condition(observation.name),
            table=f"Danawa by day, product {code}",
            column=observation.observed_at.astimezone(KST).isoformat(sep=" "),
            period=day,
            price_text=observation.text,
        )


@cache
def condition(name: str) -> Condition:
    """Return the condition that a name states. Cached, since a product keeps its name for months."""
    return words.condition(name) or "new"


def _observations(page: Page) -> Iterator[tuple[Observation | None, str]]:
    """Yield each cell's observation; None, with the reason, for a cell that belongs to no product and time."""
    rows = csv.reader(io.StringIO(_text(page), newline=""))
    times = _header(page, next(rows, []))
    cells: dict[str, Cell] = {}  # most cells of a month repeat the text of another cell
    seen: dict[tuple[str, datetime], str] = {}
    try:
        for row in rows:
            if not any(row):
                continue
            code, name = row[0].strip(), row[1].strip() if len(row) > 1 else ""
            if not code or not name:
                yield from ((None, "no_product") for _ in times)
                continue
            texts = row[2:] + [""] * (len(times) - len(row) + 2)
            yield from ((None, "no_column") for _ in texts[len(times) :])
            for time, text in zip(times, texts, strict=False):
                if time is None:
                    yield None, "no_time"
                    continue
                cell = cells.get(text)
                if cell is None:
                    cell = cells[text] = read_cell(text)
                status, price, shop, shops, reason = cell
                before = seen.get((code, time))
                if before is None:
                    seen[code, time] = text
                elif before == text:
                    status = "repeated"
                else:
                    status, price, shop, shops, reason = "unreadable", None, None, None, "two_values"
                yield Observation(code, name, time, price, shop, shops, status, reason, text), ""
    except csv.Error as error:
        raise LayoutChanged(page.final_url or page.url, f"line {rows.line_num} is no CSV: {error}") from error


def _header(page: Page, header: list[str]) -> list[datetime | None]:
    """Return the crawls' times in UTC, None for a column without a time. Raises LayoutChanged unless the header is
    `Id,Name,<times>`.
    """
    times = [_time(column) for column in header[2:]]
    if [column.strip().lower() for column in header[:2]] != ["id", "name"] or not any(times):
        raise LayoutChanged(
            page.final_url or page.url, f"the header is not 'Id,Name,<times>' but {','.join(header)[:80]!r}"
        )
    return times


def _time(column: str) -> datetime | None:
    try:
        time = datetime.fromisoformat(column.strip())
    except ValueError:
        return None
    return (time if time.tzinfo else time.replace(tzinfo=KST)).astimezone(UTC)


def _text(page: Page) -> str:
    content = feeds.unpacked(page, MAX_BYTES, "split the file by month")
    for encoding in ("utf-8-sig", "cp949"):
        try:
            return content.decode(encoding)
        except UnicodeDecodeError:
            continue
    raise LayoutChanged(page.final_url or page.url, "the file is neither UTF-8 nor CP949 text")


def read_cell(text: str) -> Cell:
    """Read one cell.

    A cell of several shops gives the lowest price. One part that cannot be read makes the whole cell unreadable.
    """
    bare = text.strip().removesuffix("원").replace(" ", "")
    if reason := _NO_PRICE.get(bare):
        return Cell("no_price", None, None, None, reason)
    if _NUMBER.fullmatch(bare):
        price = int(bare.replace(",", ""))
        return Cell("priced", price, None, None, None) if price else Cell("no_price", None, None, None, "zero")
    if "_" not in bare:
        return Cell("unreadable", None, None, None, "unknown_mark")
    priced: list[tuple[int, str]] = []
    for part in text.strip().split("|"):
        shop, _, amount = part.rpartition("_")
        cell = read_cell(amount) if shop.strip() and "_" not in amount else Cell("unreadable", None, None, None, None)
        if cell.status == "unreadable":
            return Cell("unreadable", None, None, None, "unknown_shop_price")
        if cell.price_krw is not None:
            priced.append((cell.price_krw, shop.strip()))
    if not priced:
        return Cell("no_price", None, None, None, "no_shop_has_one")
    lowest, shop = min(priced, key=lambda pair: pair[0])
    return Cell("several_shops" if len(priced) > 1 else "priced", lowest, shop, len(priced), None)
