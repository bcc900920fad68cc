"""What the shell completes, asked as bash asks it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.command import environment


def test_bash_completes_commands_and_options_with_the_script_that_it_is_given() -> None:
    program = Path(sys.executable).with_name("gpuledger")
    for words, completed in (("gpuledger ran", "rank"), ("gpuledger rank --as", "--as-of")):
        asked = f"""
            eval "$(_GPULEDGER_COMPLETE=bash_source "$0")"
            COMP_WORDS=({words}); COMP_CWORD={words.count(" ")}
            _gpuledger_completion "$0"; printf '%s\\n' "${{COMPREPLY[@]}}"
        """
        shell = subprocess.run(
            ["bash", "-c", asked, str(program)], capture_output=True, text=True, check=True, env=environment()
        )
        assert shell.stdout.split() == [completed]
