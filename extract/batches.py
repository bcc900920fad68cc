"""What a worker read of one source, as JSON: it goes to the writer through a store, and a store is written by others."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from gpuledger.extract import errors
from gpuledger.extract.collect import Collected
from gpuledger.extract.errors import ExtractError
from gpuledger.extract.items import Issue, Item, from_json, to_json

#: Fields of a batch that JSON has words for.
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
    words: dict[str, Any] = {name: getattr(batch, name) for name in _PLAIN}
    words |= {
        "rows": [(to_json(item), sha256) for item, sha256 in batch.rows],
        "issues": [(to_json(issue), sha256) for issue, sha256 in batch.issues],
        "images": dict(batch.images), "parsed": list(batch.parsed), "starts": list(batch.starts),
        "files": list(batch.files), "failure": _error(batch.failure) if batch.failure else None,
        "missed": [(address, _error(error)) for address, error in batch.missed],
        "nights": [night.isoformat() for night in batch.nights] if batch.nights else None,
    }  # fmt: skip
    return json.dumps(words, ensure_ascii=False).encode("utf-8", "backslashreplace")


def loads(content: bytes) -> Collected:
    """The inverse of `dumps`. Raises ValueError for what is none."""
    try:
        words = json.loads(content)
        nights = [datetime.fromisoformat(night) for night in words["nights"] or ()]
        return Collected(
            **{name: words[name] for name in _PLAIN},
            rows=[(_item(item), str(sha256)) for item, sha256 in words["rows"]],
            issues=[(_issue(issue), sha256) for issue, sha256 in words["issues"]],
            images=words["images"], parsed=_pairs(words["parsed"]), starts=tuple(words["starts"]),
            files=tuple((name, kind, sha256) for name, kind, sha256 in words["files"]),
            failure=_rebuilt(words["failure"]) if words["failure"] else None,
            missed=[(address, _rebuilt(error)) for address, error in words["missed"]],
            nights=(nights[0], nights[1]) if nights else None,
        )  # fmt: skip
    except (KeyError, TypeError, AttributeError, ArithmeticError, RecursionError) as error:
        raise ValueError(f"{type(error).__name__}: {error}") from None


def _item(words: Mapping[str, Any]) -> Item:
    item = from_json(words)
    assert not isinstance(item, Issue)
    return item  # type: ignore[return-value]  # what a batch has of rows are items


def _issue(words: Mapping[str, Any]) -> Issue:
    issue = from_json(words)
    if not isinstance(issue, Issue):
        raise TypeError(f"{issue.KIND} is no issue")
    return issue


def _pairs(words: Sequence[Sequence[str]]) -> list[tuple[str, str]]:
    return [(one, other) for one, other in words]


def _error(error: ExtractError) -> dict[str, str]:
    return {"error": type(error).__name__, "url": error.url, "seen": error.seen, "action": error.action}


def _rebuilt(words: Mapping[str, str]) -> ExtractError:
    return errors.rebuilt(words["error"], words["url"], words["seen"], words["action"])
