"""Nothing that lies in the current folder is run: it may be a shared or a downloaded folder."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from gpuledger.flows.settings.settings import FILE_VARIABLE, IGNORED, SettingsError, explain, load
from tests.command import ROOT, Outcome, environment, gpuledger
from tests.nights import Night
from tests.support.prefect_home import prefect_home
from tests.support.served import Serving

#: Modules of the standard library, libraries, and rooms that a child or its libraries import late or first.
NAMES = (
    "gpuledger", "json", "duckdb", "click", "pickle", "decimal", "prefect", "csv", "requests", "lxml", "logging", "flows",
    "sitecustomize", "usercustomize", "numpy", "cv2", "uvicorn", "sqlalchemy", "dotenv", "tests", "typing_extensions",
)  # fmt: skip
PROGRAM = Path(sys.executable).with_name("gpuledger")


@pytest.fixture
def trap(tmp_path: Path) -> Path:
    """A folder of modules that say so when they run, and of settings of Prefect that lead to a stranger's server."""
    folder = tmp_path / "downloaded"
    folder.mkdir()
    for name in NAMES:
        words = f"open({str(folder / 'ran')!r}, 'a').write({name!r} + chr(10))\n"
        (folder / f"{name}.py").write_text(words, encoding="utf-8")
    (folder / ".env").write_text("PREFECT_API_URL=http://127.0.0.1:9/api\nPREFECT_PROFILES_PATH=evil.toml\n")
    (folder / "prefect.toml").write_text('[api]\nurl = "http://127.0.0.1:9/api"\n')
    (folder / "pyproject.toml").write_text('[tool.prefect.api]\nurl = "http://127.0.0.1:9/api"\n')
    (folder / "evil.toml").write_text('active = "a"\n[profiles.a]\nPREFECT_API_URL = "http://127.0.0.1:9/api"\n')
    return folder


def ran(trap: Path) -> str:
    file = trap / "ran"
    return file.read_text() if file.exists() else ""


def ask(trap: Path, *words: object, program: tuple[object, ...] = (PROGRAM,)) -> Outcome:
    """What the installed program answers that is started in the trap."""
    done = subprocess.run(
        [*map(str, program), *map(str, words)], cwd=trap, env=environment(), check=False, capture_output=True, text=True,
        encoding="utf-8", timeout=300,
    )  # fmt: skip
    return Outcome(done.returncode, done.stdout, done.stderr)


def test_the_trap_is_one(trap: Path) -> None:
    subprocess.run([sys.executable, "-c", "import json"], cwd=trap, check=False)
    assert "json" in ran(trap)


@pytest.mark.slow
@pytest.mark.parametrize("way", ["command", "module", pytest.param("prefect", marks=pytest.mark.slow_combination)])
def test_no_command_runs_what_lies_here(
    way: str, trap: Path, nights: dict[int, Night], tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    program: tuple[object, ...] = (PROGRAM,)
    if way == "module":
        # Python itself runs a `gpuledger.py` of the current folder here, before anything of ours; but nothing else.
        (trap / "gpuledger.py").unlink()
        program = (sys.executable, "-m", "gpuledger")
    assert ask(trap, "sql", "SELECT 41 + 1", "--data-dir", nights[1].data, program=program).out.split()[-1] == "42"
    page = next((ROOT / "extract" / "sources" / "newegg" / "cases").glob("*.html*"))
    parsed = ask(trap, "parse", "newegg", page, program=program)
    assert parsed.status == 0, parsed.err
    picture = trap / "picture.png"
    picture.write_bytes(b"no picture")
    chart = ask(trap, "chart", picture, program=program)
    assert chart.status == 1, chart
    if way != "module":  # under Prefect `serve` below does it too
        engine = "prefect" if way == "prefect" else "plain"
        if way == "prefect":
            prefect_home(tmp_path_factory, tmp_path / "data" / "state" / "prefect")
        words = ("refresh", "--sample", "--engine", engine, "--only", "newegg", "--data-dir", tmp_path / "data")
        done = ask(trap, *words)
        assert (done.status, "Prefect server" in done.err) == (0, False), done.err
    assert ran(trap) == ""


@pytest.mark.slow
def test_serve_and_its_runs_run_nothing_that_lies_here(
    trap: Path, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    prefect_home(tmp_path_factory, tmp_path / "data" / "state" / "prefect")
    (trap / "gpuledger.py").unlink()  # `serve` is started with `-m` here
    serving = Serving(tmp_path / "data", trap / "serve.log", GPULEDGER_READ_CHARTS="false")
    try:
        # The children of `serve` would find this one.
        (trap / "gpuledger.py").write_text((trap / "json.py").read_text(), encoding="utf-8")
        run = serving.api.ended(serving.api.start("refresh/nightly", only=["newegg"]))
        assert run["type"] == "COMPLETED", (run, serving.log.read_text(errors="replace"))
    finally:
        serving.stop()
    assert ran(trap) == ""


@pytest.mark.slow
def test_an_older_checkout_here_is_not_used(tmp_path: Path, nights: dict[int, Night]) -> None:
    older = tmp_path / "older"
    for room in ("extract", "warehouse", "flows"):
        (older / "gpuledger" / room).mkdir(parents=True)
        (older / "gpuledger" / room / "__init__.py").write_text("")
    (older / "gpuledger" / "__init__.py").write_text("__version__ = '0.0.1'\n")
    assert ask(older, "sql", "SELECT 41 + 1", "--data-dir", nights[1].data).out.split()[-1] == "42"
    done = ask(older, "refresh", "--sample", "--engine", "plain", "--only", "ecb_fx", "--data-dir", tmp_path / "d")
    assert done.status == 0, done.err


ACTING = 'browser_program = "/tmp/evil"\nstore = "s3://theirs/x"\ncron = "0 4 * * *"\n'


def test_a_file_that_lies_here_sets_nothing_that_runs_a_program_or_sends_data(tmp_path: Path) -> None:
    (tmp_path / "gpuledger.toml").write_text(ACTING)
    shown = gpuledger("settings", "--format", "csv", cwd=tmp_path)
    assert ("/tmp/evil" in shown.out, "s3://theirs" in shown.out, "0 4 * * *" in shown.out) == (False, False, True)
    assert "gpuledger.toml: browser_program, store is not used" in shown.err
    named = gpuledger(
        "settings", "--format", "csv", cwd=tmp_path, env={FILE_VARIABLE: str(tmp_path / "gpuledger.toml")}
    )
    assert "/tmp/evil" in named.out
    assert "is not used" not in named.err


def test_the_file_of_the_data_directory_sets_everything(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    data = tmp_path / "mine"
    data.mkdir()
    (data / "gpuledger.toml").write_text(ACTING)
    (tmp_path / "gpuledger.toml").write_text('cron = "0 5 * * *"\ndelay_s = 3\n[assumptions]\nkv_cache_bits = 8\n')
    for found in (load({"data_dir": str(data)}, {}), load({}, {"GPULEDGER_DATA_DIR": str(data)})):
        assert (found.browser_program, found.cron, found.delay_s) == ("/tmp/evil", "0 4 * * *", 3)
        assert found.assumptions_given["kv_cache_bits"].text == "8"
    # The data directory may be the current folder. One that only the file here names is as strange as the file.
    shutil.copy(data / "gpuledger.toml", tmp_path / "gpuledger.toml")
    assert load({"data_dir": "."}, {}).browser_program == "/tmp/evil"
    (tmp_path / "gpuledger.toml").write_text('data_dir = "mine"\n')
    assert load({}, {}).browser_program == ""
    assert IGNORED == {}
    (data / "gpuledger.toml").write_text("colour = 1\n")
    with pytest.raises(SettingsError, match=r"mine/gpuledger\.toml: there is no setting 'colour'"):
        explain({"GPULEDGER_DATA_DIR": "mine"})
