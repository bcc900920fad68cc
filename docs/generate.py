"""Write the generated parts of the documents: `python docs/generate.py`, or `--check` to say whether they are stale.

The answer that the README shows is what the sample's first night gives, so it cannot promise what the program does not do.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
WORKLOAD = "sd-512-image-generation"
#: The READMEs by the language of the answer that they show.
READMES = {"en": ROOT / "README.md", "ko": ROOT / "README.ko.md"}


def value_table(language: str = "en") -> str:
    """What `make demo` prints, as a block of text."""
    words = ["value", WORKLOAD] if language == "en" else ["--lang", language, "value", WORKLOAD]
    with tempfile.TemporaryDirectory() as data:
        gpuledger = [sys.executable, "-m", "gpuledger.flows.cli"]
        refresh = ["refresh", "--sample", "--night", "1", "--engine", "plain", "--quiet", "--data-dir", data]
        subprocess.run([*gpuledger, *refresh], cwd=ROOT, check=True)
        shown = subprocess.run(
            [*gpuledger, *words, "--data-dir", data], cwd=ROOT, check=True, capture_output=True, text=True
        )
    lines = "\n".join(line.rstrip() for line in shown.stdout.splitlines())
    return f"```text\n$ gpuledger {' '.join(words)}\n{lines}\n```"


def fill(text: str, name: str, content: str) -> str:
    """`text` with the block between the marks of `name` replaced. ValueError where the marks are not there."""
    marked = re.compile(rf"(<!-- generated: {name} -->\n).*?(<!-- /generated -->)", re.DOTALL)
    if not marked.search(text):
        raise ValueError(f"there is no block 'generated: {name}'")
    return marked.sub(lambda found: f"{found[1]}{content}\n{found[2]}", text)


def main() -> int:
    """Write, or with `--check` compare; 1 where something is stale."""
    stale = False
    for language, readme in READMES.items():
        before = readme.read_text(encoding="utf-8")
        after = fill(before, "value", value_table(language))
        stale = stale or before != after
        if "--check" not in sys.argv:
            readme.write_text(after, encoding="utf-8")
    return int(stale and "--check" in sys.argv)


if __name__ == "__main__":
    sys.exit(main())
