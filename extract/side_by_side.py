"""Compares two pages of a source: the values of each field on both pages, and the markup around missing values."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher
from itertools import zip_longest

from lxml.html import HtmlElement

from gpuledger.extract.collect import parse_page
from gpuledger.extract.errors import ExtractError
from gpuledger.extract.items import Aside, Item, Looked, Parsed, to_json
from gpuledger.extract.markup import charset, excerpt
from gpuledger.extract.markup.html import TooManyAttributes, tree
from gpuledger.extract.source import Page, Source

#: Most characters of a value that are shown.
_SHORT = 80


@dataclass(frozen=True, slots=True)
class Side:
    """One field on one page: how many of the page's rows have it, its value in one row, and the markup around the value."""

    count: int
    rows: int
    value: str | None = None
    markup: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class FieldPair:
    """One field on both pages. `row` names the goods to which the values belong."""

    name: str
    then: Side
    now: Side
    row: str | None = None

    @property
    def is_lost(self) -> bool:
        """Whether a smaller share of the rows has the field now."""
        return self.then.count * max(self.now.rows, 1) > self.now.count * self.then.rows


@dataclass(frozen=True, slots=True)
class Compared:
    """The result of comparing two pages. `failure` says why the newer page cannot be read, if it cannot."""

    then_rows: int
    now_rows: int
    fields: Sequence[FieldPair]
    failure: str | None = None
    lost: Sequence[FieldPair] = field(default_factory=list)


def compare(source: Source, then: Page, now: Page) -> Compared:
    """Compare what `source` reads on an earlier page and on a newer page. Raises ExtractError if the earlier page fails."""
    before, after = _read(source, then), _read(source, now)
    if isinstance(before, ExtractError):
        raise before
    failure = str(after) if isinstance(after, ExtractError) else None
    parsed = [] if isinstance(after, ExtractError) else after
    then_rows, now_rows = ([item for item in items if not isinstance(item, Aside)] for items in (before, parsed))
    trees = _tree(then), _tree(now)
    fields: list[FieldPair] = []
    for kind in dict.fromkeys(map(type, [*then_rows, *now_rows])):
        of_kind = [[item for item in rows if type(item) is kind] for rows in (then_rows, now_rows)]
        fields += [_pair(each.name, of_kind[0], of_kind[1], trees) for each in dataclasses.fields(kind)]
    if failure and then_rows:
        fields.append(_whole_row(then_rows, trees))
    fields += _selectors(before, parsed)
    filled = [pair for pair in fields if pair.then.count or pair.now.count]
    filled.sort(key=lambda pair: (not pair.is_lost, not pair.then.markup, pair.name))
    return Compared(len(then_rows), len(now_rows), filled, failure, [pair for pair in filled if pair.is_lost])


def aligned(then: Sequence[str], now: Sequence[str]) -> list[tuple[str, str]]:
    """Pairs of lines from both sides. Equal lines are paired, and a line that only one side has is paired with nothing."""
    pairs: list[tuple[str, str]] = []
    for _, i, j, k, m in SequenceMatcher(None, then, now, autojunk=False).get_opcodes():
        pairs += zip_longest(then[i:j], now[k:m], fillvalue="")
    return pairs


def _read(source: Source, page: Page) -> list[Parsed] | ExtractError:
    try:
        return parse_page(source, page)
    except ExtractError as error:
        return error


def _selectors(then: Sequence[Parsed], now: Sequence[Parsed]) -> list[FieldPair]:
    """How often each selector matched, for the selectors that were looked for on both pages."""
    looked = {item.selector: item for item in now if isinstance(item, Looked)}
    return [
        FieldPair(f"selector {earlier.selector}", Side(earlier.found, earlier.asked), Side(later.found, later.asked))
        for earlier in then
        if isinstance(earlier, Looked) and (later := looked.get(earlier.selector)) is not None
    ]


def _whole_row(rows: Sequence[Item], trees: tuple[HtmlElement | None, HtmlElement | None]) -> FieldPair:
    """The first row of a page that can no longer be read, with all the markup from which it was read."""
    title, others = _title(rows[0]), {_title(item) for item in rows[1:3]} - {_title(rows[0])}
    steps = _steps_to_all(trees[0], title, others)
    markups = [excerpt.outline(_above(root, title, steps)) for root in trees]
    return FieldPair(rows[0].KIND, Side(len(rows), len(rows), title, markups[0]), Side(0, 0, None, markups[1]), title)


def _steps_to_all(root: HtmlElement | None, title: str, others: Collection[str]) -> int:
    """How many levels above the title the largest element is that contains none of the `others`."""
    titles = excerpt.holders(root, title)
    if not titles:
        return 0
    foreign = {up for other in others for element in excerpt.holders(root, other) for up in element.iterancestors()}
    ups = [titles[0], *titles[0].iterancestors()]
    return next((max(n - 1, 0) for n, up in enumerate(ups) if up in foreign or up.tag == "body"), len(ups) - 1)


def _tree(page: Page) -> HtmlElement | None:
    """The page's tree. None if the page is not HTML."""
    if charset.decode(page.content[:512]).lstrip()[:1] != "<":
        return None
    try:
        return tree(page.content, page.headers.get("content-type"))
    except TooManyAttributes:
        return None


def _pair(
    name: str, then: Sequence[Item], now: Sequence[Item], trees: tuple[HtmlElement | None, HtmlElement | None]
) -> FieldPair:
    then_item, now_item = _example(name, then, now)
    values = [_value(item, name) for item in (then_item, now_item)]
    sides = [
        Side(sum(_value(item, name) is not None for item in items), len(items), value)
        for items, value in zip((then, now), values, strict=True)
    ]
    kind = (then_item or now_item or then[0]).KIND
    pair = FieldPair(f"{kind}.{name}", sides[0], sides[1], _title(then_item) if then_item is not None else None)
    if not pair.is_lost or then_item is None:
        return pair
    before, after = _markups(name, then_item, values, trees)
    return replace(pair, then=replace(pair.then, markup=before), now=replace(pair.now, markup=after))


def _example(name: str, then: Sequence[Item], now: Sequence[Item]) -> tuple[Item | None, Item | None]:
    """The same goods on both pages, preferably goods that have the field on only one of the pages."""
    by_key: dict[str, Item] = {}
    for item in now:
        for key in _keys(item):
            by_key.setdefault(key, item)
    pairs = [(item, next((by_key[key] for key in _keys(item) if key in by_key), None)) for item in then]
    having = [pair for pair in pairs if _value(pair[0], name) is not None]
    lost = [pair for pair in having if pair[1] is not None and _value(pair[1], name) is None]
    changed = [pair for pair in having if pair[1] is not None and _value(pair[1], name) != _value(pair[0], name)]
    met = [pair for pair in having if pair[1] is not None]
    best = next(iter([*lost, *changed, *met, *having]), None)
    if best is not None:
        return best
    return None, next((item for item in now if _value(item, name) is not None), None)


def _keys(item: Item) -> list[str]:
    return [str(value) for name in ("key", "url", "title", "gpu_name") if (value := getattr(item, name, None))]


def _title(item: Item) -> str:
    return next(iter(reversed(_keys(item))), item.KIND)[:_SHORT]


def _value(item: Item | None, name: str) -> str | None:
    value = None if item is None else to_json(item).get(name)
    return None if value in (None, "", "unknown") else str(value)[:_SHORT]


def _markups(
    name: str, item: Item, values: Sequence[str | None], trees: tuple[HtmlElement | None, HtmlElement | None]
) -> tuple[list[str], list[str]]:
    """The markup around a value on the page that has it, and around the same goods on the other page."""
    then, now = trees
    texts = [text for text in (getattr(item, f"{name}_text", None), *_written(values[0] or "")) if text]
    before = _place(then, _title(item), texts)
    if before is None:
        return [], []  # the value is nowhere on the page as it was read, such as the currency of a shop
    steps = _steps(then, _title(item), before)
    after = _place(now, _title(item), texts)
    if after is None:
        after = _above(now, _title(item), steps)
    return excerpt.outline(before), excerpt.outline(after)


def _written(value: str) -> list[str]:
    """The forms in which pages write a value: 1899.99 is `1,899.99`, or `1.899,99`."""
    if not re.fullmatch(r"\d+(\.\d+)?", value):
        return [value]
    whole, _, decimals = value.partition(".")
    grouped = f"{int(whole):,}"
    with_points = grouped.replace(",", ".")
    return (
        [f"{grouped}.{decimals}", f"{with_points},{decimals}", value, grouped, with_points]
        if decimals
        else [grouped, with_points, value]
    )


def _place(root: HtmlElement | None, title: str, texts: Sequence[str]) -> HtmlElement | None:
    """The place of the first text that the page has, nearest to the title, with what is beside it."""
    titles = excerpt.holders(root, title)
    if not titles:
        return None
    for text in texts:
        element = excerpt.nearest([holder for holder in excerpt.holders(root, text) if holder not in titles], titles[0])
        if element is not None:
            return excerpt.block_around(element)
    return None


def _steps(root: HtmlElement | None, title: str, place: HtmlElement | None) -> int:
    """How many levels above the title the element is that contains both the title and the place."""
    titles = excerpt.holders(root, title)
    if not titles or place is None:
        return 1
    both = excerpt.together(titles[0], place)
    return next((n for n, up in enumerate((titles[0], *titles[0].iterancestors())) if up is both), 1)


def _above(root: HtmlElement | None, title: str, steps: int) -> HtmlElement | None:
    titles = excerpt.holders(root, title)
    if not titles:
        return None
    ups = [titles[0], *titles[0].iterancestors()]
    ups = [up for up in ups if up.tag not in ("body", "html")] or ups[:1]
    return ups[min(steps, len(ups) - 1)]
