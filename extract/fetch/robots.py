"""Reads from robots.txt what a site allows this client (RFC 9309).

protego parses the rules. This module decides what the status of the answer means.
"""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable
from dataclasses import dataclass

from protego import Protego

from gpuledger.errors import FetchError, RobotsDisallowed, ServerError, TooManyRedirects
from gpuledger.extract.fetch.addresses import Target

#: RFC 9309, 2.5: at least 500 kibibytes must be read. The rest of the file is ignored.
MAX_BYTES = 512 * 1024
#: RFC 9309, 2.4: the rules must not be used for longer than a day.
KEEP_S = 24 * 3600.0
#: A failure is remembered just long enough that not every page of a run fetches robots.txt again.
KEEP_FAILURE_S = 60.0
#: The reason of RobotsDisallowed ends with this text if the rules forbid the address. It does not if they cannot be read.
FORBIDS = "/robots.txt forbids it"


@dataclass(frozen=True, slots=True)
class RobotsAnswer:
    """The answer to a request for robots.txt, after redirects and retries. `content` has at most MAX_BYTES."""

    status: int
    content: bytes


class Rules:
    """The rules of one robots.txt for this client. `delay_s` is its Crawl-delay or Request-rate, 0 if it has neither."""

    def __init__(self, text: str, agent: str) -> None:
        self._agent = agent
        self._rules = Protego.parse(text)
        rate = self._rules.request_rate(agent)
        self.delay_s = max(self._rules.crawl_delay(agent) or 0.0, rate.seconds / rate.requests if rate else 0.0)
        # protego sorts and indexes its rules on first use. This call does it now, so that threads only read them later.
        self.allow("http://host/")

    def allow(self, url: str) -> bool:
        """Whether the address may be fetched."""
        return bool(self._rules.can_fetch(url, self._agent))


class Robots:
    """The rules of every origin, fetched once and kept for a day. Threads that need the same origin wait for one fetch.

    `get` fetches a robots.txt by its address and raises FetchError. `agent` is this client's name in the rules.
    """

    def __init__(self, get: Callable[[str], RobotsAnswer], agent: str, clock: Callable[[], float]) -> None:
        self._get = get
        self._agent = agent
        self._clock = clock
        self._origins: dict[str, _Origin] = {}
        self._lock = threading.Lock()

    def rules(self, target: Target) -> Rules:
        """The rules for `target`'s origin.

        Raises RobotsDisallowed if the server fails (5xx), and the connection's own error if the server cannot be reached.
        Both forbid every address of the origin (RFC 9309, 2.3.1.4).
        """
        with self._lock:
            origin = self._origins.setdefault(target.origin, _Origin())
        with origin.lock:
            if origin.known is None or self._clock() >= origin.until:
                origin.known = self._fetch(target.origin)
                failed = isinstance(origin.known, FetchError)
                origin.until = self._clock() + (KEEP_FAILURE_S if failed else KEEP_S)
            if isinstance(origin.known, FetchError):
                raise copy.copy(origin.known)
            return origin.known

    def _fetch(self, origin: str) -> Rules | FetchError:
        url = f"{origin}/robots.txt"
        try:
            answer = self._get(url)
        except ServerError as error:
            return RobotsDisallowed(
                url, f"{error.seen}, and a robots.txt that cannot be read forbids everything (RFC 9309)", "try later"
            )
        except TooManyRedirects:
            answer = RobotsAnswer(404, b"")  # RFC 9309, 2.3.1.2: may be treated as 'there is no robots.txt'
        except FetchError as error:
            return error
        return Rules(_text(answer), self._agent)


class _Origin:
    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.known: Rules | FetchError | None = None
        self.until = 0.0


def _text(answer: RobotsAnswer) -> str:
    """The text of the rules. Empty if the site has no robots.txt: any 4xx allows everything (RFC 9309, 2.3.1.3)."""
    if not 200 <= answer.status < 300:
        return ""
    content = answer.content[:MAX_BYTES]
    if len(answer.content) >= MAX_BYTES:
        # A line that is cut off could be a rule that nobody wrote: `Disallow: /` from `Disallow: /cart`.
        content = content[: content.rfind(b"\n") + 1]
    return content.decode("utf-8-sig", errors="replace")
