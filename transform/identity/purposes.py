"""Finds out if a title says what the product is for: a title with `… for ASUS RTX 4090 24GB` sells something else."""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from gpuledger.transform.identity.reading import Reading
from gpuledger.transform.identity.vocabulary import Vocabulary
from gpuledger.transform.identity.words import Token

_CARDS = frozenset(("card", "cards"))
#: Words that may stand between "for" and a chip's name, besides makers.
_BEFORE_A_NAME = frozenset((*_CARDS, "the", "your", "with", "graphics", "gpu", "video", "vga"))
#: The end of a word, which a Korean syllable may follow: `R750용`.
_END = r"(?![A-Za-z\d])"


def for_a_card(reading: Reading, vocabulary: Vocabulary) -> frozenset[str]:
    """The words that say that the product is for the named card; empty if there are none.

    They stand before the name or behind it (`RTX 4090 24GB용 …`). `Graphics card for NVIDIA RTX 3060` and `RTX 3060 for
    gaming` are cards themselves.
    """
    tokens = [token.text for token in reading.tokens]
    if vocabulary.purpose.isdisjoint(tokens):
        return frozenset()
    for mention in reading.mentions:
        start, end = mention.start, mention.end
        while start and (tokens[start - 1] in vocabulary.board_maker | vocabulary.maker.keys() | _BEFORE_A_NAME):
            start -= 1
        is_for = start > 0 and tokens[start - 1] in vocabulary.purpose - vocabulary.purpose_behind
        # The word before "for" is the product sold. If "for" begins the title, any other word may be the product.
        sold = tokens[start - 2 : start - 1] if start > 1 else tokens
        if is_for and (vocabulary.graphics | _CARDS).isdisjoint(sold):
            return frozenset((tokens[start - 1],))
        while end < len(tokens) and _is_of_memory(reading.tokens[end]):
            end += 1
        if tokens[end : end + 1] and tokens[end] in vocabulary.purpose_behind:
            return frozenset((tokens[end],))
    return frozenset()


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
    behind = vocabulary.purpose_behind
    return _patterns(vocabulary.machines, vocabulary.purpose - behind | {"für"}, behind)


def _is_of_memory(token: Token) -> bool:
    """Whether a token is part of a memory size or type, such as the `24` of `24GB용`. Other words say what the card is for:
    `Mac용`.
    """
    return bool(token.memory or token.memory_type or token.text.isdigit() or token.text == "gb")
