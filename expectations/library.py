"""Imports Great Expectations without the parts that our checks do not use, and can begin before the first check.

The import is the longest single step of a first night. Nothing else in the night needs its result until a batch is checked.
"""

from __future__ import annotations

import atexit
import gc
import sys
import threading
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import LazyLoader
from types import ModuleType

#: Great Expectations imports these for checks of distributions and their pictures, which we do not use. They take 40% of the
#: time and a third of the memory.
_LAZY = frozenset({"scipy.stats", "altair"})
#: An optional package for tables in databases. Great Expectations works without it, and we only pass frames. It takes a
#: tenth of the time.
_HIDDEN = "sqlalchemy"

_importing = threading.Lock()


def load() -> None:
    """Import Great Expectations, or wait until another thread has imported it."""
    with _importing:
        if "great_expectations" in sys.modules:
            return
        # Nothing that an import creates is ever freed. Searching it for reference cycles takes a quarter of the import's
        # time, and a tenth of a second each time that Python does so later.
        collects = gc.isenabled()
        gc.disable()
        finder = _Later()
        sys.meta_path.insert(0, finder)
        try:
            import great_expectations  # noqa: F401  # this function is for the import alone

            gc.freeze()
            atexit.register(gc.unfreeze)  # other objects that were frozen may need to be finalised at the end
        finally:
            sys.meta_path.remove(finder)
            if collects:
                gc.enable()


def begin() -> None:
    """Import Great Expectations in another thread, while this thread waits for something else."""
    threading.Thread(target=load, name="import of Great Expectations").start()


class _Later:
    """Finds the modules of `_LAZY` and lets Python's `LazyLoader` run each one when it is first used.

    Reports `_HIDDEN` as missing, but only to the thread that made this object, as another thread may import Prefect.
    """

    def __init__(self) -> None:
        self._thread = threading.get_ident()

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname == _HIDDEN and threading.get_ident() == self._thread:
            raise ModuleNotFoundError(name=fullname)
        spec = PathFinder.find_spec(fullname, path, target) if fullname in _LAZY else None
        if spec is not None and spec.loader is not None:
            spec.loader = LazyLoader(spec.loader)
        return spec
