"""The language of headings and messages: English in the source, the others as gettext catalogues in `flows/words/locale`.

This module reads the .po files themselves, so a checkout needs no build step, and no compiled file can be older than a
person's edits. The tests compare it with Babel, which reads the same files. Babel's 31 MB of locales are too much to
install for people who only ask questions. A message without a translation stays English. So do data (names of tables
and columns, ids, titles, CSV and JSON answers), the meanings of columns and settings, and what an operator is told is wrong.
"""

from __future__ import annotations

import gettext as gettext_module
import os
import re
import sys
from ast import literal_eval
from functools import cache
from pathlib import Path

from gpuledger.flows.words.particles import Korean
from gpuledger.message import LANGUAGES

LOCALE = Path(__file__).with_name("locale")
DOMAIN = "gpuledger"

_STRINGS = r'((?:"(?:[^"\\\n]|\\.)*"\n)+)'
#: A message with its translation. Each of the two is one string, or several strings on lines of their own.
_ENTRY = re.compile(rf"^msgid {_STRINGS}msgstr {_STRINGS}", re.MULTILINE)

_chosen: str | None = None


def use(language: str | None) -> None:
    """Answer in `language` from now on; None means the language of the settings."""
    global _chosen
    _chosen = language
    _configured.cache_clear()


def current() -> str:
    """The language in use. It is English if the settings cannot be read; code that needs them reports the fault."""
    return _chosen or _configured()


def gettext(message: str) -> str:
    """`message` in the language in use."""
    return translations(current()).gettext(message)


def N_(message: str) -> str:
    """`message` itself. It marks the message for the catalogue; the code that shows the message translates it."""
    return message


def knows(message: str) -> bool:
    """Whether the language in use has a translation of `message`."""
    known = translations(current())
    return isinstance(known, Catalogue) and message in known.messages


class Catalogue(gettext_module.NullTranslations):
    """Messages with their translations. Other messages stay as they are."""

    def __init__(self, messages: dict[str, str]) -> None:
        super().__init__()
        self.messages = messages

    def gettext(self, message: str) -> str:
        """The translation of `message`."""
        translated = self.messages.get(message)
        return Korean(translated) if translated else super().gettext(message)


@cache
def translations(language: str) -> gettext_module.NullTranslations:
    """The catalogue of a language. The English one is empty and returns every message as it is."""
    if language == "en":
        return gettext_module.NullTranslations()
    text = (LOCALE / language / "LC_MESSAGES" / f"{DOMAIN}.po").read_text(encoding="utf-8")
    # A .po string has the escapes of a Python string, and adjacent strings form one, as in Python.
    messages = {literal_eval(f"({msgid})"): literal_eval(f"({msgstr})") for msgid, msgstr in _ENTRY.findall(text)}
    del messages[""]  # the file's description of itself
    return Catalogue(messages)


def _of_terminal() -> str:
    """The language that the terminal asks for (POSIX: the first of LC_ALL, LC_MESSAGES and LANG that is set)."""
    named = next(filter(None, map(os.environ.get, ("LC_ALL", "LC_MESSAGES", "LANG"))), "")
    language = re.split("[_.@]", named)[0]
    return language if sys.stdout.isatty() and language in LANGUAGES else "en"


@cache
def _configured() -> str:
    from gpuledger.flows.settings import settings

    try:
        return settings.load({}).lang or _of_terminal()
    except settings.SettingsError:
        return "en"
