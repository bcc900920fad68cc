"""`gpuledger price`: what a card costs, where, and whether to buy now or to wait."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, cast

import click

from gpuledger.extract.source import seller
from gpuledger.flows.doors.asking.options import (
    as_of_option,
    currency_option,
    data_dir_option,
    day_of,
    format_option,
    market_option,
    may_be_packaged,
    read_from,
)  # fmt: skip
from gpuledger.flows.doors.showing import chosen, terminal
from gpuledger.flows.words.lang import gettext
from gpuledger.flows.words.say import say
from gpuledger.message import Message

if TYPE_CHECKING:
    from gpuledger.warehouse.paths import DataDir


@click.command()
@click.argument("card", required=False)
@as_of_option
@market_option
@currency_option
@data_dir_option
@format_option
def command(card: str | None, as_of: datetime | None, data_dir: str | None, form: str) -> int:
    """Street prices of all GPUs, or of those whose name holds CARD ("rtx 4090"): where, since when, and the trend.

    Write a comma between several names: "4090, 4080".
    """
    from gpuledger.flows.doors.showing.money import money, price_heading, prices_heading
    from gpuledger.flows.doors.showing.show import no_rows, show
    from gpuledger.transform.answers import markets
    from gpuledger.transform.answers.price import Cards, price
    from gpuledger.transform.buying.headline import PRESUMED
    from gpuledger.transform.buying.market import ANY_SHOP

    data = read_from(data_dir, as_one=True)
    names = list(dict.fromkeys(name.strip() for name in (card or "").split(",") if name.strip()))
    if as_of is None and may_be_packaged(data, data_dir):
        return _before_the_first_night(data, names, form)
    day = day_of(data, as_of)
    currency = money(data, day)
    answer = price(data, Cards(names[0] if names else ""), day, chosen.market())
    if len(names) > 1 or (names and not answer.rows):
        answer = price(data, Cards("", _ids(data, names)), day, chosen.market())
    if chosen.market() == markets.ALL:
        # With all markets, the market of a row is more important than when its price was confirmed.
        answer = answer.with_first("gpu", "price_usd", "source", "offered_in", "channel")
    title = f"{gettext('Street prices')} · {prices_heading(data, day)}"
    show(answer.under(currency.title(title), price_usd=price_heading(data, day)), form, currency=currency)
    shops = {seller(row["source"], row["url"]) for row in answer.rows if row["source"] == ANY_SHOP}
    if shops and form == "table":
        terminal.say(say(Message(PRESUMED, shop=tuple(sorted(shops)))))
    why = gettext("no shop in this warehouse lists it; `gpuledger show` has what is known of the card")
    if day:  # a shop may have listed it, at a price that was suspect, held, or too old by then
        why = gettext("no price of it counted at the end of that day; `gpuledger show` has what is known of the card")
    return 0 if answer.rows else no_rows(why)


def _ids(data: DataDir, names: Sequence[str]) -> tuple[str, ...]:
    """The cards of names that are not spelt as in the catalogue: "rtx4090", "3090 24GB". A usage error for one that no card
    has.
    """
    from gpuledger.flows.doors.asking import card_names

    return tuple(dict.fromkeys(gpu_id for name in names for gpu_id in card_names.gpu_ids(data, name)))


def _before_the_first_night(data: DataDir, names: Sequence[str], form: str) -> int:
    """Show the prices that the program brings, which `buy` counts too."""
    from gpuledger.flows.doors.asking.buying import Where, stock
    from gpuledger.flows.doors.showing.money import Money, market_named, prices_as_of
    from gpuledger.flows.doors.showing.show import no_rows, show
    from gpuledger.transform.answers.price import brought

    where = Where(chosen.market(), chosen.currency(), None)
    with stock(data, where, clock=datetime.now(UTC), packaged=True) as offered:
        answer = brought(offered, names[0] if len(names) == 1 else "", ())
        if names and (len(names) > 1 or not answer.rows):
            answer = brought(offered, "", _ids(data, names))
        currency = cast("Money", offered.place.currency)
        when = f"{market_named(offered.place.market)} · {prices_as_of(f'{offered.prices_as_of:%Y-%m}')}"
        show(answer.under(currency.title(f"{gettext('Street prices')} · {when}")), form, currency=currency)
    return 0 if answer.rows else no_rows(gettext("the program brings no price of it for this market"))
