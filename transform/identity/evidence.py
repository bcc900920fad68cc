"""Uses the other fields of an item. They may decide what its title leaves open, and a title that they contradict is not
matched.
"""

from __future__ import annotations

from dataclasses import dataclass

from gpuledger.transform.identity import part_numbers
from gpuledger.transform.identity.choosing import Choice, choose
from gpuledger.transform.identity.index import Index
from gpuledger.transform.identity.reader import Reader
from gpuledger.transform.identity.reading import FORM_WORDS, Reading
from gpuledger.transform.identity.resolution import Evidence
from gpuledger.transform.identity.vocabulary import Vocabulary


def settle(choice: Choice, evidence: Evidence, reader: Reader, index: Index, vocabulary: Vocabulary) -> None:
    """Narrow `choice` by the fields of `evidence`, the most certain field first.

    The chip field and the memory field are about this card, so they can also contradict the title. A specification text or a
    part number may have other numbers in it (a bus width, the memory of a whole system), so it only decides what is still
    open.
    """
    if evidence.chipset:
        # Part catalogues write the shader count behind a dash: "Radeon RX 560 - 1024".
        _by_chip(
            choice, choose(reader.read_title(evidence.chipset.split(" - ")[0]), index, vocabulary), evidence.chipset
        )
    if evidence.memory:
        field = f"{evidence.memory} GB" if _is_number(evidence.memory) else evidence.memory
        _by_memory(choice, reader.read_title(field), f"the memory field says {evidence.memory!r}", contradicts=True)
    for name, text in (("part number", evidence.mpn), ("specification", evidence.specs)):
        if not text:
            continue
        reading = reader.read_title(text)
        if text == evidence.mpn:
            _by_code(choice, text, reading, _Tools(reader, index, vocabulary))
        if not choice.members:
            _by_text(choice, reading, index, vocabulary, f"the {name} names it")
        elif len(choice.members) > 1:
            _by_memory(choice, reading, f"by the {name}", contradicts=False)
            _by_type(choice, reading, f"memory type by the {name}")
            _by_form(choice, reading, f"form factor by the {name}")


def _is_number(text: str) -> bool:
    return text.strip().replace(".", "", 1).isdigit()


def _by_chip(choice: Choice, chip_choice: Choice, text: str) -> None:
    if not chip_choice.members or chip_choice.conflict:
        return  # "NVIDIA", "AMD": no chip
    why = f"the chip field says {text!r}"
    shared = [member for member in choice.members if member in chip_choice.members]
    same_family = {mention.family.core for mention in choice.mentions} & {
        mention.family.core for mention in chip_choice.mentions
    }
    if not choice.members or (choice.conflict and same_family and not shared):
        # The title names nothing, or a name that is no card by itself (`RX 5600`, short for RX 5600 XT).
        choice.members, choice.conflict, choice.unknown = list(chip_choice.members), None, False
        choice.notes.append(why)
    elif shared:
        choice.narrow(shared, why)
    else:
        choice.members = choice.members + chip_choice.members
        choice.conflict = f"{why}, the title another card"


def _by_memory(choice: Choice, reading: Reading, why: str, *, contradicts: bool) -> None:
    sizes = reading.sizes
    remaining = [member for member in choice.members if member.sizes & sizes]
    if sizes and not remaining and contradicts and any(member.sizes for member in choice.members):
        choice.conflict = choice.conflict or f"{why}, which it was not sold with or the title contradicts"
    choice.narrow(remaining, why)


def _by_type(choice: Choice, reading: Reading, why: str) -> None:
    if len({member.named_type for member in choice.members}) > 1:
        choice.narrow([m for m in choice.members if m.gpu.memory_type in reading.memory_types], why)


def _by_form(choice: Choice, reading: Reading, why: str) -> None:
    """Narrow by form factor: `gpu_1x_h100_sxm5` is an SXM part. A text with two forms (an SXM machine with PCIe slots)
    decides nothing.
    """
    forms = {FORM_WORDS[mark] for mark in reading.marks if mark in FORM_WORDS}
    if len(forms) == 1:
        choice.narrow([member for member in choice.members if forms <= member.open_words], why)


@dataclass(frozen=True, slots=True)
class _Tools:
    """The objects that are needed to read a text."""

    reader: Reader
    index: Index
    vocabulary: Vocabulary


def _by_code(choice: Choice, mpn: str, whole: Reading, tools: _Tools) -> None:
    """Narrow by a maker's part number that names a chip (`GV-N406TEAGLE OC-8GD`). It shows that the product is a card."""
    reliable = [spelled for spelled, _ in part_numbers.readings(mpn, checks=True)]
    for spelled, maker in part_numbers.readings(mpn):
        reading = tools.reader.read_title(spelled)
        sold = frozenset(size for mention in reading.mentions for size in mention.family.sizes)
        reading.memory += [(size, inside) for size, inside in whole.memory if size in sold]
        coded_choice = choose(reading, tools.index, tools.vocabulary)
        if coded_choice.conflict or not coded_choice.members:
            continue
        shared = [member for member in choice.members if member in coded_choice.members]
        why = f"{maker}'s part number says {spelled!r}"
        if shared:
            choice.narrow(shared, why)
        elif not choice.members:
            choice.members, choice.mentions, choice.conflict, choice.unknown = (
                coded_choice.members,
                coded_choice.mentions,
                None,
                False,
            )
            choice.notes += [why, *coded_choice.notes]
        elif spelled in reliable:
            choice.members, choice.conflict = choice.members + coded_choice.members, f"{why}, the title another card"
        else:
            continue
        choice.coded = True
        return


def _by_text(choice: Choice, reading: Reading, index: Index, vocabulary: Vocabulary, why: str) -> None:
    """Take the card from a text that names exactly one family. A text that names several only compares cards."""
    if len({mention.family.core for mention in reading.mentions if not mention.weak}) == 1:
        text_choice = choose(reading, index, vocabulary)
        if text_choice.members and not text_choice.conflict:
            choice.members, choice.conflict, choice.unknown, choice.mentions = (
                text_choice.members,
                None,
                False,
                text_choice.mentions,
            )
            choice.notes += [why, *text_choice.notes]
