"""Listings of the shops: real search pages, and pages that are damaged, renamed, blocked or encoded otherwise."""

from __future__ import annotations

import dataclasses
import gzip
import html
import re
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gpuledger.errors import ExtractError, LayoutChanged
from gpuledger.extract import source, words
from gpuledger.extract.markup.mojibake import mend
from gpuledger.extract.readers import listing
from gpuledger.extract.source import Page
from gpuledger.items import Condition, Issue, Link, Offer
from tests.extract.pages import page

SHOPS = ("amazon", "bestbuy", "bhphoto", "danawa", "microcenter", "morele", "newegg")
LISTINGS = {
    "amazon": "search_us",
    "bestbuy": "listing",
    "bhphoto": "listing",
    "danawa": "list",
    "microcenter": "listing",
    "morele": "list",
    "newegg": "listing_old",
}


@pytest.fixture(scope="session")
def listing_of(fixture_page: Callable[[str, str], Page]) -> Callable[[str], Page]:
    """`listing_of(shop)`: the shop's listing among the fixtures."""
    return lambda shop: fixture_page(shop, LISTINGS[shop])


def with_content(page: Page, content: bytes | str) -> Page:
    return dataclasses.replace(page, content=content if isinstance(content, bytes) else content.encode())


def offers(page: Page, shop: str) -> list[Offer]:
    return [item for item in source.get(shop).parse(page) if isinstance(item, Offer)]


def real_listing(like: Page, folder: Path, name: str) -> tuple[Page, str]:
    content = gzip.decompress((folder / "shop_listings" / name).read_bytes())
    page = dataclasses.replace(like, url="", final_url="", content=content, headers={})
    return page, content.decode()


def test_real_amazon_search(shared_data: Path, listing_of: Callable[[str], Page]) -> None:
    page, text = real_listing(listing_of("amazon"), shared_data, "amazon_com_search_rtx3080_2022.html.gz")
    found = {offer.key: offer for offer in offers(page, "amazon")}
    # The same facts read from the source text by position, without a tree.
    cards = re.split(r'data-asin="(?=B0)', text)[1:]
    assert len(found) == len(cards) == 29
    for card in cards:
        offer = found[card[:10]]
        heading = re.search(r"<h2.*?<span[^>]*>(.*?)</span>", card, re.DOTALL)
        assert offer.title == " ".join(mend(html.unescape(heading.group(1))).split())
        shown = re.search(r'class="a-price" [^>]*>\s*<span\s+class="a-offscreen">\$([\d,.]+)<', card)
        assert offer.price == (Decimal(shown.group(1).replace(",", "")) if shown else None)
        assert offer.currency == ("USD" if shown else None)
        assert offer.url == f"https://www.amazon.com/dp/{offer.key}"
    assert sum(offer.price is not None for offer in found.values()) == 25
    assert all("â" not in offer.title for offer in found.values())


def test_real_morele_list(shared_data: Path, listing_of: Callable[[str], Page]) -> None:
    page, text = real_listing(listing_of("morele"), shared_data, "morele_pl_listing_rtx3080_2022.html.gz")
    found = {offer.key: offer for offer in offers(page, "morele")}
    attributes = re.findall(
        r'data-product-id="(\d+)"\s+data-product-name="([^"]+)".*?data-product-price="([\d.]+)"', text, re.DOTALL
    )
    assert len(found) == len(attributes) == 30
    for key, name, price in attributes:
        offer = found[key]
        assert (offer.title, offer.price, offer.currency) == (html.unescape(name).strip(), Decimal(price), "PLN")
        assert offer.url.startswith("https://www.morele.net/")
        assert offer.url.endswith(f"-{key}/")
        assert offer.availability == "in_stock"
    assert not [item for item in source.get("morele").parse(page) if isinstance(item, Issue)]


def test_list_of_cards_that_cannot_be_read_at_all_is_a_changed_layout(listing_of: Callable[[str], Page]) -> None:
    page = listing_of("newegg")
    content = page.content.decode().replace("item-title", "item-name")
    with pytest.raises(LayoutChanged, match="none of 3 listing cards"):
        offers(with_content(page, content), "newegg")


def test_danawa_in_euc_kr_says_the_same(listing_of: Callable[[str], Page]) -> None:
    page = listing_of("danawa")
    korean = page.content.decode().replace('charset="utf-8"', 'charset="euc-kr"').encode("cp949")
    headers = {"content-type": "text/html"}
    assert offers(dataclasses.replace(page, content=korean, headers=headers), "danawa") == offers(page, "danawa")


def test_danawa_repeat_at_another_price_is_told_and_not_taken(listing_of: Callable[[str], Page]) -> None:
    page = listing_of("danawa")
    content = page.content.decode().replace("<strong>829,000</strong>", "<strong>799,000</strong>", 1)
    found = list(source.get("danawa").parse(with_content(page, content)))
    assert [item.price for item in found if isinstance(item, Offer) and item.key == "88000001"] == [Decimal(829_000)]
    assert [item.code for item in found if isinstance(item, Issue)] == ["two_prices"]


@pytest.mark.parametrize(
    ("url", "lang", "shown", "price", "currency"),
    [
        ("https://www.amazon.com/s?k=x", "en-us", "$1,699.00", "1699.00", "USD"),
        ("https://www.amazon.co.uk/s?k=x", "en-gb", "£1,699.00", "1699.00", "GBP"),
        ("https://www.amazon.de/s?k=x", "de-de", "1.699,00 €", "1699.00", "EUR"),
        ("https://www.amazon.co.jp/s?k=x", "ja-jp", "￥169,900", "169900", "JPY"),
        ("https://www.amazon.pl/s?k=x", "pl-pl", "5 699,00 zł", "5699.00", "PLN"),
    ],
)
def test_amazon_price_by_site(
    url: str, lang: str, shown: str, price: str, currency: str, listing_of: Callable[[str], Page]
) -> None:
    text = (
        f'<html lang="{lang}"><body><div data-component-type="s-search-result" data-asin="B0TESTAA09"><h2>Card</h2>'
        f'<span class="a-price"><span class="a-offscreen">{shown}</span></span></div></body></html>'
    )
    page = dataclasses.replace(with_content(listing_of("amazon"), text), url=url, final_url=url)
    (offer,) = offers(page, "amazon")
    assert (offer.price, offer.currency) == (Decimal(price), currency)


@pytest.mark.parametrize(
    ("url", "shown", "price", "currency"),
    [
        ("https://www.newegg.ca/x", "$<strong>1,599</strong><sup>.99</sup>", "1599.99", "CAD"),
        ("https://www.newegg.com/global/au-en/x", "AU$<strong>1,599</strong><sup>.99</sup>", "1599.99", "AUD"),
        ("https://www.newegg.com/global/de-en/x", "<strong>1,599</strong><sup>.99</sup> €", "1599.99", "EUR"),
        ("https://www.newegg.com/global/kr-ko/x", "₩<strong>1,599,000</strong>", "1599000", "KRW"),
        ("https://www.newegg.com/global/ar-es/x", "$<strong>1,599</strong><sup>.99</sup>", None, None),
        ("https://www.newegg.com/x", "$<strong>54</strong><sup>.16</sup>/mo", "54.16", "USD"),
    ],
)
def test_newegg_price_by_site(
    url: str, shown: str, price: str | None, currency: str | None, listing_of: Callable[[str], Page]
) -> None:
    text = (
        '<html><body><div class="item-container"><a class="item-title" href="/card/p/N82E16814880099">Card</a>'
        f'<ul><li class="price-current">{shown}&nbsp;–<a class="price-current-num">(3 Offers)</a></li></ul></div>'
    )
    page = dataclasses.replace(with_content(listing_of("newegg"), text), url=url, final_url=url)
    (offer,) = offers(page, "newegg")
    assert (offer.price, offer.currency) == (Decimal(price) if price else None, currency)
    kind = "from" if "Starting" in shown else "monthly" if "/mo" in shown else "now"
    assert offer.price_kind == (kind if price else None)


def test_placeholder_and_zero_are_no_price(listing_of: Callable[[str], Page]) -> None:
    for shown in ("$9,999.99", "$99,999.99", "$0.00"):
        page = listing_of("newegg")
        content = page.content.decode().replace(
            "$<strong>229</strong><sup>.99</sup>", shown.replace("$", "$<strong>") + "</strong>"
        )
        assert offers(with_content(page, content), "newegg")[0].price is None


@pytest.mark.parametrize(
    ("box", "condition"),
    [
        ('<div id="usedAccordionRow_0"><div id="corePrice_feature_div">{}</div></div>', "used"),
        ('<div id="usedOnlyBuybox">{}</div>', "used"),
        ('<div id="newAccordionRow_0">{}</div><div id="usedAccordionRow_1"></div>', "new"),
    ],
)
def test_a_row_of_used_goods_alone_is_no_new_card(box: str, condition: str) -> None:
    price = '<span class="a-price"><span class="a-offscreen">£414.50</span></span>'
    goods = f'<div id="dp"><h1 id="productTitle">Varde RTX 4070 12GB</h1>{box.format(price)}</div>'
    shown = page(f'<html lang="en-gb"><body>{goods}</body></html>', "https://www.amazon.co.uk/dp/B0CARD0001")
    found = offers(shown, "amazon")
    assert [offer.condition for offer in found] == [condition]


@pytest.mark.parametrize(
    ("text", "condition"),
    [
        ("Varde GeForce RTX 3080 (Renewed)", "refurbished"),
        ("Refurbished: Varde RTX 3080", "refurbished"),
        ("Open Box: Varde RTX 3080", "open_box"),
        ("Varde RTX 3080 Open-Box", "open_box"),
        ("Used Varde RTX 3080", "used"),
        ("바르데 RTX 3080 (중고)", "used"),
        ("바르데 RTX 3080 리퍼비시", "refurbished"),
        ("Karta Varde RTX 3080 odnowiona", "refurbished"),
        ("Varde RTX 3080 gebraucht", "used"),
        ("【整備済み品】Varde RTX 3080", "refurbished"),
        ("【中古】Varde RTX 3080", "used"),
        ("Power cable used for RTX 3080", None),
        ("바르데 그리퍼 RTX 3080 홀더", None),
        ("Varde GeForce RTX 3080 10GB", None),
    ],
)
def test_condition_by_words(text: str, condition: Condition | None) -> None:
    assert words.condition(text) == condition


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Varde RTX 4080 + 850W PSU Combo", True),
        ("Varde RTX 4080 Starfield Bundle", True),
        ("RTX 4080 と電源 セット", True),
        ("Zestaw Varde RTX 4080 i zasilacz", True),
        ("RTX 4080 ゲーミングヘッドセット対応", False),
        ("바르데 RTX 4080 칩세트", False),
        ("Varde GeForce RTX 4080 16GB", False),
        # By its plus.
        ("Norvik B650M-K + Norvik RX 9060 XT 16GB", True),
        ("Norvik H-V501MV-0927 + Norvik DUAL-RTX5060-O8G", True),
        ("主機板 B650M 加 RX 9060 XT 16GB", True),
        ("RTX 5070 12GB + Netzteil 750W", True),
        ("RTX 5070 + 27 inch monitor", True),
        ("RTX 5070 HDMI + 3x DisplayPort", False),
        ("Norvik RX 9070 PCS+", False),
        ("RTX 4090 8+8 pin", False),
        ("RTX 5080 16GB + backplate", False),
    ],
)
def test_bundle_by_words(text: str, expected: bool) -> None:
    assert words.is_bundle(text) is expected


@pytest.mark.parametrize(
    ("twice", "meant"),
    [
        ("ï¿¥89,800", "￥89,800"),
        ("équipé\u00a0» „groß“ 5\u00a0°C", "équipé\u00a0» „groß“ 5\u00a0°C"),
        ("그래픽카드 グラフィック", "그래픽카드 グラフィック"),
    ],
)
def test_twice_encoded_text_is_mended_and_other_text_left(twice: str, meant: str) -> None:
    assert mend(twice) == meant


@given(st.text(st.characters(categories=("Ll", "Lu", "Lo"), max_codepoint=0xD7A3), min_size=2, max_size=20))
@example("그래픽카드")
def test_mending_never_raises_and_leaves_nothing_longer(text: str) -> None:
    twice = text.encode().decode("latin-1")
    assert len(mend(twice)) <= len(twice)
    assert mend(text.encode("ascii", "ignore").decode()) == text.encode("ascii", "ignore").decode()


@given(data=st.data())
@settings(max_examples=60, deadline=None)
def test_damaged_listings_give_no_wrong_price(data: st.DataObject, listing_of: Callable[[str], Page]) -> None:
    """Cut, repeat or drop a piece anywhere: every price that still comes out is one that the whole page states."""
    shop = data.draw(st.sampled_from(SHOPS))
    page = listing_of(shop)
    start = data.draw(st.integers(0, len(page.content) - 1))
    end = data.draw(st.integers(start, min(len(page.content), start + 400)))
    middle = data.draw(st.sampled_from([b"", page.content[start:end] * 2, b"</div>", b"<li>"]))
    whole = {(offer.key, offer.price) for offer in offers(page, shop)}
    try:
        found = list(source.get(shop).parse(with_content(page, page.content[:start] + middle + page.content[end:])))
    except ExtractError:
        return
    assert all(isinstance(item, Offer | Issue | Link) for item in found)
    digits = re.sub(rb"\D", b"", page.content)
    for item in found:
        if isinstance(item, Offer) and item.price is not None and (item.key, item.price) not in whole:
            # A price cut in the middle of its digits cannot be known to be cut; it must still be digits of the page.
            assert str(int(item.price)).encode() in digits


def test_offer_needs_title_address_and_key(listing_of: Callable[[str], Page]) -> None:
    page = listing_of("newegg")
    locale = listing.Locale("US", "en", "USD")
    for missing in ("title", "url", "key"):
        words = {"title": "Card", "url": "https://x.test/", "key": "1"} | {missing: ""}
        with pytest.raises(listing.BadCard, match={"url": "address"}.get(missing, missing)):
            list(listing.offer(page, locale, listing.Card(**words)))
