"""The main job on the bundled sample: where its time goes, its memory, what Prefect adds, and how fast a reader is answered.

Each measure is the median of a few runs in processes of their own, as a person would start them.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
TIMES = 3
READS = 7
#: Seconds that the import of Great Expectations and pandas took on the machine on which the bounds were set in seconds. The
#: same program took 1.6 times as long on it on another day, so each bound is shown in times of that import too.
IMPORT_WHERE_SET = 2.1

#: Runs the command in this process, and tells into a file how long the checks took and the most memory that it had.
SCRIPT = """
import json, re, sys, time
told, *sys.argv[1:] = sys.argv[1:]
sys.argv[0] = "gpuledger"
from gpuledger.expectations import suite
from gpuledger.flows import cli
spent = 0.0
check = suite.run
def checked(table, checks):
    global spent
    started = time.perf_counter()
    try:
        return check(table, checks)
    finally:
        spent += time.perf_counter() - started
suite.run = checked
try:
    cli.main()
finally:
    # Not ru_maxrss: a process inherits that from the one that started it.
    with open("/proc/self/status") as status:
        memory = int(re.search("VmHWM:[^0-9]*([0-9]+)", status.read())[1]) / 1024
    with open(told, "w") as file:
        json.dump({"checks": spent, "memory": memory}, file)
"""


@dataclass(frozen=True, slots=True)
class Measure:
    """One run: seconds from start to end, those in checks with what they import, processor time, most memory in MB."""

    wall_s: float
    checks_s: float
    cpu_s: float
    memory_mb: float


def _environment() -> dict[str, str]:
    """A user's: no setting of ours, and bytecode is kept from one run to the next."""
    left_out = ("GPULEDGER_", "PREFECT_", "PYTHONDONTWRITEBYTECODE")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(left_out)}
    return {**kept, "PYTHONPATH": str(ROOT)}


def _bare_imports() -> float:
    """Median seconds that an interpreter takes to import Great Expectations and pandas, and does nothing else."""
    timed = "import time; t = time.perf_counter(); import great_expectations, pandas; print(time.perf_counter() - t)"
    command = [sys.executable, "-c", timed]
    return statistics.median(
        float(subprocess.run(command, env=_environment(), check=True, capture_output=True).stdout) for _ in range(TIMES)
    )


def _refresh(data: Path, engine: str, night: int) -> Measure:
    told = data.parent / "spent.json"
    words = ["refresh", "--sample", "--engine", engine, "--night", str(night), "--quiet", "--data-dir", str(data)]
    started = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(told), *words],
        env=_environment(), cwd=data.parent, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    # The processor time of this one child, with that of its own children.
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 3):
        raise RuntimeError(f"refresh --engine {engine} --night {night} ended with status {process.returncode}")
    spent = json.loads(told.read_text())
    return Measure(wall, spent["checks"], usage.ru_utime + usage.ru_stime, spent["memory"])


def _median(measures: list[Measure]) -> Measure:
    return Measure(*(statistics.median(getattr(m, name) for m in measures) for name in Measure.__slots__))


def _read(data: Path, words: list[str]) -> float:
    """Median seconds of a reading command, start-up of Python included."""
    command = [sys.executable, "-m", "gpuledger.flows.cli", *words, "--data-dir", str(data)]
    seconds = []
    for _ in range(READS):
        started = time.perf_counter()
        subprocess.run(command, env=_environment(), cwd=data.parent, check=True, capture_output=True)
        seconds.append(time.perf_counter() - started)
    return statistics.median(seconds)


def run() -> list[tuple[str, str, str, bool | None]]:
    """What was measured, the measure, the bound asked for, and whether it is kept."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        plain = [[_refresh(root / f"plain{n}", "plain", night) for night in (1, 2, 3)] for n in range(TIMES)]
        first, second, third = (_median(list(same_night)) for same_night in zip(*plain, strict=True))
        under_prefect = _refresh(root / "prefect", "prefect", 1)
        data = root / "plain0"
        reads = {
            "rank": _read(data, ["rank", "sd-512-image-generation"]),
            "value": _read(data, ["value", "sd-512-image-generation"]),
            "sql": _read(data, ["sql", "SELECT count(*), count(*) FILTER (agrees) FROM mart.claim_audit"]),
        }
        imports = _bare_imports()

    def in_imports(measured_s: float, bound_s: float) -> tuple[str, str, str, bool]:
        times, most = measured_s / imports, bound_s / IMPORT_WHERE_SET
        return "… in times of the bare import", f"{times:.2f}", f"{most:.2f}", times < most

    return [
        ("refresh --sample --engine plain, first night: whole wall time", f"{first.wall_s:.2f} s", "6 s", first.wall_s < 6),
        in_imports(first.wall_s, 6),
        ("… the checks, with the import of Great Expectations and pandas", f"{first.checks_s:.2f} s", "", None),
        ("… that import in an interpreter of its own, the bare import", f"{imports:.2f} s", "", None),
        ("… processor time of all its threads", f"{first.cpu_s:.2f} s", "", None),
        ("… memory at most", f"{first.memory_mb:.0f} MB", "700 MB", first.memory_mb < 700),
        ("second night: whole wall time", f"{second.wall_s:.2f} s", "", None),
        ("third night, nothing changed: whole wall time", f"{third.wall_s:.2f} s", "1 s", third.wall_s < 1),
        in_imports(third.wall_s, 1),
        ("what Prefect adds to the first night", f"{under_prefect.wall_s - first.wall_s:.1f} s", "", None),
        *((f"{name}: answer, start of Python included", f"{s:.2f} s", "0.5 s", s < 0.5) for name, s in reads.items()),
    ]  # fmt: skip
