"""`status` on one screen, as JSON, for Prometheus and by its exit status; and `doctor`."""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from gpuledger import local_files
from gpuledger.flows.night import run_log
from gpuledger.flows.telling import health
from gpuledger.flows.telling.watches import WATCHES
from gpuledger.warehouse.paths import DataDir
from tests.command import gpuledger
from tests.flows.inprocess import context
from tests.nights import Night


def test_the_exit_status_follows_the_nights(nights: dict[int, Night]) -> None:
    assert gpuledger("status", data=nights[1].data).status == 0
    second = gpuledger("status", data=nights[2].data)
    assert second.status == 3
    assert "bhphoto" in second.out


def test_before_the_first_publish_monitoring_gets_its_answer(tmp_path: Path) -> None:
    found = gpuledger("status", data=tmp_path)
    assert (found.status, "`gpuledger refresh" in found.err) == (1, True)
    data, file = tmp_path / "data", tmp_path / "gpuledger.prom"
    env = {"GPULEDGER_DELAY_S": "0", "GPULEDGER_PRODUCT_URLS": "https://shop.invalid/one"}
    assert (
        gpuledger("refresh", "--engine", "plain", "--only", "generic_shop", "--keep-sample", data=data, env=env).status
        == 1
    )
    found = gpuledger("status", "--json", "--prometheus", file, data=data)
    words = json.loads(found.out)
    assert (found.status, words["exit_status"], words["sources"]) == (1, 1, [])
    (run,) = words["runs"]
    assert run["status"] == "failed"
    assert "generic_shop: ConnectionFailed: https://shop.invalid/one" in run["reason"]
    assert "gpuledger_last_run_published 0.0" in file.read_text(encoding="utf-8")


def test_json_has_sources_runs_and_the_status(nights: dict[int, Night]) -> None:
    words = json.loads(gpuledger("status", "--json", data=nights[2].data).out)
    found = {source["source"]: source for source in words["sources"]}
    assert words["exit_status"] == 3
    assert (found["bhphoto"]["status"], found["bhphoto"]["age_hours"], found["bhphoto"]["is_failing"]) == (
        "failed",
        24.0,
        True,
    )
    assert (found["newegg"]["age_hours"], found["newegg"]["is_overdue"], found["newegg"]["open_issues"]) == (
        0.0,
        False,
        2,
    )
    assert found["newegg"]["normal_rows"] == 26
    assert [run["status"] for run in words["runs"]] == ["published_with_failures", "published"]


def test_prometheus_text(nights: dict[int, Night], tmp_path: Path) -> None:
    from prometheus_client.parser import text_string_to_metric_families

    file = tmp_path / "collector" / "gpuledger.prom"
    assert gpuledger("status", "--prometheus", file, data=nights[2].data).status == 3
    metrics = {f.name: {s.labels.get("source", ""): s.value for s in f.samples}
               for f in text_string_to_metric_families(file.read_text(encoding="utf-8"))}  # fmt: skip
    assert metrics["gpuledger_source_failing"]["bhphoto"] == 1
    assert metrics["gpuledger_source_age_seconds"]["bhphoto"] == 24 * 3600
    assert metrics["gpuledger_source_rows"]["newegg"] == 26
    assert metrics["gpuledger_last_run_published"][""] == 1
    assert list(file.parent.iterdir()) == [file]


def test_an_age_is_never_negative(nights: dict[int, Night]) -> None:
    ages = [s.age_hours for s in health.sources(DataDir(nights[3].data), datetime(2020, 1, 1, tzinfo=UTC))]
    assert min(age for age in ages if age is not None) == 0


def test_beyond_the_limit_a_source_is_overdue(nights: dict[int, Night]) -> None:
    at = datetime(2023, 11, 16, 3, tzinfo=UTC)
    found = {s.source: s for s in health.sources(DataDir(nights[1].data), at + timedelta(hours=48))}
    assert not found["newegg"].is_overdue
    found = {s.source: s for s in health.sources(DataDir(nights[1].data), at + timedelta(hours=48, minutes=1))}
    assert found["newegg"].is_overdue
    published = health.runs(DataDir(nights[1].data))[0]
    assert health.exit_status(list(found.values()), published) == 3


@pytest.mark.parametrize(("alive", "status"), [(True, "running"), (False, "interrupted")])
def test_a_run_without_an_end_is_running_while_its_process_lives(
    nights: dict[int, Night], tmp_path: Path, alive: bool, status: str
) -> None:
    data = DataDir(nights[1].copy(tmp_path / "data"))
    now = datetime.now(UTC)
    run_log.start(replace(context(data.root, 1), run_id="20991231T000000Z-abcdef", started_at=now))
    note = {"pid": os.getpid() if alive else 2**22 + 1, "since": now.isoformat()}
    data.lock.with_suffix(".json").write_text(json.dumps(note), encoding="utf-8")
    assert health.runs(data)[0].status == status
    # The number of a process that is younger than the note says nothing.
    stale = {"pid": os.getpid(), "since": (now - timedelta(days=30)).isoformat()}
    data.lock.with_suffix(".json").write_text(json.dumps(stale), encoding="utf-8")
    assert health.writer(data) is None


def test_the_doctor_finds_a_sound_machine_sound(nights: dict[int, Night]) -> None:
    outcome = gpuledger("doctor", "--sample", "--format", "json", data=nights[1].data)
    grades = {check["check"]: check["grade"] for check in json.loads(outcome.out)}
    for name in ("python", "data directory", "clock", "warehouse", "lock", "schedule", "robots of newegg"):
        assert grades[name] == "ok", name


def test_the_doctor_names_what_is_wrong(nights: dict[int, Night], tmp_path: Path) -> None:
    data = nights[1].copy(tmp_path / "data")
    local_files.write_text(WATCHES.file(data), "[[watch]\n")
    (data / "state" / "writer.json").write_text(
        '{"pid": 4194305, "since": "2023-11-16T03:00:00+00:00"}', encoding="utf-8"
    )
    env = {"GPULEDGER_CRON": "never", "GPULEDGER_NOTIFY_URLS": "nonsense://very-hidden-thing"}
    outcome = gpuledger("doctor", "--offline", "--format", "json", data=data, env=env)
    checks = {check["check"]: check for check in json.loads(outcome.out)}
    assert outcome.status == 1
    assert {name for name, check in checks.items() if check["grade"] == "failure" and name != "packages"} == {
        "schedule", "watches", "notifications",
    }  # fmt: skip
    assert checks["lock"]["grade"] == "warning"
    assert all(check["what to do"] for check in checks.values() if check["grade"] != "ok")
    assert "very-hidden-thing" not in outcome.out + outcome.err


def test_the_doctor_notes_a_clock_that_is_behind(nights: dict[int, Night]) -> None:
    from dataclasses import replace

    from gpuledger.flows.checks.doctor import examine
    from gpuledger.flows.night.start import Request, context_for
    from gpuledger.flows.settings.settings import load

    context = context_for(load({}, {}, Path("/nowhere")), DataDir(nights[1].data), "plain", Request())
    behind = replace(context, started_at=datetime(2020, 1, 1, tzinfo=UTC))
    (clock,) = [check for check in examine(behind, offline=True) if check.name == "clock"]
    assert (clock.grade, bool(clock.action)) == ("failure", True)


@pytest.mark.parametrize("is_gone", [pytest.param(True, marks=pytest.mark.slow_combination), False])
def test_the_doctor_says_once_that_the_file_is_broken_or_gone(first_night: Path, tmp_path: Path, is_gone: bool) -> None:
    data = DataDir(shutil.copytree(first_night, tmp_path / "data", symlinks=True))
    version = data.published.resolve()
    version.chmod(0o644)
    version.write_bytes(b"no database")
    if is_gone:
        version.unlink()
        data.published.unlink()
        data.base.unlink()
    outcome = gpuledger("doctor", "--offline", "--format", "json", data=data.root)
    failures = [
        check for check in json.loads(outcome.out) if check["grade"] == "failure" and check["check"] != "packages"
    ]
    assert [check["check"] for check in failures] == ["warehouse"]
    assert "`gpuledger replay`" in failures[0]["what to do"]
    assert gpuledger("replay", data=data.root).status == 0
    assert gpuledger("doctor", "--offline", data=data.root).status == 0


def test_the_doctor_changes_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "none"
    assert gpuledger("doctor", "--offline", data=folder).status in (0, 1)
    assert not folder.exists()
