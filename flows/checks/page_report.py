"""A report for the maintainers: how each source answered, what was read from it, and how its page is built.

A person whose machine can reach the sources writes this report and sends it. It contains nothing about the person or the
machine: no folder, no address from the settings, no key, and no header but the type of the page. From the texts of a page
it keeps only those that were read as fields of the goods.
"""

from __future__ import annotations

import json
import platform
from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from gpuledger import __version__
from gpuledger.extract import side_by_side
from gpuledger.extract import source as sources
from gpuledger.extract.items import Aside, Issue, Item, Looked, to_json
from gpuledger.extract.redaction import redact, redact_text
from gpuledger.flows.checks.sources import Checked
from gpuledger.warehouse.load import profile

#: Fields of the goods whose text the report shows.
_SHOWN = (
    "title",
    "price_text",
    "price",
    "list_price",
    "currency",
    "sku",
    "mpn",
    "gtin",
    "brand",
    "gpu_name",
    "table",
    "column",
)
#: Sources that read things of the person: addresses from the settings, files from the inbox.
_OWN = frozenset(("generic_shop", "measurements", "own_rates", "product_feed", "quotes"))


def write(file: Path, checked: Sequence[Checked], at: datetime) -> None:
    """Write the report of the checked sources to `file`. Raises OSError."""
    report = {
        "gpuledger": __version__, "python": platform.python_version(), "checked_on": at.date().isoformat(),
        "sources": [_entry(result) for result in checked],
    }  # fmt: skip
    file.write_text(json.dumps(report, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def _entry(checked: Checked) -> dict[str, Any]:
    is_own = checked.source in _OWN
    entry: dict[str, Any] = {
        "source": checked.source, "status": checked.status,
        # The reason begins with a kind of error; behind it stand the address or the file.
        "reason": checked.reason and (checked.reason.partition(":")[0] if is_own else redact_text(checked.reason)),
        "url": None if checked.url is None or is_own else redact(checked.url),
        "start": None if is_own else [redact(url) for url in sources.get(checked.source).start],
    }  # fmt: skip
    if checked.page is None or is_own:
        return entry
    items = [item for item in checked.parsed if not isinstance(item, Aside)]
    known_texts = _texts(items[:3])
    return entry | {
        "content_type": checked.page.headers.get("content-type"), "bytes": len(checked.page.content),
        "seconds": {"fetch": _rounded(checked.fetch_s), "read": _rounded(checked.read_s)},
        "items": dict(checked.counts or {}), "fields": _fields(items, checked.parsed),
        "issues": dict(Counter(issue.code for issue in checked.issues)),
        "first_issues": [redact_text(issue.message) for issue in checked.issues[:3]],
        "first": {name: value for name, value in to_json(items[0]).items() if name in _SHOWN} if items else None,
        "sample": [redact_text(line) for line in side_by_side.sample(checked.page, items, known_texts)],
    }  # fmt: skip


def _fields(items: Sequence[Item], parsed: Sequence[object]) -> dict[str, str]:
    """For each field and each selector, in how many of the rows it had a value, as `found/rows`."""
    looks = [(item, "") for item in parsed if isinstance(item, Looked)]
    issues = [(item, None) for item in parsed if isinstance(item, Issue)]
    figures = profile.of([(item, "") for item in items], looks, issues, {}, ())
    shares = [
        figure
        for figure in figures
        if not figure.trait.endswith(profile.LENGTH) and not figure.trait.startswith(profile.ISSUE)
    ]
    return {share.trait: f"{round(share.figure * share.counted)}/{share.counted}" for share in shares}


def _texts(items: Sequence[Item]) -> list[str]:
    rows = [to_json(item) for item in items]
    return [str(row[name]) for row in rows for name in _SHOWN if row.get(name)]


def _rounded(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds, 3)
