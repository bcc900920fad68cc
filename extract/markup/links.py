"""Links as pages write them. A link that is no valid address counts as no link, and the rest of its page is still read."""

from __future__ import annotations

from urllib.parse import SplitResult, parse_qsl, quote, urlencode, urljoin, urlsplit, urlunsplit


def parts_of(address: str) -> SplitResult:
    """The parts of an address; all of them empty if it is no valid one, such as `http://[`."""
    try:
        return urlsplit(address)
    except ValueError:
        return urlsplit("")


def joined(base: str, link: str) -> str:
    """Where a link on the page `base` leads; empty if it is no valid address, such as `http://[`."""
    try:
        address = urljoin(base, link)
        urlsplit(address)
    except ValueError:
        return ""
    return address


def with_parameter(url: str, name: str, value: object) -> str:
    """The same address with another value of one parameter, which comes last."""
    parts = urlsplit(url)
    others = [(other, text) for other, text in parse_qsl(parts.query) if other != name]
    return urlunsplit(parts._replace(query=urlencode([*others, (name, str(value))], quote_via=quote)))
