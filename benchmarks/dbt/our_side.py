"""Our side: `python -m benchmarks.dbt.our_side FILE`. Each line of the standard input is `true` for a full build and `false`
for one of what changed; each answer says what it took within this process: the file opened, the models read, built, closed.
"""

from __future__ import annotations

import json
import sys
import time
from importlib.metadata import version

import duckdb

from benchmarks.dbt import project
from gpuledger.transform.build import graph
from gpuledger.transform.build import run as build


def main() -> None:
    """Answer until the input ends."""
    print(json.dumps({name: version(name) for name in ("duckdb", "pandas")}), flush=True)
    for line in sys.stdin:
        started = time.perf_counter()
        built = _build(sys.argv[1], force=json.loads(line))
        print(json.dumps({"seconds": time.perf_counter() - started, "built": built}), flush=True)


def _build(file: str, *, force: bool) -> int:
    """Build as a night does, in one transaction; the number of models that were built."""
    with duckdb.connect(file, config=project.SETTINGS) as con:
        con.execute("BEGIN")
        done = build.build(con, project.built(graph.load(con)), "benchmark", force=force)
        con.execute("COMMIT")
    return sum(step.action == "rebuilt" for step in done)


if __name__ == "__main__":
    main()
