"""The one way from a message to a sentence: in the language in use, at every door."""

from __future__ import annotations

from collections.abc import Callable

from gpuledger.extract.message import Sum, Words, message_of, said
from gpuledger.flows.words.lang import current, described, gettext, knows
from gpuledger.flows.words.wrong_use import translated


def say(what: object, money: Callable[[Sum], Sum] = lambda amount: amount) -> str:
    """What a message, an error or a label says, in the language in use, with its sums converted by `money`. "" for None.

    Where a part of the program still says texts and not messages, its text is translated if it is known.
    """
    if what is None:
        return ""
    if message_of(what) is not None:
        return said(what, current(), Words(money, label))
    return label(what) if isinstance(what, str) and knows(what) else translated(str(what))


def label(text: str) -> str:
    """A fixed text, such as the name of a figure or the meaning of a setting, in the language in use."""
    return gettext(text) if knows(text) else described(text)
