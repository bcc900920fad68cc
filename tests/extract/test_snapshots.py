"""The archive keeps every page once, every fetch on record, and names what is damaged."""

from __future__ import annotations

import gzip
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuledger.errors import CorruptSnapshot
from gpuledger.extract.archive.snapshots import Archive, Snapshot
from gpuledger.extract.fetch.fetched import Fetched

URL = "https://shop.example/p/1"
DAY = timedelta(days=1)
T0 = datetime(2026, 1, 1, 3, 0, tzinfo=UTC)
ROOT = Path(__file__).parents[2]


def fetched(content: bytes = b"<p>one</p>", url: str = URL, **more: object) -> Fetched:
    headers = {"content-type": "text/html", "etag": '"v1"', "set-cookie": "session=secret"}
    return Fetched(url=url, final_url=url, status=200, headers=headers, content=content, **more)  # type: ignore[arg-type]


def unchanged(url: str = URL) -> Fetched:
    return Fetched(url=url, final_url=url, status=304, headers={"date": "later"}, content=b"", not_modified=True)


@pytest.fixture
def archive(tmp_path: Path) -> Archive:
    return Archive(tmp_path / "snapshots")


def files(archive: Archive) -> list[Path]:
    return sorted(path for path in archive.root.rglob("*") if path.is_file() and path.name != ".lock")


def test_what_is_saved_is_read_back(archive: Archive) -> None:
    snapshot = archive.save("newegg", fetched(), T0)
    page = archive.page(snapshot)
    assert (page.url, page.final_url, page.content, page.sha256) == (URL, URL, b"<p>one</p>", snapshot.sha256)
    assert (page.fetched_at, page.status, page.headers["etag"]) == (T0, 200, '"v1"')
    assert archive.latest("newegg", URL) == snapshot
    assert list(archive.history("newegg")) == [snapshot]
    assert archive.verify() == []


def test_the_same_bytes_are_stored_once_and_pack_to_the_same_file(archive: Archive, tmp_path: Path) -> None:
    for number in range(3):
        archive.save("newegg", fetched(url=f"{URL}{number}"), T0 + number * DAY)
        archive.save("amazon", fetched(), T0 + number * DAY)
    assert [path.suffix for path in files(archive)] == [".gz", ".json", ".jsonl", ".jsonl"]
    other = Archive(tmp_path / "other")
    other.save("newegg", fetched(), T0 + 90 * DAY)
    blob = next(path for path in files(other) if path.suffix == ".gz")
    assert blob.read_bytes() == (archive.root / blob.relative_to(other.root)).read_bytes()


def test_a_304_is_on_record_and_leads_to_the_page_that_still_holds(archive: Archive) -> None:
    first = archive.save("newegg", fetched(), T0)
    second = archive.save("newegg", unchanged(), T0 + DAY)
    assert (second.not_modified, second.sha256, second.size) == (True, first.sha256, first.size)
    assert second.headers == {"content-type": "text/html", "etag": '"v1"', "date": "later"}
    page = archive.page(second)
    assert (page.content, page.status, page.fetched_at) == (b"<p>one</p>", 200, T0 + DAY)
    assert archive.latest("newegg", URL) == second
    assert list(archive.history("newegg")) == [first, second]


def test_a_304_without_an_archived_page_is_refused(archive: Archive) -> None:
    with pytest.raises(ValueError, match="no archived page"):
        archive.save("newegg", unchanged(), T0)


def test_latest_is_by_source_and_address(archive: Archive) -> None:
    archive.save("newegg", fetched(), T0)
    newer = archive.save("newegg", fetched(b"two"), T0 + DAY)
    assert archive.latest("newegg", URL) == newer
    assert archive.latest("newegg", URL + "0") is None
    assert archive.latest("amazon", URL) is None
    # Another process's archive sees it, and what was written after it first looked.
    other = Archive(archive.root)
    assert other.latest("newegg", URL) == newer
    newest = archive.save("newegg", fetched(b"three"), T0 + 2 * DAY)
    assert other.latest("newegg", URL) == newest


def test_a_record_without_its_bytes_asks_for_the_page_again(archive: Archive) -> None:
    snapshot = archive.save("newegg", fetched(), T0)
    blob(archive, snapshot).unlink()
    assert archive.latest("newegg", URL) is None


def test_times_are_kept_in_utc_and_must_have_a_zone(archive: Archive) -> None:
    seoul = datetime(2026, 1, 1, 12, 0, tzinfo=timezone(timedelta(hours=9)))
    snapshot = archive.save("danawa", fetched(), seoul)
    assert (snapshot.fetched_at, snapshot.fetched_at.tzinfo) == (T0, UTC)
    with pytest.raises(ValueError, match="time zone"):
        archive.save("danawa", fetched(), datetime(2026, 1, 1))  # noqa: DTZ001


def test_no_secret_is_stored(archive: Archive) -> None:
    url = "https://me:hunter2@api.example/v1?apiKey=hunter2&q=rtx"
    archive.save("bestbuy", fetched(url=url), T0)
    for path in files(archive):
        content = path.read_bytes()
        assert b"hunter2" not in content
        assert b"session=secret" not in content
    found = archive.latest("bestbuy", url)
    assert found.url == "https://api.example/v1?apiKey=REDACTED&q=rtx"


@pytest.mark.parametrize("name", ["", "../newegg", "a/b", "a.b", "a b"])
def test_a_source_name_leads_nowhere_else(archive: Archive, name: str) -> None:
    with pytest.raises(ValueError, match="no name of a source"):
        archive.save(name, fetched(), T0)


@pytest.mark.parametrize("sha256", ["", "../../etc/passwd", "a" * 63, "A" * 64])
def test_only_a_hash_is_read(archive: Archive, sha256: str) -> None:
    with pytest.raises(ValueError, match="SHA-256"):
        archive.content_of(sha256)


def blob(archive: Archive, snapshot: Snapshot) -> Path:
    return archive.root / "blobs" / snapshot.sha256[:2] / f"{snapshot.sha256}.gz"


DAMAGE: dict[str, tuple[Callable[[Path], object], str]] = {
    "other bytes": (lambda path: path.write_bytes(gzip.compress(b"<p>two</p>")), "do not match"),
    "more bytes": (lambda path: path.write_bytes(gzip.compress(b"<p>one</p> and more")), "do not match"),
    "cut off": (lambda path: path.write_bytes(path.read_bytes()[:-12]), "ends after"),
    "without its checksum": (lambda path: path.write_bytes(path.read_bytes()[:-4]), "ends after"),
    "empty": (lambda path: path.write_bytes(b""), "ends after"),
    "not gzip": (lambda path: path.write_bytes(b"junk"), "cannot be unpacked"),
    "gone": (lambda path: path.unlink(), "cannot be unpacked"),
    "a flipped bit": (
        lambda path: path.write_bytes(path.read_bytes()[:15] + b"\x00" + path.read_bytes()[16:]),
        "page|bytes",
    ),
    "a bomb": (lambda path: path.write_bytes(gzip.compress(bytes(50_000_000))), "do not match"),
    "no sidecar": (lambda path: path.with_suffix(".json").unlink(), "sidecar"),
    "half a sidecar": (lambda path: path.with_suffix(".json").write_text('{"size": 1'), "sidecar"),
    "a sidecar without a size": (lambda path: path.with_suffix(".json").write_text("{}"), "sidecar"),
    "a sidecar that is a list": (lambda path: path.with_suffix(".json").write_text("[]"), "sidecar"),
    "a sidecar with a strange size": (lambda path: path.with_suffix(".json").write_text('{"size": "1"}'), "sidecar"),
}


@pytest.mark.parametrize("kind", DAMAGE)
def test_damage_is_detected_named_and_mended_by_fetching_again(archive: Archive, kind: str) -> None:
    damage, words = DAMAGE[kind]
    snapshot = archive.save("newegg", fetched(), T0)
    whole = archive.save("newegg", fetched(b"another", URL + "2"), T0)
    damage(blob(archive, snapshot))
    with pytest.raises(CorruptSnapshot, match=words) as caught:
        archive.page(snapshot)
    assert snapshot.sha256 in str(caught.value)
    assert [error.url for error in archive.verify()] == [caught.value.url]
    assert archive.content_of(whole.sha256) == b"another"
    archive.save("newegg", fetched(), T0 + DAY)
    assert archive.verify() == []


def test_a_sidecar_with_more_in_it_still_reads(archive: Archive) -> None:
    snapshot = archive.save("newegg", fetched(), T0)
    sidecar = blob(archive, snapshot).with_suffix(".json")
    sidecar.write_text(json.dumps(json.loads(sidecar.read_text()) | {"new": {"from": "a later version"}}))
    assert archive.content_of(snapshot.sha256) == b"<p>one</p>"


def log_file(archive: Archive) -> Path:
    return archive.root / "log" / "newegg.jsonl"


def test_a_page_of_a_run_that_was_killed_before_its_line_is_another_runs_too(archive: Archive) -> None:
    """Both at one time, as on the sample's clock: the sidecar is of the first."""
    archive.save("newegg", fetched(), T0, "killed")
    log_file(archive).unlink()
    after = Archive(archive.root)
    after.save("newegg", fetched(), T0, "next")
    assert after.verify() == []
    # Of one run the sidecar says what the log says.
    after.save("newegg", fetched(b"two", URL + "2"), T0, "next")
    (sidecar,) = [path for path in files(after) if path.suffix == ".json" and b"/p/12" in path.read_bytes()]
    sidecar.write_bytes(sidecar.read_bytes().replace(b"/p/12", b"/p/13"))
    assert [error.url for error in after.verify()] == [str(sidecar)]


@pytest.mark.parametrize("kept_bytes", [1, 40, -2])
def test_a_torn_last_line_costs_nothing_but_itself(archive: Archive, kept_bytes: int) -> None:
    first = archive.save("newegg", fetched(), T0)
    line = log_file(archive).read_bytes()
    log_file(archive).write_bytes(line + line[:kept_bytes])
    after_kill = Archive(archive.root)
    assert after_kill.latest("newegg", URL) == first
    assert list(after_kill.history("newegg")) == [first]
    assert [error.url for error in after_kill.verify()] == [f"{log_file(archive)}:2"]
    second = after_kill.save("newegg", fetched(b"two"), T0 + DAY)
    assert after_kill.latest("newegg", URL) == second
    assert list(after_kill.history("newegg")) == [first, second]


@pytest.mark.parametrize(
    "line",
    ["null", "{}", '{"url": 1}', "[" * 100_000, "\ufffd", '{"sha256": "../../x"}'],
)
def test_lines_that_are_no_records_are_passed_over_and_named(archive: Archive, line: str) -> None:
    snapshot = archive.save("newegg", fetched(), T0)
    with log_file(archive).open("a") as log:
        log.write(line + "\n")
    again = Archive(archive.root)
    assert list(again.history("newegg")) == [snapshot]
    assert again.latest("newegg", URL) == snapshot
    assert len(again.verify()) == 1


RECORD = Snapshot(
    source="a",
    url=URL,
    final_url=URL,
    status=304,
    headers={"etag": "가"},
    fetched_at=T0,
    sha256="0" * 64,
    size=1,
    not_modified=True,
)


@given(st.dictionaries(st.text(), st.none() | st.booleans() | st.integers() | st.text() | st.lists(st.integers())))
def test_any_change_of_a_record_is_a_record_or_a_value_error(change: dict[str, object]) -> None:
    record = RECORD.to_json()
    for name in list(record):
        for value in (*change.values(), None, "", "2026-01-01"):
            try:
                Snapshot.from_json(record | change | {name: value})
            except ValueError:
                continue


def test_a_record_survives_json() -> None:
    assert Snapshot.from_json(json.loads(json.dumps(RECORD.to_json()))) == RECORD


def test_pruning_forgets_what_is_old_but_never_the_newest_nor_what_is_kept(archive: Archive) -> None:
    old = archive.save("newegg", fetched(b"old"), T0)
    kept = archive.save("newegg", fetched(b"kept"), T0 + DAY)
    shared = archive.save("newegg", fetched(b"shared"), T0 + 2 * DAY)
    newest = archive.save("newegg", fetched(b"newest"), T0 + 3 * DAY)
    only = archive.save("amazon", fetched(b"shared", URL + "9"), T0)
    now = T0 + 100 * DAY
    assert archive.prune(365, now) == []
    assert archive.prune(30, now, keep=[kept.sha256]) == [old.sha256]
    assert list(archive.history("newegg")) == [kept, newest]
    assert list(archive.history("amazon")) == [only]
    assert archive.latest("newegg", URL) == newest
    assert archive.content_of(shared.sha256) == b"shared"
    assert archive.verify() == []
    assert archive.prune(0, now) == [kept.sha256]


def test_pruning_keeps_a_page_that_a_304_still_speaks_of(archive: Archive) -> None:
    first = archive.save("newegg", fetched(), T0)
    last = archive.save("newegg", unchanged(), T0 + 90 * DAY)
    assert archive.prune(1, T0 + 100 * DAY) == []
    assert archive.page(last).content == b"<p>one</p>"
    assert list(archive.history("newegg")) == [last]
    assert first.sha256 == last.sha256


def test_pruning_wants_sense(archive: Archive) -> None:
    for days, now in ((-1, T0), (1, T0.replace(tzinfo=None))):
        with pytest.raises(ValueError, match="pruning needs"):
            archive.prune(days, now)


def test_leftovers_of_killed_processes_are_removed_when_old(archive: Archive) -> None:
    archive.save("newegg", fetched(), T0)
    young, old = archive.root / "log" / ".tmp-young", archive.root / "blobs" / ".tmp-old"
    for path in (young, old):
        path.write_bytes(b"half")
    os.utime(old, (0, 0))
    archive.prune(30, T0)
    assert (young.exists(), old.exists()) == (True, False)


# Saves pages until it has saved as many as told (-1: for ever), and says each number.
SAVING = """
import itertools, os, sys
from datetime import UTC, datetime
from pathlib import Path
from gpuledger.extract.fetch.fetched import Fetched
from gpuledger.extract.archive.snapshots import Archive

root, name, times, distinct = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
archive = Archive(root)
for number in itertools.count():
    if number == times:
        break
    content = b"%d" % (number % distinct) if distinct else os.urandom(9999)
    url = f"https://a.example/{name}/{number}"
    page = Fetched(url=url, final_url=url, status=200, headers={}, content=content)
    archive.save("newegg", page, datetime.now(UTC))
    print(number, flush=True)
"""


def saving(archive: Archive, name: str, times: int, distinct: int) -> subprocess.Popen[bytes]:
    arguments = [sys.executable, "-c", SAVING, str(archive.root), name, str(times), str(distinct)]
    return subprocess.Popen(arguments, cwd=ROOT, stdout=subprocess.PIPE)


def test_threads_and_processes_may_save_at_the_same_time(archive: Archive) -> None:
    def save(number: int) -> None:
        archive.save("newegg", fetched(b"%d" % (number % 7), f"{URL}/{number}"), T0)

    processes = [saving(archive, str(number), 40, 7) for number in range(3)]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(save, range(40)))
        pool.submit(archive.prune, 10_000, T0 + DAY).result()
    for process in processes:
        process.communicate()
    assert [process.returncode for process in processes] == [0, 0, 0]
    assert len(list(archive.history("newegg"))) == 160
    assert len([path for path in files(archive) if path.suffix == ".gz"]) == 7
    assert archive.verify() == []


def test_a_killed_process_leaves_nothing_that_cannot_be_read(archive: Archive) -> None:
    acknowledged = 0
    for kill in range(3):
        with saving(archive, str(kill), -1, 0) as process:
            for _ in range(5):
                process.stdout.readline()
            process.send_signal(signal.SIGKILL)
            acknowledged += 5 + len(process.stdout.read().splitlines())
    again = Archive(archive.root)
    history = list(again.history("newegg"))
    assert len(history) >= acknowledged
    for snapshot in history:
        assert len(again.page(snapshot).content) == 9999
    # At most a torn line a kill; never a page or a sidecar.
    assert all(".jsonl:" in error.url for error in again.verify())


def test_reading_the_archive_imports_no_client() -> None:
    client = "{'requests', 'urllib3', 'lxml', 'bs4', 'idna'}"
    script = f"import sys, gpuledger.extract.archive.snapshots; print({client} & set(sys.modules))"
    result = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "set()"
