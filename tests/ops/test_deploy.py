"""What an operator copies out of deploy/ does what it says."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.command import ROOT, arguments, environment, gpuledger, rows
from tests.nights import Night
from tests.support.prefect_home import prefect_home

DEPLOY = ROOT / "deploy"
PROMTOOL = shutil.which("promtool")
PROGRAM = "/opt/gpuledger/.venv/bin/gpuledger"


def test_the_line_for_cron_publishes(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    """With the paths of this test in it, and one source that needs no network. The first start of a server of Prefect is in
    tests/flows/test_engines.py.
    """
    prefect_home(tmp_path_factory, tmp_path / "data" / "state" / "prefect")
    (line,) = [line for line in (DEPLOY / "crontab").read_text(encoding="utf-8").splitlines() if line[:1].isdigit()]
    assert "%" not in line  # cron would read it as the end of the command
    words = line.split(maxsplit=5)[5]
    for path in (PROGRAM, "/var/lib/gpuledger", "/etc/gpuledger.env"):
        assert path in words
    (tmp_path / "data" / "inbox").mkdir()
    (tmp_path / "data" / "inbox" / "quote.csv").write_text("product,price,currency\nRTX 4090,1599.00,USD\n")
    (tmp_path / "env").write_text("GPULEDGER_SOURCES=quotes\n")
    words = words.replace(PROGRAM, f"{sys.executable} -m gpuledger.flows.cli").replace(
        "/var/lib/gpuledger", str(tmp_path)
    )
    words = words.replace("/etc/gpuledger.env", str(tmp_path / "env"))
    done = subprocess.run(
        ["sh", "-c", words], env=environment(), check=False, capture_output=True, text=True, timeout=600
    )
    assert (done.returncode, done.stdout) == (0, ""), done.stdout + done.stderr
    assert rows(tmp_path / "data", "SELECT source, status, loaded FROM ops.source_run") == [("quotes", "ok", 1)]


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd-analyze is not there to ask")
@pytest.mark.parametrize("unit", sorted((DEPLOY / "systemd").glob("*.service")), ids=lambda unit: str(unit.name))
def test_a_unit_leaves_little_open(unit: Path) -> None:
    """At most 2.0 of 10; what remains, and why, stands in the unit."""
    done = subprocess.run(
        ["systemd-analyze", "security", "--offline=true", "--no-pager", str(unit)],
        check=False, capture_output=True, text=True, timeout=600,
    )  # fmt: skip
    if "--offline" in done.stderr:
        pytest.skip("this systemd judges no unit that is not running")
    found = re.search(r"exposure level for \S+: ([\d.]+)", done.stdout)
    assert found is not None, done.stdout + done.stderr
    assert float(found[1]) <= 2.0
    assert f"says {found[1]}:" in unit.read_text(encoding="utf-8")


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd-analyze is not there to ask")
def test_systemd_finds_nothing_wrong_with_the_units(tmp_path: Path) -> None:
    units = sorted((DEPLOY / "systemd").iterdir())
    assert {unit.suffix for unit in units} == {".service", ".timer"}
    copies = []
    for unit in units:
        text = unit.read_text(encoding="utf-8")
        assert unit.suffix == ".timer" or PROGRAM in text or "/opt/gpuledger/.venv/bin/prefect server start" in text
        copies.append(tmp_path / unit.name)
        copies[-1].write_text(text.replace(PROGRAM, sys.executable), encoding="utf-8")
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", *map(str, copies)],
        env={**os.environ, "SYSTEMD_UNIT_PATH": f"{tmp_path}:"}, check=False, capture_output=True, text=True, timeout=600,
    )  # fmt: skip
    told = [line for line in done.stderr.splitlines() if any(unit.name in line for unit in units)]
    assert (told, done.returncode) == ([], 0), done.stderr


def test_alerts_ask_for_what_the_program_writes(nights: dict[int, Night], tmp_path: Path) -> None:
    """Names, and the labels that are asked for, against the figures of a real night."""
    figures = tmp_path / "gpuledger.prom"
    assert gpuledger("status", "--prometheus", str(figures), data=nights[3].data).status in (0, 3)
    written = {
        match[1]: set(re.findall(r'(\w+)="', match[2] or ""))
        for line in figures.read_text().splitlines()
        if (match := re.match(r"(gpuledger_\w+)(\{.*\})? ", line))
    }
    rules = [rule for group in _yaml(DEPLOY / "prometheus" / "alerts.yaml")[0]["groups"] for rule in group["rules"]]
    asked = [(rule["expr"], f"{rule['annotations']}") for rule in rules]
    for expression, words in asked:
        names = set(re.findall(r"gpuledger_\w+", expression))
        assert names, expression
        assert names <= written.keys(), expression
        labels = set.intersection(*(written[name] for name in names))
        assert set(re.findall(r"(?:\$labels\.|\{\{)(\w+)\}?", words)) <= labels, words


@pytest.mark.skipif(PROMTOOL is None, reason="promtool is not there to try the alerts")
def test_each_alert_comes_when_it_should() -> None:
    assert PROMTOOL is not None
    done = subprocess.run(
        [PROMTOOL, "test", "rules", str(DEPLOY / "prometheus" / "alerts.test.yaml")],
        check=False, capture_output=True, text=True, timeout=600,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_alert_is_tried_quiet_and_loud() -> None:
    rules = {
        rule["alert"] for group in _yaml(DEPLOY / "prometheus" / "alerts.yaml")[0]["groups"] for rule in group["rules"]
    }
    quiet, loud = _yaml(DEPLOY / "prometheus" / "alerts.test.yaml")[0]["tests"]
    for cases, is_loud in ((quiet, False), (loud, True)):
        assert {case["alertname"] for case in cases["alert_rule_test"]} == rules
        assert all(bool(case["exp_alerts"]) is is_loud for case in cases["alert_rule_test"])


SERVICES = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))["services"]


def _yaml(path: Path) -> list[dict[str, Any]]:
    return list(yaml.safe_load_all(path.read_text(encoding="utf-8")))


def test_no_service_of_the_compose_file_writes_to_its_image_or_is_without_limits() -> None:
    for name, service in SERVICES.items():
        assert service["read_only"] is True, name
        assert service["tmpfs"][0] == "/tmp", name
        assert {"mem_limit", "cpus", "pids_limit"} <= service.keys(), name


def test_the_program_writes_to_its_folder_and_tmp_alone(tmp_path: Path) -> None:
    """A run with every other folder read-only, as in the containers."""
    data, scratch = tmp_path / "data", tmp_path / "tmp"
    data.mkdir()
    scratch.mkdir()
    words = arguments("refresh", "--sample", "--engine", "plain", "--only", "ecb_fx", data=data)
    script = (
        'mount --make-rprivate / && mount --bind "$1" "$1" && mount --bind "$2" "$2" && mount -o remount,bind,ro / '
        '&& ! touch /root-is-written 2>/dev/null && shift 2 && exec "$@"'
    )
    unshare = ["unshare", "--mount", "sh", "-c", script, "sh", str(data), str(scratch), *words]
    if shutil.which("unshare") is None or subprocess.run(["unshare", "--mount", "true"], check=False).returncode:
        pytest.skip("no mounts of one's own here")
    done = subprocess.run(
        unshare, env=environment({"HOME": str(scratch), "TMPDIR": str(scratch)}), cwd=scratch, check=False,
        capture_output=True, text=True, timeout=600,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert rows(data, "SELECT status FROM ops.source_run") == [("ok",)]
