"""Turns a page's bytes into a tree: lxml's for shop pages, BeautifulSoup's if its forgiving selectors are worth the time.

lxml builds the tree of a shop page in a tenth of BeautifulSoup's time. Both start from text that `charset` decoded. Given
bytes, libxml2 would believe a wrong declaration and turn the rest of a page into noise after the first odd byte.
"""

from __future__ import annotations

import re
from collections.abc import Container
from itertools import islice
from typing import TYPE_CHECKING

import lxml.html
from lxml import etree
from lxml.html import HtmlElement

from gpuledger.extract.markup import charset

if TYPE_CHECKING:
    from bs4 import BeautifulSoup

# lxml.html calls a Python function for the class of every element that is touched, so that forms and inputs get methods
# of their own. No form is filled in here, so all elements get the plain class: reading a page takes a fifth less time.
_CLASSES = etree.ElementDefaultClassLookup(
    element=HtmlElement,
    comment=lxml.html.HtmlComment,
    pi=lxml.html.HtmlProcessingInstruction,
    entity=lxml.html.HtmlEntity,
)


def tree(content: bytes, content_type: str | None = None) -> HtmlElement:
    """The page's `html` element; it has no children if the page has nothing in it. Raises only TooManyAttributes.

    `content_type` is the value of the response header, or None if the response has no such header.
    """
    refuse_attributes(content)
    # lxml refuses text that declares an encoding in an XML prologue, so it gets UTF-8 bytes together with their encoding.
    # Comments are removed, because programs that draw pages put them between the pieces of one text: `₹<!-- -->1,725`.
    parser = etree.HTMLParser(encoding="utf-8", remove_comments=True)
    parser.set_element_class_lookup(_CLASSES)
    # Without NUL bytes: libxml2 takes one as the end of the page.
    text = charset.decode(content, content_type).replace("\x00", "").encode("utf-8", "replace")
    try:
        root: HtmlElement = lxml.html.document_fromstring(text, parser=parser)  # type: ignore[arg-type]
    except (etree.ParserError, etree.XMLSyntaxError, AssertionError):
        # "Document is empty": the page is empty, white space or a lone comment. AssertionError: lxml finds no root.
        return lxml.html.Element("html")
    return root if root.tag == "html" else lxml.html.Element("html")


class TooManyAttributes(ValueError):
    """A tag has more attributes than anybody writes."""


def refuse_attributes(content: bytes) -> None:
    """Raise TooManyAttributes before libxml2 parses the page.

    libxml2 compares each attribute of a tag with every other: 20,000 attributes take a second and 40,000 take twelve.
    """
    for piece in content.split(b"<")[1:]:
        # Texts, scripts and styles are long too, but they come after the end of their tag. A comment has no attributes.
        if len(piece) < _LONG_TAG or not piece[:1].isalpha():
            continue
        # The tag alone, up to the first > outside quotes, and without the values in quotes.
        match = _TAG.match(piece)
        tag = _QUOTED.sub(b"=", match.group() if match else piece)
        if len(_ATTRIBUTE.findall(tag)) > MAX_ATTRIBUTES:
            raise TooManyAttributes(f"a tag has more than {MAX_ATTRIBUTES:,} attributes")


#: The most attributes of one tag. Forms of shops have up to about a hundred.
MAX_ATTRIBUTES = 2_000
#: A tag with so many attributes has more bytes than this.
_LONG_TAG = 2 * MAX_ATTRIBUTES
_TAG = re.compile(rb"""(?:[^>"']++|"[^"]*+"|'[^']*+'|["'])*+""")
_QUOTED = re.compile(rb"""=\s*(?:"[^"]*"|'[^']*')""")
_ATTRIBUTE = re.compile(rb"""[\s/"'][^\s/>"'=]""")


def soup(content: bytes, content_type: str | None = None) -> BeautifulSoup:
    """The page as BeautifulSoup on lxml, for pages whose tables and captions are read; about 10 times slower than `tree`."""
    # Imported only when such a page comes: it is a tenth of all that the sources import, and a quiet night needs none of it.
    from bs4 import BeautifulSoup

    refuse_attributes(content)
    return BeautifulSoup(charset.decode(content, content_type).replace("\x00", ""), "lxml")


#: Elements whose text a reader of the page does not see as text.
UNSEEN = frozenset(("script", "style", "noscript", "template", "svg", "select", "textarea", "iframe", "head", "title"))
#: Elements that do not separate words: `12<b>99</b>` is printed as 1299.
_INLINE = frozenset(("b", "i", "u", "em", "strong", "font", "bdi", "s", "del", "ins", "mark", "big"))
#: An element with more steps inside and hardly any text is no price, title or status. A hostile page nests thousands.
_MAX_STEPS = 5_000
_CENTS = re.compile(r"cent|decimal|fraction|minor|penny|pence|hundredth|sup(?:erscript)?\b", re.IGNORECASE)
_TWO_DIGITS = re.compile(r"\s*\d\d\s*")
_NUMBER_AT_END = re.compile(r"\d(?:[\d.,]*\d)?$")
_EURO_CENTS = re.compile(r"\s*€\s?(\d\d)\s*")
_SIGN_AT_END = re.compile(r"(?<=\d)[\s\u00a0]*€[\s\u00a0]*$")
_HIDDEN_STYLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)


#: Class names that hide an element in widespread style sheets: Cafe24's, Bootstrap's, Angular's.
_HIDDEN_CLASS = re.compile(r"(?<!\S)(?:displaynone|d-none|ng-hide|is-hidden)(?!\S)", re.IGNORECASE)
#: Class names that show the same element on a wider screen: `d-none d-md-block`.
_SHOWN_CLASS = re.compile(r"(?<!\S)d-(?:\w+-)?(?:block|flex|inline|grid|table)", re.IGNORECASE)


def is_hidden(element: HtmlElement) -> bool:
    """Whether the element itself says that it is hidden (`hidden`, `display:none`, a class that is known to hide).

    Style sheets are not read.
    """
    style, classes = element.get("style"), element.get("class")
    if classes is not None and _HIDDEN_CLASS.search(classes) and not _SHOWN_CLASS.search(classes):
        return True
    return element.get("hidden") is not None or bool(style and _HIDDEN_STYLE.search(style))


def visible_text(element: HtmlElement, limit: int = 400, without: Container[str] = ()) -> str:
    """The text that a reader sees in the element, up to about `limit` characters.

    Elements other than plain emphasis separate words, so a price whose cents stand in an element of their own stays two
    numbers. But two digits in a superscript, or in an element named after cents, are joined with a decimal symbol, as the
    eye joins them: `1,299<sup>99</sup>` is `1,299.99` and `1.299<sup>99</sup>` is `1.299,99`. `without` names tags to skip.
    """
    text, needs_space, unseen = "", False, 0
    if not isinstance(element.tag, str):
        return text
    steps = etree.iterwalk(element, events=("start", "end", "comment", "pi"))
    for event, node in islice(steps, _MAX_STEPS):
        if event in ("comment", "pi"):
            piece = node.tail
        elif event == "start":
            if unseen or node.tag in UNSEEN or node.tag in without or (node is not element and is_hidden(node)):
                unseen += 1
                continue
            needs_space = needs_space or node.tag not in _INLINE
            piece = node.text
            if piece and _TWO_DIGITS.fullmatch(piece) and (whole := _NUMBER_AT_END.search(text)) and _are_cents(node):
                text += ("," if "." in whole.group() else ".") + piece.strip()
                continue
            if piece and _TWO_DIGITS.fullmatch(piece) and _are_cents(node) and (euro := _SIGN_AT_END.search(text)):
                # `1 299 €` and small `99`: the sign stands where the decimal symbol would.
                text = f"{text[: euro.start()]},{piece.strip()}{euro.group()}"
                continue
            if piece and node.tag == "sup" and (euro := _EURO_CENTS.fullmatch(piece)) and text[-1:].isdigit():
                # `859` and small `€99`.
                text += f",{euro.group(1)}€"
                continue
            # Two digits in emphasis right behind a number are mostly cents, made small by a style sheet: they stay separate.
            needs_space = needs_space or (
                node is not element and bool(piece and _TWO_DIGITS.fullmatch(piece)) and text[-1:].isdigit()
            )
        else:
            if unseen:
                unseen -= 1
                if not unseen and node is not element and node.tail:
                    text, needs_space = _joined(text, node.tail, True), False
                continue
            needs_space = needs_space or node.tag not in _INLINE
            piece = node.tail if node is not element else None
        if piece and not unseen:
            text, needs_space = _joined(text, piece, needs_space), False
            if len(text) > limit:
                break
    return " ".join(text.replace("\u00a0", NO_BREAK).split()).replace(NO_BREAK, "\u00a0").strip("\u00a0")


#: Stands for a no-break space, which joins the groups of a number, while other white space becomes a single space.
NO_BREAK = "\ue000"


def _are_cents(node: HtmlElement) -> bool:
    return node.tag in ("sup", "small") or bool(_CENTS.search(node.get("class") or ""))


def _joined(text: str, piece: str, needs_space: bool) -> str:
    if needs_space and text and not piece[:1].isspace() and not text[-1:].isspace():
        # A point in an element of its own belongs to the number before it: `1,299` `.` `99`.
        to_number = piece[0] in ".," and text[-1].isdigit()
        from_number = text[-1] in ".," and text[-2:-1].isdigit() and piece[0].isdigit()
        if not (to_number or from_number):
            text += " "
    return text + piece
