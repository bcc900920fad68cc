"""Where things stand on a product page: the title, the button that orders, and the parts that show other goods."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

from lxml.html import HtmlElement

from gpuledger.extract import words
from gpuledger.extract.markup.html import is_hidden, visible_text
from gpuledger.extract.price import words as price_words
from gpuledger.extract.product import scan, signs
from gpuledger.extract.product.context import Context

#: The level of an element that shares no part of the page with the anchor, or of any element if there is no anchor.
FAR = 99


@dataclass(frozen=True)
class Layout:
    """The parts of one page. `title` is the heading that names its goods, if there is one."""

    tree: HtmlElement
    url: str
    title: HtmlElement | None

    @cached_property
    def above_title(self) -> dict[HtmlElement, int]:
        """Each element that holds the title, with its distance from it."""
        return _levels(self.title)

    @cached_property
    def button(self) -> HtmlElement | None:
        """The means of ordering nearest to the title. The buttons on other goods' tiles are further away."""
        unnamed_buttons: list[HtmlElement] = []
        for element in self._buttons():
            if scan.is_named_order(element) and not self.is_elsewhere(element):
                return element
            unnamed_buttons.append(element)
        return next(
            (button for button in unnamed_buttons if scan.is_worded_order(button) and not self.is_elsewhere(button)),
            None,
        )

    def _buttons(self) -> Iterator[HtmlElement]:
        """Elements that may be a button, from the title outwards: on most pages only a small part has to be searched."""
        inner: HtmlElement | None = None
        for part in self.above_title or [self.tree]:
            if part.tag in scan.BUTTONS:
                yield part
            for child in part:
                if child is not inner:
                    yield from child.iter(*scan.BUTTONS)
            inner = part

    @cached_property
    def part(self) -> HtmlElement:
        """The part of the page that is about the goods: the parent of the smallest part with the title and the button.

        If there is no button, it is the nearer half of the parts around the title. If there is no title, it is the page.
        """
        if not self.above_title:
            return self.tree
        farthest = max(self.above_title.values())
        level = self.title_level(self.button) + 1 if self.button is not None else max(3, farthest // 2)
        return next(part for part, distance in self.above_title.items() if distance == min(level, farthest))

    @cached_property
    def parts(self) -> scan.Parts:
        """The elements of `part` that may say something about the goods."""
        return scan.walk(self.part)

    @cached_property
    def above_button(self) -> dict[HtmlElement, int]:
        """Each element that holds the button, with its distance from it."""
        return _levels(self.button)

    @cached_property
    def prices(self) -> list[tuple[int, HtmlElement]]:
        """Elements that may be a price by their text or their name, each with its place from the top."""
        order_of = {element: order for order, element in self.parts.priced}
        order_of.update((element, order) for order, element in self.parts.named(signs.PRICE))
        return sorted(((order, element) for element, order in order_of.items()), key=lambda placed: placed[0])

    @cached_property
    def statuses(self) -> list[HtmlElement]:
        """Parts that are named after stock and belong to the page's own goods."""
        status_parts = self.parts.named(signs.STATUS)
        # A button named after stock (`notify me`), or the label in it for goods that are gone, is also on the pages of goods
        # that are there, but hidden.
        buttons = {self.button} if self.button is not None and self.button.tag in ("a", "button") else set()
        return [
            element
            for _, element in status_parts
            if element.tag not in ("a", "button")
            and not (buttons and any(up in buttons for up in element.iterancestors("a", "button")))
            and not self.is_elsewhere(element)
        ]

    def title_level(self, element: HtmlElement) -> int:
        """How far above the title the smallest part lies that holds both the title and the element."""
        return _level(element, self.above_title)

    def button_level(self, element: HtmlElement) -> int:
        """How far above the button the smallest part lies that holds both the button and the element."""
        return _level(element, self.above_button)

    def is_elsewhere(self, element: HtmlElement) -> bool:
        """Whether the element is hidden or lies in a part that shows other goods. A part with the title does neither."""
        if element in self.above_title:
            return False
        parent = element.getparent()
        return _is_unseen(element) or (parent is not None and self._leads_elsewhere(parent))

    def is_in_another_section(self, element: HtmlElement) -> bool:
        """Whether a heading that does not speak of a price stands before the element, in a part without the title.

        `Why not try these`: if nothing can be ordered, no button shows where the goods' own part ends.
        """
        here: HtmlElement | None = element
        while here is not None and here not in self.above_title:
            for before in here.itersiblings(*_HEADINGS, preceding=True):
                if self.title is not None and before not in self.above_title and not _speaks_of_price(before):
                    parent = here.getparent()
                    return parent is not None and parent not in self.above_title
            here = here.getparent()
        return False

    def _leads_elsewhere(self, part: HtmlElement) -> bool:
        here: HtmlElement | None = part
        while here is not None and here not in self.above_title:
            # The parents of hundreds of elements are mostly the same ones: each part is judged once.
            if here not in self._elsewhere:
                is_other = self._is_named_elsewhere(here) or self._is_headed_elsewhere(here)
                self._elsewhere[here] = _is_unseen(here) or is_other or _is_beside(here)
            if self._elsewhere[here]:
                return True
            here = here.getparent()
        return False

    def _is_headed_elsewhere(self, part: HtmlElement) -> bool:
        """Whether a part begins with a heading of other goods, or the nearest heading before it is one."""
        if len(part) and part[0].tag in _HEADINGS and _is_of_others(part[0]):
            return True
        for before in islice(part.itersiblings(preceding=True), _MOST_BEFORE):
            if before in self.above_title or before.tag in _HEADINGS:
                return before not in self.above_title and _is_of_others(before)
        return False

    def _is_named_elsewhere(self, part: HtmlElement) -> bool:
        """Whether a part's name speaks of other goods. The name of the block that holds the title does not count.

        `product-card__prices` beside a title in `product-card` belongs to the goods; a whole `product-card` is a tile.
        """
        name = scan.name_of(part)
        if "elsewhere" not in scan.traits_of(name):
            return False
        if "__" not in name:
            return not self._is_own_card(part, name)
        other_words = [
            word for word in name.split() if "__" not in word or word.partition("__")[0] not in self._own_blocks
        ]
        return "elsewhere" in scan.traits_of(" ".join(other_words))

    def _is_own_card(self, part: HtmlElement, name: str) -> bool:
        """Whether a part named like a tile is the goods' own: no other has its name, it orders, and it links nowhere."""
        if _CARD.search(name.lower()) is None:
            return False
        alike = self.tree.xpath("//*[@class=$classes]", classes=part.get("class") or "")
        if len(alike) > 1:
            return False
        headings = (visible_text(heading, _LONGEST_HEADING) for heading in part.iter(*_HEADINGS))
        if any(not price_words.is_of_price(text) and words.availability(text) is None for text in headings):
            # The heading is the name of other goods.
            return False
        orders = any(scan.is_named_order(button) or scan.is_worded_order(button) for button in part.iter(*scan.BUTTONS))
        return orders and not any(
            self.leads_away(link) and (link.find(".//img") is not None or (link.text or "").strip())
            for link in part.iter("a")
        )

    @cached_property
    def _own_blocks(self) -> set[str]:
        """The blocks (`product-card` of `product-card__title`) that the title and the parts around it belong to."""
        names = (scan.name_of(part) for part in self.above_title)
        return {word.partition("__")[0] for name in names for word in name.split()}

    def leads_away(self, link: HtmlElement) -> bool:
        """Whether a link leads to another page, and not to an anchor, a script or the page itself."""
        href = (link.get("href") or "").strip()
        if not href or href.startswith(("#", "javascript:")):
            return False
        last = href.partition("#")[0].partition("?")[0].rstrip("/").rpartition("/")[2]
        return re.search(rf"(?<![^\W_]){re.escape(last)}(?![^\W_])", self.url) is None

    @cached_property
    def _elsewhere(self) -> dict[HtmlElement, bool]:
        return {}


def _is_beside(part: HtmlElement) -> bool:
    """Whether a part is marked as one that stands beside the goods, and nothing in it orders."""
    return part.tag == "aside" and not any(map(scan.is_worded_order, part.iter("button", "a", "input")))


def _is_unseen(element: HtmlElement) -> bool:
    return element.tag in ("footer", "nav", "template", "noscript") or is_hidden(element) or _is_page_header(element)


_CARD = re.compile(r"(?:product|item)[-_]?(?:card|box)(?![a-z])")
_HEADINGS = ("h2", "h3", "h4", "h5")
_LONGEST_HEADING = 60
#: A heading speaks of what stands this close behind it.
_MOST_BEFORE = 4


def _is_of_others(heading: HtmlElement) -> bool:
    """Whether a heading is one of other goods (`Similar products`). The names of goods mostly have a digit."""
    text = visible_text(heading, _LONGEST_HEADING + 1).lstrip()
    return len(text) <= _LONGEST_HEADING and not any(map(str.isdigit, text)) and signs.RELATED.match(text) is not None


def _speaks_of_price(heading: HtmlElement) -> bool:
    text = visible_text(heading, _LONGEST_HEADING)
    return any(map(str.isdigit, text)) or not text or price_words.is_of_price(text)


def _is_page_header(element: HtmlElement) -> bool:
    """Whether it is the page's header. An article may have its own, with the price in it; the page's stands outside."""
    return element.tag == "header" and not any(
        up.tag in ("main", "article", "section") for up in element.iterancestors()
    )


def layout_of(page: Context) -> Layout:
    """The layout of a page."""
    return Layout(page.tree, page.url, main_heading(page))


def main_heading(page: Context) -> HtmlElement | None:
    """The heading that names the goods: the `h1` that shares most words with the document's title.

    If there is no `h1`, or the only one stands in the page's header as the shop's name, it is the element that prints the
    longest part of the document's title. None if there is no such element either.
    """
    page_words = _word_set(f"{page.document_title} {page.first_meta('og:title') or ''}")

    def shared(heading: tuple[HtmlElement, str]) -> tuple[float, int]:
        own = _word_set(heading[1])
        return len(own & page_words) / (len(own) + 2), len(own & page_words)

    best = max(page.headings, key=shared) if page.headings else None
    if best is not None and not any(_is_unseen(up) for up in best[0].iterancestors()):
        return best[0]
    titled = _titled(page)
    if best is not None and (titled is None or 2 * shared(best)[1] >= len(_word_set(titled.text or ""))):
        return best[0]
    return titled


#: A shorter text occurs in a document's title by chance (`Shop`, `Home`).
_SHORTEST_NAME = 5
_LONGEST_TITLE = 300
_MOST_TITLED = 12
_OF_NAMES = re.compile(r"title|name|heading|headline|titel|titre|titulo|titolo|nazw|nazev|nimi|navn|namn")
#: Names of parts that repeat the goods' name, or hold the shop's own: paths to the page, menus, tabs, the logo.
_NOT_NAMES = re.compile(
    r"crumb|pfad|ariane|navigation|sitemap|menu|tab(?:s|list)?(?:[-_ ]|$)|search|site-?(?:title|name)|logo"
)


def _titled(page: Context) -> HtmlElement | None:
    """The element whose own text is the longest piece of the document's title, or of the title for other sites."""
    titles = [_folded(text[:_LONGEST_TITLE]) for text in (page.first_meta("og:title"), page.document_title) if text]
    longest = max(map(len, titles), default=0)
    candidates: list[tuple[float, HtmlElement]] = []
    for element in page.tree.iter(*scan.HOLD_TEXT):
        text = element.text
        if not text or not _SHORTEST_NAME <= len(text) <= longest + _MAX_MARGIN or text.isspace():
            continue
        name = _folded(text)
        if len(name) < _SHORTEST_NAME or name.isdigit():
            continue
        title = next((title for title in titles if name in title), None)
        if title is not None:
            starts = title.startswith(name)
            is_heading = element.tag in _HEADINGS or _OF_NAMES.search(scan.name_of(element).lower()) is not None
            # Titles begin with the goods' name and end with the shop's or a slogan.
            candidates.append((len(name) * (1.2 if starts else 1.0) * (1.3 if is_heading else 1.0), element))
    candidates.sort(key=lambda candidate: -candidate[0])
    return next((element for _, element in candidates[:_MOST_TITLED] if _may_be_heading(element)), None)


def _may_be_heading(element: HtmlElement) -> bool:
    """Whether a text may be a heading: not hidden, no link, not in the page's header, footer or path to the page."""
    line = [element, *element.iterancestors()]
    if any(_NOT_NAMES.search(scan.name_of(up).lower()) for up in line[:_NEAR]):
        return False
    return not any(
        up.tag in ("a", "footer", "nav", "template", "noscript")
        or is_hidden(up)
        or (up.tag == "header" and up.find(".//nav") is not None)
        for up in line
    )


#: How many parts around a text describe it by their names. Those further out describe the whole page.
_NEAR = 5
#: How many spaces may surround a name: templates put it on a line of its own, far from the margin.
_MAX_MARGIN = 100


def _folded(text: str) -> str:
    return " ".join(text.split()).casefold()


def _word_set(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.lower()))


def _levels(anchor: HtmlElement | None) -> dict[HtmlElement, int]:
    return {} if anchor is None else {up: level for level, up in enumerate([anchor, *anchor.iterancestors()])}


def _level(element: HtmlElement, levels: dict[HtmlElement, int]) -> int:
    here: HtmlElement | None = element
    while here is not None:
        if here in levels:
            return levels[here]
        here = here.getparent()
    return FAR
