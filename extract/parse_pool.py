"""Pages are parsed in processes that can be ended: a few, started when the first page needs one, and used again.

Unchanged pages come from the cache of what was parsed, so a quiet night starts none.
"""

from __future__ import annotations

import os
import pickle
import queue
import select
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from gpuledger.extract import child
from gpuledger.extract.errors import ExtractError, LayoutChanged
from gpuledger.extract.items import Parsed
from gpuledger.extract.parse_process import LENGTH, WAY_OUT, Order, leaves_locks, too_much
from gpuledger.extract.source import Page, Source

#: Of the machine's own time for one second of the process: a machine that does much else must not fail a page, while a
#: process that waits for nothing and uses no time must not be waited for for ever.
_PATIENCE = 20.0


@dataclass(frozen=True, slots=True)
class Limits:
    """What one page may use: processor time up to a size of 1 MB (larger ones in proportion), memory, and processes."""

    seconds: float = 2.0
    memory_bytes: int = 200_000_000
    processes: int = 2

    def seconds_of(self, source: Source, page: Page) -> float:
        """The processor time that a page of this size may take, or a file of a source whose files are many pages in one."""
        return self.seconds * max(1.0, len(page.content) / 1_000_000) * source.pages_in_one


class ParsePool:
    """Parses pages of sources by name. Safe for threads; use it as a context manager."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        # None stands for a process that is not started. The last one used comes first: it knows the source already.
        self._idle: queue.LifoQueue[_Process | None] = queue.LifoQueue()
        for _ in range(limits.processes):
            self._idle.put(None)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for _ in range(self._limits.processes):
            process = self._idle.get()
            if process is not None:
                process.end()

    def parse(self, source: Source, page: Page) -> list[Parsed]:
        """All that the source reads on the page. Raises ExtractError; LayoutChanged, saying so, where it took too much."""
        return self._carry_out(source, page, None)  # type: ignore[return-value]

    def give_back(self, source: Source, page: Page, target: Path) -> bool:
        """What the source's own `give_back` does. Raises also OSError."""
        return self._carry_out(source, page, target) is True

    def _carry_out(self, source: Source, page: Page, target: Path | None) -> object:
        order = Order(source.name, page, self._limits.seconds_of(source, page), self._limits.memory_bytes, target)
        process = self._idle.get()
        try:
            process = process or _Process()
            answer = process.answer(order)
            if leaves_locks(answer):
                process.end()
                process = None
        except BaseException:
            if process is not None:
                process.end()
            process = None
            raise
        finally:
            self._idle.put(process)
        if answer is None:
            raise LayoutChanged(page.url, too_much(order), WAY_OUT, is_by_content=False)
        if isinstance(answer, ExtractError | OSError):
            raise answer
        return answer


#: Not `-m`: the classes of the messages would be those of another module, `__main__`.
_RUN = "from gpuledger.extract.parse_process import main; main()"


class _Process:
    """One process, and the pipes to and from it."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", _RUN], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, env=child.environment(),
        )  # fmt: skip

    def answer(self, order: Order) -> object:
        """What came of the order, None where the memory did not suffice. Raises LayoutChanged where the process had to be
        ended over it.
        """
        ends = time.monotonic() + order.seconds * _PATIENCE + 60.0
        data = pickle.dumps(order)
        try:
            assert self._process.stdin is not None
            self._process.stdin.write(LENGTH.pack(len(data)) + data)
            self._process.stdin.flush()
            (length,) = LENGTH.unpack(self._read(LENGTH.size, ends))
            return pickle.loads(self._read(length, ends))
        except (EOFError, BrokenPipeError, TimeoutError) as error:
            raise LayoutChanged(order.page.url, self._why(order, error), WAY_OUT, is_by_content=False) from None

    def _why(self, order: Order, error: Exception) -> str:
        size = f"{len(order.page.content)} bytes"
        if isinstance(error, TimeoutError):
            return f"parsing it did not come to an end ({size})"
        status = self._process.wait(10)
        if status == -27:  # SIGPROF: the timer of its processor time
            return f"parsing it took more than {order.seconds:g} s of processor time ({size})"
        return f"the process that parsed it ended with status {status}, perhaps for want of memory ({size})"

    def _read(self, size: int, ends: float) -> bytes:
        assert self._process.stdout is not None
        handle, found = self._process.stdout.fileno(), bytearray()
        while len(found) < size:
            if not select.select([handle], [], [], max(0.0, ends - time.monotonic()))[0]:
                raise TimeoutError
            piece = os.read(handle, min(size - len(found), 1 << 20))
            if not piece:
                raise EOFError
            found += piece
        return bytes(found)

    def end(self) -> None:
        """Kill the process. It holds nothing that would have to be put in order."""
        self._process.kill()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                try:
                    pipe.close()
                except OSError:
                    continue  # what was not written is of no use to a process that is killed
        self._process.wait()
