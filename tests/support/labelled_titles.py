"""Titles of real shops with the card that each means, and how many of them the resolver finds.

The truth of a labelled title is built from the label's own words by `truth_id`, which shares no code with the resolver: a
slug of vendor, label and memory that must be a gpu_id of the catalogue.
"""

from __future__ import annotations

import csv
import gzip
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from gpuledger.transform.identity.resolver import Evidence, Resolution, Resolver

DATA = Path(__file__).parents[2] / "../shared/data"

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
