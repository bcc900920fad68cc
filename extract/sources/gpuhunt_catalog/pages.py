"""Parser of gpuhunt's catalogues, with gpuhunt's own reader of a row.

A provider's `version` file names its newest catalogue, a zip of one CSV. A row is an instance in a region, on-demand or
spot, at a price in US dollars per hour. The parser leaves out rows without a GPU. A price of 0 means that no price is known.
"""

from __future__ import annotations

import csv
import io
import math
import re
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from decimal import Decimal
from pathlib import PurePosixPath
from urllib.parse import urljoin, urlsplit

from gpuhunt import CatalogItem
from gpuhunt._internal.storage import item_from_row

from gpuledger.errors import LayoutChanged, TooLarge
from gpuledger.extract.markup.charset import decode
from gpuledger.extract.readers.cloud import with_form_factor
from gpuledger.extract.source import Page
from gpuledger.items import CloudOffer, Issue, Link, Parsed

#: A provider's largest catalogue holds some 100,000 rows in under 20 MB.
MAX_CSV_BYTES = 200_000_000
_NEEDED = frozenset(("instance_name", "location", "price", "cpu", "memory", "gpu_count", "gpu_name", "spot"))
_VERSION = re.compile(r"[0-9A-Za-z._-]{1,40}")


def parse(page: Page) -> Iterable[Parsed]:
    """Yield the CloudOffer items of a catalogue (CSV or zip), or the link to the catalogue that a `version` file names.

    Raises LayoutChanged if the page is neither, TooLarge if a zip would unpack to more than MAX_CSV_BYTES.
    """
    if urlsplit(page.final_url).path.endswith("/version"):
        version = page.content.decode("ascii", "replace").strip()
        if not _VERSION.fullmatch(version):
            raise LayoutChanged(page.url, f"{version[:60]!r} is no version of a catalogue")
        yield Link(url=urljoin(page.final_url, f"{version}/catalog.zip"), role="next_page")
    elif page.content.startswith(b"PK"):
        for name, text in _unzip(page):
            yield from _catalogue(text, name, page)
    else:
        name = PurePosixPath(urlsplit(page.final_url).path).stem
        yield from _catalogue(decode(page.content, page.headers.get("content-type")), name, page)


def _unzip(page: Page) -> Iterator[tuple[str, str]]:
    """Yield the provider and the text of every CSV in the zip."""
    try:
        with zipfile.ZipFile(io.BytesIO(page.content)) as archive:
            members = [member for member in archive.infolist() if member.filename.endswith(".csv")]
            # These sizes are what the archive claims. When zipfile unpacks a member, it stops at the claimed size.
            if (size := sum(member.file_size for member in members)) > MAX_CSV_BYTES:
                raise TooLarge(page.url, f"the zip unpacks to {size:,} bytes, more than {MAX_CSV_BYTES:,}")
            if not members:
                raise LayoutChanged(page.url, "no CSV in the zip")
            for member in members:
                yield PurePosixPath(member.filename).stem, archive.read(member).decode("utf-8")
    except (zipfile.BadZipFile, zlib.error, UnicodeDecodeError, NotImplementedError, RuntimeError) as error:
        raise LayoutChanged(page.url, f"no zip of UTF-8 CSV files: {error}") from error


def _catalogue(text: str, provider: str, page: Page) -> Iterator[CloudOffer | Issue]:
    rows = csv.DictReader(io.StringIO(text, newline=""))
    if missing := _NEEDED - set(rows.fieldnames or ()):
        raise LayoutChanged(page.url, f"the catalogue of {provider} has no column {', '.join(sorted(missing))}")
    for row in rows:
        where = f"{provider}, line {rows.line_num}"
        try:
            # Read row by row, since gpuhunt's loader of whole files drops rows that it cannot read and only logs them.
            item = item_from_row(row, provider=provider)
            if item.gpu_count and item.gpu_name:
                yield _offer(item, row)
        except (ValueError, ArithmeticError, TypeError) as error:
            yield Issue(
                code="unreadable_row",
                message=f"{where}: {error}",
                where=where,
                text=",".join(str(value) for value in row.values()),
                url=page.url,
            )


def _offer(item: CatalogItem, row: dict[str, str]) -> CloudOffer:
    # Take the price from the text of the row and not from gpuhunt's float, which may add or lose digits.
    price = Decimal(row["price"])
    if not math.isfinite(item.price) or price < 0:
        raise ValueError(f"price {row['price']!r} is no price")
    return CloudOffer(
        provider=item.provider,
        gpu_name=with_form_factor(row["gpu_name"], item.instance_name),
        gpu_count=item.gpu_count,
        pricing_model="spot" if item.spot else "on_demand",
        region=item.location,
        instance=item.instance_name,
        price=price or None,
        currency="USD",
        price_text=row["price"],
        gpu_memory_gb=Decimal(str(item.gpu_memory)) if item.gpu_memory else None,
        cpu_count=item.cpu or None,
        memory_gb=Decimal(str(item.memory)) if item.memory else None,
        note=" ".join(item.flags) or None,
    )
