"""The client's manners: who it says it is, how long it waits, what it asks again, and what robots.txt forbids it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

import pytest

from gpuledger import errors
from gpuledger.extract.fetch import addresses
from gpuledger.extract.fetch.http import Client, HttpSettings, Machine
from gpuledger.extract.fetch.robots import MAX_BYTES, Robots, RobotsAnswer
from gpuledger.extract.fetch.turns import Turns
from tests.extract import faulty_server as faults
from tests.extract.fake_time import FakeTime
from tests.extract.faulty_server import PAGE, Exchange, FaultyServer, Route, first_fail, page, redirect, status

HOST = "shop.polite.test"
URL = f"http://{HOST}/card"
NOW = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)


@contextmanager
def shop(routes: dict[str, Route], **settings: Any) -> Iterator[tuple[Client, FaultyServer, FakeTime]]:
    time = FakeTime()
    with FaultyServer(routes) as server:
        chosen = HttpSettings(connect_to={HOST: ("127.0.0.1", server.port)}, **settings)
        with Client(chosen, Machine(clock=time.clock, sleep=time.sleep, random=lambda: 0.0, now=lambda: NOW)) as client:
            yield client, server, time


def robots(text: str) -> Route:
    return page(text.encode(), {"Content-Type": "text/plain"})


def test_it_says_who_it_is_and_where_its_operator_is_reached() -> None:
    with shop({"/card": page()}, contact="https://buyer.example/bot") as (client, server, _):
        client.fetch(URL)
    assert {exchange.headers["user-agent"] for exchange in server.asked} == {
        client_name() + " (+https://buyer.example/bot)"
    }
    assert server.asked[0].headers["accept-encoding"] == "gzip"


def client_name() -> str:
    name = HttpSettings().agent
    assert name.startswith("gpuledger/")
    return name


def test_a_delay_lies_between_any_two_requests_to_a_host() -> None:
    with shop({"/card": page(), "/b": redirect("/card")}, delay_s=2.0) as (client, server, time):
        client.fetch(URL)
        client.fetch(URL)
        client.fetch(f"http://{HOST}/b")
    assert server.paths(robots=True) == ["/robots.txt", "/card", "/card", "/b", "/card"]
    assert time.slept == [pytest.approx(2.0)] * 4


def test_the_delay_is_kept_on_the_wire_by_many_threads_and_one_connection_is_open() -> None:
    with FaultyServer({f"/{number}": page() for number in range(8)}) as server:
        settings = HttpSettings(connect_to={HOST: ("127.0.0.1", server.port)}, delay_s=0.05)
        with Client(settings) as client, ThreadPoolExecutor(max_workers=8) as pool:
            list(pool.map(client.fetch, (f"http://{HOST}/{number}" for number in range(8))))
    times = [exchange.at for exchange in server.asked]
    assert len(times) == 9
    assert min(later - earlier for earlier, later in pairwise(times)) >= 0.05
    assert server.open_most == 1
    assert server.paths(robots=True).count("/robots.txt") == 1


def test_hosts_do_not_wait_for_each_other() -> None:
    """Two hosts answer only when both have been asked: with one turn for all this would never end."""
    both = threading.Barrier(2)

    def wait_for_the_other(exchange: Exchange) -> None:
        both.wait(timeout=600)
        exchange.reply(200, PAGE)

    with FaultyServer({"/card": wait_for_the_other}) as server:
        hosts = ("one.polite.test", "two.polite.test")
        settings = HttpSettings(connect_to=dict.fromkeys(hosts, ("127.0.0.1", server.port)), delay_s=0)
        with Client(settings) as client, ThreadPoolExecutor() as pool:
            fetched = list(pool.map(client.fetch, (f"http://{host}/card" for host in hosts)))
    assert [one.content for one in fetched] == [PAGE, PAGE]


def test_a_connection_is_used_again() -> None:
    def unchanged(exchange: Exchange) -> None:
        (status(304, body=b"") if "if-none-match" in exchange.headers else page())(exchange)

    with shop({"/robots.txt": robots(""), "/card": unchanged}) as (client, server, _):
        for etag in (None, "v1", "v1", None):
            client.fetch(URL, etag=etag)
    assert (len(server.asked), server.accepted) == (5, 1)


def test_a_host_that_is_put_off_while_somebody_waits_is_waited_for_longer() -> None:
    time = FakeTime()

    def sleep(seconds: float) -> None:
        if not time.slept:
            turns.hold(HOST, 30)  # as another thread does that was told Retry-After: 30
        time.sleep(seconds)

    turns = Turns(time.clock, sleep, delay_s=2)
    for _ in range(2):
        with turns.take(HOST):
            pass
    assert time.slept == [2, 28]


RETRY_AFTER = {
    "seconds": ("7", 7.0),
    "seconds with space": (" 7 ", 7.0),
    "a fraction": ("2.5", 2.5),
    "zero": ("0", 1.0),  # the host's delay is still kept
    "IMF date": ("Sun, 01 Mar 2026 12:00:20 GMT", 20.0),
    "RFC 850 date": ("Sunday, 01-Mar-26 12:00:20 GMT", 20.0),
    "asctime date": ("Sun Mar  1 12:00:20 2026", 20.0),
    "a date gone by": ("Sun, 01 Mar 2026 11:00:00 GMT", 1.0),
    "nonsense": ("soon", 1.0),
    "negative": ("-5", 1.0),
    "empty": ("", 1.0),
    "at the ceiling": ("60", 60.0),
}


@pytest.mark.parametrize("code", [429, 503])
@pytest.mark.parametrize("form", RETRY_AFTER)
def test_retry_after_is_waited_for(form: str, code: int) -> None:
    value, expected = RETRY_AFTER[form]
    with shop({"/card": first_fail(1, status(code, {"Retry-After": value}), page())}) as (client, server, time):
        client.fetch(URL)
    assert len(server.paths()) == 2
    # The first pause is the host's delay after robots.txt.
    assert time.slept == [pytest.approx(1.0), pytest.approx(expected)]


def test_a_retry_after_date_is_read_by_the_servers_own_clock() -> None:
    headers = {"Retry-After": "Thu, 01 Jan 2015 00:00:09 GMT", "Date": "Thu, 01 Jan 2015 00:00:00 GMT"}
    with shop({"/card": first_fail(1, status(429, headers), page())}) as (client, _, time):
        client.fetch(URL)
    assert time.slept[1:] == [pytest.approx(9.0)]


@pytest.mark.parametrize("value", ["61", "86400", "9" * 400, "Mon, 02 Mar 2026 12:00:00 GMT"])
@pytest.mark.parametrize("code", [429, 503])
def test_a_retry_after_beyond_the_ceiling_is_not_waited_for(value: str, code: int) -> None:
    with shop({"/card": status(code, {"Retry-After": value})}) as (client, server, _):
        with pytest.raises(errors.RateLimited, match="beyond the ceiling of 60 s"):
            client.fetch(URL)
        assert server.paths() == ["/card"]


def test_nothing_is_fetched_where_nothing_changed() -> None:
    def unchanged(exchange: Exchange) -> None:
        known = (
            exchange.headers.get("if-none-match") == '"v1"' and exchange.headers.get("if-modified-since") == "yesterday"
        )
        (status(304, {"ETag": '"v1"'}, b"") if known else page(headers={"ETag": '"v1"'}))(exchange)

    with shop({"/card": unchanged}) as (client, _, _):
        first = client.fetch(URL)
        second = client.fetch(URL, etag=first.headers["etag"], last_modified="yesterday")
    assert (first.not_modified, first.content) == (False, PAGE)
    assert (second.not_modified, second.content, second.status) == (True, b"", 304)


def test_environment_proxies_are_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    with shop({"/card": page()}) as (client, _, _):
        assert client.fetch(URL).content == PAGE


def test_robots_txt_is_asked_first_once_and_obeyed() -> None:
    rules = "User-agent: *\nDisallow: /\n\nUser-agent: gpuledger\nDisallow: /private\nAllow: /private/open\n"
    with shop({"/robots.txt": robots(rules), "/card": page(), "/private/open": page()}) as (client, server, _):
        client.fetch(URL)
        client.fetch(f"http://{HOST}/private/open")
        with pytest.raises(errors.RobotsDisallowed) as caught:
            client.fetch(f"http://{HOST}/private/a")
    assert server.paths(robots=True) == ["/robots.txt", "/card", "/private/open"]
    assert caught.value.url == f"http://{HOST}/private/a"


def test_a_redirect_into_what_robots_txt_forbids_is_not_followed() -> None:
    routes = {
        "/robots.txt": robots("User-agent: *\nDisallow: /private"),
        "/card": redirect("/private/card"),
        "/private/card": page(),
    }
    with shop(routes) as (client, server, _):
        with pytest.raises(errors.RobotsDisallowed):
            client.fetch(URL)
        assert server.paths() == ["/card"]


@pytest.mark.parametrize(
    "path",
    [
        "/private",
        "/./private",
        "/open/../private",
        "/open/%2e%2e/private",
        "/%70rivate",
        "/../private",
        "/x/.%2E/private",
    ],
)
def test_no_way_of_writing_a_forbidden_path_is_requested(path: str) -> None:
    with shop({"/robots.txt": robots("User-agent: *\nDisallow: /private"), "/private": page()}) as (client, server, _):
        with pytest.raises(errors.RobotsDisallowed):
            client.fetch(f"http://{HOST}{path}")
        assert server.paths() == []


@pytest.mark.parametrize("code", [400, 401, 403, 404, 410, 418, 429, 451])
def test_robots_txt_with_a_4xx_allows_all(code: int) -> None:
    with shop({"/robots.txt": status(code), "/card": page()}) as (client, _, _):
        assert client.fetch(URL).content == PAGE


@pytest.mark.parametrize("code", [500, 502, 503, 504])
def test_robots_txt_with_a_5xx_forbids_all(code: int) -> None:
    with shop({"/robots.txt": status(code), "/card": page()}) as (client, server, _):
        for _ in range(2):
            with pytest.raises(errors.RobotsDisallowed, match=f"status {code}"):
                client.fetch(URL)
        assert server.paths(robots=True) == ["/robots.txt"] * 3


def test_robots_txt_that_cannot_be_reached_forbids_all_and_says_why() -> None:
    with shop({"/robots.txt": faults.reset, "/card": page()}) as (client, server, _):
        with pytest.raises(errors.ConnectionFailed, match=r"robots\.txt"):
            client.fetch(URL)
        assert server.paths() == []


def test_a_failing_robots_txt_is_asked_again_after_a_minute() -> None:
    with shop({"/robots.txt": first_fail(3, status(500), robots("")), "/card": page()}) as (client, _, time):
        with pytest.raises(errors.RobotsDisallowed):
            client.fetch(URL)
        time.sleep(61)
        assert client.fetch(URL).content == PAGE


def test_robots_txt_is_kept_for_a_day() -> None:
    with shop({"/robots.txt": robots(""), "/card": page()}) as (client, server, time):
        client.fetch(URL)
        time.sleep(23 * 3600)
        client.fetch(URL)
        assert server.paths(robots=True).count("/robots.txt") == 1
        time.sleep(3600)
        client.fetch(URL)
        assert server.paths(robots=True).count("/robots.txt") == 2


def test_a_redirected_robots_txt_is_followed() -> None:
    routes = {
        "/robots.txt": redirect("/rules", 301),
        "/rules": robots("User-agent: *\nDisallow: /card"),
        "/card": page(),
    }
    with shop(routes) as (client, server, _):
        with pytest.raises(errors.RobotsDisallowed):
            client.fetch(URL)
        assert server.paths() == ["/rules"]


def test_a_robots_txt_that_redirects_for_ever_counts_as_none() -> None:
    with shop({"/robots.txt": redirect("/robots.txt"), "/card": page()}) as (client, _, _):
        assert client.fetch(URL).content == PAGE


@pytest.mark.parametrize(("size", "forbidden"), [(500 * 1024, True), (600 * 1024, False)])
def test_500_kib_of_robots_txt_are_read(size: int, forbidden: bool) -> None:
    filler = b"# " + b"x" * 61 + b"\n"
    text = b"User-agent: *\n" + filler * ((size - 40) // len(filler)) + b"Disallow: /card\n"
    with shop({"/robots.txt": page(text), "/card": page()}, max_body_bytes=10_000) as (client, _, _):
        if forbidden:
            with pytest.raises(errors.RobotsDisallowed):
                client.fetch(URL)
        else:
            assert client.fetch(URL).content == PAGE


def test_an_endless_robots_txt_is_cut_off() -> None:
    with shop({"/robots.txt": faults.endless, "/card": page()}) as (client, _, _):
        assert client.fetch(URL).content == PAGE


@pytest.mark.parametrize(
    ("line", "expected"),
    [("Crawl-delay: 7", 7.0), ("Crawl-delay: 900", 30.0), ("Request-rate: 1/5", 5.0), ("Crawl-delay: 0.1", 1.0)],
)
def test_a_crawl_delay_is_honoured_up_to_a_ceiling(line: str, expected: float) -> None:
    with shop({"/robots.txt": robots(f"User-agent: *\n{line}\n"), "/card": page()}) as (client, _, time):
        client.fetch(URL)
        client.fetch(URL)
    assert time.slept == [pytest.approx(expected)] * 2


ORIGIN = "https://shop.example"


def rules_of(content: bytes, status: int = 200) -> Robots:
    return Robots(lambda url: RobotsAnswer(status, content), "gpuledger", FakeTime().clock)


def allows(content: bytes, path: str, status: int = 200) -> bool:
    target = addresses.check(ORIGIN + path)
    return rules_of(content, status).rules(target).allow(target.url)


CASES = {
    "nothing": (b"", "/a", True),
    "all forbidden": (b"User-agent: *\nDisallow: /", "/a", False),
    "nothing forbidden": (b"User-agent: *\nDisallow:", "/a", True),
    "another agent's": (b"User-agent: other\nDisallow: /", "/a", True),
    "own group instead of all's": (b"User-agent: *\nDisallow: /\nUser-agent: gpuledger\nDisallow: /b", "/a", True),
    "own group in capitals": (b"User-agent: *\nAllow: /\nUser-agent: GPULedger\nDisallow: /", "/a", False),
    "a group of two agents": (b"User-agent: other\nUser-agent: gpuledger\nDisallow: /a", "/a", False),
    "the longer rule wins": (b"User-agent: *\nDisallow: /a\nAllow: /a/b", "/a/b/c", True),
    "of two of one length, allow wins": (b"User-agent: *\nDisallow: /a\nAllow: /a", "/a", True),
    "a star": (b"User-agent: *\nDisallow: /*?sort=", "/a?sort=price", False),
    "a dollar": (b"User-agent: *\nDisallow: /*.pdf$", "/a.pdf?x", True),
    "an escaped letter": ("User-agent: *\nDisallow: /kärtchen".encode(), "/k%C3%A4rtchen", False),
    "the query counts": (b"User-agent: *\nDisallow: /p?id=1", "/p?id=12", False),
    "a byte order mark": (b"\xef\xbb\xbfUser-agent: *\nDisallow: /", "/a", False),
    "lines of old Macs": (b"User-agent: *\rDisallow: /\r", "/a", False),
    "broken letters": (b"# \xff\xfe\nUser-agent: *\nDisallow: /", "/a", False),
    "a page instead of rules": (b"<!doctype html><html><body>Disallow everything: /</body></html>", "/a", True),
    "rules for robots.txt itself": (b"User-agent: *\nDisallow: /", "/robots.txt", True),
}


@pytest.mark.parametrize("case", CASES)
def test_rules_are_read_as_rfc_9309_says(case: str) -> None:
    content, path, expected = CASES[case]
    assert allows(content, path) is expected


@pytest.mark.parametrize(("status", "expected"), [(200, False), (204, False), (404, True), (403, True), (302, True)])
def test_only_a_good_answers_rules_count(status: int, expected: bool) -> None:
    assert allows(b"User-agent: *\nDisallow: /", "/a", status) is expected


def test_a_rule_that_the_limit_cuts_through_is_dropped() -> None:
    """`Disallow: /cart` must not become `Disallow: /`."""
    head, last = b"User-agent: *\n", b"Disallow: /cart"
    filler = b"#" * (MAX_BYTES - len(head) - len("\nDisallow: /")) + b"\n"
    assert allows((head + filler + last)[:MAX_BYTES], "/a")


def test_origins_have_their_own_rules() -> None:
    asked: list[str] = []

    def get(url: str) -> RobotsAnswer:
        asked.append(url)
        return RobotsAnswer(200, b"")

    rules = Robots(get, "gpuledger", FakeTime().clock)
    for url in ("http://a.example/1", "https://a.example/1", "https://a.example:8443/", "https://a.example/2"):
        rules.rules(addresses.check(url))
    assert asked == [
        "http://a.example/robots.txt",
        "https://a.example/robots.txt",
        "https://a.example:8443/robots.txt",
    ]


def test_each_caller_gets_an_error_of_its_own() -> None:
    """One exception raised in many threads would collect all their tracebacks."""

    def get(url: str) -> RobotsAnswer:
        raise errors.ConnectionFailed(url, "refused")

    rules, raised = Robots(get, "gpuledger", FakeTime().clock), []
    for _ in range(2):
        with pytest.raises(errors.ConnectionFailed) as caught:
            rules.rules(addresses.check(ORIGIN))
        raised.append(caught.value)
    assert raised[0] is not raised[1]
