"""Each way in which a server can fail has its own class, over TLS too, and costs no more than three requests."""

from __future__ import annotations

import gzip
import ssl
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from gpuledger import errors
from gpuledger.extract.fetch.http import Client, HttpSettings, Machine
from tests.extract import faulty_server as faults
from tests.extract.fake_time import FakeTime
from tests.extract.faulty_server import PAGE, Exchange, FaultyServer, Route, page, redirect, status

HOST = "shop.faulty.test"
URL = f"http://{HOST}/card"


@contextmanager
def shop(
    route: Route, *, more: dict[str, Route] | None = None, jitter: float = 0.0, **settings: Any
) -> Iterator[tuple[Client, FaultyServer, FakeTime]]:
    time = FakeTime()
    with FaultyServer({"/card": route, **(more or {})}) as server:
        chosen = HttpSettings(connect_to={HOST: ("127.0.0.1", server.port)}, **settings)
        with Client(chosen, Machine(clock=time.clock, sleep=time.sleep, random=lambda: jitter)) as client:
            yield client, server, time


def wall(title: str, text: str) -> Route:
    return page(f"<html><head><title>{title}</title></head><body><h1>{title}</h1><p>{text}</p></body></html>".encode())


ONCE, THRICE = 1, 3
FAULTS: dict[str, tuple[Route, type[errors.FetchError], int]] = {
    "401": (status(401), errors.Blocked, ONCE),
    "403": (status(403), errors.Blocked, ONCE),
    "404": (status(404), errors.NotFound, ONCE),
    "410": (status(410), errors.NotFound, ONCE),
    "408": (status(408), errors.Timeout, THRICE),
    "418": (status(418), errors.FetchError, ONCE),
    "429": (status(429), errors.RateLimited, THRICE),
    "451": (status(451), errors.Blocked, ONCE),
    "500": (status(500), errors.ServerError, THRICE),
    "502": (status(502), errors.ServerError, THRICE),
    "503": (status(503), errors.ServerError, THRICE),
    "503 with a challenge": (status(503, {"cf-mitigated": "challenge"}), errors.Blocked, ONCE),
    "202 with a challenge": (status(202, {"x-amzn-waf-action": "challenge"}), errors.Blocked, ONCE),
    "204": (status(204, body=b""), errors.FetchError, ONCE),
    "206": (status(206), errors.FetchError, ONCE),
    "304 unasked": (status(304, body=b""), errors.FetchError, ONCE),
    "redirect without address": (status(302), errors.FetchError, ONCE),
    "reset": (faults.reset, errors.ConnectionFailed, THRICE),
    "hang up": (faults.hang_up, errors.ConnectionFailed, THRICE),
    "not HTTP": (faults.not_http, errors.ConnectionFailed, THRICE),
    "short body": (faults.short_body, errors.Truncated, THRICE),
    "reset in the body": (faults.reset_in_body, errors.Truncated, THRICE),
    "chunks end early": (faults.chunked_early_end, errors.Truncated, THRICE),
    "endless chunk header": (faults.endless_chunk_header, errors.Truncated, THRICE),
    "endless headers": (faults.endless_headers, errors.ConnectionFailed, THRICE),
    "truncated gzip of the right length": (faults.truncated_gzip, errors.Truncated, THRICE),
    "half a page without a length": (faults.unmeasured_half, errors.Truncated, THRICE),
    "damaged gzip": (page(b"\x1f\x8b\x08" + b"junk" * 20, {"Content-Encoding": "gzip"}), errors.Truncated, THRICE),
    "gzip that is none": (page(PAGE, {"Content-Encoding": "gzip"}), errors.Truncated, THRICE),
    "unknown encoding": (page(PAGE, {"Content-Encoding": "br"}), errors.FetchError, ONCE),
    "bomb": (faults.bomb, errors.TooLarge, ONCE),
    "announced too large": (page(b"", {"Content-Length": "6000000"}), errors.TooLarge, ONCE),
    "endless": (faults.endless, errors.TooLarge, ONCE),
    "empty": (page(b""), errors.EmptyBody, THRICE),
    "blank": (page(b" \n\n"), errors.EmptyBody, THRICE),
    "consent": (wall("Before you continue", "We use cookies. <button>Accept all</button>"), errors.Blocked, ONCE),
    "captcha": (wall("Robot Check", "Enter the characters you see below"), errors.Blocked, ONCE),
    "challenge": (wall("Just a moment...", "Checking your browser"), errors.Blocked, ONCE),
    "soft 404": (wall("Page not found | Kestrel Parts", "Try our search."), errors.Blocked, ONCE),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_each_fault_has_its_class_and_number_of_requests(fault: str) -> None:
    route, expected, requests = FAULTS[fault]
    with shop(route) as (client, server, _), pytest.raises(errors.FetchError) as caught:
        client.fetch(URL)
    assert type(caught.value) is expected
    assert server.paths() == ["/card"] * requests
    message = str(caught.value)
    assert URL in message
    assert caught.value.seen in message
    assert caught.value.action in message


@pytest.mark.parametrize("slow", [faults.drip, faults.drip_head, faults.silence], ids=["body", "head", "nothing"])
def test_a_slow_server_is_left_at_the_deadline_and_not_asked_again(slow: Route) -> None:
    with shop(slow, deadline_s=0.5) as (client, server, _), pytest.raises(errors.Timeout, match=r"after 0\.5 s"):
        client.fetch(URL)
    assert server.paths() == ["/card"]


def test_a_refused_connection_fails_after_three_tries() -> None:
    time = FakeTime()
    with FaultyServer() as server:
        port = server.port
    settings = HttpSettings(connect_to={HOST: ("127.0.0.1", port)})
    with (
        Client(settings, Machine(clock=time.clock, sleep=time.sleep)) as client,
        pytest.raises(errors.ConnectionFailed, match=r"refused.*3 tries"),
    ):
        client.fetch(URL)


@pytest.mark.parametrize(
    "failing", [status(500), status(429), faults.reset, faults.short_body, faults.truncated_gzip, page(b"")]
)
def test_a_passing_fault_is_overcome(failing: Route) -> None:
    with shop(faults.first_fail(2, failing, page())) as (client, server, _):
        fetched = client.fetch(URL)
    assert (fetched.content, fetched.status) == (PAGE, 200)
    assert len(server.paths()) == 3


def test_backoff_doubles_and_jitter_only_lengthens_it() -> None:
    for jitter, expected in ((0.0, [0.5, 1.0]), (1.0, [1.0, 2.0])):
        with shop(status(500), jitter=jitter, delay_s=0) as (client, _, time), pytest.raises(errors.ServerError):
            client.fetch(URL)
        assert time.slept == [pytest.approx(wait) for wait in expected]


def test_a_redirect_loop_is_seen_at_once() -> None:
    with shop(redirect("/a"), more={"/a": redirect("/card")}) as (client, server, _):
        with pytest.raises(errors.TooManyRedirects, match="loop"):
            client.fetch(URL)
        assert server.paths() == ["/card", "/a", "/card", "/a"][: len(server.paths())]
        assert len(server.paths()) <= 4


def test_an_endless_chain_of_redirects_ends() -> None:
    chain = {f"/{number}": redirect(f"/{number + 1}") for number in range(20)}
    with shop(redirect("/0"), more=chain) as (client, server, _):
        with pytest.raises(errors.TooManyRedirects, match="more than 5"):
            client.fetch(URL)
        assert len(server.paths()) == 6


def test_a_redirect_that_sets_a_cookie_and_comes_back_is_followed() -> None:
    def needs_cookie(exchange: faults.Exchange) -> None:
        seen = "seen=1" in exchange.headers.get("cookie", "")
        (page() if seen else redirect("/card", headers={"Set-Cookie": "seen=1"}))(exchange)

    with shop(needs_cookie) as (client, server, _):
        assert client.fetch(URL).content == PAGE
        client.fetch(URL)
    # The cookie lived as long as the chain: the second fetch was a stranger again.
    assert len(server.paths()) == 4


@pytest.mark.parametrize(
    "location",
    [
        "http://127.0.0.1:{port}/secret",
        "http://localhost:{port}/secret",
        "http://169.254.169.254/latest/",
        "ftp://x.example/",
        "//10.0.0.1/",
        "http://[::1]:{port}/",
        "http://u:p@shop.faulty.test/",
        "http://[",
    ],
)
def test_a_redirect_inside_is_refused(location: str) -> None:
    def away(exchange: faults.Exchange) -> None:
        redirect(location.format(port=exchange.sock.getsockname()[1]))(exchange)

    with shop(away, more={"/secret": page()}) as (client, server, _):
        with pytest.raises(errors.ForbiddenAddress) as caught:
            client.fetch(URL)
        assert server.paths() == ["/card"]
    assert caught.value.url == URL


def test_a_wall_behind_a_redirect_names_the_address_that_was_asked_for() -> None:
    consent = wall("Before you continue", "We use cookies. Accept all?")
    with (
        shop(redirect("/wall?token=hunter2"), more={"/wall": consent}) as (client, _, _),
        pytest.raises(errors.Blocked, match="REDACTED") as caught,
    ):
        client.fetch(URL)
    assert caught.value.url == URL
    assert "hunter2" not in str(caught.value)


def test_a_page_redirected_to_the_front_page_is_gone() -> None:
    with shop(redirect("/"), more={"/": page()}) as (client, _, _), pytest.raises(errors.Blocked, match="front page"):
        client.fetch(URL)


def test_a_relative_redirect_with_letters_is_followed() -> None:
    with shop(redirect("/kärtchen?q=a b"), more={"/k%C3%A4rtchen": page()}) as (client, server, _):
        fetched = client.fetch(URL)
    assert server.paths() == ["/card", "/k%C3%A4rtchen?q=a%20b"]
    assert (fetched.url, fetched.content) == (URL, PAGE)
    assert fetched.final_url == f"http://{HOST}/kärtchen?q=a b"


GOOD: dict[str, tuple[dict[str, str], Callable[[bytes], bytes]]] = {
    "plain": ({}, bytes),
    "gzip": ({"Content-Encoding": "gzip"}, gzip.compress),
    "x-gzip": ({"Content-Encoding": "x-gzip"}, gzip.compress),
    "two gzip members": (
        {"Content-Encoding": "gzip"},
        lambda body: gzip.compress(body[:100]) + gzip.compress(body[100:]),
    ),
    "no encoding by another name": ({"Content-Encoding": "identity"}, bytes),
    "padded gzip": ({"Content-Encoding": "gzip"}, lambda body: gzip.compress(body) + bytes(512)),
}


@pytest.mark.parametrize("form", GOOD)
def test_whole_bodies_arrive_as_they_were(form: str) -> None:
    headers, pack = GOOD[form]
    body = PAGE + b"<!--" + bytes(range(32, 127)) * 3000 + b"-->"
    with shop(page(pack(body), headers)) as (client, _, _):
        assert client.fetch(URL).content == body


@pytest.mark.parametrize("route", [faults.bomb, faults.endless, faults.endless_headers, faults.endless_chunk_header])
def test_a_hostile_body_costs_little_memory(route: Route) -> None:
    if route is faults.bomb:
        # Packed beforehand, so that the server's own 200 MB do not count.
        packed = gzip.compress(bytes(200_000_000), 1)
        route = page(packed, {"Content-Encoding": "gzip"})
    with shop(route, max_attempts=1) as (client, _, _):
        tracemalloc.start()
        try:
            with pytest.raises(errors.FetchError):
                client.fetch(URL)
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert peak < 30_000_000


TLS_HOST = "shop.tls.test"


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with a key and a certificate for TLS_HOST that signs itself."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, TLS_HOST)])
    now = datetime.now(UTC)
    signed = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(TLS_HOST)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    path = tmp_path_factory.mktemp("tls") / "certificate.pem"
    path.write_bytes(private + signed.public_bytes(serialization.Encoding.PEM))
    return path


@contextmanager
def tls_shop(
    certificate: Path, route: Route, host: str = TLS_HOST, **settings: Any
) -> Iterator[tuple[Client, FaultyServer, list[str]]]:
    names: list[str] = []
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    context.sni_callback = lambda sock, name, context: names.append(name)
    time = FakeTime()
    with FaultyServer({"/card": route}, tls=context) as server:
        chosen = HttpSettings(connect_to={host: ("127.0.0.1", server.port)}, **settings)
        with Client(chosen, Machine(clock=time.clock, sleep=time.sleep)) as client:
            yield client, server, names


def test_name_and_certificate_are_the_hosts(certificate: Path) -> None:
    with tls_shop(certificate, page(), ca_bundle=str(certificate)) as (client, server, names):
        assert client.fetch(f"https://{TLS_HOST}/card").content == PAGE
    assert set(names) == {TLS_HOST}
    assert {exchange.headers["host"] for exchange in server.asked} == {TLS_HOST}


def test_a_certificate_that_nobody_vouches_for_is_refused_at_once(certificate: Path) -> None:
    with tls_shop(certificate, page()) as (client, server, _):
        with pytest.raises(errors.ConnectionFailed, match="certificate"):
            client.fetch(f"https://{TLS_HOST}/card")
        assert (server.asked, server.accepted) == ([], 1)


def test_a_certificate_of_another_host_is_refused(certificate: Path) -> None:
    with tls_shop(certificate, page(), host="other.tls.test", ca_bundle=str(certificate)) as (client, server, _):
        with pytest.raises(errors.ConnectionFailed, match="certificate"):
            client.fetch("https://other.tls.test/card")
        assert server.asked == []


@pytest.mark.parametrize(
    ("route", "expected"),
    [
        (faults.drip, errors.Timeout),
        (faults.drip_head, errors.Timeout),
        (faults.short_body, errors.Truncated),
        (faults.reset_in_body, errors.Truncated),
        (faults.reset, errors.ConnectionFailed),
    ],
)
def test_faults_have_their_class_over_tls_too(
    certificate: Path, route: Route, expected: type[errors.FetchError]
) -> None:
    deadline_s = 0.5 if expected is errors.Timeout else 20.0
    with tls_shop(certificate, route, ca_bundle=str(certificate), deadline_s=deadline_s, max_attempts=1) as (
        client,
        _,
        _,
    ):
        with pytest.raises(errors.FetchError) as caught:
            client.fetch(f"https://{TLS_HOST}/card")
        assert type(caught.value) is expected


def test_a_server_that_does_not_speak_tls_is_a_failed_connection() -> None:
    time = FakeTime()
    with FaultyServer({"/card": page()}) as server:
        settings = HttpSettings(connect_to={TLS_HOST: ("127.0.0.1", server.port)}, max_attempts=1, deadline_s=2)
        with (
            Client(settings, Machine(clock=time.clock, sleep=time.sleep)) as client,
            pytest.raises(errors.ConnectionFailed, match="safe connection"),
        ):
            client.fetch(f"https://{TLS_HOST}/card")


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_https_redirects_to_no_http(certificate: Path, status: int) -> None:
    def route(exchange: Exchange) -> None:
        exchange.reply(status, headers={"Location": f"http://{TLS_HOST}/card?token=abcdefgh"})

    with tls_shop(certificate, route, ca_bundle=str(certificate)) as (client, server, _):
        with pytest.raises(
            errors.ForeignHost, match=rf"{TLS_HOST} redirects from https to http://{TLS_HOST}/card"
        ) as caught:
            client.fetch(f"https://{TLS_HOST}/card")
        assert "abcdefgh" not in str(caught.value)
        assert server.paths() == ["/card"]


def test_nobody_reads_along(certificate: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """SSLKEYLOGFILE makes OpenSSL write each connection's keys down, for whoever sets a service's environment."""
    keys = tmp_path / "keys"
    monkeypatch.setenv("SSLKEYLOGFILE", str(keys))
    with tls_shop(certificate, page(), ca_bundle=str(certificate)) as (client, _, _):
        assert client.fetch(f"https://{TLS_HOST}/card").content == PAGE
    assert not keys.exists() or "SECRET" not in keys.read_text()
