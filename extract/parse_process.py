"""The process in which pages are parsed: it takes one page after the other, and the system ends it where one takes too much.

A page is strangers' bytes. What it can make a parser do is bounded here and not in each parser: the processor time by a
timer whose signal ends the process, in the middle of a C library too, and the memory by a limit on its address space. The
process knows no secret: `parse_pool` starts it with an environment of its own.
"""

from __future__ import annotations

import os
import pickle
import resource
import signal
import struct
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from gpuledger.extract import source as sources
from gpuledger.extract.collect import parse_page
from gpuledger.extract.errors import ExtractError, LayoutChanged, described
from gpuledger.extract.source import Page, Source

#: Before each message: its length in bytes.
LENGTH = struct.Struct(">Q")


@dataclass(frozen=True, slots=True)
class Order:
    """A page to parse, or, with `target`, one whose rows that could not be read are to be written there."""

    source: str
    page: Page
    seconds: float
    memory_bytes: int
    target: Path | None = None


def main() -> None:
    """Take orders from standard input until it ends; answer each on standard output with what came of it, or its failure.

    The answer None, the last, says that the memory did not suffice: there may be none left for a sentence either.
    """
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints is no answer
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    while (order := receive(sys.stdin.buffer)) is not None:
        assert isinstance(order, Order)
        answer = _carried_out(order)
        send(answers, answer)
        if leaves_locks(answer):
            return


def leaves_locks(answer: object) -> bool:
    """Whether the process must not be used again.

    Where memory or stack ended in the middle of an XPath, lxml (6.0 and before) keeps the lock of the compiled expression:
    the next page would wait for it for ever.
    """
    return answer is None or (isinstance(answer, ExtractError) and RecursionError.__name__ in answer.seen)


def _carried_out(order: Order) -> object:
    source = sources.get(order.source)
    sources.load_parser(order.source)  # before the limits: its imports are ours, and not the page's
    free = _limit(order)
    try:
        return _read(source, order)
    except MemoryError:
        return None
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        resource.setrlimit(resource.RLIMIT_AS, free)


def _read(source: Source, order: Order) -> object:
    try:
        if order.target is None:
            return parse_page(source, order.page)
        return source.give_back(order.page, order.target) if source.give_back else False
    except MemoryError:
        raise
    except ExtractError as error:
        return None if "MemoryError" in error.seen else error
    except OSError as error:
        return error
    except Exception as error:  # noqa: BLE001  whatever a page does is an answer
        return LayoutChanged(order.page.url, described(error), is_by_content=False)


def _limit(order: Order) -> tuple[int, int]:
    """Bound what the page may use from here on; returns the limits of memory that held before."""
    free = resource.getrlimit(resource.RLIMIT_AS)
    used = int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    resource.setrlimit(resource.RLIMIT_AS, (used + order.memory_bytes, free[1]))
    signal.setitimer(signal.ITIMER_PROF, order.seconds)
    return free


#: What to do about a page that was ended.
WAY_OUT = "look at the archived page; raise page_timeout_s or page_memory_mb in the settings if it is really this large"


def too_much(order: Order) -> str:
    """Why a page was ended that used up its memory."""
    return f"parsing it took more than {order.memory_bytes // 1_000_000} MB of memory ({len(order.page.content)} bytes)"


def send(to: BinaryIO, message: object) -> None:
    """Write one message."""
    data = pickle.dumps(message)
    to.write(LENGTH.pack(len(data)) + data)
    to.flush()


def receive(source: BinaryIO) -> object | None:
    """The next message, None at the end."""
    head = source.read(LENGTH.size)
    if len(head) < LENGTH.size:
        return None
    return pickle.loads(source.read(*LENGTH.unpack(head)))  # type: ignore[no-any-return]
