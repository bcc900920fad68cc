"""Parser of the CSV files that `gpuledger measure` writes (`extract/readers/measured/plain.py`)."""

from __future__ import annotations

from collections.abc import Iterator

from gpuledger.extract.errors import LayoutChanged
from gpuledger.extract.items import Parsed, Score
from gpuledger.extract.readers.measured import plain
from gpuledger.extract.readers.measured.figure import NotReadable
from gpuledger.extract.source import Page


def parse(page: Page) -> Iterator[Parsed]:
    """A Score a row. Raises LayoutChanged where the file was edited badly."""
    try:
        kept = plain.read_kept(page.content)
    except (NotReadable, UnicodeDecodeError) as error:
        raise LayoutChanged(page.url, str(error), "correct the file, or take the measurement in again") from error
    for one in kept:
        yield Score(
            gpu_name=one.gpu_name,
            table=", ".join(part for part in (one.origin, f"sha256 {one.origin_sha256[:16]}", one.place) if part),
            column=one.workload_id,
            workload_id=one.workload_id,
            score=one.score,
            unit=one.unit,
            published_on=one.measured_on,
            gpu_count=one.gpu_count,
            claim=one.claim,  # type: ignore[arg-type]  # read_kept lets the three through
            software=one.software,
            precision=one.precision,
            batch_size=one.batch_size,
            context_tokens=one.context_tokens,
            concurrent_users=one.concurrent_users,
            measured_by=one.measured_by,
        )
