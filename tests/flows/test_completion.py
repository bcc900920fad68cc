"""What the shell completes, asked as bash asks it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.command import environment, gpuledger
from tests.nights import Night


def completed(typed: str, data: Path) -> list[str]:
    """What may stand for the last word of `typed`."""
    env = {
        "COMP_WORDS": typed, "COMP_CWORD": str(typed.count(" ")), "_GPULEDGER_COMPLETE": "bash_complete",
        "GPULEDGER_DATA_DIR": str(data),
    }  # fmt: skip
    said = gpuledger(env=env)
    assert said.err == ""
    return [line.partition(",")[2] for line in said.out.splitlines() if line]


@pytest.mark.parametrize(
    ("typed", "some"),
    [
        ("gpuledger rank sd-5", {"sd-512-image-generation"}),
        ("gpuledger value 512", {"sd-512-image-generation"}),
        ("gpuledger buy --model llama-3-", {"llama-3-70b", "llama-3-8b"}),
        ("gpuledger show 4070-ti-s", {"nvidia-geforce-rtx-4070-ti-super"}),
        ("gpuledger predict --gpu rtx-4070-ti-s", {"nvidia-geforce-rtx-4070-ti-super"}),
        ("gpuledger describe mart.val", {"mart.value"}),
        ("gpuledger rank no-such-workload", set()),
    ],
)
def test_names_of_the_warehouse_are_completed(typed: str, some: set[str], nights: dict[int, Night]) -> None:
    found = completed(typed, nights[1].data)
    assert some <= set(found)
    # A beginning, or that of a word in the middle; nothing else.
    assert all(f"-{typed.split()[-1]}" in f"-{name}" for name in found)


def test_nothing_is_said_where_there_is_no_warehouse(tmp_path: Path) -> None:
    assert completed("gpuledger show 4090", tmp_path) == []
    (tmp_path / "gpuledger.duckdb").write_bytes(b"no database")
    assert completed("gpuledger show 4090", tmp_path) == []


def test_bash_completes_with_the_script_that_it_is_given(nights: dict[int, Night]) -> None:
    program = Path(sys.executable).with_name("gpuledger")
    asked = """
        eval "$(_GPULEDGER_COMPLETE=bash_source "$0")"
        COMP_WORDS=(gpuledger rank sd-5); COMP_CWORD=2
        _gpuledger_completion "$0"; printf '%s\\n' "${COMPREPLY[@]}"
    """
    shell = subprocess.run(
        ["bash", "-c", asked, str(program)], capture_output=True, text=True, check=True,
        env=environment({"GPULEDGER_DATA_DIR": str(nights[1].data)}),
    )  # fmt: skip
    assert shell.stdout.split() == ["sd-512-image-generation"]
