"""`gpuledger release`: let held prices pass."""

from __future__ import annotations

import click

from gpuledger.flows.commands._options import data_dir_option, data_of
from gpuledger.flows.setup.lang import gettext


@click.command()
@click.argument("listings", nargs=-1)
@click.option("--all", "every", is_flag=True, help="Every price that is held now.")
@click.option("--reason", default="", help="Why it may pass; kept with the decision.")
@data_dir_option
def command(listings: tuple[str, ...], every: bool, reason: str, data_dir: str | None) -> None:
    """List the prices that are held, or let those of LISTINGS pass at the next run.

    A decision is for one listing at one price, and is kept with its date and reason in decisions/releases.jsonl.
    """
    from gpuledger.flows.commands._show import show
    from gpuledger.flows.setup import decisions
    from gpuledger.warehouse.read import query

    data = data_of(data_dir)
    columns, rows = query(
        data,
        """SELECT h.listing_id, coalesce(l.title, h.reason) AS title, h.price, h.currency, h.reason, h.held_at, h.times_held
           FROM core.held_price h LEFT JOIN core.listing l USING (listing_id) ORDER BY h.listing_id""",
    )
    if not listings and not every:
        show(columns, rows, "table", title=gettext("Held prices"))
        return
    held = {row[0]: row for row in rows}
    unknown = sorted(set(listings) - held.keys())
    if unknown:
        message = gettext("no price is held of {listings}; `gpuledger release` lists those that are")
        raise click.UsageError(message.format(listings=", ".join(unknown)))
    for listing in held if every else listings:
        _, title, price, currency, *_ = held[listing]
        if price is None:
            click.echo(
                gettext("{listing}: the page shows no price, so there is none to release").format(listing=listing)
            )
            continue
        decisions.release(data, listing, price, currency, reason)
        words = gettext("{listing} ({title}) may pass at {price} {currency} from the next run on")
        click.echo(words.format(listing=listing, title=title, price=price, currency=currency))
