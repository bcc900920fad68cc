"""Finds the segment of a catalogue row, its form factor, and the number of chips on its board."""

from __future__ import annotations

import re

from gpuledger.transform.identity.gpu import Segment

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
