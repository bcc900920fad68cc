"""Which GPU a title means in one data directory: the catalogue and its rules, and over them the pins of its owner."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

from gpuledger.flows.setup import decisions
from gpuledger.transform.identity import resolver
from gpuledger.transform.identity.pins import Pin
from gpuledger.transform.identity.resolver import Resolver
from gpuledger.transform.seeds import load as seeds
from gpuledger.transform.seeds.version import version_of
from gpuledger.warehouse.paths import DataDir
from gpuledger.warehouse.schema import hash_text

#: Code and data that decide which GPU a title means.
_FOLDERS = (Path(resolver.__file__).parent, Path(seeds.__file__).parent)


@dataclass(frozen=True, slots=True)
class Identities:
    """`resolver` gives the resolver, loaded at the first call: a night without a new title needs none of it.

    `version` is another where the catalogue, a rule or a pin is another: every title is then resolved again.
    """

    resolver: Callable[[], Resolver]
    version: str


def of(data: DataDir) -> Identities:
    """The identities of a data directory. Raises SettingsError where its pins cannot be read."""
    pinned = decisions.pins(data)
    version = version_of(*_FOLDERS)
    if pinned:
        # What they decide only: another reason for the same decision changes no title.
        version = hash_text(version + repr(sorted((pin.place, pin.gpu_id) for pin in pinned)))
    return _identities(pinned, version)


@lru_cache(maxsize=1)
def _identities(pinned: tuple[Pin, ...], version: str) -> Identities:
    """One resolver for all nights of a process: a replay meets new titles on most of them."""
    return Identities(cache(lambda: Resolver.load(pinned)), version)
