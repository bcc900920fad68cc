"""Walls are told from pages: each wall is recognised, and no ordinary shop page is taken for one."""

from __future__ import annotations

import gzip
import re
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
WALLS: list[tuple[str, str, str]] = [
    ("captcha", "Amazonia",
     "<h4>Enter the characters you see below</h4><p>Sorry, we just need to make sure you're not a robot.</p>"),
    ("captcha", "Kestrel", '<form action="/errors/validateCaptcha"><input name=field></form>'),
    ("captcha", "Robot or human?", "<p>Activate and hold the button</p>"),
    ("captcha", "Kestrel Parts", '<div id="px-captcha"></div><p>Press &amp; Hold to confirm you are a human</p>'),
    ("captcha", "kestrel.example",
     "<script src='https://geo.captcha-delivery.com/c.js'></script><p>Please enable JS</p>"),
    ("captcha", "Sicherheitsabfrage", "<p>Bitte bestätigen Sie</p>"),
    ("captcha", "쇼핑", "<p>자동입력 방지 문자를 입력해 주세요</p>"),
    ("captcha", "Czy jesteś robotem?", "<p>Potwierdź</p>"),
    ("captcha", "Kestrel – Robot Check | Parts", ""),
    ("challenge", "Kestrel | Waiting Room", "<p>Please do not reload</p>"),
    ("challenge", "Kestrel",
     "<h2>Many are here today</h2><p>You are now in line. Your estimated wait time is 4 minutes.</p>"),
    ("challenge", "Warteschlange", "<p>Sie sind gleich dran</p>"),
    ("challenge", "접속 대기 중", "<p>잠시만 기다려 주세요</p>"),
    ("challenge", "Just a moment…", ""),
    ("challenge", "Attention Required! | Cloudwall", ""),
    ("challenge", "Pardon Our Interruption", "<p>something about your browser made us think you were a bot</p>"),
    ("challenge", "kestrel.example", "<p>Checking your browser before accessing kestrel.example</p>"),
    ("challenge", "", "<iframe>Request unsuccessful. Incapsula incident ID: 77-12</iframe>"),
    ("challenge", "Kestrel", "<p>Checking if the site connection is secure</p>"),
    ("captcha", "Kestrel", "<p>Verifying you are human. This may take a moment.</p>"),
    ("captcha", "Kestrel", "<h4>Click the button below to continue shopping</h4>"),
    ("soft_404", "Not Found", TEMPLATE),
    ("consent", "We care about your privacy", "<p>812 partners</p>"),
    ("blocked", "Access Denied", "You don't have permission to access this. Reference #18.4f1.17.2a"),
    ("blocked", "Kestrel", "<p>You don’t have permission to access this resource</p>"),  # typographic apostrophe
    ("blocked", "Sorry", "<p>Our systems have detected unusual traffic from your network</p>"),
    ("blocked", "안내", "<p>비정상적인 접근이 감지되어 접속이 차단되었습니다</p>"),
    ("blocked", "Kestrel", "<p>Our store is currently unavailable. We'll be back soon!</p>"),
    ("blocked", "Sorry! Something went wrong!", "<img src=dog.jpg>"),
    ("consent", "Before you continue to Kestrel", CONSENT),
    ("consent", "Kestrel Parts", f"<h2>Cookies</h2><p>{CONSENT}</p>"),
    ("consent", "Kestrel", "<p>Wir verwenden Cookies. Mit Werbung weiterlesen: alle akzeptieren</p>"),
    ("consent", "샵", "<p>쿠키 사용에 동의하셔야 이용할 수 있습니다. 동의합니다</p>"),
    ("consent", "Sklep", "<p>Używamy plików cookies. <button>Akceptuję wszystkie</button></p>"),
    ("soft_404", "Oops! Page Not Found", TEMPLATE),
    ("soft_404", "Kestrel Parts",  # heading over offers
     f"<h1>Sorry, we couldn't find that page</h1><p>Others bought: Borealis $199.00</p>{TEMPLATE}"),
    ("soft_404", "Kestrel Parts", "<p>The page you are looking for may have been moved or removed.</p>"),
    ("soft_404", "Seite nicht gefunden | Kestrel", TEMPLATE),
    ("soft_404", "오류", "<h1>페이지를 찾을 수 없습니다.</h1>"),
    ("soft_404", "店", "<h1>お探しのページは見つかりませんでした。</h1>"),
    ("soft_404", "Nie znaleziono strony - Sklep", TEMPLATE),
    # Waiting rooms.
    ("challenge", "Shop",
     "<h1>You are in the queue</h1><p>Thank you for your patience. There are 1,234 people ahead of you.</p>"),
    ("challenge", "Shop", "<h1>We're experiencing high traffic</h1><p>Estimated waiting time: 5 minutes</p>"),
    ("challenge", "Shop", "<p>Please wait, your turn is coming up. Number in line: 532</p>"),
    ("challenge", "Warteraum", "<p>Bitte haben Sie einen Moment Geduld, Sie werden automatisch weitergeleitet.</p>"),
    ("challenge", "Shop", "<h1>Sie befinden sich in der Warteschlange</h1><p>Geschätzte Wartezeit: 3 Minuten</p>"),
    ("challenge", "Shop", "<p>Sie sind in der virtuellen Warteschlange. Ihre Position: 84</p>"),
    ("challenge", "Boutique", "<h1>Vous êtes dans la file d'attente</h1><p>Temps d'attente estimé : 4 minutes</p>"),
    ("challenge", "Salle d'attente", "<p>Vous allez être redirigé automatiquement.</p>"),
    ("challenge", "Tienda", "<h1>Estás en la cola</h1><p>Tiempo de espera estimado: 4 minutos</p>"),
    ("challenge", "Sala de espera", "<p>Gracias por tu paciencia, te redirigiremos automáticamente.</p>"),
    ("challenge", "Negozio", "<h1>Sei in coda</h1><p>Tempo di attesa stimato: 3 minuti</p>"),
    ("challenge", "Sala d'attesa virtuale", "<p>Non ricaricare la pagina.</p>"),
    ("challenge", "Loja", "<h1>Você está na fila</h1><p>Tempo estimado de espera: 4 minutos</p>"),
    ("challenge", "Winkel", "<h1>Je staat in de wachtrij</h1><p>Geschatte wachttijd: 3 minuten</p>"),
    ("challenge", "Wachtkamer", "<p>Een ogenblik geduld</p>"),
    ("challenge", "Sklep", "<h1>Jesteś w kolejce</h1><p>Szacowany czas oczekiwania: 3 minuty</p>"),
    ("challenge", "Poczekalnia", "<p>Prosimy o cierpliwość</p>"),
    ("challenge", "Obchod", "<h1>Jste ve frontě</h1><p>Odhadovaná doba čekání: 3 minuty</p>"),
    ("challenge", "Čekárna", "<p>Vyčkejte prosím</p>"),
    ("challenge", "Butik", "<h1>Du står i kö</h1><p>Beräknad väntetid: 3 minuter</p>"),
    ("challenge", "Butik", "<h1>Du er i kø</h1><p>Forventet ventetid: 3 minutter</p>"),
    ("challenge", "Kauppa", "<h1>Olet jonossa</h1><p>Arvioitu odotusaika: 3 minuuttia</p>"),
    ("challenge", "Магазин", "<h1>Вы в очереди</h1><p>Примерное время ожидания: 3 минуты</p>"),
    ("challenge", "Mağaza", "<h1>Sıradasınız</h1><p>Tahmini bekleme süresi: 3 dakika</p>"),
    ("challenge", "ショップ", "<h1>ただいまアクセスが集中しています</h1><p>順番にご案内しております。予想待ち時間：4分</p>"),
    ("challenge", "待合室", "<p>このままお待ちください</p>"),
    ("challenge", "쇼핑몰", "<h1>접속 대기 중입니다</h1><p>예상 대기시간 3분, 고객님 앞에 1,234명의 대기자가 있습니다</p>"),
    ("challenge", "商城", "<h1>您正在排队</h1><p>预计等待时间：3分钟</p>"),
    ("challenge", "商城", "<h1>排隊等候中</h1><p>目前流量較大，預估等待時間 3 分鐘</p>"),
    ("challenge", "Shop",
     "<p>The store is busy right now. You will be let in when it's your turn. Keep this window open.</p>"),
]  # fmt: skip

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
