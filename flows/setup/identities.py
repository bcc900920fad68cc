"""Which GPU a title means in one data directory: the catalogue and its rules, and over them the pins of its owner."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from gpuledger.flows.setup import decisions
from gpuledger.transform import identity, seeds
from gpuledger.transform.identity import own as own_gpus
from gpuledger.transform.identity.gpu import Gpu
from gpuledger.transform.identity.pins import Pin
from gpuledger.transform.seeds.version import version_of
from gpuledger.warehouse.paths import DataDir
from gpuledger.warehouse.schema import hash_text

if TYPE_CHECKING:
    from gpuledger.transform.identity.resolver import Resolver

#: Code and data that decide which GPU a title means.
_FOLDERS = (Path(identity.__file__).parent, Path(seeds.__file__).parent)


@dataclass(frozen=True, slots=True)
class Identities:
    """`resolver` gives the resolver, loaded at the first call: a night without a new title needs none of it.

    `version` is another where the catalogue, an added card, a rule or a pin is another: every title is then resolved again.
    """

    resolver: Callable[[], Resolver]
    version: str


def of(data: DataDir) -> Identities:
    """The identities of a data directory. Raises SettingsError where its pins cannot be read."""
    pinned, added = decisions.pins(data), own_gpus.gpus(data.gpus)
    version = version_of(*_FOLDERS)
    if added:
        version = hash_text(version + repr(added))
    if pinned:
        # What they decide only: another reason for the same decision changes no title.
        version = hash_text(version + repr(sorted((pin.place, pin.gpu_id) for pin in pinned)))
    return _identities(pinned, added, version)


def resolver_of(data: DataDir) -> Resolver:
    """The resolver of a data directory for one question: without its version, for which every file of rules is read.

    Raises SettingsError where the pins cannot be read.
    """
    return _loaded(decisions.pins(data), own_gpus.gpus(data.gpus))


@lru_cache(maxsize=1)
def _identities(pinned: tuple[Pin, ...], added: tuple[Gpu, ...], version: str) -> Identities:
    """One resolver for all nights of a process: a replay meets new titles on most of them."""
    return Identities(cache(lambda: _loaded(pinned, added)), version)


def _loaded(pinned: tuple[Pin, ...], added: tuple[Gpu, ...]) -> Resolver:
    # Imported here: a night without a new title needs none of its thirty modules.
    from gpuledger.transform.identity.resolver import Resolver

    return Resolver.load(pinned, added)
