"""eBay's and Best Buy's interfaces, played by a server on loopback: pages, tokens, refusals, broken answers, keys."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from gpuledger.extract import source
from gpuledger.extract.archive import passing
from gpuledger.extract.archive.snapshots import Archive
from gpuledger.extract.collect import Collected, Reading, collect
from gpuledger.extract.errors import Blocked
from gpuledger.extract.fetch.http import Client, HttpSettings, Machine
from gpuledger.extract.fetch.keyed import Keyed
from gpuledger.extract.fetch.site import site_of
from gpuledger.extract.items import Offer
from gpuledger.extract.pages import Fetching, OfRun
from gpuledger.flows.settings.settings import Settings
from tests.extract.faulty_server import Exchange, FaultyServer
from tests.extract.pages import page

NOW = datetime(2026, 11, 20, 3, tzinfo=UTC)
SECRETS = {"ebay_client_id": "app-id", "ebay_client_secret": "very secret", "bestbuy_key": "KEY0123456789"}


@dataclass
class Clock:
    """A clock that waits by going on, and remembers for how long."""

    time: float = 0.0
    waits: list[float] = field(default_factory=list)

    def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.time += seconds

    def machine(self) -> Machine:
        return Machine(clock=lambda: self.time, sleep=self.sleep, random=lambda: 0.5)


def _json(exchange: Exchange, body: object, status: int = 200, **headers: str) -> None:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    exchange.reply(status, content, {"Content-Type": "application/json", **headers})


class Ebay:
    """The item search of 10,000 offers: its token ends after seven pages, one page asks to wait, one is broken once, and one
    always where that is said.
    """

    def __init__(self, total: int = 10_000, *, always_broken: bool = False) -> None:
        self.total = total
        self.always_broken = always_broken
        self.granted = 0
        self.answered = 0
        self.refused: set[int] = set()
        self.marketplaces: set[str] = set()

    def token(self, exchange: Exchange) -> None:
        basic = base64.b64decode(exchange.headers["authorization"].removeprefix("Basic ")).decode()
        assert basic == "app-id:very secret"
        self.granted += 1
        _json(exchange, {"access_token": f"token-{self.granted}", "expires_in": 7200, "token_type": "Application"})

    def search(self, exchange: Exchange) -> None:
        query = parse_qs(urlsplit(exchange.path).query)
        offset = int(query.get("offset", ["0"])[0])
        self.marketplaces.add(exchange.headers["x-ebay-c-marketplace-id"])
        assert "marketplace" not in query
        if exchange.headers["authorization"] != f"Bearer token-{self.granted}" or (
            self.granted == 1 and self.answered >= 6
        ):
            _json(exchange, {"errors": [{"errorId": 1001, "message": "Invalid access token"}]}, 401)
            return
        if offset == 4_000 and offset not in self.refused:
            self.refused.add(offset)
            _json(exchange, {"errors": []}, 429, **{"Retry-After": "17"})
            return
        if offset == 5_000 and (self.always_broken or offset not in self.refused):
            self.refused.add(offset)
            _json(exchange, b'{"total": 10000, "itemSummaries": [{"itemId"')
            return
        self.answered += 1
        items = [_item(number) for number in range(offset, min(offset + 200, self.total))]
        _json(exchange, {"total": self.total, "offset": offset, "limit": 200, "itemSummaries": items})


def _item(number: int) -> dict[str, Any]:
    return {
        "itemId": f"v1|{number}|0", "legacyItemId": str(number), "title": f"GeForce RTX 3080 10GB no {number}",
        "price": {"value": f"{300 + number % 200}.50", "currency": "USD"},
        "conditionId": ("1000", "2500", "3000")[number % 3],
        "condition": "New", "buyingOptions": ["FIXED_PRICE"], "seller": {"username": f"seller{number % 7}"},
        "shippingOptions": [{"shippingCost": {"value": "9.90", "currency": "USD"}}],
        "itemWebUrl": f"https://www.ebay.com/itm/{number}?hash=item1",
    }  # fmt: skip


@dataclass
class Night:
    """One reading of a source against a server."""

    server: FaultyServer
    archive: Archive
    clock: Clock
    collected: Collected


def _night(name: str, server: FaultyServer, archive: Archive, *, now: datetime = NOW, run: str = "run1") -> Night:
    """Read the source with everything real but the clock and the address that its host has."""
    base = source.get(name)
    assert base.access is not None, "an official interface is read with a key"
    host = f"http://{name.replace('_', '-')}.test"
    start = [host + address.partition(".com")[2] for address in base.addresses(Settings())]
    assert base.access is not None
    grant = host + (base.access.token_url or "").partition(".com")[2] if base.access.token_url else None
    played = replace(base, start=tuple(start), access=replace(base.access, token_url=grant))
    clock = Clock()
    settings = HttpSettings(connect_to={urlsplit(host).hostname or "": ("127.0.0.1", server.port)}, delay_s=0.2)
    with Client(settings, clock.machine()) as client:
        keyed = Keyed(client, played.access, SECRETS)
        pages = Fetching(client, archive, now, run, site_of(start), keyed)
        return Night(server, archive, clock, collect(Reading(played, start), pages, None))


@pytest.fixture
def archive(tmp_path: Path) -> Archive:
    return Archive(tmp_path / "snapshots")


def _paths(ebay: Ebay) -> dict[str, Any]:
    return {"/identity/v1/oauth2/token": ebay.token, "/buy/browse/v1/item_summary/search": ebay.search}


@pytest.fixture
def server() -> Iterator[FaultyServer]:
    with FaultyServer() as one:
        yield one


@pytest.mark.slow
def test_ten_thousand_offers_in_pages_with_an_expired_token_a_wait_and_a_page_broken_once(
    server: FaultyServer, archive: Archive
) -> None:
    ebay = Ebay()
    server.routes = _paths(ebay)
    night = _night("ebay", server, archive)
    collected = night.collected
    assert collected.failure is None
    assert not collected.issues
    assert collected.is_complete
    assert (collected.stated_total, collected.listed, collected.pages) == (10_000, 10_000, 50)
    offers = {item.key: item for item, _ in collected.rows if isinstance(item, Offer)}
    assert len(offers) == 10_000
    assert offers["v1|4|0"].price == Decimal("304.50")
    assert offers["v1|4|0"].url == "https://www.ebay.com/itm/4"
    assert (offers["v1|4|0"].condition, offers["v1|4|0"].shipping) == ("refurbished", Decimal("9.90"))
    # Two tokens, and no page asked for more often than it took: 50, the two refusals and the broken one.
    assert ebay.granted == 2
    assert len(server.asked) == 50 + 1 + 1 + 1 + 2
    assert ebay.marketplaces == {"EBAY_US"}
    assert any(wait >= 17 - 0.2 for wait in night.clock.waits)
    assert server.open_most == 1
    assert not any("robots" in exchange.path for exchange in server.asked)


@pytest.mark.slow
def test_a_page_that_stays_broken_costs_its_own_offers_and_is_accounted_for(
    server: FaultyServer, archive: Archive
) -> None:
    server.routes = _paths(Ebay(always_broken=True))
    collected = _night("ebay", server, archive).collected
    assert collected.failure is None
    assert not collected.is_complete
    assert (collected.stated_total, collected.listed) == (10_000, 9_800)
    [(issue, _)] = collected.issues
    assert issue.code == "Truncated"
    assert "offset=5000" in (issue.url or "")
    [(address, _)] = collected.missed
    assert "offset=5000" in address


def test_a_search_wider_than_the_interface_gives_says_so() -> None:
    answer = json.dumps({"total": 10_400, "offset": 0, "limit": 200, "itemSummaries": [_item(1)]})
    ebay = source.get("ebay")
    told = list(ebay.parse(page(answer, ebay.addresses(Settings())[0], "application/json", NOW.isoformat())))
    assert [item.code for item in told if item.KIND == "issue"] == ["search_too_wide"]
    assert sum(item.KIND == "link" for item in told) == 49


@pytest.mark.parametrize("status", [401, 403])
def test_a_wrong_key_is_named_by_its_variables_and_never_shown(
    status: int, server: FaultyServer, archive: Archive
) -> None:
    server.routes = {"/identity/v1/oauth2/token": lambda exchange: _json(exchange, {}, status)}
    failure = _night("ebay", server, archive).collected.failure
    assert isinstance(failure, Blocked)
    assert "GPULEDGER_EBAY_CLIENT_ID, GPULEDGER_EBAY_CLIENT_SECRET" in failure.action
    assert "very secret" not in str(failure)


def test_a_redirect_does_not_take_the_credentials_along(server: FaultyServer, archive: Archive) -> None:
    ebay = Ebay()
    away = {"Location": "http://ebay.test/elsewhere"}
    server.routes = {
        "/identity/v1/oauth2/token": ebay.token,
        "/buy/browse/v1/item_summary/search": lambda exchange: exchange.reply(302, b"", away),
    }
    assert _night("ebay", server, archive).collected.failure is not None
    assert not any("elsewhere" in exchange.path for exchange in server.asked)


class BestBuy:
    """Products by cursor, behind a key; a key that is used up answers 403. The page that begins in the middle asks to wait
    at first, and is broken then, once or always.
    """

    def __init__(self, total: int = 1_050, *, broken: int = 0) -> None:
        self.total = total
        self.troubles = [429, *[200] * broken] if broken else []

    def products(self, exchange: Exchange) -> None:
        query = parse_qs(urlsplit(exchange.path).query)
        if query.get("apiKey") != ["KEY0123456789"]:
            _json(exchange, {"error": {"code": "403", "message": "Over quota or unknown key"}}, 403)
            return
        start = 0 if query["cursorMark"] == ["*"] else int(query["cursorMark"][0].removeprefix("AoE="))
        if self.troubles and start == self.total // 200 * 100:
            status = self.troubles.pop(0)
            _json(exchange, b'{"total": 10000, "products": [{"sku"', status, **{"Retry-After": "17"})
            return
        rows = [
            {
                "sku": 6_000_000 + number, "name": f"Card - GeForce RTX 4070 12GB no {number}", "type": "HardGood",
                "salePrice": 500.25, "regularPrice": 549.99, "onlineAvailability": True, "orderable": "Available",
                "condition": "New", "url": f"https://api.bestbuy.com/click/-/{number}/pdp",
            }
            for number in range(start, min(start + 100, self.total))
        ]  # fmt: skip
        following = f"AoE={start + 100}" if start + 100 < self.total + 100 else query["cursorMark"][0]
        _json(exchange, {"total": self.total, "products": rows, "nextCursorMark": following})


@pytest.mark.slow_combination
def test_ten_thousand_products_by_cursor_with_a_wait_and_a_page_broken_once(
    server: FaultyServer, archive: Archive
) -> None:
    server.routes = {"/v1/products(categoryPath.id=abcat0507002)": BestBuy(10_000, broken=1).products}
    night = _night("bestbuy_api", server, archive)
    collected = night.collected
    assert collected.failure is None
    assert not collected.issues
    assert collected.is_complete
    assert (collected.stated_total, collected.listed) == (10_000, 10_000)
    offers = {item.key: item for item, _ in collected.rows if isinstance(item, Offer)}
    assert len(offers) == 10_000
    assert {item.price for item in offers.values()} == {Decimal("500.25")}
    # A hundred pages and the last cursor's, none more often than it took: one asked to wait, and one was broken.
    assert len(server.asked) == collected.pages + 2
    assert any(wait >= 17 - 0.2 for wait in night.clock.waits)
    assert server.open_most == 1


def test_a_broken_page_of_a_cursor_leaves_the_rest_unread_and_says_so(server: FaultyServer, archive: Archive) -> None:
    server.routes = {"/v1/products(categoryPath.id=abcat0507002)": BestBuy(broken=99).products}
    collected = _night("bestbuy_api", server, archive).collected
    assert not collected.is_complete
    assert (collected.stated_total, collected.listed) == (1_050, 500)
    [(issue, _)] = collected.issues
    assert issue.code == "Truncated"
    assert "cursorMark" in (issue.url or "")


def test_the_archive_keeps_facts_for_good_and_the_page_for_72_hours(
    server: FaultyServer, archive: Archive, tmp_path: Path
) -> None:
    server.routes = {"/v1/products(categoryPath.id=abcat0507002)": BestBuy().products}
    night = _night("bestbuy_api", server, archive)
    assert night.collected.failure is None
    assert (night.collected.listed, night.collected.stated_total) == (1_050, 1_050)
    pages = list((archive.root / "passing" / "bestbuy_api").iterdir())
    assert len(pages) >= 11
    # What stays holds what was read, and neither the answer nor the key.
    kept = [archive.content_of(sha256) for sha256 in archive.pages()]
    assert all(b'"regularPrice"' not in content and b"KEY0123456789" not in content for content in kept)
    log = (archive.root / "log" / "bestbuy_api.jsonl").read_text(encoding="utf-8")
    assert "KEY0123456789" not in log
    assert archive.verify() == []
    # A replay reads the same from it.
    base = source.get("bestbuy_api")
    again = collect(Reading(base, night.collected.starts), OfRun(archive, archive.of_run(base.name, "run1"), {}), None)
    assert [item for item, _ in again.rows] == [item for item, _ in night.collected.rows]
    for hours, left in ((71, len(pages)), (73, 0)):
        _ = passing.Passing(archive.root, base.name, base.keep_hours or 0).expire(NOW + timedelta(hours=hours))
        assert len(list((archive.root / "passing" / "bestbuy_api").iterdir())) == left


def test_a_wrong_key_of_best_buy_is_named_and_not_shown(
    server: FaultyServer, archive: Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.routes = {"/v1/products(categoryPath.id=abcat0507002)": BestBuy().products}
    monkeypatch.setitem(SECRETS, "bestbuy_key", "WRONGKEY98765")
    failure = _night("bestbuy_api", server, archive).collected.failure
    assert isinstance(failure, Blocked)
    assert "GPULEDGER_BESTBUY_KEY" in failure.action
    assert "WRONGKEY" not in f"{failure} {failure.url} {failure.seen}"
