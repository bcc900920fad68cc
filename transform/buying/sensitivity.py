"""How an answer moves when one assumption moves by half."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache

from gpuledger.transform.assumptions import Assumptions, Number, settings

HALF = Decimal("0.5")

#: The value that one setting was moved to, and all settings with it there.
_Moved = tuple[Number, Assumptions]


@dataclass(frozen=True, slots=True)
class Sensitivity:
    """The answer at a setting's lower and higher value, others unchanged.

    A value that would leave the setting's bounds stops there, so `low_value` and `high_value` say what was really
    asked. An answer is None where the question has none at that value (a break-even that never comes).
    """

    name: str
    low_value: Number
    low_answer: Decimal | None
    answer: Decimal | None
    high_value: Number
    high_answer: Decimal | None

    @property
    def swing(self) -> Decimal:
        """How far apart the two answers are, 0 where one of them does not exist."""
        if self.low_answer is None or self.high_answer is None:
            return Decimal(0)
        return abs(self.high_answer - self.low_answer)


def sensitivity(
    question: Callable[[Assumptions], Decimal | None],
    assumptions: Assumptions,
    names: Iterable[str] | None = None,
    *,
    share: Decimal = HALF,
) -> list[Sensitivity]:
    """`question` asked with each setting moved down and up by `share` of its value; the widest swing first.

    Without `names`, every setting that changes the answer. Settings that change nothing are left out.
    """
    answer = question(assumptions)
    effects = []
    for name in names if names is not None else settings():
        (low_value, lower), (high_value, higher) = _both_ways(assumptions, name, share)
        low, high = question(lower), question(higher)
        if low != answer or high != answer:
            effects.append(Sensitivity(name, low_value, low, answer, high_value, high))
    return sorted(effects, key=lambda item: (-item.swing, item.name))


# Making assumptions checks all of them, which takes longer than asking, and many questions are asked of the same ones.
@lru_cache(maxsize=256)
def _both_ways(assumptions: Assumptions, name: str, share: Decimal) -> tuple[_Moved, _Moved]:
    lower, higher = (_moved(assumptions, name, factor) for factor in (1 - share, 1 + share))
    return (lower, _replaced(assumptions, name, lower)), (higher, _replaced(assumptions, name, higher))


def _moved(assumptions: Assumptions, name: str, factor: Decimal) -> Number:
    """The setting times `factor`, kept within its bounds and of its own type."""
    setting, value = settings()[name], getattr(assumptions, name)
    moved = Decimal(str(value)) * factor
    bounded = max(Decimal(str(setting.low)), min(Decimal(str(setting.high)), moved))
    kind: type[int] | type[float] | type[Decimal] = type(value)
    return kind(bounded)


def _replaced(assumptions: Assumptions, name: str, value: Number) -> Assumptions:
    # mypy cannot see that `name` is a field and `value` of its type.
    return dataclasses.replace(assumptions, **{name: value})  # type: ignore[arg-type]
