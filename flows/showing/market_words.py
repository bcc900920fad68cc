"""The market of an answer, in words: whose prices they are, and whether they include tax."""

from __future__ import annotations

from datetime import date

from gpuledger.flows.showing import chosen
from gpuledger.flows.words.lang import gettext, knows
from gpuledger.transform.answers import markets
from gpuledger.warehouse.paths import DataDir


def money(data: DataDir, day: date | None = None) -> str:
    """The heading of a column of prices. If the answer compares several markets, it says that tax is not included."""
    return "USD, net of tax" if markets.market(data, chosen.market(), day).is_net else "USD"


def heading(data: DataDir, day: date | None = None) -> str:
    """`market us, before sales tax`, `market kr, with 10 % VAT`, `all markets, net of tax`. Raises BadQuery as
    `markets.market` does.
    """
    market = markets.market(data, chosen.market(), day)
    if market.market == markets.ALL:
        return gettext("all markets, net of tax")
    name = gettext("market {market}").format(market=market.market)
    if market.is_net:
        return f"{name}, {gettext('net of tax')}"
    # A market that a user defined may name its tax in any way.
    tax = gettext(market.tax_name) if market.tax_name and knows(market.tax_name) else market.tax_name
    if not market.prices_include_tax:
        return f"{name}, " + gettext("before {tax}").format(tax=tax)
    if market.tax_rate is None:
        return f"{name}, " + gettext("with {tax}").format(tax=tax)
    rate = f"{float(market.tax_rate) * 100:g} %"
    return f"{name}, " + gettext("with {rate} {tax}").format(rate=rate, tax=tax)
