"""Does a title sell several cards? `2x RTX 3090` does, `VENTUS 2X` and `RTX 4080 X3` are fans, `x16` are lanes."""

from __future__ import annotations

from gpuledger.transform.identity.reading import FORM_WORDS, Mention, Reading
from gpuledger.transform.identity.vocabulary import Vocabulary
from gpuledger.transform.identity.words import MOST_CARDS

#: A number of cards by words.
HOW_MANY = {"single": 1, "dual": 2, "twin": 2, "triple": 3, "quad": 4, "octa": 8, "two": 2, "four": 4, "eight": 8}
#: More than a cooler has fans: so many before a chip's name are cards wherever it stands (`SYS-821GE-TNHR 8x H100`).
_MORE_THAN_FANS = 4
#: What has lanes, and a rate in times: `AGP 8x GeForce 6200`.
_SLOTS = frozenset(("agp", "pci", "pcie", "express", "e", "gen", "speed"))
#: Sockets of a card, of which a number at the start of a title is no number of cards.
_SOCKETS = frozenset(("displayport", "dp", "mdp", "mini", "minidp", "hdmi", "dvi", "usb"))
_SETS = frozenset(("set", "lot", "pack", "bundle", "box", "case"))


def of_token(reading: Reading, position: int, vocabulary: Vocabulary) -> int:
    """How many cards the count at `position` (`2x`, `x2`) means; 1 where it counts something else."""
    token = reading.tokens[position]
    if _of_fans(reading, position, position + 1, vocabulary):
        return 1
    counts = (
        _behind_a_name(reading, position, vocabulary) if token.count_behind else _begins(reading, position, vocabulary)
    )
    lanes = token.count_behind and token.count == MOST_CARDS  # PCI Express x16
    after = reading.tokens[position + 1].text if position + 1 < len(reading.tokens) else ""
    if after in _SOCKETS:
        return 1
    return token.count if counts and token.count > 1 and not lanes else 1


def of_number(reading: Reading, position: int, vocabulary: Vocabulary) -> int:
    """The same for a number and a word apart: `4 x Tesla V100`, `8-GPU`."""
    number, after = reading.tokens[position : position + 2]
    if not number.text.isdigit() or not 1 < int(number.text) <= MOST_CARDS:
        return 1
    if _of_fans(reading, position, position + 2, vocabulary):
        return 1
    times = after.text == "x" and not after.glued and _begins(reading, position, vocabulary)  # not `4X61C56103`
    before = [token.text for token in reading.tokens[max(0, position - 2) : position]]
    of_a_set = before[-1:] == ["of"] and before[0] in _SETS  # `Set of 2 RTX 3090`
    return (
        int(number.text) if times or of_a_set or after.text in ("gpu", "gpus") or after.text in vocabulary.units else 1
    )


def of_cards_before(reading: Reading, mention: Mention, vocabulary: Vocabulary) -> int:
    """How many cards stand before a chip's name anywhere in the title, where the number cannot be of fans; else 1.

    Cards for servers and workstations have no coolers of several fans, so any number before one is of cards.
    """
    place, number = before_name(reading, mention, vocabulary)
    game_card = mention.weak or any(member.gpu.segment == "consumer" for member in mention.family.members)
    in_words = reading.tokens[place].text in HOW_MANY  # `ASUS DUAL-A4000`, written like their cards of two fans
    of_cards = number >= _MORE_THAN_FANS or (number > 1 and not game_card and not in_words)
    return number if of_cards and not (place and reading.tokens[place - 1].text in _SLOTS) else 1


def before_name(reading: Reading, mention: Mention, vocabulary: Vocabulary) -> tuple[int, int]:
    """Where a number directly before a chip's name and its maker's stands, and the number; 0 and 0 where there is none."""
    tokens, start = reading.tokens, mention.start
    while start > 0 and (tokens[start - 1].text in vocabulary.maker or tokens[start - 1].text in vocabulary.graphics):
        start -= 1
    if start == 0:
        return 0, 0
    place = start - 1
    apart = tokens[place].text in ("x", ")") and place > 0
    if apart:
        place -= 1
    before = tokens[place]
    if before.count and not before.count_behind:
        return place, before.count
    if before.text in HOW_MANY:
        return place, HOW_MANY[before.text]
    if apart and before.text.isdigit() and int(before.text) <= MOST_CARDS:
        return place, int(before.text)
    return 0, 0


def _of_fans(reading: Reading, start: int, end: int, vocabulary: Vocabulary) -> bool:
    """Whether the count from `start` to `end` is of fans: `x3 fan`, `팬 3개`; but `3팬 2개` are two cards of three fans."""
    tokens = [token.text for token in reading.tokens]
    if tokens[end : end + 1] and tokens[end] in vocabulary.fans:
        return True
    behind = start > 0 and tokens[start - 1] in vocabulary.fans
    return behind and not (start > 1 and (tokens[start - 2].isdigit() or tokens[start - 2] in vocabulary.fan_counts))


def _begins(reading: Reading, position: int, vocabulary: Vocabulary) -> bool:
    """At the start, or behind "with", "lot of": there a count is of what is sold."""
    if position == 0:
        return True
    before = reading.tokens[position - 1].text
    return before in vocabulary.before_count or before == "("


def _behind_a_name(reading: Reading, position: int, vocabulary: Vocabulary) -> bool:
    """Directly behind a card's name and memory, if the board's maker does not call its fans so."""
    named = next((mention for mention in reversed(reading.mentions) if not mention.weak or mention.family.joined), None)
    if named is None or any(token.text in vocabulary.fans_behind_name for token in reading.tokens):
        return False
    between = reading.tokens[named.end : position]
    return all(token.memory or token.memory_type or token.text in FORM_WORDS or token.text == ")" for token in between)
