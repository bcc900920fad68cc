"""Decides from the HTTP status whether an answer is a page."""

from __future__ import annotations

from gpuledger.extract.errors import Blocked, EmptyBody, FetchError, NotFound, RateLimited, ServerError, Timeout
from gpuledger.extract.fetch import blocks
from gpuledger.extract.fetch.retry import Transient
from gpuledger.extract.fetch.transport import Answer

_REFUSED = frozenset((401, 402, 403, 407, 451))
_GONE = frozenset((404, 410))
_WHOLE_PAGE = frozenset((200, 203))


def raise_for_status(
    shown_url: str, answer: Answer, retry_after_s: float | None, *, conditional: bool, is_part: bool = False
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
        wall = blocks.find(answer.content, answer.url, answer.headers, status)
        raise Blocked(shown_url, f"status {status}" + (f", {wall.note}" if wall else ""))
    if status in _GONE:
        raise NotFound(shown_url, f"status {status}")
    if status == 408:
        raise Transient(Timeout(shown_url, "status 408"), answer.host, retry_after_s)
    if status == 429:
        raise Transient(RateLimited(shown_url, "status 429"), answer.host, retry_after_s)
    wall = blocks.find(answer.content, answer.url, answer.headers, status)
    if wall is not None and wall.kind in ("captcha", "challenge"):
        # Trying again would only look more like a robot.
        raise Blocked(shown_url, f"status {status}, {wall.note}")
    if status >= 500:
        raise Transient(ServerError(shown_url, f"status {status}"), answer.host, retry_after_s)
    raise FetchError(shown_url, f"status {status}, which is no page", "look at the address in a browser")
