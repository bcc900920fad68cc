"""The price gate. It holds a price that moved too far to be believed at once, until the price is seen again.

Meanwhile the old price stays valid and is marked as not confirmed. So one bad night (a parser that lost a digit, a mistake
of a shop, half a page) never reaches a table for decisions, and a real move of the market arrives one run late. All
comparisons are in the listing's own currency, so exchange rates have no effect.

`rules` decides what is held and does not use the database. `tables` finds the few rows of a night that may be held, applies
the rules to them, and stores the held prices. `shops` and `clouds` define the SQL that finds their evidence.
"""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """The limits of what is believed at once. Shares and moves are fractions.

    The defaults follow from three years of a real market; docs/gate.md shows the trade-off. Some of them are settings with
    the same default: `gate_<name>` in flows/settings/settings.py.
    """

    #: The largest move of one listing in one step that is believed, up or by the same factor down: 0.67 is +67% or -40%.
    max_move: float = 0.67
    #: A smaller move than `max_move` but larger than this is held only if many listings make such a move at once.
    crowd_move: float = 0.2
    #: The share of comparable listings that may move at once before they count as a crowd.
    max_crowd_share: float = 0.2
    #: Fewer listings than this are never a crowd.
    min_crowd: int = 10
    #: If at least this share of a crowd rises and at least this share falls, the market did not move: prices changed places
    #: among listings. On the worst real night a ninth of the listings moved like this; when the source shuffled its prices,
    #: seven tenths did.
    min_both_ways: float = 0.2
    #: A wrong page stays wrong for hours. Only a sighting at least this many hours later is independent of the first.
    session_hours: float = 20.0
    #: The smallest number of rows of a whole night, as a share of the median of the last nights.
    min_row_share: float = 0.8
    #: Number of nights for that median.
    row_nights: int = 7
    #: Largest share of the listings with a price that may lose it in one step.
    max_lost_share: float = 0.5
    #: A price that ended more than this many days ago is no reference any more.
    reference_days: int = 30
    #: A held price is released if it is seen again within this fraction.
    same_price: float = 0.05
    #: Smallest number of other listings of the same GPU that a single move is compared with.
    min_peers: int = 3

    def is_far(self, factor: float) -> bool:
        """Whether a price that is `factor` times another has moved further than one listing may, up or down."""
        return abs(math.log(factor)) > math.log(1 + self.max_move)
