"""The Chromium of this machine, driven by Playwright: for the browser tests and the pictures of the docs."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Browser

_NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")


def why_not() -> str | None:
    """Why no browser can be driven here, or None where one can."""
    try:
        import playwright  # noqa: F401 - whether it is there
    except ImportError:
        return "playwright is not installed"
    return None if _program() else f"no Chromium is installed; looked for {', '.join(_NAMES)} and at $CHROMIUM"


def _program() -> str | None:
    return os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, _NAMES)), None)


@contextmanager
def chromium() -> Iterator[Browser]:
    """A browser without a window."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=_program(), args=["--no-sandbox"])
        try:
            yield browser
        finally:
            browser.close()
