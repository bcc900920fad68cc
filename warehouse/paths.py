"""The folders and files of a data directory."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

#: The name of the link that analysts open, and of each version's file. DuckDB makes it the name of the catalog.
WAREHOUSE_FILE = "gpuledger.duckdb"


@dataclass(frozen=True, slots=True)
class DataDir:
    """The folders and files of one data directory. Reading a path creates nothing.

    `store` is the address of the store that the directory shares with other machines, empty for none.
    """

    root: Path
    store: str = ""

    @property
    def published(self) -> Path:
        """The symlink that analysts open."""
        return self.root / WAREHOUSE_FILE

    @property
    def versions(self) -> Path:
        """The published files, each read-only in a folder of its own. By name, the newest folder is the last."""
        return self.root / "versions"

    @property
    def state(self) -> Path:
        """The writer's own files, such as its base copy and the work file of a run."""
        return self.root / "state"

    @property
    def base(self) -> Path:
        """The writer's own copy of the newest version. An analyst who opens a published file read-write cannot change it."""
        return self.state / "base.duckdb"

    @property
    def checksums(self) -> Path:
        """The sum of each published file, which is also that of the base."""
        return self.state / "checksums.jsonl"

    @property
    def publishing(self) -> Path:
        """The name of the version that is being published. It exists only meanwhile, and after a kill in the middle."""
        return self.state / "publishing"

    @property
    def shared(self) -> Path:
        """The version and files that were last the same in this directory and in the store."""
        return self.state / "store.json"

    @property
    def exported(self) -> Path:
        """For each file that every run writes: from what it was written, and its sum."""
        return self.state / "exported.json"

    @property
    def iceberg_catalog(self) -> Path:
        """The catalogue of the Iceberg tables, if the settings name no other."""
        return self.state / "iceberg.db"

    @property
    def base_aside(self) -> Path:
        """A base that was not the newest published version, and was set aside. Only the last one is kept."""
        return self.state / "base.aside"

    @property
    def lock(self) -> Path:
        """Held while a run writes."""
        return self.state / "writer.lock"

    @property
    def snapshots(self) -> Path:
        """The archive of fetched bytes."""
        return self.root / "snapshots"

    @property
    def runs(self) -> Path:
        """The log of runs: their starts and ends, and what the published runs took in, which a replay goes through."""
        return self.snapshots / "runs.jsonl"

    @property
    def baseline(self) -> Path:
        """The result of the runs whose pages are no longer all archived. A vacuum makes it, and a replay begins with it."""
        return self.snapshots / "baseline.duckdb"

    @property
    def exports(self) -> Path:
        """CSV files of the last run."""
        return self.root / "exports"

    @property
    def inbox(self) -> Path:
        """Vendor quotes that a person dropped."""
        return self.root / "inbox"

    @property
    def charts(self) -> Path:
        """The charts that a person wants read: a TOML file for each article."""
        return self.root / "charts"

    @property
    def workloads(self) -> Path:
        """Workloads that were added with `gpuledger workload add` or came with a measurement: one file each."""
        return self.root / "workloads"

    @property
    def transcriptions(self) -> Path:
        """The figures of charts that a person read off: one CSV each, as extract/readers/transcriptions.py describes."""
        return self.root / "transcriptions"

    @property
    def measurements(self) -> Path:
        """Figures that were taken in with `gpuledger measure`: a CSV for each import, and the file that it comes from."""
        return self.root / "measurements"

    @property
    def models(self) -> Path:
        """Models that were added with `gpuledger model add`: one file each."""
        return self.root / "models"

    @property
    def gpus(self) -> Path:
        """GPUs that were added with `gpuledger gpu add`: one file each."""
        return self.root / "gpus"

    @property
    def rates(self) -> Path:
        """The folder of the hourly rates of one's own contracts."""
        return self.root / "rates"

    @property
    def rates_file(self) -> Path:
        """The hourly rates of one's own contracts, added with `gpuledger rate add`."""
        return self.rates / "rates.csv"
