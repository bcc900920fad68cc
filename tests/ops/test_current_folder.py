"""Nothing that lies in the current folder is run: it may be a shared or a downloaded folder."""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from gpuledger.flows.settings.settings import FILE_VARIABLE, IGNORED, Settings, SettingsError, hand_on, left_out, load
from tests.command import ROOT, Outcome, environment
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
        encoding="utf-8", timeout=600,
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
    if way != "module":  # under Prefect: test_serve.py
        engine = "prefect" if way == "prefect" else "plain"
        if way == "prefect":
            prefect_home(tmp_path_factory, tmp_path / "data" / "state" / "prefect")
        words = ("refresh", "--sample", "--engine", engine, "--only", "newegg", "--data-dir", tmp_path / "data")
        done = ask(trap, *words)
        assert (done.status, "Prefect server" in done.err) == (0, False), done.err
    assert ran(trap) == ""


ACTING = {f.name: f for f in dataclasses.fields(Settings) if f.metadata["acting"]}
#: Each of them, and one that does nothing of the kind.
PLANTED = {name: "s3://theirs/x" if name in ("store", "warehouse", "iceberg") else "evil" for name in ACTING}
TEXT = 'cron = "0 4 * * *"\n' + "".join(
    f"{name} = {json.dumps([value] if ACTING[name].type.startswith('tuple') else value)}\n"
    for name, value in PLANTED.items()
)


def believed(found: Settings) -> set[str]:
    """The acting settings that count. The other one counts always."""
    assert found.cron == "0 4 * * *"
    defaults = Settings()
    return {name for name in ACTING if getattr(found, name) != getattr(defaults, name)}


#: Where a file of settings is found: the file, and what names the data directory. Its folder is `own`, which is ours.
FOUND = {
    "here": ("gpuledger.toml", None),
    "in the default data directory": ("data/gpuledger.toml", None),
    "in one that is named from here": ("other/gpuledger.toml", "other"),
    "in the current folder as data directory": ("gpuledger.toml", "."),
    "in one that the file here names": ("other/gpuledger.toml", None),
    "where a group can write": ("shared/gpuledger.toml", "{own}/shared"),
    "below a folder where all can write": ("open/data/gpuledger.toml", "{own}/open/data"),
    "in a file that all can write": ("loose/gpuledger.toml", "{own}/loose"),
    "behind a link to where all can write": ("open/data/gpuledger.toml", "{own}/link"),
}


@pytest.mark.parametrize("where", FOUND)
@pytest.mark.parametrize("by", ["option", "environment"])
def test_a_file_that_was_only_found_sets_nothing_that_acts(
    by: str, where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    name, data_dir = FOUND[where]
    file = tmp_path / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(TEXT)
    if where == "in one that the file here names":
        (tmp_path / "gpuledger.toml").write_text(f"data_dir = {str(file.parent)!r}\ncron = '0 4 * * *'\n")
    modes = {"shared": 0o770, "open": 0o777, "loose/gpuledger.toml": 0o666}
    for path, mode in modes.items():
        if (tmp_path / path).exists():
            (tmp_path / path).chmod(mode)
    (tmp_path / "link").symlink_to("open/data")
    data_dir = data_dir and data_dir.format(own=tmp_path)
    IGNORED.clear()
    found = load({"data_dir": data_dir}, {}) if by == "option" else load({}, {"GPULEDGER_DATA_DIR": data_dir or ""})
    assert believed(found) == set()
    if where != "in one that the file here names":  # which is not even read
        assert set(*IGNORED.values()) == set(ACTING)
        assert "export GPULEDGER_HUB=evil" in left_out()[0]
    IGNORED.clear()


def test_what_is_the_users_own_sets_everything(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = tmp_path / "mine"
    data.mkdir()
    file = data / "gpuledger.toml"
    file.write_text(TEXT)
    monkeypatch.chdir(data)  # also where it is the current folder
    assert believed(load({"data_dir": str(data)}, {})) == set(ACTING)
    assert believed(load({}, {"GPULEDGER_DATA_DIR": str(data)})) == set(ACTING)
    assert believed(load({}, {FILE_VARIABLE: str(file)})) == set(ACTING)
    assert believed(load({}, {FILE_VARIABLE: file.name})) == set()
    environment = {f"GPULEDGER_{name.upper()}": value for name, value in PLANTED.items()}
    assert believed(load({"data_dir": "none"}, environment)) == set(ACTING)
    IGNORED.clear()
    file.chmod(0o600)
    (tmp_path / "real.toml").write_text(TEXT)
    file.unlink()
    file.symlink_to("../real.toml")
    assert believed(load({"data_dir": str(data)}, {})) == set(ACTING)
    assert not IGNORED


def test_the_file_of_the_data_directory_comes_after_that_of_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "gpuledger.toml").write_text('cron = "0 5 * * *"\ndelay_s = 3\n[assumptions]\nkv_cache_bits = 8\n')
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "gpuledger.toml").write_text(TEXT)
    for data_dir in ("mine", str(tmp_path / "mine")):
        found = load({"data_dir": data_dir}, {})
        assert (found.cron, found.delay_s) == ("0 4 * * *", 3)
        assert found.assumptions_given["kv_cache_bits"].text == "8"
    IGNORED.clear()
    (tmp_path / "mine" / "gpuledger.toml").write_text("colour = 1\n")
    with pytest.raises(SettingsError, match=r"mine/gpuledger\.toml: there is no setting 'colour'"):
        load({}, {"GPULEDGER_DATA_DIR": "mine"})


def test_a_run_of_serve_believes_no_more_than_serve(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "gpuledger.toml").write_text(TEXT)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(os, "environ", {})
    hand_on()
    handed = dict(os.environ)
    monkeypatch.chdir("/")
    for named in ({}, {"GPULEDGER_DATA_DIR": "data"}):
        found = load({}, {**handed, **named})
        assert (believed(found), found.data_dir) == (set(), str(tmp_path / "data"))
    IGNORED.clear()


@pytest.mark.slow
@pytest.mark.parametrize("way", ["command", "module", pytest.param("prefect", marks=pytest.mark.slow_combination)])
def test_no_program_of_a_data_directory_here_runs(way: str, tmp_path: Path) -> None:
    evil = tmp_path / "evil.sh"
    evil.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    evil.chmod(0o755)
    data = tmp_path / "data"
    (data / "state" / "prefect").mkdir(parents=True)
    (data / "gpuledger.toml").write_text('hub = "https://evil.example"\nstore = "file:///tmp/evil"\n')
    handlers = f"{{x: {{'()': os.system, command: {evil}}}}}"
    (data / "state" / "prefect" / "logging.yml").write_text(f"version: 1\nhandlers: {handlers}\n")
    (data / "state" / "prefect" / "profiles.toml").write_text(
        'active = "a"\n[profiles.a]\nPREFECT_API_URL = "http://127.0.0.1:9/api"\n'
    )
    program = (sys.executable, "-m", "gpuledger") if way == "module" else (PROGRAM,)
    words = ("refresh", "--sample", "--only", "newegg", "--engine", "prefect" if way == "prefect" else "plain")
    done = ask(tmp_path, *words, program=program)
    assert (done.status, "Prefect server" in done.err) == (0, False), done.err
    assert "data/gpuledger.toml: not used: hub, store." in done.err
    checked = ask(tmp_path, "doctor", "--offline", program=program)
    assert "export GPULEDGER_HUB=https://evil.example" in checked.out
    assert not (tmp_path / "ran").exists()
