"""`gpuledger price`: what a card costs, where, and whether to buy now or to wait."""

from __future__ import annotations

from datetime import datetime

import click

from gpuledger.flows.asking import complete
from gpuledger.flows.asking.options import (
    as_of_option,
    currency_option,
    data_dir_option,
    day_of,
    format_option,
    market_option,
    read_from,
)  # fmt: skip
from gpuledger.flows.showing import chosen
from gpuledger.flows.words.lang import gettext

#: Headings by column, in the order in which a narrow screen keeps the columns.
_HEADINGS = {
    "gpu": "gpu", "price_usd": "USD", "source": "shop", "price_since": "price since", "premium_over_msrp": "over MSRP",
    "excluded": "left out", "last_seen_at": "last confirmed", "hint": "hint", "used_price_usd": "used", "market": "market",
    "offers": "offers", "msrp_usd": "MSRP", "median_usd": "median", "channel": "channel",
}  # fmt: skip


@click.command()
@click.argument("gpu", required=False, shell_complete=complete.cards)
@as_of_option
@market_option
@currency_option
@data_dir_option
@format_option
def command(gpu: str | None, as_of: datetime | None, data_dir: str | None, form: str) -> int:
    """Street prices of all GPUs, or of those whose name holds GPU ("rtx 4090"): where, since when, and the trend.

    Write a comma between several names: "4090, 4080".
    """
    from gpuledger.flows.asking import workload_names
    from gpuledger.flows.showing import market_words
    from gpuledger.flows.showing.money import money
    from gpuledger.flows.showing.show import no_rows, show_rows
    from gpuledger.transform.answers import markets
    from gpuledger.transform.answers.price import Cards, price

    data = read_from(data_dir)
    day, short = day_of(data, as_of), form == "table"
    currency = money(data, day)
    names = list(dict.fromkeys(name.strip() for name in (gpu or "").split(",") if name.strip()))
    columns, rows = price(data, Cards(names[0] if names else ""), day, chosen.market(), short=short)
    if len(names) > 1 or (names and not rows):
        from gpuledger.flows.asking import card_names

        # The name is not spelt as in the catalogue: "rtx4090", "3090 24GB". A name that no card has is a usage error here.
        gpu_ids = tuple(dict.fromkeys(gpu_id for name in names for gpu_id in card_names.gpu_ids(data, name)))
        columns, rows = price(data, Cards("", gpu_ids), day, chosen.market(), short=short)
    title = f"{gettext('Street prices')} · {market_words.heading(data, day)} · {workload_names.when(data, as_of)}"
    headings = {**_HEADINGS, "price_usd": market_words.money(data, day)}
    if chosen.market() == markets.ALL:
        # With all markets, the market of a row is more important than when its price was confirmed.
        headings = {name: headings[name] for name in ("gpu", "price_usd", "source", "market", "channel")} | headings
    show_rows(
        *currency.table(columns, rows), form, title=currency.title(title), headings=currency.headings(columns, headings)
    )
    why = gettext("no shop in this warehouse lists it; `gpuledger show` has what is known of the card")
    return 0 if rows else no_rows(why)
