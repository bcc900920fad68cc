"""Product feeds in every form, what is wrong in them, and a whole one over HTTP."""

from __future__ import annotations

import gzip
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest

from gpuledger import errors
from gpuledger.extract import source
from gpuledger.extract.archive.parsed_cache import ParsedCache
from gpuledger.extract.archive.snapshots import Archive
from gpuledger.extract.collect import Reading, collect
from gpuledger.extract.fetch.http import Client, HttpSettings, Machine
from gpuledger.extract.pages import Fetching
from gpuledger.extract.readers import feeds
from gpuledger.items import Issue, Offer, Parsed
from gpuledger.redaction import redact
from tests.extract import pages
from tests.extract.fake_time import FakeTime
from tests.extract.faulty_server import FaultyServer, first_fail, page, status

NOW = datetime(2024, 2, 26, 3, 0, tzinfo=UTC)
HEADER = "id\ttitle\tlink\tprice\tavailability\tcondition\n"
CARD = "A1\tVeltor RTX 4070 12GB\thttps://s.example/a1\t549.99 USD\tin stock\tnew\n"
GOOGLE = 'xmlns:g="http://base.google.com/ns/1.0"'


def parse(content: str | bytes, url: str = "https://s.example/feed") -> list[Parsed]:
    return list(source.get("product_feed").parse(pages.page(content, url, "", NOW.isoformat())))


def offers(content: str | bytes, url: str = "https://s.example/feed") -> list[Offer]:
    return [item for item in parse(content, url) if isinstance(item, Offer)]


ATOM = f"""<feed xmlns="http://www.w3.org/2005/Atom" {GOOGLE}><title>Shop</title><entry><title>Veltor RTX 4070 12GB</title>
    <link href="https://s.example/a1"/><g:id>A1</g:id><g:price>549.99 USD</g:price><g:availability>in_stock</g:availability>
    </entry></feed>"""


@pytest.mark.parametrize(
    "content",
    [
        HEADER + CARD,
        (HEADER + CARD).replace("\t", "|"),
        (HEADER + CARD).replace("\t", ";"),
        "\ufeff" + HEADER + CARD,
        (HEADER + CARD).encode("utf-16"),
        gzip.compress((HEADER + CARD).encode()),
        ATOM,
        gzip.compress(ATOM.encode()),
        f'<?xml version="1.0"?><rss version="2.0" {GOOGLE}><channel><item><g:id>A1</g:id><title>Veltor RTX 4070 12GB</title>'
        "<link>https://s.example/a1</link><g:price>USD 549.99</g:price><g:availability>in stock</g:availability></item>"
        "</channel></rss>",
    ],
)
def test_every_form_gives_the_same_offer(content: str | bytes) -> None:
    (offer,) = offers(content)
    assert (offer.key, offer.title, offer.url) == ("s.example/A1", "Veltor RTX 4070 12GB", "https://s.example/a1")
    assert (offer.price, offer.currency, offer.availability) == (Decimal("549.99"), "USD", "in_stock")


def test_columns_of_the_shop_s_own_are_named_behind_the_address() -> None:
    table = "artno,what,cost,money\nA1,Veltor RTX 4070 12GB,549.99,USD\n"
    with pytest.raises(errors.LayoutChanged, match="id, price, title"):
        parse(table)
    told = "https://s.example/feed#id=artno&title=what&price=cost&currency=money&country=us"
    # So the archive keeps it, from which a night reads.
    assert redact(told) == told
    (offer,) = offers(table, told)
    assert (offer.key, offer.price) == ("s.example/A1", Decimal("549.99"))


@pytest.mark.parametrize(
    ("interval", "price"),
    [
        ("2024-02-24T11:07+0100/2024-02-29T23:07+0100", "499.99"),
        ("2024-01-24T11:07+0100/2024-01-29T23:07+0100", "549.99"),
        ("", "499.99"),
        ("this week", "549.99"),
    ],
)
def test_a_sale_counts_while_it_is_on(interval: str, price: str) -> None:
    table = (
        f"id,title,price,sale_price,sale_price_effective_date\nA1,Veltor RTX 4070,549.99 USD,499.99 USD,{interval}\n"
    )
    assert [offer.price for offer in offers(table)] == [Decimal(price)]


UNTOLD = ("549.99", "549,99.00 USD", "1,299 EUR", "from 549.99 USD", "549.99 USD 12", "-5 USD", "549.99 XXQ")
PRICED, OTHER = "id\ttitle\tprice\nA1\tVeltor RTX 4070\t{}\n", "A2\tVeltor RTX 4080\t999.00 USD\n"


@pytest.mark.parametrize(
    ("table", "prices", "spoilt"),
    [
        # What cannot be told is an issue; what is none, or stands for none, is no price.
        *((PRICED.format(price) + OTHER, ["A2 999.00 now"], ["line 2"]) for price in UNTOLD),
        *((PRICED.format(price), ["A1 None None"], []) for price in ("", "0.00 USD", "9999.00 USD")),
        # Goods in sets are no price of one.
        ("id\ttitle\tprice\tmultipack\nA1\tVeltor RTX 4070\t999.00 USD\t2\n", ["A1 999.00 bundle"], []),
        # A delimiter in a text spoils its line alone.
        ("id,title,price\nA1,Veltor RTX 4070, 12GB,549.99 USD\nA2,Veltor RTX 4080,999.00 USD\n", ["A2 999.00 now"],
         ["line 2"]),
    ],
)  # fmt: skip
def test_prices_of_a_feed(table: str, prices: list[str], spoilt: list[str]) -> None:
    found = parse(table)
    assert [f"{item.sku} {item.price} {item.price_kind}" for item in found if isinstance(item, Offer)] == prices
    assert [(item.code, item.where) for item in found if isinstance(item, Issue)] == [
        ("bad_entry", one) for one in spoilt
    ]


@pytest.mark.parametrize(
    ("content", "error"),
    [
        ("<html><body>Hello</body></html>", errors.LayoutChanged),
        ("<rss><channel><item>", errors.LayoutChanged),
        ("no table at all", errors.LayoutChanged),
        (gzip.compress((HEADER + CARD * 50).encode())[:60], errors.Truncated),
        (b"\x1f\x8bnot gzip at all", errors.Truncated),
        ('<!DOCTYPE r [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;">]><r>&b;</r>', errors.LayoutChanged),
    ],
)
def test_what_is_no_feed_is_said_to_be_none(content: str | bytes, error: type[errors.ExtractError]) -> None:
    with pytest.raises(error):
        parse(content)


def test_a_gzip_file_that_grows_without_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feeds, "MAX_BYTES", 100_000)
    with pytest.raises(errors.TooLarge):
        parse(gzip.compress(bytes(1_000_000)))


def test_ten_thousand_offers_and_a_shop_in_trouble(tmp_path: Path) -> None:
    """Three feeds of one night: one whole, one that is asked to wait for, one broken. Complete, polite, accounted for."""
    lines = [
        f"A{n}\tVeltor RTX 4070 No. {n}\thttps://s.example/{n}\t{500 + n / 100:.2f} USD\tin stock\tnew\n"
        for n in range(10_000)
    ]
    whole = gzip.compress((HEADER + "".join(lines)).encode(), mtime=0)
    small = (HEADER + CARD.replace("A1\t", "B1\t")).encode()
    busy, table = status(429, {"Retry-After": "7"}), page(small, {"Content-Type": "text/tab-separated-values"})
    time, host = FakeTime(), "feeds.shop.test"
    routes = {
        "/whole": page(whole, {"Content-Type": "application/gzip"}),
        "/later": first_fail(1, busy, table),
        "/broken": page(whole[: len(whole) // 2], {"Content-Type": "application/gzip"}),
    }
    with FaultyServer(routes) as server:
        settings = HttpSettings(connect_to={host: ("127.0.0.1", server.port)})
        with Client(settings, Machine(clock=time.clock, sleep=time.sleep, now=lambda: NOW)) as client:
            starts = [f"http://{host}{name}" for name in routes]
            fetching = Fetching(client, Archive(tmp_path / "s"), NOW, "run")
            result = collect(Reading(source.get("product_feed"), starts), fetching, ParsedCache(tmp_path / "p"))
    assert result.failure is None
    assert len(result.rows) == 10_001
    assert len({item.key for item, _ in result.rows if isinstance(item, Offer)}) == 10_001
    assert not result.is_complete
    assert [issue.code for issue, _ in result.issues] == ["Truncated"]
    assert time.clock() >= 7
