"""The bill of materials names all that is locked, with hash and licence."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

from tests.command import ROOT, environment


def make(folder: Path, *more: str) -> tuple[dict[str, object], str]:
    subprocess.run(
        [sys.executable, "tools/sbom.py", str(folder), *more],
        cwd=ROOT,
        env=environment(),
        check=True,
        capture_output=True,
    )
    return json.loads((folder / "sbom.cdx.json").read_text()), (folder / "licences.md").read_text()


def test_it_names_what_the_lock_names(tmp_path: Path) -> None:
    bill, licences = make(tmp_path)
    lock = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    locked = set(re.findall(r"^([a-z0-9._-]+)(?:\[[^\]]*\])?==([^\s;\\]+)", lock, re.MULTILINE))
    components = bill["components"]
    assert isinstance(components, list)
    assert {(one["name"], one["version"]) for one in components} == locked
    assert len(locked) > 100
    for one in components:
        assert one["purl"] == f"pkg:pypi/{one['name']}@{one['version']}"
        assert one["properties"], one["name"]  # hashes
        assert f"| {one['name']} | {one['version']} | " in licences
    known = [one for one in components if "licenses" in one]
    assert len(known) > 0.8 * len(components)
    assert (tmp_path / "sbom.cdx.json").read_bytes() == (
        make(tmp_path / "again"),
        (tmp_path / "again" / "sbom.cdx.json"),
    )[1].read_bytes()


def test_a_package_without_a_licence_says_so(tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    lock.write_text(f"no-such-package-here==1.0 \\\n    --hash=sha256:{'a' * 64}\n", encoding="utf-8")
    bill, licences = make(tmp_path, "--lock", str(lock))
    assert "no-such-package-here | 1.0 | not installed on this system" in licences
    assert "a" * 64 in json.dumps(bill)
