"""JSON that is nested more deeply than Python follows: what stands beside it on a page, or in a file of ours, is read."""

from __future__ import annotations

import gzip
from datetime import UTC, datetime
from pathlib import Path

from gpuledger.extract import source
from gpuledger.extract.archive.parsed_cache import ParsedCache
from gpuledger.extract.collect import parse_page
from gpuledger.extract.items import Chart, Offer
from gpuledger.extract.markup import html, jsonld
from gpuledger.extract.product import context, scripts
from gpuledger.extract.source import Page

DEEP = '{"price": ' + "[" * 100_000


def page(text: str) -> Page:
    url = "https://shop.example/p"
    html = {"content-type": "text/html; charset=utf-8"}
    return Page(
        url=url, final_url=url, content=text.encode(), sha256="0" * 64, fetched_at=datetime.now(UTC), headers=html
    )


def test_structured_data_hide_no_price_beside_them() -> None:
    good = '{"@type": "Product", "name": "GeForce RTX 4070", "offers": {"price": "599.99", "priceCurrency": "USD"}}'
    text = f"<script type='application/ld+json'>{DEEP}</script><script type='application/ld+json'>{good}</script>"
    (offer,) = [one for one in parse_page(source.get("generic_shop"), page(text)) if isinstance(one, Offer)]
    assert str(offer.price) == "599.99"
    assert jsonld.loads(DEEP) is None


def test_a_shops_state_hides_no_state_beside_it() -> None:
    state = '{"product": {"name": "GeForce RTX 4070", "price": 599.99, "currency": "USD"}}'
    text = f"<title>GeForce RTX 4070</title><h1>GeForce RTX 4070</h1><script>window.__STATE__ = {DEEP}</script>"
    seen = page(f"{text}<script>window.__STATE__ = {state};</script>")
    (claim,) = scripts.claims_of_scripts(context.build(seen, html.tree(seen.content), None, None))
    assert str(claim.readings[0]) == "599.99"


def test_a_gallery_hides_no_picture_beside_it() -> None:
    gallery = 'var data = {"galleryData": [{"image": {"src": "https://x.test/b.png"}}]}'
    text = f'<div id="article-body"><img src="/a.png"><script>var no = {DEEP}; {gallery}</script></div>'
    found = [one for one in parse_page(source.get("toms_ai_articles"), page(text)) if isinstance(one, Chart)]
    assert [one.image_url for one in found] == ["https://shop.example/a.png", "https://x.test/b.png"]


def test_a_cache_of_it_is_none(tmp_path: Path) -> None:
    cache, shop, seen = ParsedCache(tmp_path), source.get("newegg"), page("x")
    cache.put(shop, seen, [])
    assert cache.get(shop, seen) == []
    (file,) = (path for path in tmp_path.rglob("*") if path.is_file())
    file.write_bytes(gzip.compress(f"{DEEP}\n".encode()))
    assert cache.get(shop, seen) is None
