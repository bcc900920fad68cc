"""Product pages of shop systems and countries, each with the numbers, taxes, rates and other goods around a price.

Written from the systems' public themes and the countries' habits before anyone looked at how the reader takes them. Of the
61 of which these are left it then gave the price of 48 and none wrongly; a page that is left open still (it has no price)
says why in its name or in a comment. Shops, goods and prices are invented.
"""

from __future__ import annotations

import tomllib
from decimal import Decimal
from pathlib import Path

import pytest

from tests.support.html_page import offer_on, price_of

_TABLE = tomllib.loads(Path(__file__).with_name("shops_abroad.toml").read_text(encoding="utf-8"))
SHOPS = {shop["name"]: shop for shop in _TABLE["shop"]}


@pytest.mark.parametrize("name", SHOPS)
def test_its_product_page(name: str) -> None:
    shop = SHOPS[name]
    page = f"""<!doctype html><html lang="{shop["lang"]}"><head><meta charset="utf-8"><title>{shop["title"]} | Shop</title>
        {shop.get("head", "")}</head><body><header><a href="/">Shop</a><nav><a href="/a">A</a><a href="/b">B</a></nav>
        </header>{shop["body"]}<footer><p>Shop</p></footer></body></html>"""
    offer, issues = offer_on(shop["url"], page)
    price = (shop["price"], shop["currency"], shop.get("kind", "now")) if "price" in shop else (None, None, None)
    assert price_of(offer) == price, issues
    assert (offer.availability, offer.sku) == (shop.get("stock", "in_stock"), shop.get("sku"))
    assert "old" not in shop or offer.list_price == Decimal(shop["old"])
