"""How an answer changes if one assumption changes by half."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache

from gpuledger.transform.assumptions import Assumptions, Number, settings

HALF = Decimal("0.5")

#: The changed value of one setting, and all settings with this change.
_Moved = tuple[Number, Assumptions]


@dataclass(frozen=True, slots=True)
class Sensitivity:
    """The answers at a lower and a higher value of one setting, with all other settings unchanged.

    `low_value` and `high_value` are the values that were really used: a value beyond the setting's bounds is replaced by the
    bound. An answer is None if the question has no answer at that value (a break-even that never comes).
    """

    name: str
    low_value: Number
    low_answer: Decimal | None
    answer: Decimal | None
    high_value: Number
    high_answer: Decimal | None

    @property
    def swing(self) -> Decimal:
        """The distance between the two answers, 0 if one of them does not exist."""
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
    """The answers to `question` with each setting lowered and raised by `share` of its value, the widest swing first.

    `names` are the settings to try, None for all. Settings that do not change the answer are left out.
    """
    answer = question(assumptions)
    effects = []
    for name in names if names is not None else settings():
        (low_value, lower), (high_value, higher) = _both_ways(assumptions, name, share)
        low, high = question(lower), question(higher)
        if low != answer or high != answer:
            effects.append(Sensitivity(name, low_value, low, answer, high_value, high))
    return sorted(effects, key=lambda item: (-item.swing, item.name))


# Cached, because creating assumptions checks all of them, which takes longer than a question does, and many questions use
# the same assumptions.
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
    # mypy cannot see that `name` is a field and that `value` has the type of this field.
    return dataclasses.replace(assumptions, **{name: value})  # type: ignore[arg-type]
