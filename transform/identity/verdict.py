"""The last step: what remains of the choice becomes an answer."""

from __future__ import annotations

from gpuledger.transform.identity import products
from gpuledger.transform.identity.aliases import Context
from gpuledger.transform.identity.choice import Choice
from gpuledger.transform.identity.reading import Reading
from gpuledger.transform.identity.resolution import Evidence, Resolution, Status
from gpuledger.transform.identity.vocabulary import Vocabulary


def answer(
    title: str, status: Status, choice: Choice, rule: str, reason: str | None = None, *, count: int = 1
) -> Resolution:
    """The answer `status`, with the reasons gathered on the way and `reason` as the last."""
    gpu = choice.members[0].gpu if status == "matched" else None
    return Resolution(
        title=title,
        status=status,
        gpu_id=gpu.gpu_id if gpu else None,
        gpu=gpu.display_name if gpu else None,
        candidates=tuple(sorted({member.gpu.gpu_id for member in choice.members})),
        gpu_count=count,
        rule=rule,
        notes=(*choice.notes, reason) if reason else tuple(choice.notes),
        decided_by=tuple(mention.words for mention in choice.mentions),
    )


def of_choice(title: str, choice: Choice, reading: Reading) -> Resolution | None:
    """The answer where the choice is not one card; None where it is.

    What a cloud leaves open is comparable by the least of its candidates. A name whose memory is none of theirs (an A10 with
    4 GB, a sixth of a card) must not be: it has no candidates in that sense and is unmatched.
    """
    count = reading.count
    if choice.conflict:
        none = choice.unknown or not choice.members or reading.rented
        status: Status = "unmatched" if none else "ambiguous"
        return answer(title, status, choice, "conflict", choice.conflict, count=count)
    if not choice.members:
        return answer(title, "unmatched", choice, "no card", "no card of the catalogue is named")
    if len(choice.members) > 1:
        return answer(title, "ambiguous", choice, "open", "nothing says which of them", count=count)
    return None


def of_product(
    title: str, reading: Reading, choice: Choice, context: Context | None, evidence: Evidence | None, words: Vocabulary
) -> Resolution | None:
    """The answer where the title means one card and yet sells something else; None where it sells the card.

    A benchmark's table may name a laptop or a whole system by its GPU, a cloud's rents several as one instance: there the
    name is enough. In a shop the price belongs to whatever is sold.
    """
    if context == "benchmark":
        return None
    inside = choice.members[0].gpu.segment in ("mobile", "integrated")
    if inside and (context == "shop" or not products.is_bare(reading, words)):
        # "RTX 4060 Laptop" alone is the chip's name; a shop that prints it sells the laptop.
        return answer(
            title, "not_a_gpu", choice, "inside", "a chip for laptops or processors, which no shop sells alone"
        )
    if context == "cloud":
        return None
    if reading.count > 1:
        reason = f"{reading.count} cards in one product"
        return answer(title, "not_a_gpu", choice, "several", reason, count=reading.count)
    if not choice.coded and not products.shows_a_card(reading, words) and not _field_shows_a_card(evidence, words):
        reason = "names the chip, but nothing says that the product is a card"
        return answer(title, "ambiguous", choice, "product open", reason)
    return None


def _field_shows_a_card(evidence: Evidence | None, words: Vocabulary) -> bool:
    """Whether a field that only cards have is there: memory or chip, or the brand of a maker of cards."""
    if evidence is None:
        return False
    brand = (evidence.brand or "").lower().split()
    return bool(evidence.memory or evidence.chipset or words.board_maker.intersection(brand))
