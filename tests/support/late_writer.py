"""A writer in a process of its own, for tests that stop it: `late_writer.py FOLDER STORE`.

It begins, says so, waits for a line, and publishes the run `late`.
"""

from __future__ import annotations

import sys
from pathlib import Path

from gpuledger.flows.night.sharing import writing
from gpuledger.warehouse import publish
from gpuledger.warehouse.errors import WarehouseError
from gpuledger.warehouse.paths import DataDir


def main(folder: str, store: str) -> int:
    data = DataDir(Path(folder), store)
    try:
        with writing(data), publish.workspace(data, "late") as (con, work):
            print("writing", flush=True)  # noqa: T201
            sys.stdin.readline()
            con.execute("INSERT INTO ops.run (run_id) VALUES ('late')")
            publish.publish(con, data, work, "late")
    except WarehouseError as error:
        print(f"{type(error).__name__}: {error}", flush=True)  # noqa: T201
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
