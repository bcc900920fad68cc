"""Notification targets that are kept as Secret blocks on a Prefect server."""

from __future__ import annotations

import logging
from collections.abc import Sequence

_log = logging.getLogger("gpuledger.notify")


def load(names: Sequence[str], loaded: dict[str, str]) -> None:
    """Put the text of each Prefect Secret block into `loaded`; leaves out a block that cannot be loaded."""
    from prefect.blocks.system import Secret

    for name in names:
        try:
            block = Secret.load(name)
            assert isinstance(block, Secret)
            loaded[name] = str(block.get())
        except Exception as error:  # noqa: BLE001
            _log.warning("the Prefect block %s: %s", name, type(error).__name__)
