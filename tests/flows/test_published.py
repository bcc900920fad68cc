"""A ledger that a stranger can check: nights are published in a folder, a web server of this machine shows it, and readers
who have nothing but its address pull it.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import minisign
import pytest
import yaml
from minisign.secret_key import SecretKey

from gpuledger.warehouse.paths import DataDir
from tests.command import ROOT, Outcome, environment, gpuledger, python_path, rows, succeeds, tables
from tests.nights import Night

pytestmark = pytest.mark.slow
#: The sources that this publisher may publish, as far as the sample has them.
_MAY = ("ecb_fx", "newegg", "gpu_wiki_cloud", "danawa")
_KEYS = [minisign.KeyPair.generate() for _ in range(2)]
#: What says when and by whom a table was made, and numbers that each warehouse gives by itself.
_OWN = ("listing_no", "loaded_at")


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


@pytest.fixture(scope="module")
def days(tmp_path_factory: pytest.TempPathFactory, nights: dict[int, Night]) -> Path:
    """The publication after each of two nights, `1` and `2`, and the folders of the publisher, `night1` and `night2`."""
    folder = tmp_path_factory.mktemp("days")
    for number in (1, 2):
        if number > 1:
            shutil.copytree(folder / str(number - 1), folder / str(number))
        publish(nights[number], folder / f"night{number}", folder / str(number))
    return folder


def test_a_reader_has_what_nights_of_these_sources_alone_would_have_made(
    tmp_path: Path, place: tuple[Path, str], days: Path
) -> None:
    """Nothing of a withheld source is in it, and nothing else is missing: row for row, on past days too."""
    folder, address = place
    alone, reader = tmp_path / "alone", tmp_path / "reader"
    for number in (1, 2):
        only = [word for source in _MAY for word in ("--only", source)]
        succeeds("refresh", "--sample", "--engine", "plain", "--night", number, *only, data=alone)
        show(days, number, folder)
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
    report = days / "2" / "report" / "index.html"
    written = report.stat().st_mtime_ns
    assert "is published already" in succeeds("publish", days / "2", data=days / "night2").out
    assert report.stat().st_mtime_ns == written


def test_what_becomes_known_later_on_a_day_reaches_who_already_has_the_day(
    tmp_path: Path, place: tuple[Path, str], days: Path
) -> None:
    """A person corrects a price after the night was published, and signs with a key that has a password; then a night
    publishes by itself.
    """
    folder, address = place
    show(days, 2, folder)
    data, reader = tmp_path / "data", tmp_path / "reader"
    shutil.copytree(days / "night2", data, symlinks=True)
    assert pull(reader, address, "--key", key_of()).status == 0
    shutil.copytree(reader, tmp_path / "behind", symlinks=True)
    price = "SELECT price FROM core.offer WHERE listing_id = 'newegg:{}'"
    ((key, was),) = rows(
        data,
        """SELECT listing_key, price FROM core.offer JOIN core.listing USING (listing_id)
           WHERE listing.source = 'newegg' ORDER BY 1 LIMIT 1""",
    )
    old = {path.name: path.read_bytes() for path in folder.glob("*-20*")}
    locked = SecretKey.from_bytes(bytes(_KEYS[0].secret_key))
    locked.encrypt("a password", opslimit=32768, memlimit=1 << 20)
    env = {"GPULEDGER_PUBLISH_KEY": bytes(locked).decode()}
    for edition, value in ((2, was - 100), (3, was - 99)):
        why = ("--old", was, "--reason", "a typing error")
        succeeds("sources", "correct", "newegg", key, "price", "--new", value, *why, data=data)
        night = ("refresh", "--sample", "--engine", "plain", "--night", "2", "--only", "newegg")
        succeeds(*night, data=data, env=env)
        if edition == 2:
            assert "GPULEDGER_PUBLISH_PASSWORD" in gpuledger("publish", folder, data=data, env=env).err
            env["GPULEDGER_PUBLISH_PASSWORD"] = "a password"
            assert "2023-11-17: published" in succeeds("publish", folder, data=data, env=env).out
            env["GPULEDGER_PUBLISH"] = str(folder)
        assert (folder / f"offer-2023-11-17-{edition}.parquet").exists()
        assert pull(reader, address).status == 0
        assert rows(reader, price.format(key)) == rows(data, price.format(key)) == [(value,)]
    assert {name: (folder / name).read_bytes() for name in old} == old
    assert pull(tmp_path / "behind", address).status == 0
    assert comparable(tmp_path / "behind") == comparable(reader)
    show(days, 2, folder)
    assert "do not lead to it" in pull(reader, address).err


def test_a_month_answers_for_its_days_alone_and_the_months_before_follow(
    tmp_path: Path, place: tuple[Path, str], days: Path
) -> None:
    """A question of today in an empty folder brings the files of the open month, the next one the closed ones.

    The month before has a price that makes one of today suspect, and the last exchange rates are older than both.
    """
    folder, address = place
    show(days, 2, folder)
    data, whole = tmp_path / "data", tmp_path / "whole"
    shutil.copytree(days / "night2", data, symlinks=True)
    assert pull(whole, address, "--key", key_of()).status == 0
    (folder / "not_ours.parquet").touch()
    closed: dict[str, bytes] = {}
    for day, change in enumerate((
        """UPDATE core.price_span SET price = price - 1 WHERE valid_to IS NOT NULL;
        UPDATE core.price_span SET price = 300 WHERE price = 769.99; -- suspect after that of the day before
        UPDATE core.fx_rate SET day = day - 60""",
        "UPDATE core.price_span SET price = price - 1 WHERE valid_from < DATE '2023-11-17'",
        "DELETE FROM core.price_span WHERE valid_to IS NOT NULL",
    )):  # fmt: skip
        with duckdb.connect(str(DataDir(data).published.resolve())) as con:
            con.execute(change)
            con.execute(
                f"UPDATE ops.run SET as_of = as_of + INTERVAL {1 if day else 14} DAY WHERE as_of > DATE '2023-11-17'"
            )
        succeeds("publish", folder, data=data, env={"GPULEDGER_PUBLISH_KEY": bytes(_KEYS[0].secret_key).decode()})
        now = {path.name: path.read_bytes() for path in folder.glob("*-2023-11.parquet")}
        assert (closed or now) == now != {}, "a closed month stays as it is, whatever is corrected later"
        closed = now
        assert pull(whole, address).status == 0
    assert (folder / "not_ours.parquet").exists()
    env = {"GPULEDGER_WAREHOUSE": address, "GPULEDGER_WAREHOUSE_KEYS": key_of(), "XDG_CACHE_HOME": str(tmp_path)}
    assert rows(whole, "SELECT gpu_id FROM core.suspect_price") == [("nvidia-geforce-rtx-4070-ti",)]
    buy = ("buy", "--model", "llama-3.1-8b", "--condition", "new", "--currency", "KRW", "--format", "json")
    expected = json.loads(gpuledger(*buy, data=whole).out)
    reader = tmp_path / "gpuledger"
    for is_first in (True, False):
        outcome = succeeds(*buy, env={**env, "GPULEDGER_DATA_DIR": str(tmp_path / "none")})
        (at,) = reader.iterdir()
        months = {path.name.partition("-")[2][:7] for path in DataDir(at).parquet.iterdir()}
        assert months == ({"2023-12"} if is_first else {"2023-11", "2023-12"})
        assert json.loads(outcome.out) == expected
        assert ("files of older months, which come next" in outcome.err) == is_first
    assert comparable(at) == comparable(whole)
    shutil.rmtree(reader)
    past = ("price", "rtx 4090", "--as-of", "2023-11-17", "--format", "csv")
    asked = succeeds(*past, env={**env, "GPULEDGER_DATA_DIR": str(tmp_path / "none")})
    assert asked.out == succeeds(*past, data=whole).out, "a question about the past brings every month first"


#: What the steps of the workflow call of the host: a release that keeps one file, in the folder RELEASE.
_GH = """#!/bin/sh
case "$1 $2" in
    "release view") test -d "$RELEASE" ;;
    "release create") mkdir "$RELEASE" ;;
    "release download") cp "$RELEASE/$5" . ;;
    "release upload") cp "$4" "$RELEASE/" ;;
    "workflow enable") ;;
    *) exit 64 ;;
esac
"""


def test_the_steps_of_the_workflow_publish_night_after_night(tmp_path: Path, place: tuple[Path, str]) -> None:
    """Each as the host runs it, in a fresh clone each night; a reader pulls what the steps left for the pages."""
    folder, address = place
    steps = yaml.safe_load((ROOT / "deploy" / "publish.yaml").read_text())["jobs"]["night"]["steps"]
    bin_ = tmp_path / "bin"
    bin_.mkdir()
    (bin_ / "gh").write_text(_GH)
    (bin_ / "gpuledger").write_text(f'#!/bin/sh\nexec {sys.executable} -m gpuledger.flows.cli "$@"\n')
    for program in bin_.iterdir():
        program.chmod(0o755)
    env = environment({
        "PATH": f"{bin_}{os.pathsep}{os.environ['PATH']}", "RELEASE": str(tmp_path / "release"), "GITHUB_WORKFLOW": "ledger",
        "GPULEDGER_SOURCES": "quotes", "GPULEDGER_PUBLISH_KEY": bytes(_KEYS[0].secret_key).decode(),
    })  # fmt: skip

    def shell(script: str, where: Path) -> None:
        done = subprocess.run(["bash", "-e", "-c", script], cwd=where, env=env, capture_output=True, text=True)
        assert done.returncode == 0, (script, done.stderr)

    shell("git init -q --bare -b main origin && git clone -q origin first", tmp_path)
    (tmp_path / "first" / "data" / "decisions").mkdir(parents=True)
    (tmp_path / "first" / "data" / "decisions" / "terms.toml").touch()
    shell("git checkout -qb main; git add .; git -c user.name=a -c user.email=a@b commit -qm a; git push -q -u origin main",
          tmp_path / "first")  # fmt: skip
    for number, price in enumerate(("1234", "1111")):
        shell(f"git clone -q origin night{number}", tmp_path)
        night = tmp_path / f"night{number}"
        (night / "data" / "inbox").mkdir()
        (night / "data" / "inbox" / "quote.csv").write_text(
            f"product,price,currency\nNVIDIA GeForce RTX 4090,{price},USD\n"
        )
        for step in steps:
            if "run" in step and step["name"] != "install":
                shell(step["run"], night)
    shutil.copytree(night / "public", folder, dirs_exist_ok=True)
    withheld = json.loads(next(folder.glob("manifest-*.json")).read_text())["withheld"]
    assert {one["source"]: one["reason"] for one in withheld} == {"quotes": "it is this folder's own"}
    assert "checked" in pull(tmp_path / "reader", address, "--key", key_of()).out
    assert rows(night / "data", "SELECT count(*) FROM ops.run WHERE status = 'published'") == [(2,)]
    shell('test "$(git -C origin rev-list --count main)" -ge 2', tmp_path)


def show(days: Path, number: int, folder: Path) -> None:
    """What the publisher had on its web server after that night."""
    shutil.rmtree(folder)
    shutil.copytree(days / str(number), folder)


def changed_byte(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def resigned(folder: Path, number: int, change: Callable[[dict[str, Any]], None]) -> None:
    """A publisher with another key, or a forger with none, writes the newest manifest anew so that all hashes agree."""
    pointer = json.loads((folder / "latest.json").read_text())
    path = folder / pointer["newest"]["manifest"]
    manifest = json.loads(path.read_text())
    change(manifest)
    path.write_text(json.dumps(manifest))
    (folder / f"{path.name}.minisig").write_bytes(bytes(_KEYS[number].secret_key.sign(path.read_bytes())))
    pointer["newest"]["sha256"] = hashlib.sha256(path.read_bytes()).hexdigest()
    (folder / "latest.json").write_text(json.dumps(pointer))


def _of_second_day(folder: Path) -> Path:
    return folder / "manifest-2023-11-17.json"


#: What happens to the publication after a reader had its first day, and what the reader is told.
DAMAGES: dict[str, tuple[Callable[[Path], object], str]] = {
    "a changed byte": (lambda f: changed_byte(f / "offer-2023-11-17.parquet"), "its bytes changed"),
    "a missing file": (lambda f: (f / "offer-2023-11-17.parquet").unlink(), "offer-2023-11-17.parquet is missing"),
    "a changed manifest": (lambda f: changed_byte(_of_second_day(f)), "its bytes changed"),
    "a missing day": (lambda f: _of_second_day(f).unlink(), "2023-11-17 is missing"),
    "no signature": (lambda f: (f / "manifest-2023-11-17.json.minisig").unlink(), "is not signed"),
    "another key": (lambda f: resigned(f, 1, lambda m: m), f"signed with another key than {key_of()}"),
    "another yesterday": (
        lambda f: resigned(f, 0, lambda m: m["previous"].update(sha256="0" * 64)),
        "manifest-2023-11-16.json is not what was published",
    ),
    "a name outside": (lambda f: resigned(f, 0, lambda m: m["files"][0].update(name="../x.parquet")), "is no manifest"),
    "a pointer that is none": (lambda f: (f / "latest.json").write_text("{}"), "is no pointer"),
    "no pointer": (lambda f: (f / "latest.json").unlink(), "is gone"),
}  # fmt: skip


def test_a_first_pull_pins_what_it_saw_and_of_what_was_changed_then_nothing_is_taken_in(
    tmp_path: Path, place: tuple[Path, str], days: Path
) -> None:
    folder, address = place
    show(days, 1, folder)
    first, reader = tmp_path / "first", tmp_path / "reader"
    assert f"from now on only {key_of()} counts" in pull(first, address).out
    for name, (damage, told) in DAMAGES.items():
        shutil.rmtree(reader, ignore_errors=True)
        shutil.copytree(first, reader, symlinks=True)
        before = DataDir(reader).published.resolve()
        show(days, 2, folder)
        damage(folder)
        outcome = pull(reader, address)
        assert (outcome.status, told in outcome.err) == (1, True), (name, outcome)
        assert DataDir(reader).published.resolve() == before, name
    show(days, 2, folder)
    resigned(folder, 1, lambda manifest: None)
    assert pull(reader, address, "--key", key_of(), "--key", key_of(1)).status == 0, "a second key may follow"
    after = DataDir(reader).published.resolve()
    assert after != before
    show(days, 1, folder)
    assert "older than what was pulled: 2023-11-16" in pull(reader, address).err
    assert DataDir(reader).published.resolve() == after
    empty = tmp_path / "without"
    empty.mkdir()
    (empty / "minisign.py").write_text("raise ModuleNotFoundError('no minisign', name='minisign')")
    show(days, 2, folder)
    outcome = gpuledger("pull", address, data=first, env={"PYTHONPATH": f"{empty}{os.pathsep}{python_path()}"})
    assert (outcome.status, "pip install 'gpuledger[published]'" in outcome.err) == (1, True)


def test_questions_ask_once_a_day_and_own_quotes_stand_beside_published_prices(
    tmp_path: Path, place: tuple[Path, str], days: Path
) -> None:
    folder, address = place
    show(days, 2, folder)
    env = {
        "GPULEDGER_WAREHOUSE": address,
        "GPULEDGER_DATA_DIR": str(tmp_path / "data"),
        "XDG_CACHE_HOME": str(tmp_path),
    }
    buy = ("buy", "--model", "llama-3.1-8b", "--condition", "new", "--format", "json")
    first = succeeds(*buy, env=env)
    assert "newegg" in first.out
    assert "no key was given" in first.err
    shutil.rmtree(folder)  # the publisher is away
    again = succeeds(*buy, env=env)
    assert json.loads(again.out) == json.loads(first.out)
    assert address in again.err, "the nights of the sample are long past: the publisher is silent"
    refused = pull(tmp_path / "empty", "http://127.0.0.1:1").err
    assert refused == "gpuledger: http://127.0.0.1:1/latest.json could not be read: Connection refused\n"
    env |= {"GPULEDGER_WAREHOUSE": "http://127.0.0.1:1", "GPULEDGER_DATA_DIR": str(tmp_path / "sample")}
    shutil.copytree(days / "night1", tmp_path / "sample", symlinks=True)
    of_the_sample = succeeds(*buy, env=env)
    assert "holds the sample" in of_the_sample.err, "and nobody is asked"
    assert "invented" in of_the_sample.out

    show_again = tmp_path / "public"
    shutil.copytree(days / "2", show_again, dirs_exist_ok=True)
    own = tmp_path / "own"
    (own / "inbox").mkdir(parents=True)
    (own / "inbox" / "quote.csv").write_text("product,price,currency\nNVIDIA GeForce RTX 4090,1234,USD\n")
    succeeds("pull", address, data=own)
    succeeds("refresh", "--only", "quotes", "--engine", "plain", "--as-of", "2023-11-17T09:00", data=own)

    def counts() -> list[tuple[Any, ...]]:
        return rows(own, "SELECT source, count(*) FROM core.listing GROUP BY ALL ORDER BY ALL")

    before = counts()
    assert {"newegg", "quotes"} <= {source for source, _ in before}
    (own / "state" / "pulled.json").unlink()
    assert "holds the sample" in pull(own, address).err
    succeeds("pull", address, "--keep-sample", data=own)
    assert counts() == before
    assert rows(own, "SELECT count(*) FROM core.offer WHERE source = 'quotes' AND price = 1234") == [(1,)]


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory, nights: dict[int, Night]) -> tuple[Path, list[str]]:
    """A night in which a shop was silent, published in the folder `public` beside it; and the secrets that its publisher
    has, each where somebody would leave it.
    """
    above = tmp_path_factory.mktemp("planted")
    planted = [f"planted{number}zq" for number in range(20)]
    p = iter(planted)
    data = nights[1].copy(above / next(p))
    (data / "inbox").mkdir(exist_ok=True)
    (data / "inbox" / f"{next(p)}.csv").write_text(
        f"product,price,currency,vendor,note\nNVIDIA GeForce RTX 4090 {next(p)},1500,USD,{next(p)},{next(p)}\n"
    )
    (data / "rates").mkdir(exist_ok=True)
    (data / "rates" / "rates.csv").write_text(
        f"provider,gpu_name,price,currency,note,instance\n{next(p)},H100 SXM5,1.9,USD,{next(p)},{next(p)}\n"
    )
    card = f"Secret {next(p)}"
    succeeds("gpu", "add", card, "memory_gb=24", "--like", "RTX 4090", "--source", next(p), data=data)
    ((title, key),) = rows(
        data, "SELECT title, listing_key FROM core.listing WHERE source = 'newegg' ORDER BY 1 LIMIT 1"
    )
    succeeds("alias", "add", title, "nvidia-geforce-rtx-3090", "--reason", next(p), data=data)
    succeeds(
        "sources", "correct", "newegg", key, "mpn", "--new", "RIGHT-1", "--old", "", "--reason", next(p), data=data
    )
    workload = f"own-{next(p)}"
    succeeds("workload", "add", workload, "--name", next(p), "--unit", "tokens/s", "--description", next(p), data=data)
    succeeds("measure", "add", workload, "41", "--gpu", "RTX 4090", "--by", next(p), "--software", next(p), data=data)
    (data / "gpuledger.toml").write_text(f'contact = "{next(p)}"\n')
    env = {"GPULEDGER_EBAY_CLIENT_SECRET": next(p), "GPULEDGER_NOTIFY_URLS": f"json://127.0.0.1:9/{next(p)}"}
    assert not [*p]
    assert gpuledger("refresh", "--sample", "--engine", "plain", "--night", "2", data=data, env=env).status == 3
    with duckdb.connect(str(DataDir(data).published.resolve())) as con:
        con.execute("""UPDATE ops.source_state SET last_success_at = TIMESTAMPTZ '2023-11-17 03:00Z' - INTERVAL 49 HOUR
            WHERE source = 'newegg'""")
        con.execute("""UPDATE core.source_night SET seen_at = seen_at - INTERVAL 3 DAY
            WHERE source = 'danawa' AND seen_at < DATE '2023-11-17'""")
    for source in (*_MAY[1:], "measurements", "toms_gpu_hierarchy"):
        terms = ("--page", "https://shop.example/terms", "--publish", "Prices may be reused")
        succeeds("sources", "terms", source, "allowed", *terms, data=data)
    env["GPULEDGER_PUBLISH_KEY"] = bytes(_KEYS[0].secret_key).decode()
    succeeds("publish", above / "public", data=data, env=env)
    return data, [*planted, env["GPULEDGER_PUBLISH_KEY"].splitlines()[1], str(above)]


def test_no_secret_of_the_publisher_is_in_a_published_byte(planted: tuple[Path, list[str]]) -> None:
    """Every file is looked through, and every value of every table."""
    data, secrets = planted
    public = data.parent / "public"
    kept = "\n".join(repr(lines) for lines in tables(data, "core", "mart", "ops").values())
    assert sum(secret in kept for secret in secrets) >= 12, "they are in the warehouse of the publisher"
    files = [path for path in public.rglob("*") if path.is_file()]
    assert len(files) > 20
    for path in files:
        shown = path.read_bytes().decode(errors="replace")
        if path.suffix == ".parquet":
            shown += repr(duckdb.sql(f"FROM read_parquet('{path}')").fetchall())
        for secret in secrets:
            assert secret not in shown, (secret, path.name)
    ((title,),) = rows(data, "SELECT title FROM core.listing WHERE source = 'newegg' ORDER BY 1 LIMIT 1")
    assert title in repr(duckdb.sql(f"FROM read_parquet('{public}/listing-*.parquet')").fetchall())


def test_a_source_that_went_silent_in_a_fresh_night_is_named_at_the_reader(
    tmp_path: Path, place: tuple[Path, str], planted: tuple[Path, list[str]]
) -> None:
    """From which hour on it is silent, tests/ops/test_status.py says."""
    folder, address = place
    shutil.copytree(planted[0].parent / "public", folder, dirs_exist_ok=True)
    reader = tmp_path / "reader"
    told = pull(reader, address, "--key", key_of())
    assert "silent for longer than usual: newegg" in told.out
    states = {one["source"]: one for one in json.loads((folder / "manifest-2023-11-17.json").read_text())["sources"]}
    assert (states["newegg"]["is_silent"], states["danawa"]["is_silent"]) == (True, False)
    gap = [{"since": "2023-11-13T03:00:00Z", "until": "2023-11-17T03:00:00Z"}]
    assert (states["danawa"]["gaps"], states["newegg"]["gaps"]) == (gap, [])
    answer = json.loads(succeeds("buy", "--model", "llama-3.1-8b", "--format", "json", data=reader).out)
    assert [*answer["silent"]] == ["newegg"]
    assert "The price is stale: Newegg could not be read last time." in answer["sentences"]
    note = DataDir(reader).pulled
    note.write_text(note.read_text().replace('"as_of":"2023', '"as_of":"2093'))
    told = gpuledger("status", "--json", data=reader)
    assert "the newest published prices are of 2023-11-17, later than now" in told.err
    status = json.loads(told.out)["sources"]
    assert {one["source"]: len(one["gaps"]) for one in status if one["gaps"]} == {"danawa": 1}
