"""Parser of answers of Best Buy's Products API."""

from __future__ import annotations

import json
from collections.abc import Iterator
from urllib.parse import parse_qsl, urlsplit

from gpuledger.extract.errors import LayoutChanged
from gpuledger.extract.items import Issue, Link, ListingTotal, Parsed
from gpuledger.extract.markup.links import with_parameter
from gpuledger.extract.price.amounts import json_number
from gpuledger.extract.readers import bestbuy_products
from gpuledger.extract.source import Page


def parse(page: Page) -> Iterator[Parsed]:
    """Yield the offers of one page and the link to the next page. Raises LayoutChanged."""
    try:
        answer = json.loads(page.content, parse_float=json_number)
        total, products = int(answer["total"]), answer["products"]
        if not isinstance(products, list):
            raise ValueError("products is no list")
    except (ValueError, KeyError, TypeError) as error:
        raise LayoutChanged(page.url, f"no answer of Best Buy's products: {type(error).__name__} {error}") from error
    yield ListingTotal(count=total, text=f"total {total}")
    for position, row in enumerate(products):
        try:
            yield from bestbuy_products.offer(page, row)
        except (ValueError, TypeError, AttributeError, KeyError) as error:
            message = f"the API's product cannot be read: {error}"
            text = json.dumps(row, default=str)[:200]
            yield Issue(code="bad_card", message=message, where=f"products[{position}]", text=text)
    following = answer.get("nextCursorMark")
    if products and isinstance(following, str) and following != _cursor(page.url):
        yield Link(url=with_parameter(page.url, "cursorMark", following), role="next_page")


def _cursor(url: str) -> str:
    return dict(parse_qsl(urlsplit(url).query)).get("cursorMark", "")
