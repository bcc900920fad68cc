"""The item's other fields: what a title leaves open they may settle, and what they contradict is not matched."""

from __future__ import annotations

from dataclasses import dataclass

from gpuledger.transform.identity import part_numbers
from gpuledger.transform.identity.choice import Choice
from gpuledger.transform.identity.choosing import choose
from gpuledger.transform.identity.index import Index
from gpuledger.transform.identity.reader import Reader
from gpuledger.transform.identity.reading import FORM_WORDS, Reading
from gpuledger.transform.identity.resolution import Evidence
from gpuledger.transform.identity.vocabulary import Vocabulary


def settle(choice: Choice, evidence: Evidence, reader: Reader, index: Index, vocabulary: Vocabulary) -> None:
    """Narrow `choice` by the fields of `evidence`, most certain first.

    The chip field and the memory field speak of this card, so they can also contradict the title. A specification text or a
    part number may hold other numbers (a bus width, a whole system's memory): they only settle what is still open.
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


def _by_chip(choice: Choice, field: Choice, text: str) -> None:
    if not field.members or field.conflict:
        return  # "NVIDIA", "AMD": no chip
    why = f"the chip field says {text!r}"
    both = [member for member in choice.members if member in field.members]
    same_family = {mention.family.core for mention in choice.mentions} & {
        mention.family.core for mention in field.mentions
    }
    if not choice.members or (choice.conflict and same_family and not both):
        # Nothing named, or a name that is no card by itself (`RX 5600`, short for RX 5600 XT).
        choice.members, choice.conflict, choice.unknown = list(field.members), None, False
        choice.notes.append(why)
    elif both:
        choice.narrow(both, why)
    else:
        choice.members = choice.members + field.members
        choice.conflict = f"{why}, the title another card"


def _by_memory(choice: Choice, reading: Reading, why: str, *, contradicts: bool) -> None:
    sizes = reading.sizes
    kept = [member for member in choice.members if member.sizes & sizes]
    if sizes and not kept and contradicts and any(member.sizes for member in choice.members):
        choice.conflict = choice.conflict or f"{why}, which it was not sold with or the title contradicts"
    choice.narrow(kept, why)


def _by_type(choice: Choice, reading: Reading, why: str) -> None:
    if len({member.named_type for member in choice.members}) > 1:
        choice.narrow([m for m in choice.members if m.gpu.memory_type in reading.memory_types], why)


def _by_form(choice: Choice, reading: Reading, why: str) -> None:
    """`gpu_1x_h100_sxm5` is an SXM part. A text with two forms (an SXM machine with PCIe slots) says nothing."""
    forms = {FORM_WORDS[mark] for mark in reading.marks if mark in FORM_WORDS}
    if len(forms) == 1:
        choice.narrow([member for member in choice.members if forms <= member.open_words], why)


@dataclass(frozen=True, slots=True)
class _Tools:
    """What a text is read and understood with."""

    reader: Reader
    index: Index
    vocabulary: Vocabulary


def _by_code(choice: Choice, mpn: str, whole: Reading, tools: _Tools) -> None:
    """A maker's part number that names a chip (`GV-N406TEAGLE OC-8GD`) shows that the product is a card, and which."""
    sure = [spelled for spelled, _ in part_numbers.readings(mpn, checks=True)]
    for spelled, maker in part_numbers.readings(mpn):
        reading = tools.reader.read_title(spelled)
        sold = frozenset(size for mention in reading.mentions for size in mention.family.sizes)
        reading.memory += [(size, inside) for size, inside in whole.memory if size in sold]
        coded = choose(reading, tools.index, tools.vocabulary)
        if coded.conflict or not coded.members:
            continue
        both = [member for member in choice.members if member in coded.members]
        why = f"{maker}'s part number says {spelled!r}"
        if both:
            choice.narrow(both, why)
        elif not choice.members:
            choice.members, choice.mentions, choice.conflict, choice.unknown = (
                coded.members,
                coded.mentions,
                None,
                False,
            )
            choice.notes += [why, *coded.notes]
        elif spelled in sure:
            choice.members, choice.conflict = choice.members + coded.members, f"{why}, the title another card"
        else:
            continue
        choice.coded = True
        return


def _by_text(choice: Choice, reading: Reading, index: Index, vocabulary: Vocabulary, why: str) -> None:
    """A text that names exactly one family names the card; one that names several compares cards."""
    if len({mention.family.core for mention in reading.mentions if not mention.weak}) == 1:
        named = choose(reading, index, vocabulary)
        if named.members and not named.conflict:
            choice.members, choice.conflict, choice.unknown, choice.mentions = (
                named.members,
                None,
                False,
                named.mentions,
            )
            choice.notes += [why, *named.notes]
