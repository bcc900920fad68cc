"""Backfill and replay as flows: hours of work that a person starts on a Prefect server and sees the progress of.

Both go on where they were when the same is started again after a kill.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from uuid import UUID

from prefect import flow
from prefect.artifacts import create_progress_artifact, update_progress_artifact
from prefect.client.schemas.objects import State
from prefect.states import Completed

from gpuledger.flows.history import backfill as backfilling
from gpuledger.flows.history import replay as replaying
from gpuledger.flows.night import retries
from gpuledger.flows.night.context import Context, new_run_id, utc_now
from gpuledger.flows.night.summary import Summary
from gpuledger.flows.setup import settings as settings_module
from gpuledger.flows.setup.settings import Settings
from gpuledger.flows.telling import logs
from gpuledger.warehouse.paths import DataDir

_log = logging.getLogger("gpuledger.prefect")

#: A call to the server for each of a thousand nights would take longer than the nights.
SHOW_EVERY_S = 2.0


@flow(name="backfill", persist_result=False)
def backfill(files: Sequence[str], by_night: bool = False, data_dir: str | None = None) -> State[object]:
    """Load historical price tables; nights that are published are passed over."""
    settings = settings_module.load({"data_dir": data_dir})
    logs.set_up(settings)
    context = _context(settings, DataDir(Path(settings.data_dir)))
    nights = backfilling.pending(context, backfilling.read(context, [Path(file) for file in files]))
    if not nights:
        return Completed(message="every night of these files is already published")
    shown = _Shown("backfill", len(nights))
    every = 1 if by_night else backfilling.PUBLISH_EVERY
    summary = retries.when_free(lambda: backfilling.backfill(context, nights, shown, every))
    return _completed(summary, f"{len(nights)} nights")


@flow(name="replay", persist_result=False)
def replay(
    until: datetime | None = None, to: str | None = None, skip_damaged: bool = False, data_dir: str | None = None
) -> State[object]:
    """Rebuild the warehouse from the archive; `to` is another data directory to publish in."""
    settings = settings_module.load({"data_dir": data_dir})
    logs.set_up(settings)
    source = DataDir(Path(settings.data_dir))
    runs = replaying.runs_until(source, until)
    context = _context(settings, DataDir(Path(to)) if to else source)
    shown = _Shown("replay", len(runs))
    summary = retries.when_free(
        lambda: replaying.replay(
            context, source, runs, skip_damaged=skip_damaged, progress=lambda text, done: shown(done or 0)
        )
    )
    return _completed(summary, f"{len(runs)} runs")


def _context(settings: Settings, data: DataDir) -> Context:
    now = utc_now()
    return Context(settings=settings, data=data, run_id=new_run_id(), as_of=now, started_at=now, engine="prefect")


def _completed(summary: Summary, words: str) -> State[object]:
    logs.summary(summary)
    if summary.published is None:
        raise retries.NothingPublished(summary.reason or "nothing was published")
    return Completed(message=f"{summary.published.name}: {words}")


class _Shown:
    """A progress bar in Prefect's UI. A server that does not take it stops nothing."""

    def __init__(self, key: str, total: int) -> None:
        self._total = total
        self._shown_at = time.monotonic()
        self._is_lost = False
        try:
            made = create_progress_artifact(0.0, key=f"{key}-progress", description=f"0 of {total}")
            assert isinstance(made, UUID)  # a coroutine only where the caller is one
            self._artifact = made
        except Exception as error:  # noqa: BLE001
            self._lose(error)

    def __call__(self, done: int) -> None:
        if self._is_lost or (done < self._total and time.monotonic() - self._shown_at < SHOW_EVERY_S):
            return
        self._shown_at = time.monotonic()
        try:
            percent = 100.0 * done / max(1, self._total)
            update_progress_artifact(self._artifact, percent, description=f"{done} of {self._total}")
        except Exception as error:  # noqa: BLE001
            self._lose(error)

    def _lose(self, error: Exception) -> None:
        self._is_lost = True
        _log.warning("the Prefect server did not take the progress: %s", type(error).__name__)
