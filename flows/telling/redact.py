"""Take secrets out of text before it leaves the process: log lines, artifacts, notifications' errors, the settings' listing.

Two nets. What is known to be secret (the values of the secret settings, and the passwords and tokens inside them) is cut
out wherever it stands; and what looks like one (a password in an address, a key in a query, a bearer token) is cut out
even where nobody has declared it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from urllib.parse import unquote, urlsplit

HIDDEN = "***"
#: Shorter pieces are words of everyday text ("bot", "ops"); cutting them out would make logs unreadable.
MIN_SECRET = 6

_PATTERNS = (
    # user:password@ and token@ in an address of any scheme
    re.compile(r"(?P<keep>[a-z][a-z0-9+.-]*://)[^\s/@'\"]+@", re.IGNORECASE),
    # ?apikey=…, &token=…, password=… ("key" alone is too common a word without an address before it)
    re.compile(
        r"(?P<keep>\b(?:api[_-]?key|access[_-]?key|[a-z_]*token|secret|passw(?:or)?d|pwd|signature|sig)['\"]?\s*[=:]\s*['\"]?)"
        r"[^\s&'\",;}\]]+",
        re.IGNORECASE,
    ),
    re.compile(r"(?P<keep>[?&]key=)[^\s&'\"]+", re.IGNORECASE),
    re.compile(r"(?P<keep>\b(?:bearer|basic)\s+)[A-Za-z0-9+/=._~-]{8,}", re.IGNORECASE),
)


class Redactor:
    """Cuts secrets out of text. `secrets` are whole values; addresses among them are hidden in their parts too."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        pieces = {piece for secret in secrets for piece in _pieces(secret)}
        # The longest first: a part must not break up the whole that it stands in.
        self._pieces = sorted((piece for piece in pieces if len(piece) >= MIN_SECRET), key=len, reverse=True)

    def __call__(self, text: str) -> str:
        """`text` with every secret replaced by `***`."""
        for piece in self._pieces:
            text = text.replace(piece, HIDDEN)
        for pattern in _PATTERNS:
            text = pattern.sub(lambda found: f"{found['keep']}{HIDDEN}" + ("@" if found[0].endswith("@") else ""), text)
        return text


def _pieces(secret: str) -> set[str]:
    """The secret itself, and of an address what lies between scheme and query: a webhook's path is its password."""
    found = {secret, unquote(secret)}
    try:
        parts = urlsplit(secret)
        known = (parts.username, parts.password, parts.query, parts.path.strip("/"), *parts.path.split("/"))
    except ValueError:
        return found
    if not parts.scheme:
        return found
    for word in known:
        if word:
            found |= {word, unquote(word)}
    if parts.hostname and "." not in parts.hostname and parts.hostname != "localhost":
        # slack://token/…, tgram://token/…: what stands where a host would is the key itself.
        found.add(parts.netloc.rpartition("@")[2])
    return found
