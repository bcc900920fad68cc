"""What errors, `doctor` and a refusal of a row of a person's file say, in the language in use.

Such a sentence is made where the fault is found, in English: by click, whose own way to other languages is a compiled
catalogue of the whole process, and in rooms that know no language. So it is known again by the text that it was made from;
what stands in its gaps is another such sentence, or stays as it is.
"""

from __future__ import annotations

import re
from functools import cache

from gpuledger.extract import errors as page_errors
from gpuledger.flows.setup.lang import DICTIONARY, ERRORS, Catalogue, current, gettext, translations
from gpuledger.flows.setup.sentences import N_

#: The texts that click makes its sentences from. Those of our own errors are read off the code by the test that asks for
#: their Korean, and stand in the catalogue alone.
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


def said(message: str, depth: int = 3) -> str:
    """A sentence that is known here in the language in use, and so what it fills in, `depth` deep; any other as it is.

    What stands in a gap may be a stranger's: it costs time in step with its length, and no deeper calls however it nests.
    """
    if current() == "en" or not message or len(message) > _MOST_SAID:
        return message
    known = errors()
    # An error may quote the meaning of an assumption, or its unit.
    if words := known.get(message) or dictionary().get(message):
        return words
    if not depth:
        return message
    found = _OF_A_PAGE.fullmatch(message)
    if found and hasattr(page_errors, found["kind"]):
        return f"{found['kind']}: {found['url']}: {_seen_and_way_out(found['rest'], depth - 1)}"
    for template, literals in _templates():
        if (filled := _filled(literals, message)) is not None:
            figures = [said(figure, depth - 1) for figure in filled]
            names = _GAP.findall(template)
            words = known.get(template) or gettext(template)
            return words.format(*figures, **dict(zip(names, figures, strict=True)))
    if "\n" in message:
        lines = message.split("\n")
        return "\n".join(line[: len(line) - len(line.lstrip())] + said(line.lstrip(), depth - 1) for line in lines)
    return message


#: How an error of a page is written (extract.errors): its class, the address, what was seen; what to do.
_OF_A_PAGE = re.compile(r"(?P<kind>[A-Z][A-Za-z]+): (?P<url>\S+): (?P<rest>.+)", re.DOTALL)
_GAP = re.compile(r"\{(\w+)\}")
#: More than a way out of ours has.
_MOST_SEMICOLONS = 4
#: Characters of the longest text that is looked up; one that is longer lists a stranger's words, and no sentence of ours.
_MOST_SAID = 20_000


def _seen_and_way_out(text: str, depth: int) -> str:
    """Either may hold a semicolon itself: the first one counts behind which a way out is known, of the last few."""
    parts = text.split("; ")
    for number in range(max(1, len(parts) - _MOST_SEMICOLONS), len(parts)):
        way_out = "; ".join(parts[number:])
        if (action := said(way_out, depth)) != way_out:
            return f"{said('; '.join(parts[:number]), depth)}; {action}"
    return said(text, depth)


def errors() -> dict[str, str]:
    """What the language in use says for the sentences of errors."""
    words = translations(current(), ERRORS)
    return words.messages if isinstance(words, Catalogue) else {}


def dictionary() -> dict[str, str]:
    """What the language in use says for the words of the data dictionary."""
    words = translations(current(), DICTIONARY)
    return words.messages if isinstance(words, Catalogue) else {}


@cache
def _templates() -> tuple[tuple[str, tuple[str, ...]], ...]:
    """The texts with gaps and what stands between those, the one that says most first."""
    split = [(one, tuple(_GAP.sub("\0", one).split("\0"))) for one in {*TEMPLATES, *errors()} if _GAP.search(one)]
    return tuple(sorted(split, key=lambda each: (-sum(map(len, each[1])), each[0])))


def _filled(literals: tuple[str, ...], message: str) -> list[str] | None:
    """What stands between the literals of a text in `message`, each gap as short as it can be; None where they do not fit.

    One pass: a pattern of as many lazy gaps goes back and forth for hours in a text that repeats the literals.
    """
    first, *inner, last = literals
    end = len(message) - len(last)
    if end < len(first) or not (message.startswith(first) and message.endswith(last)):
        return None
    at, filled = len(first), []
    for literal in inner:
        found = message.find(literal, at, end)
        if found < 0:
            return None
        filled.append(message[at:found])
        at = found + len(literal)
    return [*filled, message[at:end]]
