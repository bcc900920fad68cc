"""Where things are in a data directory."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

#: The name of the link that analysts open and of each version; DuckDB makes it the name of the catalog.
WAREHOUSE_FILE = "gpuledger.duckdb"


@dataclass(frozen=True, slots=True)
class DataDir:
    """The folders and files of one data directory. Nothing is created by asking for a path.

    `store` is the address of the store that it shares with other machines, empty for none; `lease_s` is how long a machine
    that stopped keeps others from writing there [s].
    """

    root: Path
    store: str = ""
    lease_s: float = 60.0

    @property
    def published(self) -> Path:
        """The symlink that analysts open."""
        return self.root / WAREHOUSE_FILE

    @property
    def versions(self) -> Path:
        """A folder a published file, which is read-only; newest last by the name of the folder."""
        return self.root / "versions"

    @property
    def state(self) -> Path:
        """The writer's own files: its base copy, the work file of a run."""
        return self.root / "state"

    @property
    def base(self) -> Path:
        """The writer's copy of the newest version. An analyst who opens a published file read-write cannot change it."""
        return self.state / "base.duckdb"

    @property
    def checksums(self) -> Path:
        """The sum of each file that was published, which is the base's too."""
        return self.state / "checksums.jsonl"

    @property
    def publishing(self) -> Path:
        """Name of the version that is being published; there only while that takes, or after a kill in the middle of it."""
        return self.state / "publishing"

    @property
    def shared(self) -> Path:
        """What of this directory is in the store, as it was when it was last the same."""
        return self.state / "store.json"

    @property
    def exported(self) -> Path:
        """What each of the files that every run writes was written from, and its sum."""
        return self.state / "exported.json"

    @property
    def iceberg_catalog(self) -> Path:
        """The catalogue of the Iceberg tables, where the settings name no other."""
        return self.state / "iceberg.db"

    @property
    def old_journal(self) -> Path:
        """Where starts and ends of runs stood before there was one log of them; only read."""
        return self.state / "runs.jsonl"

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
        """The log of runs: starts, ends, and what those took in that were published, which a replay goes through."""
        return self.snapshots / "runs.jsonl"

    @property
    def baseline(self) -> Path:
        """What the runs made whose pages are no longer all in the archive; a replay begins with it. There after a vacuum."""
        return self.snapshots / "baseline.duckdb"

    @property
    def old_loading(self) -> Path:
        """What was about to be published when a program from before that one log was killed."""
        return self.state / "loading.json"

    @property
    def torn_loading(self) -> Path:
        """What of the file above could not be read, for a person to look at."""
        return self.state / "loading.torn"

    @property
    def exports(self) -> Path:
        """CSV files of the last run."""
        return self.root / "exports"

    @property
    def inbox(self) -> Path:
        """Vendor quotes dropped by a person."""
        return self.root / "inbox"

    @property
    def charts(self) -> Path:
        """Which charts of which articles are to be read: one TOML an article, written by a person."""
        return self.root / "charts"

    @property
    def workloads(self) -> Path:
        """Workloads that were added with `gpuledger workload add` or came with a measurement: one file each."""
        return self.root / "workloads"

    @property
    def transcriptions(self) -> Path:
        """The figures of charts that a person read off, added with `gpuledger transcribe`: one CSV each."""
        return self.root / "transcriptions"

    @property
    def measurements(self) -> Path:
        """Figures that were taken in with `gpuledger measure`: a CSV an import, and the file that it was read from."""
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
