"""The questions that a person keeps (`buy --save`), decisions/questions.toml. Each night answers them, the workbook lists
the answers, and whoever hears of watches hears when an answer changes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, NamedTuple

import duckdb

from gpuledger import records
from gpuledger.message import Message, reason_of
from gpuledger.transform.answers.markets import ALL
from gpuledger.transform.assumptions import ImpossibleAssumption
from gpuledger.transform.buying import market, stock
from gpuledger.transform.buying.answer import Answer, ImpossibleQuestion, ask
from gpuledger.transform.buying.headline import why_nothing
from gpuledger.transform.buying.question import Question, of_given
from gpuledger.transform.buying.stock import Place
from gpuledger.transform.report import running
from gpuledger.transform.sizing.errors import SizingError
from gpuledger.warehouse.outputs.currency import Currency
from gpuledger.warehouse.paths import DataDir

LONGEST_NAME = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """A question under a name: what it asks, as `question.given` says it, in a market (None: the home market), with its
    money in `currency`. Raises ValueError if nobody can ask that.
    """

    name: str
    asked: Mapping[str, Any]
    market: str | None = None
    currency: str = "USD"
    kept_on: date | None = None

    def __post_init__(self) -> None:
        if not 0 < len(self.name) <= LONGEST_NAME:
            raise ValueError(Message("a question's name has 1 to {most} letters", most=LONGEST_NAME))
        of_given(self.asked)

    @property
    def question(self) -> Question:
        """What is asked. Its own cards are gpu_ids."""
        return of_given(self.asked)


#: The kept questions of a data directory, by their names.
QUESTIONS = records.Kind("question", "questions.toml", key=lambda kept: kept.name, read=records.typed(Kept))


def kept(con: duckdb.DuckDBPyConnection, data: DataDir) -> list[Kept]:
    """The questions of a data directory that can be asked, or if nobody kept one, those that the report shows first."""
    held = {row[0] for row in con.execute("SELECT model_id FROM core.model").fetchall()}
    shown = (Kept(name=model, asked={"model": model}) for model in running.chosen(data.root, held))
    return QUESTIONS.usable(data.root)[0] or [*shown]


class Answered(NamedTuple):
    """A question with its answer, or with the reason why it cannot be asked here."""

    kept: Kept
    answer: Answer | None
    mistake: Message | str | None = None

    def why_nothing(self) -> Sequence[Message | str | None]:
        """Why nothing is picked."""
        return [self.mistake] if self.answer is None else why_nothing(self.answer)


class Asker:
    """Asks an open warehouse by the function that answers `buy`. `set_here` are the assumptions that this machine sets."""

    def __init__(
        self, con: duckdb.DuckDBPyConnection, data: DataDir, set_here: Mapping[str, str], clock: datetime
    ) -> None:
        self._con, self._data, self._clock = con, data, clock
        self._base = market.assumptions(con).with_text(set_here)
        self._stocks: dict[tuple[str | None, ...], stock.Stock] = {}

    def ask(self, kept: Kept, question: Question | None = None) -> Answered:
        """The answer to what is kept, or to another `question` in its market."""
        asked = question or kept.question
        place = (kept.market, kept.currency, asked.country)
        try:
            if place not in self._stocks:
                self._stocks[place] = stock.warehouse(
                    self._con, self._base, self._place(kept), asked.country, self._clock
                )
            return Answered(kept, ask(asked, self._stocks[place], self._data.root))
        except (SizingError, ImpossibleQuestion, ImpossibleAssumption, LookupError) as error:
            return Answered(kept, None, reason_of(error))

    def all(self) -> Iterator[Answered]:
        """The answers to all questions."""
        return map(self.ask, kept(self._con, self._data))

    def _place(self, kept: Kept) -> Place:
        """Raises LookupError for a market or a currency that is not known here."""
        rate = self._con.execute(
            "SELECT usd_rate, fx_day FROM core.fx_usd WHERE currency = ? AND usd_rate IS NOT NULL", [kept.currency]
        ).fetchone()
        currency = stock.currency(kept.currency) if rate is None else Currency(kept.currency, *rate)
        row = self._con.execute(
            """SELECT market, tax_name, tax_rate, coalesce(prices_include_tax, false) FROM core.market
               WHERE market = coalesce($market, (SELECT market FROM core.home_market))""",
            {"market": kept.market},
        ).fetchone()
        if row is None and kept.market != ALL:
            raise LookupError(Message("no market is called {market}", market=kept.market))
        name, tax, rate_of_tax, is_included = row or (ALL, None, None, False)
        return Place(
            market=name, currency=currency, tax_name=tax, tax_rate=rate_of_tax, prices_include_tax=is_included
        )  # fmt: skip
