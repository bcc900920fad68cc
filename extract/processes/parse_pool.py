"""Parses pages in processes that can be killed. A few processes are started when pages need them, and used again.

Unchanged pages come from the cache of parsed items, so a quiet night starts no process.
"""

from __future__ import annotations

import queue
from dataclasses import dataclass
from multiprocessing.connection import Pipe
from pathlib import Path
from typing import Self

from gpuledger import child
from gpuledger.errors import ExtractError, LayoutChanged
from gpuledger.extract.processes.parse_process import REMEDY, Order, leaves_locks, too_much
from gpuledger.extract.source import Page, Source
from gpuledger.items import Parsed

#: Seconds of real time that a page may take for each allowed second of processor time. A page must not fail because the
#: machine is busy, but the pool must not wait for ever for a process that hangs without using processor time.
_PATIENCE = 20.0


@dataclass(frozen=True, slots=True)
class Limits:
    """The processor time and memory that one page may use, and the number of processes.

    `seconds` holds for pages of up to 1 MB. Larger pages get more in proportion.
    """

    seconds: float = 2.0
    memory_bytes: int = 200_000_000
    processes: int = 2

    def seconds_of(self, source: Source, page: Page) -> float:
        """The processor time that the page may take. More if it is large, or if the source's files are many pages in one."""
        return self.seconds * max(1.0, len(page.content) / 1_000_000) * source.pages_in_one


class ParsePool:
    """Parses pages of sources by name. Safe for threads; use it as a context manager."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        # None stands for a process that is not started. The last used process comes first, as it has imported the source.
        self._idle: queue.LifoQueue[_Process | None] = queue.LifoQueue()
        for _ in range(limits.processes):
            self._idle.put(None)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        for _ in range(self._limits.processes):
            process = self._idle.get()
            if process is not None:
                process.end()

    def parse(self, source: Source, page: Page) -> list[Parsed]:
        """All items that the source reads on the page. Raises ExtractError, and LayoutChanged if the page took too much."""
        return self._carry_out(source, page, None)  # type: ignore[return-value]

    def give_back(self, source: Source, page: Page, target: Path) -> bool:
        """Call the source's own `give_back`. Also raises OSError."""
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
            raise LayoutChanged(page.url, too_much(order), REMEDY, is_by_content=False)
        if isinstance(answer, ExtractError | OSError):
            raise answer
        return answer


#: Not `-m`, because then the classes of the messages would belong to another module, `__main__`.
_RUN = "from gpuledger.extract.processes.parse_process import main; main({handle})"


class _Process:
    """One process, and the connection to it."""

    def __init__(self) -> None:
        self._orders, theirs = Pipe()
        with theirs:
            handle, nowhere = theirs.fileno(), child.DEVNULL
            self._process = child.start(
                "-c", _RUN.format(handle=handle), pass_fds=[handle], stdin=nowhere, stdout=nowhere, stderr=nowhere
            )

    def answer(self, order: Order) -> object:
        """The result of the order. None if the memory did not suffice. Raises LayoutChanged if the process died or hung."""
        try:
            self._orders.send(order)
            if not self._orders.poll(order.seconds * _PATIENCE + 60.0):
                raise TimeoutError
            return self._orders.recv()
        except (EOFError, OSError) as error:
            raise LayoutChanged(order.page.url, self._why(order, error), REMEDY, is_by_content=False) from None

    def _why(self, order: Order, error: Exception) -> str:
        size = f"{len(order.page.content)} bytes"
        if isinstance(error, TimeoutError):
            return f"parsing it did not come to an end ({size})"
        status = self._process.wait(10)
        if status == -27:  # SIGPROF: the timer of its processor time
            return f"parsing it took more than {order.seconds:g} s of processor time ({size})"
        return f"the process that parsed it ended with status {status}, perhaps for want of memory ({size})"

    def end(self) -> None:
        """Kill the process. It has nothing to clean up."""
        self._process.kill()
        self._orders.close()
        self._process.wait()
