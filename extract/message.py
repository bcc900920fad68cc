"""What the program says to people: a code with its values, until the edge makes a sentence of it in some language.

A note, a reason or an error carries a Message. Its sentences lie in `extract/messages/<group>.toml`, in all languages beside
each other, under the part of the code behind the dot. The text of a Message is the English sentence, for logs and programs.
The edges in `flows` say it in the language in use (`flows/words/say.py`).
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

#: The languages that it can say it in (ISO 639).
LANGUAGES = ("en", "ko")
#: One file for each group of codes.
SENTENCES = Path(__file__).with_name("messages")


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
    """A sentence as its code and the values that fill its gaps.

    A value is a text, a Label, a number, a day, a Sum, another Message, an error, or a tuple of these. The gap in the
    sentence says how a value is formatted, as in `{size:.1f}`, and what separates the parts of a tuple, as in `{notes:; }`.
    """

    __slots__ = ("code", "values")

    code: str
    values: Mapping[str, Any]

    def __init__(self, code: str, /, **values: Any) -> None:
        self.code = code
        self.values = values

    def __str__(self) -> str:
        return said(self, "en")

    def __repr__(self) -> str:
        return f"Message({', '.join([repr(self.code), *(f'{name}={value!r}' for name, value in self.values.items())])})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Message) and (self.code, self.values) == (other.code, other.values)

    def __hash__(self) -> int:
        return hash((self.code, tuple(self.values.items())))


class Failure(Exception):
    """What went wrong, told in one line and without a traceback. `status` is the exit status of a command that it ends."""

    status = 1


class Mistake(ValueError):
    """A person's question, file or setting cannot be used. It is told by the code of its Message and the values in it."""

    def __init__(self, code: str | Message, /, **values: Any) -> None:
        # Given as a whole Message where an error is copied or comes from another process.
        super().__init__(code if isinstance(code, Message) else Message(code, **values))


def several(messages: Iterable[object]) -> Message | None:
    """Sentences as one, with semicolons between them. None if there are none."""
    parts = tuple(messages)
    return Message("list.sentences", all=parts) if parts else None


class Words(NamedTuple):
    """How sums and labels in a sentence are said: in which currency, and in which words."""

    money: Callable[[Sum], Sum] = lambda amount: amount
    label: Callable[[str], str] = str


def said(what: object, language: str, words: Words = Words()) -> str:  # noqa: B008  # it is immutable
    """The sentence of a Message, or of an error that carries one, in `language`. Any other value is said as its text."""
    message = message_of(what)
    if message is None:
        return str(what)
    group, _, name = message.code.partition(".")
    sentence: str = sentences(group)[name][language]
    return sentence.format(**{gap: _shown(value, language, words) for gap, value in message.values.items()})


def message_of(what: object) -> Message | None:
    """The Message, or the one that an error carries. None if there is none."""
    if isinstance(what, BaseException) and len(what.args) == 1:
        what = what.args[0]
    return what if isinstance(what, Message) else None


def reason_of(error: BaseException) -> Message | str:
    """What an error says: its Message, or the text of an error that has none."""
    return message_of(error) or str(error)


@cache
def sentences(group: str) -> Mapping[str, Mapping[str, str]]:
    """The sentences of a group by the part of the code behind the dot and by language (ISO 639)."""
    return tomllib.loads((SENTENCES / f"{group}.toml").read_text(encoding="utf-8"))


class _Several(list[str]):
    """Parts of a sentence. The gap that they fill says what separates them."""

    def __format__(self, spec: str) -> str:
        return (spec or ", ").join(self)


def _shown(value: object, language: str, words: Words) -> object:
    """A value as it fills a gap, which may still format it."""
    if isinstance(value, Sum):
        return words.money(value)
    if isinstance(value, Label):
        return words.label(value)
    if isinstance(value, tuple):
        return _Several(f"{_shown(part, language, words)}" for part in value)
    return said(value, language, words) if isinstance(value, Message | BaseException | Path) else value
