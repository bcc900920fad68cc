"""Draw the pictures of the README: `make pictures`. They show the sample, so everybody gets the same pictures.

Chromium shows the report, and rich writes the output of the terminal. Both need a Chromium on this machine.
"""

from __future__ import annotations

import io
import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.text import Text

from tools import browser

ROOT = Path(__file__).parents[1]
IMAGES = ROOT / "docs" / "images"
WORKLOAD = "sd-512-image-generation"
WIDTH = 116
#: Environment variables that make the output that of a colour terminal of this width.
_ON_A_SCREEN = {
    "TTY_COMPATIBLE": "1", "TERM": "xterm-256color", "COLUMNS": str(WIDTH), "LINES": "60", "COLORTERM": "truecolor",
}  # fmt: skip


def gpuledger(*arguments: str, data: Path) -> str:
    """Run a command and return what it prints on a terminal."""
    done = subprocess.run(
        [sys.executable, "-m", "gpuledger.flows.cli", *arguments, "--data-dir", str(data)],
        cwd=ROOT, env={**os.environ, **_ON_A_SCREEN}, check=False, capture_output=True, text=True,
    )  # fmt: skip
    return done.stdout


def terminal(commands: list[list[str]], data: Path) -> str:
    """An HTML page that shows the commands with their output, in the colours of a terminal."""
    console = Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True)
    for arguments in commands:
        console.print(Text.assemble(("$ ", "bold green"), (shlex.join(["gpuledger", *arguments]), "bold")))
        console.print(Text.from_ansi(gpuledger(*arguments, data=data).rstrip()))
        console.print()
    style = "background:#0d1117;color:#e6edf3;padding:18px 22px;margin:0;font:14px/1.35 'DejaVu Sans Mono',monospace"
    return console.export_html(
        inline_styles=True, code_format=f'<body style="margin:0"><pre style="{style}">{{code}}</pre></body>'
    )


def draw() -> None:
    """Write report.png, report-card.png and terminal.png."""
    with tempfile.TemporaryDirectory() as folder, browser.chromium() as chromium:
        data = Path(folder) / "data"
        for night in ("1", "2"):
            gpuledger("refresh", "--sample", "--night", night, "--engine", "plain", "--quiet", data=data)
        gpuledger("report", str(Path(folder) / "report"), data=data)
        address = (Path(folder) / "report" / "index.html").as_uri()
        page = chromium.new_page(viewport={"width": 1180, "height": 860}, color_scheme="light")
        for name, place in (("report", f"#/?for=w:{WORKLOAD}"), ("report-card", "#/card/nvidia-geforce-rtx-4090")):
            page.goto(address + place)
            page.reload()
            page.screenshot(path=IMAGES / f"{name}.png")
        page.set_content(terminal([["value", WORKLOAD], ["price", "rtx 4070"]], data))
        page.locator("pre").screenshot(path=IMAGES / "terminal.png")


if __name__ == "__main__":
    if reason := browser.why_not():
        sys.exit(f"no pictures: {reason}")
    draw()
