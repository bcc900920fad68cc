"""Make a web server refuse requests without its token, because every user and program of a machine can reach 127.0.0.1."""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

#: Types as ASGI names them.
Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
ASGIApp = Callable[[Scope, Receive, Send], Awaitable[None]]


def require_token(token: str, app: ASGIApp) -> ASGIApp:
    """`app`, but requests without the header `Authorization: Bearer <token>` get the answer 401."""
    expected = f"Bearer {token}".encode()

    async def guarded(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})  # no answer here uses websockets
            return
        if scope["type"] == "http":
            header = dict(scope["headers"]).get(b"authorization", b"")
            if not secrets.compare_digest(header, expected):
                headers = [(b"www-authenticate", b"Bearer"), (b"content-type", b"text/plain")]
                await send({"type": "http.response.start", "status": 401, "headers": headers})
                await send({"type": "http.response.body", "body": b"the token of `gpuledger mcp --http` is missing\n"})
                return
        await app(scope, receive, send)

    return guarded
