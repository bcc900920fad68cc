"""Of which market are the prices in an answer, and do they include tax?"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from gpuledger.extract.message import Message
from gpuledger.extract.near import near
from gpuledger.warehouse.errors import BadQuery
from gpuledger.warehouse.paths import DataDir
from gpuledger.warehouse.read import query

#: The name for the table of all markets together, net of tax.
ALL = "all"

#: The codes of countries, by other names that people type.
_ALSO_CALLED = {
    "uk": "gb", "usa": "us", "america": "us", "britain": "gb", "england": "gb", "korea": "kr", "kor": "kr", "한국": "kr",
    "미국": "us", "deutschland": "de", "ger": "de", "jpn": "jp", "holland": "nl", "europe": "eu", "polska": "pl",
    "world": "all", "any": "all",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Market:
    """A market with its tax. `is_net` is true for a region of several markets, whose prices are compared without tax."""

    market: str
    name: str
    tax_name: str | None
    tax_rate: Decimal | None
    prices_include_tax: bool | None
    is_net: bool


def market(data: DataDir, name: str | None, day: date | None = None) -> Market:
    """The market called `name`, or the home market if that is None, now or at the end of `day`.

    Raises BadQuery, with the known markets, if there is no market with this name.
    """
    if name is None:
        home = "home_market_as_of($day)" if day else "core.home_market"
        name = query(data, f"SELECT market FROM {home}", {"day": day} if day else {})[1][0][0]
    if name == ALL:
        return Market(ALL, "all markets", None, None, None, True)
    rate = "t.tax_rate" if day else "m.tax_rate"
    _, rows = query(
        data,
        f"""SELECT m.market, m.market_name, m.tax_name, {rate}, m.prices_include_tax, m.market = 'eu'
           FROM core.market m
           LEFT JOIN core.tax_rate t ON t.market = m.market AND $day::DATE >= t.taxed_from
               AND (t.taxed_until IS NULL OR $day::DATE < t.taxed_until)
           WHERE m.market = $market""",
        {"market": name, "day": day},
    )
    if not rows:
        known = dict(query(data, "SELECT market, market_name FROM core.market ORDER BY market")[1])
        by_name = {full_name: code for code, full_name in known.items()}
        code = _ALSO_CALLED.get(name) or next((by_name[full_name] for full_name in near(name, by_name, most=1)), None)
        if code in known:
            raise BadQuery(Message("question.no_market_called_2", name=name, code=code, known=known[code]))
        raise BadQuery(Message("question.no_market_called", name=name, known=(*known, ALL)))
    return Market(*rows[0])
