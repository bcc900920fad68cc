"""Which of the known names did somebody mean who typed another? Imports nothing of ours, so that every room may use it."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable

#: Below this likeness (difflib's ratio) two names are two names.
LIKENESS = 0.75


def near(word: str, known: Iterable[str], *, most: int = 3) -> list[str]:
    """At most `most` of the known names that are close to `word`, the closest first.

    Close is what begins alike, what is written alike, and what holds all of the word's parts. Case, spaces, hyphens and
    underscores do not count. Empty where nothing is close: a far-fetched name is worse than none.
    """
    names = list(known)
    wanted, parts = bare(word), set(_parts(word))
    if not wanted:
        return []
    by_bare: dict[str, str] = {}
    for name in names:
        by_bare.setdefault(bare(name), name)
    if wanted in by_bare:
        return [by_bare[wanted]]
    alike = [by_bare[one] for one in difflib.get_close_matches(wanted, by_bare, n=most, cutoff=LIKENESS)]
    beginning = sorted((name for name in names if len(wanted) > 2 and bare(name).startswith(wanted)), key=len)
    holding = [name for name in names if parts <= set(_parts(name))]
    return list(dict.fromkeys([*beginning, *alike, *holding]))[:most]


def bare(name: str) -> str:
    """Letters and digits of a name, in small letters."""
    return "".join(_parts(name))


def _parts(name: str) -> list[str]:
    return re.findall(r"[^\W_]+", name.lower())
