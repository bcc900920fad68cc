"""Parser of answers of Best Buy's Products API."""

from __future__ import annotations

import json
from collections.abc import Iterator
from urllib.parse import parse_qsl, urlsplit

from gpuledger.extract.items import Link, ListingTotal, Parsed
from gpuledger.extract.markup.links import with_parameter
from gpuledger.extract.price.amounts import json_number
from gpuledger.extract.readers import answers, bestbuy_products
from gpuledger.extract.source import Page


def parse(page: Page) -> Iterator[Parsed]:
    """Yield the offers of one page and the link to the next page. Raises LayoutChanged."""
    with answers.understood(page, "no answer of Best Buy's products"):
        answer = json.loads(page.content, parse_float=json_number)
        total, products = int(answer["total"]), answer["products"]
        if not isinstance(products, list):
            raise ValueError("products is no list")
    yield ListingTotal(count=total, text=f"total {total}")
    yield from bestbuy_products.offers(page, products)
    here, following = dict(parse_qsl(urlsplit(page.url).query)).get("cursorMark", ""), answer.get("nextCursorMark")
    if products and isinstance(following, str) and following != here:
        yield Link(url=with_parameter(page.url, "cursorMark", following), role="next_page")
