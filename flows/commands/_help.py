"""Help in the language in use: headings, paragraphs, options and lists of commands, in lines that fit the terminal.

The texts stay where click takes them from, docstrings and `help=`; each paragraph is a message of the catalogue. Click
counts letters where it breaks lines, and a Korean one takes two cells, so lines are broken here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import click

from gpuledger.flows.commands._table import cell_width, wrapped
from gpuledger.flows.setup.lang import gettext

#: By which click knows a paragraph whose lines stay as they are, such as an example.
_AS_IT_IS = "\b"
#: What click puts behind the text of an option: "[default: 10; 0<=x<=20; required]".
_EXTRA = re.compile(r"(?:(?P<text>.*)  )?\[(?P<extra>[^\]]+)\]", re.DOTALL)


class _Formatter(click.HelpFormatter):
    """Click's layout, with the words of the language in use."""

    def write_usage(self, prog: str, args: str = "", prefix: str | None = None) -> None:
        said = prefix or gettext("Usage") + ": "
        whole = self.width
        self.width -= cell_width(said) - len(said)
        super().write_usage(prog, args, said)
        self.width = whole

    def write_heading(self, heading: str) -> None:
        super().write_heading(gettext(heading))

    def write_text(self, text: str) -> None:
        width = self.width - self.current_indent
        super().write_text("\n\n".join(_lines(one, width) for one in text.split("\n\n")))

    def write_dl(self, rows: Iterable[tuple[str, str]], col_max: int = 30, col_spacing: int = 2) -> None:
        listed = list(rows)
        first = min(max(len(name) for name, _ in listed), col_max) + col_spacing
        width = max(self.width - first - self.current_indent, 10)
        super().write_dl([(name, _row(text, width)) for name, text in listed], col_max, col_spacing)


class _Context(click.Context):
    formatter_class = _Formatter


def in_the_language(command: click.Command) -> click.Command:
    """`command`, and all commands below it, with their help in the language in use.

    A list of commands shows the first paragraph of each, which is one sentence; click cuts it where the line ends.
    """
    command.context_class = _Context
    command.short_help = _words((command.help or "").partition("\n\n")[0])
    if isinstance(command, click.Group):
        for below in command.commands.values():
            in_the_language(below)
    return command


def _lines(paragraph: str, width: int) -> str:
    if paragraph.startswith(_AS_IT_IS):
        return paragraph
    return f"{_AS_IT_IS}\n{wrapped(gettext(_words(paragraph)), width)}"


def _row(text: str, width: int) -> str:
    found = _EXTRA.fullmatch(text)
    said = gettext(_words(found["text"] or "" if found else text))
    extra = "; ".join(map(_extra, found["extra"].split("; "))) if found else ""
    return _AS_IT_IS + "\n" + wrapped(f"{said} [{extra}]" if extra else said, width)


def _extra(text: str) -> str:
    """What is said of an option beside its help: its default, that it is required, or its range, which needs no words."""
    name, _, value = text.partition(": ")
    if value and name == "default":
        return gettext("default: {default}").format(default=value)
    return gettext("required") if text == "required" else text


def _words(text: str) -> str:
    return " ".join(text.split())
