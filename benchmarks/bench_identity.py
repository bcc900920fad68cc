"""GPU identity measured: share and precision on labelled and unlabelled shop titles, speed, memory, and rapidfuzz beside it.

The truth of a labelled title is built from the label's own words by `truth_id`, which shares no code with the resolver: a slug
of vendor, label and memory that must be a gpu_id of the catalogue.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

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
_VENDORS = (("geforce", "nvidia"), ("quadro", "nvidia"), ("titan", "nvidia"), ("rtx", "nvidia"), ("nvs", "nvidia"), ("t", "nvidia"))


def slug(text: str) -> str:
    """Lower case words joined by hyphens."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower().replace("+", " plus")).strip("-")


def truth_id(label: str, memory: float, known: frozenset[str]) -> str | None:
    """The gpu_id that a label and a memory field mean; None where the catalogue has no such card."""
    name = re.sub(r"( LHR| \d+GB)+$", "", _LABELS.get(label, label))
    name = re.sub(r"( \d+GB)? LHR$", "", name)
    first = name.lower().split()[0]
    vendors = ("intel",) if first == "arc" else ("amd", "ati") if first in ("radeon", "firepro", "firegl") else ("nvidia",)
    size = f"{memory:g}gb" if memory >= 1 else f"{memory * 1024:g}mb"
    for vendor in vendors:
        for end in (f"-{slug(size)}", ""):
            if (found := slug(f"{vendor} {name}") + end) in known:
                return found
    return None


@dataclass(frozen=True, slots=True)
class Labelled:
    """One title with its label: `truth` is a gpu_id or None where the catalogue lacks the card."""

    title: str
    label: str
    memory: float
    truth: str | None

    @property
    def names_chip(self) -> bool:
        """Whether the label's own words stand in the title, spelling aside."""
        chip = re.sub(r"geforce|radeon|quadro|lhr|\d+gb\b| - \d+|\bg[56]$|ghz edition", "", _LABELS.get(self.label, self.label).lower())
        key = re.sub(r"[^a-z0-9]", "", chip)
        return key in re.sub(r"[^a-z0-9]", "", self.title.lower())


def part_catalogue(known: frozenset[str]) -> Iterator[Labelled]:
    """Titles of the part catalogue of 2023-11."""
    with (DATA / "video_cards/video-card_2023-11-16.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            memory = float(row["memory"])
            yield Labelled(row["name"], row["chipset"], memory, truth_id(row["chipset"], memory, known))
