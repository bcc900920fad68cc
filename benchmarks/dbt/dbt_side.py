"""dbt's side, run by dbt's own Python: each line of the standard input is a list of dbt's arguments in JSON, each
answer says what it took within this process. The first answer names the versions.
"""

from __future__ import annotations

import json
import sys
import time
from importlib.metadata import version


def main() -> None:
    """Answer until the input ends."""
    from dbt.cli.main import dbtRunner

    # What dbt prints is for people; the answers are for the benchmark.
    answers, sys.stdout = sys.stdout, sys.stderr
    versions = {name: version(name) for name in ("dbt-core", "dbt-duckdb", "duckdb", "pandas")}
    print(json.dumps(versions), file=answers, flush=True)
    for line in sys.stdin:
        started = time.perf_counter()
        done = dbtRunner().invoke(json.loads(line))
        seconds = time.perf_counter() - started
        nodes = list(getattr(done.result, "results", ()))
        if not done.success:
            messages = [f"{node.node.name}: {node.message}" for node in nodes if node.status != "success"]
            sys.exit(f"dbt failed: {done.exception or '; '.join(messages)}")
        print(json.dumps({"seconds": seconds, "built": len(nodes)}), file=answers, flush=True)


# dbt starts helpers of its own at times, which read this file again.
if __name__ == "__main__":
    main()
