"""Who may talk to our Prefect server: programs that know its credential, and pages that the server itself served.

Prefect checks the credential. This module checks first what Prefect does not: the Host header (by DNS rebinding, the name of
a foreign page leads to 127.0.0.1, and the header then has that name), the Origin of requests and of websockets, and the
browser's own statement of where a request comes from. A person opens the UI by a link with a ticket that works once, as a
link stays in the history of a browser and in a terminal, where the credential itself must not stay.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
import time
from collections.abc import Iterable
from typing import Any, Protocol

#: How long a link to the UI can be opened.
TICKET_S = 3600.0
#: Unused links that are valid at a time. A new one then makes the oldest invalid.
MOST_TICKETS = 16
OPEN = "/open"
TICKET = "/open/ticket"
_LONGEST_TICKET = 200
#: Closed, as the description of the API costs the server seconds for any caller, and its pages run scripts of other hosts.
_CLOSED = ("/openapi.json", "/docs", "/redoc")

_SCRIPT = """
const say = text => { document.body.textContent = text };
const ticket = location.hash.slice(1);
history.replaceState(null, "", location.pathname);
fetch(location.pathname, {method: "POST", body: ticket}).then(async answer => {
  if (!answer.ok) return say(await answer.text());
  localStorage.setItem("prefect-password", await answer.text());
  location.replace("/");
}, () => say("The server does not answer."));
"""
_PAGE = f'<!DOCTYPE html><meta charset="utf-8"><title>gpuledger</title><body><script>{_SCRIPT}</script></body>\n'
_SCRIPT_HASH = base64.b64encode(hashlib.sha256(_SCRIPT.encode()).digest()).decode()
_PAGE_POLICY = f"default-src 'none'; script-src 'sha256-{_SCRIPT_HASH}'; connect-src 'self'; frame-ancestors 'none'"
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

    The application behind it requires `credential`. A caller who presents the credential gets a ticket, and a caller who
    presents a ticket, once, gets the credential.
    """

    def __init__(self, app: _App, host: str, credential: str) -> None:
        self._app = app
        self._host = host
        self._basic = base64.b64encode(credential.encode()).decode()
        self._tickets: dict[str, float] = {}

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer one request or open one websocket (ASGI), or refuse it."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        refused = self._refused(scope)
        if refused is not None:
            await _refuse(scope, send, *refused)
        elif scope["type"] == "http" and scope["path"] in (OPEN, TICKET):
            await self._open(scope, receive, send)
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

    async def _open(self, scope: Any, receive: Any, send: Any) -> None:
        method, path = scope["method"], scope["path"]
        if path == TICKET and method == "POST":
            credentials = [value for name, value in scope["headers"] if name == b"authorization"]
            if len(credentials) == 1 and hmac.compare_digest(credentials[0], f"Basic {self._basic}".encode()):
                await _answer(send, 200, self._new_ticket())
            else:
                await _answer(send, 401, "a ticket is for who has the credential")
        elif path == OPEN and method == "GET":
            await _answer(send, 200, _PAGE, "text/html; charset=utf-8", _PAGE_POLICY)
        elif path == OPEN and method == "POST":
            if self._take(await _body(receive)):
                await _answer(send, 200, self._basic)
            else:
                text = "This link was opened before, or is too old. `gpuledger serve --connect` prints a new one."
                await _answer(send, 403, text)
        else:
            await _answer(send, 405, "not so")

    def _with_headers(self, send: Any) -> Any:
        """`send`, with the headers that every answer has."""
        policy = (b"content-security-policy", _POLICY.format(host=self._host).encode())

        async def sending(message: Any) -> None:
            if message["type"] == "http.response.start":
                headers: Iterable[tuple[bytes, bytes]] = message.get("headers", ())
                message = {**message, "headers": [*headers, *_ALWAYS, policy]}
            await send(message)

        return sending

    def _new_ticket(self) -> str:
        while len(self._tickets) >= MOST_TICKETS:
            del self._tickets[next(iter(self._tickets))]
        ticket = secrets.token_urlsafe(24)
        self._tickets[ticket] = time.monotonic() + TICKET_S
        return ticket

    def _take(self, ticket: str) -> bool:
        # A lookup in a dictionary is safe, as a random ticket of an hour cannot be guessed from the time that lookups take.
        return self._tickets.pop(ticket, 0.0) > time.monotonic()


async def _body(receive: Any) -> str:
    """The body of a request; empty if it is longer than any ticket."""
    body = b""
    while True:
        message = await receive()
        piece: bytes = message.get("body", b"")
        body += piece
        if len(body) > _LONGEST_TICKET or message["type"] != "http.request":
            return ""
        if not message.get("more_body"):
            return body.decode("latin-1")


async def _refuse(scope: Any, send: Any, status: int, text: str) -> None:
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": 1008, "reason": text})
    else:
        await _answer(send, status, text)


async def _answer(
    send: Any, status: int, text: str, kind: str = "text/plain; charset=utf-8", policy: str = "default-src 'none'"
) -> None:
    body = text.encode()
    headers = [
        (b"content-type", kind.encode()), (b"content-length", str(len(body)).encode()), (b"cache-control", b"no-store"),
        (b"content-security-policy", policy.encode()), *_ALWAYS,
    ]  # fmt: skip
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
