"""The questions of the grid (see transform/report/grid.toml) with their first answers, as a sheet of the workbook."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from gpuledger.flows.settings import settings
from gpuledger.flows.settings.settings import texts
from gpuledger.flows.showing import chosen
from gpuledger.flows.showing.money import Money, prices_heading
from gpuledger.flows.showing.procurement import origin_headings
from gpuledger.flows.words.lang import gettext
from gpuledger.flows.words.say import say, spoken
from gpuledger.transform.answers.markets import market
from gpuledger.transform.buying.rows import COLUMNS
from gpuledger.transform.report import running
from gpuledger.warehouse.outputs.sheet import Column, Kind, Sheet
from gpuledger.warehouse.paths import DataDir
from gpuledger.warehouse.read import reader

NAME = "questions"


def sheet(data: DataDir, money: Money, clock: datetime) -> Sheet:
    """Every question of the grid in the market in use. Raises NoWarehouse, and BadQuery for an unknown market."""
    with reader(data) as con:
        offered = running.stocks(
            con, [market(data, chosen.market())], texts(settings.load({}).assumptions_given), clock
        )
        rows = [_row(one, money) for one in running.asked(offered, data.models, running.models(con))]
    columns = _columns(money)
    return Sheet(
        name=NAME, title=gettext("What to buy for a model"), columns=columns, rows=rows,
        printed=len(columns) - 1, colours={},
        subtitle=" · ".join([
            prices_heading(data), gettext("for any other question: {command}").format(command="gpuledger buy --model …"),
        ]), currency=money,
    )  # fmt: skip


#: The columns of an answer that stand in a row, with how they are written (see rows.COLUMNS).
_OF_AN_ANSWER: dict[str, Kind] = {
    "what": "text", "price_mark": "text", "outlay_usd": "money", "total_usd": "money", "each_tokens_per_s": "number",
    "price_usd": "money", "source": "text", "last_seen_at": "day",
}  # fmt: skip


def _columns(money: Money) -> list[Column]:
    origin = origin_headings()
    headings = {
        "what": (gettext("first answer"), gettext("the cheapest over the horizon that runs it as asked")),
        "price_mark": origin["mark"],
        "outlay_usd": (
            gettext("day one, {currency}"),
            gettext("what is paid on day one, with the machine; a rental counts with its rent over the horizon"),
        ),
        "total_usd": (gettext("in all, {currency}"), gettext("over the horizon, less what is kept")),
        "each_tokens_per_s": (gettext("tokens/s for each"), gettext("what each person sees")),
        "price_usd": (gettext("price, {currency}"), gettext("of all cards, or of an hour of rent")),
        "source": origin["shop"],
        "last_seen_at": origin["confirmed"],
    }  # fmt: skip
    assert headings.keys() == _OF_AN_ANSWER.keys() <= COLUMNS.keys()
    return [
        Column("model_id", gettext("model"), "text", gettext("model that is run")),
        Column("people", gettext("people"), "count", gettext("people served at once")),
        Column("context", gettext("context"), "count", gettext("tokens of context")),
        Column("precision", gettext("precision"), "text", gettext("precision of the weights")),
        Column("condition", gettext("condition"), "text", gettext("cards on sale new, or in any condition")),
        Column("market", origin["market"][0], "text", origin["market"][1]),
        *(
            Column(money.name(name), headings[name][0].format(currency=money.code), kind, headings[name][1])
            for name, kind in _OF_AN_ANSWER.items()
        ),
        Column("sentence", gettext("in a sentence"), "text", gettext("the answer in words, or why there is none")),
    ]  # fmt: skip


def _row(one: running.Asked, money: Money) -> list[Any]:
    first = next(iter(running.kept(one.answer)[0]), {})
    values = [money.amount(name, first.get(name)) for name in _OF_AN_ANSWER]
    return [
        one.model_id, one.people, one.context, one.answer.need.precision, spoken(one.condition), one.market,
        *(spoken(value) if name == "price_mark" else value for name, value in zip(_OF_AN_ANSWER, values, strict=True)),
        " ".join(say(line, money.sum) for line in one.said),
    ]  # fmt: skip
