"""Figures that say how they were made, so that --explain says no formula a second time.

Where steps are collected, a formula runs on figures in place of plain numbers: they carry the arithmetic that made them, and
`shown` keeps it with its source. Everywhere else formulas run on plain numbers, and `shown` only gives them back.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, TypeVar, cast

from gpuledger.message import Message
from gpuledger.transform.assumptions import Assumptions, settings

_Amount = TypeVar("_Amount", bound=float | Decimal)
_Of = TypeVar("_Of")


@dataclass(frozen=True, slots=True)
class Step:
    """One figure. `arithmetic` gives `value` in `unit`; anybody can type it into a calculator.

    `source` says where the numbers come from, and how to change those that are assumptions.
    """

    figure: str
    arithmetic: str
    value: float
    unit: str
    source: Message | str


_STEPS: ContextVar[dict[str, Step] | None] = ContextVar("steps", default=None)


@contextmanager
def explaining() -> Iterator[dict[str, Step]]:
    """Collects the steps that are shown in the block, by figure."""
    steps: dict[str, Step] = {}
    token = _STEPS.set(steps)
    try:
        yield steps
    finally:
        _STEPS.reset(token)


def shown(figure: str, value: _Amount, unit: str, source: Message | str | Callable[[], Message] = "") -> _Amount:
    """The value. Where steps are collected, its arithmetic is one of them, and what follows says the value as a number.

    A source with values of its own is given as a function, which is asked only there.
    """
    steps = _STEPS.get()
    if steps is None:
        return value
    source = source() if callable(source) else source
    steps.setdefault(figure, Step(figure, _said(value)[0], float(value), unit, source))
    return traced(value)


def number(value: float | Decimal) -> str:
    """A number as the arithmetic shows it: whole numbers with commas, a million or a billion as 10^6, others with seven
    digits.
    """
    amount = float(value)
    if amount in (1e6, 1e9, 1e12):
        return f"10^{math.log10(amount):.0f}"
    return f"{int(amount):,}" if amount.is_integer() and abs(amount) < 1e15 else f"{amount:.7g}"


def assumed(assumptions: Assumptions, *names: str) -> Message:
    """Assumptions: their values, where these come from, and the option that changes them."""
    known, usual, each = settings(), Assumptions(), list[Message | str]()
    for name in names:
        value, default = getattr(assumptions, name), getattr(usual, name)
        source: Message | str = known[name].source
        if value != default:
            source = Message(
                "of the question, its country, a setting or a measurement, instead of {usual:g} ({source})",
                usual=default, source=source,
            )  # fmt: skip
        unit = known[name].unit
        each.append(Message("{name} {value:g} {unit}: {source}", name=name, value=value, unit=unit, source=source))
    return Message("{each:; } (--assume {name}=…)", each=tuple(each), name=names[0])


def both(*sources: Message | str) -> Message:
    """Several sources of one figure as one."""
    return Message("{all:; }", all=tuple(filter(None, sources)))


#: The signs of the arithmetic: the operator of each, and how strongly it binds.
_SIGNS = {"+": ("add", 1), "−": ("sub", 1), "×": ("mul", 2), "÷": ("truediv", 2), "^": ("pow", 3)}
_NUMBER = 4


class _Said:
    """A number with the arithmetic that made it, and the strength of its weakest sign."""

    text: str
    strength: int


class _Float(_Said, float):
    pass


class _Decimal(_Said, Decimal):
    pass


for _sign, (_name, _) in _SIGNS.items():
    setattr(_Said, f"__{_name}__", lambda self, other, sign=_sign: _joined(sign, self, other))
    setattr(_Said, f"__r{_name}__", lambda self, other, sign=_sign: _joined(sign, other, self))


def traced(value: _Amount, text: str = "", strength: int = _NUMBER) -> _Amount:
    """The value as a figure: sums with it say themselves. Without a `text` it is said as a number."""
    figure = (_Decimal if isinstance(value, Decimal) else _Float)(value)
    figure.text, figure.strength = text or number(value), strength
    return cast("_Amount", figure)


class _Fields:
    def __init__(self, of: object) -> None:
        self._of = of

    def __getattr__(self, name: str) -> Any:
        made = getattr(type(self._of), name, None)
        if isinstance(made, property) and made.fget is not None:
            return made.fget(self)
        value = getattr(self._of, name)
        return traced(value) if isinstance(value, float | Decimal) and not isinstance(value, _Said) else value


def fields_of(record: _Of) -> _Of:
    """The record with those of its fields as figures that are no whole numbers, and what its properties make of them."""
    return cast("_Of", _Fields(record))


def _said(value: float | Decimal) -> tuple[str, int]:
    return (value.text, value.strength) if isinstance(value, _Said) else (number(value), _NUMBER)


def _plain(value: Any) -> Any:
    return Decimal(value) if isinstance(value, _Decimal) else float(value) if isinstance(value, _Float) else value


def _joined(sign: str, left: Any, right: Any) -> Any:
    """The figure of two numbers and a sign. What changes nothing, such as a tax of 0, is not said."""
    name, strength = _SIGNS[sign]
    plain = [
        Decimal(one) if isinstance(one, Decimal) else float(one) if isinstance(one, float) else one
        for one in (left, right)
    ]
    value = getattr(operator, name)(*plain)
    without = {"+": 0, "−": 0}.get(sign, 1)
    if right == without:
        return traced(value, *_said(left))
    if left == without and sign in "+×":
        return traced(value, *_said(right))
    texts = []
    for is_right, one in enumerate((left, right)):
        text, own = _said(one)
        is_weaker = own < strength or (own == strength and (sign == "^" or (bool(is_right) and sign in "−÷")))
        texts.append(f"({text})" if is_weaker else text)
    return traced(value, f" {sign} ".join(texts), strength)
