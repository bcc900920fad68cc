"""Reads the contents of the report from the published file, as values that JSON can hold, in the order of the report.

Every address is one that a browser may open. A table is an object with the names of its columns and its rows. An archived
page is a number in the list of pages, and a message a number in the list of messages: the page says it in each language.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import duckdb

from gpuledger.message import Message
from gpuledger.transform.answers.markets import ALL
from gpuledger.transform.answers.markets import market as market_named
from gpuledger.transform.answers.price import market_parameters
from gpuledger.transform.answers.value import values
from gpuledger.transform.assumptions import Assumptions, with_value_kept
from gpuledger.transform.buying import costs, market
from gpuledger.transform.buying.answer import Answer
from gpuledger.transform.buying.headline import sentences
from gpuledger.transform.queries import last_in
from gpuledger.transform.report import running
from gpuledger.transform.report.advised import CONTEXT_TOKENS, PRECISION, advice, beaten_by
from gpuledger.transform.report.history import Day, packed
from gpuledger.transform.report.questions import QUESTIONS, Answered, Asker, Kept
from gpuledger.warehouse.errors import WarehouseError
from gpuledger.warehouse.outputs.answer import plain
from gpuledger.warehouse.outputs.currency import Currency
from gpuledger.warehouse.paths import DataDir
from gpuledger.warehouse.read import reader

Row = dict[str, Any]
#: Gives the address of an archived page and the time when it was first fetched, None if the archive does not have it.
Origin = Callable[[str], tuple[str, datetime] | None]


class Opens(NamedTuple):
    """The market and the currency in which the report opens, where the reader chooses no other; None: the home market, and
    the currency of the kept question that it shows first, else dollars.
    """

    market: str | None = None
    currency: Currency | None = None


#: As the report opens when nobody says how.
AT_HOME = Opens()
_SQL = Path(__file__).with_name("sql")
#: The largest number of rows in lists that grow with the market. The report says how many rows are left out.
MOST_CHANGES, MOST_UNMATCHED, MOST_OFFERS, MOST_RENTALS = 300, 100, 10, 6
#: The tables from which the report is made. The report explains them.
TABLES = (
    "core.cloud_offer_history", "core.gpu", "core.held", "core.market_offer", "core.model", "core.price_change",
    "core.unmatched_title", "core.workload", "mart.claim_audit", "mart.cloud_price", "mart.gpu_price", "mart.market_price",
    "mart.model_fit", "mart.price_daily", "mart.price_trend", "mart.ranking", "mart.rent_vs_buy", "mart.source_status",
    "mart.value", "ops.quarantine",
)  # fmt: skip


def contents(
    data: DataDir, origin: Origin, set_here: Mapping[str, str], clock: datetime, opens: Opens
) -> dict[str, Any]:
    """The contents of the report on the version that is published now.

    `set_here` are the assumptions that this machine sets. Raises NoWarehouse, NotAWarehouse, OlderWarehouse, and
    WarehouseError if no run was published, or if no price of the market in which it opens counts.
    """
    with reader(data) as con:
        run, last = _rows(con, "run"), last_in(con)
        if last is None:
            raise WarehouseError(Message("no run of this warehouse was published, so there is nothing to report"))
        return _Contents(con, data, {**run[0], "as_of": last.prices_as_of}, origin).all(set_here, clock, opens)


class _Contents:
    """The contents of one version. It numbers the archived pages and the messages while it reads."""

    def __init__(self, con: duckdb.DuckDBPyConnection, data: DataDir, run: Row, origin: Origin) -> None:
        self._con, self._data, self._run, self._origin = con, data, run, origin
        self._pages: dict[str, int] = {}
        self._messages: dict[Message, int] = {}

    def all(self, set_here: Mapping[str, str], clock: datetime, opens: Opens) -> dict[str, Any]:
        markets = _rows(self._con, "markets")
        if len(markets) == 2 and opens.market != ALL:  # one market and that of all markets, which then show the same
            markets = markets[:1]
        known = tuple(row["market"] for row in markets)
        if opens.market not in (None, self._run["home"], *known):
            raise WarehouseError(Message(
                "no price of market {market} counts here, so the report cannot open there; it can in {known}",
                market=opens.market, known=known or (self._run["home"],),
            ))  # fmt: skip
        rates, shown = _rows(self._con, "rates"), opens.currency
        if shown and shown.rate_day and all(row["currency"] != shown.code for row in rates):
            rates.append({"currency": shown.code, "usd_rate": shown.usd, "fx_day": shown.rate_day})
        names = sorted((row["market"] for row in markets), key=lambda name: name != self._run["home"])
        prices, value = _rows(self._con, "prices"), self._value(names)
        workloads = _rows(self._con, "workloads")
        cards = _rows(self._con, "cards")
        self._advise(cards, prices, value, workloads)
        places = [market_named(self._data, name) for name in names if name != ALL] or [
            market_named(self._data, self._run["home"])
        ]
        stocks = running.stocks(self._con, places, set_here, clock)
        models = _rows(self._con, "models")
        asked = list(running.asked(stocks, self._data.root, {row["model_id"] for row in models}))
        asker = Asker(self._con, self._data, set_here, clock)
        own = [asker.ask(one) for one in QUESTIONS.usable(self._data.root)[0]]
        asked += [_as_asked(one.kept, one.answer) for one in own if one.answer]
        kept = [running.kept(question) for question in asked]
        ways, sellers = _ways_and_sellers([rows for rows, _ in kept])
        content = {
            "run": {name: _plain(cell) for name, cell in self._run.items()},
            "opens": {"market": opens.market, "cur": opens.currency and opens.currency.code},
            "markets": self._table(markets),
            "rates": self._table(rates),
            "workloads": self._table(workloads),
            "cards": self._table(cards),
            "prices": self._table([row for row in prices if row["market"] in names]),
            "value": self._table(value),
            "models": self._table(models),
            "questions": self._table([_question(question) for question in asked]),
            "kept": self._table([_kept(one) for one in own]),
            "ways": self._table(ways),
            "steps": self._table(
                [{"question": number, **step} for number, (_, found) in enumerate(kept) for step in found]
            ),
            "sellers": self._table(sellers),
            "history": {
                gpu_id: packed(Day(*(day[name] for name in Day._fields)) for day in days)
                for gpu_id, days in groupby(_rows(self._con, "daily"), key=lambda day: str(day["gpu_id"]))
            },
            "runs": self._table(_rows(self._con, "runs", precision=PRECISION, context=CONTEXT_TOKENS)),
            "asked": {"precision": PRECISION, "context": CONTEXT_TOKENS},
            "grid": dict(running.axes())
            | {
                "models": list(dict.fromkeys(question.model_id for question in asked if question.name is None)),
                "market": list(stocks),
            },
            "assumptions": _assumed(market.assumptions(self._con)),
        }
        parameters_of: dict[str, dict[str, object]] = {
            "offers": {"most": MOST_OFFERS}, "left_out": {}, "scores": {}, "held": {}, "cloud": {}, "sources": {},
            "rentals": {"most": MOST_RENTALS}, "changes": {"most": MOST_CHANGES, "as_of": self._run["as_of"]},
            "claims": {}, "unmatched": {"most": MOST_UNMATCHED}, "quarantine": {}, "tables": {"tables": list(TABLES)},
        }  # fmt: skip
        content |= {
            name: self._table(_rows(self._con, name, **parameters)) for name, parameters in parameters_of.items()
        }
        return content | {"pages": [self._page(sha256) for sha256 in self._pages], "messages": list(self._messages)}

    def _value(self, markets: Sequence[str]) -> list[Row]:
        """mart.value for every market. Launch prices are the same in all markets, so only the home market has them."""
        rows = []
        for name in markets:
            is_home = name == self._run["home"]
            foreign = None if is_home else name
            rows += _fetched(
                self._con,
                f"""SELECT $name AS market, workload_id, price_basis, value_rank, gpu_id, score::DOUBLE AS score, price_usd,
                       round(score_per_usd * 1000, 3)::DOUBLE AS per_1000_usd, round(score_ratio, 3)::DOUBLE AS score_ratio,
                       round(price_ratio, 3)::DOUBLE AS price_ratio, on_pareto_frontier AS is_front
                   FROM {values(None, foreign)} WHERE price_basis = 'street' OR $is_home
                   ORDER BY workload_id, price_basis DESC, value_rank, gpu_id""",
                {"name": name, "is_home": is_home, **market_parameters(None, foreign)},
            )
        return rows

    def _advise(
        self, cards: Iterable[Row], prices: Iterable[Row], value: Sequence[Row], workloads: Sequence[Row]
    ) -> None:
        """Adds to each price a piece of advice, a card that is better for no more money, and the cost of owning the card."""
        facts = {card["gpu_id"]: card for card in cards}
        assumptions = market.assumptions(self._con)
        keeps = dict(
            self._con.execute(
                "SELECT gpu_id, observed_value_kept_per_year FROM mart.resale WHERE is_long_enough"
            ).fetchall()
        )
        judged = {row["workload_id"] for row in workloads if row["output"]} or {row["workload_id"] for row in workloads}
        street = [row for row in value if row["price_basis"] == "street" and row["workload_id"] in judged]
        by_table = {
            key: list(rows) for key, rows in groupby(street, key=lambda row: (row["market"], row["workload_id"]))
        }
        for price in prices:
            card = facts.get(price["gpu_id"], {})
            own = [
                (row, rows)
                for (name, _), rows in by_table.items()
                if name == price["market"]
                for row in rows
                if row["gpu_id"] == price["gpu_id"]
            ]
            hint = card.get("hint") if price["market"] == self._run["home"] else None
            price["advice"] = advice(price["price_usd"], [row["is_front"] for row, _ in own], hint)
            better = next(
                (winner for row, rows in own if not row["is_front"] and (winner := beaten_by(row, rows))), None
            )
            price["beaten_by"] = better and better["gpu_id"]
            price["beaten_in"] = better and better["workload_id"]
            paid, watts, known = price["price_usd"], card.get("tdp_w"), keeps.get(price["gpu_id"])
            owning = paid and watts and costs.ownership(paid, round(watts), with_value_kept(assumptions, known))
            price["own_total_usd"] = round(owning.total, 2) if owning else None

    def _table(self, rows: Sequence[Row]) -> dict[str, Any]:
        return {
            "columns": list(rows[0]) if rows else [],
            "rows": [[self._cell(name, cell) for name, cell in row.items()] for row in rows],
        }

    def _cell(self, name: str, value: Any) -> Any:
        if name.endswith("evidence"):
            return None if value is None else self._pages.setdefault(value, len(self._pages))
        if isinstance(value, Message):
            return self._messages.setdefault(value, len(self._messages))
        if isinstance(value, tuple):
            return [self._cell(name, part) for part in value]
        return web(value) if name.endswith("url") else _plain(value)

    def _page(self, sha256: str) -> dict[str, Any]:
        url, fetched_at = self._origin(sha256) or (None, None)
        return {"sha256": sha256, "url": web(url), "fetched_at": _plain(fetched_at)}


def web(url: Any) -> str | None:
    """The address if a browser may open it. None for `javascript:`, `file:` and anything that is not an address."""
    try:
        parts = urlsplit(str(url or ""))
    except ValueError:
        return None
    return str(url) if parts.scheme in ("http", "https") and parts.hostname else None


def _ways_and_sellers(kept: Sequence[Iterable[Row]]) -> tuple[list[Row], list[Row]]:
    """The ways of each question, and the sellers by whose numbers they name them, as many ways have the same."""
    sellers: dict[tuple[Any, ...], int] = {}
    ways = [
        {"question": number, **{name: way[name] for name in (*running.SHOWN, "notes", "behind", "speed", "is_front")}}
        | {"seller": sellers.setdefault(tuple(way[name] for name in running.SELLER), len(sellers))}
        for number, of_question in enumerate(kept)
        for way in of_question
    ]
    columns = ("shop", "vendor", "url", "price_since", "confirmed_at", "evidence")
    return ways, [dict(zip(columns, seller, strict=True)) for seller in sellers]


def _as_asked(kept: Kept, answer: Answer) -> running.Asked:
    return running.Asked(
        name=kept.name, model_id=answer.need.model_id, people=answer.need.users, context=answer.need.context_tokens,
        condition=answer.question.condition, market=answer.stock.place.market, answer=answer, at_each_precision=[answer],
    )  # fmt: skip


def _kept(one: Answered) -> Row:
    """A kept question as it was asked, and what it is answered."""
    said = (one.answer and sentences(one.answer)) or one.why_nothing()
    return {
        "name": one.kept.name, "asked": plain(one.kept.asked), "market": one.kept.market, "currency": one.kept.currency,
        "said": tuple(said),
    }  # fmt: skip


def _question(asked: running.Asked) -> Row:
    """A question with what the model needs, its sentences, and how many answers there are."""
    need = asked.answer.need
    return {
        "name": asked.name, "model_id": asked.model_id, "people": asked.people, "context": asked.context,
        "condition": asked.condition, "market": asked.market, "at_precision": need.precision,
        "needed_gb": round(need.needed_bytes(1) / 1e9, 2), "answers": len(asked.answer.ranked(0)),
        "said": tuple(asked.said), "rent_curve": asked.rent_curve, "assumed": _assumed(asked.answer.assumptions),
    }  # fmt: skip


def _assumed(known: Assumptions) -> dict[str, Any]:
    """The assumptions that are said beside an answer."""
    names = ("hours_per_day", "horizon_years", "utilisation", "electricity_usd_per_kwh")
    return {name: _plain(getattr(known, name)) for name in names}


def _plain(value: Any) -> Any:
    """A value as JSON can hold it: numbers as numbers, times in ISO 8601 to the minute, in UTC."""
    if isinstance(value, datetime):
        return value.strftime("%Y-%m-%dT%H:%MZ")
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Decimal):
        value = float(value)
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _rows(con: duckdb.DuckDBPyConnection, name: str, **parameters: object) -> list[Row]:
    return _fetched(con, (_SQL / f"{name}.sql").read_text(encoding="utf-8"), parameters)


def _fetched(con: duckdb.DuckDBPyConnection, sql: str, parameters: Mapping[str, object]) -> list[Row]:
    result = con.execute(sql, dict(parameters))
    columns = [column[0] for column in result.description or []]
    return [dict(zip(columns, row, strict=True)) for row in result.fetchall()]
