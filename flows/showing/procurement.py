"""What to buy, as a clerk fills an order: the picks of every kept question, and the best of each vendor's quote."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import date, datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from gpuledger.extract import source as sources
from gpuledger.extract.archive.snapshots import Archive
from gpuledger.extract.items import Offer
from gpuledger.extract.message import Failure
from gpuledger.flows.decisions.questions import Answered, Asker, Kept, kept
from gpuledger.flows.settings import settings
from gpuledger.flows.settings.settings import texts
from gpuledger.flows.showing import chosen
from gpuledger.flows.showing.money import Money, prices_heading, tax_heading
from gpuledger.flows.words.lang import N_, gettext
from gpuledger.flows.words.say import say, spoken
from gpuledger.transform.answers.markets import market
from gpuledger.transform.buying.headline import named, sentences, speed_of, why_nothing
from gpuledger.transform.buying.options import Option
from gpuledger.transform.buying.rows import Shown, row_of
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
    "none": N_("no answer"),
}  # fmt: skip


def _advice(name: str) -> str:
    return gettext(_ADVICE[name])


class Listing(NamedTuple):
    """What an order says of an offer, shipping for one piece in US dollars. The last two are of a vendor's quote."""

    mpn: str | None = None
    shipping_usd: float | None = None
    is_quote: bool = False
    tax_included: bool | None = None
    held: str | None = None
    valid_until: date | None = None
    pieces: int | None = None


def sheet(data: DataDir, money: Money, clock: datetime) -> Sheet:
    """The list: the kept questions in the markets in which they were asked, others in the market in use.

    Raises NoWarehouse, and BadQuery for an unknown market.
    """
    home = market(data, chosen.market()).market
    with reader(data) as con:
        asker = Asker(con, data, texts(settings.load({}).assumptions_given), clock)
        listings = _Listings(con, data)
        rows = [
            row
            for one in kept(con, data)
            for row in _rows(asker, replace(one, market=one.market or home), listings, money)
        ]
    hint = gettext("for any other question: {command}").format(command="gpuledger buy --model … --save …")
    columns = _columns(money)
    printed = next(place for place, column in enumerate(columns) if not column.width)
    return Sheet(
        name=NAME, title=gettext("What to buy"), subtitle=f"{money.title(prices_heading(data))} · {hint}",
        columns=columns, rows=rows, printed=printed, currency=money,
        colours={_advice("first"): "good", _advice("none"): "bad"},
    )  # fmt: skip


def _rows(asker: Asker, one: Kept, listings: _Listings, money: Money) -> Iterator[list[Any]]:
    """The picks of one question, and what is best of each vendor's quote that answers it."""
    asked = asker.ask(one)
    answer = asked.answer
    if answer is None or answer.picks is None:
        yield _no_answer(asked, money)
        return
    picks = answer.picks.all()
    for place, option in enumerate(picks, 1):
        yield _row(_Order(one, answer, option, place), "", listings, money)
    bought = {(pick.evidence.listing_id, pick.gpu_count) for pick in picks if pick.evidence}
    for vendor in () if one.question.shops else listings.vendors(answer.stock.place.market):
        quoted = asker.ask(one, replace(one.question, shops=(vendor,))).answer
        first = quoted and quoted.picks and quoted.picks.first
        if quoted and first and first.evidence and (first.evidence.listing_id, first.gpu_count) not in bought:
            yield _row(_Order(one, quoted, first, 1), "quote", listings, money)


class _Order(NamedTuple):
    """An option of an answer, at its place there."""

    kept: Kept
    answer: Answer
    option: Option
    place: int


def _no_answer(asked: Answered, money: Money) -> list[Any]:
    said = (asked.mistake,) if asked.answer is None else why_nothing(asked.answer)
    values = {
        "advice": _advice("none"), "question": asked.kept.name, "asked": _asked(asked.kept),
        "why": "; ".join(say(line, money.sum) for line in said),
    }  # fmt: skip
    return [values.get(column.name) for column in _columns(money)]


def _asked(kept: Kept) -> str:
    return ", ".join(f"{name} {value}" for name, value in kept.asked.items())


def _row(order: _Order, advice: str, listings: _Listings, money: Money) -> list[Any]:
    option, answer = order.option, order.answer
    row = row_of(Shown(rank=order.place, option=option, ruled_out=None, answer=answer, origin=lambda sha256: None))
    listing = listings.of(option)
    pieces = _pieces(option, answer)
    memory = gettext("{done} of {known} GB").format(done=f"{option.needed_gb:.1f}", known=f"{option.available_gb:.1f}")
    shipping = None if listing.shipping_usd is None else listing.shipping_usd * pieces
    held = [spoken(row["price_mark"]), listing.held or ""]
    values = row | {
        "advice": _advice(advice or row["pick"]), "question": order.kept.name, "asked": _asked(order.kept),
        "what": say(named(option)), "shop": _vendor(option), "mpn": listing.mpn, "quantity": pieces,
        "tax": gettext("tax not stated") if listing.is_quote and listing.tax_included is None
        else tax_heading(answer.stock.place),
        "shipping_usd": shipping, "valid_until": listing.valid_until, "offered": listing.pieces,
        "stock": _stock(option, listing),
        "why": " ".join([*(say(line, money.sum) for line in speed_of(option, answer)), memory]),
        "held": "; ".join(filter(None, held)) or None, "last_confirmed": row["last_seen_at"],
        "speed_is": spoken(row["speed_is"]), "evidence": (row["snapshot_sha256"] or "")[:12] or None,
        "sentence": " ".join(say(line, money.sum) for line in sentences(answer)) if row["pick"] == "first" else None,
    }  # fmt: skip
    by_name = {money.name(name): money.amount(name, value) for name, value in values.items()}
    return [by_name[column.name] for column in _columns(money)]


def _pieces(option: Option, answer: Answer) -> int:
    """How many boards, machines or instances are ordered, without those that are there."""
    boards = option.power.boards if option.way == "buy" and option.power else 1
    return boards - dict(answer.limits.owned).get(option.gpu_id or "", 0)


def _vendor(option: Option) -> str | None:
    """Who sells it, by its own name. None if nobody does: what it costs is then what others paid."""
    evidence = option.evidence
    if evidence is None or (option.way == "buy" and evidence.listing_id is None):
        return None
    return evidence.vendor or (sources.get(evidence.source).title if evidence.source in sources.names() else None)


def _stock(option: Option, listing: Listing) -> str | None:
    """What the seller says of stock."""
    if listing.is_quote:
        return gettext("{count} offered").format(count=listing.pieces) if listing.pieces else None
    return gettext("in stock") if option.evidence and option.evidence.listing_id else None


class _Listings:
    """What an order says beside the answer: of the listings of a warehouse, and of the quotes in the archive."""

    def __init__(self, con: duckdb.DuckDBPyConnection, data: DataDir) -> None:
        self._con = con
        self._archive = Archive.at(data.snapshots, data.store)
        self._quotes: dict[str, dict[str, Offer]] = {}

    def vendors(self, in_market: str) -> list[str]:
        """Whose quotes stand in a market."""
        rows = self._con.execute(
            """SELECT DISTINCT seller FROM core.market_offer
               WHERE seller_kind = 'quote' AND in_market = ? AND exclusion IS NULL AND seller IS NOT NULL ORDER BY 1""",
            [in_market],
        ).fetchall()
        return [seller for (seller,) in rows]

    def of(self, option: Option) -> Listing:
        """The offer of an option. Nothing is known of what no shop sells."""
        held = self._con.execute(
            """SELECT string_agg(format('{} {} ({})', h.price, h.currency, h.reason), '; ' ORDER BY h.price)
               FROM core.held h JOIN core.listing l ON l.listing_id = h.listing_id
               WHERE coalesce(l.gpu_id, l.contained_gpu_id) = ?""",
            [option.gpu_id],
        ).fetchone()
        text = gettext("held: {prices}").format(prices=held[0]) if held and held[0] else None
        if option.evidence is None or option.evidence.listing_id is None:
            return Listing(held=text)
        row = self._con.execute(
            """SELECT coalesce(l.mpn, l.sku), l.shipping::DOUBLE * fx.usd_rate, l.seller_kind = 'quote', l.tax_included,
                   l.listing_key
               FROM core.listing l LEFT JOIN core.price_open p USING (listing_id)
               LEFT JOIN core.fx_usd fx ON fx.currency = p.currency WHERE l.listing_id = ?""",
            [option.evidence.listing_id],
        ).fetchone()
        assert row is not None, "who has an offer has its listing"
        mpn, shipping, is_quote, taxed, key = row
        quoted = self._quoted(option.evidence.snapshot_sha256).get(key) if is_quote else None
        listing = Listing(mpn, shipping, is_quote, taxed, text)
        return listing if quoted is None else listing._replace(valid_until=quoted.valid_until, pieces=quoted.quantity)

    def _quoted(self, sha256: str) -> Mapping[str, Offer]:
        """The offers of a vendor's file by their keys; none if the archive does not have it any more."""
        if sha256 not in self._quotes:
            self._quotes[sha256] = {}
            origin = self._archive.origin(sha256)
            if origin is not None:
                with suppress(Failure, OSError):
                    offers = sources.get(origin.source).parse(self._archive.page(origin))
                    self._quotes[sha256] = {one.key: one for one in offers if isinstance(one, Offer)}
        return self._quotes[sha256]


def origin_headings() -> dict[str, tuple[str, str]]:
    """Heading and meaning of the columns that say where a price is from, and when it was seen, in every list of people."""
    return {
        "mark": (
            gettext("mark"), gettext("stale: the shop could not be read last time; invented: a price of the sample"),
        ),
        "shop": (gettext("shop"), gettext("source that the price is from")),
        "market": (gettext("market"), gettext("where the price is asked")),
        "confirmed": (gettext("last confirmed"), gettext("when the price was last seen")),
    }  # fmt: skip


def _columns(money: Money) -> Sequence[Column]:
    code, origin = money.code, origin_headings()
    return [
        Column("advice", gettext("advice"), "text",
               gettext("buy, and for less or in the other condition if that is worth a thought; quote: the best that this "
                       "vendor quoted for it"), 9),
        Column("question", gettext("question"), "text",
               gettext("its name, or the model where nobody kept a question (`buy --save`)"), 11),
        Column("what", gettext("what"), "text", gettext("what is ordered"), 16),
        Column("shop", gettext("vendor"), "text", gettext("who sells it; empty where the price is what others paid"), 11),
        Column("mpn", gettext("part number"), "text", gettext("the maker's number, else that of the shop"), 11),
        Column("quantity", gettext("pieces"), "count", gettext("boards or machines, without those that are there"), 6),
        Column(money.name("price_usd"), gettext("price, {currency}").format(currency=code), "money",
               gettext("of all pieces, or of an hour of rent"), 9),
        Column("tax", gettext("tax"), "text", gettext("whether the price includes it"), 9),
        Column(money.name("shipping_usd"), gettext("shipping, {currency}").format(currency=code), "money",
               gettext("of all pieces, as the shop or the quote states it; empty where it does not"), 9),
        Column("valid_until", gettext("valid until"), "day", gettext("last day of a quote"), 11),
        Column("stock", gettext("delivery"), "text",
               gettext("in stock, or how many a quote offers; empty where nobody was asked"), 9),
        Column("url", gettext("link"), "link", gettext("page of the offer"), 6),
        Column("why", gettext("why"), "long",
               gettext("speed for the model, measured or calculated with its range, and the memory that it needs"), 21),
        Column(money.name("outlay_usd"), gettext("day one, {currency}").format(currency=code), "money",
               gettext("what is paid on day one, with the machine; a rental counts with its rent over the horizon"), 9),
        Column(money.name("total_usd"), gettext("in all, {currency}").format(currency=code), "money",
               gettext("over the horizon, less what is kept"), 9),
        Column("held", gettext("look at first"), "text",
               gettext("what the price is if it is not of a shop today, and prices of this card that are held"), 11),
        Column("asked", gettext("asked"), "text", gettext("the arguments of the question")),
        Column("each_tokens_per_s", gettext("tokens/s for each"), "number", gettext("what each person sees")),
        Column("speed_is", gettext("speed is"), "text", gettext("measured, calibrated, estimated, or a bound")),
        Column("needed_gb", gettext("GB needed"), "number", gettext("memory that the model takes")),
        Column("available_gb", gettext("GB there"), "number", gettext("memory that it may take")),
        Column("condition", gettext("condition"), "text", gettext("new, used …")),
        Column("way", gettext("way"), "text", gettext("bought, or how it is rented")),
        Column("price_mark", origin["mark"][0], "text", origin["mark"][1]),
        Column("market", origin["market"][0], "text", origin["market"][1]),
        Column("offered", gettext("offered"), "count", gettext("pieces that the quote offers at this price")),
        Column("price_since", gettext("price since"), "day", gettext("since when it costs that")),
        Column("last_confirmed", origin["confirmed"][0], "day", origin["confirmed"][1]),
        Column("gpu", gettext("card"), "text", gettext("maker and name")),
        Column("gpu_id", "gpu_id", "text", gettext("id of the card in every table")),
        Column("listing_id", "listing_id", "text", gettext("id of the offer in core.listing")),
        Column("evidence", gettext("evidence"), "text", gettext("archived page: `gpuledger evidence` and this")),
        Column("sentence", gettext("in a sentence"), "text", gettext("the answer in words, or why there is none")),
    ]  # fmt: skip
