"""A web server on loopback that fails on purpose, byte by byte as told, and remembers what it was asked.

Written on bare sockets, because a server library would mend most of the faults before they reached the wire.
"""

from __future__ import annotations

import contextlib
import gzip
import socket
import ssl
import struct
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import BinaryIO, Self


@dataclass
class Exchange:
    """One request as it came, and the socket to answer on. `number` counts the requests to this path from 1."""

    sock: socket.socket
    path: str
    headers: Mapping[str, str]
    number: int
    at: float = field(default_factory=time.monotonic)

    def send(self, data: bytes) -> None:
        self.sock.sendall(data)

    def reply(self, status: int, body: bytes = b"", headers: Mapping[str, str] | None = None) -> None:
        """A correct answer, with its length."""
        self.head(
            status, {"Content-Type": "text/html; charset=utf-8", "Content-Length": str(len(body)), **(headers or {})}
        )
        self.send(body)

    def head(self, status: int, headers: Mapping[str, str]) -> None:
        lines = [f"HTTP/1.1 {status} Because", *(f"{name}: {value}" for name, value in headers.items()), "", ""]
        self.send("\r\n".join(lines).encode("utf-8"))

    def reset(self) -> None:
        """Have the connection closed so that the other side sees a reset, not an end."""
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        raise ConnectionAbortedError


Route = Callable[[Exchange], None]


class FaultyServer:
    """Answers each path with its route, any other with 404. One thread a connection, so that it can fail many at a time."""

    def __init__(self, routes: Mapping[str, Route] | None = None, tls: ssl.SSLContext | None = None) -> None:
        self._tls = tls
        self.routes: dict[str, Route] = dict(routes or {})
        self.asked: list[Exchange] = []
        self.accepted = 0
        self.open_now = 0
        self.open_most = 0
        self._lock = threading.Lock()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._connections: list[socket.socket] = []

    def __enter__(self) -> Self:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for connection in self._connections:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
            connection.close()

    def paths(self, *, robots: bool = False) -> list[str]:
        """The paths that were asked for, in order; without those of robots.txt unless told."""
        return [exchange.path for exchange in self.asked if robots or exchange.path != "/robots.txt"]

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            # Head and body are sent apart; without this the second waits 40 ms for the first's acknowledgement.
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            with self._lock:
                self.accepted += 1
                self._connections.append(connection)
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with self._lock:
            self.open_now += 1
            self.open_most = max(self.open_most, self.open_now)
        try:
            if self._tls is not None:
                connection = self._tls.wrap_socket(connection, server_side=True)
            with connection.makefile("rb") as file:
                for path, headers in _requests(file):
                    with self._lock:
                        number = 1 + sum(exchange.path == path for exchange in self.asked)
                        exchange = Exchange(connection, path, headers, number)
                        self.asked.append(exchange)
                    self.routes.get(path.partition("?")[0], _not_found)(exchange)
        except (OSError, ValueError):
            pass  # the client gave up, as it should on most of the faults
        finally:
            with self._lock:
                self.open_now -= 1
            connection.close()


def _requests(file: BinaryIO) -> Iterator[tuple[str, dict[str, str]]]:
    while line := file.readline():
        _, path, _ = line.decode("latin-1").split(" ", 2)  # ValueError for a TLS client's hello
        headers = {}
        while (line := file.readline().rstrip()) and b":" in line:
            name, _, value = line.decode("latin-1").partition(":")
            headers[name.lower()] = value.strip()
        yield path, headers


def _not_found(exchange: Exchange) -> None:
    exchange.reply(404, b"<h1>Not found</h1>")


PAGE = b"""<!doctype html><html lang="en"><head><title>Pixelforge Aurora 12 GB | Kestrel Parts</title></head>
<body><h1>Pixelforge Aurora 12 GB</h1><p class="price">$ 412.50</p><p>Ships tomorrow from our own stock.</p></body></html>"""


def page(body: bytes = PAGE, headers: Mapping[str, str] | None = None) -> Route:
    """A route that answers as it should."""
    return lambda exchange: exchange.reply(200, body, headers)


def status(
    code: int, headers: Mapping[str, str] | None = None, body: bytes = b"<p>a failing server's words</p>"
) -> Route:
    return lambda exchange: exchange.reply(code, body, headers)


def first_fail(times: int, failing: Route, then: Route) -> Route:
    """Fails the given number of times, then answers."""
    return lambda exchange: (failing if exchange.number <= times else then)(exchange)


def redirect(location: str, code: int = 302, headers: Mapping[str, str] | None = None) -> Route:
    return lambda exchange: exchange.reply(code, b"", {"Location": location, **(headers or {})})


def reset(exchange: Exchange) -> None:
    exchange.reset()


def hang_up(exchange: Exchange) -> None:
    exchange.sock.shutdown(socket.SHUT_RDWR)


def silence(exchange: Exchange) -> None:
    """Accepts, reads, and never answers."""
    exchange.sock.recv(1)


def short_body(exchange: Exchange) -> None:
    exchange.head(200, {"Content-Type": "text/html", "Content-Length": str(len(PAGE) + 500)})
    exchange.send(PAGE)
    exchange.sock.shutdown(socket.SHUT_RDWR)


def reset_in_body(exchange: Exchange) -> None:
    exchange.head(200, {"Content-Type": "text/html", "Content-Length": str(len(PAGE) + 500)})
    exchange.send(PAGE)
    time.sleep(0.05)
    exchange.reset()


def chunked_early_end(exchange: Exchange) -> None:
    exchange.head(200, {"Content-Type": "text/html", "Transfer-Encoding": "chunked"})
    exchange.send(b"%x\r\n%s\r\n" % (len(PAGE), PAGE))
    exchange.sock.shutdown(socket.SHUT_RDWR)


def endless_chunk_header(exchange: Exchange) -> None:
    exchange.head(200, {"Content-Type": "text/html", "Transfer-Encoding": "chunked"})
    while True:
        exchange.send(b"0" * 65536)


def truncated_gzip(exchange: Exchange) -> None:
    """The length on the wire is right; the stream inside ends early."""
    packed = gzip.compress(PAGE * 50)
    half = packed[: len(packed) // 2]
    exchange.reply(200, half, {"Content-Encoding": "gzip"})


def unmeasured_half(exchange: Exchange) -> None:
    """No length and no chunks: the connection's end is the only end there is."""
    exchange.head(200, {"Content-Type": "text/html", "Connection": "close"})
    exchange.send(PAGE[: len(PAGE) // 2])
    exchange.sock.shutdown(socket.SHUT_RDWR)


def drip(exchange: Exchange) -> None:
    exchange.head(200, {"Content-Type": "text/html", "Content-Length": "100000"})
    while True:
        exchange.send(b"x")
        time.sleep(0.02)


def drip_head(exchange: Exchange) -> None:
    exchange.send(b"HTTP/1.1 200 OK\r\nX-Slow: ")
    while True:
        exchange.send(b"x")
        time.sleep(0.02)


def bomb(exchange: Exchange) -> None:
    """200 MB of zeros in 194 KB."""
    exchange.reply(200, gzip.compress(bytes(200_000_000), 9), {"Content-Encoding": "gzip"})


def endless(exchange: Exchange) -> None:
    exchange.head(200, {"Content-Type": "text/html", "Transfer-Encoding": "chunked"})
    while True:
        exchange.send(b"10000\r\n" + b"x" * 65536 + b"\r\n")


def endless_headers(exchange: Exchange) -> None:
    exchange.send(b"HTTP/1.1 200 OK\r\n")
    while True:
        exchange.send(b"X-More: and more\r\n" * 100)


def not_http(exchange: Exchange) -> None:
    exchange.send(b"SSH-2.0-OpenSSH_9.6\r\n")
    exchange.sock.shutdown(socket.SHUT_RDWR)
