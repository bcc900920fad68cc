"""`gpuledger changes`: what changed at the shops."""

from __future__ import annotations

from datetime import datetime

import click

from gpuledger.flows.asking import complete
from gpuledger.flows.asking.day import day
from gpuledger.flows.asking.options import Whole, data_dir_option, format_option, read_from
from gpuledger.flows.words.lang import gettext

#: Headings by column, in the order in which a narrow screen keeps the columns.
_HEADINGS = {
    "gpu": "gpu", "new_price": "after", "old_price": "before", "change": "change", "currency": "currency", "shop": "shop",
    "changed_at": "when", "change_ratio": "by", "title": "title",
}  # fmt: skip


@click.command()
@click.argument("card", required=False, shell_complete=complete.cards)
@click.option("--since", type=day, metavar="DAY", help="From the start of this day on (UTC).")
@click.option("--limit", type=Whole(0), default=40, show_default=True, help="How many; 0 for all.")
@data_dir_option
@format_option
def command(card: str | None, since: datetime | None, limit: int, data_dir: str | None, form: str) -> int:
    """Prices that moved, listings that came or went, the newest first; of one CARD where it is given."""
    from gpuledger.flows.asking import card_names
    from gpuledger.flows.showing.show import no_rows, show_rows
    from gpuledger.transform.answers.changes import changes

    data = read_from(data_dir)
    cards = None if card is None else card_names.gpu_ids(data, card)
    columns, rows = changes(data, since.date() if since else None, cards, limit or None)
    show_rows(columns, rows, form, title=gettext("What changed"), headings=_HEADINGS)
    return 0 if rows else no_rows(gettext("nothing changed in that time"))
