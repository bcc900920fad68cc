"""Write each pinned package that some other one asks for with extras a second time, with them: `lock_extras.py LOCK`.

pip takes `sqlalchemy` and `sqlalchemy[asyncio]` for two requirements and, when it must check hashes, refuses the one of them
that the lock does not name, wherever the newest release is not the pinned one.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

#: Package with the extras that it is asked for, where its newest release is held back.
EXTRAS = {"sqlalchemy": "asyncio"}


def main() -> None:
    """Rewrite the lock in place."""
    lock = Path(sys.argv[1])
    text = lock.read_text(encoding="utf-8")
    for package, extra in EXTRAS.items():
        entry = re.search(rf"^{package}==.*?(?=^[a-z0-9])", text, re.MULTILINE | re.DOTALL)
        assert entry is not None, f"{package} is not in {lock}"
        twin = entry[0].replace(f"{package}==", f"{package}[{extra}]==", 1)
        text = text[: entry.end()] + twin + text[entry.end() :]
    lock.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
