"""Many cases of one kind in one test: each is tried, and those that fail are named."""

from __future__ import annotations

from collections.abc import Callable, Mapping


def failing(cases: Mapping[str, Callable[[], None]]) -> dict[str, str]:
    """The names of the cases that raise, each with what it raised. There are at least fifty, or it is no test of a kind."""
    assert len(cases) >= 50, len(cases)
    found: dict[str, str] = {}
    for name, case in cases.items():
        try:
            case()
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                raise
            found[name] = f"{type(error).__name__}: {error}"[:300]
    return found
