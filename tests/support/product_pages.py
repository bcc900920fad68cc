"""Real shop pages with hand-made truth: what the reader of product pages says of them, counted right, wrong and missing."""

from __future__ import annotations

import dataclasses
import functools
import gzip
import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from urllib.parse import urlsplit

from gpuledger.errors import ExtractError
from gpuledger.extract import product
from gpuledger.extract.markup import html, structured
from gpuledger.extract.price import currency as currencies
from gpuledger.extract.price.amounts import decimal_symbol
from gpuledger.extract.product import claims, context, decide, layout, scripts, visible
from gpuledger.extract.source import Page
from gpuledger.items import Issue, Offer

DATA = Path(__file__).parents[3] / "shared" / "data" / "product_pages"
Truth = dict[str, list[str]]
_STOCK = {"in_stock": "InStock", "out_of_stock": "OutOfStock", "preorder": "PreOrder"}


@dataclass(slots=True)
class Count:
    """Answers to one question. `wrong` were answered wrongly, `missing` not at all though the page has the answer."""

    right: int = 0
    wrong: int = 0
    missing: int = 0
    faults: list[str] = field(default_factory=list)

    def add(self, answer: str | None, accepted: list[str], is_right: bool, page: str) -> None:
        """Count one page's answer; `accepted` is empty where the page shows none."""
        if answer is not None and is_right:
            self.right += 1
            return
        if answer is not None:
            self.wrong += 1
        if accepted:
            self.missing += 1
        if answer is not None or accepted:
            self.faults.append(f"{page}: {answer} instead of {accepted}")

    @property
    def precision(self) -> float:
        """Share of the answers that are right."""
        return self.right / max(1, self.right + self.wrong)

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall. A wrong answer where there is one counts against both."""
        return 2 * self.right / max(1, 2 * self.right + self.wrong + self.missing)


def pages(folder: Path = DATA) -> Iterator[tuple[Page, Truth]]:
    """Each page with its truth. Nothing where the folder is not on this machine."""
    file = folder / "ground-truth.json"
    if not file.is_file():
        return
    for digest, truth in json.loads(file.read_text(encoding="utf-8")).items():
        content = gzip.decompress((folder / "html" / f"{digest}.html.gz").read_bytes())
        url = truth["url"]
        yield (
            Page(url=url, final_url=url, content=content, sha256=digest, fetched_at=datetime.now(UTC), headers={}),
            truth,
        )


def read(page: Page) -> tuple[Offer | None, list[Issue]]:
    """The offer and the issues of a page; no offer where it is refused."""
    try:
        items = list(product.parse(page))
    except ExtractError:
        return None, []
    return next((item for item in items if isinstance(item, Offer)), None), [i for i in items if isinstance(i, Issue)]


def as_it_is(page: Page) -> Page:
    """The page itself."""
    return page


def measure(folder: Path = DATA, seen_as: Callable[[Page], Page] = as_it_is) -> dict[str, Count]:
    """Counts for `price`, `currency` (of the right prices), `availability` and `sku`, of pages as `seen_as` makes them."""
    counts = {name: Count() for name in ("price", "currency", "availability", "sku")}
    for page, truth in pages(folder):
        offer, _ = read(seen_as(page))
        name = page.url[:70]
        amount = offer.price if offer else None
        right = amount is not None and any(
            _same(amount, str(offer and offer.currency), t) for t in truth.get("price", [])
        )
        counts["price"].add(None if amount is None else str(amount), truth.get("price", []), right, name)
        if right and offer and truth.get("currency"):
            code, sign = str(offer.currency), truth["currency"][0].strip()
            counts["currency"].add(code, [sign], currencies.may_mean(sign, code), name)
        stock = _STOCK.get(offer.availability) if offer else None
        counts["availability"].add(stock, truth["availability"], stock in truth["availability"], name)
        sku = offer.sku if offer else None
        counts["sku"].add(sku, truth.get("sku", []), sku in truth.get("sku", []), name)
    return counts


def silent(page: Page) -> Page:
    """The page without a word to machines: what is left is what a reader sees."""
    content = page.content
    for mark in (b"ld+json", b"itemscope", b"itemprop", b"typeof", b"product:", b"og:price", b"og:product"):
        content = content.replace(mark, b"x-" + mark[::-1])
    return dataclasses.replace(page, content=content)


def nameless(page: Page) -> Page:
    """The page without a class or an id: a template whose names nobody knows."""
    return dataclasses.replace(page, content=re.sub(rb"""(?i)\s(?:class|id)=(?:"[^"]*"|'[^']*')""", b"", page.content))


#: What is tried for the numbers in `decide.Limits`.
_LIMITS = [
    decide.Limits(strong, alone, sole, lead)
    for strong in (3.4, 4.0, 4.6)
    for alone in (3.0, 3.6, 4.2)
    for sole in (2.3, 2.9, 3.6)
    for lead in (0.3, 0.6, 0.9)
]


def leave_one_host_out(folder: Path = DATA, seen_as: Callable[[Page], Page] = as_it_is) -> Count:
    """Prices of each host's pages, read with the limits that are best on the pages of all other hosts."""
    hosts: dict[str, list[list[Count]]] = {}
    for page, truth in pages(folder):
        decided = _decided(seen_as(page))
        counts = [Count() for _ in _LIMITS]
        for count, (amount, currency) in zip(counts, decided, strict=True):
            right = amount is not None and any(_same(amount, str(currency), t) for t in truth.get("price", []))
            count.add(None if amount is None else str(amount), truth.get("price", []), right, page.url[:70])
        hosts.setdefault(urlsplit(page.url).hostname or "", []).append(counts)
    total = Count()
    for host, own_pages in hosts.items():
        others = [_sum(one[at] for other, ones in hosts.items() if other != host for one in ones)
                  for at in range(len(_LIMITS))]  # fmt: skip
        best = max(
            range(len(_LIMITS)), key=lambda at: (others[at].wrong == 0, others[at].f1, _LIMITS[at] == decide.LIMITS)
        )
        total = _sum([total, *(counts[best] for counts in own_pages)])
    return total


def _sum(counts: Iterable[Count]) -> Count:
    total = Count()
    for count in counts:
        total.right += count.right
        total.wrong += count.wrong
        total.missing += count.missing
        total.faults += count.faults
    return total


def _decided(page: Page) -> list[tuple[Decimal | None, str | None]]:
    """Price and currency of a page under each of the limits."""
    tree = html.tree(page.content, page.headers.get("content-type"))
    here = context.build(page, tree, None, None)
    products = claims.narrowed(here, claims.own_products(here, structured.products(tree, here.url)))
    stated = claims.of_page(here, products)
    currency = next((claim.currency for claim in stated if claim.currency), None) or context.stated_currency(here)
    seen = visible.visible_prices(here, layout.layout_of(here), currency)
    told = functools.cache(lambda: scripts.claims_of_scripts(here))
    found = (decide.decide(here, stated, seen, told, limits) for limits in _LIMITS)
    return [(decision.price, decision.currency) for decision in found]


def _same(amount: Decimal, currency: str, truth: str) -> bool:
    """Whether the amount is the one in the truth, which is kept as printed, without the zeros at its end.

    So `24.99` stands for `$24.990` on a page that writes thousands with a point: 24,990 pesos.
    """
    printed = Decimal(truth.strip())
    return amount == printed or (decimal_symbol(None, currencies.home(currency)) == "," and amount == printed * 1000)
