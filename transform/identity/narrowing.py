"""What else in a title tells the cards of one name apart: maker, architecture, form factor, memory."""

from __future__ import annotations

from gpuledger.transform.identity import naming
from gpuledger.transform.identity.choice import Choice
from gpuledger.transform.identity.family import Member
from gpuledger.transform.identity.reading import ARCHITECTURES, FORM_WORDS, Reading

_TELLING = frozenset(FORM_WORDS) | {"pro", "quadro", "gtx"}


def by_words(choice: Choice, reading: Reading) -> None:
    """By maker, architecture and form factor. A stated architecture that no card of the name has is a conflict."""
    if reading.makers:
        made_by = ", ".join(sorted(reading.makers))
        kept = [m for m in choice.members if m.maker in reading.makers]
        if not kept and choice.members:  # `NVIDIA RTX PRO 5500` is no Radeon Pro 5500
            choice.conflict, choice.unknown = f"{made_by} makes no such card", True
        choice.narrow(kept, f"made by {made_by}")
    stated = {"ada" if word == "lovelace" else word for word in reading.marks & ARCHITECTURES}
    if stated:
        kept = [m for m in choice.members if m.architecture in stated]
        if not kept:
            choice.conflict = f"{', '.join(sorted(stated))} is not its architecture"
        choice.narrow(kept, f"architecture {', '.join(sorted(stated))}")
    # FirePro M4000 is a laptop's part whose name does not say so, Quadro M4000 a card.
    choice.narrow([m for m in choice.members if m.gpu.segment != "mobile"], "sold as a card")
    if "vega" in reading.marks and not any("Vega" in m.name for m in choice.members):
        choice.conflict = choice.conflict or "vega is not its name"  # Radeon Pro Vega II Duo is no Radeon Pro Duo
    forms = {FORM_WORDS[mark] for mark in reading.marks & FORM_WORDS.keys()}
    if {"sxm", "pcie"} <= forms and all(any(form in m.open_words for m in choice.members) for form in ("sxm", "pcie")):
        choice.conflict = "states SXM and PCIe"  # a module on a board with the other plug
    for word in sorted({FORM_WORDS.get(mark, mark) for mark in reading.marks & _TELLING}):
        choice.narrow([m for m in choice.members if word in m.open_words], f"{word} stands in the title")


def by_whole_name(choice: Choice, reading: Reading) -> None:
    """Of cards of two makers, the one whose whole name is the word: `A40` is NVIDIA's, since Intel's is an Arc Pro A40."""
    if len({m.maker for m in choice.members}) < 2 or reading.marks & {"arc", "pro", "radeon"}:
        return
    whole = [m for m in choice.members if " " not in m.name]
    choice.narrow(whole, "the whole name of a card, and of the others a part")


def by_memory(choice: Choice, reading: Reading) -> None:
    """By memory size and, where a card's name has it, memory type. A stated size that none was sold with is a conflict."""
    sizes = reading.sizes
    if reading.memory_types and all(m.gpu.segment == "data_center" for m in choice.members):
        # "H100 80GB HBM3" is the SXM part. On other cards shops are careless with the type, so it decides nothing there.
        kept = [m for m in choice.members if m.gpu.memory_type in reading.memory_types]
        choice.narrow(kept, f"memory type {', '.join(sorted(reading.memory_types))}")
    if sizes:
        kept = [m for m in choice.members if m.sizes & sizes]
        stated = " and ".join(naming.memory_text(size) for size in sorted(sizes))
        if not kept and any(m.sizes for m in choice.members):
            choice.conflict = f"states {stated}, which it was not sold with"
        choice.narrow(kept, f"memory {stated}")
    named = {m.named_type for m in choice.members}
    if len(named) > 1:
        if reading.memory_types:
            kept = [m for m in choice.members if m.named_type in reading.memory_types]
            kept = kept or [m for m in choice.members if _may_have(m, reading.memory_types)]
            if not kept:
                choice.conflict = f"states {', '.join(sorted(reading.memory_types))}, which it was not sold with"
            choice.narrow(kept, f"memory type {', '.join(sorted(reading.memory_types))}")
        else:
            # The variant carries its type in its name; the name without it is the first version.
            choice.narrow(
                [m for m in choice.members if m.named_type is None],
                "no memory type stated: the version that has none in its name",
            )


def _may_have(member: Member, types: set[str]) -> bool:
    """Whether a card with no type in its name was sold with one of `types`, as far as we know."""
    return member.named_type is None and (member.gpu.memory_type is None or member.gpu.memory_type in types)
