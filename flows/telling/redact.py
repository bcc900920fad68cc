"""Remove secrets from text before it leaves the process: log lines, artifacts, notifications and their errors.

This happens in two steps. First the known secrets (the values of the secret settings, and the passwords and tokens inside
them) are removed wherever they stand. Then the rules of gpuledger/redaction.py remove whatever else is, or looks like, a
secret.
"""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import unquote, urlsplit

from gpuledger.redaction import HIDDEN, redact_text

#: Shorter pieces are words of everyday text ("bot", "ops"), and removing them would make logs unreadable.
MIN_SECRET = 6


class Redactor:
    """Removes secrets from text. `secrets` are whole values. Of an address among them the parts are hidden too."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        pieces = {piece for secret in secrets for piece in _pieces(secret)}
        # The longest first: removing a part first would break up the longer piece that contains it.
        self._pieces = sorted((piece for piece in pieces if len(piece) >= MIN_SECRET), key=len, reverse=True)

    def __call__(self, text: str) -> str:
        """`text` with every secret replaced by `***`."""
        for piece in self._pieces:
            text = text.replace(piece, HIDDEN)
        return redact_text(text)


def _pieces(secret: str) -> set[str]:
    """The secret itself and, if it is an address, its parts up to the query: the path of a webhook is its password."""
    pieces = {secret, unquote(secret)}
    try:
        parts = urlsplit(secret)
        fields = (parts.username, parts.password, parts.query, parts.path.strip("/"), *parts.path.split("/"))
    except ValueError:
        return pieces
    if not parts.scheme:
        return pieces
    for field in fields:
        if field:
            pieces |= {field, unquote(field)}
    if parts.hostname and "." not in parts.hostname and parts.hostname != "localhost":
        # slack://token/…, tgram://token/…: here the key itself stands in the place of the host.
        pieces.add(parts.netloc.rpartition("@")[2])
    return pieces
