"""Parser of the CSV files that `gpuledger measure` writes (`extract/readers/measured/plain.py`)."""

from __future__ import annotations

from collections.abc import Iterator

from gpuledger.extract.errors import LayoutChanged
from gpuledger.extract.items import Parsed, Score
from gpuledger.extract.readers.measured import plain
from gpuledger.extract.readers.measured.figure import NotReadable
from gpuledger.extract.source import Page


def parse(page: Page) -> Iterator[Parsed]:
    """Yield one Score for each row. Raises LayoutChanged if somebody edited the file badly."""
    try:
        figures = plain.read_stored(page.content)
    except (NotReadable, UnicodeDecodeError) as error:
        raise LayoutChanged(page.url, str(error), "correct the file, or take the measurement in again") from error
    for figure in figures:
        yield Score(
            gpu_name=figure.gpu_name,
            table=", ".join(
                part for part in (figure.origin, f"sha256 {figure.origin_sha256[:16]}", figure.where) if part
            ),
            column=figure.workload_id,
            workload_id=figure.workload_id,
            score=figure.score,
            unit=figure.unit,
            published_on=figure.measured_on,
            gpu_count=figure.gpu_count,
            claim=figure.claim,  # type: ignore[arg-type]  # read_stored refuses any other claim
            software=figure.software,
            precision=figure.precision,
            batch_size=figure.batch_size,
            context_tokens=figure.context_tokens,
            prompt_tokens=figure.prompt_tokens,
            concurrent_users=figure.concurrent_users,
            measured_by=figure.measured_by,
        )
