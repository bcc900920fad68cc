"""Machines whose memory processor and graphics share: Macs, computers with Strix Halo. A chip and its memory say which."""

from __future__ import annotations

import re
from functools import cache

from gpuledger.transform.identity import catalogue, text
from gpuledger.transform.identity.choice import Choice
from gpuledger.transform.identity.family import Member
from gpuledger.transform.identity.gpu import Gpu
from gpuledger.transform.identity.index import MACHINE

#: Apple's chips are named like other makers' cards (M4, a Tesla), so a word of Apple's must stand beside them.
_MAC = re.compile(r"\b(?:apple|mac|macbook|imac)\b")
_APPLE = re.compile(r"\b(m\d)\s?(pro|max|ultra)?\b(?!\.2)")
_STRIX_HALO = re.compile(r"\bryzen ai max\s?\+?\s?(?:pro )?395\b")
#: Words that are neither maker nor chip.
_BESIDE = re.compile(r"\b(?!(?:apple|amd|gpu)\b)\w")
#: Gigabytes that are no drive's.
_MEMORY = re.compile(r"\b(\d{1,3})\s?gb\b(?!\s?(?:ssd|nvme|hdd|storage|emmc|flash|pcie))")


def named(title: str) -> Choice | None:
    """The machines that a title in lower case may mean, by chip and the memory that it states; None where it names none.

    Several where it does not say enough: a Mac without its memory may be any of its chip.
    """
    chip = _chip(title)
    if chip is None:
        return None
    found = _by_chip().get(chip, [])
    stated = {int(size) for size in _MEMORY.findall(title)}
    return Choice(members=[_member(gpu) for gpu in found if gpu.memory_gb in stated] or [_member(gpu) for gpu in found])


def asked(title: str, *, in_a_table: bool) -> Choice | None:
    """The machines that a question or a table of results names as what it runs on; None where it names none.

    A question may be a shop's title too, so nothing may stand beside chip, maker and memory; what a table lists ran on it.
    """
    plain = text.normalise(title)
    found = named(plain)
    if found is None or in_a_table:
        return found
    beside = _MEMORY.sub(" ", _STRIX_HALO.sub(" ", _APPLE.sub(" ", plain)))
    return None if _BESIDE.search(beside) else found


def _member(gpu: Gpu) -> Member:
    return Member(
        gpu=gpu, name=gpu.name, maker=gpu.vendor, suffixes=frozenset(), open_words=frozenset(), mobile=None,
        sizes=frozenset((gpu.memory_gb,)) if gpu.memory_gb else frozenset(), named_type=None, architecture="",
    )  # fmt: skip


def _chip(title: str) -> str | None:
    if _STRIX_HALO.search(title):
        return "strix halo"
    apple = _APPLE.search(title) if _MAC.search(title) else None
    return None if apple is None else " ".join(filter(None, apple.groups()))


@cache
def _by_chip() -> dict[str, list[Gpu]]:
    found: dict[str, list[Gpu]] = {}
    for gpu in catalogue.gpus():
        if gpu.form_factor == MACHINE and gpu.chip:
            found.setdefault(gpu.chip.lower(), []).append(gpu)
    return found
