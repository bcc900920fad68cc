"""What an operator copies out of deploy/ does what it says."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.command import ROOT, environment, rows

DEPLOY = ROOT / "deploy"
PROGRAM = "/opt/gpuledger/.venv/bin/gpuledger"


def test_the_line_for_cron_publishes(tmp_path: Path) -> None:
    """With the paths of this test in it, and one source that needs no network."""
    (line,) = [line for line in (DEPLOY / "crontab").read_text(encoding="utf-8").splitlines() if line[:1].isdigit()]
    assert "%" not in line  # cron would read it as the end of the command
    words = line.split(maxsplit=5)[5]
    for path in (PROGRAM, "/var/lib/gpuledger", "/etc/gpuledger.env"):
        assert path in words
    (tmp_path / "data" / "inbox").mkdir(parents=True)
    (tmp_path / "data" / "inbox" / "quote.csv").write_text("product,price,currency\nRTX 4090,1599.00,USD\n")
    (tmp_path / "env").write_text("GPULEDGER_SOURCES=quotes\n")
    words = words.replace(PROGRAM, f"{sys.executable} -m gpuledger.flows.cli").replace(
        "/var/lib/gpuledger", str(tmp_path)
    )
    words = words.replace("/etc/gpuledger.env", str(tmp_path / "env"))
    done = subprocess.run(
        ["sh", "-c", words], env=environment(), check=False, capture_output=True, text=True, timeout=170
    )
    assert (done.returncode, done.stdout) == (0, ""), done.stdout + done.stderr
    assert rows(tmp_path / "data", "SELECT source, status, loaded FROM ops.source_run") == [("quotes", "ok", 1)]


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd-analyze is not there to ask")
@pytest.mark.parametrize("unit", sorted((DEPLOY / "systemd").glob("*.service")), ids=lambda unit: str(unit.name))
def test_a_unit_leaves_little_open(unit: Path) -> None:
    """At most 2.0 of 10; what remains, and why, stands in the unit."""
    done = subprocess.run(
        ["systemd-analyze", "security", "--offline=true", "--no-pager", str(unit)],
        check=False, capture_output=True, text=True, timeout=100,
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
        assert unit.suffix == ".timer" or PROGRAM in text
        copies.append(tmp_path / unit.name)
        copies[-1].write_text(text.replace(PROGRAM, sys.executable), encoding="utf-8")
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", *map(str, copies)],
        env={**os.environ, "SYSTEMD_UNIT_PATH": f"{tmp_path}:"}, check=False, capture_output=True, text=True, timeout=100,
    )  # fmt: skip
    told = [line for line in done.stderr.splitlines() if any(unit.name in line for unit in units)]
    assert (told, done.returncode) == ([], 0), done.stderr
