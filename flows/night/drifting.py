"""Whether a source still reads as it did: compares its night with its own past nights, and names the pages to look at.

If the settings name a source's addresses, the source is many shops, and each host has a past of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from urllib.parse import urlsplit

import duckdb

from gpuledger.extract import source as sources
from gpuledger.extract.archive.snapshots import Archive
from gpuledger.extract.collect import Collected
from gpuledger.extract.errors import LayoutChanged
from gpuledger.extract.items import Issue
from gpuledger.flows.decisions import releases
from gpuledger.flows.night.context import Context
from gpuledger.transform.gate import drift
from gpuledger.warehouse.ledger import IssueOfPage, SourceStatus
from gpuledger.warehouse.load import profile

#: The code of an issue about drift. Its place is the trait that drifted, its text the hash of the page that read well.
CODE = "drift"


def look(
    con: duckdb.DuckDBPyConnection, context: Context, collected: Collected, status: SourceStatus
) -> list[IssueOfPage]:
    """An issue for each trait of the source that is no longer usual, and for each page that its parser can no longer read.

    Records the traits of the night if its batch was loaded. Files that people drop have no past to compare with.
    """
    if not collected.starts:
        return []
    return [issue for host, part in _by_host(collected) for issue in _look(con, context, part, (status, host))]


def _by_host(collected: Collected) -> Iterator[tuple[str, Collected]]:
    """The batch as a whole, with an empty host. For a source whose addresses the settings name, a part for each host."""
    if collected.source not in sources.names() or sources.get(collected.source).start:
        yield "", collected
        return
    pages = {sha256: _host(url) for url, sha256 in collected.parsed}
    for host in sorted({*pages.values(), *map(_host, collected.starts)} - {""}):
        yield (
            host,
            replace(
                collected,
                rows=[row for row in collected.rows if pages.get(row[1]) == host],
                looked=[look for look in collected.looked if pages.get(look[1]) == host],
                issues=[
                    issue_of_page
                    for issue_of_page in collected.issues
                    if (pages.get(issue_of_page[1] or "") or _host(issue_of_page[0].url)) == host
                ],
                parsed=[page for page in collected.parsed if _host(page[0]) == host],
            ),
        )


def _host(url: str | None) -> str:
    return urlsplit(url or "").hostname or ""


def _look(
    con: duckdb.DuckDBPyConnection, context: Context, collected: Collected, what: tuple[SourceStatus, str]
) -> list[IssueOfPage]:
    source, night = collected.source, context.as_of
    status, host = what
    place = f"{source} {host}" if host else source
    known = profile.nights(con, place, night)
    past = drift.usual(known, source, night, releases.releases(context.data, context.started_at))
    issues = _unread(context, collected, past)
    if status == "failed" or not collected.parsed:
        # A source that failed as a whole is reported as failed, and one shop among many by the issues of its pages.
        return _named(host, issues)
    if status == "unchanged":
        # The batch equals the one that was loaded last, so its issues are the same again.
        last = max((entry.seen_at for entry in known if entry.seen_at < night), default=night)
        figures = [entry.figure for entry in known if entry.seen_at == last]
        past = {trait: [entry for entry in nights if entry.seen_at < last] for trait, nights in past.items()}
        return _named(host, [*issues, *(_issue(source, entry, {}) for entry in drift.find(figures, past))])
    addresses = {sha256: url for url, sha256 in collected.parsed}
    keys = profile.known_keys(con, source, night)
    figures = profile.profile_of(collected.rows, collected.looked, collected.issues, addresses, keys)
    drifts = drift.find(figures, past)
    if status != "refused":
        profile.keep(con, place, night, figures, {entry.now.trait for entry in drifts})
    pages = {url: sha256 for sha256, url in addresses.items()}
    return _named(host, [*issues, *(_issue(source, entry, pages) for entry in drifts)])


def _named(host: str, issues: list[IssueOfPage]) -> list[IssueOfPage]:
    """The issues, each with the host in its message."""
    return [(replace(issue, message=f"{host}: {issue.message}") if host else issue, sha256) for issue, sha256 in issues]


def _issue(source: str, drifted: drift.Drift, pages: dict[str, str]) -> IssueOfPage:
    """The issue of one drift. `pages` are tonight's, by address.

    If the page that read well came again tonight, the issue compares the two under its address.
    """
    good = drifted.good.figure
    url = good.url if good.url in pages else drifted.now.url
    sha256 = pages.get(url or "", drifted.now.sha256)
    return _as_issue(source, drifted.seen, url, (sha256, good.sha256, drifted.now.trait))


def _unread(context: Context, collected: Collected, past: dict[str, list[profile.Night]]) -> list[IssueOfPage]:
    """Issues for pages that were read before and that their parser no longer knows."""
    unread = [(issue, sha256) for issue, sha256 in collected.issues if issue.code == LayoutChanged.__name__ and sha256]
    if not unread:
        return []
    good = {night.figure.url: night.figure.sha256 for nights in past.values() for night in reversed(nights)}
    archived = _earlier_pages(context, collected.source, {issue.url: sha256 for issue, sha256 in unread if issue.url})
    issues = []
    for issue, sha256 in unread:
        before = good.get(issue.url) or archived.get(issue.url or "")
        if before:
            # Without the advice on what to do, as all these issues share it.
            seen = issue.message.partition("; ")[0]
            issues.append(_as_issue(collected.source, seen, issue.url, (sha256, before, "page")))
    return issues


def _earlier_pages(context: Context, source: str, pages: dict[str, str]) -> dict[str, str]:
    """The hash of the newest earlier page in the archive, by address, that differs from the one in `pages`."""
    earlier: dict[str, str] = {}
    for snapshot in Archive.at(context.data.snapshots, context.data.store).history(source):
        if snapshot.url in pages and snapshot.sha256 != pages[snapshot.url] and snapshot.fetched_at < context.as_of:
            earlier[snapshot.url] = snapshot.sha256
    return earlier


def _as_issue(source: str, seen: str, url: str | None, what: tuple[str | None, str | None, str]) -> IssueOfPage:
    sha256, before, place = what
    pages = f"tonight's page {(sha256 or '')[:12]}, the nearest that read well {(before or '')[:12]}"
    message = f"{seen}; {pages}; `gpuledger sources diff {source}` shows both"
    return Issue(code=CODE, message=message, where=place, text=before, url=url), sha256


def traits(issues: Sequence[IssueOfPage]) -> tuple[str, ...]:
    """The sentences that say what drifted, from those of the issues that are about drift. Each sentence comes once."""
    seen = (issue.message.partition("; tonight's page ")[0] for issue, _ in issues if issue.code == CODE)
    return tuple(dict.fromkeys(seen))
