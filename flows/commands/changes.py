"""`gpuledger changes`: what changed at the shops."""

from __future__ import annotations

from datetime import datetime

import click

from gpuledger.flows.doors.asking.options import Whole, data_dir_option, day, format_option, read_from
from gpuledger.flows.words.lang import gettext


@click.command()
@click.argument("card", required=False)
@click.option("--since", type=day, metavar="DAY", help="From the start of this day on (UTC).")
@click.option("--limit", type=Whole(0), default=40, show_default=True, help="How many; 0 for all.")
@data_dir_option
@format_option
def command(card: str | None, since: datetime | None, limit: int, data_dir: str | None, form: str) -> int:
    """Prices that moved, listings that came or went, the newest first; of one CARD where it is given."""
    from gpuledger.flows.doors.asking import card_names
    from gpuledger.flows.doors.showing.show import no_rows, show
    from gpuledger.transform.answers.changes import changes

    data = read_from(data_dir, as_one=True)
    cards = None if card is None else card_names.gpu_ids(data, card)
    answer = changes(data, since.date() if since else None, cards, limit or None)
    show(answer.under(gettext("What changed")), form)
    return 0 if answer.rows else no_rows(gettext("nothing changed in that time"))
