"""The pictures of charts that people transcribed: an issue says where one has changed since."""

from __future__ import annotations

from dataclasses import replace

from gpuledger.extract.archive.snapshots import Archive
from gpuledger.extract.collect import Collected
from gpuledger.extract.readers import transcriptions
from gpuledger.items import Chart


def watched(collected: Collected, archive: Archive) -> Collected:
    """The batch with an issue for each chart that changed since it was transcribed, and without the Chart items, which no
    table holds.
    """
    charts = [item for item, _ in collected.rows if isinstance(item, Chart)]
    if not charts:
        return collected
    people = [
        transcription
        for url, sha256 in collected.parsed
        if url.endswith(".csv")
        for transcription in transcriptions.read_csv(archive.content_of(sha256), url)[0]
    ]
    first = {url: archive.first(collected.source, url) or sha256 for url, sha256 in collected.images.items()}
    issues = transcriptions.match(charts, collected.images, people, first)
    return replace(
        collected,
        rows=[row for row in collected.rows if not isinstance(row[0], Chart)],
        issues=[*collected.issues, *((issue, None) for issue in issues)],
    )
