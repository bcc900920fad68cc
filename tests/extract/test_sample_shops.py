"""The sample shops, served by the sample site and read by the real parsers: what night 1 gives, and what night 2 changes."""

from __future__ import annotations

import re
from decimal import Decimal
from functools import cache
from urllib.parse import urlsplit

import pytest

from gpuledger.extract import source
from gpuledger.extract.errors import LayoutChanged
from gpuledger.extract.items import Issue, Link, Offer, Parsed
from gpuledger.extract.sample.server import SampleSite, clock, start_urls
from gpuledger.extract.source import Page
from tests.extract import test_sample_server
from tests.extract.pages import page

SHOPS = ("bhphoto", "danawa", "generic_shop", "newegg")
#: GPU as titles name it, with what must not follow: the lowest price in USD of a new card in stock, sold by the shop.
BEST = {
    "RTX 4090": "1749.99",
    "RTX 4080": "1099.99",
    "RTX 4070 Ti": "749.99",
    "RTX 3090 Ti": "1599.99",
    "RTX 3090": "1299.00",
    "RTX 3080 Ti": "899.99",
    "RTX 3080 12GB": "799.99",
    "RTX 3080 10GB": "699.99",
    "RTX 3070 Ti": "469.99",
    "RTX 3070": "379.99",
    "RTX 3060 Ti": "309.99",
    "RTX 3060 12GB": "279.99",
    "RTX 3050": "219.99",
    "RX 7800 XT": "499.99",
    "RX 7900 XTX": "929.99",
    "Arc A770": "279.99",
}


def ask(site: SampleSite, url: str) -> Page:
    parts = urlsplit(url)
    status, headers, content = test_sample_server.ask(site, parts.path, parts.hostname or "")
    assert status == 200, url
    return page(content, url, headers["content-type"], clock(site.night).isoformat())


def crawl(night: int, shop: str) -> list[Parsed]:
    """Everything that the shop's pages give, following next pages as a refresh does."""
    found: list[Parsed] = []
    with SampleSite(night) as site:
        waiting = start_urls(source.get(shop))
        while waiting:
            items = list(source.get(shop).parse(ask(site, waiting.pop(0))))
            waiting += [item.url for item in items if isinstance(item, Link)]
            found += items
    return found


def offers(items: list[Parsed]) -> dict[str, Offer]:
    return {item.key: item for item in items if isinstance(item, Offer)}


@cache
def night1(shop: str) -> list[Parsed]:
    """Night 1 of one shop, read once."""
    return crawl(1, shop)


def _is(gpu: str, title: str) -> bool:
    """Whether the title is of a single card of this GPU: enough for titles that are known, no resolver."""
    name = re.sub(r" 1[02]GB$", "", gpu)
    others = ("Bracket", "Water Block", "Desktop", "Laptop")
    ends = title.partition(name)[2]
    return (
        name in title
        and not ends.startswith(" Ti")
        and not any(word in title for word in others)
        and gpu[len(name) :].strip() in title
    )


@pytest.mark.parametrize("gpu", BEST)
def test_every_gpu_has_a_new_card_in_stock_from_the_shop_itself(gpu: str) -> None:
    prices = [
        offer.price
        for shop in SHOPS
        for offer in offers(night1(shop)).values()
        if offer.price is not None
        and offer.currency == "USD"
        and (offer.price_kind, offer.condition, offer.availability) == ("now", "new", "in_stock")
        and offer.seller_kind != "marketplace"
        and offer.price > 100
        and _is(gpu, offer.title)
    ]
    assert prices
    assert min(prices) == Decimal(BEST[gpu])


def test_newegg_traps_are_told_apart() -> None:
    found = offers(night1("newegg"))
    told = {
        "9SIB990KTR0001": ("1649.99", "now", "new", "in_stock", "marketplace"),
        "N82E16814990007R": ("449.99", "now", "refurbished", "in_stock", "first_party"),
        "N82E16814990004OB": ("689.99", "now", "open_box", "in_stock", "first_party"),
        "Combo.9900013": ("1349.99", "bundle", "new", "in_stock", "unknown"),
        "N82E16814990014": ("1499.99", "now", "new", "out_of_stock", "first_party"),
        "N82E16814990015": (None, None, "new", "in_stock", "first_party"),
        "N82E16814990016": (None, None, "new", "in_stock", "first_party"),
        "N82E16814990028": ("12.00", "now", "new", "in_stock", "first_party"),
        "N82E16814990029": (None, None, "new", "in_stock", "first_party"),
        "9SIB990KTR0032": ("229.99", "now", "used", "in_stock", "marketplace"),
        "N82E16835990011": ("15.99", "now", "new", "in_stock", "first_party"),
    }
    for key, (price, kind, condition, availability, seller_kind) in told.items():
        offer = found[key]
        assert (offer.price, offer.price_kind) == (Decimal(price) if price else None, kind), key
        assert (offer.condition, offer.availability, offer.seller_kind) == (condition, availability, seller_kind), key
    assert found["N82E16814990001"].list_price == Decimal("1899.99")
    assert found["N82E16814990015"].price_text == "See price in cart"
    assert [item.code for item in night1("newegg") if isinstance(item, Issue)] == ["no_price", "ambiguous_price"]
    # One advertisement stands twice on the first page, word for word.
    assert sum(isinstance(item, Offer) for item in night1("newegg")) == len(found) + 1 == 29


def test_bhphoto_has_list_and_product_pages() -> None:
    found = offers(night1("bhphoto"))
    assert len(found) == 12
    assert found["1730116-REG"].price == Decimal("1129.00")
    assert found["1730117-USE"].condition == "used"
    assert (found["1730118-REG"].availability, found["1730118-REG"].price) == ("preorder", Decimal("779.99"))
    assert (found["1730107-REG"].price, found["1730107-REG"].price_text) == (None, "Add to Cart to See Price")
    assert found["1730106-REG"].availability == "out_of_stock"
    assert found["1730108-REG"].price_kind == "bundle"


def test_danawa_has_variants_marks_and_no_repeats() -> None:
    items = night1("danawa")
    found = offers(items)
    assert len([item for item in items if isinstance(item, Offer)]) == len(found) == 15
    assert {offer.currency for offer in found.values() if offer.price} == {"KRW"}
    assert [found[key].price for key in ("99000002", "99000003", "99000004")] == [1_489_000, 1_420_000, 1_190_000]
    assert found["99000004"].condition == "used"
    assert found["99000001"].shop_count == 26
    assert [found["99000005"].title[-3:], found["99000006"].title[-4:]] == ["8GB", "16GB"]
    assert (found["99000012"].price, found["99000012"].availability) == (None, "out_of_stock")
    assert (found["99000013"].price, found["99000013"].price_text) == (None, "가격비교예정")


def test_generic_shop_reads_microdata() -> None:
    found = {offer.sku: offer for offer in offers(night1("generic_shop")).values()}
    assert {sku: offer.price for sku, offer in found.items()} == {
        "EH-3060TI": Decimal("309.99"),
        "EH-3070TI": Decimal("469.99"),
        "EH-3060-12": Decimal("289.00"),
        "EH-4070": Decimal("549.99"),
        "EH-3080R": Decimal("429.00"),
    }
    assert found["EH-4070"].availability == "out_of_stock"
    assert found["EH-3080R"].condition == "refurbished"
    assert found["EH-3060-12"].price_kind == "now"


def test_night_2_changes_a_few_prices_and_adds_and_removes_a_listing() -> None:
    before, after = offers(night1("newegg")), offers(crawl(2, "newegg"))
    assert after.keys() - before.keys() == {"N82E16814990017"}
    assert before.keys() - after.keys() == {"N82E16814990026"}
    moved = {
        key: (before[key].price, after[key].price) for key in before.keys() & after.keys() if before[key] != after[key]
    }
    assert moved == {
        "N82E16814990001": (Decimal("1749.99"), Decimal("1699.99")),
        "N82E16814990002": (Decimal("1899.99"), Decimal("1879.99")),
    }
    won, won_after = offers(night1("danawa")), offers(crawl(2, "danawa"))
    assert {key: won_after[key].price for key in won if won[key] != won_after[key]} == {"99000010": Decimal(295_000)}
    assert offers(crawl(2, "generic_shop")) == offers(night1("generic_shop"))


def test_night_2_breaks_every_page_of_one_shop() -> None:
    shop = source.get("bhphoto")
    with SampleSite(2) as site:
        for url in start_urls(shop):
            with pytest.raises(LayoutChanged):
                list(shop.parse(ask(site, url)))


@pytest.mark.parametrize("shop", ["danawa", "generic_shop", "newegg"])
def test_night_3_is_night_2(shop: str) -> None:
    assert crawl(3, shop) == crawl(2, shop)
