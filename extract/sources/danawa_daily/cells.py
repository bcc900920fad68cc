"""One cell of Danawa's daily price tables: a price in won, several shops with a price each, or a mark that there is none."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

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
