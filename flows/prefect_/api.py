"""The Prefect API that is used: which one Prefect's settings name, and whether it answers.

No file of the current folder is asked: it could name the server that says what a run is to do.

Shown by tests/ops/test_current_folder.py and tests/ops/test_serve.py.
"""

from __future__ import annotations

import http.client
import os
from pathlib import Path
from urllib.parse import urlsplit


def ignore_the_current_folder() -> None:
    """Import Prefect's settings, and let them read no `.env`, prefect.toml or pyproject.toml of the current folder, now or
    later. Prefect has no switch for it.
    """
    home = Path(os.environ.get("PREFECT_HOME") or Path.home() / ".prefect")
    os.environ.setdefault("PREFECT_PROFILES_PATH", str(home.absolute() / "profiles.toml"))
    here = os.open(".", os.O_RDONLY)
    os.chdir("/")  # in which only root writes
    try:
        from prefect.settings.base import PrefectBaseSettings
    finally:
        os.fchdir(here)
        os.close(here)
    kinds = [PrefectBaseSettings]
    for kind in kinds:
        kind.model_config.update(env_file=None, toml_file=[], pyproject_toml_table_header=("no", "such", "table"))  # type: ignore[call-arg]
        kinds.extend(kind.__subclasses__())


def named() -> str:
    """Address of the API that Prefect's settings name, in the environment or a profile; empty if they name none.

    Call `ignore_the_current_folder` before.
    """
    from prefect.settings import PREFECT_API_URL

    return PREFECT_API_URL.value() or ""


def status(api_url: str, path: str = "/health", timeout_s: float = 2.0) -> int | None:
    """HTTP status that the API at `api_url` gives to a request without a credential; None if nobody answers."""
    address = urlsplit(api_url)
    kind = http.client.HTTPSConnection if address.scheme == "https" else http.client.HTTPConnection
    connection = kind(address.netloc, timeout=timeout_s)
    try:
        connection.request("GET", address.path.rstrip("/") + path)
        return connection.getresponse().status
    except (OSError, http.client.HTTPException):
        return None
    finally:
        connection.close()


def answers(api_url: str, timeout_s: float = 2.0) -> bool:
    """Whether an API answers there. One that requires a credential counts as answering."""
    found = status(api_url, timeout_s=timeout_s)
    return found is not None and found < 500
