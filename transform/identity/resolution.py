"""What the resolver is given and what it answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

Status = Literal["matched", "ambiguous", "unmatched", "not_a_gpu"]
#: What is sold: a card, a product with cards in it, or what holds none.
ProductKind = Literal[
    "card", "server", "workstation", "computer", "laptop", "egpu", "kit", "lot",
    "accessory", "service", "broken", "other",
]  # fmt: skip


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
    `not_a_gpu` they are the card that the product is for or contains. `product_kind` says what is sold, None where the
    title does not; `gpu_count` is the cards in it, None where it holds some and nothing says how many. `contained` is the
    card in a product that is none, where it is certain, and `parts` counts what else is in it. `rule` names what decided,
    `notes` the reasons in the order in which they applied, `decided_by` the words of the title that named the card.
    `ignored` are the words that meant nothing; it is filled only when asked for.
    """

    title: str
    status: Status
    gpu_id: str | None = None
    gpu: str | None = None
    candidates: tuple[str, ...] = ()
    product_kind: ProductKind | None = None
    gpu_count: int | None = 1
    contained: tuple[str, str] | None = None
    parts: tuple[tuple[str, int], ...] = ()
    rule: str = ""
    notes: tuple[str, ...] = ()
    decided_by: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()

    @property
    def explanation(self) -> str:
        """The reasons as one line."""
        return "; ".join(self.notes)

    def to_json(self, *, explain: bool = False) -> dict[str, Any]:
        """`title, status, gpu_id, gpu, product_kind, gpu_count, candidates, contains`; with `explain` also what decided and
        what was ignored. `contains` has, for a product that is no card, each part with its count.
        """
        row: dict[str, Any] = {
            "title": self.title,
            "status": self.status,
            "gpu_id": self.gpu_id,
            "gpu": self.gpu,
            "product_kind": self.product_kind,
            "gpu_count": self.gpu_count,
            "candidates": list(self.candidates),
            "contains": self._contains(),
        }
        if explain:
            row |= {
                "rule": self.rule,
                "explanation": self.explanation,
                "decided_by": list(self.decided_by),
                "ignored": list(self.ignored),
            }
        return row

    def _contains(self) -> list[dict[str, Any]]:
        cards: list[dict[str, Any]] = []
        if self.contained is not None:
            gpu_id, gpu = self.contained
            cards = [{"part": "gpu", "count": self.gpu_count, "gpu_id": gpu_id, "gpu": gpu}]
        return cards + [{"part": part, "count": count} for part, count in self.parts]
