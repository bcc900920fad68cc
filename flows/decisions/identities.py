"""Decides which GPU a title means in one data directory: by the catalogue and its rules, and above them the user's pins."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from gpuledger.transform import identity, seeds
from gpuledger.transform.identity import added_cards as own_gpus
from gpuledger.transform.identity.gpu import Gpu
from gpuledger.transform.identity.pins import PINS, Pin
from gpuledger.transform.seeds.version import version_of
from gpuledger.warehouse.paths import DataDir
from gpuledger.warehouse.schema import hash_text

if TYPE_CHECKING:
    from gpuledger.transform.identity.resolver import Resolver

#: The code and data that decide which GPU a title means.
_FOLDERS = (Path(identity.__file__).parent, Path(seeds.__file__).parent)


@dataclass(frozen=True, slots=True)
class Identities:
    """`resolver` returns the resolver and loads it at the first call, as a night without a new title does not need it.

    `version` changes if the catalogue, an added card, a rule or a pin changes. Then every title is resolved again.
    """

    resolver: Callable[[], Resolver]
    version: str


def packaged_version() -> str:
    """The version of the catalogue and the rules alone, which others have too."""
    return version_of(*_FOLDERS)


def identities_of(data: DataDir) -> Identities:
    """The identities of a data directory. Raises BadRecord if its pins cannot be read."""
    pinned, added = tuple(PINS.all(data.root)), own_gpus.gpus(data.root)
    version = packaged_version()
    if added:
        version = hash_text(version + repr(added))
    if pinned:
        # Only their decisions count: another reason for the same decision changes no title.
        version = hash_text(version + repr(sorted((pin.place, pin.gpu_id) for pin in pinned)))
    return _identities(pinned, added, version)


def resolver_of(data: DataDir) -> Resolver:
    """The resolver of a data directory for one question, without its version, which takes reading every file of rules.

    Raises BadRecord if the pins cannot be read.
    """
    return _loaded(tuple(PINS.all(data.root)), own_gpus.gpus(data.root))


@lru_cache(maxsize=1)
def _identities(pinned: tuple[Pin, ...], added: tuple[Gpu, ...], version: str) -> Identities:
    """One resolver for all nights of a process, because a replay meets new titles on most nights."""
    return Identities(cache(lambda: _loaded(pinned, added)), version)


def _loaded(pinned: tuple[Pin, ...], added: tuple[Gpu, ...]) -> Resolver:
    # Imported here, because a night without a new title needs none of its thirty modules.
    from gpuledger.transform.identity.resolver import Resolver

    return Resolver.load(pinned, added)
