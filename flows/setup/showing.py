"""What answers are shown in, where the command line says so: a market, a currency. Both go before or after a command."""

from __future__ import annotations

import re

import click

from gpuledger.flows.setup import naming
from gpuledger.flows.setup.lang import gettext

_market: str | None = None
_currency: str | None = None

#: What people type for a currency, by the code that it has.
_CURRENCIES = {
    "dollar": "USD", "dollars": "USD", "$": "USD", "euro": "EUR", "euros": "EUR", "€": "EUR", "won": "KRW", "₩": "KRW",
    "원": "KRW", "yen": "JPY", "pound": "GBP", "pounds": "GBP", "£": "GBP", "franc": "CHF", "zloty": "PLN", "yuan": "CNY",
    "rmb": "CNY",
}  # fmt: skip


def begin() -> None:
    """Forget what an earlier command line in this process said."""
    global _market, _currency
    _market = _currency = None


def use_market(context: click.Context, option: click.Parameter, value: str | None) -> None:
    """Take --market: a country's code, eu or all."""
    global _market
    if value is not None:
        if not re.fullmatch(r"[^\W\d_]+(?: [^\W\d_]+)*", value):
            message = gettext("{text!r} is no country's code such as us, kr or de, nor eu or all").format(text=value)
            raise click.BadParameter(message, context, option)
        _market = value.lower()  # whether there is such a market, the warehouse says, with the near ones


def use_currency(context: click.Context, option: click.Parameter, value: str | None) -> None:
    """Take --currency: an ISO 4217 code."""
    global _currency
    if value is not None:
        meant = _CURRENCIES.get(value.strip().lower())
        if meant or not re.fullmatch(r"[A-Za-z]{3}", value):
            message = gettext("{text!r} is no currency's code such as EUR, KRW or JPY").format(text=value)
            raise click.BadParameter(
                f"{message}; {naming.did_you_mean([meant])}" if meant else message, context, option
            )
        _currency = value.upper()


def market() -> str | None:
    """The market that was asked for; None for the home market of the warehouse."""
    return _market


def currency() -> str | None:
    """The currency that was asked for; None for dollars."""
    return _currency if _currency != "USD" else None
