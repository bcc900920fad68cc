"""Is the product a card at all? Brackets, water blocks, computers, laptops, enclosures and lots of cards are not."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from gpuledger.transform.identity import purposes, text
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
#: Words of lines and forms that stand beside a chip's name (R9 Fury X, H100 SXM5 HGX), and what separates names.
_OF_NAMES = frozenset((*FORM_WORDS, *OPEN_WORDS, *",/|", "r5", "r7", "r9", "maxq", "s"))


@dataclass(frozen=True, slots=True)
class NotACard:
    """What the product is instead, and the words that say so."""

    kind: Kind
    words: tuple[str, ...]

    def __str__(self) -> str:
        what = _KINDS[self.kind]
        return f"{what}, by the words {', '.join(self.words)}" if self.words else what


def not_a_card(reading: Reading, title: str, words: Vocabulary, *, chip_field: bool = False) -> NotACard | None:
    """What the product is where it is not a card; None where nothing speaks against a card.

    `chip_field`: another field of the item names its chip, so a title without one (`Zotac Twin Fan`) speaks of no accessory.
    """
    marks: Set[str] = reading.marks
    found: Set[str]
    if found := marks & words.broken:
        return _found("broken", found)
    if marks & words.broken_triggers and any(phrase in text.normalise(title) for phrase in words.broken_phrases):
        return NotACard("broken", ())
    if found := marks & words.enclosure:
        return _found("enclosure", found)
    if found := (marks & words.service) | _service_phrase(reading, title, words):
        return _found("service", found)
    if found := purposes.for_a_card(reading, words) or _accessory(reading, words, chip_field=chip_field):
        return _found("accessory", found)
    # A plain look into the title is cheaper than words: hardly any has it.
    lower = title.lower()
    if "box" in lower and any(phrase in lower for phrase in words.enclosure_boxes):
        return NotACard("enclosure", ())
    if not reading.mentions and any(phrase in lower for phrase in words.enclosure_phrases):
        return NotACard("enclosure", ())
    if (found := marks & words.computer) and not (found <= words.computer_on_cards and _sold_as_a_card(reading, words)):
        return _found("computer", found)
    if found := marks & words.other:
        return _found("other", found)
    if (found := (marks & words.laptop) | _laptop_series(reading, words)) and not is_bare(reading, words):
        # "RTX 4090 Laptop GPU" is a chip's name; with any other word, the product is the laptop.
        return _found("laptop", found)
    if found := (marks & words.processor) | _computer_phrase(reading, words):
        return _found("computer", found)
    if reading.mentions and (found := marks & words.several):
        return _found("several", found)
    return None


def shows_a_card(reading: Reading, words: Vocabulary) -> bool:
    """Whether anything but the chip's name says card: a memory size, a board maker, the word; or nothing else is there.

    A title such as `Razer Blade 16 RTX 4090` names the chip too, and what it sells costs more than the card.
    """
    return bool(
        reading.sizes or reading.memory_types or reading.marks & words.board_maker or reading.marks & words.graphics
    ) or is_bare(reading, words)


def _found(kind: Kind, words: Set[str]) -> NotACard:
    return NotACard(kind, tuple(sorted(words)))


def _accessory(reading: Reading, words: Vocabulary, *, chip_field: bool) -> frozenset[str]:
    marks: Set[str] = reading.marks
    named = bool(reading.mentions) or chip_field
    if found := marks & words.accessory:
        return frozenset(found)
    purpose = marks & words.purpose
    maybe = marks & words.accessory_unless_card
    if maybe:
        if purpose or not named:
            return frozenset(maybe | purpose)
        first = _before_the_name(reading) & maybe - _OF_COOLERS
        if not chip_field and first and (not reading.sizes or first & _begins_with(reading, words)):
            return frozenset(first)
        if not chip_field and not reading.sizes and (maybe - words.common_on_cards or not marks & words.board_maker):
            return frozenset(maybe)
    if (found := marks & words.accessory_maker) and not (named and marks & words.board_maker and not purpose):
        return frozenset(found)
    return frozenset()


def _service_phrase(reading: Reading, title: str, words: Vocabulary) -> frozenset[str]:
    """`extended warranty`, `protection plan`: each word alone stands on cards too."""
    if not reading.marks & words.service_triggers:
        return frozenset()
    plain = text.normalise(title)
    return frozenset(phrase for phrase in words.service_phrases if phrase in plain)


#: Words for fans, which stand before the chip's name on cards too: `ASUS Dual Fan RTX 4060`.
_OF_COOLERS = frozenset(("fan", "fans", "cooler", "lufter", "luefter", "wentylator", "ventilateur", "thermal", "kit"))


def _before_the_name(reading: Reading) -> frozenset[str]:
    """The words before the chip's name: `GPU backplate RTX 3090` is one, `RTX 3090 with metal backplate` a card."""
    start = min((mention.start for mention in reading.mentions), default=0)
    return frozenset(token.text for token in reading.tokens[:start])


def _begins_with(reading: Reading, words: Vocabulary) -> frozenset[str]:
    """The words before the first maker or chip: `Power cable MSI RTX 4090 24GB` sells one, `MSI RTX 4090 with cable` not."""
    texts = [token.text for token in reading.tokens]
    end = min((mention.start for mention in reading.mentions), default=0)
    makers = words.board_maker | words.maker.keys()
    return frozenset(texts[: next((number for number in range(end) if texts[number] in makers), end)])


def _laptop_series(reading: Reading, words: Vocabulary) -> frozenset[str]:
    """`MSI Katana 15`: a series that its maker sells as laptops."""
    # `MSI GTX TITAN X` is a card; `MSI Titan 18 RTX 4090` a laptop.
    only = len({mention.family.core for mention in reading.mentions}) == 1
    named = {number for mention in reading.mentions for number in range(mention.start, mention.end)} if only else set()
    for maker in reading.marks & words.laptop_series.keys():
        found = words.laptop_series[maker].intersection(
            token.text for number, token in enumerate(reading.tokens) if number not in named
        )
        if found:
            return found | {maker}
    return frozenset()


def _sold_as_a_card(reading: Reading, words: Vocabulary) -> bool:
    marks = reading.marks
    return bool(
        marks & words.board_maker and reading.sizes and marks & words.graphics and not marks & words.before_count
    )


def _computer_phrase(reading: Reading, words: Vocabulary) -> frozenset[str]:
    """`gaming pc`, `custom rig`: each word alone stands on cards too."""
    if not reading.marks & words.computer_after:
        return frozenset()
    texts = [token.text for token in reading.tokens]
    for before, word in pairwise(texts):
        if word in words.computer_after and before in words.computer_before:
            return frozenset((before, word))
    return frozenset()


def is_bare(reading: Reading, words: Vocabulary) -> bool:
    """Whether the title is nothing but a chip's name: only then can it mean a laptop's or a processor's GPU by itself."""
    # What else belongs to a chip's name: its suffixes, its line, its form.
    own = {word for mention in reading.mentions for word in mention.family.suffixes}
    extra = reading.marks - words.plain - words.mobile - words.graphics - words.maker.keys() - _OF_NAMES - own
    if "edition" in reading.marks:
        extra -= {"workstation"}  # an edition of a card; by itself the word is a computer's
    return not reading.noise and not extra
