"""What people let pass, decisions/releases.toml: held prices, and that a source now has fewer rows.

[[release]]
listing_id = "newegg:N82E16814990001"
price = "549.00"
currency = "USD"
reason = "the shop confirmed it"
decided_at = 2026-11-20T08:00:00+00:00

[[release]]
source = "newegg"
rows = 12
last_night = 2026-11-20T03:00:00+00:00
reason = "the shop sells fewer"
decided_at = 2026-11-20T08:00:00+00:00
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from gpuledger import records
from gpuledger.extract.price.no_price import is_writable
from gpuledger.transform.gate.good_nights import Acceptance, Released
from gpuledger.warehouse.paths import DataDir

#: More rows than any source has.
_MOST_ROWS = 10**9


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """A held price of a listing that may pass at the next run, and no other price. Or the rows that a source has now, so
    that offers that it no longer shows end.
    """

    decided_at: datetime
    reason: str = ""
    listing_id: str | None = None
    price: Decimal | None = None
    currency: str | None = None
    source: str | None = None
    rows: int | None = None
    last_night: datetime | None = None

    def __post_init__(self) -> None:
        is_price = bool(self.listing_id and self.price is not None)
        is_source = bool(self.source and self.rows is not None and self.last_night is not None)
        if is_price == is_source:
            raise ValueError("a release needs either listing_id and price, or source, rows and last_night")
        if self.price is not None and not (is_writable(self.price) and self.price > 0):
            raise ValueError("the price is no amount above zero")
        if self.rows is not None and not 0 <= self.rows < _MOST_ROWS:
            raise ValueError(f"{self.rows} is no number of rows")
        if self.decided_at.tzinfo is None or (self.last_night is not None and self.last_night.tzinfo is None):
            raise ValueError("a time needs its offset, as in 2026-11-20T08:00:00+00:00")


#: A bad one releases nothing and stops no run; `usable` names it.
RELEASES = records.Kind("release", "releases.toml", key=lambda release: release, read=records.typed(Release))


def releases(data: DataDir, decided_by: datetime) -> Released:
    """What people had released by `decided_by`. A run, and so its replay, applies what was decided before its start."""
    known = [one for one in RELEASES.usable(data.root)[0] if one.decided_at <= decided_by]
    return Released(
        [(one.listing_id, one.price) for one in known if one.listing_id and one.price is not None],
        [
            Acceptance(one.source, one.rows, one.last_night)
            for one in known
            if one.source and one.rows is not None and one.last_night is not None
        ],
    )
