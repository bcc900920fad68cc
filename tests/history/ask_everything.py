"""What the reading commands answer about one data directory, on the DuckDB that this process finds.

As a script it takes the directory and the questions as JSON, and prints the answers as JSON.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping

from click.testing import CliRunner

from gpuledger.flows.cli import cli


def answers(data: str, questions: Mapping[str, list[str]]) -> dict[str, list[object]]:
    """Exit status, standard output (the exception where there was one) and standard error by the question's name."""
    found: dict[str, list[object]] = {}
    for name, words in questions.items():
        done = CliRunner().invoke(cli, words, env={"GPULEDGER_DATA_DIR": data})
        is_told = done.exception is None or isinstance(done.exception, SystemExit)
        found[name] = [done.exit_code, done.stdout if is_told else repr(done.exception), done.stderr]
    return found


if __name__ == "__main__":
    sys.stdout.write(json.dumps(answers(sys.argv[1], json.loads(sys.argv[2]))))
