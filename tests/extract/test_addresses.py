"""No form of writing an inner address gets a connection, nor has a name looked up that need not be."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuledger import errors
from gpuledger.extract.fetch import addresses
from gpuledger.extract.fetch.http import Client, HttpSettings, Machine
from gpuledger.extract.fetch.pinned import RefusedPeer, Route
from tests.extract.fake_time import FakeTime
from tests.extract.faulty_server import PAGE, FaultyServer, page

# Refused as they are written: not even the resolver is asked. {port} is a port on loopback on which somebody listens.
WRITTEN = [
    "http://127.0.0.1:{port}/",
    "http://127.1:{port}/",
    "http://0.0.0.0:{port}/",
    "http://2130706433:{port}/",
    "http://0x7f000001:{port}/",
    "http://0177.0.0.1:{port}/",
    "http://127.0.0.1.:{port}/",
    "http://[::1]:{port}/",
    "http://[::ffff:127.0.0.1]:{port}/",
    "http://[::127.0.0.1]:{port}/",
    "http://[64:ff9b::127.0.0.1]:{port}/",
    "http://[64:ff9b:1::7f00:1]/",
    "http://[2002:7f00:1::]:{port}/",
    "http://[2001:0:7f00:1::1]/",
    "http://[2001:db8::1]/",
    "http://[fe80::1%25lo]:{port}/",
    "http://[fd00:ec2::254]/latest/meta-data/",
    "http://[ff02::1]/",
    "http://[v1.x]/",
    "http://localhost:{port}/",
    "http://a.localhost:{port}/",
    "http://localhost.localdomain:{port}/",
    "http://ip6-localhost:{port}/",
    "http://printer.local/",
    "http://metadata.google.internal/computeMetadata/v1/",
    "http://intranet/",
    "http://169.254.169.254/latest/meta-data/",
    "http://168.63.129.16/",
    "http://10.0.0.1/",
    "http://172.16.0.1/",
    "http://192.168.1.1/",
    "http://100.64.0.1/",
    "http://198.18.0.1/",
    "http://224.0.0.1/",
    "http://255.255.255.255/",
    "http://192.88.99.1/",
    "http://１２７.０.０.１:{port}/",
    "http://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ:{port}/",
    "http://local\u00adhost:{port}/",
    "http://127%2e0%2e0%2e1:{port}/",
    "http://loc%61lhost:{port}/",
    "http://shop.example@127.0.0.1:{port}/",
    "http://127.0.0.1:{port}@shop.example/",
    "http://shop.example\\@127.0.0.1:{port}/",
    "http://127.0.0.1:{port}\\@shop.example/",
    "http:\\\\127.0.0.1:{port}\\",
    "http:/127.0.0.1:{port}/",
    "http:127.0.0.1:{port}",
    "//127.0.0.1:{port}/",
    "http://127.0.0.1:{port}#@shop.example/",
    "http://shop.example :{port}/",
    "http://127.0.0.1\t:{port}/",
    "http://127.0.0.1\r\nHost: shop.example/",
    "\x00http://127.0.0.1:{port}/",
    "http://shop.example:0/",
    "http://shop.example:99999/",
    "http://.shop.example/",
    "http://-shop.example/",
    "http://",
    "",
    "ftp://127.0.0.1:{port}/",
    "file:///etc/passwd",
    "javascript:alert(1)",
    "HTTP+UNIX://%2Fvar%2Frun%2Fdocker.sock/",
]

# Names that look public, with what an attacker's name server answers.
RESOLVED = [
    ["127.0.0.1"],
    ["0.0.0.0"],
    ["10.1.2.3"],
    ["169.254.169.254"],
    ["::1"],
    ["::ffff:127.0.0.1"],
    ["fe80::1%lo"],
    ["fd00::1"],
    ["64:ff9b::7f00:1"],
    ["93.184.216.34", "127.0.0.1"],
    ["127.0.0.1", "93.184.216.34"],
    ["no address"],
]


class Resolver:
    """Counts what it is asked, and answers with the same each time."""

    def __init__(self, answer: Sequence[str] = ("127.0.0.1",)) -> None:
        self.asked: list[str] = []
        self.answer = answer

    def __call__(self, host: str, port: int) -> Sequence[str]:
        self.asked.append(host)
        return self.answer


@contextmanager
def listening(answer: Sequence[str] = ("127.0.0.1",)) -> Iterator[tuple[Client, FaultyServer, Resolver]]:
    """A client whose every name leads to `answer`, and a server that must not be reached."""
    time, resolver = FakeTime(), Resolver(answer)
    with (
        FaultyServer({"/": page()}) as server,
        Client(HttpSettings(), Machine(clock=time.clock, sleep=time.sleep, resolve=resolver)) as client,
    ):
        yield client, server, resolver


def test_no_written_form_of_an_inner_address_is_reached_or_looked_up() -> None:
    assert len(WRITTEN) >= 30
    allowed = []
    with listening() as (client, server, resolver):
        for form in WRITTEN:
            try:
                client.fetch(form.format(port=server.port))
            except errors.ForbiddenAddress:
                continue
            allowed.append(form)
        assert (allowed, server.accepted, resolver.asked) == ([], 0, [])


@pytest.mark.parametrize("answer", RESOLVED, ids=" ".join)
def test_no_name_that_leads_inside_is_connected_to(answer: list[str]) -> None:
    with listening(answer) as (client, server, resolver):
        with pytest.raises(errors.ForbiddenAddress) as caught:
            client.fetch(f"http://shop.example:{server.port}/")
        assert server.accepted == 0
        assert resolver.asked == ["shop.example"]
    assert caught.value.url == f"http://shop.example:{server.port}/"


def test_a_name_is_looked_up_once_and_its_answer_is_what_is_connected_to() -> None:
    """DNS rebinding: the first answer is public, every later one leads inside."""
    answers = iter([["93.184.216.34"], ["127.0.0.1"]])
    route = Route({}, lambda host, port: next(answers))
    assert route.peers("shop.example", 443, 1.0) == [("93.184.216.34", 443)]
    with pytest.raises(RefusedPeer, match="loopback"):
        route.peers("shop.example", 443, 1.0)


def test_a_name_server_that_does_not_answer_is_not_waited_for() -> None:
    released = threading.Event()

    def hanging(host: str, port: int) -> Sequence[str]:
        released.wait(600)
        return []

    with pytest.raises(TimeoutError, match="not resolved"):
        Route({}, hanging).peers("shop.example", 443, 0.05)
    released.set()


@pytest.mark.parametrize(
    "failure", [UnicodeError("label too long"), ValueError("odd"), RuntimeError("no thread"), MemoryError()]
)
def test_what_a_look_up_fails_of_is_said_and_not_taken_for_time(failure: Exception) -> None:
    def failing(host: str, port: int) -> Sequence[str]:
        raise failure

    with pytest.raises(type(failure)):
        Route({}, failing).peers("shop.example", 443, 60.0)


def test_only_the_mapped_name_reaches_loopback_and_only_at_the_mapped_port() -> None:
    resolver, time = Resolver(), FakeTime()
    with FaultyServer({"/": page()}) as other, FaultyServer({"/": page()}) as mapped:
        settings = HttpSettings(connect_to={"newegg.sample.test": ("127.0.0.1", mapped.port)})
        with Client(settings, Machine(clock=time.clock, sleep=time.sleep, resolve=resolver)) as client:
            assert client.fetch("http://newegg.sample.test/").content == PAGE
            # The port in the address is the mapped host's own business: it leads to the mapped one.
            assert client.fetch(f"http://newegg.sample.test:{other.port}/").content == PAGE
            for near in ("sample.test", "a.newegg.sample.test", "newegg.sample.test.evil.example"):
                with pytest.raises(errors.ForbiddenAddress):
                    client.fetch(f"http://{near}:{mapped.port}/")
            with pytest.raises(errors.ForbiddenAddress):
                client.fetch(f"http://127.0.0.1:{mapped.port}/")
        assert other.accepted == 0
        hosts = [exchange.headers["host"] for exchange in mapped.asked if exchange.path == "/"]
        assert hosts == ["newegg.sample.test", f"newegg.sample.test:{other.port}"]


@pytest.mark.parametrize(
    "address", ["93.184.216.34", "8.8.8.8", "2606:2800:220:1::1", "::ffff:8.8.8.8", "64:ff9b::8.8.8.8"]
)
def test_public_addresses_are_allowed(address: str) -> None:
    assert addresses.refused_ip(address) is None


@given(st.ip_addresses())
def test_what_is_allowed_is_global_to_the_standard_library_too(address: object) -> None:
    if addresses.refused_ip(str(address)) is None:
        mapped = getattr(address, "ipv4_mapped", None)
        assert (mapped or address).is_global  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("url", "clean"),
    [
        ("http://Shop.Example", "http://shop.example/"),
        ("HTTPS://shop.example:443/a?b=c#d", "https://shop.example/a?b=c"),
        ("http://shop.example:8080/a b", "http://shop.example:8080/a b"),
        ("http://shop.example./", "http://shop.example/"),
        ("https://münchen-grafik.example/ä", "https://xn--mnchen-grafik-wob.example/ä"),
        ("http://8.8.8.8/", "http://8.8.8.8/"),
        ("http://shop.example/a/../b/./c/..", "http://shop.example/b/"),
        ("http://shop.example/../../b", "http://shop.example/b"),
        ("http://shop.example/a/%2e%2E/.%2e/b%2ec", "http://shop.example/b.c"),
        ("http://shop.example//a", "http://shop.example//a"),
        ("http://[2606:2800:220:1:0::1]/", "http://[2606:2800:220:1::1]/"),
        ("http://shop.example/a@b?mail=a@b.example", "http://shop.example/a@b?mail=a@b.example"),
        ("http://shop.example/?q=a\\b", "http://shop.example/?q=a\\b"),
    ],
)
def test_public_addresses_come_out_in_one_form(url: str, clean: str) -> None:
    assert addresses.check(url).url == clean


@given(st.text(max_size=40), st.sampled_from(["", "http://", "https://", "//", "http:", "http://a.example"]))
def test_any_text_is_an_address_or_refused(text: str, start: str) -> None:
    try:
        target = addresses.check(start + text)
    except errors.ForbiddenAddress:
        return
    assert addresses.check(target.url) == target


def test_errors_do_not_repeat_a_password() -> None:
    with listening() as (client, _, _), pytest.raises(errors.ForbiddenAddress) as caught:
        client.fetch("http://me:hunter2@shop.example/")
    assert "hunter2" not in str(caught.value)
