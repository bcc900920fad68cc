"""Which columns of a batch are filled, and which went empty against the last good nights of its source."""

from __future__ import annotations

import dataclasses
import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from operator import attrgetter
from typing import NamedTuple

from gpuledger.expectations.contract import MOST_EMPTIED
from gpuledger.items import Item

#: Number of good nights with which a night is compared.
NIGHTS = 30
#: Few nights show poorly what is usual. This value, divided by their number, is added to MOST_EMPTIED.
_FEW_NIGHTS = 0.3
#: A share of few rows may also move by this many standard errors by chance.
_ERRORS = 4.0
#: With fewer rows a share says nothing.
_MIN_ROWS = 3


class Filled(NamedTuple):
    """How many of the `rows` `have` a value in a column."""

    have: int
    rows: int

    @property
    def share(self) -> float:
        """The share of the rows, from 0 to 1."""
        return self.have / self.rows


def filled(items: Sequence[Item], shop_of: Callable[[str], str] | None = None) -> dict[str, Filled]:
    """The columns that a row may lack, by name: `offer.brand`, or `a.example offer.brand` where `shop_of` names the shop of
    an address.

    Columns that come with a price are left out, as the price is there.
    """
    alike: dict[str, list[Item]] = defaultdict(list)
    for item in items:
        alike[f"{shop_of(getattr(item, 'url', ''))} {item.KIND}" if shop_of else item.KIND].append(item)
    columns: dict[str, Filled] = {}
    for prefix, same in alike.items():
        may_lack = [field.name for field in dataclasses.fields(same[0]) if field.default in (None, "", "unknown")]
        # Column by column: a night of thirty thousand rows has half a million fields.
        for name in may_lack:
            if name in ("currency", "price_kind"):
                continue
            values = [*map(attrgetter(name), same)]
            empty = sum(values.count(nothing) for nothing in (None, "", "unknown"))
            columns[f"{prefix}.{name}"] = Filled(len(same) - empty, len(same))
    return columns


def emptied(now: Mapping[str, Filled], past: Sequence[Mapping[str, float]]) -> dict[str, str]:
    """The columns that went empty, each with a sentence. `past` are the shares of the last good nights."""
    found = {}
    for column, tonight in sorted(now.items()):
        usual = [night[column] for night in past if column in night]
        if usual and tonight.rows >= _MIN_ROWS and tonight.share < min(usual) - _most_lost(tonight, usual):
            least, most = f"{min(usual):.0%}", f"{max(usual):.0%}"
            range_ = least if least == most else f"{least} to {most}"
            found[column] = f"{tonight.have} of {tonight.rows} rows have {column}, {range_} are usual"
    return found


def _most_lost(tonight: Filled, usual: Sequence[float]) -> float:
    # Add one row that has the column and one that does not, because even a share of 1 in a few rows has a spread.
    share = (min(usual) * tonight.rows + 1) / (tonight.rows + 2)
    by_chance = _ERRORS * math.sqrt(share * (1 - share) / tonight.rows)
    return max(MOST_EMPTIED + _FEW_NIGHTS / len(usual), by_chance)
