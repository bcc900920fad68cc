"""The import of Great Expectations leaves out what no check uses, and what is left out can still be had."""

from __future__ import annotations

import subprocess
import sys

import pytest

SCRIPT = """
import sys
from gpuledger.expectations import library
from gpuledger.expectations.contract import Check
from gpuledger.expectations.suite import ROW, run

library.begin()  # and the first check waits for it
check = Check(kind="offer", rule="between", column="price", arguments={"min": 1}, on_failure="reject", reason="it costs")
assert [finding.rows for finding in run({ROW: [0, 1], "price": [0.0, 2.0]}, [check])] == [(0,)]
assert not [finder for finder in sys.meta_path if type(finder).__module__ == library.__name__]

# Parts that only the modules themselves import.
unused = ["scipy.stats._stats_py", "altair.vegalite", "sqlalchemy"]
assert not [name for name in unused if name in sys.modules]
"""

USED = """
from scipy import stats
import altair
import sqlalchemy

assert stats.norm.cdf(0) == 0.5
assert altair.Chart.__name__ == "Chart"
assert str(sqlalchemy.text("SELECT 1"))
assert all(name in sys.modules for name in unused)
"""


def runs(script: str) -> None:
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_what_no_check_uses_is_not_imported() -> None:
    runs(SCRIPT)


@pytest.mark.slow_combination
def test_what_no_check_uses_is_imported_when_it_is_used() -> None:
    runs(SCRIPT + USED)
