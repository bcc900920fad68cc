"""`make prove`: run the long forms of the tests behind the promises, and write the table of docs/reliability.md.

`python -m tools.prove [PART…] [--short]`. The parts stand in `tools/prove.toml`. Each runs its tests one file at a time, and
for at most twenty minutes: what is left goes on where it was when the part is started again, as long as the commit is the
same. The counts of the last time are in `docs/proved.json`. `--short` runs the form that `make test` runs. A test may say
how many things it tried (`record_property("tried", n)`); otherwise it is one.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

ROOT = Path(__file__).parents[1]
PARTS, RESULTS = Path(__file__).with_suffix(".toml"), ROOT / "docs" / "proved.json"
#: What each test gave, until the part is done.
STATE = Path(sys.prefix) / "prove.json"
TABLE = ROOT / "docs" / "reliability.md"
#: Seconds after which a part starts no further tests; how many it starts at once, and twice as many after a quick batch [s].
LONGEST_S, BATCH, QUICK_S = 20 * 60, 4, 15
BEGIN, END = "<!-- proved -->", "<!-- /proved -->"


@dataclass(frozen=True, slots=True)
class Part:
    """A promise and the tests behind it, with the environment that makes them long."""

    name: str
    promise: str
    tests: Sequence[str]
    of: str
    env: Mapping[str, str]


def parts() -> list[Part]:
    """All parts, in the order of the table."""
    found = tomllib.loads(PARTS.read_text(encoding="utf-8"))["part"]
    return [Part(one["name"], one["promise"], one["tests"], one["of"], one.get("env", {})) for one in found]


def nodes(part: Part, env: Mapping[str, str]) -> list[str]:
    """The ids of the tests of a part."""
    done = pytest(["--collect-only", "-q", *part.tests], env)
    return [line for line in done.stdout.splitlines() if "::" in line]


def pytest(words: Sequence[str], env: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    """pytest in a process of its own, one test after the other."""
    command = [sys.executable, "-m", "pytest", "-n", "0", "-p", "no:cacheprovider", *words]
    return subprocess.run(command, cwd=ROOT, env={**os.environ, **env}, check=False, capture_output=True, text=True)


def run(part: Part, *, short: bool) -> bool:
    """Run what is left of a part, and note each batch at once. Returns whether all that was tried held."""
    env = {} if short else part.env
    states, results = read(STATE), read(RESULTS)
    commit = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    key = f"{commit.strip()} {short}"
    state = states.setdefault(part.name, {})
    if state.get("key") != key:
        state.clear()
        state.update(key=key, tests={})
    tests: dict[str, list[int]] = state["tests"]
    left, ends = [node for node in nodes(part, env) if node not in tests], time.monotonic() + LONGEST_S
    size = BATCH
    while left and (began := time.monotonic()) < ends:
        file = left[0].partition("::")[0]
        batch = [node for node in left[:size] if node.partition("::")[0] == file]
        left = left[len(batch) :]
        tests |= outcomes(batch, env)
        size = size * 2 if time.monotonic() - began < QUICK_S else BATCH
        tried, held = (sum(pair[n] for pair in tests.values()) for n in (0, 1))
        day = f"{datetime.now(UTC):%Y-%m-%d}"
        results[part.name] = {"tried": tried, "held": held, "day": day, "short": short, "left": len(left)}
        for path, content in ((STATE, states), (RESULTS, results)):
            path.write_text(json.dumps(content, indent=1, sort_keys=True) + "\n", encoding="utf-8")
        write_table(results)
        print(f"{part.name}: {held:,} of {tried:,} held, {len(left)} tests left", flush=True)
    return all(tried == held for tried, held in tests.values())


def read(path: Path) -> dict[str, Any]:
    """The content of a JSON file; empty if there is none."""
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return found


def outcomes(batch: Sequence[str], env: Mapping[str, str]) -> dict[str, list[int]]:
    """How many things each test tried, and how many held. A skipped test tried none."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        done = pytest([*batch, f"--junitxml={report}", "-o", "junit_family=xunit1"], env)
        if not report.exists():
            raise SystemExit(done.stdout + done.stderr)
        cases = list(ET.parse(report).getroot().iter("testcase"))
    found = {}
    for node, case in zip(batch, cases, strict=True):
        tried = int(next((p.attrib["value"] for p in case.iter("property") if p.attrib["name"] == "tried"), 1))
        has_failed = case.find("failure") is not None or case.find("error") is not None
        found[node] = [0, 0] if case.find("skipped") is not None else [tried, 0 if has_failed else tried]
    return found


def write_table(results: Mapping[str, Any]) -> None:
    """Write the table between its marks."""
    lines = ["| promised | tested by | held |", "|---|---|---|"]
    for part in parts():
        kept = results.get(part.name)
        form = "" if not kept else ", short form" if kept["short"] else f", {kept['left']} left" if kept["left"] else ""
        held = f"{kept['held']:,} of {kept['tried']:,} on {kept['day']}{form}" if kept else "not yet tried"
        files = ", ".join(dict.fromkeys(f"`{test.partition('::')[0].removeprefix('tests/')}`" for test in part.tests))
        lines.append(f"| {part.promise} | {files} | {part.of}: {held} |")
    text = TABLE.read_text(encoding="utf-8")
    before, after = text.partition(BEGIN)[0], text.partition(END)[2]
    TABLE.write_text(f"{before}{BEGIN}\n" + "\n".join(lines) + f"\n{END}{after}", encoding="utf-8")


def main() -> int:
    """Run the parts that were named, all without a name. 1 if something did not hold."""
    known = {part.name: part for part in parts()}
    parser = argparse.ArgumentParser(
        prog="python -m tools.prove", description="Run the long forms behind the promises."
    )
    parser.add_argument("part", nargs="*", help=f"one of {', '.join(known)}")
    parser.add_argument("--short", action="store_true", help="the form that `make test` runs")
    asked = parser.parse_args()
    held = [run(known[name], short=asked.short) for name in asked.part or known]
    return int(not all(held))


if __name__ == "__main__":
    sys.exit(main())
