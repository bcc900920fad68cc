"""Why a source failed. Every class says the address, what was seen, and what a person can do."""

from __future__ import annotations

import re
import traceback
from pathlib import Path

from gpuledger.extract.redaction import redact_text


class ExtractError(Exception):
    """A page could not be fetched or read.

    `url` is the address that was asked for, `seen` what came instead, `action` the way out. All three are in the message.
    """

    #: What to do where the raiser has nothing better to say.
    default_action = "look at the page in a browser"

    def __init__(self, url: str, seen: str, action: str | None = None) -> None:
        # A library's error has the whole address in it, a parser's the text of the page.
        url, seen = _storable(url), _bounded(_storable(redact_text(seen)))
        self.url = url
        self.seen = seen
        self.action = action or self.default_action
        super().__init__(f"{type(self).__name__}: {url}: {seen}; {self.action}")

    def __reduce__(self) -> tuple[type[ExtractError], tuple[str, str, str], dict[str, object]]:
        # Errors cross process borders under Prefect; the default would call __init__ with the joined message only.
        return type(self), (self.url, self.seen, self.action), self.__dict__


def _storable(text: str) -> str:
    """The text without half characters (lone surrogates), which no log, file or terminal takes."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode("utf-8")


def _bounded(text: str) -> str:
    """The text on one line, no longer than a person reads: a server may put a whole page where its status should stand."""
    text = _CONTROL.sub(" ", text)
    return text if len(text) <= _MOST_SEEN else f"{text[: _MOST_SEEN - 1]}…"


_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]+")
_MOST_SEEN = 1000


class FetchError(ExtractError):
    """The bytes did not arrive, or are not to be trusted."""


class Blocked(FetchError):
    """A consent, captcha, block or soft-404 page, or a 401/403: never 'out of stock', never zero rows."""

    default_action = "the site refuses this client: lower the rate, ask the site for access, or switch the source off"


class NotFound(FetchError):
    """404 or 410."""

    default_action = "correct the address in the settings or in the source"


class RateLimited(FetchError):
    """429, or a Retry-After beyond the ceiling."""

    default_action = "raise the delay of this host in the settings and try later"


class ServerError(FetchError):
    """5xx after every retry."""

    default_action = "the site is in trouble: try later"


class Timeout(FetchError):
    """The total deadline of a fetch passed, or the server says so itself (408)."""

    default_action = "try later, or raise the fetch deadline in the settings"


class ConnectionFailed(FetchError):
    """No connection: name not found, refused, reset, TLS failure."""

    default_action = "check the network and the address"


class TooLarge(FetchError):
    """The body passed the cap, before or after decompression."""

    default_action = "raise the body cap in the settings if the page is really this large"


class Truncated(FetchError):
    """Fewer bytes arrived than were announced, or the compressed stream ended early."""

    default_action = "try later"


class EmptyBody(Truncated):
    """Status 200 with nothing in it: a failing server or a silent block, never 'zero rows'."""

    default_action = "look at the page in a browser, and try later"


class RobotsDisallowed(FetchError):
    """robots.txt forbids the address, or could not be read for a reason that RFC 9309 treats as forbidden."""

    default_action = "do not fetch it; use another address of the site or another source"


class ForbiddenAddress(FetchError):
    """The address, a redirect or the connected peer is private, loopback, link-local or not http(s)."""

    default_action = "use a public http or https address"


class ForeignHost(ForbiddenAddress):
    """A link or a redirect leads to a host that is none of the source's, or from https to http."""

    default_action = "if the host belongs to the source, name it in `hosts` of its SOURCE; else look at the page"


class NoBrowser(FetchError):
    """The pages of a source need a browser, and there is none."""

    default_action = "install Chromium, say where it is with browser_program, or take the source out of browser_sources"


class TooManyRedirects(FetchError):
    """A redirect loop, or too long a chain."""

    default_action = "use the final address"


class LayoutChanged(ExtractError):
    """The page is not built as the parser expects, so reading on could read wrong numbers.

    `is_by_content` says that the same bytes will bring it again: not where a parser failed of what nobody foresaw (a full
    disk, for example), or took more time or memory than a page has.
    """

    default_action = "compare the archived page with the source's fixture and mend the parser"

    def __init__(self, url: str, seen: str, action: str | None = None, *, is_by_content: bool = True) -> None:
        super().__init__(url, seen, action)
        self.is_by_content = is_by_content


class Unforeseen(ExtractError):
    """What nobody foresaw while one page or file was read: it is that page's failure, and no other's."""

    default_action = "report it with the archived page; the other sources are not touched by it"


class CorruptSnapshot(ExtractError):
    """An archived file's bytes do not match its name, or its sidecar cannot be read."""

    default_action = "restore the file from a backup, or delete it and fetch the page again"


class NotArchived(ExtractError):
    """A replay asks for a page that the run which it repeats did not fetch."""

    default_action = "the next refresh fetches it"


def rebuilt(name: str, url: str, seen: str, action: str) -> ExtractError:
    """The error of the class called `name`, as a record of it says; ExtractError where there is no such class now."""
    kind = globals().get(name)
    if not (isinstance(kind, type) and issubclass(kind, ExtractError)):
        kind = ExtractError
    return kind(url, seen, action)


#: Of the words of an error that is not ours: some repeat the whole input.
_MOST_WORDS = 300


def described(error: BaseException) -> str:
    """Type, words and place of an error that is not ours: the last line of ours that it came through."""
    words = _storable(str(error))[:_MOST_WORDS]
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if frame.filename.startswith(_PROGRAM)] or frames
    place = f" ({Path(ours[-1].filename).name}:{ours[-1].lineno})" if ours else ""
    return type(error).__name__ + (f": {words}" if words else "") + place


#: The folder that the program lies in, as its modules name it.
_PROGRAM = str(Path(__file__).parents[1])
