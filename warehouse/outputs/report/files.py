"""The report: one HTML file to look at, print or mail. It needs no other file and makes no request.

The page holds its data as JSON, its scripts and its chart library. A browser runs only those scripts, as the page names
their hashes, and requests no other address, as the page forbids that. The file depends only on the arguments: equal
contents give equal bytes.
"""

from __future__ import annotations

import base64
import gettext as gettext_module
import hashlib
import json
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from gpuledger import local_files
from gpuledger.message import Sum, Words, said

NAME = "index.html"
ROOM = Path(__file__).parent
#: Both in the order in which they run. vendor/libraries.toml has the versions and hashes of the libraries.
LIBRARIES = ("vendor/d3.min.js", "vendor/plot.umd.min.js")
SCRIPTS = ("app/core.js", "app/grid.js", "app/charts.js", "app/pages.js", "app/main.js")


def export(
    contents: Mapping[str, Any],
    folder: Path,
    *,
    language: str = "en",
    translations: Mapping[str, gettext_module.NullTranslations] | None = None,
) -> list[Path]:
    """Write the page to `<folder>/index.html`, and return its path.

    It opens in `language` (ISO 639) and can be switched to each of `translations`. Raises OSError.
    """
    return [local_files.write_text(folder / NAME, render(contents, language, translations or {}))]


def render(
    contents: Mapping[str, Any],
    language: str,
    translations: Mapping[str, gettext_module.NullTranslations],
) -> str:
    """The page as HTML."""
    environment = Environment(
        loader=FileSystemLoader(ROOM), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True,
        extensions=["jinja2.ext.i18n"],
    )  # fmt: skip
    environment.policies["json.dumps_kwargs"] = {"ensure_ascii": False, "separators": (",", ":"), "allow_nan": False}
    own = translations.get(language) or gettext_module.NullTranslations()
    environment.install_gettext_callables(own.gettext, own.ngettext, newstyle=True)  # type: ignore[attr-defined]  # an extension adds it
    scripts = [_text(name) for name in (*LIBRARIES, *SCRIPTS)]
    return environment.get_template("page.html").render(
        contents={name: part for name, part in contents.items() if name != "messages"},
        words=_words(
            [*of_scripts(scripts[len(LIBRARIES) :]), *_translatable_texts(contents)],
            language,
            translations,
        )
        | {
            "said": {
                code: [
                    said(message, Words(_Marked, of.gettext, of.gettext)) for message in contents.get("messages", ())
                ]
                for code, of in {"en": gettext_module.NullTranslations(), **translations}.items()
            },
        },
        language=language,
        style=Markup(_text("style.css")),
        scripts=[Markup(script) for script in scripts],
        script_hashes=Markup(" ".join(f"'sha256-{_hash(script)}'" for script in scripts)),
    )


class _Marked(Sum):
    """A sum in a sentence as the page reads it: dollars between marks, which it shows in the currency in use."""

    def __init__(self, amount: Sum) -> None:
        super().__init__(amount.amount, amount.currency, amount.exact)

    def __format__(self, spec: str) -> str:
        return f"⟦{self.amount:.{2 if self.exact or spec.endswith('.2f') else 0}f}⟧"


def _words(
    own: Sequence[str], language: str, translations: Mapping[str, gettext_module.NullTranslations]
) -> dict[str, Any]:
    """The languages, the texts for the codes of the warehouse, and the translations of every text of the page: of its `own`
    texts and of those for codes, into each language but English.
    """
    english = tomllib.loads(_text("codes.toml"))
    texts = [*own, *(text for vocabulary in english.values() for text in vocabulary.values())]

    def translated(gettext: Callable[[str], str]) -> dict[str, str]:
        return {text: own for text in sorted(set(texts)) if (own := gettext(text)) != text}

    return {
        "language": language,
        "languages": ["en", *(code for code in translations if code != "en")],
        "values": english,
        "translations": {code: translated(own.gettext) for code, own in translations.items() if code != "en"},
    }


#: A text in the scripts: `_("…")`, with the text in the form of a JSON string.
_TEXT = re.compile(r'\b_\(("(?:[^"\\\n]|\\.)*")')


def of_scripts(scripts: Iterable[str]) -> list[str]:
    """Every text that the scripts have translated."""
    return sorted({json.loads(text) for script in scripts for text in _TEXT.findall(script)})


#: Columns of the contents that hold names and texts of the program itself.
_TRANSLATABLE = (
    ("workloads", "workload"), ("workloads", "description"), ("markets", "tax_name"), ("cards", "hint_reason"),
    ("titles", "title"),
)  # fmt: skip


def _translatable_texts(contents: Mapping[str, Any]) -> list[str]:
    """The texts of the contents that have translations."""
    texts = []
    for name, column in _TRANSLATABLE:
        table = contents.get(name) or {"columns": [], "rows": []}
        if column in table["columns"]:
            place = table["columns"].index(column)
            texts += [row[place] for row in table["rows"] if row[place]]
    return texts


def _text(name: str) -> str:
    return (ROOM / name).read_text(encoding="utf-8")


def _hash(script: str) -> str:
    """The SHA-256 of a script in the form of a Content-Security-Policy."""
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
