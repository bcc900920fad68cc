"""Reading the daily price tables: a million cells from archived bytes to rows."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from pathlib import Path

from gpuledger.extract.source import Page
from gpuledger.extract.sources.danawa_daily import pages as danawa_daily

DATA = Path(__file__).parents[2] / "shared" / "data" / "danawa_daily"


def run() -> list[tuple[str, str, str]]:
    """What was measured, the measure, the bound asked. Empty where the price tables are not on this machine."""
    pages = [_page(file) for file in sorted(DATA.glob("*.csv.gz"))]
    if not pages:
        return []
    started = time.perf_counter()
    cells = sum(1 for page in pages for _ in danawa_daily.observations(page))
    read_s = time.perf_counter() - started
    million = 1_000_000 / cells
    return [
        (f"read {cells:,} Danawa cells of {len(pages)} months, a million of them", f"{read_s * million:.1f} s", "20 s"),
    ]


def _page(file: Path) -> Page:
    return Page(
        url=file.as_uri(),
        final_url=file.as_uri(),
        content=file.read_bytes(),
        sha256="",
        fetched_at=datetime.now(UTC),
        headers={},
    )


if __name__ == "__main__":
    for what, measured, bound in run():
        print(f"{what}: {measured} (at most {bound})")
