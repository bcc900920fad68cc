"""Errors of a data directory or a warehouse file. Each message is one line and states the way out."""

from __future__ import annotations

from gpuledger.message import Failure, Message


class WarehouseError(Failure):
    """A data directory or warehouse file cannot be used."""


class NoWarehouse(WarehouseError):
    """Nothing has been published yet in a data directory."""

    def __init__(self, root: object) -> None:
        self._root = root
        super().__init__(Message(
            "no warehouse in {root} yet: run `gpuledger refresh --sample` first to try it with invented prices, or "
            "`gpuledger refresh` for real prices; if the warehouse is in another folder, name that with --data-dir",
            root=root,
        ))  # fmt: skip

    def __reduce__(self) -> tuple[type[NoWarehouse], tuple[object]]:
        """Pickle the argument of `__init__`. By default an exception is pickled with its message, which is another text."""
        return type(self), (self._root,)


class NotAWarehouse(WarehouseError):
    """The file is not a DuckDB file, or not one of ours."""


class NewerWarehouse(NotAWarehouse):
    """The file was written by a newer gpuledger or a newer DuckDB."""


class OlderWarehouse(WarehouseError):
    """The file was written by an older gpuledger: it lacks what a question asks, or holds what cannot be carried over."""


class Locked(WarehouseError):
    """Another run is writing."""


class BadQuery(WarehouseError):
    """The query is not a single reading statement, or DuckDB refuses it."""

    status = 2
