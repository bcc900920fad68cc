"""The one way from a message to a sentence: in the language in use, at every door.

Texts of the warehouse (workloads, reasons, what is against an option) are data and so English, the same in every file and
for every program. For people, each is translated as a whole, or by the template that it was made from.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from gettext import NullTranslations
from pathlib import Path

import click

from gpuledger import local_files
from gpuledger.flows.words.lang import N_, current, gettext, knows, translations
from gpuledger.message import Sum, Words, message_of, said
from gpuledger.redaction import redact_text
from gpuledger.transform import models


def say(what: object, money: Callable[[Sum], Sum] = lambda amount: amount) -> str:
    """What a message, an error or a label says, in the language in use, with its sums converted by `money`. "" for None."""
    if what is None:
        return ""
    if message_of(what) is not None:
        return said(what, Words(money, label, gettext))
    return label(str(what))


def failure(error: Exception) -> str:
    """What an error that ends a command says, without secrets. One of the operating system names the file and a way out."""
    what: object = error
    if isinstance(error, local_files.Refused):
        what = f"{error.filename}: {error.strerror}"
    elif isinstance(error, OSError) and error.filename:
        what = f"{error.filename}: {local_files.why(error)}; or choose another folder or --data-dir"
    elif isinstance(error, OSError) and error.errno in local_files.WAYS_OUT:
        what = local_files.why(error)
    return redact_text(say(what))


@contextmanager
def as_wrong_use(*kinds: type[Exception]) -> Iterator[None]:
    """Make errors of these kinds in the block usage errors, which say the same in the language in use."""
    try:
        yield
    except kinds as error:
        raise click.UsageError(say(error)) from None


def label(text: str) -> str:
    """A fixed text, such as the name of a figure, in the language in use. The meaning of a setting, say, stays English."""
    return gettext(text) if knows(text) else text


#: A number with the things that it counts, as in `3 out of stock, 1 grey import`.
_COUNTED = re.compile(r"(\d+) ([a-zA-Z][^,]*)")


def spoken(text: str) -> str:
    """`text` in the language in use, unchanged if no part of it is known. Several sentences are looked up one by one."""
    if current() == "en" or knows(text):
        return gettext(text)
    parts, translated = text.split("; "), []
    while parts:
        sentence_parts = next((n for n in range(len(parts), 1, -1) if _by_template("; ".join(parts[:n]), gettext)), 1)
        translated.append(_one("; ".join(parts[:sentence_parts])))
        del parts[:sentence_parts]
    return "; ".join(translated)


class WithSentences(NullTranslations):
    """The messages of a language, and sentences of the warehouse, for the report."""

    def __init__(self, language: str) -> None:
        super().__init__()
        self.language = language

    def gettext(self, message: str) -> str:
        """The translation of `message`, which may be a sentence made from a template."""
        translate = translations(self.language).gettext
        translated = translate(message)
        return translated if translated != message else _by_template(message, translate) or message


def _one(text: str) -> str:
    """The translation of one sentence, or of a list of words or of counted things."""
    if sentence := _by_template(text, gettext):
        return sentence
    if not knows(text):
        if ", " in text:
            return ", ".join(map(_one, text.split(", ")))
        if counted := _COUNTED.fullmatch(text):
            return f"{counted[1]} × {_one(counted[2])}"
    text_with_spaces = text.replace("_", " ")
    translated = gettext(text_with_spaces) if text else ""
    return text if translated == text_with_spaces else translated


def _by_template(text: str, translate: Callable[[str], str]) -> str | None:
    """The translation of a sentence by the template that it was made from; None if there is none."""
    matches = ((template, pattern.fullmatch(text)) for template, pattern in _patterns())
    return next((translate(template).format(**match.groupdict()) for template, match in matches if match), None)


@cache
def _patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    """The sentences with gaps that SQL makes, as they stand there (transform.queries.MARK has the day of a rate)."""
    sql = (Path(models.__path__[0]) / "mart/price_trend/query.sql").read_text(encoding="utf-8")
    templates = (N_("rate of {day}"), *re.findall(r"'([^'{]+\{\w+\}[^']*)'", sql))
    return tuple(
        (template, re.compile(re.sub(r"\\{(\w+)\\}", r"(?P<\1>[^;]+?)", re.escape(template)))) for template in templates
    )
