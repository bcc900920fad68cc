"""The bundled sample site, served on loopback: real pages over real HTTP, without any machine but this one.

Every source has folders `extract/sources/<source>/sample/night<N>/` and the host `<source>.sample.test` (with `-` for `_`).
Night N consists of night 1 overlaid by the folders of nights 2 to N: a file there replaces or adds a page, and an empty file
`<name>.gone` removes the page.

The address `/a/b` finds the file `a/b`, else `a/b.html`, else `a/b/index.html`. With a query, `a/b@<query>.html` comes first
(some systems do not allow `?` in a file name). The server lists the whole site when it starts and only looks addresses up in
that list, so no address can reach a file outside the site.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from urllib.parse import unquote, urlsplit

from gpuledger.extract import sources
from gpuledger.extract.source import Source

NIGHTS = (1, 2, 3)

_SITE = Path(sources.__path__[0])
_GONE = ".gone"
_ROBOTS = b"User-agent: *\nAllow: /\n"
# Written out, since the mimetypes module also reads the machine's own tables and would give other answers on other machines.
_CONTENT_TYPES = {
    ".csv": "text/csv; charset=utf-8",
    ".html": "text/html",
    ".png": "image/png",
    ".xml": "application/xml",
}


def clock(night: int) -> datetime:
    """Return when the sample's night is fetched: at 03:00 UTC, from 16 November 2023 on.

    Raises ValueError for an unknown night.
    """
    _check(night)
    return datetime(2023, 11, 16, 3, tzinfo=UTC) + timedelta(days=night - 1)


def host(source_name: str) -> str:
    """Return the sample site's host of a source. A host name has no underscore."""
    return f"{source_name.replace('_', '-')}.sample.test"


def start_urls(source: Source) -> list[str]:
    """Return the addresses of the sample site at which a source starts.

    The list is empty if it has no part in the sample.
    """
    return [f"http://{host(source.name)}{path}" for path in source.sample]


class SampleSite:
    """Serve one night while the `with` block runs. Raises ValueError, with the known nights, if there is no such night.

    `port` is on 127.0.0.1. `hosts` are the names that the server answers to. `connect_to` gives for each host the address to
    connect to instead of asking DNS.
    """

    def __init__(self, night: int) -> None:
        _check(night)
        self.night = night
        names = sorted({folder.parents[1].name for folder in _SITE.glob("*/sample/night*") if folder.is_dir()})
        pages = {host(name): _pages(name, night) for name in names}
        self.hosts: tuple[str, ...] = tuple(sorted(pages))
        self._server = _Server(pages)
        self.port: int = self._server.server_address[1]
        self.connect_to: dict[str, tuple[str, int]] = dict.fromkeys(self.hosts, ("127.0.0.1", self.port))
        self._thread = Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)

    def __enter__(self) -> SampleSite:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def _check(night: int) -> None:
    if night not in NIGHTS:
        raise ValueError(f"the sample site has no night {night}; it has {', '.join(map(str, NIGHTS))}")


def _pages(source: str, night: int) -> dict[str, Path]:
    """Return every file of a source on a night, by its address below the host."""
    by_path: dict[str, Path] = {}
    for layer in range(1, night + 1):
        top = _SITE / source / "sample" / f"night{layer}"
        for path in sorted(top.rglob("*")):
            if path.is_file():
                name = path.relative_to(top).as_posix()
                if name.endswith(_GONE):
                    by_path.pop(name.removesuffix(_GONE), None)
                else:
                    by_path[name] = path
    return by_path


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    # A client that keeps its connection open would otherwise hold up the end of the `with` block.
    block_on_close = False
    # All sources connect at once. The library's own queue holds five connections; a client retries any further one a second
    # later.
    request_queue_size = 128

    def __init__(self, pages: dict[str, dict[str, Path]]) -> None:
        self.pages = pages
        super().__init__(("127.0.0.1", 0), _Handler)


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"
    server_version = "gpuledger-sample"
    sys_version = ""
    timeout = 30
    # Send head and body in one piece. As two pieces, the second waits until the client acknowledges the first, which the
    # client delays for 40 ms: more than the rest of a page's time here.
    wbufsize = -1

    def log_message(self, format: str, *args: object) -> None:
        """Log nothing: the program's own log says what it fetched."""

    def do_GET(self) -> None:
        name = (self.headers.get("Host") or "").rsplit(":", 1)[0].lower()
        pages = self.server.pages.get(name)
        if pages is None:
            self._send(HTTPStatus.MISDIRECTED_REQUEST, f"no sample source answers as {name}\n".encode())
            return
        target = urlsplit(self.path)
        file = next((pages[key] for key in _keys(target.path, target.query) if key in pages), None)
        if file is not None:
            body = file.read_bytes()
            headers = {"ETag": f'"{hashlib.sha256(body).hexdigest()[:32]}"'}
            if self.headers.get("If-None-Match") == headers["ETag"]:
                self._send(HTTPStatus.NOT_MODIFIED, None, headers)
            else:
                headers["Content-Type"] = _content_type(file, body)
                self._send(HTTPStatus.OK, body, headers)
        elif target.path == "/robots.txt":
            self._send(HTTPStatus.OK, _ROBOTS)
        else:
            self._send(HTTPStatus.NOT_FOUND, b"no such page\n")

    def _send(self, status: HTTPStatus, body: bytes | None, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in ({"Content-Type": "text/plain; charset=utf-8"} if headers is None else headers).items():
            self.send_header(name, value)
        if body is not None:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if body is not None:
            self.wfile.write(body)


def _keys(path: str, query: str) -> Iterator[str]:
    """Yield the file names that a page may have, the most specific first."""
    name = unquote(path).strip("/")
    if query:
        yield f"{name}@{query.replace('/', '%2F')}.html"
        yield f"{name}@{query.replace('/', '%2F')}"
    if name:
        yield name
        yield f"{name}.html"
        yield f"{name}/index.html"
    else:
        yield "index.html"


def _content_type(path: Path, body: bytes) -> str:
    kind = _CONTENT_TYPES.get(path.suffix.lower(), "application/octet-stream")
    if kind != "text/html":
        return kind
    # A page in another encoding must name it in a meta element, as such pages do: a wrong header would override that
    # element.
    try:
        body.decode("utf-8")
    except UnicodeDecodeError:
        return kind
    return "text/html; charset=utf-8"
