"""The process that answers one statement for `asked`: the order on its input, the rows or the error on its output."""

from __future__ import annotations

import os
import pickle
import resource
import sys
from pathlib import Path

from gpuledger.warehouse.asked import too_large
from gpuledger.warehouse.errors import WarehouseError
from gpuledger.warehouse.read import bytes_of, reader, user_query

#: Bytes beside the memory that DuckDB may take: the rows as Python has them, its libraries' own, and stacks.
_BESIDE = 512 << 20


def answer() -> None:
    """Answer, and end."""
    data, sql, limits = pickle.load(sys.stdin.buffer)
    try:
        with reader(data) as con:
            allowed = bytes_of(con, limits.memory) + _BESIDE + _taken()
        resource.setrlimit(resource.RLIMIT_DATA, (allowed, allowed))
        found = pickle.dumps(user_query(data, sql, limits))
    except WarehouseError as error:
        found = pickle.dumps(error)
    except MemoryError:
        found = pickle.dumps(too_large(limits))
    sys.stdout.buffer.write(found)
    sys.stdout.buffer.flush()
    os._exit(0)  # a thread of DuckDB's may still be at work on what was interrupted


def _taken() -> int:
    """Bytes of data that this process has now."""
    return int(Path("/proc/self/statm").read_text().split()[5]) * os.sysconf("SC_PAGE_SIZE")
