"""Help in the language in use: headings, paragraphs, options and lists of commands, in lines that fit the terminal.

Click takes the texts from docstrings and `help=`. Each paragraph of them is a message of the translation catalogue. Lines
are broken here and not by click, which counts letters: a Korean letter takes two cells of the terminal.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import click

from gpuledger.flows.showing.table import cell_width, wrapped
from gpuledger.flows.words.lang import gettext

#: Click's mark for a paragraph whose lines stay as they are, such as an example.
_AS_IT_IS = "\b"
#: The text of an option with what click puts behind it: "[default: 10; 0<=x<=20; required]".
_EXTRA = re.compile(r"(?:(?P<text>.*)  )?\[(?P<extra>[^\]]+)\]", re.DOTALL)


class _Formatter(click.HelpFormatter):
    """Click's layout, with the words of the language in use."""

    def write_usage(self, prog: str, args: str = "", prefix: str | None = None) -> None:
        heading = prefix or gettext("Usage") + ": "
        full_width = self.width
        self.width -= cell_width(heading) - len(heading)
        super().write_usage(prog, args, heading)
        self.width = full_width

    def write_heading(self, heading: str) -> None:
        super().write_heading(gettext(heading))

    def write_text(self, text: str) -> None:
        width = self.width - self.current_indent
        super().write_text("\n\n".join(_lines(paragraph, width) for paragraph in text.split("\n\n")))

    def write_dl(self, rows: Iterable[tuple[str, str]], col_max: int = 30, col_spacing: int = 2) -> None:
        listed = list(rows)
        first = min(max(len(name) for name, _ in listed), col_max) + col_spacing
        width = max(self.width - first - self.current_indent, 10)
        super().write_dl([(name, _row(text, width)) for name, text in listed], col_max, col_spacing)


class _Context(click.Context):
    formatter_class = _Formatter


def in_the_language(command: click.Command) -> click.Command:
    """Make the help of `command`, and of all commands below it, appear in the language in use. Returns `command`.

    A list of commands shows the first paragraph of each, which is one sentence. Click alone would cut it at the end of the
    line.
    """
    command.context_class = _Context
    command.short_help = _one_line((command.help or "").partition("\n\n")[0])
    if isinstance(command, click.Group):
        for below in command.commands.values():
            in_the_language(below)
    return command


def _lines(paragraph: str, width: int) -> str:
    if paragraph.startswith(_AS_IT_IS):
        return paragraph
    return f"{_AS_IT_IS}\n{wrapped(gettext(_one_line(paragraph)), width)}"


def _row(text: str, width: int) -> str:
    match = _EXTRA.fullmatch(text)
    translated = gettext(_one_line(match["text"] or "" if match else text))
    extra = "; ".join(map(_extra, match["extra"].split("; "))) if match else ""
    return _AS_IT_IS + "\n" + wrapped(f"{translated} [{extra}]" if extra else translated, width)


def _extra(text: str) -> str:
    """One note on an option, translated: its default, that it is required, or its range, which has no words to translate."""
    name, _, value = text.partition(": ")
    if value and name == "default":
        return gettext("default: {default}").format(default=value)
    return gettext("required") if text == "required" else text


def _one_line(text: str) -> str:
    return " ".join(text.split())
