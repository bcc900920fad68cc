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
    from gpuledger.transform.answers.held import held

    data = data_of(data_dir)
    prices = {price.listing_id: price for price in held(data)}
    if not listings and not every:
        rows = [
            (p.listing_id, p.title, p.price, p.currency, p.reason, p.bound or "", p.held_at, p.times_held)
            for _, p in sorted(prices.items())
        ]
        columns = ["listing_id", "title", "price", "currency", "reason", "bound", "held_at", "times_held"]
        show(columns, rows, "table", title=gettext("Held prices"))
        return
    unknown = sorted(set(listings) - prices.keys())
    if unknown:
        message = gettext("no price is held of {listings}; `gpuledger release` lists those that are")
        raise click.UsageError(message.format(listings=", ".join(unknown)))
    for listing in sorted(prices) if every else listings:
        one = prices[listing]
        if one.price is None or one.currency is None:
            click.echo(
                gettext("{listing}: the page shows no price, so there is none to release").format(listing=listing)
            )
            continue
        decisions.release(data, listing, one.price, one.currency, reason)
        words = gettext("{listing} ({title}) may pass at {price} {currency} from the next run on")
        click.echo(words.format(listing=listing, title=one.title, price=one.price, currency=one.currency))
