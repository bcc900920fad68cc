"""Translates the messages of errors, of `doctor`, and of refused rows of a person's file into the language in use.

Such a message is made in English where the fault is found: by click, whose own translation needs a compiled catalogue for
the whole process, and by packages that know no language. So this module recognises a message by the template that it was
made from. A part that fills a gap is another such message, or stays as it is.
"""

from __future__ import annotations

import re
from functools import cache

from gpuledger.extract import errors as page_errors
from gpuledger.flows.words.lang import DICTIONARY, ERRORS, Catalogue, current, gettext, translations
from gpuledger.flows.words.sentences import N_

#: The templates of click's messages. Those of our own errors are only in the catalogue: a test collects them from the code
#: and requires a Korean translation of each.
TEMPLATES = (
    N_("Invalid value for {name}: {what}"),
    N_("Invalid value: {what}"),
    N_("Missing argument {name}. {what}"),
    N_("Missing argument {name}."),
    N_("Missing option {name}. {what}"),
    N_("Missing option {name}."),
    N_("No such option {name}. {what}"),
    N_("No such option {name}."),
    N_("No such command {name}. {what}"),
    N_("No such command {name}."),
    N_("Missing command."),
    N_("(Did you mean one of: {names}?)"),
    N_("Did you mean {name}?"),
    N_("Choose from: {names}"),
    N_("Option {name} requires an argument."),
    N_("Option {name} requires {count} arguments."),
    N_("Option {name} does not take a value."),
    N_("Argument {name} takes {count} values."),
    N_("Got unexpected extra argument ({names})"),
    N_("Got unexpected extra arguments ({names})"),
    N_("{value} is not one of {names}."),
    N_("{value} is not in the range {range}."),
    N_("{value} does not match the format {format}."),
    N_("{value} does not match the formats {formats}."),
    N_("{value} is not a valid integer."),
    N_("{value} is not a valid float."),
    N_("File {name} does not exist."),
    N_("File {name} is a directory."),
    N_("File {name} is not readable."),
    N_("Directory {name} does not exist."),
    N_("Directory {name} is a file."),
    N_("Could not open file {name}: {why}"),
)


def translated(message: str, depth: int = 3) -> str:
    """A known message in the language in use, with the parts that fill its gaps, `depth` deep; any other text as it is.

    The text in a gap may come from a stranger. So it takes time in proportion to its length, and a bounded number of nested
    calls.
    """
    if current() == "en" or not message or len(message) > _LONGEST_MESSAGE:
        return message
    known = errors()
    # An error may quote the meaning of an assumption, or its unit.
    if translation := known.get(message) or dictionary().get(message):
        return translation
    if not depth:
        return message
    match = _OF_A_PAGE.fullmatch(message)
    if match and hasattr(page_errors, match["kind"]):
        return f"{match['kind']}: {match['url']}: {_seen_and_way_out(match['rest'], depth - 1)}"
    for template, literals in _templates():
        if (filled := _filled(literals, message)) is not None:
            figures = [translated(figure, depth - 1) for figure in filled]
            names = _GAP.findall(template)
            translation = known.get(template) or gettext(template)
            return translation.format(*figures, **dict(zip(names, figures, strict=True)))
    if "\n" in message:
        lines = message.split("\n")
        return "\n".join(
            line[: len(line) - len(line.lstrip())] + translated(line.lstrip(), depth - 1) for line in lines
        )
    return message


#: The form of an error about a page (extract.errors): its class, the address, what was seen; what to do.
_OF_A_PAGE = re.compile(r"(?P<kind>[A-Z][A-Za-z]+): (?P<url>\S+): (?P<rest>.+)", re.DOTALL)
_GAP = re.compile(r"\{(\w+)\}")
#: More semicolons than any of our ways out has.
_MOST_SEMICOLONS = 4
#: Characters of the longest text that is looked up. A longer text lists a stranger's words and is no message of ours.
_LONGEST_MESSAGE = 20_000


def _seen_and_way_out(text: str, depth: int) -> str:
    """The translation of what was seen and of the way out.

    Each of them may contain semicolons. The first one after which a way out is known separates them; only the last few are
    tried.
    """
    parts = text.split("; ")
    for number in range(max(1, len(parts) - _MOST_SEMICOLONS), len(parts)):
        way_out = "; ".join(parts[number:])
        if (action := translated(way_out, depth)) != way_out:
            return f"{translated('; '.join(parts[:number]), depth)}; {action}"
    return translated(text, depth)


def errors() -> dict[str, str]:
    """The messages of errors with their translations into the language in use."""
    catalogue = translations(current(), ERRORS)
    return catalogue.messages if isinstance(catalogue, Catalogue) else {}


def dictionary() -> dict[str, str]:
    """The texts of the data dictionary with their translations into the language in use."""
    catalogue = translations(current(), DICTIONARY)
    return catalogue.messages if isinstance(catalogue, Catalogue) else {}


@cache
def _templates() -> tuple[tuple[str, tuple[str, ...]], ...]:
    """The templates with gaps, each with the literals between its gaps. Those with most letters come first."""
    split = [
        (template, tuple(_GAP.sub("\0", template).split("\0")))
        for template in {*TEMPLATES, *errors()}
        if _GAP.search(template)
    ]
    return tuple(sorted(split, key=lambda each: (-sum(map(len, each[1])), each[0])))


def _filled(literals: tuple[str, ...], message: str) -> list[str] | None:
    """The parts of `message` between the literals of a template, each as short as possible; None if they do not match.

    It takes one pass. A regular expression with so many lazy gaps would backtrack for hours in a text that repeats the
    literals.
    """
    first, *inner, last = literals
    end = len(message) - len(last)
    if end < len(first) or not (message.startswith(first) and message.endswith(last)):
        return None
    at, filled = len(first), []
    for literal in inner:
        position = message.find(literal, at, end)
        if position < 0:
            return None
        filled.append(message[at:position])
        at = position + len(literal)
    return [*filled, message[at:end]]
