"""What the resolver answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

Status = Literal["matched", "ambiguous", "unmatched", "not_a_gpu"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """Other text of the same item that may settle what its title leaves open. All of it is as the source printed it."""

    #: A memory field: `12`, `12 GB`.
    memory: str | None = None
    #: A specification line or description.
    specs: str | None = None
    #: The maker's part number.
    mpn: str | None = None
    #: A field that names the chip: `GeForce RTX 3060 12GB`.
    chipset: str | None = None
    brand: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolution:
    """Which GPU a title means, or why it means none.

    `gpu_id` and `gpu` are set where `status` is `matched` only. `candidates` are the gpu_ids that remain possible, or for
    `not_a_gpu` the card that the product is for or contains. `gpu_count` is above 1 where the title sells several.
    `rule` names the rule that decided and `notes` are its reasons, in the order in which they applied.
    """

    title: str
    status: Status
    gpu_id: str | None = None
    gpu: str | None = None
    candidates: tuple[str, ...] = ()
    gpu_count: int = 1
    rule: str = ""
    notes: tuple[str, ...] = ()

    @property
    def explanation(self) -> str:
        """The notes as one line."""
        return "; ".join(self.notes)

    def to_json(self, *, explain: bool = False) -> dict[str, Any]:
        """`title, status, gpu_id, gpu, candidates`; with `explain` also `gpu_count, rule, explanation`."""
        row: dict[str, Any] = {
            "title": self.title,
            "status": self.status,
            "gpu_id": self.gpu_id,
            "gpu": self.gpu,
            "candidates": list(self.candidates),
        }
        if explain:
            row |= {"gpu_count": self.gpu_count, "rule": self.rule, "explanation": self.explanation}
        return row
