"""Draw the picture of the README: `make pictures`. It shows the report of the sample, so everybody gets the same picture."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from tools import browser

ROOT = Path(__file__).parents[1]
PICTURE = ROOT / "docs" / "images" / "report.png"
#: The question that it shows: a model of the grid, and a budget.
PLACE = "#/?for=m:qwen3-32b&budget=3000"


def gpuledger(*arguments: str, data: Path) -> None:
    """Run a command. A night of the sample has a source that fails, so its status says nothing."""
    subprocess.run(
        [sys.executable, "-m", "gpuledger.flows.cli", *arguments, "--data-dir", str(data)], cwd=ROOT, check=False
    )


def draw() -> None:
    """Write report.png."""
    with tempfile.TemporaryDirectory() as folder, browser.chromium() as chromium:
        data = Path(folder) / "data"
        for night in ("1", "2"):
            gpuledger("refresh", "--sample", "--night", night, "--engine", "plain", "--quiet", data=data)
        gpuledger("report", str(Path(folder) / "report"), data=data)
        page = chromium.new_page(viewport={"width": 1180, "height": 860}, color_scheme="light")
        page.goto((Path(folder) / "report" / "index.html").as_uri() + PLACE)
        page.screenshot(path=PICTURE)


if __name__ == "__main__":
    if reason := browser.why_not():
        sys.exit(f"no pictures: {reason}")
    draw()
