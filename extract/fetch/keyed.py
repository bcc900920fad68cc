"""Fetches pages from an official interface, with a token that is renewed when it has expired.

robots.txt is not checked, because the key is the permission.
The polite client does everything else: one connection and a delay per host, Retry-After, size, deadline, the source's hosts.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import replace
from urllib.parse import parse_qsl, quote, urlencode, urlsplit, urlunsplit

from gpuledger import local_files
from gpuledger.errors import Blocked, FetchError, Truncated
from gpuledger.extract.fetch.fetched import Fetched
from gpuledger.extract.fetch.http import Client
from gpuledger.extract.fetch.site import Site
from gpuledger.extract.fetch.transport import Sent
from gpuledger.extract.source import Access

#: How often the request is repeated if the answer is not JSON.
_AGAIN = 2


class Keyed:
    """Fetches the pages of one interface in one run. `secrets` maps the names of settings to credentials."""

    def __init__(self, client: Client, access: Access, secrets: Mapping[str, str]) -> None:
        self._client = client
        self._access = access
        self._secrets = [secrets[name] for name in access.credentials]
        self._token: str | None = None

    def fetch(self, url: str, site: Site | None = None) -> Fetched:
        """The JSON page at `url`. Raises a FetchError as the client does, and Blocked if the interface refuses the key."""
        for repeats_left in range(_AGAIN, -1, -1):
            fetched = self._fetch(url, site)
            try:
                local_files.loads(fetched.content)
            except ValueError as error:
                if not repeats_left:
                    raise Truncated(url, f"the answer is no JSON ({error}), {_AGAIN + 1} times in a row") from None
                continue
            # As it was asked, with what went as headers.
            return replace(fetched, url=url, final_url=url)
        raise AssertionError

    def _fetch(self, url: str, site: Site | None) -> Fetched:
        had_token = self._token is not None
        try:
            return self._ask(url, site)
        except Blocked as error:
            if not (had_token and "status 401" in error.seen):
                raise self._refused(error) from None
        self._token = None  # it has expired
        return self._fetch(url, site)

    def _ask(self, url: str, site: Site | None) -> Fetched:
        parts = urlsplit(url)
        query, headers = [], {"Authorization": f"Bearer {self._bearer()}"}
        for name, value in parse_qsl(parts.query, keep_blank_values=True):
            if name in self._access.as_header:
                headers[self._access.as_header[name]] = value
            else:
                query.append((name, value))
        keyed_url = urlunsplit(parts._replace(query=urlencode(query, quote_via=quote)))
        return self._client.ask(keyed_url, Sent(headers), site=site, shown_url=url)

    def _bearer(self) -> str:
        if self._token is None:
            address = self._access.token_url
            pair = base64.b64encode(":".join(self._secrets).encode()).decode()
            form = {"grant_type": "client_credentials", "scope": self._access.scope}
            headers = {"Authorization": f"Basic {pair}"}
            try:
                answer = self._client.ask(address, Sent(headers, form))
                self._token = str(local_files.loads(answer.content)["access_token"])
            except Blocked as error:
                raise self._refused(error) from None
            except (ValueError, KeyError, TypeError):
                raise FetchError(
                    address, "the answer holds no access_token", "look whether the interface moved"
                ) from None
        return self._token

    def _refused(self, error: Blocked) -> Blocked:
        names = ", ".join(f"GPULEDGER_{name.upper()}" for name in self._access.credentials)
        return Blocked(error.url, error.seen, f"look whether {names} is right and not used up")
