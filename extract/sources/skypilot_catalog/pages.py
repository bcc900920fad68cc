"""Parser of SkyPilot's catalogues, one CSV for each cloud.

A row is an instance in a region, with the price of an hour in US dollars, and one of a spot instance where there are such.
The parser leaves out rows without a GPU. A row whose price no machine could have is an issue here and not a row that the
contract refuses: so that the catalogue of one cloud, if it is wrong, takes no other along.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator
from decimal import Decimal
from pathlib import PurePosixPath
from urllib.parse import urlsplit

from gpuledger.errors import LayoutChanged
from gpuledger.extract.markup.charset import decode
from gpuledger.extract.readers.cloud import with_form_factor
from gpuledger.extract.source import Page
from gpuledger.items import CloudOffer, Issue, Parsed, PricingModel

_NEEDED = frozenset(
    (
        "InstanceType",
        "AcceleratorName",
        "AcceleratorCount",
        "vCPUs",
        "MemoryGiB",
        "Price",
        "SpotPrice",
        "Region",
        "GpuInfo",
    )
)
_PRICES: tuple[tuple[str, PricingModel], ...] = (("Price", "on_demand"), ("SpotPrice", "spot"))
_MEMORY = re.compile(r"'MemoryInfo': \{'SizeInMiB': (\d+)")
#: Dollars for an hour: an eighth of a GPU costs some cents, a node with eight of the largest about 120.
_LEAST, _MOST = Decimal("0.01"), Decimal(500)


def parse(page: Page) -> Iterable[Parsed]:
    """Yield the CloudOffer items of a catalogue. Raises LayoutChanged if a column is missing."""
    rows = csv.DictReader(io.StringIO(decode(page.content, page.headers.get("content-type")), newline=""))
    if missing := _NEEDED - set(rows.fieldnames or ()):
        raise LayoutChanged(page.url, f"the catalogue has no column {', '.join(sorted(missing))}")
    cloud = PurePosixPath(urlsplit(page.final_url).path).parent.name
    for row in rows:
        where = f"{cloud}, line {rows.line_num}"
        try:
            yield from _offers(cloud, row)
        except (ValueError, ArithmeticError, TypeError) as error:
            text = ",".join(map(str, row.values()))
            yield Issue(code="unreadable_row", message=f"{where}: {error}", where=where, text=text, url=page.url)


def _offers(cloud: str, row: dict[str, str]) -> Iterator[CloudOffer]:
    count = float(row["AcceleratorCount"] or 0)
    if not row["AcceleratorName"] or not count:
        return
    if count != int(count):
        raise ValueError(f"{row['AcceleratorCount']} GPUs are no whole number")
    memory = _MEMORY.search(row["GpuInfo"])
    for column, pricing_model in _PRICES:
        if not row[column] or not Decimal(row[column]):
            continue
        price = Decimal(row[column])
        if not _LEAST <= price <= _MOST:
            raise ValueError(f"{row[column]!r} is no price of an hour")
        yield CloudOffer(
            provider=cloud,
            gpu_name=with_form_factor(row["AcceleratorName"], row["InstanceType"]),
            gpu_count=int(count),
            pricing_model=pricing_model,
            region=row["Region"] or None,
            instance=row["InstanceType"],
            price=price,
            currency="USD",
            price_text=row[column],
            gpu_memory_gb=_gigabytes(int(memory[1])) if memory else None,
            cpu_count=int(float(row["vCPUs"])) if row["vCPUs"] else None,
            memory_gb=Decimal(row["MemoryGiB"]) if row["MemoryGiB"] else None,
        )


def _gigabytes(stated: int) -> Decimal | None:
    """The memory of a GPU. Some clouds write GiB where the column says MiB; no GPU has less than one or more than 1,024."""
    return Decimal(stated if stated < 1024 else stated // 1024) if stated else None
