"""Who may talk to our Prefect server: programs that know its credential, and pages that the server itself served.

Prefect checks the credential (its authentication string, which its login page asks a person for) and its own tokens against
forged requests. This module checks first what Prefect does not: the Host header (by DNS rebinding, the name of a foreign
page leads to 127.0.0.1, and the header then has that name), the Origin of requests and of websockets, and the browser's own
statement of where a request comes from.

Shown by tests/ops/test_own_origin.py, and with real browsers by tests/ops/test_doors.py.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol

#: Closed, as the description of the API costs the server seconds for any caller, and its pages run scripts of other hosts.
_CLOSED = ("/openapi.json", "/docs", "/redoc")
#: What Prefect's own pages may do. They load nothing from other hosts, as the browser keeps the credential for their
#: scripts, and send nothing to other hosts. `unsafe-eval` is there as the graph of a run makes its programs from text.
_POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
    "font-src 'self' data:; worker-src 'self' blob:; connect-src 'self' ws://{host}; object-src 'none'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'"
)
#: Headers of every answer: no page may frame the UI, no browser guesses a content type, no other site learns its address.
_ALWAYS = (
    (b"x-frame-options", b"DENY"), (b"x-content-type-options", b"nosniff"), (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
)  # fmt: skip


class _App(Protocol):
    async def __call__(self, scope: Any, receive: Any, send: Any) -> None: ...


class OwnOrigin:
    """An ASGI application in front of another. It lets requests through that its own pages or programs send to
    `http://<host>`.
    """

    def __init__(self, app: _App, host: str) -> None:
        self._app = app
        self._host = host

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer one request or open one websocket (ASGI), or refuse it."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        refused = self._refused(scope)
        if refused is not None:
            await _refuse(scope, send, *refused)
        else:
            await self._app(scope, receive, self._with_headers(send))

    def _refused(self, scope: Any) -> tuple[int, str] | None:
        """Status and text of the refusal; None for a request that may pass."""
        headers: dict[str, list[str]] = {}
        for name, value in scope["headers"]:
            headers.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1"))
        if headers.get("host") != [self._host]:
            return 421, f"this server is http://{self._host} and no other"
        if any(origin != f"http://{self._host}" for origin in headers.get("origin", [])):
            return 403, "pages of another origin may not ask this server"
        if any(word not in ("none", "same-origin") for word in headers.get("sec-fetch-site", [])):
            # A link that a person clicks may lead to the UI from any site, as it changes nothing. A frame is no such link.
            is_page = headers.get("sec-fetch-mode") == ["navigate"] and headers.get("sec-fetch-dest") == ["document"]
            if not is_page or scope.get("method") != "GET" or scope["path"].startswith("/api"):
                return 403, "pages of another site may not ask this server"
        if scope["path"].startswith(_CLOSED):
            return 404, "this server does not describe itself"
        return None

    def _with_headers(self, send: Any) -> Any:
        """`send`, with the headers that every answer has."""
        policy = (b"content-security-policy", _POLICY.format(host=self._host).encode())

        async def sending(message: Any) -> None:
            if message["type"] == "http.response.start":
                headers: Iterable[tuple[bytes, bytes]] = message.get("headers", ())
                message = {**message, "headers": [*headers, *_ALWAYS, policy]}
            await send(message)

        return sending


async def _refuse(scope: Any, send: Any, status: int, text: str) -> None:
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": 1008, "reason": text})
        return
    body = text.encode()
    headers = [
        (b"content-type", b"text/plain; charset=utf-8"), (b"content-length", str(len(body)).encode()),
        (b"cache-control", b"no-store"), (b"content-security-policy", b"default-src 'none'"), *_ALWAYS,
    ]  # fmt: skip
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
