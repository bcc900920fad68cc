"""Cards that belong to a machine and are sold alone: taken out of it (`Alienware RTX 3080 10GB GPU pulled`), or for it
(`L40S for Dell PowerEdge R750`). Neither is a computer.
"""

from __future__ import annotations

import re
from functools import cache
from itertools import pairwise
from typing import NamedTuple

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


#: The end of a word, which a Korean syllable may follow: `R750용`.
_END = r"(?![A-Za-z\d])"


class Cut(NamedTuple):
    """A title without the words that say which machine its product is for, and its part that names the product."""

    shortened_title: str
    product_part: str


def without_its_machine(title: str, vocabulary: Vocabulary) -> Cut | None:
    """`L40S for Dell PowerEdge R750, 48GB` without `for Dell PowerEdge R750`; None if the title has no such words.

    The caller must check that a card stands before these words: in `Riser for PowerEdge with L40S` none does.
    """
    plain = title.lower()
    if not any(machine in plain for machine in vocabulary.machines):
        return None
    before, behind = _phrases(vocabulary)
    if match := before.search(title):
        return Cut(f"{title[: match.start()]} {title[match.end() :]}", title[: match.start()])
    if match := behind.search(title):
        shortened = f"{title[: match.start()]} {title[match.end() :]}"
        return Cut(shortened, shortened)
    return None


@cache
def _patterns(machines: tuple[str, ...], before: frozenset[str], behind: frozenset[str]) -> tuple[re.Pattern[str], ...]:
    """Two patterns: for a phrase that begins with "for", and for one that ends with it, with the makers and models in it."""
    machine = rf"(?:{'|'.join(machines)}){_END}"
    # A model has letters before its digits, unlike a memory size: R750xa, DL380 Gen10, SR650 V2.
    model = rf"(?:[A-Za-z]{{1,3}}\d{{3,4}}[A-Za-z]{{0,3}}|G\d){_END}"
    models = rf"(?:[\s/,&+]+{model}(?:\s+(?:Gen\s?\d{{1,2}}(?:\.\d)?|V\d|Plus)\b)*)*"
    maker = r"(?:(?:the|your|use|in|with|mit|avec|con|dell|emc|hpe|hp|lenovo|ibm|supermicro|fujitsu|cisco)[\s/]+)*"
    last = r"(?:\s+(?:rack |tower )?(?:servers?|workstations?)\b)?"
    for_ = "|".join(sorted(before))
    follows = "|".join(sorted(behind, key=len, reverse=True))
    return (
        re.compile(rf"[,(-]?\s*\b(?:{for_})\s+{maker}{machine}{models}{last}\)?", re.IGNORECASE),
        re.compile(
            rf"(?:(?:dell|델|hpe?|lenovo)\s+)?\b{machine}{models}\s*(?:서버)?(?:{follows})(?!\w)", re.IGNORECASE
        ),
    )


def _phrases(vocabulary: Vocabulary) -> tuple[re.Pattern[str], ...]:
    return _patterns(vocabulary.machines, vocabulary.purpose_before | {"für"}, vocabulary.purpose_behind)
