"""When to try again, and after how long."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from gpuledger.extract.errors import FetchError

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
