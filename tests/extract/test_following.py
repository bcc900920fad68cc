"""Pages behind pages: totals, product pages within a budget, sitemaps; and that a source is read from its own hosts."""

from __future__ import annotations

import dataclasses
import gzip
import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from urllib.parse import urljoin

import pytest

from gpuledger.errors import ForeignHost
from gpuledger.extract import source
from gpuledger.extract import source as sources
from gpuledger.extract.archive.parsed_cache import ParsedCache
from gpuledger.extract.archive.snapshots import Archive
from gpuledger.extract.collect import Collected, Reading, collect
from gpuledger.extract.fetch import addresses
from gpuledger.extract.fetch.http import Client, HttpSettings, Machine
from gpuledger.extract.fetch.site import site_of
from gpuledger.extract.markup.html import tree
from gpuledger.extract.pages import Fetching, OfRun
from gpuledger.extract.product_details import merged
from gpuledger.extract.readers import listing, sitemaps
from gpuledger.extract.source import Page, Source
from gpuledger.flows.settings import settings
from gpuledger.items import Issue, Link, ListingTotal, Offer, Parsed
from tests.extract import pages
from tests.extract.fake_time import FakeTime
from tests.extract.faulty_server import Exchange, FaultyServer, Route, page, status

NIGHT = datetime(2024, 3, 1, 3, 0, tzinfo=UTC)
HOST = "listing.shop.test"


def parse(seen: Page) -> Iterator[Parsed]:
    """A shop of these tests, whose pages are JSON: a listing with its offers and links, or one product."""
    said = json.loads(seen.content)
    if "total" in said:
        yield ListingTotal(count=said["total"], text=str(said["total"]))
    for number, price in said.get("offers", {}).items():
        offer = Offer(
            title=f"Card {number}", url=urljoin(seen.url, f"/p/{number}"), key=number, seller=said.get("seller")
        )
        if price is not None:
            offer = dataclasses.replace(offer, price=Decimal(price), currency="USD", price_kind="now")
        yield offer
        if price is None:
            yield Link(url=urljoin(seen.url, f"/p/{number}"), role="product")
    for address in said.get("pages", ()):
        yield Link(url=urljoin(seen.url, address), role="next_page")


SHOP = Source(name="newegg", title="", homepage="", parse=parse, kinds=("offer",), max_products=2)


def read(
    routes: dict[str, Route], night: int, folder: Path, starts: tuple[str, ...] = ("/list",)
) -> tuple[Collected, list[str]]:
    """What a night gives, and the paths that it asked for."""
    time = FakeTime()
    now = NIGHT + timedelta(days=night)
    with FaultyServer(routes) as server:
        settings = HttpSettings(connect_to={HOST: ("127.0.0.1", server.port)})
        with Client(settings, Machine(clock=time.clock, sleep=time.sleep, now=lambda: now)) as client:
            fetching = Fetching(client, Archive(folder / "s"), now, f"run{night}")
            reading = Reading(SHOP, [f"http://{HOST}{start}" for start in starts])
            result = collect(reading, fetching, ParsedCache(folder / "p"))
    return result, [path for path in server.paths() if path != "/robots.txt"]


def answer(**said: object) -> Route:
    return page(json.dumps(said).encode(), {"Content-Type": "application/json"})


def prices(result: Collected) -> dict[str, Decimal | None]:
    return {item.key: item.price for item, _ in result.rows if isinstance(item, Offer)}


ROUTES = {
    "/list": answer(offers={"a": "1.00", "b": None, "c": None, "d": None}, total=4),
    **{
        f"/p/{key}": answer(offers={key: price}, seller="Barn")
        for key, price in (("b", "2.00"), ("c", "3.00"), ("d", "4.00"))
    },
}


def test_product_pages_are_read_within_the_budget_the_stalest_first(tmp_path: Path) -> None:
    first, asked = read(ROUTES, 0, tmp_path)
    assert asked == ["/list", "/p/b", "/p/c"]
    assert prices(first) == {"a": 1, "b": 2, "c": 3, "d": None}
    assert first.is_complete
    assert [issue.code for issue, _ in first.issues] == ["products_left"]
    second, asked = read(ROUTES, 1, tmp_path)
    assert asked == ["/list", "/p/d", "/p/b"]
    assert prices(second) == {"a": 1, "b": 2, "c": None, "d": 4}


def test_a_replay_reads_the_product_pages_of_its_run(tmp_path: Path) -> None:
    read(ROUTES, 0, tmp_path)
    live, _ = read(ROUTES, 1, tmp_path)
    archive = Archive(tmp_path / "s")
    of_run = OfRun(archive, archive.log("newegg").of_run("run1"), {})
    again = collect(Reading(SHOP, [f"http://{HOST}/list"]), of_run, ParsedCache(tmp_path / "q"))
    assert (again.rows, again.issues, again.is_complete) == (live.rows, live.issues, live.is_complete)


def test_a_product_page_that_fails_costs_nothing_but_itself(tmp_path: Path) -> None:
    result, _ = read(ROUTES | {"/p/b": status(404)}, 0, tmp_path)
    assert result.failure is None
    assert result.is_complete
    assert prices(result) == {"a": 1, "b": None, "c": 3, "d": None}
    assert ("NotFound", "warning") in [(issue.code, issue.severity) for issue, _ in result.issues]


def test_what_the_listings_state_is_added_up_over_the_start_addresses(tmp_path: Path) -> None:
    routes = {
        "/list": answer(offers={"a": "1.00"}, total=40, pages=["/list/2"]),
        "/list/2": answer(offers={"b": "1.00"}, total=41),
        "/other": answer(offers={"c": "1.00"}, total=7),
        "/silent": answer(offers={"d": "1.00"}),
    }
    both, _ = read(routes, 0, tmp_path, ("/list", "/other"))
    assert (both.stated_total, both.listed) == (48, 3)
    one_is_silent, _ = read(routes, 0, tmp_path, ("/list", "/silent"))
    assert (one_is_silent.stated_total, one_is_silent.listed) == (None, 3)


def test_an_offer_of_both_pages_is_the_product_page_s_with_the_listing_s_address() -> None:
    listed = Offer(
        title="Card", url="https://s.example/p/1", key="1", mpn="M1", price=Decimal(5), currency="USD", price_kind="now"
    )
    full = Offer(
        title="Card, black",
        url="https://s.example/p/1?v",
        key="1",
        seller="Barn",
        price=Decimal(6),
        currency="USD",
        price_kind="now",
    )
    alone = Offer(title="Other", url="https://s.example/p/2", key="2")
    assert merged([(listed, "L")], [(full, "P"), (alone, "P")]) == [
        (dataclasses.replace(full, title="Card", url="https://s.example/p/1", mpn="M1"), "P"),
        (alone, "P"),
    ]
    silent = dataclasses.replace(full, price=None, currency=None, price_kind=None)
    assert merged([(listed, "L")], [(silent, "P")]) == [(dataclasses.replace(listed, seller="Barn"), "L")]
    listed, gone = (
        dataclasses.replace(offer, availability=state)
        for offer, state in ((listed, "in_stock"), (silent, "out_of_stock"))
    )
    ((offer, _),) = merged([(listed, "L")], [(gone, "P")])
    assert (offer.price, offer.availability) == (Decimal(5), "out_of_stock")


@pytest.mark.parametrize(
    ("shown", "count"),
    [
        ("<p>1-36 of 1,204 results</p>", 1204),
        ("<p>Showing <b>1</b> - <b>24</b> of <b>196</b> items</p><p>1 - 24 of 196 items</p>", 196),
        ("<span>1–60 von 1.482 Artikeln</span>", 1482),
        ("<p>全1,204件中 1〜36件</p>", 1204),
        ("<p>1-16 of over 1,000 results</p>", None),
        ("<p>1-5 of 240 reviews</p>", None),
        ("<p>1-24 of 96 items</p><p>1-24 of 1,204 items</p>", None),
        ("<script>'1-36 of 1,204 results'</script>", None),
        ("<p>Nothing here</p>", None),
    ],
)
def test_the_total_that_a_listing_states(shown: str, count: int | None) -> None:
    totals = [total.count for total in listing.listing_total(tree(f"<html><body>{shown}</body></html>".encode()))]
    assert totals == ([] if count is None else [count])


SITEMAP = """<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
    <url><loc>https://s.example/p/veltor-rtx-4070-12gb</loc></url><url><loc>https://s.example/p/quiet-fan</loc></url>
    <url><loc>https://other.example/p/veltor-rtx-4080</loc></url></urlset>"""
INDEX = """<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><sitemap><loc>https://s.example/sitemap-2.xml.gz</loc>
    </sitemap></sitemapindex>"""


def links(content: bytes) -> list[tuple[str, str]]:
    seen = pages.page(content, "https://s.example/sitemap.xml", "")
    assert sitemaps.is_sitemap(seen)
    found = list(source.get("generic_shop").parse(seen))
    assert all(isinstance(item, Link | Issue) for item in found)
    return [(item.role, item.url) for item in found if isinstance(item, Link)]


def test_a_sitemap_leads_to_the_cards_of_its_own_host() -> None:
    cards = [("product", "https://s.example/p/veltor-rtx-4070-12gb")]
    assert links(SITEMAP.encode()) == cards
    assert links(gzip.compress(SITEMAP.encode())) == cards
    assert links(INDEX.encode()) == [("next_page", "https://s.example/sitemap-2.xml.gz")]


def test_a_page_that_speaks_of_sitemaps_is_none() -> None:
    assert not sitemaps.is_sitemap(pages.page("<html><body><p>&lt;urlset&gt;</p></body></html>", "", ""))


def test_a_list_leads_to_its_cards_and_its_next_page() -> None:
    """Cards of WooCommerce, whose classes differ by number and stock; an advertisement, and what others bought."""
    cards = "".join(
        f'<li class="product post-{n} {stock}"><a href="/p/{n}"><h2>Veltor RTX 40{n} 12GB</h2><b>$5{n}.00</b></a></li>'
        for n, stock in ((60, "instock"), (70, "outofstock"), (80, "instock"))
    )
    beside = '<div><a href="/ad">Veltor RTX 5090 from $1,999.00</a></div>'
    seen = f'<html lang="en-us"><h1>Cards</h1>{beside}<ul>{cards}</ul><a class="next" href="/cards?p=2">Next</a></html>'
    found = list(source.get("generic_shop").parse(pages.page(seen, "https://s.example/cards#country=us", "text/html")))
    expected = [*(("product", f"/p/{n}#country=us") for n in (60, 70, 80)), ("next_page", "/cards?p=2#country=us")]
    assert [
        (item.role, item.url.removeprefix("https://s.example")) for item in found if isinstance(item, Link)
    ] == expected


SITE_HOST, PICTURES, ELSEWHERE = "www.site.test", "pictures.site-cdn.test", "evil.elsewhere.test"
NOW = datetime(2024, 1, 1, tzinfo=UTC)


def parse_site(page: Page) -> Iterator[Parsed]:
    """A page of addresses, one a line: an image where it ends so."""
    for url in page.content.decode().split():
        if "://" in url:
            yield Link(url=url, role="image" if url.endswith(".png") else "next_page")
    yield Issue(code="read", message="read", severity="warning")


SITE_SHOP = Source(name="site_shop", title="Shop", homepage="", parse=parse_site, kinds=("offer",), hosts=(PICTURES,))


@pytest.fixture
def server() -> Iterator[FaultyServer]:
    with FaultyServer() as found:
        yield found


def read_site(server: FaultyServer, folder: Path, page: str, *redirects: str) -> dict[str | None, str]:
    """Read the shop with one page that says `page`, and redirects from /r0, /r1, …; the issues by their address."""

    def say(exchange: Exchange) -> None:
        exchange.reply(200, page.encode() or b"nothing")

    def lead(exchange: Exchange) -> None:
        exchange.reply(302, headers={"Location": redirects[int(exchange.path[2:])]})

    server.routes |= {"/list": say, "/other": lambda exchange: exchange.reply(200, b"other"),
                      "/a.png": lambda exchange: exchange.reply(200, b"png")}  # fmt: skip
    server.routes |= {f"/r{number}": lead for number in range(len(redirects))}
    there = ("127.0.0.1", server.port)
    hosts = dict.fromkeys(
        (SITE_HOST, "site.test", PICTURES, ELSEWHERE, f"{SITE_HOST}.elsewhere.test", "2130706433"), there
    )
    with Client(HttpSettings(delay_s=0.0, max_attempts=1, connect_to=hosts)) as client:
        start = f"http://{SITE_HOST}/list"
        pages = Fetching(client, Archive(folder / "s"), NOW, "run", site_of([start], SITE_SHOP.hosts))
        collected = collect(Reading(SITE_SHOP, [start]), pages, ParsedCache(folder / "p"))
    return {issue.url: f"{issue.code}: {issue.message}" for issue, _ in collected.issues if issue.code != "read"}


@pytest.mark.parametrize(
    "url",
    [
        f"http://{ELSEWHERE}/other", f"http://{ELSEWHERE}:80/other", f"http://{SITE_HOST}.elsewhere.test/other",
        f"http://{ELSEWHERE.upper()}/other", f"http://{ELSEWHERE}./other", f"http://{ELSEWHERE}/a.png",
        f"http://{ELSEWHERE}/other?u=http://{SITE_HOST}/", f"http://{ELSEWHERE}/{SITE_HOST}/",
    ],
)  # fmt: skip
def test_a_link_elsewhere_fails_with_the_hosts_name(server: FaultyServer, tmp_path: Path, url: str) -> None:
    issues = read_site(server, tmp_path, f"{url} http://{SITE_HOST}/other")
    (words,) = issues.values()
    assert words.startswith("ForeignHost: it leads to ")
    assert "elsewhere.test" in words
    assert server.paths() == ["/list", "/other"]  # its own link was followed; of the other host nothing was asked
    assert len([path for path in server.paths(robots=True) if path == "/robots.txt"]) == 1


@pytest.mark.parametrize("hops", [1, 2, 3])
def test_a_redirect_elsewhere_fails_with_the_hosts_name(server: FaultyServer, tmp_path: Path, hops: int) -> None:
    chain = [f"http://{SITE_HOST}/r{number + 1}" for number in range(hops - 1)] + [f"http://{ELSEWHERE}/other"]
    issues = read_site(server, tmp_path, f"http://{SITE_HOST}/r0", *chain)
    assert [ELSEWHERE in words for words in issues.values()] == [True]
    assert "/other" not in server.paths()


@pytest.mark.parametrize(
    "url", [f"http://{SITE_HOST}/other", "http://site.test/other", f"http://{PICTURES}/a.png", f"http://{SITE_HOST}/r0"]
)
def test_the_sources_own_hosts_are_read(server: FaultyServer, tmp_path: Path, url: str) -> None:
    assert read_site(server, tmp_path, url, "http://site.test/other") == {}


def test_https_never_becomes_http() -> None:
    site = site_of(["https://www.shop.example/list"])
    site.check(addresses.check("https://shop.example/list"), "x")
    with pytest.raises(ForeignHost, match=r"shop\.example without TLS"):
        site.check(addresses.check("http://www.shop.example/list"), "x")
    # Where a person names an address without it, there is none to lose.
    site_of(["http://shop.example/"]).check(addresses.check("https://shop.example/"), "x")
    site_of(["http://shop.example/"]).check(addresses.check("http://shop.example/"), "x")


@pytest.mark.parametrize(
    "url", [f"http://{SITE_HOST}:8080/other", "http://site.test:8080/a.png", f"https://{SITE_HOST}:80/other"]
)
def test_another_port_of_its_own_host_fails_with_the_port(server: FaultyServer, tmp_path: Path, url: str) -> None:
    for issues in (
        read_site(server, tmp_path / "link", url),
        read_site(server, tmp_path / "hop", f"http://{SITE_HOST}/r0", url),
    ):
        assert ["it leads to port 80" in words for words in issues.values()] == [True]
    assert "/other" not in server.paths()


def test_the_port_that_a_source_names_is_its_own() -> None:
    site = site_of(["http://shop.example:8443/list"])
    for url in ("http://shop.example:8443/x", "http://www.shop.example/x", "https://shop.example/x"):
        site.check(addresses.check(url), "x")
    with pytest.raises(ForeignHost, match=r"port 9000 of shop\.example"):
        site.check(addresses.check("http://shop.example:9000/x"), "x")


@pytest.mark.parametrize("name", sources.names())
def test_every_source_can_be_read_from_where_it_starts(name: str) -> None:
    source = sources.get(name)
    # As a night resolves them: a host may be a setting, as that of the model hub is.
    starts = source.addresses(settings.load({}, environment={}, file=Path("/nowhere.toml")))
    assert starts or not source.start or source.setting or "{" in source.start[0]
    site = site_of(starts, source.hosts)
    for start in starts:
        site.check(addresses.check(start), start)
    assert not starts or site.is_https
    assert all(host == host.lower() and "/" not in host for host in source.hosts)
