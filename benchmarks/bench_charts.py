"""Charts read by machine: how many values are accepted, none of them wrong; what the checks catch; time and memory.

`python -m benchmarks charts` draws a dozen charts; `python -m benchmarks.bench_charts 0 150` as many as its seeds say, with
the table of injected errors. The charts of publishers in ../shared/data/charts are read where they are present.
"""

from __future__ import annotations

import csv
import hashlib
import random
import resource
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from benchmarks.chart_pictures import Drawn, draw

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
    from gpuledger.extract.charts.read import read
    from gpuledger.flows.setup.chart_cards import with_cards

    reading = read(pixels(drawn.content), reader)
    truth = {(card_of(one.label), one.series, one.text) for one in drawn.printed}
    judged = with_cards(reading, _resolver())
    accepted = [(gpu_id, value.series, value.text) for value, gpu_id in judged if value.status == "accepted"]
    return len(accepted), sum(one not in truth for one in accepted)


def card_of(label: str) -> str | None:
    """The card that a label means."""
    gpu_id: str | None = _resolver().resolve(label, source="toms_ai_articles").gpu_id
    return gpu_id


@cache
def _resolver() -> Any:
    from gpuledger.transform.identity.resolver import Resolver

    return Resolver.load()


class Remembered:
    """The real reader, which answers the same question once; some of its words are made wrong on purpose."""

    def __init__(self, reader: Any) -> None:
        self.reader = reader
        self.known: dict[str, Any] = {}
        self.swaps: dict[str, str] = {}

    def words(self, picture: Any, left: float = 0, top: float = 0, times: float | None = None) -> list[Any]:
        """As the reader's, with the errors put in."""
        key = hashlib.sha256(picture.tobytes()).hexdigest() + repr((left, top, times))
        if key not in self.known:
            self.known[key] = self.reader.words(picture, left, top, times)
        return [replace(word, text=self._wrong(word.text)) for word in self.known[key] if self._wrong(word.text)]

    def read(self, crops: Sequence[Any]) -> list[tuple[str, float]]:
        """The second reading makes the same mistake: the worst case."""
        answers = []
        for crop in crops:
            key = hashlib.sha256(crop.tobytes()).hexdigest()
            if key not in self.known:
                self.known[key] = self.reader.read([crop])[0]
            text, score = self.known[key]
            answers.append((self._wrong(text), score))
        return answers

    def _wrong(self, text: str) -> str:
        return self.swaps.get(text, text)


def injected(seeds: range, each: int = 4) -> dict[str, Counter[str]]:
    """Errors put into both readings of drawn charts: by kind, how many were caught, and by what."""
    from gpuledger.extract.charts.picture import pixels
    from gpuledger.extract.charts.read import read
    from gpuledger.extract.charts.words import Reader

    table: dict[str, Counter[str]] = {}
    reader = Remembered(Reader())
    for seed in seeds:
        drawn = draw(seed)
        chance = random.Random(seed)
        picture = pixels(drawn.content)
        reader.known, reader.swaps = {}, {}
        good = [value for value in read(picture, reader).values if value.status == "accepted" and value.text]
        texts = Counter(value.text for value in good)
        once = [value for value in good if texts[value.text] == 1]
        if len(once) < 6:
            continue
        for kind, change in KINDS.items():
            for _ in range(each):
                swaps = change(once, chance)
                reader.swaps = swaps
                hit = {value.bar: value for value in read(picture, reader).values}
                reader.swaps = {}
                for value in once:
                    if value.text in swaps or value.label in swaps:
                        after = hit.get(value.bar)
                        same = after is not None and (after.text, after.label) == (value.text, value.label)
                        if after is not None and after.status == "accepted" and not same:
                            outcome = "accepted wrong"
                        else:
                            outcome = _short(after.reason if after else "row not read")
                        table.setdefault(kind, Counter())[outcome] += 1
    return table


def _short(reason: str) -> str:
    for sign, words in (
        ("pixels", "bar's length"), ("digit", "shape of a digit"), ("second reading", "second reading"),
        ("bar ends", "count of numbers"), ("no number", "count of numbers"), ("label", "label"), ("scale", "scale"),
    ):  # fmt: skip
        if sign in reason:
            return words
    return reason or "unchanged"


def _digit(values: Sequence[Any], chance: random.Random, at: Callable[[str], int]) -> dict[str, str]:
    text = chance.choice(values).text
    place = at(text)
    other = chance.choice([digit for digit in "0123456789" if digit != text[place]])
    return {text: text[:place] + other + text[place + 1 :]}


def _dropped(values: Sequence[Any], chance: random.Random) -> dict[str, str]:
    text = chance.choice([value.text for value in values])
    place = chance.choice([at for at, sign in enumerate(text) if sign.isdigit()])
    return {text: text[:place] + text[place + 1 :]}


def _point(values: Sequence[Any], chance: random.Random) -> dict[str, str]:
    text = chance.choice([value.text for value in values])
    return (
        {text: text.replace(".", "").replace(",", "")} if set(text) & {".", ","} else {text: text[0] + "." + text[1:]}
    )


def _rows_swapped(values: Sequence[Any], chance: random.Random) -> dict[str, str]:
    one, other = chance.sample(list(values), 2)
    return {one.text: other.text, other.text: one.text}


def _label(values: Sequence[Any], chance: random.Random) -> dict[str, str]:
    one, other = chance.sample(list(values), 2)
    return {one.label: other.label}


def _strange_label(values: Sequence[Any], chance: random.Random) -> dict[str, str]:
    return {chance.choice(list(values)).label: "RTX 2060 Super"}


KINDS: dict[str, Callable[[Sequence[Any], random.Random], dict[str, str]]] = {
    "first digit changed": lambda values, chance: _digit(values, chance, lambda text: 0),
    "last digit changed": lambda values, chance: _digit(values, chance, lambda text: len(text) - 1),
    "digit dropped": _dropped,
    "point lost or put in": _point,
    "two values swapped": _rows_swapped,
    "label of another row": _label,
    "label of a card that is not in the chart": _strange_label,
}


def published() -> Iterator[str]:
    """The publishers' charts against their values, typed by eye."""
    from gpuledger.extract.charts.picture import pixels
    from gpuledger.extract.charts.read import read
    from gpuledger.extract.charts.words import Reader

    truth: dict[str, Counter[tuple[str, str]]] = {}
    for row in csv.DictReader((DATA / "truth.csv").open(encoding="utf-8")):
        truth.setdefault(row["image"], Counter())[row["label"].replace(" ", ""), row["value"]] += 1
    reader = Reader()
    for path in sorted(DATA.glob("*.png")):
        if path.stem not in truth:
            continue
        reading = read(pixels(path.read_bytes()), reader)
        expected = truth[path.stem]
        named = any(label for label, _ in expected)
        accepted = [value for value in reading.values if value.status == "accepted"]
        wrong = [
            value for value in accepted if not expected[value.label.replace(" ", "") if named else "", value.text or ""]
        ]
        yield f"{path.stem}: {len(accepted)} of {expected.total()} accepted, {len(wrong)} wrong"


if __name__ == "__main__":
    chosen = range(int(sys.argv[1]), int(sys.argv[2]))
    if "--injected" in sys.argv:
        for kind, outcomes in injected(chosen).items():
            print(f"{kind}: {outcomes.total()} injected; {dict(outcomes)}")
    else:
        for line in published() if DATA.is_dir() else ():
            print(line, flush=True)
        result = measure(chosen, lambda line: print(line, flush=True))
        print(result)
