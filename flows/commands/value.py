"""`gpuledger value`: which cards give the most score for the money."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

import click

from gpuledger.flows.doors.asking.options import (
    as_of_option,
    currency_option,
    data_dir_option,
    day_of,
    format_option,
    market_option,
    read_from,
)  # fmt: skip
from gpuledger.flows.doors.showing import chosen, terminal
from gpuledger.flows.words.lang import gettext

if TYPE_CHECKING:
    from gpuledger.transform.answers.value import Basis


@click.command()
@click.argument("workload")
@click.option("--price", "basis", type=click.Choice(["street", "msrp"]), default="street", show_default=True,
              help="Lowest price of a new card in a shop now, or launch price.")  # fmt: skip
@as_of_option
@market_option
@currency_option
@data_dir_option
@format_option
def command(workload: str, basis: Basis, as_of: datetime | None, data_dir: str | None, form: str) -> int:
    """GPUs by score per dollar in WORKLOAD, best value first."""
    from gpuledger.flows.doors.asking import workload_names
    from gpuledger.flows.doors.showing.money import money, price_heading, prices_heading
    from gpuledger.flows.doors.showing.show import no_rows, show
    from gpuledger.transform.answers.value import Scope, published_after, value

    data = read_from(data_dir, as_one=True)
    workload, heading = workload_names.check(data, workload)
    day = day_of(data, as_of)
    currency = money(data, day)
    answer = value(data, workload, basis, Scope(day, chosen.market()))
    if basis == "street":
        basis_words = f"{gettext('by street price')} · {prices_heading(data, day)}"
    else:
        basis_words = f"{gettext('by launch price')} · {workload_names.when(data, as_of)}"
    title = currency.title(f"{heading} · {basis_words}")
    show(answer.under(title, price_usd=price_heading(data, day)), form, currency=currency)
    if not answer.rows:
        return no_rows(_why(basis))
    if form == "table":
        terminal.say(gettext("● nobody else is at least as fast for no more money. Ratios are to the baseline GPU."))
        if day and (later := published_after(data, workload, day)):
            note = gettext("Some of the figures were published later, up to {day}; the prices are those of the day.")
            terminal.say(note.format(day=later))
    return 0


def _why(basis: Basis) -> str:
    """Why no card is in the table."""
    if basis == "msrp":
        return gettext("no card with a figure in this workload has a launch price in the catalogue")
    if chosen.market() == "all":
        return gettext(
            "no card with a figure in this workload has a price that counts; `gpuledger price` has those that do"
        )
    return gettext(
        "no card with a figure in this workload has a price that counts in this market; `--market all` compares every "
        "market, and `gpuledger price` says what was left out and why"
    )
