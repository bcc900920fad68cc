"""What the resolver is given and what it answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

Status = Literal["matched", "ambiguous", "unmatched", "not_a_gpu"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """Other text of the same item that may settle what its title leaves open. All of it as the source printed it."""

    #: A memory field: `12`, `12 GB`.
    memory: str | None = None
    #: A specification line.
    specs: str | None = None
    #: The maker's part number.
    mpn: str | None = None
    #: A field that names the chip: `GeForce RTX 3060 12GB`.
    chipset: str | None = None
    brand: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolution:
    """Which GPU a title means, or why it means none.

    `gpu_id` and `gpu` are set only where `status` is `matched`. `candidates` are the gpu_ids that remain possible; for
    `not_a_gpu` they are the card that the product is for or contains. `gpu_count` is above 1 where several are sold
    together. `rule` names what decided, `notes` the reasons in the order in which they applied, `decided_by` the words of
    the title that named the card. `ignored` are the words that meant nothing; it is filled only when asked for.
    """

    title: str
    status: Status
    gpu_id: str | None = None
    gpu: str | None = None
    candidates: tuple[str, ...] = ()
    gpu_count: int = 1
    rule: str = ""
    notes: tuple[str, ...] = ()
    decided_by: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()

    @property
    def explanation(self) -> str:
        """The reasons as one line."""
        return "; ".join(self.notes)

    def to_json(self, *, explain: bool = False) -> dict[str, Any]:
        """`title, status, gpu_id, gpu, candidates`; with `explain` also what decided and what was ignored."""
        row: dict[str, Any] = {
            "title": self.title,
            "status": self.status,
            "gpu_id": self.gpu_id,
            "gpu": self.gpu,
            "candidates": list(self.candidates),
        }
        if explain:
            row |= {
                "gpu_count": self.gpu_count,
                "rule": self.rule,
                "explanation": self.explanation,
                "decided_by": list(self.decided_by),
                "ignored": list(self.ignored),
            }
        return row
