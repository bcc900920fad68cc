"""Secrets by environment and by Prefect block reach their targets, and stand nowhere that anybody else reads."""

from __future__ import annotations

import gzip
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from gpuledger.flows.prefect_.server import Server
from tests.command import environment, gpuledger, tables
from tests.nights import Night
from tests.ops.receivers import webhook

IN_BLOCK, IN_ENVIRONMENT, PASSWORD = "Jx8block-path", "Qv7environment-path", "Zk9mail-password"


def save_block(name: str, text: str, env: dict[str, str]) -> None:
    words = f"from prefect.blocks.system import Secret; Secret(value={text!r}).save({name!r})"
    subprocess.run([sys.executable, "-c", words], env=environment(env), check=True, capture_output=True, timeout=100)


def contents(folder: Path) -> Iterator[tuple[Path, bytes]]:
    """All files below, unpacked."""
    for path in folder.rglob("*"):
        if path.is_file():
            content = path.read_bytes()
            yield path, gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content


@pytest.mark.slow
def test_they_reach_their_targets_and_stand_nowhere_else(
    nights: dict[int, Night], server: Server, tmp_path: Path
) -> None:
    data = nights[1].copy(tmp_path / "data")
    env = {"PREFECT_API_URL": server.api_url, "PREFECT_API_AUTH_STRING": server.credential,
           "PREFECT_HOME": str(tmp_path / "home")}  # fmt: skip
    with webhook() as by_block, webhook() as by_environment:
        save_block("ops-chat", by_block.url.replace("a-secret-path", IN_BLOCK), env)
        mail = f"mailto://robot:{PASSWORD}@127.0.0.1:9?from=robot@example.org&to=ops@example.org&mode=insecure"
        urls = by_environment.url.replace("a-secret-path", IN_ENVIRONMENT)
        outcome = gpuledger(
            "refresh", "--sample", "--night", 2, "--only", "bhphoto", "--only", "ecb_fx", data=data,
            env={**env, "GPULEDGER_NOTIFY_URLS": f"{urls}|{mail}", "GPULEDGER_NOTIFY_BLOCKS": "ops-chat|no-such",
                 "GPULEDGER_LOG_FORMAT": "json"},
        )  # fmt: skip
    assert outcome.status == 3, outcome.err
    for hook in (by_block, by_environment):
        assert [post["title"] for post in hook.posts] == ["gpuledger: bhphoto has changed its layout"]
    assert "the Prefect block no-such cannot be read" in outcome.err
    assert "could not be reached" in outcome.err  # the mail
    server.stop()
    places = [(Path("its words"), (outcome.out + outcome.err).encode()), *contents(data), *contents(tmp_path / "home")]
    # The file itself is packed; its tables are looked at as they are read.
    places += [(Path(name), repr(rows).encode()) for name, rows in tables(data, "core", "mart", "ops").items()]
    assert len(places) > 100
    for place, content in places:
        for secret in (IN_BLOCK, IN_ENVIRONMENT, PASSWORD, server.credential):
            assert secret.encode() not in content, place


def test_a_block_without_a_server_costs_no_more_than_the_deadline(nights: dict[int, Night], tmp_path: Path) -> None:
    data = nights[1].copy(tmp_path / "data")
    env = {"PREFECT_API_URL": "http://127.0.0.1:9/api", "PREFECT_HOME": str(tmp_path / "home"),
           "GPULEDGER_NOTIFY_BLOCKS": "ops-chat", "GPULEDGER_NOTIFY_DEADLINE_S": "1"}  # fmt: skip
    words = ("refresh", "--sample", "--night", 2, "--only", "ecb_fx", "--engine", "plain")
    outcome = gpuledger(*words, data=data, env=env)
    assert outcome.status == 0, outcome.err
    assert "the Prefect block ops-chat cannot be read" in outcome.err
