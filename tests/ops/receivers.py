"""Who is told, on loopback: a mail server and a webhook."""

from __future__ import annotations

import email
import email.policy
import json
import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.message import EmailMessage
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Mailbox:
    port: int = 0
    mails: list[EmailMessage] = field(default_factory=list)


@contextmanager
def smtp() -> Iterator[Mailbox]:
    """A mail server that takes every mail (RFC 5321, as much of it as a client that sends one needs)."""
    box = Mailbox()

    class Session(socketserver.StreamRequestHandler):
        def say(self, words: str) -> None:
            self.wfile.write(f"{words}\r\n".encode())

        def handle(self) -> None:
            self.say("220 mail.test ready")
            for line in self.rfile:
                match line.split(maxsplit=1)[0].upper():
                    case b"EHLO" | b"HELO":
                        self.say("250 mail.test")
                    case b"DATA":
                        self.say("354 go on")
                        content = b""
                        while (part := self.rfile.readline()) != b".\r\n":
                            content += part.removeprefix(b".")
                        mail = email.message_from_bytes(content, policy=email.policy.default)
                        assert isinstance(mail, EmailMessage)
                        box.mails.append(mail)
                        self.say("250 taken")
                    case b"QUIT":
                        self.say("221 bye")
                        return
                    case _:
                        self.say("250 ok")

    class Server(socketserver.ThreadingTCPServer):
        daemon_threads = True
        allow_reuse_address = True

    with Server(("127.0.0.1", 0), Session) as server:
        box.port = server.server_address[1]
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield box
        server.shutdown()


@dataclass
class Hook:
    url: str = ""
    posts: list[dict[str, Any]] = field(default_factory=list)
    status: int = 200


@contextmanager
def webhook() -> Iterator[Hook]:
    """A receiver of JSON posts that answers with `status`."""
    hook = Hook()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if hook.status == 200:
                hook.posts.append(json.loads(body))
            self.send_response(hook.status)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        hook.url = f"json://127.0.0.1:{server.server_address[1]}/a-secret-path"
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield hook
        server.shutdown()
