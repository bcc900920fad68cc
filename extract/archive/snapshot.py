"""The archive's record of one fetch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Annotated, Any

import msgspec


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
    fetched_at: Annotated[datetime, msgspec.Meta(tz=True)]
    sha256: Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{64}\Z")]
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
        return msgspec.convert(record, cls)
