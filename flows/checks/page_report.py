"""What a person with a network sends back: how each source answered, what was read, and how its page is built.

Nothing in it is of the person or of the machine: no folder, no address of the settings, no key, no header but the type of
the page. Of a page's texts those alone stay that were read of the goods.
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

#: Fields of the goods whose words are shown.
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
#: Sources that read what is the person's own: addresses from the settings, files of the inbox.
_OWN = frozenset(("generic_shop", "measurements", "own_rates", "product_feed", "quotes"))


def write(file: Path, checked: Sequence[Checked], at: datetime) -> None:
    """Write the report of what was checked. Raises OSError."""
    report = {
        "gpuledger": __version__, "python": platform.python_version(), "checked_on": at.date().isoformat(),
        "sources": [_entry(one) for one in checked],
    }  # fmt: skip
    file.write_text(json.dumps(report, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def _entry(one: Checked) -> dict[str, Any]:
    is_own = one.source in _OWN
    entry: dict[str, Any] = {
        "source": one.source, "status": one.status,
        # The reason names the address, or the file.
        "reason": one.reason and (one.reason.partition(":")[0] if is_own else redact_text(one.reason)),
        "url": None if one.url is None or is_own else redact(one.url),
        "start": None if is_own else [redact(url) for url in sources.get(one.source).start],
    }  # fmt: skip
    if one.page is None or is_own:
        return entry
    items = [item for item in one.parsed if not isinstance(item, Aside)]
    known = _words(items[:3])
    return entry | {
        "content_type": one.page.headers.get("content-type"), "bytes": len(one.page.content),
        "seconds": {"fetch": _rounded(one.fetch_s), "read": _rounded(one.read_s)},
        "items": dict(one.counts or {}), "fields": _fields(items, one.parsed),
        "issues": dict(Counter(issue.code for issue in one.issues)),
        "first_issues": [redact_text(issue.message) for issue in one.issues[:3]],
        "first": {name: value for name, value in to_json(items[0]).items() if name in _SHOWN} if items else None,
        "sample": [redact_text(line) for line in side_by_side.sample(one.page, items, known)],
    }  # fmt: skip


def _fields(items: Sequence[Item], parsed: Sequence[object]) -> dict[str, str]:
    """Of how many rows, or looks, each field and each selector was found."""
    looked = [(item, "") for item in parsed if isinstance(item, Looked)]
    issues = [(item, None) for item in parsed if isinstance(item, Issue)]
    figures = profile.of([(item, "") for item in items], looked, issues, {}, ())
    shares = [
        one for one in figures if not one.trait.endswith(profile.LENGTH) and not one.trait.startswith(profile.ISSUE)
    ]
    return {one.trait: f"{round(one.figure * one.counted)}/{one.counted}" for one in shares}


def _words(items: Sequence[Item]) -> list[str]:
    rows = [to_json(item) for item in items]
    return [str(row[name]) for row in rows for name in _SHOWN if row.get(name)]


def _rounded(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds, 3)
