"""Walls are told from pages: each wall is recognised, and no ordinary shop page is taken for one."""

from __future__ import annotations

import gzip
import re
import tomllib
from pathlib import Path

import pytest

from gpuledger import errors
from gpuledger.extract.fetch import blocks

URL = "https://shop.example/p/aurora-12gb"


def html(title: str = "", body: str = "", head: str = "") -> str:
    return f"<!doctype html><html><head><title>{title}</title>{head}</head><body>{body}</body></html>"


CONSENT = "We and our 812 partners use cookies to measure. <button>Reject all</button> <button>Accept all</button>"
TEMPLATE = (
    "<nav><a href=/gpu>Graphics cards</a> <a href=/cpu>Processors</a></nav>" * 40
    + "<footer>All prices include tax</footer>"
)

#: Kind, title, and what stands in the body.
WALLS = [
    (kind, title, body.replace("{template}", TEMPLATE).replace("{consent}", CONSENT))
    for kind, pages in tomllib.loads(Path(__file__).with_name("walls.toml").read_text(encoding="utf-8")).items()
    for title, body in pages
]

BANNER = f'<div class="cookie-banner">{CONSENT} <a href="/p">Privacy</a></div><script src="/recaptcha/api.js"></script>'
LD = '<script type="application/ld+json">{"@context":"https://schema.org","@type":"Product","name":"Aurora"}</script>'

PAGES: dict[str, str] = {
    "a product under a cookie banner": html(
        "Aurora 12 GB | Kestrel",
        f"{BANNER}<h1>Aurora 12 GB</h1><p>$412.50</p><p>This site is protected by reCAPTCHA</p>",
    ),
    "sold out, without a price": html(
        "Aurora 12 GB", f"{BANNER}<h1>Aurora 12 GB</h1><p>Temporarily unavailable</p>", LD
    ),
    "sold out, without structured data": html(
        "Aurora 12 GB",
        "<h1>Aurora 12 GB</h1><p>This item is temporarily unavailable. This site is protected by reCAPTCHA.</p>",
    ),
    "discontinued": html("Aurora 12 GB", "<h1>Aurora 12 GB</h1><p>This product is no longer available.</p>"),
    "a name with a number like a status": html(
        "Router 404 Turbo saw blade - Kestrel", "<h1>Saw blade 404</h1><p>12,00 €</p>"
    ),
    "a name with words of walls": html("Forbidden: the board game | Kestrel", f"<h1>Forbidden</h1>{LD}"),
    "a robot for sale": html(
        "Are you a robot kit builder?",
        "<h1>Robot kit</h1><p>49 zł</p><p>Robot check list: are you a robot? press and hold</p>",
    ),
    "a benchmark table": html(
        "GPU ranking",
        f"{BANNER}<table><tr><td>Aurora</td><td>101.1 fps</td></tr><tr><td>B</td></tr><tr><td>C</td></tr></table>",
    ),
    "an article with charts only": html(
        "We tested chatbots", f"{BANNER}<article><h1>We tested chatbots</h1><img src=chart.png></article>"
    ),
    "an article of many words": html(
        "We tested chatbots", f"{BANNER}<div><h1>We tested</h1>{'words and more words ' * 100}</div>"
    ),
    "Korean listing": html(
        "그래픽카드", '<p class="price"><strong>1,234,000</strong>원</p><p>개인정보 처리방침에 동의 쿠키</p>'
    ),
    "no results": html("Search: aurora | Kestrel", "<h1>Search results for aurora</h1><p>0 items</p>"),
    "a fragment": "<div class=item>Aurora <b>$ 412.50</b></div>",
    "JSON with words of walls": '{"title": "captcha: are you a robot? Access denied", "price": 1}',
    "CSV": "name,price\nAccess denied,404\n",
    "XML": "<?xml version='1.0'?><gesmes:Envelope><title>404</title></gesmes:Envelope>",
}


@pytest.mark.parametrize(("kind", "title", "body"), WALLS)
@pytest.mark.parametrize("as_bytes", [True, False], ids=["bytes", "text"])
def test_walls_are_recognised(kind: str, title: str, body: str, as_bytes: bool) -> None:
    page = html(title, body).encode() if as_bytes else html(title, body)
    found = blocks.find(page, URL, {"content-type": "text/html"})
    assert found.kind == kind
    with pytest.raises(errors.Blocked) as caught:
        blocks.detect(page, URL)
    assert URL in str(caught.value)
    assert found.note in caught.value.seen


@pytest.mark.parametrize("page", PAGES)
def test_pages_are_not_walls(page: str) -> None:
    for form in (PAGES[page], PAGES[page].encode()):
        assert blocks.find(form, URL, {}) is None
        blocks.detect(form, URL)


@pytest.mark.parametrize(
    ("header", "value", "kind"),
    [
        ("cf-mitigated", "challenge", "challenge"),
        ("x-amzn-waf-action", "captcha", "challenge"),
        ("server", "cloudflare", None),
        ("set-cookie", "captcha=1", None),
    ],
)
def test_headers_are_searched_whatever_the_body_is(header: str, value: str, kind: str | None) -> None:
    found = blocks.find(b'{"ok": true}', URL, {"content-type": "application/json", header: value})
    assert (found.kind if found else None) == kind


@pytest.mark.parametrize(
    ("url", "kind"),
    [
        ("https://www.kestrel.example/blocked?url=L3A=", "captcha"),
        ("https://www.kestrel.example/errors/validateCaptcha", "captcha"),
        ("https://consent.kestrel.example/m?continue=x", "consent"),
        ("https://www.kestrel.example/unblocked-games", None),
        ("https://www.kestrel.example/p/captcha-solver-box", None),
        ("https://www.kestrel.example/search?q=/captcha", None),
    ],
)
def test_the_address_that_a_redirect_ended_at_tells(url: str, kind: str | None) -> None:
    found = blocks.find(html("Kestrel", "<p>$1</p>"), url, {})
    assert (found.kind if found else None) == kind


@pytest.mark.parametrize("page", [b"", b"  \n", "", "\n"])
def test_nothing_is_a_failure_of_its_own(page: bytes | str) -> None:
    with pytest.raises(errors.EmptyBody):
        blocks.detect(page, URL)


@pytest.mark.parametrize(
    ("asked", "came", "gone"),
    [
        ("/p/aurora", "/", True),
        ("/p/aurora", "/en/", True),
        ("/?p=12", "/", True),
        ("/p/aurora", "/p/aurora-12gb", False),
        ("/p/aurora", "/?p=12", False),
        ("/", "/en-us/", False),
        ("/index.html", "/", False),
        ("/de/", "/", False),
    ],
)
def test_a_redirect_to_the_front_page_is_a_page_that_is_gone(asked: str, came: str, gone: bool) -> None:
    base = "https://kestrel.example"
    if gone:
        with pytest.raises(errors.Blocked, match="front page"):
            blocks.detect_redirect(base + asked, base + came)
    else:
        blocks.detect_redirect(base + asked, base + came)


def test_every_listed_sign_is_used_and_documented() -> None:
    places = ("header", "url", "title", "mark", "text")
    listed = re.findall(
        r'^place = "(\w+)"$', Path(blocks.__file__).with_name("block_signals.toml").read_text("utf-8"), re.M
    )
    assert set(listed) == set(places)
    assert len(listed) == sum(len(blocks._signals(place)) for place in places)  # type: ignore[arg-type]


@pytest.mark.parametrize("encoding", ["utf-8", "euc-kr"])
def test_a_large_page_is_known_by_its_heading_in_any_charset(encoding: str) -> None:
    page = html("쇼핑", "<h1>페이지를 찾을 수 없습니다.</h1>" + TEMPLATE * 60, f'<meta charset="{encoding}">')
    assert len(page) > 150_000
    found = blocks.find(page.encode(encoding), URL, {})
    assert found.kind == "soft_404"


def test_no_real_shop_page_is_taken_for_a_wall(shared_data: Path) -> None:
    files = [*(shared_data / "product_pages" / "html").iterdir(), *(shared_data / "shop_listings").iterdir()]
    assert len(files) > 40
    flagged = {}
    for file in files:
        found = blocks.find(gzip.decompress(file.read_bytes()), URL, {"content-type": "text/html"})
        if found is not None:
            flagged[file.name] = found.note
    assert flagged == {}


def test_a_hostile_page_does_not_stall_the_search() -> None:
    """Patterns that backtrack without end would show here as a test that never returns."""
    for filler in (
        "cookies " * 18_000,
        "<tr>" * 37_000,
        "<" * 150_000,
        "1." * 70_000,
        "a page you " * 13_000,
        "<!--" * 37_000,
        "<script" * 20_000,
    ):
        blocks.find(f"<html>{filler}", URL, {})
        blocks.find(f"<html><title>{filler}</title><h1>{filler}</h1>", URL, {})
