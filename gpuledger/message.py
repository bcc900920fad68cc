"""What the program says to people: an English template with its values, until the edge makes a sentence of it.

A note, a reason or an error carries a Message. Its text is the English sentence, for logs and programs. The edges in `flows`
translate the template by its catalogue and fill in the values (`flows/words/say.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

#: The languages that it can say it in (ISO 639).
LANGUAGES = ("en", "ko")


@dataclass(frozen=True, slots=True)
class Sum:
    """A sum of money in a sentence. It is shown without hundredths, unless it is `exact` or the sentence asks for them."""

    amount: Decimal
    currency: str = "USD"
    exact: bool = False

    def __format__(self, spec: str) -> str:
        return f"{self.amount:{spec or (',.2f' if self.exact else ',.0f')}} {self.currency}"


class Label(str):
    """A text of the data dictionary, such as the meaning of a setting, in a sentence. It is translated by its own words."""

    __slots__ = ()


class Message:
    """A sentence as its English template and the values that fill its gaps.

    A value is a text, a Label, a number, a day, a Sum, another Message, an error, or a tuple of these. The gap in the
    template says how a value is formatted, as in `{size:.1f}`, and what separates the parts of a tuple, as in `{notes:; }`.
    """

    __slots__ = ("template", "values")

    template: str
    values: Mapping[str, Any]

    def __init__(self, template: str, /, **values: Any) -> None:
        self.template = template
        self.values = values

    def __str__(self) -> str:
        return said(self)

    def __repr__(self) -> str:
        values = (f"{name}={value!r}" for name, value in self.values.items())
        return f"Message({', '.join([repr(self.template), *values])})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Message) and (self.template, self.values) == (other.template, other.values)

    def __hash__(self) -> int:
        return hash((self.template, tuple(self.values.items())))


class Failure(Exception):
    """What went wrong, told in one line and without a traceback. `status` is the exit status of a command that it ends."""

    status = 1


class Mistake(ValueError):
    """A person's question, file or setting cannot be used. It is told by a Message, made here of its template and values."""

    def __init__(self, template: str | Message, /, **values: Any) -> None:
        # Given as a whole Message where an error is copied or comes from another process.
        super().__init__(template if isinstance(template, Message) else Message(template, **values))


def several(messages: Iterable[object]) -> Message | None:
    """Sentences as one, with semicolons between them. None if there are none."""
    parts = tuple(messages)
    return Message("{all:; }", all=parts) if parts else None


class Words(NamedTuple):
    """How a sentence is said: its sums in which currency, its labels and templates in which words."""

    money: Callable[[Sum], Sum] = lambda amount: amount
    label: Callable[[str], str] = str
    translate: Callable[[str], str] = str


def said(what: object, words: Words = Words()) -> str:  # noqa: B008  # it is immutable
    """The sentence of a Message, or of an error that carries one; in English unless the words translate. Others as text."""
    message = message_of(what)
    if message is None:
        return str(what)
    values = {gap: _shown(value, words) for gap, value in message.values.items()}
    return words.translate(message.template).format(**values)


def message_of(what: object) -> Message | None:
    """The Message, or the one that an error carries. None if there is none."""
    if isinstance(what, BaseException) and len(what.args) == 1:
        what = what.args[0]
    return what if isinstance(what, Message) else None


def reason_of(error: BaseException) -> Message | str:
    """What an error says: its Message, or the text of an error that has none."""
    return message_of(error) or str(error)


class _Several(list[str]):
    """Parts of a sentence. The gap that they fill says what separates them."""

    def __format__(self, spec: str) -> str:
        return (spec or ", ").join(self)


def _shown(value: object, words: Words) -> object:
    """A value as it fills a gap, which may still format it."""
    if isinstance(value, Sum):
        return words.money(value)
    if isinstance(value, Label):
        return words.label(value)
    if isinstance(value, tuple):
        return _Several(f"{_shown(part, words)}" for part in value)
    return said(value, words) if isinstance(value, Message | BaseException | Path) else value
