"""What to buy, as a clerk fills an order: the picks of every kept question, and the best of each vendor's quote."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any, NamedTuple

from gpuledger.extract import source as sources
from gpuledger.flows.doors.showing import chosen
from gpuledger.flows.doors.showing.money import Money, money_in, prices_heading, tax_heading
from gpuledger.flows.doors.showing.show import human
from gpuledger.flows.settings import settings
from gpuledger.flows.settings.settings import texts
from gpuledger.flows.words.lang import N_, gettext
from gpuledger.flows.words.say import say, spoken
from gpuledger.transform.answers import columns, orders
from gpuledger.transform.answers.markets import market
from gpuledger.transform.buying.headline import named, sentences, speed_of
from gpuledger.transform.buying.options import Option
from gpuledger.transform.buying.rows import Shown, row_of
from gpuledger.transform.report.questions import Answered, Asker, Kept, kept
from gpuledger.warehouse.outputs.currency import DOLLARS, Currency
from gpuledger.warehouse.outputs.sheet import Column, Sheet
from gpuledger.warehouse.paths import DataDir
from gpuledger.warehouse.read import reader

if TYPE_CHECKING:
    import duckdb

    from gpuledger.transform.buying.answer import Answer

NAME = "procurement"
#: What a row is for, by the name of a pick (rows.COLUMNS), or of the best in a vendor's quote.
_ADVICE = {
    "first": N_("buy"), "for less": N_("for less"), "other condition": N_("other condition"), "quote": N_("quote"),
    "none": N_("no answer"), "nobody": N_("ask for a price"), "owned": N_("you have it"),
}  # fmt: skip


def sheet(data: DataDir, money: Money, clock: datetime, answered: Sequence[Answered] = ()) -> Sheet:
    """The list: the kept questions in the markets in which they were asked, others in the market in use.

    `answered` are those that are answered already, of the version that is published. Where the command line names no
    currency, that of the questions rules if all have the same; otherwise each row has its own, and names it.
    Raises NoWarehouse, and BadQuery for an unknown market.
    """
    home = market(data, chosen.market()).market
    with reader(data) as con:
        asker = Asker(con, data, texts(settings.load({}).assumptions_given), clock)
        there: dict[tuple[str, str | None], Answered] = {
            (one.kept.name, one.answer.stock.place.market): one for one in answered if one.answer
        }
        asked = [replace(one, market=one.market or home) for one in kept(con, data)]
        codes = set() if chosen.names_currency() else {one.currency for one in asked}
        if len(codes) == 1:
            money = money_in(data, codes.pop())
        all_in = None if codes else money
        found = [
            row
            for one in asked
            for row in _rows(asker, there.get((one.name, one.market)) or asker.ask(one), con, all_in)
        ]
    listed = [column for column in _columns() if codes or column.name != "currency"]
    rows = [[row.get(column.name) for column in listed] for row in found]
    columns = [column if column.kind != "money" else _money_column(column, all_in) for column in listed]
    hint = gettext("for any other question: {command}").format(command="gpuledger buy --model … --save …")
    printed = next(place for place, column in enumerate(columns) if not column.width)
    return Sheet(
        name=NAME, title=gettext("What to buy"), subtitle=f"{money.title(prices_heading(data))} · {hint}",
        columns=columns, rows=rows, printed=printed, currency=money,
        colours={gettext(_ADVICE["first"]): "good", gettext(_ADVICE["none"]): "bad"},
    )  # fmt: skip


def _money_column(column: Column, money: Money | None) -> Column:
    """A column of dollars in a currency (None: in that of each row)."""
    if money is None:
        return replace(column, name=column.name.removesuffix("_usd"))
    return replace(column, name=money.name(column.name), heading=f"{column.heading}, {money.code}")


def _rows(
    asker: Asker, asked: Answered, con: duckdb.DuckDBPyConnection, money: Currency | None
) -> Iterator[dict[str, Any]]:
    """The picks of one question, and what is best of each vendor's quote that answers it, by the names of `_columns` and in
    a currency (None: in that of the question).
    """
    one, answer = asked.kept, asked.answer
    money = money or (answer.stock.place.currency if answer else DOLLARS)
    if answer is None or answer.picks is None:
        why = "; ".join(say(line, money.sum) for line in asked.why_nothing())
        yield {"advice": gettext(_ADVICE["none"]), "question": one.name, "asked": _asked(one), "why": why}
        return
    picks = answer.picks.all()
    for place, option in enumerate(picks, 1):
        yield _row(_Order(one, answer, option, place), "", con, money)
    bought = {(pick.evidence.listing_id, pick.gpu_count) for pick in picks if pick.evidence}
    for vendor in () if one.question.shops else orders.vendors(con, answer.stock.place.market):
        quoted = asker.ask(one, replace(one.question, shops=(vendor,))).answer
        first = quoted and quoted.picks and quoted.picks.first
        if quoted and first and first.evidence and (first.evidence.listing_id, first.gpu_count) not in bought:
            yield _row(_Order(one, quoted, first, 1), "quote", con, money)


class _Order(NamedTuple):
    """An option of an answer, at its place there."""

    kept: Kept
    answer: Answer
    option: Option
    place: int


def _asked(kept: Kept) -> str:
    each = {name: " + ".join(one) if isinstance(one, list | tuple) else one for name, one in kept.asked.items()}
    if "budget" in each:
        each["budget"] = Currency(kept.currency, 1, None).as_paid(Decimal(each["budget"]))
    return ", ".join(f"{say(name)} {value}" for name, value in each.items())


def _row(order: _Order, advice: str, con: duckdb.DuckDBPyConnection, money: Currency) -> dict[str, Any]:
    option, answer = order.option, order.answer
    row = row_of(Shown(rank=order.place, option=option, ruled_out=None, answer=answer, origin=lambda sha256: None))
    listing, held = orders.listing_of(con, option), orders.held(con, option.gpu_id)
    boards = option.bought.boards if option.way == "buy" and option.bought else 1
    pieces = boards - dict(answer.limits.owned).get(option.gpu_id or "", 0)  # without those that are there
    memory = gettext("{done} of {known} GB").format(done=f"{option.needed_gb:.1f}", known=f"{option.available_gb:.1f}")
    shipping = None if listing.shipping_usd is None else listing.shipping_usd * pieces
    if option.way == "buy" and _vendor(option) is None and (advice or row["pick"]) == "first":
        advice = "nobody"
    behind = "; ".join(say(line, money.sum) for line in option.behind)
    first = [spoken(row["price_mark"]), behind, gettext("held: {prices}").format(prices=held) if held else ""]
    codes = {
        name: row[name] and human(row[name], columns.Column(name, shown_as="title"))
        for name in ("condition", "way", "price_mark")
    }
    values = row | codes | {
        "advice": gettext(_ADVICE[(advice or row["pick"]) if pieces else "owned"]), "currency": money.code,
        "question": order.kept.name, "asked": _asked(order.kept),
        "what": say(named(option)), "shop": _vendor(option), "mpn": listing.mpn, "quantity": pieces,
        "tax": gettext("tax not stated") if listing.is_quote and listing.tax_included is None
        else tax_heading(answer.stock.place),
        "shipping_usd": shipping, "valid_until": listing.valid_until, "offered": listing.quantity,
        "stock": _stock(option, listing),
        "why": " ".join([*(say(line, money.sum) for line in speed_of(option, answer)), memory]),
        "held": "; ".join(filter(None, first)) or None, "last_confirmed": row["last_seen_at"],
        "speed_is": spoken(row["speed_is"]), "evidence": (row["snapshot_sha256"] or "")[:12] or None,
        "sentence": " ".join(say(line, money.sum) for line in sentences(answer)) if row["pick"] == "first" else None,
    }  # fmt: skip
    return {name: money.amount(name, value) for name, value in values.items()}


def _vendor(option: Option) -> str | None:
    """Who sells it, by its own name. None if nobody does: what it costs is then what others paid."""
    evidence = option.evidence
    if evidence is None or (option.way == "buy" and evidence.listing_id is None):
        return None
    return say(evidence.shop) if evidence.source in sources.names() else None


def _stock(option: Option, listing: orders.Listing) -> str | None:
    """What the seller says of delivery and stock."""
    if listing.is_quote:
        offered = gettext("{count} offered").format(count=listing.quantity) if listing.quantity else None
        return ", ".join(filter(None, (listing.delivery, offered))) or None
    return gettext("in stock") if option.evidence and option.evidence.listing_id else None


def _columns() -> Sequence[Column]:
    """All columns, those of money in dollars."""
    return [
        Column("advice", gettext("advice"), "text",
               gettext("buy, and for less or in the other condition if that is worth a thought; quote: the best that this "
                       "vendor quoted for it; ask for a price: nobody is known who sells it at this"), 11),
        Column("question", gettext("question"), "text",
               gettext("its name, or the model where nobody kept a question (`buy --save`)"), 10),
        Column("what", gettext("what"), "text", gettext("what is ordered"), 16),
        Column("shop", gettext("vendor"), "text", gettext("who sells it; empty where the price is what others paid"), 11),
        Column("mpn", gettext("part number"), "text", gettext("the maker's number, else that of the shop"), 10),
        Column("quantity", gettext("pieces"), "count", gettext("boards or machines, without those that are there"), 6),
        Column("price_usd", gettext("price"), "money", gettext("of all pieces, or of an hour of rent"), 9),
        Column("currency", gettext("currency"), "text", gettext("of all amounts of the row"), 9),
        Column("tax", gettext("tax"), "text", gettext("whether the price includes it"), 8),
        Column("shipping_usd", gettext("shipping"), "money",
               gettext("of all pieces, as the shop or the quote states it; empty where it does not"), 9),
        Column("valid_until", gettext("valid until"), "day", gettext("last day of a quote"), 11),
        Column("stock", gettext("delivery"), "text",
               gettext("in stock, or when a quote delivers and how many it offers; empty where nobody was asked"), 9),
        Column("url", gettext("link"), "link", gettext("page of the offer"), 6),
        Column("why", gettext("why"), "long",
               gettext("speed for the model, measured or calculated with its range, and the memory that it needs"), 18),
        Column("outlay_usd", gettext("day one"), "money",
               gettext("what is paid on day one, with the machine; a rental counts with its rent over the horizon"), 9),
        Column("total_usd", gettext("in all"), "money", gettext("over the horizon, less what is kept"), 9),
        Column("held", gettext("look at first"), "text",
               gettext("what the price is if it is not of a shop today, and prices of this card that are held"), 10),
        Column("asked", gettext("asked"), "text", gettext("the arguments of the question")),
        Column("each_tokens_per_s", gettext("tokens/s for each"), "number", gettext("what each person sees")),
        Column("speed_is", gettext("speed is"), "text", gettext("measured, calibrated, estimated, or a bound")),
        Column("needed_gb", gettext("GB needed"), "number", gettext("memory that the model takes")),
        Column("available_gb", gettext("GB there"), "number", gettext("memory that it may take")),
        Column("condition", gettext("condition"), "text", gettext("new, used …")),
        Column("way", gettext("way"), "text", gettext("bought, or how it is rented")),
        Column("price_mark", gettext("mark"), "text",
               gettext("stale: the shop could not be read last time; invented: a price of the sample")),
        Column("market", gettext("market"), "text", gettext("where the price is asked")),
        Column("offered", gettext("offered"), "count", gettext("pieces that the quote offers at this price")),
        Column("price_since", gettext("price since"), "day", gettext("since when it costs that")),
        Column("last_confirmed", gettext("last confirmed"), "day", gettext("when the price was last seen")),
        Column("gpu", gettext("card"), "text", gettext("maker and name")),
        Column("gpu_id", "gpu_id", "text", gettext("id of the card in every table")),
        Column("listing_id", "listing_id", "text", gettext("id of the offer in core.listing")),
        Column("evidence", gettext("evidence"), "text", gettext("archived page: `gpuledger evidence` and this")),
        Column("sentence", gettext("in a sentence"), "text", gettext("the answer in words, or why there is none")),
    ]  # fmt: skip
