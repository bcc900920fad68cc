"""The inputs and the answers of the resolver."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

Status = Literal["matched", "ambiguous", "unmatched", "not_a_gpu"]
#: Kinds of products: a card, products with cards in them (first line), and products without cards (second line).
ProductKind = Literal[
    "card", "server", "workstation", "computer", "laptop", "egpu", "kit", "lot",
    "accessory", "service", "broken", "other",
]  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """Other fields of the same item, as the source printed them. They may decide if the title leaves the card open."""

    #: A memory field: `12`, `12 GB`.
    memory: str | None = None
    #: A specification line.
    specs: str | None = None
    #: The maker's part number.
    mpn: str | None = None
    #: A field that names the chip: `GeForce RTX 3060 12GB`.
    chipset: str | None = None
    brand: str | None = None


# Not frozen: that makes each of its fields three times as slow to set, and a night makes one for every title.
@dataclass(slots=True, kw_only=True)
class Resolution:
    """Which GPU a title means, or why it means none.

    `gpu_id` and `gpu` are set only if `status` is `matched`. `candidates` are the gpu_ids that remain possible; for
    `not_a_gpu` they are the cards that the product is for or contains. `product_kind` is the kind of product that the title
    sells, None if it does not say. `gpu_count` is the number of cards in the product, None if it has cards but does not say
    how many. `contained` is the gpu_id and name of the card in a product that is not a card, if certain. `parts` counts the
    other parts of such a product. `rule` names the rule that decided, `notes` the reasons in the order in which they
    applied, and `decided_by` the words of the title that named the card. `ignored` are the words without meaning; it is
    filled only on request.
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
        """A row with `title, status, gpu_id, gpu, product_kind, gpu_count, candidates, contains`.

        `contains` lists the parts of a product that is not a card, each with its count. With `explain` the row also has the
        rule, the reasons, the deciding words and the ignored words.
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
