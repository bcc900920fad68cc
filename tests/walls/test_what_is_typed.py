"""What a person or an agent types, and the files of decisions as an editor leaves them."""

from __future__ import annotations

import functools
import inspect
import math
import re
import resource
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from gpuledger import local_files
from gpuledger.flows import cli
from gpuledger.flows.doors.agent.tools import Tools
from gpuledger.message import Failure
from gpuledger.transform.identity.resolver import MOST_LETTERS, Evidence, Resolver
from gpuledger.warehouse import read
from gpuledger.warehouse.errors import WarehouseError
from gpuledger.warehouse.paths import DataDir
from tests.command import arguments, environment, gpuledger
from tests.nights import Night

#: What a title is made of again and again; reading 20,000 letters of each of the first six took half a second to a second.
PIECES = (
    "지포스 ", "1*1*", "2개 ", "1/2 ", "8x ", "x2 RTX 3090 ", "RTX ", "4090 ", "(", "GeForce RTX 4090 24GB DDR6X ", "\u0301",
    "PC with RTX 4090 and ",
)  # fmt: skip


@pytest.fixture(scope="module")
def resolver() -> Resolver:
    return Resolver.load()


@pytest.mark.parametrize("piece", PIECES)
def test_a_text_that_is_no_title_means_no_card(resolver: Resolver, piece: str) -> None:
    """A page of them kept the night busy for minutes, in the one process that has no limit of time."""
    long = piece * (20_000 // len(piece))
    for title, evidence in ((long, None), ("RTX 4090", Evidence(specs=long)), ("RTX 4090", Evidence(chipset=long))):
        found = resolver.resolve(title, evidence, "newegg")
        assert (found.status, found.rule, found.gpu_id) == ("unmatched", "too long", None)


def test_a_long_title_is_still_read(resolver: Resolver) -> None:
    title = "GeForce RTX 4090 24GB " + "boost " * 600
    assert len(title) < MOST_LETTERS
    assert resolver.resolve(title, source="newegg").gpu == "NVIDIA GeForce RTX 4090"


def test_a_long_name_takes_no_memory_to_look_for(nights: dict[int, Night]) -> None:
    """20,000 letters took 14 GB: a condition for each word, of which DuckDB planned all."""
    limited = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_DATA, (1_500_000_000,) * 2)\n"
        "from gpuledger.flows.cli import main; main()"
    )
    words = ["price", "4090 " * 4000, "--data-dir", str(nights[1].data)]
    done = subprocess.run(
        [sys.executable, "-c", limited, *words],
        env=environment(),
        check=False,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    assert "RTX 4090" in done.stdout


TOO_LITTLE = "too little memory is left; end other programs"


def test_too_little_memory_ends_a_reading_command_with_a_sentence(nights: dict[int, Night]) -> None:
    """From the moment at which the command opens the file it has two megabytes more than its own code takes."""
    limited = """import os, resource
from pathlib import Path
from gpuledger.flows import cli
from gpuledger.flows.doors.agent.tools import Tools
from gpuledger.transform.answers import described
pages = int(Path("/proc/self/statm").read_text().split()[0])
resource.setrlimit(resource.RLIMIT_AS, (pages * os.sysconf("SC_PAGE_SIZE") + 2_000_000,) * 2)
cli.LEAST_MB = 0
cli.main()"""
    done = subprocess.run(
        [sys.executable, "-c", limited, "describe", "--data-dir", str(nights[1].data)],
        env=environment(), check=False, capture_output=True, text=True, timeout=600,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"gpuledger: {DataDir(nights[1].data).published} cannot be read: {TOO_LITTLE}\n"


@pytest.mark.parametrize(
    "words",
    [("value", "sd-512-image-generation"), ("status",), ("sql", "select 1"), ("buy", "--budget", "9"), ("refresh",)],
    ids=lambda words: words[0],
)
def test_a_command_with_too_little_address_space_names_the_limit_and_begins_nothing(
    tmp_path: Path, words: tuple[str, ...]
) -> None:
    for limit_mb in (500, 600, 700, 800, 900, 1000, 1100) if words[0] == "value" else (800,):
        limit = (limit_mb * 1_000_000,) * 2
        done = subprocess.run(
            arguments(*words, data=tmp_path / "data"), env=environment(), check=False, capture_output=True, text=True,
            preexec_fn=functools.partial(resource.setrlimit, resource.RLIMIT_AS, limit),
        )  # fmt: skip
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
        assert f"have {limit_mb:,} MB of address space, and a command needs up to {cli.LEAST_MB:,}: " in done.stderr
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize("memory", ["100KB", "20MB"], ids=["as the file is opened", "in the middle of an answer"])
def test_memory_that_ends_later_is_said_too(
    nights: dict[int, Night], monkeypatch: pytest.MonkeyPatch, memory: str
) -> None:
    monkeypatch.setattr(read, "SESSION", f"{read.SESSION}; SET memory_limit = '{memory}'; SET temp_directory = ''")
    with pytest.raises(WarehouseError, match=TOO_LITTLE) as caught:
        read.query(DataDir(nights[1].data), "SELECT count(*) FROM (SELECT DISTINCT range FROM range(3000000))")
    assert type(caught.value) is WarehouseError, "and not that the file is none"


def test_a_name_beyond_all_names_is_told_from_the_first_letters(nights: dict[int, Night]) -> None:
    """Five million letters, which an agent may send, took six seconds to compare with all names."""
    outcome = gpuledger("price", "a" * 100_000, data=nights[1].data)
    assert outcome.status == 2
    assert f"'{'a' * 60}…'" in outcome.err
    assert len(outcome.err) < 500


def test_what_no_file_could_be_called_is_a_name_that_nobody_knows_or_keeps(tmp_path: Path) -> None:
    """`File name too long` was said of a model, and a card of 9,999 letters was kept."""
    long = "a" * 9999
    known = ("size", f"{long}/{long}"), ("model", "add", f"{long}/b")
    figures = ("memory_gb=24", "--like", "RTX 4090", "--source", "x")
    kept = ("gpu", "add", long, *figures), ("workload", "add", long, "--name", "x", "--unit", "s", "--description", "x")
    kept = (
        *kept,
        ("alias", "add", "x", "not_a_gpu", "--reason", long),
        ("alias", "add", long, "not_a_gpu", "--reason", "x"),
    )
    measured = ("measure", "add", "sd-512-image-generation", "9", "--gpu", "rtx 4090")
    kept = (*kept, (*measured, "--by", long), (*measured, "--software", long), (*measured[:-1], f"rtx 4090 {long}"))
    for words in (*known, *kept, ("pull", f"https://{long}/")):
        outcome = gpuledger(*words, data=tmp_path, env={"GPULEDGER_OFFLINE": "true"})
        assert (outcome.status, outcome.out) == (1 if words[0] == "measure" else 2, "")
        assert "File name too long" not in outcome.err
        assert words not in kept or re.search("has at most 2(00|,000) letters|is no GPU", outcome.err)
    assert not [*tmp_path.iterdir()]


def test_a_name_in_another_coding_is_said_to_be_none(nights: dict[int, Night]) -> None:
    """As a terminal in CP949 gives `지포스`; it was a traceback."""
    outcome = gpuledger("price", "\udcc1\udcf6\udcc6\udcf7", data=nights[1].data)
    assert (outcome.status, outcome.out) == (2, "")
    assert "no UTF-8" in outcome.err


def test_a_file_that_windows_wrote_is_read_or_said_to_be_no_utf_8(tmp_path: Path) -> None:
    file = tmp_path / "gpuledger.toml"
    file.write_text('# 설정\nhome_market = "kr"\n', "utf-8-sig")
    assert local_files.read_toml(file) == {"home_market": "kr"}
    for other in ("utf-16", "utf-16-be", "utf-32", "cp949"):
        file.write_text('# 설정\nhome_market = "kr"\n', other)
        with pytest.raises(ValueError, match="save it as UTF-8"):
            local_files.read_toml(file)


@pytest.mark.parametrize(
    "coding",
    [
        "ascii",
        "cp949",
        *(pytest.param(one, marks=pytest.mark.slow_combination) for one in ("latin-1", "euc-kr", "cp1252")),
    ],
)
def test_a_letter_that_the_terminal_has_not_ends_no_command(coding: str) -> None:
    """`LANG=ko_KR.EUC-KR` and a German title were a traceback."""
    done = subprocess.run(
        [sys.executable, "-m", "gpuledger.flows.cli", "resolve", "지포스 RTX 4090 “für” ₩ 日本 ²"],
        env=environment({"PYTHONIOENCODING": coding}), check=False, capture_output=True, timeout=600,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, b"")
    assert b'"candidates": ["nvidia-geforce-rtx-4090"]' in done.stdout


#: The commands that calculate with numbers, each with what else it needs.
CALCULATE = {
    "buy": ["--model", "qwen3-32b"],
    "size": ["qwen3-32b"],
    "predict": ["qwen3-32b", "--gpu", "rtx 4090"],
}


@pytest.mark.parametrize("name", CALCULATE)
def test_no_number_that_is_typed_ends_in_a_traceback(name: str, nights: dict[int, Night]) -> None:
    command = cli.cli.get_command(click.Context(cli.cli), name)
    assert command is not None
    options = [p.opts[0] for p in command.params if isinstance(p.type, click.types.IntRange | click.types.FloatRange)]
    assert options
    for option in options:
        for number in ("nan", "inf", "-inf", "1e300", "1e-300", "-1", "9" * 400):
            words = [name, *CALCULATE[name], f"{option}={number}", "--data-dir", str(nights[1].data)]
            done = CliRunner().invoke(cli.cli, words)
            assert done.exception is None or isinstance(done.exception, SystemExit | click.ClickException), words


@pytest.mark.parametrize("tool", ["buy", "size"])
def test_no_number_of_an_agent_ends_in_a_traceback(tool: str, nights: dict[int, Night]) -> None:
    ask = Tools(DataDir(nights[1].data), cli.cli).all()[tool]
    numbers = [
        p.name.removesuffix("_") for p in inspect.signature(ask).parameters.values()
        if re.search(r"\b(int|float)\b", str(p.annotation))
    ]  # fmt: skip
    assert numbers
    for name in numbers:
        for number in (math.nan, math.inf, 1e300, 1e-300, 10**400):
            with suppress(click.ClickException, Failure, WarehouseError):  # those that the server says in a sentence
                assert {"rows", "options"} & ask(**({"model": "qwen3-32b"} | {name: number})).keys()
