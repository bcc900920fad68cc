"""Stores for tests: a folder, a real S3 server (SeaweedFS) on this machine where its wheel is installed, and Microsoft's own
emulator of Azure (Azurite) where a person has installed that.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from email.utils import formatdate
from pathlib import Path

import pytest

#: Where `make` puts the server.
SERVER = Path(sys.prefix) / "store" / "bin" / "weed"
_KEY, _SECRET = "gpuledger", "secret-of-the-tests"
_BUCKET = "bucket"
#: The account and the key that every Azurite has, as its documentation gives them.
_ACCOUNT = "devstoreaccount1"
_ACCOUNT_KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="


@contextmanager
def s3_server(folder: Path) -> Iterator[dict[str, str]]:
    """An S3 server with the bucket `bucket`, and the environment in which the program reaches it. Skips where there is none.

    It is told apart from others by its ports, and ends with the block.
    """
    if not SERVER.exists():
        pytest.skip(f"no S3 server: {SERVER} is not there (`make test` installs it from requirements-store.lock)")
    folder.mkdir(parents=True, exist_ok=True)
    identity = {
        "name": "tests", "credentials": [{"accessKey": _KEY, "secretKey": _SECRET}],
        "actions": ["Admin", "Read", "Write", "List"],
    }  # fmt: skip
    (folder / "s3.json").write_text(json.dumps({"identities": [identity]}))
    names = ("master.port", "master.port.grpc", "volume.port", "volume.port.grpc", "filer.port", "filer.port.grpc",
             "s3.port", "s3.port.grpc", "s3.port.iceberg", "s3.port.lance")  # fmt: skip
    ports = dict(zip(names, _free_ports(len(names)), strict=True))
    words = [
        str(SERVER), "server", f"-dir={folder}", "-ip=127.0.0.1", "-ip.bind=127.0.0.1", "-filer", "-s3",
        f"-s3.config={folder / 's3.json'}", "-master.volumeSizeLimitMB=64", "-volume.max=200", "-master.telemetry=false",
        *(f"-{name}={port}" for name, port in ports.items()),
    ]  # fmt: skip
    with (folder / "log").open("wb") as log:
        server = subprocess.Popen(words, stdout=log, stderr=log, cwd=folder)
    try:
        _until_it_answers(f"http://127.0.0.1:{ports['s3.port']}/healthz", server)
        make = urllib.request.Request(f"http://127.0.0.1:{ports['filer.port']}/buckets/{_BUCKET}/", method="POST")
        urllib.request.urlopen(make, timeout=600).close()
        yield {
            "AWS_ACCESS_KEY_ID": _KEY, "AWS_SECRET_ACCESS_KEY": _SECRET, "AWS_REGION": "us-east-1",
            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{ports['s3.port']}", "AWS_ALLOW_HTTP": "true",
        }  # fmt: skip
    finally:
        server.kill()
        server.wait()


@contextmanager
def azure_server(folder: Path) -> Iterator[dict[str, str]]:
    """Azurite with the container `bucket`, and the environment in which the program reaches it. Skips where there is none:
    `npm install azurite` anywhere, and AZURITE names its `azurite-blob`, or the PATH has it.
    """
    program = os.environ.get("AZURITE") or shutil.which("azurite-blob")
    if not program:
        pytest.skip("no Azurite: no AZURITE in the environment and no azurite-blob on the PATH (`npm install azurite`)")
    folder.mkdir(parents=True, exist_ok=True)
    (port,) = _free_ports(1)
    words = [program, "--silent", "--skipApiVersionCheck", "--location", str(folder), "--blobHost", "127.0.0.1",
             "--blobPort", str(port)]  # fmt: skip
    with (folder / "log").open("wb") as log:
        server = subprocess.Popen(words, stdout=log, stderr=log, cwd=folder)
    try:
        _until_it_listens(port, server)
        _make_container(port)
        yield {
            "AZURE_STORAGE_ACCOUNT_NAME": _ACCOUNT, "AZURE_STORAGE_ACCOUNT_KEY": _ACCOUNT_KEY, "AZURE_ALLOW_HTTP": "true",
            "AZURE_STORAGE_ENDPOINT": f"http://127.0.0.1:{port}/{_ACCOUNT}",
        }  # fmt: skip
    finally:
        server.kill()
        server.wait()


def _make_container(port: int) -> None:
    """By a signed request of its own: what is tested makes none, since a person has made one."""
    path, version = f"/{_ACCOUNT}/{_BUCKET}", f"x-ms-date:{formatdate(usegmt=True)}\nx-ms-version:2021-08-06\n"
    text = "PUT" + "\n" * 12 + f"{version}/{_ACCOUNT}{path}\nrestype:container"
    signed = base64.b64encode(hmac.new(base64.b64decode(_ACCOUNT_KEY), text.encode(), hashlib.sha256).digest()).decode()
    headers = dict(line.split(":", 1) for line in version.splitlines())
    make = urllib.request.Request(
        f"http://127.0.0.1:{port}{path}?restype=container", method="PUT", data=b"",
        headers={**headers, "Authorization": f"SharedKey {_ACCOUNT}:{signed}", "Content-Type": "", "Content-Length": "0"},
    )  # fmt: skip
    urllib.request.urlopen(make, timeout=600).close()


def _until_it_listens(port: int, server: subprocess.Popen[bytes]) -> None:
    for _ in range(600):
        assert server.poll() is None, "the server ended at its start"
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            time.sleep(0.1)
    raise AssertionError("the server does not answer")


def _free_ports(count: int) -> list[int]:
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]


def _until_it_answers(url: str, server: subprocess.Popen[bytes]) -> None:
    for _ in range(600):
        assert server.poll() is None, "the S3 server ended at its start"
        try:
            urllib.request.urlopen(url, timeout=1).close()
            return
        except OSError:
            time.sleep(0.1)
    raise AssertionError("the S3 server does not answer")
