"""`python -m gpuledger.extract.charts` reads the bytes of one picture from standard input and prints what it shows."""

from __future__ import annotations

import json
import os
import resource
import sys
from typing import Any

from gpuledger.extract.charts.outcome import MOST_MEMORY, MOST_SECONDS, BadPicture


def main() -> int:
    """Write one line of JSON: `reading`, or `code` and `problem` if the picture cannot be read."""
    # Otherwise each library would start as many threads as there are cores, each with its own memory.
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ[name] = "1"
    resource.setrlimit(resource.RLIMIT_DATA, (MOST_MEMORY, MOST_MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (MOST_SECONDS, MOST_SECONDS))
    content = sys.stdin.buffer.read()
    from gpuledger.extract.charts.picture import pixels

    try:
        picture = pixels(content)
        from gpuledger.extract.charts.read import read_chart
        from gpuledger.extract.charts.words import Reader

        answer: dict[str, Any] = {"reading": read_chart(picture, Reader()).to_json()}
    except BadPicture as error:
        answer = {"code": error.code, "problem": str(error)}
    sys.stdout.write(json.dumps(answer) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
