"""Take secrets out of text before it leaves the process: log lines, artifacts, notifications and their errors.

Two nets. What is known to be secret (the values of the secret settings, and the passwords and tokens inside them) is cut
out wherever it stands; and of the rest what is, or looks like, one, by the rules of extract/redaction.py.
"""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import unquote, urlsplit

from gpuledger.extract.redaction import HIDDEN, redact_text

#: Shorter pieces are words of everyday text ("bot", "ops"); cutting them out would make logs unreadable.
MIN_SECRET = 6


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
        return redact_text(text)


def _pieces(secret: str) -> set[str]:
    """The secret itself, and of an address what lies between scheme and query: a webhook's path is its password."""
    pieces = {secret, unquote(secret)}
    try:
        parts = urlsplit(secret)
        known = (parts.username, parts.password, parts.query, parts.path.strip("/"), *parts.path.split("/"))
    except ValueError:
        return pieces
    if not parts.scheme:
        return pieces
    for word in known:
        if word:
            pieces |= {word, unquote(word)}
    if parts.hostname and "." not in parts.hostname and parts.hostname != "localhost":
        # slack://token/…, tgram://token/…: what stands where a host would is the key itself.
        pieces.add(parts.netloc.rpartition("@")[2])
    return pieces
