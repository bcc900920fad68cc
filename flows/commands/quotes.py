"""`gpuledger quotes`: check what would be read from a vendor's file."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from gpuledger.flows.doors.asking.options import data_dir_option, format_option, read_from
from gpuledger.flows.doors.showing import terminal
from gpuledger.flows.words.lang import gettext

if TYPE_CHECKING:
    from gpuledger.items import Offer
    from gpuledger.transform.identity.resolver import Resolver


@click.group()
def command() -> None:
    """Vendors' quotes: CSV and XLSX files that are dropped into the inbox."""


#: A file to fill, with each column that is read of a quote for a card; others are told in `extract/words/columns.toml`.
_SAMPLE = """product,part no,price,currency,tax,quantity,min qty,condition,vendor,valid until,lead time,stock,shipping,market
NVIDIA RTX 6000 Ada Generation 48GB,900-5G133-2250-000,6400.00,USD,excluded,2,1,new,YOUR VENDOR,,2 weeks,in stock,25.00,US
"""


@command.command()
def sample() -> None:
    """Print a quote to fill in: its columns, in any order, and a row in place of which yours go."""
    click.echo(_SAMPLE, nl=False)


@command.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@data_dir_option
@format_option
def check(file: Path, data_dir: str | None, form: str) -> int:
    """Show what would be read from FILE, and which rows not and why.

    Nothing is stored. Exit status 3 where a row is left out.
    """
    from gpuledger.extract.market import with_market
    from gpuledger.extract.pages import LocalFile, as_page, read_file
    from gpuledger.extract.sources.quotes.pages import read_quotes, unread_columns
    from gpuledger.flows.decisions import identities
    from gpuledger.flows.doors.showing.show import show_rows

    quotes = read_file(LocalFile(file, "text/csv", follows_links=True))
    page = as_page(quotes, datetime.now(UTC))
    offers, rejected = read_quotes(page)
    resolver = identities.resolver_of(read_from(data_dir))
    rows = [_row(cast("Offer", with_market(offer, None)), resolver) for offer in offers]
    left_out = [{"row": row.where, "reason": row.reason} for row in rejected]
    unread = unread_columns(page)
    if form == "json":
        click.echo(terminal.json_text({"read": rows, "left_out": left_out, "unread": unread}, indent=1))
    else:
        show_rows(
            _COLUMNS, [list(row.values()) for row in rows], form, title=gettext("Would be read") + f" · {file.name}"
        )
        lines = [gettext("Columns that are not read: {names}").format(names=", ".join(unread))] if unread else []
        if not all(offer.seller for offer in offers):
            lines.append(gettext("No vendor is named: a column `vendor` names it in each row."))
        if left_out:
            lines.append(gettext("{count} rows would be left out:").format(count=len(left_out)))
        for line in [*lines, *(f"  {row['row']}: {row['reason']}" for row in left_out)]:
            if form == "table":
                terminal.say(line)
            else:
                click.echo(line, err=True)
    return 3 if left_out else 0


_COLUMNS = (
    "product", "gpu", "product_kind", "gpu_count", "price", "currency", "tax", "condition", "quantity", "least_quantity",
    "valid_until", "vendor", "mpn", "market", "shipping", "availability", "delivery",
)  # fmt: skip


def _row(offer: Offer, resolver: Resolver) -> dict[str, Any]:
    from gpuledger.transform.identity.resolver import Evidence

    evidence = Evidence(specs=offer.specs, mpn=offer.mpn, brand=offer.brand)
    resolved = resolver.resolve(offer.title, evidence, source="quotes")
    gpu = resolved.gpu or (resolved.contained[1] if resolved.contained else None)
    taxed = {True: "included", False: "excluded", None: "not stated"}[offer.tax_included]
    values = (
        offer.title, gpu or f"? {resolved.explanation}", resolved.product_kind, resolved.gpu_count, _plain(offer.price),
        offer.currency, taxed, offer.condition, offer.quantity, offer.least_quantity, _plain(offer.valid_until),
        offer.seller, offer.mpn or offer.sku, offer.market, _plain(offer.shipping), offer.availability, offer.delivery,
    )  # fmt: skip
    return dict(zip(_COLUMNS, values, strict=True))


def _plain(value: Any) -> str | None:
    return None if value is None else str(value)
