"""GPU identity measured: share and precision on shop titles, speed and memory, and rapidfuzz beside it.

The truth of a labelled title is built from the label's own words by `truth_id`, which shares no code with the resolver: a
slug of vendor, label and memory that must be a gpu_id of the catalogue.
"""

from __future__ import annotations

import csv
import gzip
import importlib
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from gpuledger.transform.identity import catalogue
from gpuledger.transform.identity.resolver import Evidence, Resolution, Resolver

DATA = Path(__file__).parents[1] / "../shared/data"

# Labels of the part catalogue whose words differ from the trade name, read by hand.
_LABELS = {
    "GeForce GTX 1650 G5": "GeForce GTX 1650",
    "GeForce GTX 1650 G6": "GeForce GTX 1650 GDDR6",
    "GeForce GTX 950 75W": "GeForce GTX 950",
    "Radeon RX 560 - 1024": "Radeon RX 560",
    "Radeon RX 560 - 896": "Radeon RX 560",
    "Radeon RX 550 - 512": "Radeon RX 550",
    "Radeon RX 550 - 640": "Radeon RX 550",
    "Radeon HD 7970 GHz Edition": "Radeon HD 7970",
    "Radeon HD 7870 GHz Edition": "Radeon HD 7870",
    "Radeon HD 7770 GHz Edition": "Radeon HD 7770",
    "Vega Frontier Edition": "Radeon Vega Frontier Edition",
    "Vega Frontier Edition Liquid": "Radeon Vega Frontier Edition",
    "Titan X (Pascal)": "TITAN X Pascal",
    "RTX A2000 6GB": "RTX A2000",
    "RTX A2000 12GB": "RTX A2000",
    "Radeon R9 390X2": "Radeon R9 390 X2",
}
# Rows whose label or memory field contradicts the part number or the chip: not counted, since no answer could be right.
LABEL_ERRORS: dict[tuple[str, str, float], str] = {
    ("PowerColor AXRX 570 8GBD5-DM", "Radeon RX 570", 4.0): "the part number says 8 GB of GDDR5, the memory field 4",
    ("Asus STRIX-GTX960-DCOC-4GD5", "GeForce GTX 960", 2.0): "the part number says 4 GB of GDDR5, the memory field 2",
    ("Gigabyte GV-N75TOC-1GI", "GeForce GTX 750 Ti", 2.0): "the part number says 1 GB, the memory field 2",
    ("KFA2 OC", "GeForce GTX 780 Ti", 2.0): "the GTX 780 Ti was made with 3 GB only, the memory field says 2",
    (
        "MSI N460GTX-M2D1GD5/OC2",
        "GeForce GTX 460 SE",
        1.0,
    ): "a core clock of 810 MHz, far above any GTX 460 SE; MSI's SE has SE in its code",
}
# Words that labels have and titles leave out.
_LEFT_OUT = re.compile(r"geforce|radeon|quadro|\blhr\b|\b\d+gb\b| - \d+|\bg[56]$|ghz edition|\(|\)|generation")
_PIECE = re.compile(r"[a-z]+|\d+")


def slug(text: str) -> str:
    """Lower case words joined by hyphens."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower().replace("+", " plus")).strip("-")


def truth_id(label: str, memory: float, known: frozenset[str]) -> str | None:
    """The gpu_id that a chip label and a memory field in GB mean; None where the catalogue has no such card."""
    name = re.sub(r"( \d+GB)? LHR$|( \d+GB)$", "", _LABELS.get(label, label))
    first = name.lower().split()[0]
    vendors = (
        ("intel",) if first == "arc" else ("amd", "ati") if first in ("radeon", "firepro", "firegl") else ("nvidia",)
    )
    size = f"{memory:g}gb" if memory >= 1 else f"{memory * 1024:g}mb"
    ends = (f"-{slug(size)}", "")
    return next(
        (found for vendor in vendors for end in ends if (found := slug(f"{vendor} {name}") + end) in known), None
    )


@dataclass(frozen=True, slots=True)
class Labelled:
    """A title with its chip label and memory in GB. `truth` is a gpu_id, None where the catalogue lacks the card."""

    title: str
    label: str
    memory: float
    truth: str | None

    @property
    def names_chip(self) -> bool:
        """Whether the label's words stand in the title as words: in `STRIX-GTX1060-6G`, not in `VCGGTX10606PB`."""
        wanted = _PIECE.findall(_LEFT_OUT.sub(" ", _LABELS.get(self.label, self.label).lower()))
        words = re.split(r"[^a-z0-9.]+", self.title.lower())
        pieces = [piece for word in words for piece in _PIECE.findall(word)]
        starts = {len(_PIECE.findall(" ".join(words[:number]))) for number in range(len(words) + 1)}
        ends = range(len(wanted), len(pieces) + 1)
        return any(pieces[end - len(wanted) : end] == wanted and end - len(wanted) in starts for end in ends)


def part_catalogue(known: frozenset[str]) -> list[Labelled]:
    """Titles of the part catalogue of 2023-11."""
    with (DATA / "video_cards/video-card_2023-11-16.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return [Labelled(row["name"], row["chipset"], float(row["memory"]), _truth_of(row, known)) for row in rows]


def _truth_of(row: dict[str, str], known: frozenset[str]) -> str | None:
    return truth_id(row["chipset"], float(row["memory"]), known)


def newegg(known: frozenset[str]) -> list[Labelled]:
    """Titles of one shop of 2024, without repetitions."""
    with (DATA / "video_cards/newegg_2024.csv").open(encoding="utf-8", newline="") as file:
        rows = {row["Graphiccard"]: row for row in csv.DictReader(file)}
    # One row has a part number in its memory column.
    sizes = {
        title: float(found[1]) if (found := re.fullmatch(r"(\d+)GB", row["Memory_Size"])) else 0.0
        for title, row in rows.items()
    }
    return [
        Labelled(title, row["GPU"], sizes[title], truth_id(row["GPU"], sizes[title], known))
        for title, row in rows.items()
    ]


def danawa() -> list[str]:
    """All product names of the daily price comparison, each once, in the order of their first day."""
    names: dict[str, None] = {}
    for path in sorted((DATA / "danawa_daily").glob("VGA_*.csv.gz")):
        with gzip.open(path, "rt", encoding="utf-8-sig", newline="") as file:
            rows = csv.reader(file)
            next(rows)
            names.update(dict.fromkeys(row[1] for row in rows if len(row) > 1))
    return list(names)


@dataclass(frozen=True, slots=True)
class Measure:
    """What became of titles: how many, how many matched, and the matches that are not the truth."""

    titles: int
    matched: int
    wrong: tuple[tuple[Labelled, Resolution], ...]
    unmatched: tuple[tuple[Labelled, Resolution], ...]

    @property
    def share(self) -> float:
        """Matched titles of all titles, 0 to 1."""
        return self.matched / self.titles if self.titles else 0.0

    @property
    def precision(self) -> float:
        """Right matches of all matches, 0 to 1."""
        return 1 - len(self.wrong) / self.matched if self.matched else 0.0


def measure(
    resolver: Resolver, titles: Iterable[Labelled], evidence: Callable[[Labelled], Evidence | None] = lambda _: None
) -> Measure:
    """Resolve `titles` that have a truth and no wrong label, each with its evidence."""
    counted = [one for one in titles if one.truth and (one.title, one.label, one.memory) not in LABEL_ERRORS]
    found = [(one, resolver.resolve(one.title, evidence(one))) for one in counted]
    matched = [(one, answer) for one, answer in found if answer.status == "matched"]
    wrong = tuple((one, answer) for one, answer in matched if answer.gpu_id != one.truth)
    return Measure(len(found), len(matched), wrong, tuple(pair for pair in found if pair[1].status != "matched"))


def memory_field(one: Labelled) -> Evidence:
    """The item's memory field, as a shop prints it."""
    return Evidence(memory=f"{one.memory:g} GB")


def all_fields(one: Labelled) -> Evidence:
    """The memory field and the chip field."""
    return Evidence(memory=f"{one.memory:g} GB", chipset=one.label)


def run() -> list[tuple[str, str, str]]:
    """Rows of (what, measured, bound asked)."""
    if not DATA.is_dir():
        return [("GPU identity", "the real titles (../shared/data) are not on this machine", "")]
    resolver = Resolver.load()
    known = frozenset(catalogue.by_id())
    parts = part_catalogue(known)
    named = [one for one in parts if one.names_chip]
    return [
        *_shares(resolver, parts, named, newegg(known)),
        *_korean(resolver),
        *_speed(resolver, [*danawa(), *(one.title for one in newegg(known)), *(one.title for one in parts)]),
        *_footprint(),
        *_rapidfuzz(named, resolver),
    ]


def _shares(
    resolver: Resolver, parts: list[Labelled], named: list[Labelled], shop: list[Labelled]
) -> Iterator[tuple[str, str, str]]:
    alone, with_memory = measure(resolver, named), measure(resolver, named, memory_field)
    everything, newest = measure(resolver, parts, all_fields), measure(resolver, shop)
    yield "part catalogue, titles that name their chip, with the memory field: matched", _of(with_memory), ">= 99.5%"
    yield "  precision of these", f"{with_memory.precision:.2%} ({len(with_memory.wrong)} wrong)", ">= 99.9%"
    yield (
        "part catalogue, titles that name their chip, title alone: matched",
        _of(alone),
        "the rest ambiguous in memory",
    )
    yield "  precision of these", f"{alone.precision:.2%} ({len(alone.wrong)} wrong)", ">= 99.9%"
    yield "part catalogue, all titles, with chip and memory field: matched", _of(everything), ""
    yield "  precision of these", f"{everything.precision:.2%} ({len(everything.wrong)} wrong)", ">= 99.9%"
    yield "shop of 2024, title alone: matched", _of(newest), ">= 99.5%"
    yield "  precision of these", f"{newest.precision:.2%} ({len(newest.wrong)} wrong)", ">= 99.9%"


def _of(found: Measure) -> str:
    return f"{found.share:.2%} ({found.matched} of {found.titles})"


def _korean(resolver: Resolver) -> Iterator[tuple[str, str, str]]:
    answers = Counter(resolver.resolve(name, source="danawa_daily").status for name in danawa())
    cards = answers["matched"] + answers["ambiguous"] + answers["unmatched"]
    share = (answers["matched"] + answers["ambiguous"]) / cards
    yield "Korean product names: matched or ambiguous, of cards", f"{share:.2%} of {cards} ({dict(answers)})", ">= 98%"


def _speed(resolver: Resolver, titles: list[str]) -> Iterator[tuple[str, str, str]]:
    began = time.process_time()
    for title in titles:
        resolver.resolve(title)
    yield "titles a second on one core", f"{len(titles) / (time.process_time() - began):,.0f}", ">= 20,000"


_CHILD = """
import psutil, sys, time
before = psutil.Process().memory_info().rss
began = time.perf_counter()
from gpuledger.transform.identity import catalogue
catalogue.gpus()
catalogue_s = time.perf_counter() - began
from gpuledger.transform.identity.resolver import Resolver
resolver = Resolver.load()
resolver_s = time.perf_counter() - began
for title in sys.stdin:
    resolver.resolve(title)
print(catalogue_s, resolver_s, (psutil.Process().memory_info().rss - before) / 2**20)
"""


def _footprint() -> Iterator[tuple[str, str, str]]:
    """Load time and memory, in a process of its own: this one has loaded long ago."""
    titles = "\n".join(danawa())
    child = subprocess.run([sys.executable, "-c", _CHILD], input=titles, capture_output=True, text=True, check=True)
    catalogue_s, resolver_s, megabytes = (float(number) for number in child.stdout.split())
    yield "catalogue loaded, imports included", f"{catalogue_s:.2f} s", "< 0.3 s"
    yield "resolver loaded, imports included", f"{resolver_s:.2f} s", ""
    yield "memory of the resolver after 3,300 titles", f"{megabytes:.0f} MB", "< 100 MB"


def _rapidfuzz(named: list[Labelled], resolver: Resolver, sample: int = 200) -> Iterator[tuple[str, str, str]]:
    """The same titles by fuzzy matching over the same names: the best name counts, as a user of it would take it."""
    rapidfuzz = importlib.import_module("rapidfuzz")
    names = {gpu.gpu_id: gpu.display_name for gpu in catalogue.gpus()}
    chosen = [one for one in named if one.truth][:: max(1, len(named) // sample)]
    for scorer in ("token_set_ratio", "WRatio"):
        began = time.process_time()
        right = 0
        for one in chosen:
            best = rapidfuzz.process.extractOne(
                one.title, names, scorer=getattr(rapidfuzz.fuzz, scorer), processor=rapidfuzz.utils.default_process
            )
            right += best[2] == one.truth
        rate = len(chosen) / (time.process_time() - began)
        yield (
            f"rapidfuzz {scorer}, same catalogue: precision",
            f"{right / len(chosen):.1%}, {rate:,.0f} titles/s",
            "beaten",
        )
    ours = measure(resolver, chosen, memory_field)
    yield "  this resolver on that sample", f"{ours.precision:.1%} of {ours.share:.1%} matched", ""


if __name__ == "__main__":
    for what, measured, bound in run():
        print(f"{what}: {measured}" + (f" (asked: {bound})" if bound else ""))
