"""A full disk, a disk that cannot be written, and too few descriptors: a sentence, a whole file, and the next night goes on.

`SCARCE=all` for every size and number.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from tests.command import ROOT, arguments, environment
from tests.nights import Night
from tests.prove import full_disk

ALL = "SCARCE" in os.environ
CAN_MOUNT = not subprocess.run(
    ["unshare", "--user", "--map-root-user", "--mount", "true"], check=False, capture_output=True
).returncode
FREE_KB = (0, 4, 16, 64, 256, 512, 1024, 2048, 4096, 6144, 8192, 10240, 12288, 16384, 20480, 24576, 32768, 65536)
DESCRIPTORS = (8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30, 33, 36, 40, 48, 64, 128)


@pytest.mark.slow
@pytest.mark.skipif(not CAN_MOUNT, reason="this machine lets nobody mount a small disk")
@pytest.mark.parametrize("free_kb", FREE_KB if ALL else FREE_KB[7:8])
def test_a_full_disk(nights: dict[int, Night], tmp_path: Path, free_kb: int) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    done = subprocess.run(
        ["unshare", "--user", "--map-root-user", "--mount", sys.executable, "-m", full_disk.__name__,
         str(nights[1].data), str(disk), str(free_kb)],
        env=environment(), cwd=ROOT, check=False, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert "Traceback" not in found["said"], found["said"]
    assert found["status"][0] in (0, 1), found
    assert found["runs"][0] == (2 if found["status"][0] == 0 else 1), found
    assert (found["status"][1], found["runs"][1] > 1) == (0, True), found
    assert "out: No space left on device: make room on the disk" in found["export"], found
    if found["status"][0] == 1:
        assert "disk" in found["said"] or "space" in found["said"], found["said"]


@pytest.mark.slow
@pytest.mark.skipif(not CAN_MOUNT, reason="this machine lets nobody mount a disk for reading only")
def test_a_disk_that_cannot_be_written_is_read_and_said_to_be_that(nights: dict[int, Night], tmp_path: Path) -> None:
    data = nights[1].copy(tmp_path / "data")
    commands = {
        words: " ".join(arguments(*words, data=data))
        for words in (("value", "sd-512-image-generation"), ("status",), ("refresh", "--sample", "--engine", "plain"))
    }
    for words, command in commands.items():
        done = subprocess.run(
            ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c",
             f"mount --bind {data} {data} && mount -o remount,bind,ro {data} && exec {command}"],
            env=environment(), cwd="/", check=False, capture_output=True, text=True,
        )  # fmt: skip
        assert done.returncode == (1 if words[0] == "refresh" else 0), (words, done.stderr)
        assert "Traceback" not in done.stderr
        if words[0] == "refresh":
            assert "ead-only" in done.stderr, done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("most", DESCRIPTORS if ALL else DESCRIPTORS[6:7])
def test_few_descriptors(nights: dict[int, Night], tmp_path: Path, most: int) -> None:
    data = nights[1].copy(tmp_path / "data")
    words = ("refresh", "--sample", "--engine", "plain", "--night", 2, "--only", "ecb_fx", "--only", "newegg")

    def night(descriptors: int) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            arguments(*words, data=data), env=environment(), cwd="/", check=False, capture_output=True, text=True,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (descriptors, descriptors)),
        )  # fmt: skip

    before = full_disk.published(data)
    first = night(most)
    assert full_disk.published(data) in (before, 2)
    if first.returncode not in (0, 3):
        assert full_disk.published(data) == before
    assert night(1024).returncode == 0
    assert full_disk.published(data) >= 2
