"""The market and the currency of answers, if the command line names them. The options go before or after a command."""

from __future__ import annotations

import re

import click

from gpuledger.flows.words import naming
from gpuledger.flows.words.lang import gettext

_market: str | None = None
_currency: str | None = None

#: The code of a currency, by what people type for it.
_CURRENCIES = {
    "dollar": "USD", "dollars": "USD", "$": "USD", "euro": "EUR", "euros": "EUR", "€": "EUR", "won": "KRW", "₩": "KRW",
    "원": "KRW", "yen": "JPY", "pound": "GBP", "pounds": "GBP", "£": "GBP", "franc": "CHF", "zloty": "PLN", "yuan": "CNY",
    "rmb": "CNY",
}  # fmt: skip


def begin() -> None:
    """Forget the options of an earlier command line in this process."""
    global _market, _currency
    _market = _currency = None


def use_market(context: click.Context, option: click.Parameter, value: str | None) -> None:
    """Take --market: a country's code, eu or all."""
    global _market
    if value is not None:
        if not re.fullmatch(r"[^\W\d_]+(?: [^\W\d_]+)*", value):
            message = gettext("{text!r} is no country's code such as us, kr or de, nor eu or all").format(text=value)
            raise click.BadParameter(message, context, option)
        _market = value.lower()  # the warehouse checks whether this market exists, and suggests similar ones


def use_currency(context: click.Context, option: click.Parameter, value: str | None) -> None:
    """Take --currency: an ISO 4217 code."""
    global _currency
    if value is not None:
        try:
            _currency = currency_code(value)
        except click.BadParameter as error:
            raise click.BadParameter(error.message, context, option) from None


def currency_code(text: str) -> str:
    """The ISO 4217 code that is meant. Raises click.BadParameter for a text that is none."""
    meant = _CURRENCIES.get(text.strip().lower())
    if meant or not re.fullmatch(r"[A-Za-z]{3}", text):
        message = gettext("{text!r} is no currency's code such as EUR, KRW or JPY").format(text=text)
        raise click.BadParameter(f"{message}; {naming.did_you_mean([meant])}" if meant else message)
    return text.upper()


def market() -> str | None:
    """The market that the command line names; None for the home market of the warehouse."""
    return _market


def currency() -> str | None:
    """The currency that the command line names; None for dollars."""
    return _currency if _currency != "USD" else None
