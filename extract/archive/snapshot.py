"""The archive's record of one fetch."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

_SHA256 = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """One fetch of one address. `sha256` and `size` (bytes) describe the page, after a 304 the page that is still valid.

    Header names are in lower case. `fetched_at` is in UTC. `url` and `final_url` contain no secrets. `run_id` names the run
    that fetched the page, or is None if no run did.
    """

    source: str
    url: str
    final_url: str
    status: int
    headers: Mapping[str, str]
    fetched_at: datetime
    sha256: str
    size: int
    not_modified: bool = False
    run_id: str | None = None

    def to_json(self) -> dict[str, Any]:
        """The record as plain JSON values."""
        record = asdict(self) | {"headers": dict(self.headers), "fetched_at": self.fetched_at.isoformat()}
        return record if self.run_id else {name: value for name, value in record.items() if name != "run_id"}

    @classmethod
    def from_json(cls, record: object) -> Snapshot:
        """The inverse of `to_json`. Ignores unknown keys, as a newer version may have written them. Raises ValueError."""
        if not isinstance(record, dict):
            raise ValueError("not a JSON object")
        try:
            fetched_at = datetime.fromisoformat(record["fetched_at"])
            values = {name: _typed(record[name], kind) for name, kind in _TYPES.items()}
            values["headers"] = {str(name): str(value) for name, value in values["headers"].items()}
            not_modified = _typed(record.get("not_modified", False), bool)
            run_id = _typed(record["run_id"], str) if record.get("run_id") else None
            snapshot = cls(**values, fetched_at=fetched_at.astimezone(UTC), not_modified=not_modified, run_id=run_id)
        except (KeyError, TypeError) as error:
            raise ValueError(f"{type(error).__name__}: {error}") from None
        if fetched_at.tzinfo is None or not _SHA256.fullmatch(snapshot.sha256):
            raise ValueError("fetched_at has no time zone" if fetched_at.tzinfo is None else "sha256 is none")
        return snapshot


#: The fields that every record has, beside the time, and their types in JSON.
_TYPES = {"source": str, "url": str, "final_url": str, "status": int, "headers": dict, "sha256": str, "size": int}


def _typed(value: Any, kind: type) -> Any:
    if type(value) is not kind:
        raise TypeError(f"{value!r} is not {kind.__name__}")
    return value
