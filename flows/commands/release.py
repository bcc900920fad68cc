"""`gpuledger release`: let held prices pass, or confirm that the rows that a source shows are all that it has."""

from __future__ import annotations

import click

from gpuledger.flows.doors.asking.options import data_dir_option, data_of
from gpuledger.flows.words.lang import gettext
from gpuledger.transform.answers.trust.held import HeldPrice
from gpuledger.warehouse.paths import DataDir


@click.command()
@click.argument("listings", nargs=-1)
@click.option("--all", "every", is_flag=True, help="Every price that is held now.")
@click.option(
    "--source", "sources", multiple=True, metavar="S",
    help="Release all held prices of source S. If S is degraded or a column of it is empty, this also confirms that what it "
    "shows is all that it has.",
)  # fmt: skip
@click.option("--reason", default="", help="Why it may pass; kept with the decision.")
@data_dir_option
def command(
    listings: tuple[str, ...], every: bool, sources: tuple[str, ...], reason: str, data_dir: str | None
) -> None:
    """List the held prices, or let the prices of LISTINGS pass at the next run.

    A decision on a listing counts for its present price only. A decision on a source counts for its present number of rows:
    listings that the source no longer shows end with the next run, and that many rows are usual from then on. Decisions are
    kept with date and reason in decisions/releases.toml.
    """
    from gpuledger.flows.decisions.releases import RELEASES, Release
    from gpuledger.flows.doors.showing.show import show_rows
    from gpuledger.flows.night.context import utc_now
    from gpuledger.transform.answers.trust.held import degraded, held

    data = data_of(data_dir)
    prices = {price.listing_id: price for price in held(data)}
    degraded_by_name = {source.source: source for source in degraded(data)}
    if not listings and not every and not sources:
        rows = [
            (p.listing_id, p.title, p.price, p.currency, p.reason, p.bound or "", p.held_at, p.times_held)
            for _, p in sorted(prices.items())
        ]
        columns = ["listing_id", "title", "price", "currency", "reason", "bound", "held_at", "times_held"]
        show_rows(columns, rows, "table", title=gettext("Held prices"), if_empty=gettext("no price is held"))
        if degraded_by_name:
            degraded_rows = [(source.source, source.rows, source.reason) for source in degraded_by_name.values()]
            show_rows(["source", "rows", "reason"], degraded_rows, "table", title=gettext("Degraded sources"))
        return
    if unknown := sorted(set(listings) - prices.keys()):
        message = gettext("no price of {listings} is held; `gpuledger release` lists the held prices")
        raise click.UsageError(message.format(listings=", ".join(unknown)))
    of_sources = [listing for listing, price in sorted(prices.items()) if price.source in sources]
    if unknown := sorted(set(sources) - degraded_by_name.keys() - {prices[listing].source for listing in of_sources}):
        message = gettext("{sources}: nothing is held or degraded; `gpuledger release` lists what is")
        raise click.UsageError(message.format(sources=", ".join(unknown)))
    for listing in sorted(prices) if every else dict.fromkeys((*listings, *of_sources)):
        _release(data, prices[listing], reason)
    for source in dict.fromkeys(sources):
        if found := degraded_by_name.get(source):
            RELEASES.put(data.root, Release(
                source=source, rows=found.rows, last_night=found.last_night, reason=reason, decided_at=utc_now(),
            ))  # fmt: skip
            sentence = gettext(
                "{source}: {rows} rows are all that it has; what it no longer shows ends with the next run"
            )
            click.echo(sentence.format(source=source, rows=found.rows))


def _release(data: DataDir, held_price: HeldPrice, reason: str) -> None:
    from gpuledger.flows.decisions.releases import RELEASES, Release
    from gpuledger.flows.night.context import utc_now

    if held_price.price is None or held_price.currency is None:
        sentence = gettext("{listing}: the page shows no price, so there is none to release")
        click.echo(sentence.format(listing=held_price.listing_id))
        return
    release = Release(
        listing_id=held_price.listing_id, price=held_price.price, currency=held_price.currency, reason=reason,
        decided_at=utc_now(),
    )  # fmt: skip
    RELEASES.put(data.root, release)
    sentence = gettext("{listing} ({title}) may pass at {price} {currency} from the next run on")
    click.echo(
        sentence.format(
            listing=held_price.listing_id, title=held_price.title, price=held_price.price, currency=held_price.currency
        )
    )
