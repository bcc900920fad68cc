"""Whose prices does an answer show, and is tax in them?"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from gpuledger.extract.near import near
from gpuledger.warehouse.errors import BadQuery
from gpuledger.warehouse.paths import DataDir
from gpuledger.warehouse.read import query

#: The table of every market, net of tax.
ALL = "all"

#: What people type for a country, by the code that it has.
_ALSO_CALLED = {
    "uk": "gb", "usa": "us", "america": "us", "britain": "gb", "england": "gb", "korea": "kr", "kor": "kr", "한국": "kr",
    "미국": "us", "deutschland": "de", "ger": "de", "jpn": "jp", "holland": "nl", "europe": "eu", "polska": "pl",
    "world": "all", "any": "all",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Market:
    """A market as an answer names it. `is_net`: it is several, whose prices are compared without tax."""

    market: str
    name: str
    tax_name: str | None
    tax_rate: Decimal | None
    prices_include_tax: bool | None
    is_net: bool


def market(data: DataDir, asked: str | None, day: date | None = None) -> Market:
    """The market that was asked for, or the home market, now or at the end of `day`.

    Raises BadQuery with the known ones where there is none of this name.
    """
    if asked is None:
        home = "home_market_as_of($day)" if day else "core.home_market"
        asked = query(data, f"SELECT market FROM {home}", {"day": day} if day else {})[1][0][0]
    if asked == ALL:
        return Market(ALL, "all markets", None, None, None, True)
    rate = "t.tax_rate" if day else "m.tax_rate"
    _, rows = query(
        data,
        f"""SELECT m.market, m.market_name, m.tax_name, {rate}, m.prices_include_tax, m.market = 'eu'
           FROM core.market m
           LEFT JOIN core.tax_rate t ON t.market = m.market AND $day::DATE >= t.taxed_from
               AND (t.taxed_until IS NULL OR $day::DATE < t.taxed_until)
           WHERE m.market = $market""",
        {"market": asked, "day": day},
    )
    if not rows:
        known = dict(query(data, "SELECT market, market_name FROM core.market ORDER BY market")[1])
        by_name = {name: code for code, name in known.items()}
        code = _ALSO_CALLED.get(asked) or next((by_name[name] for name in near(asked, by_name, most=1)), None)
        if code in known:
            raise BadQuery(f"no market is called {asked!r}; did you mean {code} ({known[code]})?")
        raise BadQuery(f"no market is called {asked!r}; known are {', '.join([*known, ALL])}")
    return Market(*rows[0])
