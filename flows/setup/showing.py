"""What answers are shown in, where the command line says so: a market, a currency. Both go before or after a command."""

from __future__ import annotations

import re

import click

_market: str | None = None
_currency: str | None = None


def begin() -> None:
    """Forget what an earlier command line in this process said."""
    global _market, _currency
    _market = _currency = None


def use_market(context: click.Context, option: click.Parameter, value: str | None) -> None:
    """Take --market: a country's code, eu or all."""
    global _market
    if value is not None:
        if not re.fullmatch(r"[A-Za-z]{2}|[Aa][Ll][Ll]", value):
            raise click.BadParameter("give a country's code such as us, kr or de, or eu, or all", context, option)
        _market = value.lower()


def use_currency(context: click.Context, option: click.Parameter, value: str | None) -> None:
    """Take --currency: an ISO 4217 code."""
    global _currency
    if value is not None:
        if not re.fullmatch(r"[A-Za-z]{3}", value):
            raise click.BadParameter("give a currency's code such as EUR, KRW or JPY", context, option)
        _currency = value.upper()


def market() -> str | None:
    """The market that was asked for; None for the home market of the warehouse."""
    return _market


def currency() -> str | None:
    """The currency that was asked for; None for dollars."""
    return _currency if _currency != "USD" else None
