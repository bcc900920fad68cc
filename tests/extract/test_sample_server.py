"""The sample site is a real server of listed files: what night 1 gives the real parsers, and what night 2 changes."""

from __future__ import annotations

import http.client
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal
from functools import cache
from urllib.parse import urlsplit

import pytest

from gpuledger.errors import LayoutChanged
from gpuledger.extract import source
from gpuledger.extract.sample import server
from gpuledger.extract.sample.server import NIGHTS, SampleSite, clock, host, start_urls
from gpuledger.extract.source import Page, Source, discover
from gpuledger.items import Issue, Link, Offer, Parsed
from tests.extract.pages import page

FX = host("ecb_fx")
FX_PATH = "/stats/eurofxref/eurofxref-hist-90d.xml"


@pytest.fixture(scope="module")
def site() -> Iterator[SampleSite]:
    with SampleSite(1) as running:
        yield running


def ask(site: SampleSite, path: str, host: str = FX, **headers: str) -> tuple[int, dict[str, str], bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", site.port, timeout=10)
    try:
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.putrequest("GET", path, skip_host=True)
        for name, value in {"Host": host, **sent}.items():
            connection.putheader(name, value)
        connection.endheaders()
        response = connection.getresponse()
        return response.status, {k.lower(): v for k, v in response.getheaders()}, response.read()
    finally:
        connection.close()


def test_clock_is_three_in_the_morning_of_each_night() -> None:
    assert [clock(night) for night in NIGHTS] == [datetime(2023, 11, day, 3, tzinfo=UTC) for day in (16, 17, 18)]


@pytest.mark.parametrize("night", [0, 4, -1])
def test_an_unknown_night_names_the_known_ones(night: int) -> None:
    with pytest.raises(ValueError, match=rf"no night {night}; it has 1, 2, 3"):
        SampleSite(night)
    with pytest.raises(ValueError, match="1, 2, 3"):
        clock(night)


def test_every_start_page_of_every_sample_source_is_there_on_every_night() -> None:
    sources = [source for source in discover() if source.sample]
    assert sources
    for night in NIGHTS:
        with SampleSite(night) as running:
            for source in sources:
                assert host(source.name) in running.hosts
                for url, path in zip(start_urls(source), source.sample, strict=True):
                    assert url == f"http://{host(source.name)}{path}"
                    status, headers, body = ask(running, path, host(source.name))
                    assert (status, bool(body)) == (200, True), (night, url)
                    assert headers["content-type"] != "application/octet-stream", url


def test_a_source_without_a_sample_starts_nowhere() -> None:
    source = Source(name="x", title="x", homepage="x", parse=lambda page: [], kinds=())
    assert start_urls(source) == []


def test_connect_to_names_every_host(site: SampleSite) -> None:
    assert site.connect_to == dict.fromkeys(site.hosts, ("127.0.0.1", site.port))
    assert FX in site.hosts


def test_a_page_that_the_client_has_is_not_sent_again(site: SampleSite) -> None:
    _, headers, _ = ask(site, FX_PATH)
    assert ask(site, FX_PATH, If_None_Match=headers["etag"])[::2] == (304, b"")
    assert ask(site, FX_PATH, If_None_Match='"other"')[0] == 200


def test_robots_allow_all(site: SampleSite) -> None:
    status, headers, body = ask(site, "/robots.txt")
    assert status == 200
    assert headers["content-type"].startswith("text/plain")
    assert body == b"User-agent: *\nAllow: /\n"


def test_a_port_in_the_host_header_is_no_other_host(site: SampleSite) -> None:
    assert ask(site, FX_PATH, host=f"{FX}:{site.port}")[0] == 200


def test_an_unknown_host_is_refused(site: SampleSite) -> None:
    assert ask(site, "/", host="www.example.com")[0] == 421


@pytest.mark.parametrize(
    "path",
    [
        "/../server.py",
        "/..%2f..%2fserver.py",
        "/%2e%2e/%2e%2e/server.py",
        "//etc/passwd",
        "/../toms_gpu_hierarchy/reviews/gpu-hierarchy,4388.html",
        "/stats/../../../server.py",
        "/stats/eurofxref/",
        "/%00",
        "/..\\..\\server.py",
    ],
)
def test_nothing_outside_the_listed_files_is_served(site: SampleSite, path: str) -> None:
    assert ask(site, path)[0] == 404


def test_a_night_overlays_adds_and_removes_pages(tmp_path, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    for name, text in {
        "shop/sample/night1/index.html": "one",
        "shop/sample/night1/kept.html": "kept",
        "shop/sample/night1/old.html": "old",
        "shop/sample/night1/search@page=2.html": "page two",
        "shop/sample/night1/search.html": "page one",
        "shop/sample/night2/index.html": "two",
        "shop/sample/night2/new.html": "new",
        "shop/sample/night2/old.html.gone": "",
    }.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    monkeypatch.setattr(server, "_SITE", tmp_path)

    def read(night: int) -> dict[str, tuple[int, str]]:
        with SampleSite(night) as running:
            assert running.hosts == ("shop.sample.test",)
            paths = ("/", "/kept", "/old.html", "/new.html", "/search", "/search?page=2", "/search?page=9")
            answers = {path: ask(running, path, "shop.sample.test") for path in paths}
            return {path: (status, body.decode().strip()) for path, (status, _, body) in answers.items()}

    first, second, third = (read(night) for night in NIGHTS)
    assert first["/"] == (200, "one")
    assert first["/old.html"] == (200, "old")
    assert first["/new.html"][0] == 404
    assert first["/search?page=2"] == (200, "page two")
    assert first["/search"] == first["/search?page=9"] == (200, "page one")
    assert second == first | {"/": (200, "two"), "/old.html": second["/old.html"], "/new.html": (200, "new")}
    assert second["/old.html"][0] == 404
    assert third == second


def test_bytes_in_another_encoding_are_sent_without_a_charset(tmp_path, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    folder = tmp_path / "shop" / "sample" / "night1"
    folder.mkdir(parents=True)
    (folder / "index.html").write_bytes("그래픽카드".encode("euc-kr"))
    (folder / "plain.html").write_bytes("그래픽카드".encode())
    monkeypatch.setattr(server, "_SITE", tmp_path)
    with SampleSite(1) as running:
        assert ask(running, "/", "shop.sample.test")[1]["content-type"] == "text/html"
        assert ask(running, "/plain", "shop.sample.test")[1]["content-type"] == "text/html; charset=utf-8"


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


def ask_page(site: SampleSite, url: str) -> Page:
    parts = urlsplit(url)
    status, headers, content = ask(site, parts.path, parts.hostname or "")
    assert status == 200, url
    return page(content, url, headers["content-type"], clock(site.night).isoformat())


def crawl(night: int, shop: str) -> list[Parsed]:
    """Everything that the shop's pages give, following next pages as a refresh does."""
    found: list[Parsed] = []
    with SampleSite(night) as site:
        waiting = start_urls(source.get(shop))
        while waiting:
            items = list(source.get(shop).parse(ask_page(site, waiting.pop(0))))
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
                list(shop.parse(ask_page(site, url)))


@pytest.mark.parametrize("shop", ["danawa", "generic_shop", "newegg"])
def test_night_3_is_night_2(shop: str) -> None:
    assert crawl(3, shop) == crawl(2, shop)
