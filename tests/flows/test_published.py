"""A ledger that a stranger can check: nights are published in a folder, a web server of this machine shows it, and readers
who have nothing but its address pull it.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import minisign
import pytest

from tests.command import Outcome, gpuledger, rows, succeeds, tables
from tests.nights import Night

pytestmark = pytest.mark.slow
#: The sources that this publisher may publish, as far as the sample has them.
_MAY = ("ecb_fx", "newegg", "gpu_wiki_cloud", "danawa")
_KEYS = [minisign.KeyPair.generate() for _ in range(2)]
#: What says when and by whom a table was made, and numbers that each warehouse gives by itself.
_OWN = ("listing_no", "loaded_at")


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def place(tmp_path: Path) -> Iterator[tuple[Path, str]]:
    """A folder, and its address on the web."""
    folder = tmp_path / "public"
    folder.mkdir()
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(folder))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield folder, f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def key_of(number: int = 0) -> str:
    return str(_KEYS[number].public_key.to_base64(), "ascii")


def publish(night: Night, to: Path, folder: Path, *, key: int | None = 0) -> Outcome:
    """Publish what a night left, from a machine that has only the warehouse, as a scheduled job has."""
    data = night.copy(to)
    for source in _MAY[1:]:
        terms = ("--page", "https://shop.example/terms", "--publish", "Prices may be reused", "--licence", "CC-BY-4.0")
        succeeds("sources", "terms", source, "allowed", *terms, data=data)
    env = {} if key is None else {"GPULEDGER_PUBLISH_KEY": bytes(_KEYS[key].secret_key).decode()}
    return succeeds("publish", folder, data=data, env=env)


def pull(data: Path, address: str, *more: str) -> Outcome:
    return gpuledger("pull", address, *more, data=data)


def comparable(data: Path) -> dict[str, list[str]]:
    """The rows of all tables that say something of the world."""
    found = {}
    for name, lines in tables(data).items():
        columns = [column for (column,) in rows(data, f"SELECT column_name FROM (DESCRIBE {name})")]
        kept = [place for place, column in enumerate(columns) if column not in _OWN]
        found[name] = sorted(repr([line[place] for place in kept]) for line in lines)
    return found


def test_a_reader_has_what_nights_of_these_sources_alone_would_have_made(
    tmp_path: Path, place: tuple[Path, str], nights: dict[int, Night]
) -> None:
    """Nothing of a withheld source is in it, and nothing else is missing: row for row, on past days too."""
    folder, address = place
    alone, reader = tmp_path / "alone", tmp_path / "reader"
    for number in (1, 2, 3):
        only = [word for source in _MAY for word in ("--only", source)]
        succeeds("refresh", "--sample", "--engine", "plain", "--night", number, *only, data=alone)
        publish(nights[number], tmp_path / f"night{number}", folder)
        assert pull(reader, address, "--key", key_of()).status == 0
        mine, theirs = comparable(reader), comparable(alone)
        for name in theirs:
            if name not in ("core.fx_rate", "core.correction"):  # when a rate was loaded is the publisher's own time
                assert mine[name] == theirs[name], (number, name)
    day = str(rows(alone, "SELECT min(as_of)::DATE FROM ops.run")[0][0])
    card, model = ("price", "rtx 4090"), ("buy", "--model", "llama-3.1-8b", "--order", "total")
    for words in (card, model, (*card, "--as-of", day)):
        answers = [gpuledger(*words, "--format", "csv", data=data) for data in (reader, alone)]
        assert answers[0].out == answers[1].out != "", words
    names = {path.name for path in folder.iterdir()}
    assert {"latest.json", "datapackage.json", "street-prices.json", "token-prices.json", "report"} <= names
    for resource in json.loads((folder / "datapackage.json").read_text())["resources"]:
        assert (folder / resource["path"]).stat().st_size == resource["bytes"]
        assert resource["licenses"][0]["name"]
    again = succeeds("publish", folder, data=tmp_path / "night3")
    assert "is published already" in again.out
