"""Where on a page a text stands, and the markup around it, for a person who mends or writes a parser."""

from __future__ import annotations

from collections.abc import Iterator

from lxml.html import HtmlElement

from gpuledger.extract.markup.html import UNSEEN, visible_text
from gpuledger.extract.markup.mojibake import mend

#: Lines of markup that a person takes in at once, and letters of each.
MOST_LINES, MOST_LETTERS = 30, 100
#: Elements of a page that are looked through: a hostile one has millions.
_MOST_ELEMENTS = 200_000


def clean(text: str) -> str:
    """Text with every run of white space as one space, as the readers compare it."""
    return " ".join(mend(text).split())


def holders(root: HtmlElement, wanted: str) -> list[HtmlElement]:
    """The smallest elements that show `wanted`, in the order of the page; then those that say it in an attribute."""
    wanted = clean(wanted)
    if not wanted:
        return []
    shown, said = [], []
    for number, element in enumerate(root.iter()):
        if number > _MOST_ELEMENTS:
            break
        if not isinstance(element.tag, str) or element.tag in UNSEEN:
            continue
        if any(wanted in clean(value) for value in element.attrib.values()):
            said.append(element)
        # A text of its own first: to join that of all elements below it costs as much as the whole page each time.
        own = [element.text or "", *(child.tail or "" for child in element)]
        if any(wanted in clean(piece) for piece in own) or (_is_small(element) and _shows(element, wanted)):
            shown.append(element)
    inner = {up for element in shown for up in element.iterancestors()}
    return [element for element in shown if element not in inner] + said


def _shows(element: HtmlElement, wanted: str) -> bool:
    return wanted in clean(element.text_content()) or wanted in visible_text(element)


def _is_small(element: HtmlElement) -> bool:
    """Few elements below it: a price in three of them, and no whole list."""
    return 0 < len(element) <= 12 and sum(1 for _, _ in zip(element.iter(), range(40), strict=False)) < 40


def nearest(elements: list[HtmlElement], to: HtmlElement) -> HtmlElement | None:
    """The element that shares the most of its way from the root with `to`; the first of several."""
    way = [*reversed([*to.iterancestors()]), to]
    places = {element: depth for depth, element in enumerate(way)}

    def shared(element: HtmlElement) -> int:
        return max((places.get(up, -1) for up in (element, *element.iterancestors())), default=-1)

    return max(elements, key=shared, default=None)


def together(one: HtmlElement, other: HtmlElement) -> HtmlElement:
    """The smallest element that holds both."""
    above = {one, *one.iterancestors()}
    return next((up for up in (other, *other.iterancestors()) if up in above), one)


def around(element: HtmlElement) -> HtmlElement:
    """The element with what stands beside it, where that is little."""
    up = element.getparent()
    return (
        up if up is not None and up.tag not in ("body", "html") and sum(1 for _ in up.iter()) <= MOST_LINES else element
    )


def outline(element: HtmlElement | None, most: int = MOST_LINES) -> list[str]:
    """The markup of an element, a line a tag, indented; scripts, and what is beyond `most` lines, are left out."""
    lines: list[str] = []
    for line in [] if element is None else _lines(element, 0):
        if len(lines) == most:
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
