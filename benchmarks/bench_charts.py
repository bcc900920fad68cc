"""Charts read by machine: how many values are accepted, none of them wrong; time and memory.

`python -m benchmarks charts` draws eight charts; `make charts` twenty and more, and puts errors into what was read of
them (chart_evidence.py). `python -m benchmarks.bench_charts 0 10` shows each chart of some seeds, and before them the charts
of publishers in ../shared/data/charts, where they are present.
"""

from __future__ import annotations

import csv
import resource
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from tests.support.chart_pictures import Drawn, draw

DATA = Path(__file__).parents[1] / "../shared/data/charts"
#: Charts of a short run, and the first of their seeds.
CHARTS = range(6_004, 6_012)
RIGHT = 0.95


@dataclass
class Count:
    """Values of some charts: printed, accepted, and accepted though they are not printed so."""

    printed: int = 0
    accepted: int = 0
    wrong: int = 0


def run() -> Iterator[tuple[Any, ...]]:
    """Rows of the table."""
    from gpuledger.extract.charts.apart import is_installed

    if not is_installed():
        yield "charts read by machine", "not measured: pip install 'gpuledger[charts]'", "", None
        return
    started = resource.getrusage(resource.RUSAGE_CHILDREN)
    drawn = draw(CHARTS[0])
    done = subprocess.run(
        [sys.executable, "-m", "gpuledger.extract.charts"], input=drawn.content, capture_output=True, check=True
    )
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert done.stdout
    seconds = ended.ru_utime + ended.ru_stime - started.ru_utime - started.ru_stime
    kept = seconds <= 60 and ended.ru_maxrss <= 1_500_000
    measured = f"{seconds:.1f} s of processor, {ended.ru_maxrss / 1e3:.0f} MB"
    yield "one picture in its own process", measured, "60 s, 1,500 MB", kept
    count = measure(CHARTS)
    yield from rows_of(count, f"{len(CHARTS)} drawn charts")


def rows_of(count: Count, name: str) -> Iterator[tuple[Any, ...]]:
    """Precision and recall as rows."""
    right = count.accepted - count.wrong
    yield f"{name}: accepted values that are wrong", f"{count.wrong} of {count.accepted}", "0", count.wrong == 0
    share = right / max(count.printed, 1)
    yield f"{name}: values accepted", f"{right} of {count.printed} ({share:.1%})", f"{RIGHT:.0%}", share >= RIGHT


def measure(seeds: range, show: Callable[[str], None] = lambda line: None) -> Count:
    """Read the charts of some seeds in this process."""
    from gpuledger.extract.charts.words import Reader

    reader, count = Reader(), Count()
    for seed in seeds:
        drawn = draw(seed)
        start = time.process_time()
        accepted, wrong = judge(drawn, reader)
        count.printed += len(drawn.printed)
        count.accepted += accepted
        count.wrong += wrong
        show(f"{accepted}/{len(drawn.printed)} wrong {wrong} {time.process_time() - start:.1f} s {drawn.style}")
    return count


def judge(drawn: Drawn, reader: Any) -> tuple[int, int]:
    """How many values of a chart were accepted for a card, and how many of those are not printed so."""
    from gpuledger.extract.charts.picture import pixels
    from gpuledger.extract.charts.read import read_chart
    from gpuledger.flows.night.charts import with_cards

    reading = read_chart(pixels(drawn.content), reader)
    truth = {(card_of(one.label), one.series, one.text) for one in drawn.printed}
    judged = with_cards(reading, resolver())
    accepted = [(gpu_id, value.series, value.text) for value, gpu_id in judged if value.status == "accepted"]
    return len(accepted), sum(one not in truth for one in accepted)


def card_of(label: str) -> str | None:
    """The card that a label means."""
    gpu_id: str | None = resolver().resolve(label, source="toms_ai_articles").gpu_id
    return gpu_id


@cache
def resolver() -> Any:
    """What labels are resolved with."""
    from gpuledger.transform.identity.resolver import Resolver

    return Resolver.load()


def published() -> Iterator[str]:
    """The publishers' charts against their values, typed by eye."""
    from gpuledger.extract.charts.picture import pixels
    from gpuledger.extract.charts.read import read_chart
    from gpuledger.extract.charts.words import Reader

    truth: dict[str, Counter[tuple[str, str]]] = {}
    for row in csv.DictReader((DATA / "truth.csv").open(encoding="utf-8")):
        truth.setdefault(row["image"], Counter())[row["label"].replace(" ", ""), row["value"]] += 1
    reader = Reader()
    for path in sorted(DATA.glob("*.png")):
        if path.stem not in truth:
            continue
        reading = read_chart(pixels(path.read_bytes()), reader)
        expected = truth[path.stem]
        named = any(label for label, _ in expected)
        accepted = [value for value in reading.values if value.status == "accepted"]
        wrong = [
            value for value in accepted if not expected[value.label.replace(" ", "") if named else "", value.text or ""]
        ]
        yield f"{path.stem}: {len(accepted)} of {expected.total()} accepted, {len(wrong)} wrong"


if __name__ == "__main__":
    for line in published() if DATA.is_dir() else ():
        print(line, flush=True)
    print(measure(range(int(sys.argv[1]), int(sys.argv[2])), lambda line: print(line, flush=True)))
