"""The language of headings and messages: English in the source, the others as gettext catalogues in `flows/setup/locale`.

The .po files are read as they stand and compiled in memory, so a checkout needs no build step and no compiled file can be
older than what a person edited. That costs a tenth of a second, and only where another language is asked for. What has no
translation stays English, and so do data: names of tables and columns, ids, titles, and CSV and JSON answers.
"""

from __future__ import annotations

import gettext as gettext_module
from functools import cache
from io import BytesIO
from pathlib import Path

LOCALE = Path(__file__).with_name("locale")
DOMAIN = "gpuledger"

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
    # gettext gives the catalogue's own description for the empty message.
    return translations(current()).gettext(message) if message else ""


@cache
def translations(language: str) -> gettext_module.NullTranslations:
    """The catalogue of a language; that of English is empty, and gives every message back."""
    if language == "en":
        return gettext_module.NullTranslations()
    from babel.messages.mofile import write_mo
    from babel.messages.pofile import read_po

    with (LOCALE / language / "LC_MESSAGES" / f"{DOMAIN}.po").open("rb") as file:
        catalogue = read_po(file, locale=language, domain=DOMAIN)
    compiled = BytesIO()
    write_mo(compiled, catalogue)
    compiled.seek(0)
    return gettext_module.GNUTranslations(compiled)


@cache
def _configured() -> str:
    from gpuledger.flows.setup import settings

    try:
        return settings.load({}).lang
    except settings.SettingsError:
        return "en"
