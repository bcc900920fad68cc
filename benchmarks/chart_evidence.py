"""What is accepted of drawn charts, and which errors in their readings the checks catch: `make charts`.

The readings of each chart are kept in a folder: a run that was broken off goes on where it was, and errors are put into what
was read, so that no picture is read again for them. The tables go into docs/charts.md.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, replace
from itertools import chain
from pathlib import Path
from typing import Any

from benchmarks import chart_houses, chart_shapes
from benchmarks.bench_charts import Count, card_of, resolver
from gpuledger.extract import charts as chart_code
from gpuledger.extract.charts import bars
from gpuledger.extract.charts.outcome import ChartReading, Value
from gpuledger.extract.charts.picture import Pixels, pixels
from gpuledger.extract.charts.read import read_chart
from gpuledger.extract.charts.words import Reader, Word
from gpuledger.flows.night.charts import with_cards
from tests.support import chart_pictures
from tests.support.chart_pictures import Drawn

DOC = Path(__file__).parents[1] / "docs" / "charts.md"
#: Errors of each kind that are put into one chart.
EACH = 2


#: Seeds from this one on are drawn in the shapes of publishers, and from that one on as single publishers draw.
SHAPES = 8_000
HOUSES = chart_houses.FIRST


def draw(seed: int) -> Drawn:
    """The chart of a seed."""
    if seed >= HOUSES:
        return chart_houses.draw(seed)
    return chart_shapes.draw(seed) if seed >= SHAPES else chart_pictures.draw(seed)


def style_of(seed: int) -> chart_shapes.Shape | chart_pictures.Style | chart_houses.Plan:
    """How the chart of a seed is drawn."""
    if seed >= HOUSES:
        return chart_houses.plan_of(seed)
    return chart_shapes.shape_of(seed) if seed >= SHAPES else chart_pictures.style_of(seed)


class Kept:
    """The real reader, asked once for each picture: its answers are in a file, and some are made wrong on purpose."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.swaps: dict[str, str] = {}
        self.asked = 0
        self._reader: Reader | None = None
        self._known: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}

    def save(self) -> None:
        """Write what was read."""
        part = self.path.with_suffix(".part")
        part.write_text(json.dumps(self._known), encoding="utf-8")
        part.replace(self.path)

    def read_words(self, picture: Pixels, times: float | None = None) -> list[Word]:
        """As the reader's, with the errors put in."""
        key = _hash(picture) + repr(times)
        if key not in self._known:
            self._known[key] = [asdict(word) for word in self._real().read_words(picture, times)]
        words = (Word(**{**one, "box": tuple(one["box"])}) for one in self._known[key])
        return [replace(word, text=self._wrong(word.text)) for word in words if self._wrong(word.text)]

    def read_lines(self, crops: Sequence[Pixels]) -> list[tuple[str, float]]:
        """The second reading makes the same mistake: the worst case."""
        answers = []
        for crop in crops:
            key = _hash(crop)
            if key not in self._known:
                self._known[key] = self._real().read_lines([crop])[0]
            text, score = self._known[key]
            answers.append((self._wrong(text), score))
        return answers

    def _real(self) -> Reader:
        self.asked += 1
        if self._reader is None:
            self._reader = Reader()
        return self._reader

    def _wrong(self, text: str) -> str:
        number = Word(text, (0, 0, 0, 0), 1.0).number
        if number in self.swaps:
            return text.replace(number, self.swaps[number], 1)
        return self.swaps.get(text, text)


def _hash(picture: Pixels) -> str:
    return hashlib.sha256(repr(picture.shape).encode() + picture.tobytes()).hexdigest()[:24]


def seen(seed: int, folder: Path) -> dict[str, Any]:
    """What is accepted of the chart of a seed: read now, or kept from a run of the same code."""
    path = folder / f"{seed}.result.json"
    code = _code()
    if path.exists() and (known := json.loads(path.read_text(encoding="utf-8")))["code"] == code:
        return dict(known)
    drawn, reader, start = draw(seed), Kept(folder / f"{seed}.words.json"), time.process_time()
    reading = read_chart(pixels(drawn.content), reader)  # type: ignore[arg-type]
    seconds = time.process_time() - start
    reader.save()
    judged = with_cards(reading, resolver())
    truth = {(card_of(one.label), one.series, one.number) for one in drawn.printed}
    accepted = [
        (gpu_id, value.series, value.text, value.number) for value, gpu_id in judged if value.status == "accepted"
    ]
    # By the number: one that lost the sign between its thousands is the same.
    wrong = [one for one in accepted if (one[0], one[1], one[3]) not in truth]
    style = style_of(seed)
    result = {
        "code": code, "seed": seed, "style": drawn.style, "standing": style.standing, "form": style.form,
        "odd": style.kind in chart_shapes.ODD,
        "printed": len(drawn.printed), "accepted": len(accepted), "wrong": wrong,
        "seconds": seconds if reader.asked else None,
        "reasons": Counter(_short(value.reason) for value, _ in judged if value.status != "accepted"),
    }  # fmt: skip
    path.write_text(json.dumps(result), encoding="utf-8")
    return result


def _code() -> str:
    folder = Path(chart_code.__file__).parent
    return hashlib.sha256(b"".join(path.read_bytes() for path in sorted(folder.glob("*.py")))).hexdigest()[:12]


def injected(seed: int, folder: Path, each: int = EACH) -> dict[str, Counter[str]]:
    """Errors put into both readings of a chart: by kind, how many were caught, and by what."""
    drawn = draw(seed)
    picture, chance = pixels(drawn.content), random.Random(seed)
    reader, found = Kept(folder / f"{seed}.words.json"), _Once()
    bars.find, real = found, bars.find  # type: ignore[assignment]
    try:
        found.real = real
        return dict(_injected(drawn, picture, reader, chance, each))
    finally:
        bars.find = real
        reader.save()


class _Once:
    """Bars of a picture, found once: an error in a word moves none of them."""

    def __init__(self) -> None:
        self.real: Callable[..., Any] = bars.find
        self.known: dict[Any, Any] = {}

    def __call__(self, picture: Pixels, words: Sequence[Any]) -> Any:
        key = picture.shape, tuple(map(tuple, words))
        if key not in self.known:
            self.known[key] = self.real(picture, words)
        return self.known[key]


def _injected(
    drawn: Drawn, picture: Pixels, reader: Kept, chance: random.Random, each: int
) -> Iterator[tuple[str, Counter[str]]]:
    def again() -> list[Value]:
        reading: ChartReading = read_chart(picture, reader)  # type: ignore[arg-type]
        return [value for value, _ in with_cards(reading, resolver())]

    good = [value for value in again() if value.status == "accepted" and value.text]
    texts = Counter(value.text for value in good)
    once = [value for value in good if texts[value.text] == 1]
    if len(once) < 6:
        return
    for kind, change in KINDS.items():
        outcomes: Counter[str] = Counter()
        for _ in range(each):
            reader.swaps = change(once, chance)
            hit = {value.bar: value for value in again()}
            swaps, reader.swaps = reader.swaps, {}
            for value in once:
                if value.text not in swaps and value.label not in swaps:
                    continue
                after = hit.get(value.bar)
                # A number that lost the comma between its thousands is the same number.
                is_same = after is not None and (after.number, after.label) == (value.number, value.label)
                if after is None:
                    outcomes["bar without a row"] += 1
                elif after.status == "quarantined":
                    outcomes[_short(after.reason)] += 1
                elif not is_same:
                    outcomes["accepted wrong"] += 1
                # Else the error did not reach it: its label is several words.
        yield kind, outcomes


def _short(reason: str) -> str:
    for sign, words in (
        ("thousands", "thousands or decimals"), ("pixels", "bar's length"), ("digit", "shape of a digit"),
        ("second reading", "second reading"),
        ("bar ends", "count of numbers"), ("no number", "count of numbers"), ("label", "label"), ("scale", "scale"),
    ):  # fmt: skip
        if sign in reason:
            return words
    return reason


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


def _table(results: Sequence[dict[str, Any]]) -> Iterator[str]:
    """What is accepted, by where the charts come from and the way in which the bars go."""
    yield "| charts | printed values | accepted | share | wrong |"
    yield "|---|---|---|---|---|"
    groups: dict[str, Callable[[dict[str, Any]], bool]] = {
        "plain, lying bars": lambda one: one["seed"] < SHAPES and not one["standing"],
        "plain, standing bars": lambda one: one["seed"] < SHAPES and one["standing"],
        "publishers' shapes, lying bars": lambda one: SHAPES <= one["seed"] < HOUSES and not one["standing"],
        "publishers' shapes, standing bars": lambda one: SHAPES <= one["seed"] < HOUSES and one["standing"],
        "as single publishers draw": lambda one: one["seed"] >= HOUSES,
        "**all**": lambda one: True,
    }
    split = {name: [one for one in results if is_in(one) and not one["odd"]] for name, is_in in groups.items()}
    split["stacked, cut off or logarithmic"] = [one for one in results if one["odd"]]
    for name, chosen in split.items():
        count = Count(
            sum(one["printed"] for one in chosen), sum(one["accepted"] for one in chosen),
            sum(len(one["wrong"]) for one in chosen),
        )  # fmt: skip
        share = (count.accepted - count.wrong) / max(count.printed, 1)
        yield f"| {name}, {len(chosen)} | {count.printed:,} | {count.accepted:,} | {share:.1%} | {count.wrong} |"


def _error_table(table: dict[str, Counter[str]]) -> Iterator[str]:
    yield "| error in both readings | put in | accepted wrong | caught by |"
    yield "|---|---|---|---|"
    for kind, outcomes in table.items():
        wrong = outcomes.pop("accepted wrong", 0)
        by = ", ".join(f"{reason} {times}" for reason, times in outcomes.most_common())
        yield f"| {kind} | {outcomes.total() + wrong} | {wrong} | {by} |"


def _write(marker: str, lines: Sequence[str]) -> None:
    """Put a table into docs/charts.md, between its marks."""
    text = DOC.read_text(encoding="utf-8")
    pattern = re.compile(rf"(<!-- measured: {marker} -->\n).*?(<!-- /measured -->)", re.DOTALL)
    assert pattern.search(text), f"{DOC} has no place for {marker}"
    table = "\n".join(lines)
    DOC.write_text(pattern.sub(lambda found: f"{found[1]}{table}\n{found[2]}", text), encoding="utf-8")


def _seeds(text: str) -> range:
    """`FIRST:LAST` as Python's ranges have it."""
    first, _, last = text.partition(":")
    return range(int(first), int(last or int(first) + 1))


def main() -> None:
    """Read the charts of some seeds, put errors in, and write the tables."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("seeds", nargs="+", type=_seeds, metavar="FIRST:LAST", help="the last is not among them")
    asked.add_argument("--folder", type=Path, required=True, help="where the readings are kept")
    asked.add_argument("--each", type=int, default=EACH, help="errors of each kind that are put into one chart")
    asked.add_argument(
        "--into", nargs="+", type=_seeds, metavar="FIRST:LAST", help="put errors into these charts (all)"
    )
    asked.add_argument("--only-read", action="store_true", help="put in no errors, and write nothing")
    asked.add_argument("--write", action="store_true", help="put the tables into docs/charts.md")
    words = asked.parse_args()
    words.folder.mkdir(parents=True, exist_ok=True)
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    results = []
    seeds = list(chain.from_iterable(words.seeds))
    for seed in seeds:
        results.append(one := seen(seed, words.folder))
        took = f"{one['seconds']:.1f} s" if one["seconds"] else "kept"
        print(
            f"{one['accepted']}/{one['printed']} wrong {len(one['wrong'])} {took} {one['style']} {one['reasons']}",
            flush=True,
        )
    read_now = [one["seconds"] for one in results if one["seconds"]]
    lines = list(_table(results))
    print("\n".join(lines))
    if read_now:
        print(f"{sum(read_now) / len(read_now):.1f} s of processor a chart")
    if words.only_read:
        return
    table: dict[str, Counter[str]] = {}
    for seed in chain.from_iterable(words.into) if words.into else seeds:
        for kind, outcomes in injected(seed, words.folder, words.each).items():
            table.setdefault(kind, Counter()).update(outcomes)
    errors = list(_error_table(table))
    print("\n".join(errors))
    if words.write:
        _write("accepted", lines)
        _write("errors", errors)


if __name__ == "__main__":
    main()
