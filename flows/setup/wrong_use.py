"""What is said of a wrong use and of a row of a person's file, in the language in use.

Such a sentence is made where the fault is found, in English: by click, whose own way to other languages is a compiled
catalogue of the whole process, and in rooms that know no language. So it is known again by the text that it was made from,
and what stands in its gaps stays as it is.
"""

from __future__ import annotations

import re
from functools import cache

from gpuledger.flows.setup.lang import current, gettext
from gpuledger.flows.setup.sentences import N_

#: The texts that the sentences are made from, click's first; what stands for `{what}` is one of them too. The more
#: particular ones come first.
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
    # ours
    N_(
        "no warehouse in {folder} yet: run `gpuledger refresh --sample` first for one of invented prices, "
        "`gpuledger refresh` for one of real ones, or name another --data-dir"
    ),
    N_("give one of --below, --value-rank, --new-low, or --fits with --below"),
    N_("name the card to watch"),
    N_("--value-rank and --workload go together, and so do --fits and --below"),
    N_("--below goes with --fits or alone"),
    N_("no notification target is set: put Apprise addresses in GPULEDGER_NOTIFY_URLS"),
    N_("{text} is no amount such as 1500"),
    N_("an amount must be above zero, not {text}"),
    N_("{text} is no number of days such as 90d"),
    N_("{text} is no number such as 28.923"),
    N_("a score must be above zero, not {text}"),
    N_("--assume needs NAME=VALUE, not {text}"),
    N_("{file} has no name of its own: give one with --id"),
    N_("--night is a night of the sample site: give --sample with it"),
    N_("--until {text} is not a time such as 2026-11-20 or 2026-11-20T03:00:00Z"),
    N_("give titles, or - to read them from standard input, one a line"),
    N_("give FILE, or a picture with --from-chart"),
    N_("--from-chart needs {name}"),
    # extract/sources/quotes
    N_("the row has {count} prices: {names}"),
    N_("there is no product"),
    N_("the currency is {currency} in its column and {other} in the name of the price column"),
    N_("the currency {text} is none that is known for sure: write its ISO code, such as USD or KRW"),
    N_("the price {text} is no number"),
    N_("there is no price (a formula must be saved with its value)"),
    N_("the price {text} stands in brackets, as accountants write what is below zero"),
    N_("the price {text} has no currency: add a column 'currency' or write it beside the amount"),
    N_("the price {text} is in {currency}, its row or column says {other}"),
    N_("the price {text} cannot be told: {what}"),
    N_("the price {text} is no amount above zero"),
    N_("the price {text} is a {kind} price, not that of one piece"),
    N_("the condition {text} is not known: write new, used, refurbished or open box"),
    N_("the tax {text} is not known: write included or excluded"),
    N_("the market {text} is not known: write a country's code, such as US, KR or DE, or EU"),
    N_("the quantity {text} is no whole number of pieces"),
    N_("the date {text}… is none: write it as 2024-01-31"),
    N_("the date {text} is none that is clear: write it as 2024-01-31"),
    N_("the file has {count} prices for this product, condition and quantity: {names}"),
    N_("{text} is a sum, a tax or a charge, and no product"),
    N_("the price {text} has a sign of several currencies: add a column 'currency' with USD, CAD …"),
    N_("the price is of one {text}, not of one piece: write the price of a piece, and EA as its unit"),
    N_("the row repeats another one"),
)


def said(message: str) -> str:
    """A sentence that is known here in the language in use; any other as it is."""
    if current() == "en":
        return message
    for template, pattern in _patterns():
        if found := pattern.fullmatch(message):
            figures = {name: said(text) if name == "what" else text for name, text in found.groupdict().items()}
            return gettext(template).format(**figures)
    return message


@cache
def _patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple(
        (one, re.compile(re.sub(r"\\{(\w+)\\}", r"(?P<\1>.+?)", re.escape(one)), re.DOTALL)) for one in TEMPLATES
    )
