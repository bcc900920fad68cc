"""A user's shops, in three countries and on three platforms, set as the guide says: their prices count the same night."""

from __future__ import annotations

import json
import re
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

from gpuledger.extract.collect import Collected, Reading
from gpuledger.extract.fetch.http import Client, HttpSettings
from gpuledger.extract.sample.server import SampleSite, start_urls
from gpuledger.flows.night.gather import Reader, read_plain
from gpuledger.flows.night.refresh import run
from gpuledger.warehouse.paths import DataDir
from gpuledger.warehouse.read import query
from tests.command import ROOT, succeeds
from tests.extract.faulty_server import Exchange, FaultyServer
from tests.flows.inprocess import context

SHOPS, SCORES = "generic_shop", "toms_gpu_hierarchy"
GUIDE = ROOT / "docs/guides/shops.md"


def set_by_the_guide() -> dict[str, Any]:
    """The guide's settings, with addresses that a server here can answer."""
    told = tomllib.loads(re.findall(r"```toml\n(.*?)```", GUIDE.read_text("utf-8"), re.DOTALL)[0])
    addresses = {name: told[name] for name in ("product_urls", "product_feeds")}
    return told | {name: tuple(url.replace("https://", "http://") for url in urls) for name, urls in addresses.items()}


def woocommerce(name: str, price: str) -> str:
    graph = {"@type": "Product", "name": name, "offers": [{"@type": "Offer", "price": price, "priceCurrency": "GBP",
             "availability": "http://schema.org/InStock"}]}  # fmt: skip
    return f"""<html lang="en-GB"><title>{name} – Card Shop</title>
        <script type="application/ld+json">{json.dumps({"@context": "https://schema.org/", "@graph": [graph]})}</script>
        <body class="single-product"><span class="onsale">Sale!</span><h1 class="product_title">{name}</h1>
        <p class="price"><bdi>£{price}</bdi></p><div class="tax-info">inc. VAT</div>
        <p class="stock in-stock">In stock</p><button class="single_add_to_cart_button">Add to basket</button>"""


def prestashop(name: str, price: str) -> str:
    return f"""<html lang="pl"><title>{name}</title><body id="product" itemscope itemtype="https://schema.org/Product">
        <h1 itemprop="name">{name}</h1><div itemprop="offers" itemscope itemtype="https://schema.org/Offer">
        <link itemprop="availability" href="https://schema.org/InStock"><meta itemprop="priceCurrency" content="PLN">
        <span itemprop="price" content="{price}">{price.replace(".", ",")} zł</span> Brutto</div>
        <button class="add-to-cart">Dodaj do koszyka</button>"""


def shopify(name: str, price: str) -> str:
    told = {"@context": "http://schema.org/", "@type": "Product", "name": name, "offers": [{"@type": "Offer",
            "availability": "http://schema.org/InStock", "price": price, "priceCurrency": "USD"}]}  # fmt: skip
    return f"""<html lang="en"><title>{name}</title><script type="application/ld+json">{json.dumps(told)}</script>
        <h1 class="product__title">{name}</h1><span class="price-item">${price}</span>
        <form action="/cart/add"><button name="add">Add to cart</button></form>"""


POLISH = {"Karta graficzna Gigabyte GeForce RTX 3060 12GB": "1299.00", "Karta graficzna ASUS Dual GeForce RTX 4070 12GB":
          "2599.00", "Karta graficzna Palit GeForce RTX 4060 Dual 8GB": "1399.00"}  # fmt: skip
TILE = """<article class="product-miniature"><a href="/karta-{at}.html"><img alt=""></a>
    <h2><a href="/karta-{at}.html">{name}</a></h2><span class="price">{price} zł</span></article>"""
PAGES = {
    "/product/rtx-5070-ti/": woocommerce("MSI GeForce RTX 4070 Ti 12G VENTUS 3X OC", "849.00"),
    "/graphics-cards/": "<h1>Graphics cards</h1><a href='/product/rtx-4080/'>Zotac GeForce RTX 4080 Trinity</a>",
    "/product/rtx-4080/": woocommerce("Zotac GeForce RTX 4080 Trinity 16GB", "1049.00"),
    "/karty-graficzne": '<html lang="pl"><h1>Karty graficzne</h1><a href="/procesory">Procesory</a>'
    + "".join(TILE.format(at=at, name=name, price=price) for at, (name, price) in enumerate(POLISH.items())),
    **{f"/karta-{at}.html": prestashop(name, price) for at, (name, price) in enumerate(POLISH.items())},
    "/cards.csv": "artno,title,cost,availability\n1,Palit GeForce RTX 4080 16GB,1199.00 EUR,in stock\n",
    "/products/rtx-3090": shopify("EVGA GeForce RTX 3090 FTW3 Ultra 24GB", "849.00"),
}


def page(exchange: Exchange) -> None:
    exchange.reply(200, PAGES[exchange.path].encode())


def test_the_prices_of_shops_that_a_user_adds_count_the_same_night(tmp_path: Path) -> None:
    told = set_by_the_guide()
    one = context(tmp_path / "data", 1, only=[*told["sources"], SCORES])
    settings = replace(one.settings, **{name: told[name] for name in ("product_urls", "product_feeds", "market")})

    def read_all(reader: Reader, readings: list[Reading]) -> list[Collected]:
        with SampleSite(1) as site, FaultyServer(dict.fromkeys(PAGES, page)) as server:
            own = {url.split("/")[2] for url in (*told["product_urls"], *told["product_feeds"])}
            mine = dict.fromkeys(own, ("127.0.0.1", server.port))
            others = [one for one in readings if not one.source.is_of_many_shops]
            readings = [
                *(replace(one, starts=start_urls(one.source)) for one in others),
                *(one for one in readings if one.source.is_of_many_shops),
            ]
            with Client(HttpSettings(delay_s=0, max_attempts=1, connect_to={**site.connect_to, **mine})) as client:
                return read_plain(replace(reader, client=client), readings)

    assert run(replace(one, settings=settings, sample_night=None), read_all).published is not None
    data = DataDir(tmp_path / "data")
    counted = "SELECT gpu_id, price, currency, used_price_usd FROM mart.gpu_price ORDER BY gpu_id"
    assert [(card.removeprefix("nvidia-geforce-"), *row) for card, *row in query(data, counted)[1]] == [
        ("rtx-3060-12gb", 1299, "PLN", None), ("rtx-3090", None, None, 849), ("rtx-4060", 1399, "PLN", None),
        ("rtx-4070", 2599, "PLN", None), ("rtx-4070-ti", 849, "GBP", None),
        ("rtx-4080", 1199, "EUR", None),
    ]  # fmt: skip
    valued = "SELECT DISTINCT gpu_id FROM mart.value WHERE price_basis = 'street' ORDER BY ALL"
    scored = (
        "SELECT DISTINCT gpu_id FROM mart.gpu_price JOIN mart.ranking USING (gpu_id) WHERE price_usd > 0 ORDER BY ALL"
    )
    assert query(data, valued)[1] == query(data, scored)[1] != []
    ((url, why),) = query(data, f"SELECT url, message FROM ops.issue WHERE source = '{SHOPS}'")[1]
    assert (url, why.rpartition("such as ")[2]) == (
        "http://cardshop.example/graphics-cards/", "http://cardshop.example/product/rtx-4080/",
    )  # fmt: skip


def test_an_address_is_tried_before_it_is_set(tmp_path: Path) -> None:
    with FaultyServer(dict.fromkeys(PAGES, page)) as server:
        shop = f"http://127.0.0.1:{server.port}"

        def told(path: str) -> tuple[str, list[str]]:
            # Of all that settings name, only a hub may be on this machine.
            env = {"GPULEDGER_HUB": shop, "GPULEDGER_DELAY_S": "0"}
            out = succeeds("new-source", shop + path, data=tmp_path, env=env).out
            read, begins, settings = out.partition("product_urls")
            return read, tomllib.loads(begins + settings)["product_urls"]

        for path, said, urls in (
            (
                "/products/rtx-3090#condition=used",
                " · 849.00 USD · used · in_stock\n",
                ["/products/rtx-3090#condition=used"],
            ),
            ("/karty-graficzne", "a list of 3 products; the first of them:\nKarta", ["/karty-graficzne"]),
            ("/graphics-cards/#country=gb", " 1 links that name cards", ["/product/rtx-4080/#country=gb"]),
        ):
            read, addresses = told(path)
            assert said in read
            assert addresses == [shop + url for url in urls]
    assert list(tmp_path.iterdir()) == []
