"""What the text of a robots.txt means for this client. What its status means, `test_http_manners.py` shows."""

from __future__ import annotations

import pytest

from gpuledger.extract import errors
from gpuledger.extract.fetch import addresses
from gpuledger.extract.fetch.robots import MAX_BYTES, Robots, RobotsAnswer
from tests.extract.fake_time import FakeTime

ORIGIN = "https://shop.example"


def robots(content: bytes, status: int = 200) -> Robots:
    return Robots(lambda url: RobotsAnswer(status, content), "gpuledger", FakeTime().clock)


def allows(content: bytes, path: str, status: int = 200) -> bool:
    target = addresses.check(ORIGIN + path)
    return robots(content, status).rules(target).allow(target.url)


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
    assert asked == ["http://a.example/robots.txt", "https://a.example/robots.txt", "https://a.example:8443/robots.txt"]


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
