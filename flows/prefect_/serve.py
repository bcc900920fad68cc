"""Run the nights on schedule: a Prefect runner with the deployments of this folder, and a server if the user names none.

The main thread waits for signals and watches the others: it starts a server or a runner that died again, on the same port.
Runs are processes of their own, one at a time.

Shown by tests/ops/test_serve.py: killed in a run, started again, events at once, and stopped.
"""

from __future__ import annotations

import asyncio
import contextvars
import logging
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from filelock import FileLock, Timeout

from gpuledger.flows.night.context import utc_now
from gpuledger.flows.prefect_ import engine as prefect_engine
from gpuledger.flows.prefect_ import server as prefect_server
from gpuledger.flows.prefect_.inbox import Watcher
from gpuledger.flows.prefect_.processes import guarded
from gpuledger.flows.settings import settings
from gpuledger.flows.settings.settings import Settings
from gpuledger.flows.telling import logs
from gpuledger.warehouse import private
from gpuledger.warehouse.errors import Locked
from gpuledger.warehouse.paths import DataDir

_log = logging.getLogger("gpuledger.serve")

#: Seconds between two looks at server, runner, inbox and models.
LOOK_EVERY_S = 1.0
#: Seconds before a runner that died is started again: the first pause, doubled each time, and the longest.
RESTART_S = (1.0, 60.0)
#: Seconds that a run has to end after a signal before it is killed. Prefect's own grace is 30 s.
STOP_S = 45.0


def serve(chosen: Settings, data: DataDir, *, sample: bool = False) -> None:
    """Serve the data directory on the schedule of the settings, until SIGTERM or SIGINT. With `sample` read the sample site.

    Raises schedule.BadSchedule, Locked if the folder is served already, and ServerFailed.
    """
    with _only_one(data), ExitStack() as stack:
        stop = stack.enter_context(_signals())
        prefect_engine.prepare(data, log_level="ERROR")
        # Prefect starts each run in the current folder and reads settings there before any code of ours runs.
        settings.hand_on()
        os.chdir(data.state / "prefect")
        from gpuledger.flows.prefect_.schedule import Schedule

        logs.set_up(chosen)  # again, as Prefect has set up its own logging meanwhile
        schedule = Schedule(chosen.cron, chosen.time_zone)
        stack.enter_context(guarded(data.state))
        server = None
        if not prefect_engine.has_own_server():
            server = stack.enter_context(prefect_server.running(data.state, has_services=True, port=chosen.ui_port))
            stack.enter_context(prefect_engine.connected(server))
        runner = stack.enter_context(_Runner(chosen, data, sample, is_alone=server is not None))
        watcher = Watcher(data)
        due = schedule.next(utc_now())
        way_in = f"gpuledger serve --connect --data-dir {data.root}" if server else None
        logs.event(
            _log, logging.INFO, "serving", data_dir=str(data.root), cron=chosen.cron, time_zone=chosen.time_zone,
            next_run=due.isoformat() if due else None, ui=way_in,
        )  # fmt: skip
        while not stop.wait(LOOK_EVERY_S):
            if server is not None and not server.is_alive:
                _log.error("the embedded Prefect server died; it is started again")
                server.start()
            runner.look_after()
            watcher.look()
        _log.info("stopping")


@contextmanager
def _only_one(data: DataDir) -> Iterator[None]:
    """Hold the lock of `serve` on this folder, as two of them would do every night twice. Raises Locked."""
    private.make_folder(data.state)
    lock = FileLock(data.state / "serve.lock")
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise Locked(f"{data.root} is served already; stop that `gpuledger serve` first") from None
    try:
        yield
    finally:
        lock.release()


@contextmanager
def _signals() -> Iterator[threading.Event]:
    """An event that SIGTERM and SIGINT set. A second signal has its usual effect."""
    stop = threading.Event()
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}

    def handle(number: int, frame: object) -> None:
        stop.set()
        signal.signal(number, before[signal.Signals(number)])

    for number in before:
        signal.signal(number, handle)
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@dataclass(slots=True)
class _Runner:
    """Prefect's runner in a thread with an event loop of its own, where it leaves the signals to the main thread."""

    settings: Settings
    data: DataDir
    sample: bool
    is_alone: bool
    _loop: asyncio.AbstractEventLoop | None = None
    _thread: threading.Thread | None = None
    _stop: asyncio.Event | None = None
    _died: int = 0
    _wait_s: float = 0.0

    def __enter__(self) -> _Runner:
        self._start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._loop is not None and self._stop is not None and self._thread is not None and self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._stop.set)
            self._thread.join(STOP_S)

    def look_after(self) -> None:
        """Start the thread again if it ended, after a pause that grows as long as it keeps ending."""
        if self._thread is not None and self._thread.is_alive():
            return
        if self._wait_s > 0:
            self._wait_s -= LOOK_EVERY_S
            return
        self._died += 1
        self._wait_s = min(RESTART_S[0] * 2**self._died, RESTART_S[1])
        _log.error("the Prefect runner ended; it is started again")
        self._start()

    def _start(self) -> None:
        # The thread starts in a copy of this thread's context, as Prefect keeps its settings there.
        context = contextvars.copy_context()
        self._thread = threading.Thread(target=context.run, args=(self._run,), name="runner", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            asyncio.run(self._main())
        except Exception as error:  # noqa: BLE001
            logs.event(_log, logging.ERROR, "the Prefect runner failed", error=f"{type(error).__name__}: {error}")

    async def _main(self) -> None:
        from gpuledger.flows.prefect_ import deploy

        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        runner = await deploy.runner(self.settings, self.data, sample=self.sample, is_alone=self.is_alone)
        running = asyncio.create_task(runner.start())
        stopping = asyncio.create_task(self._stop.wait())
        await asyncio.wait({running, stopping}, return_when=asyncio.FIRST_COMPLETED)
        if not running.done():
            await runner.astop()
        stopping.cancel()
        await running
