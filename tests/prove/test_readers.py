"""Four readers who open, ask and close without pause while versions are published: every answer is whole.

`READERS_S=600` for ten minutes.
"""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest

from tests.support import readers_beside


@pytest.mark.slow
def test_every_answer_is_whole(record_property: Callable[[str, object], None]) -> None:
    found = readers_beside.measured(seconds=float(os.environ.get("READERS_S", "0")), publishes=3)
    assert not found.failures
    assert found.mixed == 0
    assert found.has_kept
    assert found.answers > 0
    record_property("tried", found.answers)
