"""Machines that are named by their chip, because processor and graphics share the memory: Macs, Strix Halo, DGX Station.

The chip and the size of its memory tell which machine it is.
"""

from __future__ import annotations

import re
from functools import cache

from gpuledger.transform.identity import catalogue, systems, text
from gpuledger.transform.identity.choice import Choice
from gpuledger.transform.identity.family import Member
from gpuledger.transform.identity.gpu import Gpu
from gpuledger.transform.identity.index import MACHINE

#: Apple's chips have names like cards of other makers (M4 is also a Tesla), so the title must have one of these words too.
_MAC = re.compile(r"\b(?:apple|mac|macbook|imac)\b")
_APPLE = re.compile(r"\b(m\d)\s?(pro|max|ultra)?\b(?!\.2)")
#: A word that is neither maker nor chip.
_BESIDE = re.compile(r"\b(?!(?:apple|amd|nvidia|gpu)\b)\w")
#: A size in gigabytes that is not the size of a drive.
_MEMORY = re.compile(r"\b(\d{1,3})\s?gb\b(?!\s?(?:ssd|nvme|hdd|storage|emmc|flash|pcie))")


def choice_in_title(title: str) -> Choice | None:
    """The machines that a title in lower case may mean, by its chip and its memory; None if it names no such chip.

    There are several if the title does not say enough: a Mac without a memory size may be any machine with its chip.
    """
    chip = _chip(title)
    if chip is None:
        return None
    machines = _by_chip().get(chip, [])
    stated = {int(size) for size in _MEMORY.findall(title)}
    return Choice(
        members=[_member(gpu) for gpu in machines if gpu.memory_gb in stated] or [_member(gpu) for gpu in machines]
    )


def choice_in_question(title: str, *, in_a_table: bool) -> Choice | None:
    """The machines that a user's question or a row in a table of results names; None if it names none.

    A question may also be a shop's title. It therefore counts only if it has no words but chip, maker and memory. In a
    table of results other words are allowed, because what the table lists has run on the machine.
    """
    plain = text.normalise(title)
    choice = choice_in_title(plain)
    if choice is None or in_a_table:
        return choice
    beside = _MEMORY.sub(" ", _named().sub(" ", _APPLE.sub(" ", plain)))
    return None if _BESIDE.search(beside) else choice


def _member(gpu: Gpu) -> Member:
    return Member(
        gpu=gpu, name=gpu.name, maker=gpu.vendor, suffixes=frozenset(), open_words=frozenset(), mobile=None,
        sizes=frozenset((gpu.memory_gb,)) if gpu.memory_gb else frozenset(), named_type=None, architecture="",
    )  # fmt: skip


def _chip(title: str) -> str | None:
    if named := _named().search(title):
        return next(chip for chip, pattern in systems.machines() if pattern.fullmatch(named.group()))
    apple = _APPLE.search(title) if _MAC.search(title) else None
    return None if apple is None else " ".join(filter(None, apple.groups()))


@cache
def _named() -> re.Pattern[str]:
    return re.compile("|".join(pattern.pattern for _, pattern in systems.machines()))


@cache
def _by_chip() -> dict[str, list[Gpu]]:
    gpus: dict[str, list[Gpu]] = {}
    for gpu in catalogue.gpus():
        if gpu.form_factor == MACHINE and gpu.chip:
            gpus.setdefault(gpu.chip.lower(), []).append(gpu)
    return gpus
