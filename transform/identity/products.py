"""Decides if a product is a card. Brackets, water blocks, computers, laptops, enclosures and lots of cards are not."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from gpuledger.transform.identity import pulled, purposes, text
from gpuledger.transform.identity.family import OPEN_WORDS
from gpuledger.transform.identity.reading import FORM_WORDS, Reading
from gpuledger.transform.identity.vocabulary import Vocabulary

Kind = Literal["accessory", "service", "enclosure", "computer", "laptop", "other", "broken", "several"]


_KINDS: dict[Kind, str] = {
    "accessory": "an accessory",
    "service": "a service",
    "enclosure": "an external enclosure",
    "computer": "a computer",
    "laptop": "a laptop or a maker's computer",
    "other": "another product",
    "broken": "broken, partial or empty",
    "several": "more than one card",
}
_CARDS = frozenset(("card", "cards"))
#: Words of lines and forms that stand beside a chip's name (R9 Fury X, H100 SXM5 HGX), and the signs between names.
_OF_NAMES = frozenset((*FORM_WORDS, *OPEN_WORDS, *",/|", "r5", "r7", "r9", "maxq", "s"))


@dataclass(frozen=True, slots=True)
class NotACard:
    """The kind of a product that is not a card, and the words that show it."""

    kind: Kind
    evidence: tuple[str, ...]

    def __str__(self) -> str:
        what = _KINDS[self.kind]
        return f"{what}, by the words {', '.join(self.evidence)}" if self.evidence else what


def not_a_card(reading: Reading, title: str, vocabulary: Vocabulary, *, chip_field: bool = False) -> NotACard | None:
    """What the product is if it is not a card; None if nothing speaks against a card.

    `chip_field`: another field of the item names its chip, so a title without a chip (`Zotac Twin Fan`) can still be a card.
    """
    marks: Set[str] = reading.marks - pulled.lines_of_machines(reading, vocabulary) - _sizes_of_names(reading)
    evidence: Set[str]
    if evidence := marks & vocabulary.broken:
        return _not_a_card("broken", evidence)
    if marks & vocabulary.broken_triggers and any(
        phrase in text.normalise(title) for phrase in vocabulary.broken_phrases
    ):
        return NotACard("broken", ())
    if evidence := marks & vocabulary.enclosure:
        return _not_a_card("enclosure", evidence)
    if evidence := (marks & vocabulary.service) | _service_phrase(reading, title, vocabulary):
        return _not_a_card("service", evidence)
    if evidence := purposes.for_a_card(reading, vocabulary) or _accessory(reading, vocabulary, chip_field=chip_field):
        return _not_a_card("accessory", evidence)
    # Searching the plain text is cheaper than comparing words, and hardly any title has these.
    lower = title.lower()
    if "box" in lower and any(phrase in lower for phrase in vocabulary.enclosure_boxes):
        return NotACard("enclosure", ())
    if not reading.mentions and any(phrase in lower for phrase in vocabulary.enclosure_phrases):
        return NotACard("enclosure", ())
    if (evidence := marks & vocabulary.computer) and not (
        evidence <= vocabulary.computer_on_cards and _sold_as_a_card(reading, vocabulary)
    ):
        return _not_a_card("computer", evidence)
    if evidence := marks & vocabulary.other:
        return _not_a_card("other", evidence)
    if (evidence := (marks & vocabulary.laptop) | _laptop_series(reading, vocabulary)) and not is_bare(
        reading, vocabulary
    ):
        # "RTX 4090 Laptop GPU" is a chip's name. With any other word the product is the laptop.
        return _not_a_card("laptop", evidence)
    if evidence := (marks & vocabulary.processor) | _computer_phrase(reading, vocabulary):
        return _not_a_card("computer", evidence)
    if reading.mentions and (evidence := marks & vocabulary.several):
        return _not_a_card("several", evidence)
    return None


def shows_a_card(reading: Reading, vocabulary: Vocabulary) -> bool:
    """Whether the title shows that it sells a card: by a memory size, a board maker, a word for graphics, or by having
    nothing but the chip's name.

    A title such as `Razer Blade 16 RTX 4090` names the chip too, but sells something that costs more than the card.
    """
    return bool(
        reading.sizes
        or reading.memory_types
        or reading.marks & vocabulary.board_maker
        or reading.marks & vocabulary.graphics
    ) or is_bare(reading, vocabulary)


def _not_a_card(kind: Kind, evidence: Set[str]) -> NotACard:
    return NotACard(kind, tuple(sorted(evidence)))


def _accessory(reading: Reading, vocabulary: Vocabulary, *, chip_field: bool) -> frozenset[str]:
    marks: Set[str] = reading.marks
    has_chip = bool(reading.mentions) or chip_field
    if evidence := marks & vocabulary.accessory:
        return frozenset(evidence)
    purpose = marks & vocabulary.purpose
    maybe = marks & vocabulary.accessory_unless_card
    if maybe:
        if purpose or not has_chip or _replaced(reading, maybe):
            return frozenset(maybe | purpose)
        first = _before_the_name(reading) & maybe - _OF_COOLERS
        if not chip_field and first and (not reading.sizes or first & _begins_with(reading, vocabulary)):
            return frozenset(first)
        if (
            not chip_field
            and not reading.sizes
            and (behind := _right_behind(reading, vocabulary) & maybe - _NAMED_ON_CARDS)
        ):
            return behind
        if (
            not chip_field
            and not reading.sizes
            and (maybe - vocabulary.common_on_cards or not marks & vocabulary.board_maker)
        ):
            return frozenset(maybe)
    if (evidence := marks & vocabulary.accessory_maker) and not (
        has_chip and marks & vocabulary.board_maker and not purpose
    ):
        return frozenset(evidence)
    return frozenset()


def _service_phrase(reading: Reading, title: str, vocabulary: Vocabulary) -> frozenset[str]:
    """Phrases such as `extended warranty` and `protection plan`. Titles of cards also have each of their words alone."""
    if not reading.marks & vocabulary.service_triggers:
        return frozenset()
    plain = text.normalise(title)
    return frozenset(phrase for phrase in vocabulary.service_phrases if phrase in plain)


#: Words for coolers, which titles of cards also have before the chip's name: `ASUS Dual Fan RTX 4060`.
_OF_COOLERS = frozenset(("fan", "fans", "cooler", "lufter", "luefter", "wentylator", "ventilateur", "thermal", "kit"))


#: Words that titles of cards also have right behind the chip's name: `RTX 3060 Fan x2`, `RTX 4090 12VHPWR`.
_NAMED_ON_CARDS = _OF_COOLERS | {"12v", "12vhpwr", "ventilador", "쿨링팬", "connector", "connectors", "pad", "panel"}


def _replaced(reading: Reading, parts: Set[str]) -> bool:
    """Whether the title sells a replacement for one of `parts` of a card: `RTX 4090 24GB fan replacement`."""
    texts = [token.text for token in reading.tokens]
    return any(word == "replacement" and before in parts for before, word in pairwise(texts))


def _right_behind(reading: Reading, vocabulary: Vocabulary) -> frozenset[str]:
    """The words right behind the chip's name, after words for graphics and "card".

    `RTX 4090 backplate ASUS` sells a backplate, but `RTX 4090 metal backplate` a card. `RTX 3070 graphics card heatsink`
    sells a heatsink.
    """
    words_behind = set()
    for end in {mention.end for mention in reading.mentions}:
        behind = (token.text for token in reading.tokens[end:])
        words_behind.add(next((word for word in behind if word not in vocabulary.graphics and word not in _CARDS), ""))
    return frozenset(words_behind)


def _before_the_name(reading: Reading) -> frozenset[str]:
    """The words before the chip's name: `GPU backplate RTX 3090` is a backplate, `RTX 3090 with metal backplate` a card."""
    start = min((mention.start for mention in reading.mentions), default=0)
    return frozenset(token.text for token in reading.tokens[:start])


def _begins_with(reading: Reading, vocabulary: Vocabulary) -> frozenset[str]:
    """The words before the first maker or chip. `Power cable MSI RTX 4090 24GB` sells a cable, `MSI RTX 4090 with cable` a
    card.
    """
    texts = [token.text for token in reading.tokens]
    end = min((mention.start for mention in reading.mentions), default=0)
    makers = vocabulary.board_maker | vocabulary.maker.keys()
    return frozenset(texts[: next((number for number in range(end) if texts[number] in makers), end)])


def _laptop_series(reading: Reading, vocabulary: Vocabulary) -> frozenset[str]:
    """The maker and the series if the title names a series that its maker sells as laptops, such as `MSI Katana 15`."""
    # `MSI GTX TITAN X` is a card; `MSI Titan 18 RTX 4090` a laptop.
    only = len({mention.family.core for mention in reading.mentions}) == 1
    name_positions = (
        {number for mention in reading.mentions for number in range(mention.start, mention.end)} if only else set()
    )
    for maker in reading.marks & vocabulary.laptop_series.keys():
        series = vocabulary.laptop_series[maker].intersection(
            token.text for number, token in enumerate(reading.tokens) if number not in name_positions
        )
        if series:
            return series | {maker}
    return frozenset()


def _sizes_of_names(reading: Reading) -> frozenset[str]:
    """Memory sizes of the cards that the title names, as words: the 480 GB of a GH200 are not the size of a drive."""
    return frozenset(f"{size:g}gb" for mention in reading.mentions for size in mention.family.sizes)


def _sold_as_a_card(reading: Reading, vocabulary: Vocabulary) -> bool:
    marks = reading.marks
    return bool(
        marks & vocabulary.board_maker
        and reading.sizes
        and marks & vocabulary.graphics
        and not marks & vocabulary.before_count
    )


def _computer_phrase(reading: Reading, vocabulary: Vocabulary) -> frozenset[str]:
    """Phrases such as `gaming pc` and `custom rig`. Titles of cards also have each of their words alone."""
    if not reading.marks & vocabulary.computer_after:
        return frozenset()
    texts = [token.text for token in reading.tokens]
    for before, word in pairwise(texts):
        if word in vocabulary.computer_after and before in vocabulary.computer_before:
            return frozenset((before, word))
    return frozenset()


def is_bare(reading: Reading, vocabulary: Vocabulary) -> bool:
    """Whether the title has nothing but a chip's name. Only then can it mean the GPU of a laptop or a processor alone."""
    # The suffixes of a chip, its line and its form belong to its name too.
    own = {word for mention in reading.mentions for word in mention.family.suffixes}
    extra = (
        reading.marks
        - vocabulary.plain
        - vocabulary.mobile
        - vocabulary.graphics
        - vocabulary.maker.keys()
        - _OF_NAMES
        - own
    )
    if "edition" in reading.marks:
        extra -= {"workstation"}  # an edition of a card; without "edition" the word means a computer
    return not reading.noise and not extra
