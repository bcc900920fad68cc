"""The words of shops, by language: stock, ordering, condition, tax, delivery, goods, and what stands in place of a price.

The words are data, one TOML file a topic, and this is their one reader for lists, product pages, quotes and feeds: the same
sentence gets the same answer everywhere. They are searched for in a title, a badge or a status line, never in a whole page,
whose menus and hints speak of other things.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path

from gpuledger.items import Availability, Condition

#: Languages that do not separate words: their words count anywhere.
_UNSEPARATED = frozenset(("ja", "ko", "zh", "th"))
_NO_LETTER_BEFORE, _NO_LETTER_BEHIND = r"(?<![^\W\d_])", r"(?![^\W\d_])"


def entries(table: str) -> list[str]:
    """The words of a table: ` | ` and line ends separate them, and each is a regular expression."""
    return [word for line in table.split("\n") for word in line.strip().split(" | ") if word]


def anywhere(table: str) -> re.Pattern[str]:
    """Matches each word of a table anywhere. `^` and `$` match at lines. For names in lower case (`product-price`)."""
    return re.compile("|".join(entries(table)), re.MULTILINE)


def at_word_start(table: str) -> re.Pattern[str]:
    """Matches each word of a table at the beginning of a word of the text, in any case; Korean, Japanese and Chinese words
    anywhere.
    """
    begun = [word for word in entries(table) if not _OF_UNSEPARATED.match(word)]
    within = [word for word in entries(table) if _OF_UNSEPARATED.match(word)]
    return re.compile("|".join([f"{_NO_LETTER_BEFORE}(?:{'|'.join(begun)})", *within]), re.IGNORECASE)


_OF_UNSEPARATED = re.compile(r"[\u3040-\u9fff\uac00-\ud7a3]")


@cache
def _topic(name: str) -> Mapping[str, Mapping[str, str]]:
    with Path(__file__).with_name(f"{name}.toml").open("rb") as file:
        return tomllib.load(file)


def source(topic: str, *meanings: str) -> str:
    """The regular expression for the words of these meanings in all languages, to be used as a part of a larger one."""
    whole: dict[str, None] = {}
    begun: dict[str, None] = {}
    within: dict[str, None] = {}
    for meaning in meanings:
        for language, table in _topic(topic)[meaning].items():
            for word in entries(table.replace("’", "['’]")):
                kind = within if language in _UNSEPARATED else begun if word.endswith("*") else whole
                kind[word.removesuffix("*")] = None
    # One condition for all words: where no word begins, none of them is tried.
    separated = [f"(?:{'|'.join(whole)}){_NO_LETTER_BEHIND}"] * bool(whole) + [f"(?:{'|'.join(begun)})"] * bool(begun)
    begins = [f"{_NO_LETTER_BEFORE}(?:{'|'.join(separated)})"] * bool(separated)
    return "(?:" + "|".join([*begins, *within]) + ")"


@cache
def pattern(topic: str, *meanings: str) -> re.Pattern[str]:
    """Matches the words of these meanings, in any case."""
    return re.compile(source(topic, *meanings), re.IGNORECASE)


def listed(topic: str, meaning: str) -> frozenset[str]:
    """The words of a meaning in all languages as they are, for names that are compared and not searched for."""
    return frozenset(word for table in _topic(topic)[meaning].values() for word in entries(table))


def table(topic: str, meaning: str) -> str:
    """The words of a meaning in all languages as one table, for a reader that builds its own pattern."""
    return "\n".join(_topic(topic)[meaning].values())


def meanings(topic: str) -> tuple[str, ...]:
    """The meanings of a topic, in the order of its file."""
    return tuple(_topic(topic))


# ── stock ─────────────────────────────────────────────────────────────────────────────────────────────────────────────

_STATUSES: tuple[Availability, ...] = ("out_of_stock", "preorder", "in_stock")


def availability(text: str) -> Availability | None:
    """What a status line says about buying the goods now; None if it says nothing about that.

    Words for goods that are gone win over all others. A word behind `not`, or about another thing (`image not available`),
    does not count as what it says alone.
    """
    counted = _by_count(text)
    if counted == "out_of_stock":
        return counted
    said = {meaning for status in _STATUSES for meaning in _meanings(text, status)}
    if said or counted:
        return next((status for status in _STATUSES if status in said), counted)
    return "in_stock" if pattern("order", "cart").search(text) else None


def is_on_order(text: str) -> bool:
    """Whether a text says that goods are ordered now and come later, whatever else it says of them: in a word, by a day on
    which they are expected, or as a delivery that takes two weeks or more.
    """
    if any(_meanings(text, "preorder")):
        return True
    for clause in _END_OF_DATED.split(text.replace(":", " ").replace("：", " ")):
        takes = pattern("stock", "lead_time").match(clause.strip())
        if takes and any(int(weeks[1]) > 1 for weeks in _weeks().finditer(clause)):
            return True
        is_expected = pattern("stock", "soon").search(clause) and _date().search(clause)
        if is_expected and not pattern("stock", "other_date").search(clause):
            return True
    return False


@cache
def _weeks() -> re.Pattern[str]:
    return re.compile(
        rf"(?<!\d)(\d{{1,2}})(?:\s?(?:-|–|to|bis|à|al?|do|till)\s?\d+)?\s?{source('stock', 'weeks')}", re.I
    )


def _meanings(text: str, status: Availability) -> Iterator[Availability]:
    for match in pattern("stock", status).finditer(text):
        before = _CLAUSE.split(text[: match.start()])[-1]
        if pattern("stock", "of_anything").fullmatch(match.group()) and _is_of_other_thing(before, text[match.end() :]):
            continue
        negations = [*pattern("stock", "negation").finditer(before)]
        between = before[negations[-1].end() :] if negations else ""
        # In `Ei varastossa. Tilaustuote` the negation has its word already.
        is_taken = status != "in_stock" and pattern("stock", "in_stock").search(between) is not None
        if not negations or is_taken or len(between.split()) > _MOST_BETWEEN:
            yield _at_another_time(text, match) or status if status == "in_stock" else status
        elif status == "in_stock":
            yield "out_of_stock"


@cache
def _date() -> re.Pattern[str]:
    """A day: `12.12.2026`, `12/12`, `2026-12-12`, `12. Dezember`, `December 12`, `KW 50`, `3 weeks`, `12月12日`."""
    month = source("stock", "month", "weeks")
    day = r"\d{1,2}[./]\s?\d{1,2}(?:[./]\s?(?:\d{4}|\d{2}))?(?![\d,.%])|\d{4}-\d{2}-\d{2}"
    return re.compile(rf"{day}|\d{{1,2}}\.?(?:\s(?:de|of))?\s?{month}|{month}\s\d{{1,2}}(?!\d)", re.IGNORECASE)


#: What ends a clause with a date in it, whose points end nothing.
_END_OF_DATED = re.compile(r"[;!?|•·,:、。！？\n(]|(?<!\d)\.\s(?!\d|[a-zа-я])|\s[-–—]\s")


def _at_another_time(text: str, match: re.Match[str]) -> Availability | None:
    """What a word for `in stock` says of another time than now: `preorder` if the goods come, `out_of_stock` if they were
    there; None if it is about now. A date of the delivery says nothing: `In stock, delivery on 12 December`.
    """
    before = _END_OF_DATED.split(text[: match.start()])[-1]
    behind = _END_OF_DATED.split(text[match.end() :])[0]
    near = " ".join(before.split()[-_MOST_BETWEEN - 2 :])
    if pattern("stock", "past").search(near) or re.search(r"\bago\b", behind):
        return "out_of_stock"
    if pattern("stock", "other_date").search(f"{near} {behind}"):
        return None
    if pattern("stock", "soon").search(f"{near} | {' '.join(behind.split()[: _MOST_BETWEEN + 1])}"):
        return "preorder"
    return "preorder" if _date().search(near) or _date().search(behind) else None


def orders(text: str) -> bool:
    """Whether the words of a button order the goods, and do not only put them on a list."""
    orders_, lists = pattern("order", "cart", "buy", "bid"), pattern("order", "wish")
    return orders_.search(text) is not None and lists.search(text) is None


#: What ends a clause: what stands before it does not describe what stands behind it.
_CLAUSE = re.compile(r"[.;!?|•·,:：、。！？\n]|\s[-–—]\s")
#: The most words between a negation or another thing and the word that it turns round or explains.
_MOST_BETWEEN = 2
#: `available in three colours`, `verfügbar für Abholung`.
_PREPOSITION = re.compile(
    r"\W{0,2}(?:in|for|with|as|für|mit|als|pour|en|avec|para|con|em|com|per|voor|met|för|til|для|w|dla|pro|ve?)\s", re.I
)


def _is_of_other_thing(before: str, behind: str) -> bool:
    """Whether a word for stock describes a thing other than the goods, by the words right around it."""
    other = pattern("stock", "other_things")
    things = [*other.finditer(before)]
    if things and len(before[things[-1].end() :].split()) <= _MOST_BETWEEN:
        return True
    if _PREPOSITION.match(behind) is None:
        return False
    thing = other.search(_CLAUSE.split(behind)[0])
    return thing is not None and len(behind[: thing.start()].split()) <= _MOST_BETWEEN + 1


@cache
def _counts() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Matches of none (`Stock: 0`, `0 new in stock`) and of some (`Stock: 12 pcs`), as numbers of pieces."""
    label, stocked = source("stock", "label"), source("stock", "in_stock")
    none = rf"^\W*{label}\W*0\W*(?:\w+\W*)?$|(?<![\d.,])0\s(?:\w+\s){{0,2}}{stocked}|{stocked}\W{{0,3}}0(?![\d.,])"
    some = rf"^\W*{label}\s*[:：]\s*[<>~≈]?\s*[1-9]\d{{0,5}}\s?\+?\W*(?:\w+\W*)?(?:\([^)]*\)\W*)?$"
    return re.compile(none, re.IGNORECASE), re.compile(some, re.IGNORECASE)


def _by_count(text: str) -> Availability | None:
    none, some = _counts()
    if "0" in text and none.search(text):
        return "out_of_stock"
    return "in_stock" if some.search(text) else None


@cache
def _status_line() -> re.Pattern[str]:
    before, status = source("stock", "before_status", "label", "soon", "past"), source("stock", *_STATUSES)
    return re.compile(rf"[\W\d]*(?:{before}[\W\d]*)*{status}", re.IGNORECASE)


@cache
def _gone_in_line() -> re.Pattern[str]:
    gone, there = source("stock", "out_of_stock"), source("stock", "in_stock")
    denied = rf"{source('stock', 'negation')}\W+(?:\w+\W+){{0,2}}?{there}"
    before = r"[\W\d]*(?:[^\W\d]+[\W\d]+){0,5}?[\u3040-\u9fff\uac00-\ud7a3]{0,12}?"
    return re.compile(rf"{before}(?:{gone}|{denied})\w*(?:[^\w,;]+\w+){{0,4}}\W*$", re.IGNORECASE)


@lru_cache(maxsize=1 << 12)  # the pages of a shop share most of their lines
def status_of_line(line: str) -> Availability | None:
    """The status of a line that is one: it begins with it, perhaps behind words for the goods (`This item is in stock`).

    For goods that are gone a few words of any language may stand around it (`Товара нет в наличии`).
    """
    if _status_line().match(line) or _by_count(line):
        return availability(line)
    if _gone_in_line().match(line) and availability(line) == "out_of_stock":
        return "out_of_stock"
    return "preorder" if is_on_order(line) else None


#: What stands before a colon: a shop's branch, a warehouse, what is asked.
_BEFORE_COLON = re.compile(r"\W*([^\W\d][^:：]{1,40})[:：]\s*(?:[<>+]?\s*(\d{1,5})\+?\s?\w{0,9}\.?$)?")


def status_of_places(lines: Sequence[str]) -> tuple[Availability | None, Availability | None]:
    """What lines say of the goods at all, and what those say that are of one place each: `Leiria: Em stock`, `Oulu: 0 kpl`.

    The goods can be bought while one place has them.
    """
    general: list[str] = []
    places: set[Availability | None] = set()
    for line in lines:
        named = _BEFORE_COLON.match(line)
        if named is None or pattern("stock", "label", "before_status").search(named[1]):
            general.append(line)
        elif named[2]:
            places.add("in_stock" if int(named[2]) else "out_of_stock")
        else:
            places.add(availability(line))
    said = (status for line in general if (status := availability(line)) is not None)
    return next(said, None), next((status for status in ("in_stock", "out_of_stock") if status in places), None)


def has_ended(line: str) -> bool:
    """Whether a line begins with words that a listing, an auction or an advertisement is over."""
    return pattern("stock", "ended").match(line) is not None


def is_of_stock_label(line: str) -> bool:
    """Whether a line begins with a label for stock: `Availability:`."""
    match = pattern("stock", "label").match(line)
    return match is not None and line[match.end() :].lstrip()[:1] in (":", "：")


# ── condition, goods ──────────────────────────────────────────────────────────────────────────────────────────────────

_CONDITIONS: tuple[Condition, ...] = ("refurbished", "open_box", "used")


def condition(text: str) -> Condition | None:
    """The condition that a title or a badge names. None if it names no condition, which means new in most shops."""
    return next((kind for kind in _CONDITIONS if pattern("condition", kind).search(text)), None)


def conditions_named(text: str) -> list[str]:
    """The words of a title that name a condition, as they stand there: `Open Box`."""
    ends = (
        (match.start(), _REST_OF_WORD.match(text, match.end()))
        for match in pattern("condition", *_CONDITIONS).finditer(text)
    )
    return [text[start : end.end()] for start, end in ends if end]


_REST_OF_WORD = re.compile(r"\w*")


def stated_condition(text: str) -> Condition | None:
    """The condition that stands where one is stated, behind a label or in a column: `new` counts there too, and a grade
    (`very good`, `like new`) is one of used goods.
    """
    grade: Condition | None = "used" if pattern("condition", "grade").search(text) else None
    return condition(text) or grade or ("new" if pattern("condition", "new").search(text) else None)


def is_bundle(text: str) -> bool:
    """Whether the text says that several goods are sold together, so that the price is not the price of the card.

    It says so in a word, or it joins a card and other goods with a plus: `B650M-H + RX 9060 XT 16GB`.
    """
    if pattern("goods", "bundle").search(text) is not None:
        return True
    parts = _PLUS.split(text)
    others = [part for part in parts if not speaks_of_card(part)]
    return 0 < len(others) < len(parts) and any(map(_is_other_goods, others))


#: What joins the goods of a set. Without spaces around it, it is part of a name (`8+8 pin`, `PCS+`).
_PLUS = re.compile(r"\s(?:[+＋&]|plus|inkl\.?|incl\.?|加)\s", re.IGNORECASE)
#: A maker's designation of a computer or a board: `H-V501MV-09270H003WB`.
_DESIGNATION = re.compile(r"(?=\S*\d)(?=\S*[A-Z])[A-Z\d]+(?:-[A-Z\d]+)+(?!\S)")


def _is_other_goods(part: str) -> bool:
    if pattern("goods", "other_goods").search(part):
        return True
    code = _DESIGNATION.search(part)
    return code is not None and len(code.group()) >= _LONG_DESIGNATION and len(part.split()) <= _FEW_WORDS


_LONG_DESIGNATION, _FEW_WORDS = 8, 3


@lru_cache(maxsize=1 << 16)
def is_grey_import(title: str) -> bool:
    """Whether the title says that the goods bypass the maker's own distributor (해외구매, 병행수입, import, non-EU)."""
    return pattern("goods", "grey_import").search(title) is not None


def speaks_of_card(text: str) -> bool:
    """Whether a title, a category or the words of an address name a graphics card or a family of cards."""
    return pattern("goods", "card").search(text) is not None


# ── tax, no price ─────────────────────────────────────────────────────────────────────────────────────────────────────

#: What may stand between a word and the name of the tax: `inkl. 19 % MwSt.`
_BETWEEN = r"\.?\s?(?:of\s|der\s|\d+(?:[.,]\d+)?\s?%\s?)?"


@cache
def net_source() -> str:
    """The regular expression for words that exclude tax from a price."""
    tax = source("tax", "tax")
    return (
        rf"(?:{source('tax', 'without')}{_BETWEEN}{tax}|\+\s?(?:\d+\s?%\s?)?{tax}"
        rf"|{tax}\s?{source('tax', 'without_behind')}|{source('tax', 'net')})"
    )


@cache
def _taxed() -> tuple[tuple[bool, re.Pattern[str]], ...]:
    tax = source("tax", "tax")
    gross = rf"{source('tax', 'with')}{_BETWEEN}{tax}|{tax}\s?{source('tax', 'with_behind')}|{source('tax', 'gross')}"
    # Texts that exclude tax come first: "zzgl. MwSt." has no word of the other list.
    return (False, re.compile(net_source(), re.IGNORECASE)), (True, re.compile(gross, re.IGNORECASE))


def tax_included(text: str) -> bool | None:
    """Whether the text says that the price includes VAT or sales tax. None if it says nothing about tax."""
    if not any(map(str.isalpha, text)):
        return None  # most prices are an amount and a sign
    return next((included for included, words in _taxed() if words.search(text)), None)


def without_tax(text: str) -> str:
    """The text without its words on tax: `price` for `price excl. vat`."""
    for _, taxed in _taxed():
        text = taxed.sub("", text)
    return text


def is_on_request(line: str) -> bool:
    """Whether a line begins with words that give a price on request, or to those alone who log in."""
    return pattern("price", "on_request").match(line) is not None


def says_no_price(text: str) -> bool:
    """Whether the text stands in the place of a price and says that there is none."""
    return pattern("price", "on_request", "to_come").search(text) is not None or (
        pattern("stock", "out_of_stock").search(text) is not None
    )
