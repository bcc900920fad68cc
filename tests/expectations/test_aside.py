"""Checks made by another process: the same answers, and it never outlives the one that asked."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress

import psutil
import pytest

from gpuledger.expectations import aside, suite
from gpuledger.expectations.contract import Check
from gpuledger.expectations.errors import AuditBroken
from tests.command import ROOT, environment

TABLE = {suite.ROW: range(4), "a": [1.0, 2.0, 3.0, None], "word": ["one", "two", "two", None]}


def check(rule: str, column: str, **arguments: object) -> Check:
    return Check(
        kind="", rule=rule, column=column, arguments=arguments, on_failure="reject", reason="it is"  # type: ignore[arg-type]
    )  # fmt: skip


@pytest.fixture(scope="module")
def process() -> Iterator[aside._Aside]:
    """A real one, whatever this process has imported."""
    process = aside._Aside()
    yield process
    process.stop()


def test_another_process_answers_as_this_one_does(process: aside._Aside) -> None:
    checks = [
        check("between", "a", min=2),
        check("unique", "word"),
        check("not_null", "a"),
        check("between", "a", max=9),
    ]
    found = process.ask(TABLE, checks)()
    assert found == suite.run(TABLE, checks)
    assert [finding.rows for finding in found] == [(0,), (1, 2), (3,)]


def test_each_question_has_its_own_answer_in_whatever_order_they_are_waited_for(process: aside._Aside) -> None:
    answers = [process.ask({suite.ROW: range(3), "a": [1, 2, 3]}, [check("between", "a", min=n)]) for n in range(1, 5)]
    assert [len(answer()[0].rows) if answer() else 0 for answer in reversed(answers)] == [3, 2, 1, 0]


def test_a_check_that_cannot_run_is_told_as_it_is_here(process: aside._Aside) -> None:
    broken = [check("between", "word", min=1)]
    with pytest.raises(AuditBroken, match=r"check of word \(between\) could not run") as here:
        suite.run(TABLE, broken)
    with pytest.raises(AuditBroken) as there:
        process.ask(TABLE, broken)()
    assert str(there.value) == str(here.value)
    assert process.ask(TABLE, [check("not_null", "a")])()[0].rows == (3,), "and it goes on answering"


def test_a_process_that_is_killed_breaks_the_audit_and_passes_nothing() -> None:
    process = aside._Aside()
    answer = process.ask(TABLE, [check("not_null", "a")])
    process._process.kill()
    with pytest.raises(AuditBroken, match="the process that checks ended with status -9"):
        answer()
    with pytest.raises(AuditBroken, match="ended with status -9"):
        process.ask(TABLE, [check("not_null", "a")])()
    process.stop()


class _Unreadable:
    def __reduce__(self) -> tuple[type, tuple[str]]:
        return (int, ("not a number",))


def test_a_process_that_cannot_read_its_questions_ends_and_keeps_nobody_waiting() -> None:
    process = aside._Aside()
    assert process._process.stdin is not None
    pickle.dump(_Unreadable(), process._process.stdin)
    process._process.stdin.flush()
    with pytest.raises(AuditBroken, match="ended with status 1"):
        process.ask(TABLE, [check("not_null", "a")])()
    process.stop()


def test_a_column_that_is_not_there_is_told_before_anybody_is_asked() -> None:
    with pytest.raises(AuditBroken, match="name columns that are not there: b"):
        aside.ask(TABLE, [check("not_null", "b")])


def test_nothing_is_started_without_need() -> None:
    script = """
import sys
from gpuledger.expectations import aside
aside.start()
assert aside._BESIDE.aside is None, "nobody wanted it"
with aside.beside(at_once=False):
    assert aside._BESIDE.aside is None, "nothing to check yet"
    aside.start()
    first = aside._BESIDE.aside
    assert first is not None
    aside.start()
    assert aside._BESIDE.aside is first, "one is enough"
    aside.stop()
    aside.start()
    assert aside._BESIDE.aside is None, "there was nothing more to check"
sys.modules["great_expectations"] = sys
with aside.beside(at_once=True):
    assert aside._BESIDE.aside is None, "what is imported here is as near"
"""
    subprocess.run([sys.executable, "-c", script], env=environment(), cwd=ROOT, check=True)


def test_it_ends_with_an_owner_that_is_killed() -> None:
    script = """
import time
from gpuledger.expectations import aside
with aside.beside(at_once=True):
    print(aside._BESIDE.aside._process.pid, flush=True)
    time.sleep(60)
"""
    owner = subprocess.Popen(
        [sys.executable, "-c", script], env=environment(), cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    assert owner.stdout is not None
    pid = int(owner.stdout.readline())
    os.kill(owner.pid, signal.SIGKILL)
    owner.wait()
    owner.stdout.close()
    deadline = time.monotonic() + 30
    with suppress(psutil.NoSuchProcess):
        process = psutil.Process(pid)
        while process.is_running() and process.status() != psutil.STATUS_ZOMBIE:
            assert time.monotonic() < deadline, "it outlives its owner"
            time.sleep(0.02)
