"""The language of headings and messages: English in the source, the others as gettext catalogues in `flows/setup/locale`.

The .po files are read as they stand, so a checkout needs no build step and no compiled file can be older than what a person
edited. Babel reads them too, and the tests hold both against each other; its 31 MB of locales are nothing that somebody who
only asks has to install. What has no translation stays English, and so do data: names of tables and columns, ids, titles,
and CSV and JSON answers.
"""

from __future__ import annotations

import gettext as gettext_module
import re
from ast import literal_eval
from functools import cache
from pathlib import Path

LOCALE = Path(__file__).with_name("locale")
DOMAIN = "gpuledger"
#: What `gpuledger describe` and `gpuledger audit` say, and what errors say. Apart from the rest, so that only who needs them
#: reads them.
DICTIONARY = "dictionary"
ERRORS = "errors"

_STRINGS = r'((?:"(?:[^"\\\n]|\\.)*"\n)+)'
#: One message with its translation; each is one string, or several in lines of their own.
_ENTRY = re.compile(rf"^msgid {_STRINGS}msgstr {_STRINGS}", re.MULTILINE)

_chosen: str | None = None


def use(language: str | None) -> None:
    """Answer in `language` from now on; None for that of the settings."""
    global _chosen
    _chosen = language
    _configured.cache_clear()


def current() -> str:
    """The language in use. English where the settings cannot be read: whoever needs them says what is wrong."""
    return _chosen or _configured()


def gettext(message: str) -> str:
    """`message` in the language in use."""
    return translations(current()).gettext(message)


def described(comment: str, language: str | None = None) -> str:
    """A text of the data dictionary in `language` (default: the one in use), with the unit that may stand behind it in
    brackets.
    """
    words = translations(language or current(), DICTIONARY)
    if (whole := words.gettext(comment)) != comment:
        return whole  # a formula in brackets is no unit
    meaning, unit = meaning_and_unit(comment)
    return words.gettext(meaning) + (f" [{words.gettext(unit)}]" if unit else "")


def meaning_and_unit(comment: str) -> tuple[str, str]:
    """A comment's meaning, and the unit that stands behind it in brackets; empty where none does."""
    if comment.endswith("]"):
        meaning, opened, unit = comment[:-1].rpartition(" [")
        if opened:
            return meaning, unit
    return comment, ""


def knows(message: str) -> bool:
    """Whether the language in use has words of its own for `message`."""
    known = translations(current())
    return isinstance(known, Catalogue) and message in known.messages


class Catalogue(gettext_module.NullTranslations):
    """Messages with their translations; the others stay as they are."""

    def __init__(self, messages: dict[str, str]) -> None:
        super().__init__()
        self.messages = messages

    def gettext(self, message: str) -> str:
        """The translation of `message`."""
        return self.messages.get(message) or super().gettext(message)


@cache
def translations(language: str, domain: str = DOMAIN) -> gettext_module.NullTranslations:
    """A catalogue of a language; that of English is empty, and gives every message back."""
    if language == "en":
        return gettext_module.NullTranslations()
    text = (LOCALE / language / "LC_MESSAGES" / f"{domain}.po").read_text(encoding="utf-8")
    # A .po string escapes as Python's do, and strings beside each other are one.
    messages = {literal_eval(f"({one})"): literal_eval(f"({other})") for one, other in _ENTRY.findall(text)}
    del messages[""]  # the file's description of itself
    return Catalogue(messages)


class WithDictionary(gettext_module.NullTranslations):
    """The words of a language with those of the data dictionary, for who shows both: the report."""

    def __init__(self, language: str) -> None:
        super().__init__()
        self.language = language

    def gettext(self, message: str) -> str:
        """The translation of `message`; a text of the dictionary where it is no other."""
        said = translations(self.language).gettext(message)
        return described(message, self.language) if said == message else said


@cache
def _configured() -> str:
    from gpuledger.flows.setup import settings

    try:
        return settings.load({}).lang
    except settings.SettingsError:
        return "en"
