"""Hides secrets in addresses and texts before they are shown in messages, logs, the ledger or the archive.

Of an address we show only what is known to be harmless, rather than hide what is known to be secret: scheme, host, port,
path, and the parameters that say which page it is or, behind a #, how it is read. User names, passwords and all other
values are hidden, whatever their names. In other text we can only recognise secrets by their names and shapes, and we cut
those out.
"""

from __future__ import annotations

import hashlib
import itertools
import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from urllib.parse import SplitResult, unquote, unquote_plus, urlsplit, urlunsplit

HIDDEN = "***"
_HIDDEN_VALUE = "REDACTED"

_TABLE: dict[str, list[str]] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))

#: Parameters whose values may be shown: they say which page of a site is meant, or its order and language. In lower case.
#: If one of our sources needs another parameter, add it to the table.
_SHOWN = frozenset(_TABLE["shown"])
#: A value that is shown has at most this length and only plain words: no address inside it, no mail address, no code.
_HARMLESS = re.compile(r"[\w $.,:;/+*()'!~=|<>%\[\]-]{0,200}")
#: A short number or a few letters are shown unless the name is that of a secret, because no secret is so short.
_SHORT = re.compile(r"[0-9]{1,12}|\w{1,4}")
#: A mix of letters and digits of this length is a key.
_LONG_PIECE = re.compile(r"[A-Za-z0-9]{20,}")
#: Letters and digits at random of that length are one in any text; the public key of a publication (56 letters) is none.
_PUBLIC_KEY_OR_PIECE = re.compile(r"(?<![A-Za-z0-9+/])RW[A-Za-z0-9+/]{54}(?![A-Za-z0-9+/])|[A-Za-z0-9]{20,}")
#: The least share of places at which text at random changes between small letter, capital and digit; of base 62 it is
#: 0.62 +- 0.1 for 24 letters, and 0.38 of GeForceRTX4090GamingOC24GB.
_CHANGES = 0.45
_REDACTED = re.compile(rf"{_HIDDEN_VALUE}(-[0-9a-f]{{10}})?|\*\*\*")

_SECRET_WORDS = frozenset(_TABLE["secret_words"])
_SECRET_PARTS = tuple(_TABLE["secret_parts"])
#: Words that make a key a secret. "key" alone is too common in text.
_SECRET_KEYS = frozenset(_TABLE["secret_keys"])
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^\W\d_A-Za-z]+")

#: Korean puts a particle or a noun directly before or after an address, without a space. Only ASCII letters belong to it.
_URL = re.compile(r"(?<![a-z])[a-z][a-z0-9+.-]{0,30}://[^\s\"'<>`|\\^{}]+", re.IGNORECASE)
#: Schemes whose host and path say where something is. Schemes of notifications have keys in place of host and path.
_SCHEMES = frozenset(
    ("http", "https", "ftp", "file", "s3", "gs", "az", "postgresql", "postgres", "sqlite", "ws", "wss")
)
#: What is a secret by its shape alone.
_SHAPES = re.compile("|".join(_TABLE["shapes"]), re.DOTALL | re.ASCII)
#: Places that headers, commands, files and sentences give a secret, and those beside a name that may be that of one.
_PLACES = [re.compile(place, re.IGNORECASE) for place in _TABLE["places"]]
_NAMED = [re.compile(place) for place in _TABLE["named"]]
#: A name and the mark between the name and its value, which in YAML may be on the next line, and in a text inside JSON has
#: quotes with a backslash. The value is examined only if the name is that of a secret.
_NAME = re.compile(
    r"(?<![^\W\d])(?<!\$)(?P<name>(?:[^\W\d]|\$)[\w.$\[\]-]{0,80})\\?['\"]?\s*(?P<mark>=>|[=:：]|%3D)\s*"
    r"(?:[|>][-+]?[ \t]*\r?\n\s*)?\\?"
)
_VALUE = re.compile(r"\"[^\"\r\n]*\"|'[^'\r\n]*'|[^\s&'\",;}\])]+")


def redact(url: str) -> str:
    """`url` in the form that the archive, the ledger and messages may contain.

    If the value of a parameter is not known to be harmless, it becomes REDACTED with ten digits of its hash, so that
    different pages keep different addresses. If the parameter has the name of a secret, its value becomes REDACTED alone.
    Redacting twice changes nothing. An address that cannot be parsed keeps only the part after its last `@`, without
    parameters.
    """
    if url.startswith("file:"):
        return url  # the name of a file that a person dropped, in which # is an ordinary character
    try:
        parts = urlsplit(url)
        parts.port  # noqa: B018 (raises if the port is invalid)
    except ValueError:
        return "…@" + re.split("[?#]", url.rpartition("@")[2])[0] if "@" in url else re.split("[?#]", url)[0]
    return _without_secrets(parts, url, _distinct)


def redact_text(text: str) -> str:
    """`text` with everything that is or looks like a secret replaced by `***`. Addresses in it are redacted too."""
    text = _SHAPES.sub(HIDDEN, text)
    for pattern in _PLACES:
        text = pattern.sub(rf"\g<keep>{HIDDEN}", text)
    for pattern in _NAMED:
        text = pattern.sub(_without_value, text)
    text = _URL.sub(_url_in_text, text)
    return _PUBLIC_KEY_OR_PIECE.sub(_without_random, _without_secret_pairs(text))


def _without_value(found: re.Match[str]) -> str:
    name = next(name for group, name in found.groupdict().items() if group != "keep" and name)
    return found["keep"] + HIDDEN if is_secret_name(name) else found[0]


def is_secret_name(name: str) -> bool:
    """Whether a parameter, header, setting or field called `name` usually has a secret."""
    words = [word.lower() for word in _WORDS.findall(unquote(name))]
    if any(word in _SECRET_WORDS or word.endswith(("token", "pw", "pwd")) for word in words):
        return True
    if "key" in words and _SECRET_KEYS & set(words):
        return True
    joined = "".join(words)
    return joined.endswith("token") or any(part in joined for part in _SECRET_PARTS)


def _without_secrets(parts: SplitResult, url: str, hide: Callable[[str, str], str]) -> str:
    netloc = parts.netloc.rpartition("@")[2]
    path = _in_path(parts.path, hide)
    query = "&".join(_parameter(pair, hide) for pair in parts.query.split("&"))
    fragment = "&".join(filter(_says_how, parts.fragment.split("&")))
    if (netloc, path, query, fragment) == (parts.netloc, parts.path, parts.query, parts.fragment):
        return url
    return urlunsplit((parts.scheme, netloc, path, query, fragment))


#: What settings say behind the # of an address: how its page is read, or how a feed calls its columns.
_SAYS_HOW = frozenset(_TABLE["says_how"])


def _says_how(pair: str) -> bool:
    name, _, value = pair.partition("=")
    return name in _SAYS_HOW and _is_harmless(unquote_plus(value))


def _in_path(path: str, hide: Callable[[str, str], str]) -> str:
    """The path with its parameters (`/cart;jsessionid=…`, RFC 3986, 3.3) treated like parameters of the query."""
    if ";" not in path:
        return path
    first, *marks_and_pieces = re.split("(;|/)", path)
    pieces = [first]
    for mark, piece in zip(marks_and_pieces[::2], marks_and_pieces[1::2], strict=True):
        pieces += [mark, _parameter(piece, hide) if mark == ";" else piece]
    return "".join(pieces)


def _parameter(pair: str, hide: Callable[[str, str], str]) -> str:
    name, equals, value = pair.partition("=")
    if not equals:
        # A name alone may be a key: `?AbC123…`.
        return pair if _is_harmless(unquote_plus(name)) else hide("", name)
    if _REDACTED.fullmatch(value) or not value:
        return pair
    plain, key = unquote_plus(value), unquote_plus(name)
    if is_secret_name(key):
        return f"{name}={hide(key, value)}"
    if _SHORT.fullmatch(plain) or (key.lower() in _SHOWN and _is_harmless(plain)):
        return pair
    return f"{name}={hide(key, value)}"


def _is_harmless(value: str) -> bool:
    return (
        _HARMLESS.fullmatch(value) is not None
        and "//" not in value
        and not any(map(_is_key, _LONG_PIECE.findall(value)))
        and _SHAPES.search(value) is None
        and not any(is_secret_name(pair["name"]) for pair in _NAME.finditer(value) if pair["mark"] == "=")
    )


def _is_key(piece: str) -> bool:
    return not (piece.isalpha() or piece.isdigit())


def _without_random(piece: re.Match[str]) -> str:
    kinds = [letter.isdigit() + 2 * letter.isupper() for letter in piece[0]]
    changes = sum(before != after for before, after in itertools.pairwise(kinds))
    is_random = len(set(kinds)) == 3 and changes > _CHANGES * len(kinds)
    return HIDDEN if is_random and not (piece[0].startswith("RW") and len(piece[0]) == 56) else piece[0]


def _distinct(name: str, value: str) -> str:
    if not name or is_secret_name(name):
        return _HIDDEN_VALUE
    return f"{_HIDDEN_VALUE}-{hashlib.sha256(unquote_plus(value).encode('utf-8', 'replace')).hexdigest()[:10]}"


def _url_in_text(match: re.Match[str]) -> str:
    """One redacted address in a text. A full stop or bracket at its end belongs to the sentence."""
    url = match[0].rstrip(".,;:!?)]")
    after = match[0][len(url) :]
    scheme = url.partition(":")[0].lower()
    if scheme.partition("+")[0] not in _SCHEMES:
        return f"{scheme}://{HIDDEN}{after}"
    try:
        parts = urlsplit(url)
    except ValueError:
        return f"{scheme}://{HIDDEN}{after}"
    user = f"{HIDDEN}@" if "@" in parts.netloc else ""
    redacted = _without_secrets(parts, url, lambda name, value: HIDDEN)
    if user:
        redacted = redacted.replace("://", f"://{user}", 1)
    if scheme != "file":
        head, slash, path = redacted.partition("://")[2].partition("/")
        path, mark, query = path.partition("?")
        path = _LONG_PIECE.sub(lambda piece: HIDDEN if _is_key(piece[0]) else piece[0], path)
        redacted = f"{parts.scheme}://{head}{slash}{path}{mark}{query}"
    return redacted + after


def _without_secret_pairs(text: str) -> str:
    """`text` with the values after names of secrets replaced. The value of another name may contain such pairs itself."""
    pieces: list[str] = []
    done = 0
    for pair in _NAME.finditer(text):
        if pair.start() < done:
            continue  # the pair is inside a value that is hidden already
        name = pair["name"]
        is_parameter = name.lower() == "key" and text[pair.start() - 1 : pair.start()] in ("?", "&")
        if not (is_parameter or is_secret_name(name)):
            continue
        value = _VALUE.match(text, pair.end())
        if value is None or _REDACTED.fullmatch(value[0].strip("'\"")) or value[0].startswith("//"):
            continue
        if text.startswith(f" {HIDDEN}", value.end()):
            continue  # this value is the word before a hidden key: Bearer ***
        quote = value[0][0] if value[0][0] in "'\"" else ""
        pieces += [text[done : value.start()], quote, HIDDEN, quote]
        done = value.end()
    return "".join([*pieces, text[done:]])
