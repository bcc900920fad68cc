"""The import of Great Expectations: what no check of ours uses is put off, and it may begin before the first check.

The import is the longest single step of a first night, and the only one that nothing of the night's own waits for until a
batch is checked.
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

#: What it imports for a check of distributions and for its picture, 40% of the time and a third of the memory. We have none.
_PUT_OFF = frozenset({"scipy.stats", "altair"})
#: An extra of its own, for tables in databases: it does without where that is not installed. We hand frames in. A tenth.
_DONE_WITHOUT = "sqlalchemy"

_importing = threading.Lock()


def load() -> None:
    """Import Great Expectations, or wait until another thread has."""
    with _importing:
        if "great_expectations" in sys.modules:
            return
        # All that an import makes stays: to look through it for circles while it grows is a quarter of the import's time,
        # and each time that Python does so later takes a tenth of a second.
        collects = gc.isenabled()
        gc.disable()
        finder = _Later()
        sys.meta_path.insert(0, finder)
        try:
            import great_expectations  # noqa: F401  # the import is what this is for

            gc.freeze()
            atexit.register(gc.unfreeze)  # what else is in there may want to be taken apart at the end
        finally:
            sys.meta_path.remove(finder)
            if collects:
                gc.enable()


def begin() -> None:
    """Import it in a thread, while this one waits for something else."""
    threading.Thread(target=load, name="import of Great Expectations").start()


class _Later:
    """Finds the modules of `_PUT_OFF`: each is run when something of it is first used, as Python's `LazyLoader` has it.

    Says that `_DONE_WITHOUT` is not there, but to the thread alone that made this: another may be importing Prefect.
    """

    def __init__(self) -> None:
        self._thread = threading.get_ident()

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname == _DONE_WITHOUT and threading.get_ident() == self._thread:
            raise ModuleNotFoundError(name=fullname)
        spec = PathFinder.find_spec(fullname, path, target) if fullname in _PUT_OFF else None
        if spec is not None and spec.loader is not None:
            spec.loader = LazyLoader(spec.loader)
        return spec
