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

#: Tells into a file how long Great Expectations and pandas took to import in this process, with what they import late, how
#: long the checks took once they were, and the most memory that it had. Imports nest: only the outermost counts.
TOLD = """
import builtins, importlib, json, re, sys, threading, time
own, spent = threading.local(), {"imports": 0.0, "checks": 0.0}
LIBRARIES = ("great_expectations", "pandas", "scipy", "altair", "numpy")
def timed(real):
    def wrapper(name, *rest, **named):
        if name.partition(".")[0] not in LIBRARIES or getattr(own, "is_inside", False):
            return real(name, *rest, **named)
        own.is_inside, started = True, time.perf_counter()
        try:
            return real(name, *rest, **named)
        finally:
            own.is_inside = False
            spent["imports"] += time.perf_counter() - started
    return wrapper
builtins.__import__ = timed(builtins.__import__)
importlib.import_module = timed(importlib.import_module)
def tell(told):
    # Not ru_maxrss: a process inherits that from the one that started it.
    with open("/proc/self/status") as status:
        memory = int(re.search("VmHWM:[^0-9]*([0-9]+)", status.read())[1]) / 1024
    with open(told, "w") as file:
        json.dump(spent | {"memory": memory}, file)
"""
#: Lets `TOLD` count the checks.
CHECKED = """
from gpuledger.expectations import suite
check = suite.run
def checked(table, checks):
    before, started = spent["imports"], time.perf_counter()
    try:
        return check(table, checks)
    finally:
        spent["checks"] += time.perf_counter() - started - (spent["imports"] - before)
        tell(told)
suite.run = checked
"""
#: Runs the command in this process, and has it told here and in the process that checks for it.
RUN = """
told, *sys.argv[1:] = sys.argv[1:]
sys.argv[0] = "gpuledger"
from gpuledger.expectations import aside
first, last = aside._SERVE.split("from expectations import aside")
beside = TOLD + f"told = {told + '.aside'!r}\\n" + CHECKED
aside._SERVE = first + "\\n" + beside.replace("{", "{{").replace("}", "}}") + "from expectations import aside" + last
exec(CHECKED)
from gpuledger.flows import cli
call = cli.call
def noted():
    try:
        call()
    finally:
        tell(told)
cli.call = noted
cli.main()
"""
SCRIPT = f"TOLD = {TOLD!r}\nCHECKED = {CHECKED!r}\nexec(TOLD)\n{RUN}"


@dataclass(frozen=True, slots=True)
class Measure:
    """One run: seconds from start to end, those in imports and in checks, processor time, most memory in MB.

    Imports and checks are those of the process that checks, beside our own work; where there is none, of the run's own. Time
    is of all processes, and memory the sum of the most that each had.
    """

    wall_s: float
    imports_s: float
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
    beside = told.with_name(f"{told.name}.aside")
    beside.unlink(missing_ok=True)
    words = ["refresh", "--sample", "--engine", engine, "--night", str(night), "--quiet", "--data-dir", str(data)]
    started = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(told), *words], env=_environment(), cwd=data.parent,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    # The processor time of this one child, with that of its own children.
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 3):
        raise RuntimeError(f"refresh --engine {engine} --night {night} ended with status {process.returncode}")
    parts = [json.loads(path.read_text()) for path in (told, beside) if path.exists()]
    memory = sum(part["memory"] for part in parts)
    return Measure(wall, parts[-1]["imports"], parts[-1]["checks"], usage.ru_utime + usage.ru_stime, memory)


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
    own, own_second = (night.wall_s - imports for night in (first, second))
    return [
        ("refresh --sample --engine plain, first night: whole wall time", f"{first.wall_s:.2f} s", "", None),
        ("… Great Expectations and pandas: their import in an interpreter of its own", f"{imports:.2f} s", "", None),
        ("… our own work: what the whole takes longer, start of Python included", f"{own:.2f} s", "1 s", own < 1),
        ("… their import as the run has it, in a second process beside our work", f"{first.imports_s:.2f} s", "", None),
        ("… the checks inside Great Expectations, in that process", f"{first.checks_s:.2f} s", "", None),
        ("… processor time of all its threads and processes", f"{first.cpu_s:.2f} s", "", None),
        ("… memory at most, of both processes", f"{first.memory_mb:.0f} MB", "600 MB", first.memory_mb < 600),
        ("second night: our own work", f"{own_second:.2f} s", "1 s", own_second < 1),
        ("third night, nothing changed: whole wall time", f"{third.wall_s:.2f} s", "", None),
        ("what Prefect adds to the first night", f"{under_prefect.wall_s - first.wall_s:.1f} s", "", None),
        *((f"{name}: answer, start of Python included", f"{s:.2f} s", "0.5 s", s < 0.5) for name, s in reads.items()),
    ]  # fmt: skip
