"""The process that answers one statement for `bounded_query`. It reads the statement and the limits from its input, and
writes the rows or the error to its output.
"""

from __future__ import annotations

import os
import pickle
import resource
import sys
from pathlib import Path

from gpuledger.warehouse.bounded_query import too_large
from gpuledger.warehouse.errors import WarehouseError
from gpuledger.warehouse.read import bytes_of, reader, user_query

#: Bytes in addition to the memory that DuckDB may take: for the rows in Python, for libraries, and for stacks.
_BESIDE = 512 << 20


def answer() -> None:
    """Answer the statement, and end the process."""
    data, sql, limits = pickle.load(sys.stdin.buffer)
    try:
        with reader(data) as con:
            allowed = bytes_of(con, limits.memory) + _BESIDE + _data_bytes()
        resource.setrlimit(resource.RLIMIT_DATA, (allowed, allowed))
        pickled_answer = pickle.dumps(user_query(data, sql, limits))
    except WarehouseError as error:
        pickled_answer = pickle.dumps(error)
    except MemoryError:
        pickled_answer = pickle.dumps(too_large(limits))
    sys.stdout.buffer.write(pickled_answer)
    sys.stdout.buffer.flush()
    os._exit(0)  # a thread of DuckDB may still be at work on the interrupted query


def _data_bytes() -> int:
    """Bytes of data that this process has now."""
    return int(Path("/proc/self/statm").read_text().split()[5]) * os.sysconf("SC_PAGE_SIZE")
