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
from tests.ops.trap import lay, ran
from tests.support.prefect_home import prefect_home

PROGRAM = Path(sys.executable).with_name("gpuledger")


@pytest.fixture
def trap(tmp_path: Path) -> Path:
    return lay(tmp_path / "downloaded")


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
        # Python itself runs a `gpuledger` of the current folder here, before anything of ours; but nothing else.
        shutil.rmtree(trap / "gpuledger")
        program = (sys.executable, "-m", "gpuledger")
    assert ask(trap, "sql", "SELECT 41 + 1", "--data-dir", nights[1].data, program=program).out.split()[-1] == "42"
    page = next((ROOT / "extract" / "sources" / "newegg" / "cases").glob("*.html*"))
    parsed = ask(trap, "parse", "newegg", page, program=program)
    assert parsed.status == 0, parsed.err
    picture = trap / "picture.png"
    picture.write_bytes(b"no picture")
    chart = ask(trap, "chart", picture, program=program)
    assert chart.status == 1, chart
    if way != "module":  # under Prefect: test_serve.py
        engine = "prefect" if way == "prefect" else "plain"
        if way == "prefect":
            prefect_home(tmp_path_factory, tmp_path / "data" / "state" / "prefect")
        words = ("refresh", "--sample", "--engine", engine, "--only", "newegg", "--data-dir", tmp_path / "data")
        done = ask(trap, *words)
        assert (done.status, "Prefect server" in done.err) == (0, False), done.err
    assert ran(trap) == ""


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
