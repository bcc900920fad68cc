"""Reasons why a source failed. Every error says the address, what was seen, and what a person can do."""

from __future__ import annotations

import re
import traceback
from collections.abc import Mapping
from pathlib import Path

from gpuledger.message import Failure
from gpuledger.redaction import redact_text


class ExtractError(Failure):
    """A page could not be fetched or read.

    `url` is the requested address, `seen` says what came instead, and `action` says what to do. The message has all three.
    """

    #: The action if the code that raises the error gives none.
    default_action = "look at the page in a browser"

    def __init__(self, url: str, seen: str, action: str | None = None) -> None:
        # The error of a library contains the whole address, and the error of a parser contains text of the page.
        url, seen = _storable(url), _bounded(_storable(redact_text(seen)))
        self.url = url
        self.seen = seen
        self.action = action or self.default_action
        super().__init__(f"{type(self).__name__}: {url}: {seen}; {self.action}")

    def __reduce__(self) -> tuple[type[ExtractError], tuple[str, str, str], dict[str, object]]:
        # Prefect passes errors between processes. The default would call __init__ with the joined message only.
        return type(self), (self.url, self.seen, self.action), self.__dict__


def _storable(text: str) -> str:
    """The text without half characters (lone surrogates), which no log, file or terminal accepts."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode("utf-8")


def _bounded(text: str) -> str:
    """The text on one line and of limited length, because a server may send a whole page in place of its status."""
    text = _CONTROL.sub(" ", text)
    return text if len(text) <= _MOST_SEEN else f"{text[: _MOST_SEEN - 1]}…"


_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]+")
_MOST_SEEN = 1000


class FetchError(ExtractError):
    """The bytes did not arrive, or they must not be trusted."""


class Blocked(FetchError):
    """A consent, captcha, block or soft-404 page, or a 401/403: never 'out of stock', never zero rows."""

    default_action = "the site refuses this client: lower the rate, ask the site for access, or switch the source off"


class NotFound(FetchError):
    """404 or 410."""

    default_action = "correct the address in the settings or in the source"


class RateLimited(FetchError):
    """429, or a Retry-After above the ceiling."""

    default_action = "raise the delay of this host in the settings and try later"


class ServerError(FetchError):
    """5xx after every retry."""

    default_action = "the site is in trouble: try later"


class Timeout(FetchError):
    """The total deadline of a fetch passed, or the server reports a timeout (408)."""

    default_action = "try later, or raise the fetch deadline in the settings"


class OutOfTime(Timeout):
    """The source took longer than all of its pages may take together. Its further pages are not fetched."""

    default_action = "raise source_timeout_s in the settings"


class ConnectionFailed(FetchError):
    """No connection: name not found, refused, reset, TLS failure."""

    default_action = "check the network and the address"


class TooLarge(FetchError):
    """The body is larger than the limit, before or after decompression."""

    default_action = "raise the body cap in the settings if the page is really this large"


class Truncated(FetchError):
    """Fewer bytes arrived than the server announced, or the compressed stream ended early."""

    default_action = "try later"


class EmptyBody(Truncated):
    """Status 200 with an empty body. The server fails or blocks silently; this never means 'zero rows'."""

    default_action = "look at the page in a browser, and try later"


class RobotsDisallowed(FetchError):
    """robots.txt forbids the address, or could not be read for a reason that RFC 9309 treats as forbidden."""

    default_action = "do not fetch it; use another address of the site or another source"


class ForbiddenAddress(FetchError):
    """The address, a redirect or the connected peer is private, loopback, link-local or not http(s)."""

    default_action = "use a public http or https address"


class ForeignHost(ForbiddenAddress):
    """A link or a redirect leads to a host that does not belong to the source, or from https to http."""

    default_action = "if the host belongs to the source, name it in `hosts` of its SOURCE; else look at the page"


class TooManyRedirects(FetchError):
    """A redirect loop, or a chain of redirects that is too long."""

    default_action = "use the final address"


class LayoutChanged(ExtractError):
    """The page is not built as the parser expects, so the parser could read wrong numbers.

    `is_by_content` says that the same bytes will raise this error again. It is false if the parser failed for an unforeseen
    reason (a full disk, for example), or took more time or memory than a page may take.
    """

    default_action = "compare the archived page with the source's fixture and mend the parser"

    def __init__(self, url: str, seen: str, action: str | None = None, *, is_by_content: bool = True) -> None:
        super().__init__(url, seen, action)
        self.is_by_content = is_by_content


class Unforeseen(ExtractError):
    """An unforeseen error while one page or file was read. Only this page fails."""

    default_action = "report it with the archived page; the other sources are not touched by it"


class CorruptSnapshot(ExtractError):
    """The bytes of an archived file do not match its name, or its sidecar cannot be read."""

    default_action = "restore the file from a backup, or delete it and fetch the page again"


class NotArchived(ExtractError):
    """A replay needs a page that the original run did not fetch."""

    default_action = "the next refresh fetches it"


def as_record(error: ExtractError) -> dict[str, str]:
    """An error as JSON has it."""
    return {"error": type(error).__name__, "url": error.url, "seen": error.seen, "action": error.action}


def rebuilt(record: Mapping[str, str]) -> ExtractError:
    """The error of such a record. An ExtractError if there is no such class now. Raises KeyError and TypeError."""
    kind = globals().get(record["error"])
    if not (isinstance(kind, type) and issubclass(kind, ExtractError)):
        kind = ExtractError
    return kind(record["url"], record["seen"], record["action"])


#: Most characters of the message of a foreign error, because some repeat the whole input.
_LONGEST_MESSAGE = 300


def described(error: BaseException) -> str:
    """Type, message and place of a foreign error. The place is the last line of our code that the error passed."""
    message = _storable(str(error))[:_LONGEST_MESSAGE]
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if frame.filename.startswith(_PROGRAM)] or frames
    place = f" ({Path(ours[-1].filename).name}:{ours[-1].lineno})" if ours else ""
    return type(error).__name__ + (f": {message}" if message else "") + place


#: The folder of the program, as it appears in the file names of its modules.
_PROGRAM = str(Path(__file__).parent)
