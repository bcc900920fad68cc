"""Finds where a text stands on a page, and shows the markup around it to a person who mends or writes a parser."""

from __future__ import annotations

from collections.abc import Iterator

from lxml.html import HtmlElement

from gpuledger.extract.markup.html import UNSEEN, visible_text
from gpuledger.extract.markup.mojibake import clean

#: How many lines of markup a person takes in at once, and how many letters of each line.
MOST_LINES, MOST_LETTERS = 30, 100
#: How many elements of a page are searched: a hostile page has millions.
_MOST_ELEMENTS = 200_000


def holders(root: HtmlElement | None, text: str) -> list[HtmlElement]:
    """The smallest elements that show `text`, in the order of the page; then the elements with the text in an attribute."""
    text = clean(text)
    if root is None or not text:
        return []
    showing, with_attribute = [], []
    for number, element in enumerate(root.iter()):
        if number > _MOST_ELEMENTS:
            break
        if not isinstance(element.tag, str) or element.tag in UNSEEN:
            continue
        if any(text in clean(value) for value in element.attrib.values()):
            with_attribute.append(element)
        # The element's own text comes first: to join the texts of all elements below costs as much as the whole page.
        own = [element.text or "", *(child.tail or "" for child in element)]
        if any(text in clean(piece) for piece in own) or (_is_small(element) and _shows(element, text)):
            showing.append(element)
    inner = {up for element in showing for up in element.iterancestors()}
    return [element for element in showing if element not in inner] + with_attribute


def _shows(element: HtmlElement, text: str) -> bool:
    return text in clean(element.text_content()) or text in visible_text(element)


def _is_small(element: HtmlElement) -> bool:
    """Whether few elements are below it: enough for a price in three elements, and too few for a whole list."""
    return 0 < len(element) <= 12 and sum(1 for _, _ in zip(element.iter(), range(40), strict=False)) < 40


def nearest(elements: list[HtmlElement], to: HtmlElement) -> HtmlElement | None:
    """The element that shares most of its path from the root with `to`; the first one if several share as much."""
    path = [*reversed([*to.iterancestors()]), to]
    places = {element: depth for depth, element in enumerate(path)}

    def shared(element: HtmlElement) -> int:
        return max((places.get(up, -1) for up in (element, *element.iterancestors())), default=-1)

    return max(elements, key=shared, default=None)


def together(first: HtmlElement, second: HtmlElement) -> HtmlElement:
    """The smallest element that holds both."""
    above = {first, *first.iterancestors()}
    return next((up for up in (second, *second.iterancestors()) if up in above), first)


def block_around(element: HtmlElement) -> HtmlElement:
    """The element's parent if it holds few elements, otherwise the element itself."""
    up = element.getparent()
    return (
        up if up is not None and up.tag not in ("body", "html") and sum(1 for _ in up.iter()) <= MOST_LINES else element
    )


def outline(element: HtmlElement | None) -> list[str]:
    """The markup of an element, one indented line per tag, without scripts and without lines after the first MOST_LINES."""
    lines: list[str] = []
    for line in [] if element is None else _lines(element, 0):
        if len(lines) == MOST_LINES:
            lines.append("…")
            break
        lines.append(line if len(line) <= MOST_LETTERS else f"{line[: MOST_LETTERS - 1]}…")
    return lines


def _lines(element: HtmlElement, depth: int) -> Iterator[str]:
    if not isinstance(element.tag, str) or depth > MOST_LINES:
        return
    attributes = "".join(f' {name}="{clean(value)[:60]}"' for name, value in element.attrib.items() if name != "style")
    text = "" if element.tag in UNSEEN else clean(element.text or "")
    yield f"{' ' * depth}<{element.tag}{attributes}>{text}"
    if element.tag in UNSEEN:
        return
    for child in element:
        yield from _lines(child, depth + 1)
        if tail := clean(child.tail or ""):
            yield f"{' ' * (depth + 1)}{tail}"
