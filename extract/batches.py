"""Batches as JSON, by which a worker sends the rows of one source to the writer through a store.

`loads` trusts nothing, because other machines write into the store too.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from gpuledger.errors import as_record, rebuilt
from gpuledger.extract.collect import Collected
from gpuledger.items import Issue, Item, from_json, to_json

#: Fields of a batch that go into JSON as they are.
_PLAIN = (
    "source",
    "shop",
    "pages",
    "pages_unchanged",
    "size_bytes",
    "is_complete",
    "fetched",
    "fetched_by",
    "stated_total",
    "listed",
)


def dumps(batch: Collected) -> bytes:
    """A batch as JSON."""
    record: dict[str, Any] = {name: getattr(batch, name) for name in _PLAIN}
    record |= {
        "rows": [(to_json(item), sha256) for item, sha256 in batch.rows],
        "issues": [(to_json(issue), sha256) for issue, sha256 in batch.issues],
        "images": dict(batch.images), "parsed": list(batch.parsed), "starts": list(batch.starts),
        "files": list(batch.files), "failure": as_record(batch.failure) if batch.failure else None,
        "unread": [as_record(error) for error in batch.unread],
        "missed": [(address, as_record(error)) for address, error in batch.missed],
        "nights": [night.isoformat() for night in batch.nights] if batch.nights else None,
    }  # fmt: skip
    return json.dumps(record, ensure_ascii=False).encode("utf-8", "backslashreplace")


def loads(content: bytes) -> Collected:
    """The inverse of `dumps`. Raises ValueError if `content` is not a batch."""
    try:
        record = json.loads(content)
        nights = [datetime.fromisoformat(night) for night in record["nights"] or ()]
        return Collected(
            **{name: record[name] for name in _PLAIN},
            rows=[(_item(item), str(sha256)) for item, sha256 in record["rows"]],
            issues=[(_issue(issue), sha256) for issue, sha256 in record["issues"]],
            images=record["images"], parsed=[(address, sha256) for address, sha256 in record["parsed"]],
            starts=tuple(record["starts"]),
            files=tuple((name, kind, sha256) for name, kind, sha256 in record["files"]),
            failure=rebuilt(record["failure"]) if record["failure"] else None,
            unread=[rebuilt(error) for error in record["unread"]],
            missed=[(address, rebuilt(error)) for address, error in record["missed"]],
            nights=(nights[0], nights[1]) if nights else None,
        )  # fmt: skip
    except (KeyError, TypeError, AttributeError, ArithmeticError, RecursionError) as error:
        raise ValueError(f"{type(error).__name__}: {error}") from None


def _item(record: Mapping[str, Any]) -> Item:
    item = from_json(record)
    assert not isinstance(item, Issue)
    return item  # type: ignore[return-value]  # the rows of a batch are items


def _issue(record: Mapping[str, Any]) -> Issue:
    issue = from_json(record)
    if not isinstance(issue, Issue):
        raise TypeError(f"{issue.KIND} is no issue")
    return issue
