"""Finds the known names that somebody may have meant by an unknown name.

This module imports no other module of the program, so that every package may use it.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable

#: Names with a lower similarity (difflib's ratio) are not close.
LIKENESS = 0.75


def names_like(word: str, known: Iterable[str], *, most: int = 3) -> list[str]:
    """At most `most` of the known names that are close to `word`, the closest first. Empty if no name is close.

    A name is close if it begins with `word`, if it is spelt similarly, or if it has all parts of `word`. Case, spaces,
    hyphens and underscores do not count. An empty list is better than a far-fetched name.
    """
    names = list(known)
    bare_word, parts = bare(word), set(_parts(word))
    if not bare_word:
        return []
    by_bare: dict[str, str] = {}
    for name in names:
        by_bare.setdefault(bare(name), name)
    if bare_word in by_bare:
        return [by_bare[bare_word]]
    alike = [by_bare[bare_name] for bare_name in difflib.get_close_matches(bare_word, by_bare, n=most, cutoff=LIKENESS)]
    beginning = sorted((name for name in names if len(bare_word) > 2 and bare(name).startswith(bare_word)), key=len)
    holding = [name for name in names if parts <= set(_parts(name))]
    return list(dict.fromkeys([*beginning, *alike, *holding]))[:most]


def bare(name: str) -> str:
    """The letters and digits of a name, in lower case."""
    return "".join(_parts(name))


def _parts(name: str) -> list[str]:
    return re.findall(r"[^\W_]+", name.lower())
