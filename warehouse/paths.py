"""The folders and files of a data directory."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

#: The name of the link that analysts open, and of each version's file. DuckDB makes it the name of the catalog.
WAREHOUSE_FILE = "gpuledger.duckdb"
#: The folders of what people decide, add and drop. It belongs to the history, as the pages do: a replay and another machine
#: need it too, and nothing can make it anew.
FROM_PEOPLE = (
    "decisions", "models", "rates", "measurements", "transcriptions", "inbox",
)  # fmt: skip


class Place:
    """A file or folder of a data directory: `name` in its root, or in another place of it."""

    def __init__(self, name: str, within: Place | None = None) -> None:
        self._parts: tuple[str, ...] = (*within._parts, name) if within else (name,)

    def __get__(self, data: DataDir, kind: type[DataDir]) -> Path:
        return data.root.joinpath(*self._parts)


@dataclass(frozen=True, slots=True)
class DataDir:
    """The folders and files of one data directory. Reading a path creates nothing.

    `store` is the address of the store through which workers hand over what they read, empty for none.
    """

    root: Path
    store: str = ""

    #: The symlink that analysts open.
    published = Place(WAREHOUSE_FILE)
    #: The published files, each read-only in a folder of its own. By name, the newest folder is the last.
    versions = Place("versions")
    #: The writer's own files, such as its base copy and the work file of a run.
    state = Place("state")
    #: The writer's own copy of the newest version. An analyst who opens a published file read-write cannot change it.
    base = Place("base.duckdb", state)
    #: The sum of each published file, which is also that of the base.
    checksums = Place("checksums.jsonl", state)
    #: The name of the version that is being published. It exists only meanwhile, and after a kill in the middle.
    publishing = Place("publishing", state)
    #: What this folder has from a publication, and its files.
    pulled = Place("pulled.json", state)
    parquet = Place("published", state)
    #: A base that was not the newest published version, and was set aside. Only the last one is kept.
    base_aside = Place("base.aside", state)
    #: Held while a run writes.
    lock = Place("writer.lock", state)
    #: The archive of fetched bytes.
    snapshots = Place("snapshots")
    #: The log of runs: their starts and ends, and what the published runs took in, which a replay goes through.
    runs = Place("runs.jsonl", snapshots)
    #: The result of the runs whose pages are no longer all archived. A vacuum makes it, and a replay begins with it.
    baseline = Place("baseline.duckdb", snapshots)
    #: CSV files of the last run.
    exports = Place("exports")
    #: Vendor quotes that a person dropped.
    inbox = Place("inbox")
    #: The figures of charts that a person read off: one CSV each, as extract/readers/transcriptions.py describes.
    transcriptions = Place("transcriptions")
    #: Figures that were taken in with `gpuledger measure`: a CSV for each import, and the file that it comes from.
    measurements = Place("measurements")
    #: The hourly rates of one's own contracts, as CSV files.
    rates = Place("rates")
