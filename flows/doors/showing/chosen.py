"""The market and the currency of answers, if the command line names them. The options go before or after a command.

They are kept in the context of the command line and end with it, so a later one in this process begins without them.
"""

from __future__ import annotations

import re

import click

from gpuledger.flows.words.lang import gettext

_MARKET, _CURRENCY = f"{__name__}.market", f"{__name__}.currency"


def use_market(context: click.Context, _option: click.Parameter, value: str | None) -> None:
    """Take --market: a country's code, eu or all."""
    if value is not None:
        if not re.fullmatch(r"[^\W\d_]+(?: [^\W\d_]+)*", value):
            message = gettext("{text!r} is no country's code such as us, kr or de, nor eu or all").format(text=value)
            raise click.BadParameter(message)
        # The warehouse checks whether this market exists, and suggests similar ones.
        context.meta[_MARKET] = value.lower()


def use_currency(context: click.Context, _option: click.Parameter, value: str | None) -> None:
    """Take --currency: an ISO 4217 code."""
    if value is not None:
        name_currency(currency_code(value), context)


def name_currency(code: str, context: click.Context | None = None) -> None:
    """Answer in this currency. Raises click.BadParameter beside another one, of --currency or of a budget."""
    context = context or click.get_current_context()
    if (other := context.meta.setdefault(_CURRENCY, code)) != code:
        message = gettext("two currencies are named, {one} and {other}: name one")
        raise click.BadParameter(message.format(one=other, other=code))


def take_market(name: str) -> None:
    """Answer of this market, as if the command line named it. Outside a command line nothing happens."""
    if context := click.get_current_context(silent=True):
        context.meta[_MARKET] = name


def currency_code(text: str) -> str:
    """The ISO 4217 code that is meant. Raises click.BadParameter for a text that is none."""
    if not re.fullmatch(r"[A-Za-z]{3}", text):
        raise click.BadParameter(gettext("{text!r} is no currency's code such as EUR, KRW or JPY").format(text=text))
    return text.upper()


def market() -> str | None:
    """The market that the command line names; None for the home market of the warehouse."""
    return _named(_MARKET)


def currency() -> str | None:
    """The currency that the command line names; None for dollars."""
    code = _named(_CURRENCY)
    return code if code != "USD" else None


def names_currency() -> bool:
    """Whether the command line names a currency, dollars too."""
    return _named(_CURRENCY) is not None


def _named(key: str) -> str | None:
    context = click.get_current_context(silent=True)
    return context.meta.get(key) if context else None
