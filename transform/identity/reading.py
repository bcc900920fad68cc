"""What a title says, before the code decides which card it means, and how many cards its numbers mean."""

from __future__ import annotations

from dataclasses import dataclass, field

from gpuledger.transform.identity.index import Family
from gpuledger.transform.identity.vocabulary import Vocabulary
from gpuledger.transform.identity.words import MOST_CARDS, Token

ARCHITECTURES = frozenset(
    ("ada", "lovelace", "blackwell", "ampere", "turing", "pascal", "volta", "hopper", "maxwell", "kepler")
)
#: How a server card is mounted: the word that shops use, and the word of the catalogue for it.
FORM_WORDS = {
    **dict.fromkeys(("sxm", "sxm2", "sxm3", "sxm4", "sxm5", "sxm6", "hgx", "dgx"), "sxm"),
    "nvl": "nvl",
    "pcie": "pcie",
}


@dataclass(slots=True)
class Mention:
    """A family that the title names. `spelled` are the words that name it, at the tokens from `start` to before `end`."""

    family: Family
    suffixes: frozenset[str]
    spelled: str
    start: int
    end: int
    #: The title has only a bare number or a short code. Such a mention counts only if the title has no better one.
    weak: bool = False
    in_brackets: bool = False


@dataclass(slots=True)
class Reading:
    """Everything that a title says."""

    tokens: list[Token]
    #: Letters of the title.
    letters: int = 0
    mentions: list[Mention] = field(default_factory=list)
    #: Memory sizes in GiB, and whether each one stands in brackets.
    memory: list[tuple[float, bool]] = field(default_factory=list)
    #: Sizes that may also be names: `a10g` is a card, but in `ROG-STRIX-A10G` it means 10 GB. They count as sizes if the
    #: title has a better name.
    memory_in_names: list[tuple[float, bool]] = field(default_factory=list)
    memory_types: set[str] = field(default_factory=set)
    #: All words with a meaning that are not part of a mention.
    marks: set[str] = field(default_factory=set)
    #: Names of a line's prefix and a number that no card of the catalogue has: `rtx 5065`.
    unknown_names: list[str] = field(default_factory=list)
    makers: set[str] = field(default_factory=set)
    #: Letters directly behind a number inside a part number, which may or may not be a suffix.
    letters_in_codes: set[str] = field(default_factory=set)
    #: How many words mean nothing to the reader.
    noise: int = 0
    #: How many cards the title sells.
    count: int = 1
    #: The title is a cloud's name for what it rents: always about GPUs, and often without the edition.
    rented: bool = False

    @property
    def sizes(self) -> frozenset[float]:
        """Memory sizes that can be the card's. If the card stands in brackets (a system and its card), only the sizes in
        brackets can be.
        """
        brackets = bool(self.mentions) and all(mention.in_brackets for mention in self.mentions)
        return frozenset(size for size, inside in self.memory if inside or not brackets)


#: Words for numbers of cards.
HOW_MANY = {"single": 1, "dual": 2, "twin": 2, "triple": 3, "quad": 4, "octa": 8, "two": 2, "four": 4, "eight": 8}
#: More than the fans of a cooler. From this number on, a count before a chip's name is of cards, anywhere in the title
#: (`SYS-821GE-TNHR 8x H100`).
_MORE_THAN_FANS = 4
#: Words before a number of lanes or a bus rate: `AGP 8x GeForce 6200`.
_SLOTS = frozenset(("agp", "pci", "pcie", "express", "e", "gen", "speed"))
#: Video sockets: a number before one of them counts sockets, not cards.
_SOCKETS = frozenset(("displayport", "dp", "mdp", "mini", "minidp", "hdmi", "dvi", "usb"))
_SETS = frozenset(("set", "lot", "pack", "bundle", "box", "case"))


def count_of_token(reading: Reading, position: int, vocabulary: Vocabulary) -> int:
    """How many cards the count at `position` (`2x`, `x2`) means; 1 if it counts something else."""
    token = reading.tokens[position]
    if _of_fans(reading, position, position + 1, vocabulary):
        return 1
    counts = (
        _behind_a_name(reading, position, vocabulary) if token.count_behind else _begins(reading, position, vocabulary)
    )
    lanes = token.count_behind and (
        token.count == MOST_CARDS or _behind_a_slot(reading, position)
    )  # PCIe x16, PCIe 4.0 x8
    after = reading.tokens[position + 1].text if position + 1 < len(reading.tokens) else ""
    if after in _SOCKETS:
        return 1
    return token.count if counts and token.count > 1 and not lanes else 1


def count_of_number(reading: Reading, position: int, vocabulary: Vocabulary) -> int:
    """How many cards a number with a separate word behind it means (`4 x Tesla V100`, `8-GPU`); 1 if it counts no cards."""
    number, after = reading.tokens[position : position + 2]
    if not number.text.isdigit() or not 1 < int(number.text) <= MOST_CARDS:
        return 1
    if _of_fans(reading, position, position + 2, vocabulary):
        return 1
    if after.text in ("gpu", "gpus") and (
        _behind_a_slot(reading, position) or _is_version(reading, position, vocabulary)
    ):
        return 1
    times = after.text == "x" and not after.glued and _begins(reading, position, vocabulary)  # not `4X61C56103`
    before = [token.text for token in reading.tokens[max(0, position - 2) : position]]
    of_a_set = before[-1:] == ["of"] and before[0] in _SETS  # `Set of 2 RTX 3090`
    return (
        int(number.text) if times or of_a_set or after.text in ("gpu", "gpus") or after.text in vocabulary.units else 1
    )


def cards_before(reading: Reading, mention: Mention, vocabulary: Vocabulary) -> int:
    """The number of cards before a chip's name, anywhere in the title; 1 if the number may be of fans.

    Cards for servers and workstations have no coolers with several fans, so any number before such a card counts cards.
    """
    place, number = before_name(reading, mention, vocabulary)
    game_card = mention.weak or any(member.gpu.segment == "consumer" for member in mention.family.members)
    in_words = reading.tokens[place].text in HOW_MANY  # `ASUS DUAL-A4000`: ASUS writes cards with two fans this way too
    of_cards = number >= _MORE_THAN_FANS or (number > 1 and not game_card and not in_words)
    return number if of_cards and not (place and reading.tokens[place - 1].text in _SLOTS) else 1


def before_name(reading: Reading, mention: Mention, vocabulary: Vocabulary) -> tuple[int, int]:
    """The position and value of a number directly before a chip's name (and its maker's name); 0 and 0 if there is none."""
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
    """Whether the count from `start` to `end` counts fans (`x3 fan`, `팬 3개`). `3팬 2개` are two cards with three fans."""
    tokens = [token.text for token in reading.tokens]
    if tokens[end : end + 1] and tokens[end] in vocabulary.fans:
        return True
    behind = start > 0 and tokens[start - 1] in vocabulary.fans
    return behind and not (start > 1 and (tokens[start - 2].isdigit() or tokens[start - 2] in vocabulary.fan_counts))


def _begins(reading: Reading, position: int, vocabulary: Vocabulary) -> bool:
    """Whether a count stands at the start of the title or behind "with" or "lot of": there it counts the product sold."""
    if position == 0:
        return True
    before = reading.tokens[position - 1].text
    return before in vocabulary.before_count or before == "("


def _behind_a_slot(reading: Reading, position: int) -> bool:
    """Whether a slot stands before a count, perhaps with its version: `PCIe x8`, `PCIe 4.0 x8`, `PCIe Gen 4 x8`."""
    before = [token.text for token in reading.tokens[max(0, position - 3) : position]]
    while before and (before[-1].replace(".", "").isdigit() or before[-1] in ("gen", "v", "x")):
        before.pop()
    return bool(before) and before[-1] in _SLOTS


def _is_version(reading: Reading, position: int, vocabulary: Vocabulary) -> bool:
    """Whether a number is the version of the word before it: `DLSS 3 GPU` is one card."""
    return position > 0 and reading.tokens[position - 1].text in vocabulary.versions


def _behind_a_name(reading: Reading, position: int, vocabulary: Vocabulary) -> bool:
    """Whether a count stands directly behind a card's name and memory. False for board makers who count their fans there."""
    last_mention = next(
        (mention for mention in reversed(reading.mentions) if not mention.weak or mention.family.joined), None
    )
    if last_mention is None or any(token.text in vocabulary.fans_behind_name for token in reading.tokens):
        return False
    between = reading.tokens[last_mention.end : position]
    return all(token.memory or token.memory_type or token.text in FORM_WORDS or token.text == ")" for token in between)
