"""The word lists of `data/vocabulary.toml` as sets."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass, fields
from functools import cache
from typing import Any

from gpuledger.transform.identity import text
from gpuledger.transform.identity.catalogue import DATA


class Phrases:
    """Phrases of several words, found as whole words and not inside others. Each is looked for by its longest word."""

    def __init__(self, phrases: Iterable[str]) -> None:
        self._by_word: dict[str, list[list[str]]] = {}
        for phrase in phrases:
            pieces = [piece for word in text.split_words(phrase) for piece in text.pieces(word)]
            self._by_word.setdefault(max(pieces, key=len), []).append(pieces)
        self.words = frozenset(self._by_word)

    def find(self, texts: Sequence[str], marks: Set[str]) -> frozenset[str]:
        """The first phrase that stands in the title of these words; empty if there is none."""
        for word in sorted(self.words & marks):
            for phrase in self._by_word[word]:
                ahead, length = phrase.index(word), len(phrase)
                for place, found in enumerate(texts):
                    if found == word and place >= ahead and texts[place - ahead : place - ahead + length] == phrase:
                        return frozenset((" ".join(phrase),))
        return frozenset()


#: Lists whose words say something only beside others.
_NO_MARKS = frozenset(
    ("card_lines", "not_glued", "comparing", "coolers", "taken_from", "of_parts", "said_of_parts", "said_of_boxes",
     "for_whom", "before_names", "denying", "whose_parts", "games", "numerals", "plurals")
)  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class Vocabulary:
    """One set of words for each thing that a word can tell. The comments of the data file explain them."""

    maker: dict[str, str]
    graphics: frozenset[str]
    spelling: dict[str, str]
    lines_behind: dict[str, frozenset[str]]
    card_lines: frozenset[str]
    not_glued: frozenset[str]
    mobile: frozenset[str]
    plain: frozenset[str]
    selling: frozenset[str]
    of_goods: frozenset[str]
    prepositions: frozenset[str]
    comparing: frozenset[str]
    own_cards: frozenset[str]
    accessory: frozenset[str]
    parts: frozenset[str]
    of_parts: frozenset[str]
    features_behind_size: frozenset[str]
    coolers: frozenset[str]
    said_of_parts: frozenset[str]
    said_of_boxes: frozenset[str]
    accessory_maker: frozenset[str]
    along: frozenset[str]
    for_whom: frozenset[str]
    laptop: frozenset[str]
    laptop_series: dict[str, frozenset[str]]
    computer: frozenset[str]
    computer_on_cards: frozenset[str]
    sellers: Phrases
    liquid: frozenset[str]
    processor: frozenset[str]
    computer_after: frozenset[str]
    computer_before: frozenset[str]
    machine_lines: frozenset[str]
    taken_out: frozenset[str]
    enclosure: frozenset[str]
    enclosure_phrases: Phrases
    enclosure_boxes: Phrases
    case: frozenset[str]
    case_phrases: Phrases
    other: frozenset[str]
    purpose_before: frozenset[str]
    purpose_behind: frozenset[str]
    before_names: frozenset[str]
    #: Both of these: the words for "for", wherever they stand.
    purpose: frozenset[str]
    machines: frozenset[str]
    taken_from: frozenset[str]
    broken: frozenset[str]
    broken_phrases: Phrases
    denying: frozenset[str]
    whose_parts: frozenset[str]
    games: frozenset[str]
    modified: frozenset[str]
    modified_always: frozenset[str]
    board_maker: frozenset[str]
    builders: frozenset[str]
    before_count: frozenset[str]
    several: frozenset[str]
    numerals: frozenset[str]
    plurals: frozenset[str]
    units: frozenset[str]
    each: frozenset[str]
    versions: frozenset[str]
    fans_behind_name: frozenset[str]
    fans: frozenset[str]
    fan_counts: frozenset[str]
    consoles: Phrases
    beside: frozenset[str]
    joining: frozenset[str]
    notices: Phrases
    service: frozenset[str]
    service_phrases: Phrases
    wish_at_an_end: frozenset[str]

    @property
    def numbered(self) -> frozenset[str]:
        """The words that begin with a digit (`144hz`, `15.6`, `1tb`). Without this set they would be read as numbers."""
        return frozenset(word for word in self.marks if word[0].isdigit())

    @property
    def marks(self) -> frozenset[str]:
        """All words of all lists: the words that a reader has to note."""
        values = [getattr(self, field.name) for field in fields(self) if field.name not in _NO_MARKS]
        sets = [value for value in values if isinstance(value, frozenset)]
        sets += [value.words for value in values if isinstance(value, Phrases)]
        return frozenset().union(
            *sets, self.maker, self.laptop_series, *self.lines_behind.values(), *self.laptop_series.values()
        )


@cache
def load() -> Vocabulary:
    """The word lists, read once."""
    with (DATA / "vocabulary.toml").open("rb") as file:
        raw: dict[str, Any] = tomllib.load(file)
    raw["maker"] = {word: maker for maker, words in raw["maker"].items() for word in words}
    for name in ("lines_behind", "laptop_series"):
        raw[name] = {word: frozenset(words) for word, words in raw[name].items()}
    raw["purpose"] = raw["purpose_before"] + raw["purpose_behind"]
    made = {"frozenset[str]": frozenset, "Phrases": Phrases}
    return Vocabulary(**{one.name: made.get(str(one.type), dict)(raw[one.name]) for one in fields(Vocabulary)})
