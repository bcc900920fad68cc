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
    from gpuledger.extract.sources.quotes.pages import read_quotes
    from gpuledger.flows.decisions import identities
    from gpuledger.flows.doors.showing.show import show_rows

    quotes = read_file(LocalFile(file, "text/csv", follows_links=True))
    offers, rejected = read_quotes(as_page(quotes, datetime.now(UTC)))
    resolver = identities.resolver_of(read_from(data_dir))
    rows = [_row(cast("Offer", with_market(offer, None)), resolver) for offer in offers]
    left_out = [{"row": f"{row.sheet} {row.row}".strip(), "reason": row.reason} for row in rejected]
    if form == "json":
        click.echo(terminal.json_text({"read": rows, "left_out": left_out}, indent=1))
    else:
        show_rows(
            _COLUMNS, [list(row.values()) for row in rows], form, title=gettext("Would be read") + f" · {file.name}"
        )
        if left_out:
            click.echo(gettext("{count} rows would be left out:").format(count=len(left_out)), err=form != "table")
        for row in left_out:
            line = f"  {row['row']}: {row['reason']}"
            if form == "table":
                terminal.say(line)
            else:
                click.echo(line, err=True)
    return 3 if left_out else 0


_COLUMNS = (
    "product", "gpu", "product_kind", "gpu_count", "price", "currency", "tax", "condition", "quantity", "valid_until",
    "vendor", "market", "shipping", "availability",
)  # fmt: skip


def _row(offer: Offer, resolver: Resolver) -> dict[str, Any]:
    from gpuledger.transform.identity.resolver import Evidence

    evidence = Evidence(specs=offer.specs, mpn=offer.mpn, brand=offer.brand)
    resolved = resolver.resolve(offer.title, evidence, source="quotes")
    gpu = resolved.gpu or (resolved.contained[1] if resolved.contained else None)
    taxed = {True: "included", False: "excluded", None: "not stated"}[offer.tax_included]
    values = (
        offer.title, gpu or f"? {resolved.explanation}", resolved.product_kind, resolved.gpu_count, _plain(offer.price),
        offer.currency, taxed, offer.condition, offer.quantity, _plain(offer.valid_until), offer.seller, offer.market,
        _plain(offer.shipping), offer.availability,
    )  # fmt: skip
    return dict(zip(_COLUMNS, values, strict=True))


def _plain(value: Any) -> str | None:
    return None if value is None else str(value)
