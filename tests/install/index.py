"""A package index on this machine, of wheels that hold nothing but what they ask for."""

from __future__ import annotations

import hashlib
import io
import re
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread


@dataclass(frozen=True)
class Wheel:
    """An empty package's one file."""

    name: str
    version: str
    content: bytes

    @property
    def file(self) -> str:
        """Its name in the index."""
        return f"{self.name.replace('-', '_')}-{self.version}-py3-none-any.whl"

    @property
    def entry(self) -> str:
        """What is below its line in a lock."""
        return f"    --hash=sha256:{hashlib.sha256(self.content).hexdigest()}\n"


def wheel(name: str, version: str, wants: Iterable[str] = (), extras: Iterable[str] = ()) -> Wheel:
    """An empty package that asks for others and offers extras."""
    folder = f"{name.replace('-', '_')}-{version}.dist-info"
    metadata = [
        "Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}",
        *(f"Provides-Extra: {extra}" for extra in extras), *(f"Requires-Dist: {wanted}" for wanted in wants),
    ]  # fmt: skip
    files = {
        f"{folder}/METADATA": "\n".join(metadata) + "\n",
        f"{folder}/WHEEL": "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    files[f"{folder}/RECORD"] = "".join(f"{path},,\n" for path in [*files, f"{folder}/RECORD"])
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        for path, text in files.items():
            archive.writestr(path, text)
    return Wheel(name, version, held.getvalue())


@contextmanager
def serving(wheels: Iterable[Wheel]) -> Iterator[str]:
    """Serve the wheels as PEP 503 says; the address of the index."""
    files = {one.file: one for one in wheels}

    class Index(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            found = re.fullmatch(r"/simple/([\w.-]+)/|/files/(.+)", self.path)
            if found and found[2] in files:
                return self._answer("application/octet-stream", files[found[2]].content)
            if found and found[1] in {one.name for one in files.values()}:
                links = [
                    f'<a href="/files/{one.file}">{one.file}</a>' for one in files.values() if one.name == found[1]
                ]
                return self._answer("text/html", ("<!DOCTYPE html><html><body>" + "".join(links)).encode())
            return self.send_error(404)

        def _answer(self, kind: str, body: bytes) -> None:
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Index) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/simple/"
        finally:
            server.shutdown()
