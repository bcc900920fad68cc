"""Decides from the HTTP status whether an answer is a page, and after a failure when to try again."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from gpuledger.errors import Blocked, EmptyBody, FetchError, NotFound, RateLimited, ServerError, Timeout
from gpuledger.extract.fetch import blocks
from gpuledger.extract.fetch.fetched import Fetched

_REFUSED = frozenset((401, 402, 403, 407, 451))
_GONE = frozenset((404, 410))
_WHOLE_PAGE = frozenset((200, 203))


#: Seconds before the second try; doubled for each further one.
BACKOFF_BASE_S = 1.0
BACKOFF_CEILING_S = 30.0

_SECONDS = re.compile(r"[0-9]+(\.[0-9]+)?")


class Transient(Exception):
    """A failure that may pass. If it does not pass, the caller gets `error`. `retry_after_s` is what `host` asks for."""

    def __init__(self, error: FetchError, host: str, retry_after_s: float | None = None) -> None:
        super().__init__(str(error))
        self.error = error
        self.host = host
        self.retry_after_s = retry_after_s


def backoff_s(attempt: int, random: Callable[[], float]) -> float:
    """Seconds to wait after the failed try number `attempt` (from 1). Exponential, with jitter over the upper half.

    Jitter keeps clients that failed together from coming back together. At least half of the wait always remains.
    """
    full: float = min(BACKOFF_BASE_S * 2 ** (attempt - 1), BACKOFF_CEILING_S)
    return full * (0.5 + 0.5 * random())


def retry_after_s(headers: Mapping[str, str], now: Callable[[], datetime]) -> float | None:
    """Seconds that Retry-After asks for (RFC 9110, 10.2.3), as a number or as a date in any of HTTP's three forms.

    A date is compared with the answer's own Date header if it has one, so that a wrong clock on either side does no harm.
    Gives 0 for a date in the past, and None for text that cannot be read.
    """
    text = headers.get("retry-after", "").strip()
    if not text:
        return None
    if _SECONDS.fullmatch(text):
        return float(text)
    at = _date(text)
    if at is None:
        return None
    return max((at - (_date(headers.get("date", "")) or now())).total_seconds(), 0.0)


def _date(text: str) -> datetime | None:
    try:
        date = parsedate_to_datetime(text.strip())
    except (ValueError, IndexError, TypeError, OverflowError):
        return None
    return date if date.tzinfo else date.replace(tzinfo=UTC)


def raise_for_status(
    shown_url: str, answer: Fetched, retry_after_s: float | None, *, conditional: bool, is_part: bool = False
) -> None:
    """Return if `answer` is a page (200, 203) or says that nothing changed. Otherwise raise a FetchError or a Transient.

    Errors name `shown_url`. `conditional` says that the request asked for changes only, and `is_part` that it asked for a
    part of a file. Without these a 304 or a 206 is an error.
    """
    status = answer.status
    if status in _WHOLE_PAGE or (status == 206 and is_part):
        if not answer.content.strip():
            raise Transient(EmptyBody(shown_url, f"status {status} with an empty body"), answer.host)
        return
    if status == 304 and conditional:
        return
    if status in _REFUSED:
        wall = blocks.find(answer.content, answer.final_url, answer.headers, status)
        raise Blocked(shown_url, f"status {status}" + (f", {wall.note}" if wall else ""))
    if status in _GONE:
        raise NotFound(shown_url, f"status {status}")
    if status == 408:
        raise Transient(Timeout(shown_url, "status 408"), answer.host, retry_after_s)
    if status == 429:
        raise Transient(RateLimited(shown_url, "status 429"), answer.host, retry_after_s)
    wall = blocks.find(answer.content, answer.final_url, answer.headers, status)
    if wall is not None and wall.kind in ("captcha", "challenge"):
        # Trying again would only look more like a robot.
        raise Blocked(shown_url, f"status {status}, {wall.note}")
    if status >= 500:
        raise Transient(ServerError(shown_url, f"status {status}"), answer.host, retry_after_s)
    raise FetchError(shown_url, f"status {status}, which is no page", "look at the address in a browser")
