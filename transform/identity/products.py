"""Says what a product is if it is not a card: brackets, water blocks, computers, cases, bundles, broken cards and so on.

`RULES` are asked in their order, and the first that finds words in the title decides. Each rule has the reason for it and a
title that it decides. A word counts only where it is about the product itself: the `fan` of `Dual Fan` is a feature, and
what stands behind "with" comes along with the card.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass
from functools import cache, partial
from itertools import pairwise
from typing import Literal

from gpuledger.extract.words import conditions_named
from gpuledger.transform.identity import text
from gpuledger.transform.identity.index import OPEN_WORDS
from gpuledger.transform.identity.reader import FORM_WORDS, SOCKETS, Reading
from gpuledger.transform.identity.vocabulary import Vocabulary
from gpuledger.transform.identity.words import UNITS, Token

Kind = Literal["accessory", "service", "enclosure", "computer", "laptop", "other", "broken", "several", "bundle"]

_KINDS: dict[Kind, str] = {
    "accessory": "an accessory",
    "service": "a service",
    "enclosure": "an external enclosure",
    "computer": "a computer",
    "laptop": "a laptop or a maker's computer",
    "other": "another product",
    "broken": "broken, partial or empty",
    "several": "more than one card",
    "bundle": "a card and another product at one price",
}
CARDS = frozenset(("card", "cards"))
#: Words of lines and forms that stand beside a chip's name (R9 Fury X, H100 SXM5 HGX), and the signs between names.
_OF_NAMES = frozenset((*FORM_WORDS, *OPEN_WORDS, *",/|", "r5", "r7", "r9", "maxq", "s"))
#: A number of so many digits names a model and counts nothing: `970 MSI`.
_DIGITS_OF_A_MODEL = 3
_WATTS = frozenset(("w", "watt", "watts"))
#: A drive between the signs of a list (`RTX5080/16G/1T`), and processors by their numbers.
_IN_A_LIST = re.compile(r"[/|+,]\s*((?:[1248]tb?|(?:256|512|1000|1024)gb?)(?![\w.]))")
_PROCESSOR = re.compile(
    r"\b(r[3579][\s-]\d{4}[a-z]{0,3}|u[3579]-?\d{3}[a-z]{0,2}|i[3579]-?\d{4,5}[a-z]{0,2}"
    r"|(?:core|ultra)\s?(?:ultra\s?)?[3579][\s-]\d{3}[a-z]{0,2}|\d{4,5}(?:hx|hs|x)3d|\d{4,5}h[xs])\b"
)
#: Chipsets of mainboards since 2015, as makers write them into the names of boards: `B650M-H`, `X870E`, `Z790-P`.
_MAINBOARD = re.compile(
    r"\b((?:a[356]20|b[3-9][456]0|b365|h[34568][1-7]0|[hb]610|x299|x[34568]70|z[1-9][79]0|trx[45]0|wrx[89]0|w[678][89]0)[mei]{0,2})\b"
)
#: Memory of a computer: its type stands beside its size, and no card has DDR5.
_RAM = re.compile(r"\b(?:ddr[45]\b(?=.*\d{4})|\d{1,3}\s?gb\s(?:of\s)?ddr[45]\b)")
#: A code of letters and digits that may be a product's; no watts, sizes or clocks.
_CODE = re.compile(r"\b(?=[a-z\d-]*\d)(?=[a-z\d-]*[a-z])(?!\d+(?:w|mm|mhz|bit|hz|p)\b|gddr|ddr)[a-z\d][a-z\d-]{4,}\b")
#: More than one, behind a word for a quantity or in brackets: `(Qty 4)`, `(2)`.
_QUANTITY = re.compile(
    r"(?:\b(?:qty|quantity|anzahl|menge|cantidad|quantite|quantita|ilosc|aantal|수량)[\s:.]{0,2}|\s\((?=\d\)))([2-9]|\d\d)\b"
)
_BESIDE = re.compile(r"[\s\])】][+＋]\s")
#: The watts of a power supply, the inches of a screen.
_POWER = re.compile(r"\b\d{3,4}\s?w\b|\b\d\d(?:\.\d)?\s?(?:\"|inch|zoll|tommer|tum\b|cali|palc|インチ|인치|吋|寸)")
#: What a computer case says about what fits in: lengths, the height of a cooler, its form.
_LENGTH = re.compile(r"\d\s?[mc]m\b|\bcpu\b|\batx\b")


@dataclass(frozen=True, slots=True)
class NotACard:
    """The kind of a product that is not a card, and the words that show it."""

    kind: Kind
    evidence: tuple[str, ...]

    def __str__(self) -> str:
        what = _KINDS[self.kind]
        return f"{what}, by the words {', '.join(self.evidence)}" if self.evidence else what


@dataclass(slots=True)
class Product:
    """A title as the rules look at it.

    `chip_field`: another field of the item names its chip, so a title without a chip (`Zotac Twin Fan`) can still be a card.
    """

    reading: Reading
    chip_field: bool
    plain: str
    texts: list[str]
    #: Words with a meaning, without those of its own memory.
    marks: Set[str]

    @property
    def words(self) -> Vocabulary:
        """The words by which it was read."""
        return self.reading.vocabulary

    @property
    def first(self) -> int:
        """The position of the first chip's name."""
        return min((mention.start for mention in self.reading.mentions), default=0)

    @property
    def included(self) -> frozenset[str]:
        """The words that stand before "included" or "in the box": of a clause of their own, or the last three."""
        said = (one[1] or one[2] for one in _INCLUDED.finditer(self.plain))
        return frozenset(word for words in said for word in text.split_words(words))

    def comes_along(self, place: int) -> bool:
        """Whether a word for "with" stands between a chip's name and the word at `place` (`RTX 4080 w/ EK waterblock`), or
        one for "included" behind it (`RTX 4080, bracket included`).
        """
        start = min((mention.end for mention in self.reading.mentions), default=place)
        with_it = any(one.text in self.words.along and not one.glued for one in self.reading.tokens[start:place])
        return with_it or (start < place and self.texts[place] in self.included)

    def attributes(self, place: int) -> bool:
        """Whether the word at `place` says what graphics card it is: `Gaming Computer Graphics Card`, `desktop GPU`, or
        whom a card is for (`graphics card for computers`, `RTX 3070 Gaming Computer Black Graphics Card`).
        """
        behind = (word for word in self.texts[place + 1 :] if word not in self.words.for_whom)
        if next(behind, "") in self.words.graphics:
            return True
        before = [word for word in self.texts[:place] if word not in self.words.for_whom]
        if before and before[-1] in self.words.purpose_before:
            named = bool(self.reading.mentions) and self.first < place
            return named or not self.words.graphics.isdisjoint(before)
        is_last = self.texts[-1] in CARDS and self.texts[-2] in self.words.graphics
        return is_last and 0 < self.first < place and self.words.along.isdisjoint(before)

    def standing(self, found: Set[str], excused: Callable[[int], bool]) -> frozenset[str]:
        """The words of `found` that stand at a place that is not excused."""
        if not found:
            return frozenset()
        return frozenset(word for place, word in enumerate(self.texts) if word in found and not excused(place))


_INCLUDED = re.compile(
    r"(?:[,;(]\s*([^,;()]+?)|((?:\b\w+\s){0,2}\b\w+))\s+(?:included|(?:pre)?installed|mounted|in (?:the |its )?box"
    r"|inbegriffen|dabei|montiert|verbaut|inclus[aeo]?|incluid[ao]s?|installe|montato|w zestawie|medfoljer)\b"
)


@dataclass(frozen=True, slots=True)
class Rule:
    """One reason why a product is not a card. `find` returns the words that show it; none if the rule does not apply."""

    kind: Kind
    reason: str
    #: A title that this rule decides.
    case: str
    find: Callable[[Product], Set[str]]
    #: The rule looks at more than words with a meaning, so that it must be asked about every title.
    reads_all: bool = False


def _of_another(product: Product, place: int) -> bool:
    """Whether a word for damage is denied, or part of another name: `not broken`, `PC parts`, `Red Dead Redemption`."""
    around = product.texts[max(0, place - 1) : place + 2]
    word = product.texts[place]
    if place and around[0] in product.words.denying:
        return True
    return (word == "parts" and not product.words.whose_parts.isdisjoint(around[:-1])) or (
        word in ("dead", "bad") and not product.words.games.isdisjoint(around)
    )


def _only_its_box(product: Product) -> Set[str]:
    texts = product.texts
    if texts[-1:] != ["box"] or not product.reading.mentions or product.comes_along(len(texts) - 1):
        return frozenset()
    return frozenset() if texts[-2] in product.words.said_of_boxes else {"box"}


def _enclosure(product: Product) -> Set[str]:
    names = product.words.enclosure_phrases if not product.reading.mentions else product.words.enclosure_boxes
    return product.marks & product.words.enclosure or names.find(product.texts, product.marks)


def _service(product: Product) -> Set[str]:
    words, texts = product.words, product.texts
    begins = texts[1:2] if texts[:1] == ["("] else texts[:1]
    wish = words.wish_at_an_end.intersection(begins + texts[-1:])
    return (product.marks & words.service) | wish | words.service_phrases.find(texts, product.marks)


#: What classified ads have: `[H] RTX 3090 Ti [W] PayPal`. What stands behind `[W]` is what they want.
_HAVE = re.compile(r"\[h\]([^\[]*)", re.IGNORECASE)
_WANT = re.compile(r"\[w\]", re.IGNORECASE)


def offered(title: str) -> str:
    """The part of a classified ad's title that says what is sold: the title itself where it has no `[H]` and `[W]`."""
    if "[" not in title or not _WANT.search(title):
        return title
    have = _HAVE.search(title)
    return have[1] if have else ""


def _for_a_card(product: Product) -> Set[str]:
    """The words that say that the product is for the named card.

    They stand before the name or behind it (`RTX 4090 24GB용 …`). `Graphics card for NVIDIA RTX 3060` and `RTX 3060 for
    gaming` are cards themselves, and so is `For Leadtek RTX A4000 16GB`, which says nothing else.
    """
    texts, words = product.texts, product.words
    if words.purpose.isdisjoint(texts):
        return frozenset()
    for mention in product.reading.mentions:
        start, end = mention.start, mention.end
        while (
            start and texts[start - 1] in words.board_maker | words.maker.keys() | words.graphics | words.before_names
        ):
            start -= 1
        is_for = start > 0 and texts[start - 1] in words.purpose_before
        # The word before "for" is the product sold. If "for" begins the title, any other word may be the product.
        sold = texts[start - 2 : start - 1] if start > 1 else texts
        if start == 1 and product.reading.sizes & mention.family.sizes and texts[1] in words.board_maker:
            is_for = product.reading.noise > 0
        if is_for and (words.graphics | CARDS).isdisjoint(sold):
            return frozenset((texts[start - 1],))
        while end < len(texts) and _is_of_memory(product.reading, end):
            end += 1
        if texts[end : end + 1] and texts[end] in words.purpose_behind:
            return frozenset((texts[end],))
    return frozenset()


def _is_of_memory(reading: Reading, place: int) -> bool:
    """Whether a token is part of a memory size or type, such as the `24` of `24GB용`. Other words say what the card is for:
    `Mac용`.
    """
    token = reading.tokens[place]
    return bool(token.memory or token.memory_type or token.text.isdigit() or token.text == "gb")


def _accessory(product: Product) -> Set[str]:
    words, reading, marks = product.words, product.reading, product.marks
    parts = product.standing(
        marks & (words.accessory | words.parts | words.fans), lambda place: _is_feature(product, place)
    )
    purpose, has_chip = marks & words.purpose, bool(reading.mentions) or product.chip_field
    if parts & words.accessory or (parts and (purpose or not has_chip)):
        return parts | purpose
    if parts and not product.chip_field and (head := parts & _parts_sold(product)):
        return head
    makers = product.standing(marks & words.accessory_maker, product.comes_along)
    # `EKWB … Strix/TUF RTX 4090 water block` is made for these cards; with a memory size it would be one of them.
    is_card = has_chip and marks & words.board_maker and not purpose and (reading.sizes or not parts)
    return frozenset() if is_card else makers


def _is_feature(product: Product, place: int) -> bool:
    """Whether a word for a part says something about the card: fans that are counted, what it is made of or newly has
    (`metal backplate`, `24GB new thermal pads`), or what comes along with it.
    """
    words, reading = product.words, product.reading
    names = max((one.end for one in reading.mentions if one.end <= place), default=0)
    before = reading.tokens[max(names, place - 2) : place]
    counted = any(one.text in words.fan_counts | words.numerals for one in before) or any(
        one.count > 1 or one.text == "x" or one.text.isdigit() or one.text in words.units for one in before[-1:]
    )
    named = bool(reading.mentions) and place > product.first
    shown = named or bool(reading.mentions and (reading.sizes or product.marks & words.board_maker))
    described = named and any(one.text in words.said_of_parts for one in before)
    fans = counted and shown and product.texts[place] in words.fans | words.coolers
    return fans or described or product.comes_along(place)


def _parts_sold(product: Product) -> frozenset[str]:
    """The words that stand where a title names what it sells: before the first maker, or last behind the chip's name.

    `Power cable MSI RTX 4090 24GB` and `RTX 4090 backplate ASUS` sell a part, `RTX 3090 with metal backplate` a card.
    """
    words, reading = product.words, product.reading
    before = frozenset(one.text for one in _before_the_name(reading))
    behind = _behind_the_name(reading, product.plain) if reading.mentions else []
    beside = words.of_parts | words.of_goods | words.plain | words.board_maker | words.card_lines
    if not reading.sizes and product.marks.isdisjoint(words.board_maker):
        return before | frozenset(behind)
    named = [word for word in behind if word not in beside and not word.isdigit()]
    # An unknown word in the last place says which part: `fan left`. Behind a memory size some parts are features: `RTX 2060
    # D6 6GB 백플레이트`.
    last = named[-2:] if _things([Token(named[-1] if named else "")], words) else named[-1:]
    return before.union(last) - (words.features_behind_size if reading.sizes else frozenset())


def _case(product: Product) -> Set[str]:
    """Computer cases: their words, or a bare number beside the longest card that fits in."""
    words = product.marks & product.words.case | product.words.case_phrases.find(product.texts, product.marks)
    reading = product.reading
    shown = reading.makers or reading.sizes or not reading.mentions or any(not one.weak for one in reading.mentions)
    if words or shown:
        return words
    return set(_LENGTH.findall(product.plain)) if product.marks & product.words.graphics else words


def _computer(product: Product) -> Set[str]:
    found = product.standing(product.marks & product.words.computer, product.attributes)
    if not found:
        return found
    if found <= {"computer", "computers"} and product.words.sellers.find(product.texts, product.marks):
        return frozenset()
    # Behind the name and the memory it is the cooler: `RX 6950 XT Toxic 16GB AIO`.
    cooler = product.reading.sizes and product.texts[-1] == "aio" and product.marks & product.words.board_maker
    liquid = found == {"aio"} and (cooler or product.marks & product.words.liquid)
    on_cards = found <= product.words.computer_on_cards and _sold_as_a_card(product)
    return frozenset() if liquid or on_cards else found


def _sold_as_a_card(product: Product) -> bool:
    marks, reading = product.marks, product.reading
    of_the_card = frozenset().union(*(mention.family.sizes for mention in reading.mentions))
    return bool(
        marks & product.words.board_maker
        and reading.sizes
        and reading.sizes <= of_the_card
        and (marks & product.words.graphics or reading.memory_types)
        and not marks & product.words.before_count
    )


def _other(product: Product) -> Set[str]:
    return product.standing(product.marks & product.words.other, lambda place: _power_needed(product, place))


def _power_needed(product: Product, place: int) -> bool:
    """Whether a word for a power supply behind a card's name says how strong it must be: `RTX 3060 12GB, PSU 650W`."""
    around = product.texts[max(0, place - 2) : place + 3]
    shown = product.reading.sizes or product.marks & product.words.board_maker
    return bool(
        product.texts[place] == "psu"
        and shown
        and 0 < product.first < place
        and not _WATTS.isdisjoint(around)
        and _BESIDE.search(product.plain) is None
        and not product.marks & (product.words.before_count | product.words.several)
    )


#: Makers' codes of laptops: ASUS G614JV and FX507ZC4, Lenovo 16IRX9H, Acer AN515-58, HP 15-ec2, MSI GE66 and B13VFK.
_LAPTOP_CODE = re.compile(
    r"\b(?:g[auvxz]?\d{3}[a-z]{2}\w*|f[ax]\d{3}[a-z]{1,2}\w*|h\d{4}[a-z]{2}|1[4-8][a-z]{3}\d{1,2}h?|g[efplst]\d\d"
    r"|(?:an|ph|pt|np)[a-z]?\d{2,3}-\d\d|1[3-8]-[a-z]{2}\d\w*|[a-d]1[1-5][uvw][a-z]{1,2})\b"
)
#: The inches of a screen, in the name of a series: `Aero 16`, `ProArt P16`.
_INCHES = frozenset(("13", "14", "15", "16", "17", "18"))
#: A line of laptops that also has desktop computers: `Legion Tower 5`, `Omen 45L`.
_TOWER = re.compile(r"\b(?:tower|desktop|aurora|obelisk|[2-4][05]l)\b")


def _tower(product: Product) -> Set[str]:
    lines = product.marks & product.words.machine_lines
    return lines if lines and _TOWER.search(product.plain) else frozenset()


def _laptop(product: Product) -> Set[str]:
    # "RTX 4090 Laptop GPU" is a chip's name. With any other word the product is the laptop.
    found = (product.marks & product.words.laptop) | _laptop_series(product)
    if not found and product.reading.mentions and not product.words.laptop_series.keys().isdisjoint(product.marks):
        found = frozenset(_LAPTOP_CODE.findall(product.plain)) | _inches(product)
    return found if found and not is_bare(product.reading) else frozenset()


def _inches(product: Product) -> frozenset[str]:
    """The size of a screen behind the name of a series, which stands before the chip's name: `MSI Creator 16 RTX 4070`."""
    tokens, words = product.reading.tokens, product.words
    if _INCHES.isdisjoint(product.texts):
        return frozenset()
    for before, size, behind in zip(tokens, tokens[1 : product.first], tokens[2:], strict=False):
        named = before.text.isalpha() and (size.glued or before.text not in words.versions | words.units)
        if size.text in _INCHES and named and not (behind.glued or behind.text in text.MEMORY_UNITS | UNITS | {"x"}):
            return frozenset((before.text, size.text))
    return frozenset()


def _laptop_series(product: Product) -> frozenset[str]:
    """The maker and the series if the title names a series that its maker sells as laptops, such as `MSI Katana 15`."""
    reading, series_of = product.reading, product.words.laptop_series
    # `MSI GTX TITAN X` is a card; `MSI Titan 18 RTX 4090` a laptop.
    only = len({mention.family.core for mention in reading.mentions}) == 1
    named = {place for mention in reading.mentions for place in range(mention.start, mention.end)} if only else set()
    for maker in product.marks & series_of.keys():
        if series := series_of[maker].intersection(
            word for place, word in enumerate(product.texts) if place not in named
        ):
            return series | {maker}
    return frozenset()


def _processor(product: Product) -> Set[str]:
    """A processor, or a phrase such as `gaming pc` and `custom rig`. Titles of cards also have each of its words alone."""
    words = product.words
    found = product.marks & words.processor
    if found or not product.marks & words.computer_after:
        return found
    for place, (before, word) in enumerate(pairwise(product.texts), 1):
        is_for = not words.purpose_before.isdisjoint(product.texts[max(0, place - 3) : place - 1])
        if (
            word in words.computer_after
            and before in words.computer_before
            and not (is_for or product.attributes(place))
        ):
            return frozenset((before, word))
    return frozenset()


def _in_a_list(product: Product) -> Set[str]:
    """A processor by its number, or a drive in a list: only computers have them."""
    if not product.reading.mentions or not ("/" in product.plain or "hx" in product.plain or "x3d" in product.plain):
        return frozenset()
    found = {*_PROCESSOR.findall(product.plain), *_IN_A_LIST.findall(product.plain)}
    return found - {f"{size:g}g" for size in product.reading.sizes}


def _bundle(product: Product) -> Set[str]:
    """A mainboard, a console or another product of its own behind a plus, and notices of what a buyer of the card gets."""
    reading, marks = product.reading, product.marks
    if not reading.mentions:
        return frozenset()
    strong = [mention for mention in reading.mentions if not mention.weak] or reading.mentions
    named = {word for mention in strong for word in mention.family.core}
    found = {*_MAINBOARD.findall(product.plain)} - named or product.words.notices.find(product.texts, marks)
    if not found and marks.isdisjoint(product.words.purpose):
        found = product.words.consoles.find(product.texts, marks)
    if found or ("+" not in product.plain and "＋" not in product.plain):
        return found or _joined_by_and(product)
    numbers = {word for word in named if word[-1].isdigit()}
    parts = _BESIDE.split(product.plain)
    card = next((place for place, part in enumerate(parts) if any(number in part for number in numbers)), len(parts))
    for place, part in enumerate(parts):
        if any(number in part for number in numbers):
            continue
        if goods := {*_RAM.findall(part), *_POWER.findall(part)} | product.words.beside.intersection(
            text.split_words(part)
        ):
            return goods
        codes = {code for code in _CODE.findall(part) if text.glued_memory(code) is None}
        # Before the card it is what is sold first. Behind it, a code without a maker may be a code of the card.
        is_made = not product.words.board_maker.isdisjoint(text.split_words(part))
        if codes and (place < card or is_made):
            return codes
    return frozenset()


def _joined_by_and(product: Product) -> frozenset[str]:
    """Another product that a word for "and" joins to the card: `RTX 4060 8GB y fuente 750W`.

    It stands right behind that word, or behind one more: `and power supply`.
    """
    texts, words = product.texts, product.words
    if words.joining.isdisjoint(product.marks):
        return frozenset()
    joined = [place for place, word in enumerate(texts) if word in words.joining and place > product.first]
    return frozenset(word for place in joined for word in texts[place + 1 : place + 3] if word in words.beside)


def _several(product: Product) -> Set[str]:
    if not product.reading.mentions:
        return frozenset()
    # What is in stock is sold one by one: `3 pcs available, price each`.
    units = product.words.units if product.marks & product.words.each else frozenset()
    counted = _counted_before(product) or product.marks & product.words.several - units
    return counted or set(_QUANTITY.findall(product.plain)) or _counted_behind(product)


def _is_several(word: str, words: Vocabulary) -> bool:
    return word in words.numerals or (word.isdecimal() and len(word) < _DIGITS_OF_A_MODEL and int(word) > 1)


def _counted_before(product: Product) -> Set[str]:
    """A number before the first name that begins the title or stands behind "of", whatever its unit: `2 MSI RTX 3070`, `10
    db RX 6600`, `Set de 6 placi video RX 580`. One of fans or of a unit of measure counts nothing (`8 GB`, `3 Fan`).
    """
    words, tokens = product.words, product.reading.tokens
    for place, number in enumerate(tokens[: product.first]):
        if number.text in words.board_maker or number.text in words.maker:
            break
        if number.glued or not _is_several(number.text, words):
            continue
        behind = tokens[place + 1]
        begins = place == 0 or tokens[place - 1].text in _begins_a_count(words)
        measured = behind.glued or behind.text in text.MEMORY_UNITS | UNITS | words.fans | {"x"}
        if begins and not measured and (number.text.isdecimal() or behind.text in _of_cards(words)):
            return {number.text}
    return frozenset()


@cache
def _of_cards(words: Vocabulary) -> frozenset[str]:
    return words.board_maker | words.maker.keys() | words.graphics | CARDS | words.plurals


@cache
def _begins_a_count(words: Vocabulary) -> frozenset[str]:
    return words.before_count | words.prepositions | words.selling | words.several | {"("}


def _counted_behind(product: Product) -> Set[str]:
    """A number with cards or pieces in the plural behind it, perhaps with a word for graphics in between: `two cards`, `2
    graphics cards`, `5x Grafikkarten`. The number of a version counts nothing (`PCIe 4 graphics cards`).
    """
    if product.words.plurals.isdisjoint(product.texts):
        return frozenset()
    for place, word in enumerate(product.texts):
        if word not in product.words.plurals or place < product.first:
            continue
        at = place - 1 - (product.texts[place - 1] in product.words.graphics)
        number = product.reading.tokens[at]
        versioned = at > 0 and product.texts[at - 1] in product.words.versions
        if number.count > 1 or (_is_several(number.text, product.words) and not number.glued and not versioned):
            return {number.text, word}
    return frozenset()


#: In this order: what is broken is broken whatever it is, and a part of a computer is no computer.
RULES: tuple[Rule, ...] = (
    Rule(
        "broken", "a word for damage", "RTX 3080 10GB defekt",
        lambda product: product.standing(product.marks & product.words.broken, partial(_of_another, product)),
    ),
    Rule(
        "broken", "a sentence about damage or a missing part", "RTX 3080 12GB no da video",
        lambda product: product.words.broken_phrases.find(product.texts, product.marks),
    ),
    Rule("enclosure", "a word or a name of enclosures", "Aorus RTX 4090 Gaming Box", _enclosure),
    Rule("broken", "the last word is the box, without a card", "RTX 5070 Ti Pristine Box", _only_its_box, reads_all=True),
    Rule("service", "a word for repair, insurance, rent or a wish to buy", "RTX 4070 extended warranty", _service),
    Rule("accessory", "the product is for the card", "Halter for RTX 4090", _for_a_card),
    Rule("accessory", "a part, where it is no feature of the card", "RTX 4070 waterblock", _accessory),
    Rule("other", "a computer case, and what fits in", "Base 600, graphics card up to 425 mm", _case, reads_all=True),
    Rule("computer", "a word or a drive of computers", "Office desktop computer RTX 4070 1TB", _computer),
    Rule("other", "another product", "Monitor 27 RTX 4070", _other),
    Rule("computer", "a tower of a line of laptops", "Lenovo Legion Tower 5 RTX 4070", _tower),
    Rule("laptop", "a word, a series or a code of laptops", "MSI Katana 15 RTX 4070", _laptop, reads_all=True),
    Rule("computer", "a processor, or a phrase for computers", "Gaming PC RTX 4070", _processor),
    Rule("computer", "a processor or a drive in a list", "R9-8940HX/RTX5080/16G/1T", _in_a_list, reads_all=True),
    Rule("bundle", "a mainboard or another product beside the card", "B650M-H + RX 9060 XT 16GB", _bundle, reads_all=True),
    Rule("several", "a word for more than one, or a number first", "Lot RTX 3070", _several, reads_all=True),
)  # fmt: skip


#: The rules for a title without a word that any of the others looks for. Most titles of cards are of this kind.
_READ_ALL = tuple(rule for rule in RULES if rule.reads_all)


@cache
def _telling(words: Vocabulary) -> frozenset[str]:
    """All words that one of the rules looks for first."""
    phrases = (words.broken_phrases, words.enclosure_phrases, words.enclosure_boxes, words.service_phrases)
    return frozenset().union(
        *(found.words for found in phrases), words.broken, words.enclosure, words.service, words.wish_at_an_end,
        words.joining, words.purpose, words.accessory,
        words.parts, words.fans, words.accessory_maker, words.computer, words.other,
        words.laptop, words.processor, words.computer_after, words.several,
    )  # fmt: skip


@cache
def _series(words: Vocabulary) -> frozenset[str]:
    """All series of laptops. Some are words of names of cards too (`a16`, `titan`), and then no marks."""
    return frozenset().union(*words.laptop_series.values())


@cache
def _drives(words: Vocabulary) -> frozenset[str]:
    """The words of computers that are sizes of drives."""
    return frozenset(word for word in words.computer if word[0].isdigit())


def not_a_card(reading: Reading, title: str, *, chip_field: bool = False) -> NotACard | None:
    """What the product is if it is not a card, by the first rule that applies; None if nothing speaks against a card."""
    vocabulary = reading.vocabulary
    product = product_of(reading, title, chip_field=chip_field)
    is_plain = product.marks.isdisjoint(_telling(vocabulary)) and _series(vocabulary).isdisjoint(product.texts)
    for rule in _READ_ALL if is_plain else RULES:
        if evidence := rule.find(product):
            return NotACard(rule.kind, tuple(sorted(evidence)))
    return None


def product_of(reading: Reading, title: str, *, chip_field: bool = False) -> Product:
    """The title as the rules look at it."""
    marks: Set[str] = reading.marks
    if drives := marks & _drives(reading.vocabulary):
        # The 480 GB of a GH200 are not the size of a drive.
        marks = marks - {
            word for one in reading.mentions for size in one.family.sizes if (word := f"{size:g}gb") in drives
        }
    return Product(reading, chip_field, text.normalise(title), reading.words, marks)


def shows_a_card(reading: Reading) -> bool:
    """Whether the title shows that it sells a card: by a memory size, a board maker, a word for graphics or for the maker's
    own card, or by having nothing but the chip's name.

    A title such as `Razer Blade 16 RTX 4090` names the chip too, but sells something that costs more than the card.
    """
    marks, vocabulary = reading.marks, reading.vocabulary
    texts = [token.text for token in reading.tokens] if marks & vocabulary.fans else []
    return bool(
        reading.sizes
        or reading.memory_types
        or marks & vocabulary.board_maker
        or marks & vocabulary.graphics
        or marks & vocabulary.own_cards
        or any(before in vocabulary.fan_counts and word in vocabulary.fans for before, word in pairwise(texts))
    ) or is_bare(reading)


#: What ends the part of a title that names the product. Behind it stands what is said of it: `RTX 4070, only used once`.
_ENDS_THE_NAME = re.compile(r"[,;!?|*(\[]|[.:]\s|\s[-–—~]+\s(?=(?:\S+\s+){2}\S)")


#: Chinese, Japanese and Korean letters. Where they speak, a word of other letters is a name: `KEDA 지포스 GT1030 2GB`.
_EAST_ASIAN = re.compile("[\u3040-\u9fff\uac00-\ud7a3]")


def unknown_head(reading: Reading, title: str) -> str | None:
    """The word that stands where titles name what they sell, if it is none that is said of cards; None otherwise.

    The name of a shop or a line stands there too, in Chinese and Korean before the maker, elsewhere behind the memory size:
    there a word says nothing. Several before the name may be a wish in any language (`Mēs pērkam RTX 3060 12GB`).
    """
    words = reading.vocabulary
    if not reading.mentions:
        return None
    if title.endswith("?"):
        return "?"  # it asks, and sells nothing
    before = _before_the_name(reading)
    # Behind `carte graphique`, which these languages name first, stands what kind it is: `carte graphique professionnelle`.
    pairs = enumerate(pairwise(before))
    before = before[
        : next((at for at, (a, b) in pairs if a.text in words.before_names and b.text in words.graphics), None)
    ]
    unknown = _things(before, words)
    if unknown:  # few titles have such a word
        how = {word for said in conditions_named(title) for word in text.split_words(text.normalise(said))}
        unknown = [word for word in unknown if word not in how]
    if unknown:
        # One word, and no maker whom we know: a maker whom we do not know, if no machine is named (`Komplett-PC`).
        beside = words.board_maker | words.for_whom | words.computer_after
        named = (one.text for one in reading.tokens[: reading.mentions[0].start])
        is_maker = len(unknown) == 1 and beside.isdisjoint(named)
        # A shop's own form says what it is: `… 12GB GDDR6X Graphics Card`.
        is_called = reading.memory_types and not reading.marks.isdisjoint(words.graphics)
        is_name = reading.sizes and (is_maker or is_called or _EAST_ASIAN.search(title))
        return None if is_name or words.sellers.find(reading.words, reading.marks) else unknown[0]
    shown = reading.sizes or reading.memory_types or any(one.text in words.selling for one in before)
    if shown and reading.tokens[-1].text != "only":
        return None
    behind = _behind_the_name(reading, text.normalise(title))
    # A `warranty card`, the `screen only`.
    last = next((word for word in reversed(behind) if word not in CARDS | {"only"} and not word.isdigit()), "")
    if (len(last) == 3 and last not in words.of_parts) or not _things([Token(last)], words):
        return None
    of_graphics = behind[behind.index(last) - 1] in words.graphics or reading.marks.isdisjoint(words.graphics)
    return last if of_graphics else None


def _before_the_name(reading: Reading) -> list[Token]:
    """The words before the first maker's or chip's name: many languages name there what is sold (`Bloque de agua MSI RTX
    4090`, `Köpes MSI RTX 4070`). Words behind a preposition say something about it.
    """
    tokens, words = reading.tokens, reading.vocabulary
    first = min((mention.start for mention in reading.mentions), default=0)
    ends = _ends_a_head(words)
    return tokens[: next((place for place in range(first) if tokens[place].text in ends), first)]


def _behind_the_name(reading: Reading, plain: str) -> list[str]:
    """The words behind the chip's name in the part of the title that names the card, up to one that says how it is: English
    and others name there what is sold (`MSI RTX 5090 GPU reservation`).
    """
    number, spelled = reading.mentions[0].family.core[-1], reading.mentions[0].spelled.split()
    end = _ENDS_THE_NAME.search(plain, plain.find(number))
    named = text.split_words(plain[: end.start()] if end else plain)
    begin = next((place for place, word in enumerate(named) if number in word), 0) + 1
    says_how = _says_how(reading.vocabulary)
    stop = next((at for at in range(begin, len(named)) if named[at] in says_how), len(named))
    return [word for word in named[begin:stop] if word not in spelled]


def _things(tokens: Sequence[Token], words: Vocabulary) -> list[str]:
    """The words, in a script with spaces, that are no piece of a code and not said of cards."""
    behind = (*tokens[1:], Token(""))
    said = _said_of_cards(words)
    return [
        one.text
        for one, after in zip(tokens, behind, strict=False)
        if not (one.glued or after.glued or one.text in said)
        and (len(one.text) > 2 and one.text.isalpha() and one.text[0] < "\u1100")
    ]


@cache
def _ends_a_head(words: Vocabulary) -> frozenset[str]:
    return words.board_maker | words.maker.keys() | _says_how(words)


@cache
def _says_how(words: Vocabulary) -> frozenset[str]:
    return words.purpose_before | words.along | words.prepositions | words.denying


@cache
def _said_of_cards(words: Vocabulary) -> frozenset[str]:
    names = (
        words.board_maker
        | words.maker.keys()
        | words.card_lines
        | words.own_cards
        | FORM_WORDS.keys()
        | OPEN_WORDS
        | SOCKETS
    )
    beside = words.liquid | words.mobile | words.machine_lines | words.taken_out | words.fans | words.fan_counts
    said = words.selling | words.graphics | words.plain | words.of_goods | words.along | words.before_names
    return names | beside | said | words.for_whom


def is_bare(reading: Reading) -> bool:
    """Whether the title has nothing but a chip's name. Only then can it mean the GPU of a laptop or a processor alone."""
    # The suffixes of a chip, its line and its form belong to its name too.
    vocabulary = reading.vocabulary
    own = {word for mention in reading.mentions for word in mention.family.suffixes}
    known = (vocabulary.plain, vocabulary.mobile, vocabulary.graphics, vocabulary.maker.keys(), _OF_NAMES, own)
    extra = reading.marks.difference(*known)
    if "edition" in reading.marks:
        extra -= {"workstation"}  # an edition of a card; without "edition" the word means a computer
    return not reading.noise and not extra
