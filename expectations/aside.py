"""Great Expectations in a process of its own, beside the run that asks it.

Importing it holds one core for seconds, in which nothing else in the same process moves. A run starts this process first and
meanwhile fetches, parses and prepares the load on the other core; it asks as soon as it has something to ask, and waits only
where it needs the answer. Without it `ask` answers here, with the same function.

The process lives as long as the pipe to it: when its owner ends, by whatever means, it ends too.
"""

from __future__ import annotations

import gc
import importlib.util
import os
import pickle
import queue
import subprocess
import sys
import threading
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import IO, Any

from gpuledger.expectations import suite
from gpuledger.expectations.contract import Check
from gpuledger.expectations.errors import AuditBroken, ExpectationsError
from gpuledger.expectations.suite import Columns, Finding

Answer = Callable[[], list[Finding]]

#: With this process's own path: it need not be installed where it is found by another.
_SERVE = "import gc, sys; gc.disable(); sys.path[:] = {path!r}; from gpuledger.expectations import aside; aside.serve()"


class _Aside:
    """The process and the questions that it was sent; it answers them in their order. One thread asks and waits."""

    def __init__(self) -> None:
        # A session of its own: Ctrl-C in a terminal is the owner's to answer.
        self._process = subprocess.Popen(
            [sys.executable, "-c", _SERVE.format(path=sys.path)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True,
        )  # fmt: skip
        self._sent = 0
        self._answers: list[list[Finding] | ExpectationsError] = []

    def ask(self, table: Columns, checks: Sequence[Check]) -> Answer:
        assert self._process.stdin is not None
        number = self._sent
        self._sent += 1
        try:
            pickle.dump((table, checks), self._process.stdin, pickle.HIGHEST_PROTOCOL)
            self._process.stdin.flush()
        except BrokenPipeError:
            raise self._ended() from None
        return lambda: self._answer(number)

    def _answer(self, number: int) -> list[Finding]:
        assert self._process.stdout is not None
        while len(self._answers) <= number:
            try:
                self._answers.append(pickle.load(self._process.stdout))
            except (EOFError, pickle.UnpicklingError):
                raise self._ended() from None
        answer = self._answers[number]
        if isinstance(answer, ExpectationsError):
            raise answer
        return answer

    def _ended(self) -> AuditBroken:
        status = self._process.wait()
        killed = "was it killed, or is the machine short of memory? Run it again"
        why = killed if status < 0 else "what it said of that stands above"
        return AuditBroken(f"audit broken: the process that checks ended with status {status}; {why}")

    def stop(self) -> None:
        # It has nothing to finish, and waiting for Python's own way out would take longer than its work.
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            with suppress(BrokenPipeError):
                pipe.close()


class _Beside:
    """Whether this process may have another one check for it, and that one."""

    def __init__(self) -> None:
        self._lock = threading.Lock()  # sources are read side by side
        self.is_wanted = False
        self.aside: _Aside | None = None

    def start(self) -> None:
        with self._lock:
            if self.is_wanted:
                self.is_wanted = False
                if importlib.util.find_spec("great_expectations") is None:  # told here: there it would be a traceback
                    raise ModuleNotFoundError("No module named 'great_expectations'", name="great_expectations")
                self.aside = _Aside()

    def stop(self) -> None:
        with self._lock:
            self.is_wanted = False
            if self.aside is not None:
                self.aside.stop()
                self.aside = None


_BESIDE = _Beside()


@contextmanager
def beside(*, at_once: bool) -> Iterator[None]:
    """While the block runs, checks are made by another process, which begins with it or at `start`.

    One that has imported Great Expectations needs no other.
    """
    _BESIDE.is_wanted = "great_expectations" not in sys.modules
    try:
        if at_once:
            start()
        yield
    finally:
        stop()


def start() -> None:
    """There will be something to check. Outside `beside`, and where the process runs, this does nothing."""
    _BESIDE.start()


def stop() -> None:
    """There is nothing to check, or nothing more: the process ends, and gives its memory back."""
    _BESIDE.stop()


def ask(table: Columns, checks: Sequence[Check]) -> Answer:
    """Ask which of `checks` a table with the column `row` breaks; the answer is waited for when it is called.

    The answer raises AuditBroken where a check cannot run; `ask` does where a check names a column that is not there.
    """
    wanted = suite.asked(table, checks)
    if not wanted:
        return list
    if _BESIDE.aside is not None:
        return _BESIDE.aside.ask(wanted, checks)
    return lambda: suite.run(wanted, checks)


def serve() -> None:
    """Answer what comes in on standard input, until it ends."""
    questions: queue.SimpleQueue[tuple[Columns, Sequence[Check]]] = queue.SimpleQueue()
    # What a library prints must not get between the answers.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    # Read beside the imports: the owner never waits to ask, and where it is gone nothing is finished that nobody wants.
    threading.Thread(target=_read, args=(sys.stdin.buffer, questions.put), daemon=True).start()
    try:
        suite.frames()
    except Exception:  # noqa: BLE001 - whatever keeps the library from being imported
        traceback.print_exc()
        os._exit(1)
    # What was imported stays; looking through it for garbage while it was took a quarter of the time.
    gc.freeze()
    gc.enable()
    while True:
        table, checks = questions.get()
        answer: list[Finding] | ExpectationsError
        try:
            answer = suite.run(table, checks)
        except ExpectationsError as error:
            answer = error
        except Exception as error:  # noqa: BLE001 - the owner must hear of it
            answer = AuditBroken(f"audit broken: {type(error).__name__}: {error}")
        pickle.dump(answer, answers, pickle.HIGHEST_PROTOCOL)
        answers.flush()


def _read(pipe: IO[bytes], put: Callable[[Any], None]) -> None:
    status = 1
    try:
        while True:
            put(pickle.load(pipe))
    except (EOFError, pickle.UnpicklingError):
        status = 0  # the owner is gone
    except Exception:  # noqa: BLE001 - too little memory, for one
        traceback.print_exc()
    finally:
        # Whatever else it was (memory, for one): an owner whose questions nobody reads would wait for ever.
        os._exit(status)
