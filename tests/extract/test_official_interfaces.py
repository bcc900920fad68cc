"""eBay's interface, played by a server on loopback: pages, tokens, refusals, broken answers, keys."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from gpuledger.errors import Blocked
from gpuledger.extract import source
from gpuledger.extract.archive.snapshots import Archive
from gpuledger.extract.collect import Collected, Reading, collect
from gpuledger.extract.fetch.http import Client, HttpSettings, Machine
from gpuledger.extract.fetch.keyed import Keyed
from gpuledger.extract.fetch.site import site_of
from gpuledger.extract.pages import Fetching
from gpuledger.flows.settings.settings import Settings
from gpuledger.items import Offer
from tests.extract.faulty_server import Exchange, FaultyServer
from tests.extract.pages import page

NOW = datetime(2026, 11, 20, 3, tzinfo=UTC)
SECRETS = {"ebay_client_id": "app-id", "ebay_client_secret": "very secret"}


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
    grant = host + base.access.token_url.partition(".com")[2]
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
