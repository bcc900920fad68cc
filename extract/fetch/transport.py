"""Sends one request and follows its redirects. Each hop is checked, waits for its host's turn, and has a deadline."""

from __future__ import annotations

import ssl
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from urllib.parse import urljoin

import requests
from requests.cookies import RequestsCookieJar, extract_cookies_to_jar
from urllib3 import Timeout as Timeouts
from urllib3 import exceptions as urllib3_errors

from gpuledger import __version__
from gpuledger.errors import (
    ConnectionFailed,
    FetchError,
    ForbiddenAddress,
    ForeignHost,
    Timeout,
    TooManyRedirects,
    Truncated,
)
from gpuledger.extract.fetch import addresses, body
from gpuledger.extract.fetch.addresses import Target
from gpuledger.extract.fetch.fetched import Fetched
from gpuledger.extract.fetch.pinned import PinnedAdapter, RefusedPeer, Route
from gpuledger.extract.fetch.statuses import Transient
from gpuledger.extract.fetch.turns import Turns

# http.cookiejar warns with a traceback about a cookie whose expiry date is out of range. It ignores such a cookie anyway.
warnings.filterwarnings("ignore", "http.cookiejar bug", UserWarning)

_REDIRECTS = frozenset((301, 302, 303, 307, 308))
_PIECE = 1 << 16
#: Bytes of an error page that are read. They suffice to tell a wall from a failing server.
_ERROR_PAGE_BYTES = 1 << 16
_ACCEPT = "text/html,application/xhtml+xml,application/json;q=0.9,application/xml;q=0.9,*/*;q=0.8"


#: The name of this client in robots.txt.
PRODUCT = "gpuledger"


@dataclass(frozen=True, kw_only=True)
class HttpSettings:
    """How the client behaves. Times in seconds, sizes in bytes.

    `user_agent` names this program honestly. `contact` follows it: an address or a page where a site's owner reaches the
    operator. `delay_s` is the pause between two requests to one host. A longer Crawl-delay in robots.txt replaces it, up to
    `crawl_delay_ceiling_s`. `deadline_s` limits one try from connecting to the last byte, including redirects but not the
    wait for a turn. `max_body_bytes` limits the body before and after decompression. If Retry-After is longer than
    `retry_after_ceiling_s`, the client does not wait but fails. `connect_to` sends a host name to a fixed IP address and
    port, like curl's --connect-to. It is the only way to an address that is not public. `ca_bundle` is a file of
    certificates to trust instead of the usual ones.
    """

    user_agent: str = f"{PRODUCT}/{__version__}"
    contact: str | None = None
    delay_s: float = 1.0
    crawl_delay_ceiling_s: float = 30.0
    deadline_s: float = 30.0
    connect_timeout_s: float = 10.0
    max_body_bytes: int = 5_000_000
    max_attempts: int = 3
    retry_after_ceiling_s: float = 60.0
    max_redirects: int = 5
    connect_to: Mapping[str, tuple[str, int]] = field(default_factory=lambda: MappingProxyType({}))
    ca_bundle: str | None = None

    @property
    def agent(self) -> str:
        """The User-Agent header."""
        return f"{self.user_agent} (+{self.contact})" if self.contact else self.user_agent


@dataclass(frozen=True, slots=True)
class Sent:
    """The headers of a request, and the `form` that is the body of a POST. Without a form the request is a GET."""

    headers: Mapping[str, str] = field(default_factory=dict)
    form: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True)
class _Chain:
    """The values that all hops of one chain of redirects share."""

    #: The address that errors name.
    shown_url: str
    sent: Sent
    #: Some sites set a cookie and then redirect to check that it comes back.
    jar: RequestsCookieJar
    max_start_bytes: int | None


class Transport:
    """Sends requests over checked connections. Safe to share between threads."""

    def __init__(self, settings: HttpSettings, turns: Turns, route: Route, clock: Callable[[], float]) -> None:
        self._settings = settings
        self._turns = turns
        self._clock = clock
        self._adapter = PinnedAdapter(route)
        self._headers = {"User-Agent": settings.agent, "Accept": _ACCEPT, "Accept-Encoding": body.ACCEPT_ENCODING}

    def close(self) -> None:
        """Close the connections."""
        self._adapter.close()

    def follow(
        self,
        url: str,
        shown_url: str,
        sent: Sent,
        *,
        before_hop: Callable[[Target], None] = lambda target: None,
        max_start_bytes: int | None = None,
    ) -> Fetched:
        """The answer at the end of the redirects, whatever its status.

        Errors name `shown_url`. `before_hop` is called before the connection of each hop, and raises to refuse the hop. With
        `max_start_bytes` a longer body is cut there instead of refused. Raises FetchError and Transient.
        """
        left_s = self._settings.deadline_s
        chain = _Chain(shown_url, sent, RequestsCookieJar(), max_start_bytes)
        seen: set[tuple[object, ...]] = set()
        target: Target | None = None
        for hop in range(self._settings.max_redirects + 1):
            before, target = target, self._checked(url, shown_url, hop)
            if before and before.origin != target.origin:  # a key is for the port of the host that was asked alone
                kept = {name: value for name, value in chain.sent.headers.items() if name != "Authorization"}
                chain = replace(chain, sent=Sent(kept, chain.sent.form))
            before_hop(target)
            if left_s <= 0:
                raise Timeout(shown_url, f"not finished after {self._settings.deadline_s:g} s")
            with self._turns.take(target.host):
                started = self._clock()
                answer = self._exchange(target, chain, left_s)
                left_s -= self._clock() - started
            location = answer.headers.get("location")
            if answer.status not in _REDIRECTS or not location:
                return answer
            state = (target.url, *sorted((cookie.name, cookie.value or "") for cookie in chain.jar))
            if state in seen:
                raise TooManyRedirects(shown_url, f"a redirect loop at {addresses.redact(target.url)}")
            seen.add(state)
            url = _join(target, location, shown_url)
            if target.scheme == "https" and url.lower().startswith("http:"):
                raise ForeignHost(shown_url, f"{target.host} redirects from https to {addresses.redact(url)}")
        raise TooManyRedirects(shown_url, f"more than {self._settings.max_redirects} redirects")

    def _checked(self, url: str, shown_url: str, hop: int) -> Target:
        try:
            return addresses.check(url, self._settings.connect_to)
        except ForbiddenAddress as error:
            if hop == 0:
                raise
            raise ForbiddenAddress(shown_url, f"redirects to {error.url}: {error.seen}", error.action) from None

    def _exchange(self, target: Target, chain: _Chain, left_s: float) -> Fetched:
        """One request and its answer, read to the end."""
        with _as_fetch_errors(target, chain.shown_url, self._settings.deadline_s):
            headers = {**self._headers, **chain.sent.headers}
            method = "GET" if chain.sent.form is None else "POST"
            request = requests.Request(
                method, target.url, headers=headers, cookies=chain.jar, data=chain.sent.form
            ).prepare()
            self._check_prepared(request.url or "", target, chain.shown_url)
            response = self._adapter.send(
                request,
                stream=True,
                timeout=Timeouts(total=left_s, connect=min(left_s, self._settings.connect_timeout_s)),  # type: ignore[arg-type]
                verify=self._settings.ca_bundle or True,
            )
            try:
                extract_cookies_to_jar(chain.jar, request, response.raw)  # type: ignore[no-untyped-call]
                lower = {name.lower(): value for name, value in response.headers.items()}
                content = self._read_body(response, lower, chain)
            finally:
                response.close()
        return Fetched(
            url=target.url,
            final_url=target.url,
            status=response.status_code,
            headers=lower,
            content=content,
            not_modified=response.status_code == 304,
        )

    def _read_body(self, response: requests.Response, headers: Mapping[str, str], chain: _Chain) -> bytes:
        status = response.status_code
        if status in (204, 304):
            response.raw.drain_conn()  # there is no body; this returns the connection to the pool
            return b""
        if status in _REDIRECTS:
            return b""
        pieces = response.raw.stream(_PIECE, decode_content=False)
        if status >= 400:
            try:
                return body.read_start(pieces, headers, _ERROR_PAGE_BYTES, chain.shown_url)
            except (FetchError, urllib3_errors.HTTPError):
                return b""  # the status says enough; the page would only be searched for a wall
        if chain.max_start_bytes is not None:
            return body.read_start(pieces, headers, chain.max_start_bytes, chain.shown_url)
        return body.decompressed(pieces, headers, self._settings.max_body_bytes, chain.shown_url)

    def _check_prepared(self, url: str, target: Target, shown_url: str) -> None:
        """Check that requests, which parses the address again, would connect to the address that was checked."""
        again = addresses.check(url, self._settings.connect_to)
        if again.origin != target.origin:
            raise ForbiddenAddress(
                shown_url, f"the address means {target.origin} to one reader and {again.origin} to another"
            )


def _join(target: Target, location: str, shown_url: str) -> str:
    """The address that a Location header leads to. It is decoded as Latin-1, but servers mean UTF-8 by other letters."""
    location = location.strip()
    with suppress(UnicodeError):
        location = location.encode("latin-1").decode("utf-8")
    try:
        return urljoin(target.url, location)
    except ValueError as error:
        raise ForbiddenAddress(shown_url, f"redirects to what is no address ({error})") from None


@contextmanager
def _as_fetch_errors(target: Target, shown_url: str, deadline_s: float) -> Iterator[None]:
    """Turn the errors of requests and urllib3 into our own. The order matters, because the libraries' classes overlap."""

    def transient(kind: type[FetchError], seen: str) -> Transient:
        return Transient(kind(shown_url, seen), target.host)

    try:
        yield
    except RefusedPeer as error:
        raise ForbiddenAddress(shown_url, str(error)) from None
    except Truncated as error:
        raise Transient(error, target.host) from None
    except requests.exceptions.ConnectTimeout as error:
        raise transient(ConnectionFailed, f"no connection to {target.origin}: {_reason(error)}") from error
    except (requests.exceptions.Timeout, urllib3_errors.TimeoutError) as error:
        raise Timeout(shown_url, f"not finished after {deadline_s:g} s") from error
    except requests.exceptions.SSLError as error:
        reason = _reason(error)
        if isinstance(reason, ssl.SSLCertVerificationError):
            raise ConnectionFailed(
                shown_url, f"the certificate of {target.origin} is not valid: {reason.verify_message}"
            ) from error
        raise transient(ConnectionFailed, f"no safe connection to {target.origin}: {reason}") from error
    except requests.exceptions.ConnectionError as error:
        raise transient(ConnectionFailed, f"no connection to {target.origin}: {_reason(error)}") from error
    except requests.exceptions.InvalidURL as error:
        raise ForbiddenAddress(shown_url, f"not an address: {error}") from error
    except (urllib3_errors.ProtocolError, urllib3_errors.SSLError) as error:
        raise transient(Truncated, f"the body broke off: {_reason(error)}") from error
    except (requests.exceptions.RequestException, urllib3_errors.HTTPError, ValueError) as error:
        # urllib3 raises ValueError for a chunk of a negative size, and Python for letters that no header may have.
        raise FetchError(shown_url, f"the answer is not HTTP as it should be: {_reason(error)}") from error


def _reason(error: BaseException) -> BaseException:
    """The innermost of the errors that the libraries wrap into each other. It says what happened."""
    if isinstance(error, urllib3_errors.NewConnectionError | urllib3_errors.ConnectTimeoutError) and error.__cause__:
        return error.__cause__
    for inner in (getattr(error, "reason", None), *error.args):
        if isinstance(inner, BaseException):
            return _reason(inner)
    return error
