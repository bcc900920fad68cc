"""What is said of a wrong use: the names that were probably meant, what to write instead, and messages of click.

Translates the messages of errors, of `doctor`, and of refused rows of a person's file into the language in use.

Such a message is made in English where the fault is found: by click, whose own translation needs a compiled catalogue for
the whole process, and by packages that know no language. So this module recognises a message by the template that it was
made from. A part that fills a gap is another such message, or stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

import click

from gpuledger.extract.spelling import names_like
from gpuledger.flows.words.lang import DICTIONARY, ERRORS, N_, Catalogue, current, gettext, translations

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
    known = messages(ERRORS)
    # An error may quote the meaning of an assumption, or its unit.
    if translation := known.get(message) or messages(DICTIONARY).get(message):
        return translation
    if not depth:
        return message
    match = _OF_A_PAGE.fullmatch(message)
    if match:
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


def messages(domain: str) -> dict[str, str]:
    """The messages of a catalogue with their translations into the language in use."""
    catalogue = translations(current(), domain)
    return catalogue.messages if isinstance(catalogue, Catalogue) else {}


@cache
def _templates() -> tuple[tuple[str, tuple[str, ...]], ...]:
    """The templates with gaps, each with the literals between its gaps. Those with most letters come first."""
    split = [
        (template, tuple(_GAP.sub("\0", template).split("\0")))
        for template in {*TEMPLATES, *messages(ERRORS)}
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


def unknown(message: str, word: str, known: Iterable[str], more: str = "") -> str:
    """`message`, then the known names that are close to `word`, or all of them if none is close.

    `more` is a command that lists all names; it is named after the close names.
    """
    names = list(known)
    if close := names_like(word, names):
        text = f"{message}; {did_you_mean(close)}"
        return f"{text} {gettext('`{command}` lists all').format(command=more)}" if more else text
    return f"{message}; {gettext('known are {names}').format(names=', '.join(names))}"


def did_you_mean(names: Iterable[str]) -> str:
    """`did you mean a or b?`"""
    return gettext("did you mean {names}?").format(names=f" {gettext('or')} ".join(names))


def no_source(names: Iterable[str], known: Iterable[str]) -> str:
    """The message about names that are no source's."""
    wrong = list(names)
    message = gettext("no source is called {names}").format(names=", ".join(wrong))
    return unknown(message, wrong[0], known, "gpuledger sources")


def no_command(name: str, known: Iterable[str]) -> str:
    """The message about an unknown command."""
    message = gettext("no command is called {name!r}").format(name=name)
    meant = names_like(name, list(known))
    listed = gettext("`{command}` lists all").format(command="gpuledger --help")
    return (
        f"{message}; {did_you_mean(f'`gpuledger {command}`' for command in meant)} {listed}"
        if meant
        else f"{message}; {listed}"
    )


#: The command that lists the possible values, by the name of an argument or option.
_LISTED_BY = {
    "workload": "workloads", "model_id": "model list", "model": "model list", "source": "sources", "gpu_id": "show CARD",
}  # fmt: skip


#: A number as people write one: `2k`, `$2,000`, `8K`, `1.5M`, `20 tokens/s`.
_WRITTEN = re.compile(r"[$€£₩]?\s*(\d[\d,]*(?:\.\d+)?)\s*(?:([kKmM]?)\b.*|(?i:usd|won|krw|원|달러))")
_EXPONENT = re.compile(r"\d+(?:\.\d+)?[eE]\d")
_TIMES = {"": 1, "k": 1_000, "m": 1_000_000}
_NO_NUMBER = re.compile(r"'(.*)' is not a valid (?:integer|float)(?: range)?\.", re.DOTALL)


def no_number(error: click.UsageError) -> str | None:
    """The message about a text that is no number, with the number that was probably meant; None for other errors."""
    match = _NO_NUMBER.fullmatch(error.message)
    if match is None:
        return None
    message = gettext("{value!r} is no number").format(value=match[1])
    if _EXPONENT.fullmatch(match[1].strip()):
        return f"{message}; {did_you_mean([f'{float(match[1]):.15g}'])}"
    written = _WRITTEN.fullmatch(match[1].strip())
    if written is None:
        return message
    times = _TIMES[(written[2] or "").lower()]
    if isinstance(error, click.BadParameter) and error.param is not None and error.param.name == "context":
        times = {1_000: 1_024}.get(times, times)  # tokens of a context are counted so: 8K are 8192
    number = float(written[1].replace(",", "")) * times
    return f"{message}; {did_you_mean([f'{number:.15g}'])}"


#: Options of other programs, with the option that does the same here.
_OPTIONS = {
    "--csv": "--format csv", "--table": "--format table", "-f": "--format", "-o": "--format", "--output": "--format",
    "--date": "--as-of", "--day": "--as-of", "--on": "--as-of", "--country": "--market", "--language": "--lang",
    "--dir": "--data-dir", "--tokens": "--context", "--gpus": "--count", "--days": "--since",
}  # fmt: skip
#: Names of arguments that some commands take without an option.
_BARE = ("gpu", "card", "model", "workload", "title", "query", "folder", "file", "table", "hash", "source", "name")


def _instead(option: str, command: click.Command, command_path: str) -> str:
    """What to write instead of an unknown option; empty if that is not known."""
    meant = _OPTIONS.get(option, "")
    if meant and any(meant.partition(" ")[0] in parameter.opts for parameter in command.params):
        return f"; {did_you_mean([meant])}"
    if re.fullmatch(r"-[\d.,]+", option):
        return gettext("; a number below zero is no amount here")
    names = {
        parameter.human_readable_name: parameter
        for parameter in command.params
        if isinstance(parameter, click.Argument)
    }
    # --gpu is also the argument CARD.
    word = option.lstrip("-")
    meant_words = (word, {"gpu": "card", "card": "gpu"}.get(word))
    bare = next((name for name in names if name.lower() in _BARE and name.lower() in meant_words), None)
    if bare is None:
        return ""
    return gettext("; {name} stands without an option: `{command} {name}`").format(name=bare, command=command_path)


def _of_the_commands(option: str, group: click.Group, context: click.Context) -> bool:
    """Whether an option that was given before the command belongs behind it, as an option of commands."""
    commands = (group.get_command(context, name) for name in ("price", "refresh"))
    return any(option in parameter.opts for command in commands if command is not None for parameter in command.params)


def _too_much(error: click.UsageError, command: click.Command) -> str:
    """What to do about extra words: they may be parts of one name, a workload, an amount or another card."""
    arguments = [parameter.human_readable_name for parameter in command.params if isinstance(parameter, click.Argument)]
    extra = error.message.partition("(")[2].rstrip(")")
    path = error.ctx.command_path if error.ctx else ""
    if not arguments:
        return gettext("; `{command}` takes no name").format(command=path)
    options = {option for parameter in command.params for option in parameter.opts}
    if "--below" in options and re.fullmatch(r"[$€£₩]?\d[\d.,]*", extra):
        return gettext("; an amount goes behind {option}").format(option="--below")
    if arguments == ["WORKLOAD"] and "-" in extra:
        return gettext("; {name} stands alone: `{command} {name}`").format(name="WORKLOAD", command=path)
    if arguments in (["CARD"], ["GPU"]) and re.fullmatch(r"[A-Za-z]{0,3} ?\d{4}\w*( .*)?", extra):
        return gettext('; one card at a time; a name of several words goes between quotes: "rtx 4090"')
    return gettext('; a name of several words goes between quotes: "rtx 4090"')


def way_out(error: click.UsageError) -> str:
    """The advice after a usage error of click itself, for example which command lists the missing name, or how to quote."""
    command = error.ctx.command if error.ctx else None
    if isinstance(error, click.MissingParameter) and error.param is not None and error.param.name in _LISTED_BY:
        is_text = error.param.name == "source" and isinstance(error.param, click.Option)
        listed = gettext("; `{command}` lists all").format(command=f"gpuledger {_LISTED_BY[error.param.name]}")
        return "" if is_text else listed
    if isinstance(error, click.NoSuchOption) and command is not None:
        if isinstance(command, click.Group) and error.ctx and _of_the_commands(error.option_name, command, error.ctx):
            return gettext("; it goes behind the command: `gpuledger price {option} …`").format(
                option=error.option_name
            )
        return _instead(error.option_name, command, error.ctx.command_path if error.ctx else "")
    if isinstance(error, click.exceptions.NoSuchCommand) and isinstance(command, click.Group) and error.ctx:
        return gettext("; there are {names}").format(names=", ".join(command.list_commands(error.ctx)))
    if "unexpected extra argument" in error.message and command is not None:
        if error.ctx is not None and error.ctx.info_name == "sql":
            return gettext('; the query goes between quotes: "FROM value"')
        return _too_much(error, command)
    return ""
