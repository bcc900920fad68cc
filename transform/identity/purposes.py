"""What a title says the product is for: `… for ASUS RTX 4090 24GB` sells no card, whatever it sells."""

from __future__ import annotations

from gpuledger.transform.identity.reading import Reading
from gpuledger.transform.identity.vocabulary import Vocabulary
from gpuledger.transform.identity.words import Token

_CARDS = frozenset(("card", "cards"))
#: May stand between "for" and a chip's name, beside makers.
_BEFORE_A_NAME = frozenset((*_CARDS, "the", "your", "with", "graphics", "gpu", "video", "vga"))


def for_a_card(reading: Reading, vocabulary: Vocabulary) -> frozenset[str]:
    """The words that say it is for the card that it names, before the name or behind it (`RTX 4090 24GB용 …`); else none.

    `Graphics card for NVIDIA RTX 3060` is one, and so is `RTX 3060 for gaming`.
    """
    tokens = [token.text for token in reading.tokens]
    if vocabulary.purpose.isdisjoint(tokens):
        return frozenset()
    for mention in reading.mentions:
        start, end = mention.start, mention.end
        while start and (tokens[start - 1] in vocabulary.board_maker | vocabulary.maker.keys() | _BEFORE_A_NAME):
            start -= 1
        is_for = start > 0 and tokens[start - 1] in vocabulary.purpose - vocabulary.purpose_behind
        # What stands before the "for" is sold; where it begins the title, what stands anywhere else.
        sold = tokens[start - 2 : start - 1] if start > 1 else tokens
        if is_for and (vocabulary.graphics | _CARDS).isdisjoint(sold):
            return frozenset((tokens[start - 1],))
        while end < len(tokens) and _is_of_memory(reading.tokens[end]):
            end += 1
        if tokens[end : end + 1] and tokens[end] in vocabulary.purpose_behind:
            return frozenset((tokens[end],))
    return frozenset()


def _is_of_memory(token: Token) -> bool:
    """Part of a memory size or type, as the `24` of `24GB용`. Any other word would be what the card is for: `Mac용`."""
    return bool(token.memory or token.memory_type or token.text.isdigit() or token.text == "gb")
