"""The last step: turns the remaining choice into an answer."""

from __future__ import annotations

import dataclasses
from typing import NamedTuple

from gpuledger.transform.identity import products, systems
from gpuledger.transform.identity.aliases import Context
from gpuledger.transform.identity.choice import Choice
from gpuledger.transform.identity.reading import Reading
from gpuledger.transform.identity.resolution import Evidence, Resolution, Status
from gpuledger.transform.identity.vocabulary import Vocabulary


class Why(NamedTuple):
    """The rule that decided, and the reason in words if the notes of the choice do not give it."""

    rule: str
    reason: str | None = None


class Item(NamedTuple):
    """A title, the kind of source that it is from, and the other fields of its item."""

    title: str
    context: Context | None
    evidence: Evidence | None


def answer(title: str, status: Status, choice: Choice, why: Why, *, count: int = 1) -> Resolution:
    """An answer with `status`. Its notes are those of the choice, followed by the reason of `why`."""
    gpu = choice.members[0].gpu if status == "matched" else None
    return Resolution(
        title=title,
        status=status,
        gpu_id=gpu.gpu_id if gpu else None,
        gpu=gpu.display_name if gpu else None,
        candidates=tuple(sorted({member.gpu.gpu_id for member in choice.members})),
        product_kind=("card" if count == 1 else "lot") if choice.members and status != "not_a_gpu" else None,
        gpu_count=count,
        rule=why.rule,
        notes=(*choice.notes, why.reason) if why.reason else tuple(choice.notes),
        decided_by=tuple(mention.spelled for mention in choice.mentions),
    )


def of_system(title: str, sold: systems.System, choice: Choice, why: Why) -> Resolution:
    """The answer for a product with cards in it. It never matches a card, but names the card inside if that is certain."""
    inside = choice.members[0].gpu if len(choice.members) == 1 and not choice.conflict else None
    return dataclasses.replace(
        answer(title, "not_a_gpu", choice, why),
        product_kind=sold.kind,
        gpu_count=sold.gpu_count,
        contained=(inside.gpu_id, inside.display_name) if inside and sold.gpu_count != 0 else None,
        parts=tuple(sold.parts.items()),
    )


def of_choice(title: str, choice: Choice, reading: Reading) -> Resolution | None:
    """The answer if the choice is not exactly one card; None if it is one card.

    If a cloud's name stays ambiguous, its price is compared by the weakest of its candidates. This would be wrong for a name
    with a memory size that no candidate has (an A10 with 4 GB is a sixth of a card), so such a name is unmatched.
    """
    count = reading.count
    if choice.conflict:
        has_no_candidate = choice.unknown or not choice.members or reading.rented
        status: Status = "unmatched" if has_no_candidate else "ambiguous"
        return answer(title, status, choice, Why("conflict", choice.conflict), count=count)
    if not choice.members:
        return answer(title, "unmatched", choice, Why("no card", "no card of the catalogue is named"))
    if len(choice.members) > 1:
        return answer(title, "ambiguous", choice, Why("open", "nothing says which of them"), count=count)
    return None


def of_product(item: Item, reading: Reading, choice: Choice, vocabulary: Vocabulary) -> Resolution | None:
    """The answer if the title means one card but sells something else; None if it sells the card.

    A benchmark's table may name a laptop or a whole system by its GPU, and a cloud rents several GPUs as one instance. There
    the name of the GPU is enough. In a shop the price belongs to the product that is sold.
    """
    title, context, evidence = item
    if context == "benchmark":
        return None
    inside = choice.members[0].gpu.segment in ("mobile", "integrated")
    if inside and (context == "shop" or not products.is_bare(reading, vocabulary)):
        # "RTX 4060 Laptop" alone is the chip's name, but a shop with this title sells the laptop.
        why = Why("inside", "a chip for laptops or processors, which no shop sells alone")
        return answer(title, "not_a_gpu", choice, why)
    if context == "cloud":
        return None
    if reading.count > 1:
        sold = systems.of_several(reading.count, title)
        return of_system(title, sold, choice, Why("several", sold.why))
    if (
        not choice.coded
        and not products.shows_a_card(reading, vocabulary)
        and not _field_shows_a_card(evidence, vocabulary)
    ):
        why = Why("product open", "names the chip, but nothing says that the product is a card")
        return answer(title, "ambiguous", choice, why)
    return None


def _field_shows_a_card(evidence: Evidence | None, vocabulary: Vocabulary) -> bool:
    """Whether the item has a field that only cards have: memory, chip, or a brand that makes cards."""
    if evidence is None:
        return False
    brand = (evidence.brand or "").lower().split()
    return bool(evidence.memory or evidence.chipset or vocabulary.board_maker.intersection(brand))
