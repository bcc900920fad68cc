"""Over TLS the connection goes to the checked address, but name and certificate are those of the host."""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from gpuledger.extract import errors
from gpuledger.extract.fetch.http import Client, HttpSettings, Machine
from tests.extract import faulty_server as faults
from tests.extract.fake_time import FakeTime
from tests.extract.faulty_server import PAGE, Exchange, FaultyServer, Route, page

HOST = "shop.tls.test"


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with a key and a certificate for HOST that signs itself."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, HOST)])
    now = datetime.now(UTC)
    signed = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(HOST)]), critical=False)
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
def shop(
    certificate: Path, route: Route, host: str = HOST, **settings: Any
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
    with shop(certificate, page(), ca_bundle=str(certificate)) as (client, server, names):
        assert client.fetch(f"https://{HOST}/card").content == PAGE
    assert set(names) == {HOST}
    assert {exchange.headers["host"] for exchange in server.asked} == {HOST}


def test_a_certificate_that_nobody_vouches_for_is_refused_at_once(certificate: Path) -> None:
    with shop(certificate, page()) as (client, server, _):
        with pytest.raises(errors.ConnectionFailed, match="certificate"):
            client.fetch(f"https://{HOST}/card")
        assert (server.asked, server.accepted) == ([], 1)


def test_a_certificate_of_another_host_is_refused(certificate: Path) -> None:
    with shop(certificate, page(), host="other.tls.test", ca_bundle=str(certificate)) as (client, server, _):
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
    with shop(certificate, route, ca_bundle=str(certificate), deadline_s=deadline_s, max_attempts=1) as (client, _, _):
        with pytest.raises(errors.FetchError) as caught:
            client.fetch(f"https://{HOST}/card")
        assert type(caught.value) is expected


def test_a_server_that_does_not_speak_tls_is_a_failed_connection() -> None:
    time = FakeTime()
    with FaultyServer({"/card": page()}) as server:
        settings = HttpSettings(connect_to={HOST: ("127.0.0.1", server.port)}, max_attempts=1, deadline_s=2)
        with (
            Client(settings, Machine(clock=time.clock, sleep=time.sleep)) as client,
            pytest.raises(errors.ConnectionFailed, match="safe connection"),
        ):
            client.fetch(f"https://{HOST}/card")


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_https_redirects_to_no_http(certificate: Path, status: int) -> None:
    def route(exchange: Exchange) -> None:
        exchange.reply(status, headers={"Location": f"http://{HOST}/card?token=abcdefgh"})

    with shop(certificate, route, ca_bundle=str(certificate)) as (client, server, _):
        with pytest.raises(errors.ForeignHost, match=rf"{HOST} redirects from https to http://{HOST}/card") as caught:
            client.fetch(f"https://{HOST}/card")
        assert "abcdefgh" not in str(caught.value)
        assert server.paths() == ["/card"]


def test_nobody_reads_along(certificate: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """SSLKEYLOGFILE makes OpenSSL write each connection's keys down, for whoever sets a service's environment."""
    keys = tmp_path / "keys"
    monkeypatch.setenv("SSLKEYLOGFILE", str(keys))
    with shop(certificate, page(), ca_bundle=str(certificate)) as (client, _, _):
        assert client.fetch(f"https://{HOST}/card").content == PAGE
    assert not keys.exists() or "SECRET" not in keys.read_text()
