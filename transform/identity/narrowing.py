"""Narrows the cards of one name by other words of the title: maker, architecture, form factor, memory."""

from __future__ import annotations

from gpuledger.transform.identity import naming
from gpuledger.transform.identity.choice import Choice
from gpuledger.transform.identity.family import Member
from gpuledger.transform.identity.reading import ARCHITECTURES, FORM_WORDS, Reading

_TELLING = frozenset(FORM_WORDS) | {"pro", "quadro", "gtx"}
#: Sockets of server modules, which names of cards have too: the V100 was made for SXM2 and for SXM3.
_SOCKETS = frozenset(("sxm2", "sxm3", "sxm4", "sxm5", "sxm6"))


def by_words(choice: Choice, reading: Reading) -> None:
    """Narrow by maker, architecture and form factor. An architecture that no card of the name has is a conflict."""
    if reading.makers:
        made_by = ", ".join(sorted(reading.makers))
        remaining = [m for m in choice.members if m.maker in reading.makers]
        if not remaining and choice.members:  # `NVIDIA RTX PRO 5500` is no Radeon Pro 5500
            choice.conflict, choice.unknown = f"{made_by} makes no such card", True
        choice.narrow(remaining, f"made by {made_by}")
    stated = {"ada" if word == "lovelace" else word for word in reading.marks & ARCHITECTURES}
    if stated:
        remaining = [m for m in choice.members if m.architecture in stated]
        if not remaining:
            choice.conflict = f"{', '.join(sorted(stated))} is not its architecture"
        choice.narrow(remaining, f"architecture {', '.join(sorted(stated))}")
    # FirePro M4000 is a laptop part, though its name does not show it; Quadro M4000 is a card.
    choice.narrow([m for m in choice.members if m.gpu.segment != "mobile"], "sold as a card")
    if "vega" in reading.marks and not any("Vega" in m.name for m in choice.members):
        choice.conflict = choice.conflict or "vega is not its name"  # Radeon Pro Vega II Duo is no Radeon Pro Duo
    forms = {FORM_WORDS[mark] for mark in reading.marks & FORM_WORDS.keys()}
    if {"sxm", "pcie"} <= forms and all(any(form in m.open_words for m in choice.members) for form in ("sxm", "pcie")):
        choice.conflict = (
            "states SXM and PCIe"  # an SXM module on an adapter board, or a card with a word of the other kind
        )
        return
    if exact := reading.marks & _SOCKETS:
        named = [m for m in choice.members if not exact.isdisjoint(m.name.lower().split())]
        choice.narrow(named, f"{', '.join(sorted(exact))} stands in the title")
    for word in sorted({FORM_WORDS.get(mark, mark) for mark in reading.marks & _TELLING}):
        choice.narrow([m for m in choice.members if word in m.open_words], f"{word} stands in the title")


def by_whole_name(choice: Choice, reading: Reading) -> None:
    """Of cards of two makers, keep the one whose whole name is the word: `A40` is NVIDIA's; Intel's is an Arc Pro A40."""
    if len({m.maker for m in choice.members}) < 2 or reading.marks & {"arc", "pro", "radeon"}:
        return
    whole = [m for m in choice.members if " " not in m.name]
    choice.narrow(whole, "the whole name of a card, and of the others a part")


def by_memory(choice: Choice, reading: Reading) -> None:
    """Narrow by memory size, and by memory type if it is part of a card's name. A size that no card has is a conflict."""
    sizes = reading.sizes
    if reading.memory_types and all(m.gpu.segment == "data_center" for m in choice.members):
        # "H100 80GB HBM3" is the SXM part. On other cards shops often state a wrong type, so it decides nothing there.
        remaining = [m for m in choice.members if m.gpu.memory_type in reading.memory_types]
        choice.narrow(remaining, f"memory type {', '.join(sorted(reading.memory_types))}")
    if sizes:
        remaining = [m for m in choice.members if m.sizes & sizes]
        stated = " and ".join(naming.memory_text(size) for size in sorted(sizes))
        if not remaining and any(m.sizes for m in choice.members):
            choice.conflict = f"states {stated}, which it was not sold with"
        choice.narrow(remaining, f"memory {stated}")
    named_types = {m.named_type for m in choice.members}
    if len(named_types) > 1:
        if reading.memory_types:
            remaining = [m for m in choice.members if m.named_type in reading.memory_types]
            remaining = remaining or [m for m in choice.members if _may_have(m, reading.memory_types)]
            if not remaining:
                choice.conflict = f"states {', '.join(sorted(reading.memory_types))}, which it was not sold with"
            choice.narrow(remaining, f"memory type {', '.join(sorted(reading.memory_types))}")
        else:
            # A later variant has its memory type in its name. The name without a type means the first version.
            choice.narrow(
                [m for m in choice.members if m.named_type is None],
                "no memory type stated: the version that has none in its name",
            )


def _may_have(member: Member, types: set[str]) -> bool:
    """Whether a card without a memory type in its name may have one of `types`: it has it, or we do not know its type."""
    return member.named_type is None and (member.gpu.memory_type is None or member.gpu.memory_type in types)
