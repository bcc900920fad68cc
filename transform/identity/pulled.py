"""Cards that were taken out of machines and are sold alone: `Alienware RTX 3080 10GB GPU pulled` is no computer."""

from __future__ import annotations

from itertools import pairwise

from gpuledger.transform.identity.reading import Reading
from gpuledger.transform.identity.vocabulary import Vocabulary

_CARDS = frozenset(("card", "cards"))
#: Words that may stand between the name of a line and the name of a chip, besides makers.
_BETWEEN = frozenset(("oem", "genuine", "original", "factory"))


def lines_of_machines(reading: Reading, vocabulary: Vocabulary) -> frozenset[str]:
    """The lines of machines in a title (`alienware`) that only say from which machine the card was taken; empty if there are
    none.

    Such words stand right before the chip's name or behind "from". The title must say that it sells a card, and must have
    nothing else of a machine: no model (`Legion 5`), no processor, no memory size that the card does not have.
    """
    lines = vocabulary.machine_lines & reading.marks
    if not lines or not reading.mentions:
        return frozenset()
    texts = [token.text for token in reading.tokens]
    sold = texts[: _taken_from(texts, lines, vocabulary)]
    name_start = min(mention.start for mention in reading.mentions)
    makers = vocabulary.maker.keys() | vocabulary.board_maker | _BETWEEN
    apart = any(
        word in lines and not makers.issuperset(sold[place + 1 : name_start]) for place, word in enumerate(sold)
    )
    sizes = frozenset().union(*(mention.family.sizes for mention in reading.mentions))
    if name_start >= len(sold) or apart or not reading.sizes <= sizes or not _says_card(sold, vocabulary):
        return frozenset()
    return (
        lines if _of_more_than_a_card(vocabulary).isdisjoint(reading.marks.intersection(sold) - lines) else frozenset()
    )


def _taken_from(texts: list[str], lines: frozenset[str], vocabulary: Vocabulary) -> int:
    """The position of "from" in `from Dell Alienware`; behind it, words name the machine. The end if there is none."""
    for place, word in enumerate(texts):
        behind = (following for following in texts[place + 1 :] if following not in vocabulary.board_maker)
        if word == "from" and next(behind, "") in lines:
            return place
    return len(texts)


def _says_card(texts: list[str], vocabulary: Vocabulary) -> bool:
    """Whether the title has `graphics card`, or a word for graphics and one for parts that were taken out: `GPU pulled`."""
    is_card = any(before in vocabulary.graphics and word in _CARDS for before, word in pairwise(texts))
    return is_card or not (vocabulary.graphics.isdisjoint(texts) or vocabulary.taken_out.isdisjoint(texts))


def _of_more_than_a_card(vocabulary: Vocabulary) -> frozenset[str]:
    machine = vocabulary.computer | vocabulary.laptop | vocabulary.processor | vocabulary.mobile
    beside = vocabulary.computer_after | vocabulary.other | vocabulary.before_count | vocabulary.several
    return machine | beside | vocabulary.accessory_unless_card
