"""What is let through to the Prefect server by who asks for it: each header that a browser or a forger may send."""

from __future__ import annotations

import asyncio
import base64
from typing import Any

import pytest

from gpuledger.flows.prefect_.own_origin import OwnOrigin

HOST, CREDENTIAL = "127.0.0.1:4200", "gpuledger:of-this-test"
BASIC = "Basic " + base64.b64encode(CREDENTIAL.encode()).decode()
OWN = (("host", HOST),)

Headers = tuple[tuple[str, str], ...]


class Server:
    """The door, with something behind it that says yes to all."""

    def __init__(self) -> None:
        self.let_in: list[str] = []
        self.door = OwnOrigin(self._inside, HOST)

    async def _inside(self, scope: Any, receive: Any, send: Any) -> None:
        self.let_in.append(scope["path"])
        if scope["type"] == "websocket":
            await send({"type": "websocket.accept"})
            return
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"yes"})

    def ask(
        self, headers: Headers, path: str = "/api/deployments/filter", method: str = "POST"
    ) -> tuple[int, dict[str, str], str]:
        sent: list[dict[str, Any]] = []
        scope = {"type": "http", "method": method, "path": path,
                 "headers": [(name.encode(), value.encode()) for name, value in headers]}  # fmt: skip

        async def send(message: dict[str, Any]) -> None:
            sent.append(message)

        asyncio.run(self.door(scope, None, send))
        answer = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
        return sent[0]["status"], answer, b"".join(message.get("body", b"") for message in sent).decode()

    def connect(self, headers: Headers) -> str:
        sent: list[dict[str, Any]] = []

        async def send(message: dict[str, Any]) -> None:
            sent.append(message)

        scope = {
            "type": "websocket",
            "path": "/api/events/in",
            "headers": [(n.encode(), v.encode()) for n, v in headers],
        }
        asyncio.run(self.door(scope, None, send))
        return str(sent[0]["type"])


REFUSED: list[Headers] = [
    *((("host", host),) for host in (
        "evil.example", "evil.example:4200", "127.0.0.1", "localhost:4200", "127.0.0.1:4201", "",
        "127.0.0.1:4200.evil.example",
        "127.0.0.1:4200@evil.example", "user@127.0.0.1:4200", "[::1]:4200", "0.0.0.0:4200", "2130706433:4200", "0x7f.1:4200",
        "127.1:4200", "127.0.0.1:04200", "127.0.0.1.:4200", "127.0.0.1:4200, evil.example", "127.0.0.1.evil.example:4200",
        "\u0661\u0662\u0667.0.0.1:4200", "127.0.0.1:4200#", "http://127.0.0.1:4200",
    )),
    (), (*OWN, *OWN), (*OWN, ("host", "evil.example")), (("host", "evil.example"), *OWN),
    *((*OWN, ("origin", origin)) for origin in (
        "http://evil.example", "https://127.0.0.1:4200", "http://127.0.0.1", "http://127.0.0.1:4201", "http://localhost:4200",
        "null", "", "http://127.0.0.1:4200.evil.example", "http://127.0.0.1:4200/", "file://", "chrome-extension://abc",
        "http://evil.example http://127.0.0.1:4200", "http://127.0.0.1:4200@evil.example", "HTTP://127.0.0.1:4200",
    )),
    (*OWN, ("origin", f"http://{HOST}"), ("origin", "http://evil.example")),
    (*OWN, ("sec-fetch-site", "cross-site")), (*OWN, ("sec-fetch-site", "same-site")), (*OWN, ("sec-fetch-site", "")),
    (*OWN, ("sec-fetch-site", "same-origin"), ("sec-fetch-site", "cross-site")),
    (*OWN, ("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "navigate")),
    (*OWN, ("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "no-cors")),
]  # fmt: skip


@pytest.mark.parametrize("headers", REFUSED, ids=map(ascii, REFUSED))
def test_what_comes_from_elsewhere_is_refused(headers: Headers) -> None:
    """Whatever else it has: the credential as well."""
    server = Server()
    given = (*headers, ("authorization", BASIC))
    for method in ("POST", "PATCH", "GET", "DELETE", "OPTIONS"):
        status, answer, _ = server.ask(given, method=method)
        assert status in (403, 421)
        assert "access-control-allow-origin" not in answer
    assert server.connect(given) == "websocket.close"
    assert server.let_in == []


@pytest.mark.parametrize(
    "more",
    [
        (), (("origin", f"http://{HOST}"),), (("sec-fetch-site", "same-origin"),), (("sec-fetch-site", "none"),),
        (("origin", f"http://{HOST}"), ("sec-fetch-site", "same-origin"), ("sec-fetch-mode", "cors")),
    ],
)  # fmt: skip
def test_programs_and_own_pages_are_let_through(more: Headers) -> None:
    server = Server()
    status, answer, words = server.ask((*OWN, *more))
    assert (status, words, server.connect((*OWN, *more))) == (200, "yes", "websocket.accept")
    assert answer["x-frame-options"] == "DENY"


def test_a_link_from_elsewhere_may_lead_to_the_ui_and_to_nothing_else() -> None:
    link: Headers = (
        *OWN, ("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "navigate"), ("sec-fetch-dest", "document"),
    )  # fmt: skip
    server = Server()
    assert server.ask(link, "/runs", "GET")[0] == 200
    assert server.ask(link, "/api/health", "GET")[0] == 403
    assert server.ask(link, "/runs", "POST")[0] == 403


@pytest.mark.parametrize("frame", ["iframe", "frame", "embed", "object", "empty", ""])
def test_a_frame_is_no_link(frame: str) -> None:
    """A page could ask a hundred times without anybody's click."""
    asked = (("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "navigate"), ("sec-fetch-dest", frame))
    assert Server().ask((*OWN, *asked), "/runs", "GET")[0] == 403


@pytest.mark.parametrize("path", ["/openapi.json", "/docs", "/docs/oauth2-redirect", "/redoc"])
def test_the_description_of_the_api_is_closed(path: str) -> None:
    """It takes the server's whole attention for seconds, and needs no credential."""
    server = Server()
    for method in ("GET", "HEAD", "POST"):
        assert server.ask((*OWN, ("authorization", BASIC)), path, method)[0] == 404
    assert server.let_in == []


def test_a_page_of_the_server_runs_its_own_scripts_alone() -> None:
    """The browser keeps the credential for the scripts of this origin; nothing comes from elsewhere, or goes there."""
    policy = Server().ask(OWN, "/runs", "GET")[1]["content-security-policy"]
    allowed = {name: sources for name, *sources in (part.split() for part in policy.split(";"))}
    assert allowed["default-src"] == ["'self'"]
    assert allowed.pop("connect-src") == ["'self'", f"ws://{HOST}"]
    assert "'unsafe-inline'" not in allowed["script-src"]
    assert not [word for words in allowed.values() for word in words if ":" in word and word not in ("data:", "blob:")]
