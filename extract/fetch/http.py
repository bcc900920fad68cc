"""The polite client that every source shares. It obeys robots.txt, waits its turn, trusts nothing, and fails with a reason.

One fetch is at most `max_attempts` tries. One try is a chain of hops. For each hop the client checks the address, checks the
host's robots.txt, waits for the host's turn, and connects only to an IP address that was checked. Then it judges the answer:
its status, its size, whether it is complete, and whether it is a page or a wall in front of one.
"""

from __future__ import annotations

import random as random_module
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Self

from gpuledger.errors import Blocked, FetchError, RateLimited, RobotsDisallowed, ServerError
from gpuledger.extract.fetch import addresses, blocks, robots, statuses
from gpuledger.extract.fetch.addresses import Target
from gpuledger.extract.fetch.fetched import Fetched
from gpuledger.extract.fetch.pinned import Resolver, Route, system_resolver
from gpuledger.extract.fetch.site import Site
from gpuledger.extract.fetch.statuses import Transient, raise_for_status
from gpuledger.extract.fetch.transport import PRODUCT, HttpSettings, Sent, Transport
from gpuledger.extract.fetch.turns import Turns

__all__ = ["Client", "Fetched", "HttpSettings", "Machine"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """The functions of the machine that a client uses. They are the real functions unless a test passes its own."""

    #: Seconds that never go back.
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    #: Numbers from 0 to 1.
    random: Callable[[], float] = random_module.random
    #: The time of day.
    now: Callable[[], datetime] = lambda: datetime.now(UTC)
    #: The addresses of a host name.
    resolve: Resolver = system_resolver


class Client:
    """Fetches pages for all sources. Safe to share between threads. Use it as a context manager, or call `close`."""

    def __init__(self, settings: HttpSettings, machine: Machine | None = None) -> None:
        machine = machine or Machine()
        self._settings = settings
        self._random = machine.random
        self._now = machine.now
        self._turns = Turns(machine.clock, machine.sleep, settings.delay_s)
        self._robots = robots.Robots(self._get_robots, PRODUCT, machine.clock)
        self._transport = Transport(settings, self._turns, Route(settings.connect_to, machine.resolve), machine.clock)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._transport.close()

    def fetch(
        self, url: str, *, etag: str | None = None, last_modified: str | None = None, site: Site | None = None
    ) -> Fetched:
        """The page at `url`. It is complete, and it is a page and not a wall.

        With the `etag` or `last_modified` of an earlier answer, the server may answer that nothing changed: `not_modified`.
        With a `site`, the address and all redirects must stay on the hosts of the site.
        Raises a FetchError: ForbiddenAddress, ForeignHost, RobotsDisallowed, Blocked, NotFound, RateLimited, ServerError,
        Timeout, ConnectionFailed, TooLarge, Truncated or TooManyRedirects.
        """
        validators = {"If-None-Match": etag, "If-Modified-Since": last_modified}
        return self._fetched(url, {name: value for name, value in validators.items() if value}, site)

    def fetch_file(self, url: str, *, key: str | None = None, first_bytes: int | None = None) -> Fetched:
        """The file at `url`, or only its beginning: with `first_bytes` no more than that is asked for and read.

        A `key` is shown to the host and port of `url`, and to none to which they redirect. Raises the errors of `fetch`.
        """
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        if first_bytes is not None:
            headers |= {"Range": f"bytes=0-{first_bytes - 1}", "Accept-Encoding": "identity"}
        return self._fetched(url, headers, None, first_bytes)

    def _fetched(
        self, url: str, headers: Mapping[str, str], site: Site | None, first_bytes: int | None = None
    ) -> Fetched:
        shown_url = addresses.redact(url)
        answer = self._with_retries(lambda: self._try_page(url, shown_url, headers, site, first_bytes))
        return replace(answer, url=url)

    def ask(self, url: str, sent: Sent, *, site: Site | None = None, shown_url: str | None = None) -> Fetched:
        """The answer of an official interface. robots.txt is not checked, because the key in `sent` is the permission.

        No redirect is followed, because the credentials would go with it. Errors name `shown_url` instead of `url`. Raises
        the same errors as `fetch`.
        """
        error_url = addresses.redact(shown_url or url)

        def attempt() -> Fetched:
            def before_hop(target: Target) -> None:
                if target.url != addresses.check(url, self._settings.connect_to).url:
                    raise FetchError(error_url, f"it redirects to {target.host}", "look whether the interface moved")
                if site is not None:
                    site.check(target, error_url)

            answer = self._transport.follow(url, error_url, sent, before_hop=before_hop)
            raise_for_status(error_url, answer, statuses.retry_after_s(answer.headers, self._now), conditional=False)
            return answer

        return replace(self._with_retries(attempt), url=url)

    def ask_robots(self, url: str) -> None:
        """Fetch only the site's robots.txt. Raises RobotsDisallowed if it forbids `url`, or the error of fetching it."""
        self._ask_robots(addresses.check(url, self._settings.connect_to), addresses.redact(url))

    def _try_page(
        self, url: str, shown_url: str, headers: Mapping[str, str], site: Site | None, first_bytes: int | None
    ) -> Fetched:
        def before_hop(target: Target) -> None:
            if site is not None:
                site.check(target, shown_url)
            self._ask_robots(target, shown_url)

        answer = self._transport.follow(
            url, shown_url, Sent(headers), before_hop=before_hop, max_start_bytes=first_bytes
        )
        raise_for_status(
            shown_url, answer, statuses.retry_after_s(answer.headers, self._now),
            conditional=not {"If-None-Match", "If-Modified-Since"}.isdisjoint(headers), is_part=first_bytes is not None,
        )  # fmt: skip
        if answer.status not in (206, 304):
            try:
                blocks.detect_redirect(url, answer.final_url)
                blocks.detect(answer.content, answer.final_url, answer.headers, answer.status)
            except Blocked as error:  # this error names the address where the redirects ended
                place = "" if answer.final_url == url else f" at {addresses.redact(answer.final_url)}"
                raise Blocked(shown_url, f"{error.seen}{place}", error.action) from None
        return answer

    def _ask_robots(self, target: Target, shown_url: str) -> None:
        try:
            rules = self._robots.rules(target)
        except FetchError as error:
            raise type(error)(shown_url, f"{target.origin}/robots.txt: {error.seen}", error.action) from error
        self._turns.slow_down(target.host, min(rules.delay_s, self._settings.crawl_delay_ceiling_s))
        if not rules.allow(target.url):
            raise RobotsDisallowed(shown_url, f"{target.origin}{robots.FORBIDS}")

    def _get_robots(self, url: str) -> robots.RobotsAnswer:
        answer = self._with_retries(lambda: self._try_robots(url))
        return robots.RobotsAnswer(answer.status, answer.content)

    def _try_robots(self, url: str) -> Fetched:
        answer = self._transport.follow(url, url, Sent(), max_start_bytes=robots.MAX_BYTES)
        wish = statuses.retry_after_s(answer.headers, self._now)
        if answer.status >= 500:
            raise Transient(ServerError(url, f"status {answer.status}"), answer.host, wish)
        if wish is not None and answer.status == 429:
            raise Transient(RateLimited(url, "status 429"), answer.host, wish)
        return answer

    def _with_retries(self, attempt: Callable[[], Fetched]) -> Fetched:
        """The answer. Tries again only after a failure that may pass (see `statuses.Transient`)."""
        number = 0
        while True:
            number += 1
            try:
                return attempt()
            except Transient as failure:
                self._wait_or_raise(failure, number)

    def _wait_or_raise(self, failure: Transient, number: int) -> None:
        """After the failed try `number`, hold the host until the next try. Raises if there is no next try."""
        error, wish = failure.error, failure.retry_after_s
        ceiling = self._settings.retry_after_ceiling_s
        if wish is not None and wish > ceiling:
            seen = f"{error.seen}, to be tried again after {wish:.0f} s, which is beyond the ceiling of {ceiling:.0f} s"
            raise RateLimited(error.url, seen) from error
        if number == self._settings.max_attempts:
            raise type(error)(error.url, f"{error.seen} ({number} tries)", error.action) from error
        self._turns.hold(failure.host, max(wish or 0.0, statuses.backoff_s(number, self._random)))
