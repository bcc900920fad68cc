"""The process that parses pages one after the other. The system kills it if a page takes too much.

The bytes of a page come from strangers. This module limits what they can make any parser do. A timer limits the processor
time: its signal ends the process, even in the middle of a C library. A limit on the address space limits the memory. The
process knows no secrets, because `parse_pool` starts it with an environment of its own.
"""

from __future__ import annotations

import os
import resource
import signal
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path

from gpuledger.errors import ExtractError, LayoutChanged, described
from gpuledger.extract import source as sources
from gpuledger.extract.collect import parse_page
from gpuledger.extract.source import Page, Source


@dataclass(frozen=True, slots=True)
class Order:
    """A page to parse. With `target`, write the unreadable rows of the page to that path instead."""

    source: str
    page: Page
    seconds: float
    memory_bytes: int
    target: Path | None = None


def main(handle: int) -> None:
    """Take orders from the connection at this handle until it ends, and answer each with its result or its failure.

    The answer None means that the memory did not suffice, perhaps not even for a message. It is the last answer.
    """
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    with Connection(handle) as orders, suppress(EOFError):
        while True:
            answer = _carried_out(orders.recv())
            orders.send(answer)
            if leaves_locks(answer):
                return


def leaves_locks(answer: object) -> bool:
    """Whether the process must not be used again after this answer.

    If memory or stack run out in the middle of an XPath, lxml (6.0 and before) keeps the lock of the compiled expression,
    and the next page would wait for it for ever.
    """
    return answer is None or (isinstance(answer, ExtractError) and RecursionError.__name__ in answer.seen)


def _carried_out(order: Order) -> object:
    source = sources.get(order.source)
    sources.load_parser(order.source)  # before the limits, as its imports must not count for the page
    free = resource.getrlimit(resource.RLIMIT_AS)
    used = int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    resource.setrlimit(resource.RLIMIT_AS, (used + order.memory_bytes, free[1]))
    signal.setitimer(signal.ITIMER_PROF, order.seconds)
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
    except Exception as error:  # noqa: BLE001  every failure of a page is an answer
        return LayoutChanged(order.page.url, described(error), is_by_content=False)


#: What to do about a page whose process was ended.
REMEDY = "look at the archived page; raise page_timeout_s or page_memory_mb in the settings if it is really this large"


def too_much(order: Order) -> str:
    """The message for a page that used up its memory."""
    return f"parsing it took more than {order.memory_bytes // 1_000_000} MB of memory ({len(order.page.content)} bytes)"
