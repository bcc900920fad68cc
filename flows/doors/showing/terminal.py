"""Standard output and standard error, and the console that draws on them. Data that is printed cannot control a terminal."""

from __future__ import annotations

import json
import os
import re
import sys
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import click

if TYPE_CHECKING:
    from rich.console import Console


# Whole escape sequences (ECMA-48) go first, because what they carry is not text. Strings in them (titles, and links by
# OSC 8) end with BEL or ST.
_SEQUENCES = re.compile(
    r"(?:\x1b\]|\x9d)[^\x07\x1b\x9c\x9d\n]*(?:\x07|\x1b\\|\x9c)"
    r"|(?:\x1b[PX^_]|[\x90\x98\x9e\x9f])[^\x1b\x90\x98\x9c\x9e\x9f\n]*(?:\x1b\\|\x9c)"
    r"|(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"
    r"|\x1b[ -/]*[0-~]"
)
# C0 except tab and new line, DEL, C1; marks, embeddings, overrides and isolates of direction (UAX 9); characters without
# width and meaning here (Unicode's Default_Ignorable_Code_Point, except joiners and the two selectors that choose between
# text and emoji); fillers of Korean syllables; interlinear notes; tags and variations of plane 14, which can spell a second,
# invisible text.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
#: Characters that a clean text never contains. Tab and new line are harmless; the caller decides whether lines stay.
UNSAFE = re.compile(f"{_UNSEEN.pattern}|[\ud800-\udfff]|[\u2028\u2029]")
_LINES = re.compile("[\n\u2028\u2029]+")
_SURROGATES = re.compile("[\ud800-\udfff]")


def clean(text: str, *, keep_lines: bool = False) -> str:
    """`text` without escape sequences, control characters and characters that turn or hide text.

    It is put on one line unless `keep_lines` is set. Half of a character that was cut in two (a lone surrogate) becomes
    U+FFFD, because no file and no terminal accepts it.
    """
    if UNSAFE.search(text):
        text = _SURROGATES.sub("\ufffd", _UNSEEN.sub("", _SEQUENCES.sub("", text)))
    return text.replace("\u2028", "\n").replace("\u2029", "\n") if keep_lines else _LINES.sub(" ", text)


class CleanStream:
    """A text stream that cleans all text before it is written. In all else it behaves as the stream that it wraps."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def write(self, text: str) -> int:
        """Write `text` cleaned. Returns the length of `text` before cleaning. Raises TypeError for bytes."""
        self.stream.write(clean(text, keep_lines=True) if isinstance(text, str) else text)
        return len(text)

    def writelines(self, lines: list[str]) -> None:
        """Write each line, cleaned."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


def clean_streams() -> None:
    """From now on clean everything that this process prints. Only the console of `console` writes past that."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            # The caller closed the stream (`>&-`), so nobody reads it. Printing must not end the program.
            stream = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115  # as long as the process
        if not isinstance(stream, CleanStream):
            if isinstance(stream, TextIOWrapper):
                # A letter that the encoding of the terminal lacks (`₩` in Latin-1) is written by its number.
                stream.reconfigure(errors="backslashreplace")
            setattr(sys, name, CleanStream(stream))


def console(*, stderr: bool = False, width: int | None = None) -> Console:
    """The console that every table, line and bar is drawn with.

    It does not interpret markup or names of emoji in the text, so that a title with square brackets stays as it is.
    It cleans every piece of text before it adds its own colours.
    """
    from collections.abc import Iterable

    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.segment import Segment

    class Clean(Console):
        def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
            for segment in super().render(renderable, options):
                if segment.control or not UNSAFE.search(segment.text):
                    yield segment
                else:
                    yield Segment(clean(segment.text, keep_lines=True), segment.style)

    stream = sys.stderr if stderr else sys.stdout
    file = stream.stream if isinstance(stream, CleanStream) else None
    return Clean(file=file, stderr=stderr, width=width, markup=False, emoji=False, highlight=False)


def is_screen(*, stderr: bool = False) -> bool:
    """Whether a person looks at the output, so that a table is drawn.

    For a pipe, rich decides by the environment variables below. It is only imported if one is set, because its import takes
    a tenth of the time of an answer.
    """
    stream = sys.stderr if stderr else sys.stdout
    if not stream.isatty() and not {"TTY_COMPATIBLE", "FORCE_COLOR"} & os.environ.keys():
        return False
    return console(stderr=stderr).is_terminal


def say(text: str) -> None:
    """Print a sentence. On a screen it is broken between words and keeps its indentation; in a pipe it stays one line."""
    if not sys.stdout.isatty():
        sys.stdout.write(f"{text}\n")
        return
    from rich.padding import Padding
    from rich.text import Text

    unindented = text.lstrip(" ")
    console().print(Padding(Text(unindented), (0, 0, 0, len(text) - len(unindented)), expand=False))


def json_text(value: object, **options: Any) -> str:
    """`value` as JSON for a program. Unsafe characters are written as escapes, so that nothing is lost."""
    return _ESCAPED.sub(_escape, json.dumps(value, ensure_ascii=False, **options))


class Collected:
    """The `obj` of a command's context whose caller in this process takes the answer, and what is said beside it."""

    def __init__(self) -> None:
        self.answer: Any = None
        self.beside: list[str] = []


def aside(text: str) -> None:
    """Say something beside the answer: on standard error, or to the caller in this process that collects it."""
    if (collector := collected()) is None:
        click.echo(text, err=True)
    else:
        collector.beside.append(text)


def give(answer: object) -> None:
    """Print an answer for programs as JSON, or hand it to the caller in this process that collects it."""
    from gpuledger.warehouse.outputs.answer import plain

    text = json_text(answer, default=plain, indent=1)
    if (collector := collected()) is None:
        click.echo(text)
    else:
        collector.answer = json.loads(text)


def collected() -> Collected | None:
    """Who collects the answer of the command that runs, None if it is printed."""
    context = click.get_current_context(silent=True)
    return None if context is None else context.find_object(Collected)


#: Unsafe characters in JSON text, except a raw new line: that is layout and never data.
_ESCAPED = re.compile(f"(?!\n)(?:{UNSAFE.pattern})")


def _escape(letter: re.Match[str]) -> str:
    code = ord(letter[0])
    if code < 0x10000:
        return f"\\u{code:04x}"
    code -= 0x10000
    return f"\\u{0xD800 + (code >> 10):04x}\\u{0xDC00 + (code & 0x3FF):04x}"
