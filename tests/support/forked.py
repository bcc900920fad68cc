"""The command line in forks of one process that has imported what a night imports, which takes seconds each time.

As a script it takes orders as JSON lines on standard input: `{"words", "environment", "folder", "out", "err"}`. Each is one
`gpuledger <words>` in a child of its own, with that environment and working folder and what it prints in two files; the
answer is the child's exit status. This process opens no database and starts no thread: a fork would carry half of it over.
Prefect is not imported here, as it reads its settings from the environment when it is.
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import sys
import threading
import traceback
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NoReturn

from tqdm import tqdm

import gpuledger.flows.history.replay
import gpuledger.flows.night.refresh  # noqa: F401
from gpuledger.expectations.check import check_batch
from gpuledger.expectations.contract import source_contract
from gpuledger.extract import source as sources
from gpuledger.flows import cli
from gpuledger.items import Offer
from gpuledger.transform.assumptions import Assumptions
from gpuledger.transform.buying.answer import ask
from gpuledger.transform.buying.question import Question
from gpuledger.transform.buying.stock import Place, packaged
from gpuledger.transform.identity.resolver import Resolver
from gpuledger.transform.report.running import axes


def warm_up() -> None:
    """Load what a run loads on first use, so that no child has to."""
    tqdm.monitor_interval = 0  # no thread that watches progress bars: see above
    offer = Offer(title="Halden GeForce RTX 4070 12GB", url="https://shop.invalid/1", key="1")
    check_batch(source_contract("newegg"), [offer] * 10)
    sources.discover()
    Resolver.load()
    anywhere = packaged(Assumptions(), Place(market="us"), None, datetime.now(UTC))
    for model in axes()["models"]:
        ask(Question(model=model), anywhere, Path(os.devnull))
    gc.collect()
    gc.freeze()  # or each child would look through, and so copy, what it has from here
    assert threading.active_count() == 1
    assert "prefect" not in sys.modules


def become(order: dict[str, Any]) -> None:
    """Be the process that was ordered, up to what it is called with."""
    for number, name in ((0, os.devnull), (1, order["out"]), (2, order["err"])):
        file = os.open(name, os.O_RDWR)
        os.dup2(file, number)
        os.close(file)
    os.environ.clear()
    os.environ.update(order["environment"])
    os.chdir(order["folder"])
    sys.argv = ["gpuledger", *order["words"]]
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", buffering=1, encoding="utf-8", closefd=False)  # noqa: SIM115


def run() -> NoReturn:
    """Run the command, and do what Python does at its end but for taking all modules apart: that takes as long as a short
    command.
    """
    status: object = 1
    try:
        cli.main()
        status = 0
    except SystemExit as leaving:
        status = leaving.code
    finally:
        if (error := sys.exception()) is not None:
            traceback.print_exception(error)
        threading._shutdown()  # type: ignore[attr-defined]
        atexit._run_exitfuncs()
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        os._exit(status if isinstance(status, int) else bool(status))


def main() -> None:
    warm_up()
    answers = os.dup(1)
    os.set_inheritable(answers, False)
    os.write(answers, b"ready\n")
    # Not `for line in sys.stdin`: what that has read ahead would be in each child too.
    while line := sys.stdin.readline():
        order = json.loads(line)
        pid = os.fork()
        if pid == 0:
            os.close(answers)
            become(order)
            run()
        os.write(answers, f"{pid}\n".encode())
        _, status = os.waitpid(pid, 0)
        os.write(answers, f"{os.waitstatus_to_exitcode(status)}\n".encode())


if __name__ == "__main__":
    main()
