"""Whole files under names below an address, read from any web server, a folder or a store."""

from __future__ import annotations

import http.client
import time
import urllib.error
import urllib.request
from pathlib import Path
from urllib.parse import quote, urlsplit

from gpuledger import __version__
from gpuledger.extract.archive import objects
from gpuledger.extract.archive.objects import BadAddress, Objects, Readable, StoreError

_TIMEOUT_S = 20.0
_LOOPBACK = ("127.0.0.1", "localhost", "::1")


def readable(address: str, patience_s: float) -> Readable:
    """The place at an address: https://…, a store (s3://…), or a folder. Raises BadAddress."""
    if address.startswith(("https:", "http:")):
        return _Web(address.rstrip("/"), patience_s)
    return writable(address, patience_s)


def writable(place: str, patience_s: float = objects.PATIENCE_S) -> Objects:
    """A folder or a store, to write into. Raises BadAddress for an address of the web."""
    store = objects.store_at(place, patience_s) if "://" in place else None
    return store or objects.folder(Path(place).absolute())


def check(address: str) -> None:
    """Raise BadAddress for an address of the web that is none, or that others could answer for."""
    try:
        parts = urlsplit(address)
        (parts.hostname or "").encode("idna")
    except ValueError as error:
        raise BadAddress(f"{address[:80]} is no address: {error}") from None
    if "@" in parts.netloc or parts.query or parts.fragment or not parts.hostname:
        raise BadAddress(f"{parts.scheme}://{parts.hostname or ''}… is no address of a publication: https://host/path")
    if parts.scheme != "https" and parts.hostname not in _LOOPBACK:
        raise BadAddress(
            f"{address}: give its address with https://, as anybody on the way can change what http:// brings"
        )


class _SecureRedirects(urllib.request.HTTPRedirectHandler):
    """Follows no redirect from https to http. What a redirect adds to the address (a signed query) is its own affair."""

    def redirect_request(self, req: urllib.request.Request, *rest: object) -> urllib.request.Request | None:
        target = urlsplit(str(rest[-1]))
        if target.scheme != "https" and target.hostname not in _LOOPBACK:
            raise urllib.error.URLError(f"it leads to {target.scheme}://{target.hostname}")
        return super().redirect_request(req, *rest)  # type: ignore[arg-type]


class _Web:
    """A folder of a web server."""

    def __init__(self, address: str, patience_s: float) -> None:
        check(address)
        self.address = address
        self._patience_s = patience_s
        self._opener = urllib.request.build_opener(_SecureRedirects)
        parts = urlsplit(address)
        is_direct = parts.scheme not in urllib.request.getproxies() or urllib.request.proxy_bypass(parts.netloc)
        self._through = "" if is_direct else f" through the proxy of the environment ({parts.scheme}_proxy)"

    def get(self, key: str, most: int = 1 << 40) -> bytes | None:
        request = urllib.request.Request(
            f"{self.address}/{quote(key)}", headers={"User-Agent": f"gpuledger/{__version__}"}
        )
        until, pause = time.monotonic() + self._patience_s, 0.2
        while True:
            try:
                with self._opener.open(request, timeout=_TIMEOUT_S) as answer:
                    content: bytes = answer.read(most + 1)
                    if answer.length and len(content) <= most:
                        raise http.client.IncompleteRead(content, answer.length)
                    return content
            except urllib.error.HTTPError as error:
                if error.code in (404, 410):
                    return None
                reason, passes = f"status {error.code}", error.code >= 500 or error.code == 429
            except (OSError, http.client.HTTPException) as error:
                cause = getattr(error, "reason", error)
                reason = getattr(cause, "strerror", None) or str(cause) or type(cause).__name__
                passes = not isinstance(cause, ConnectionRefusedError)
            if not passes or time.monotonic() + pause > until:
                raise StoreError(f"{self.address}/{key} could not be read{self._through}: {reason}")
            time.sleep(pause)
            pause = min(pause * 2, 3.0)
