"""The one way from a message to a sentence: in the language in use, at every door."""

from __future__ import annotations

from collections.abc import Callable

from gpuledger.extract.message import Sum, Words, message_of, said
from gpuledger.flows.words.lang import current, described
from gpuledger.flows.words.wrong_use import translated


def say(what: object, money: Callable[[Sum], Sum] = lambda amount: amount) -> str:
    """What a message or an error says, in the language in use, with its sums converted by `money`. Empty for None.

    Where a part of the program still says texts and not messages, its text is translated if it is known.
    """
    if what is None:
        return ""
    message = message_of(what)
    return translated(str(what)) if message is None else said(message, current(), Words(money, described))
