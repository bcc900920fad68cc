"""From a title to one GPU, or to an honest "I do not know"."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from transform.identity import catalogue, index, part_numbers, products, vocabulary
from transform.identity.choosing import Choice, choose
from transform.identity.reading import Reader, Reading
from transform.identity.resolution import Evidence, Resolution

__all__ = ["Evidence", "Resolution", "Resolver"]


class Resolver:
    """Maps titles to GPUs. Load once: the index over the catalogue takes a tenth of a second. One per thread."""

    def __init__(self, built: index.Index, pins: Mapping[str, str]) -> None:
        self._index = built
        self._words = vocabulary.load()
        self._reader = Reader(built, self._words)
        self._pins = pins

    @classmethod
    def load(cls, pins: Mapping[str, str] | Iterable[tuple[str, str]] = ()) -> Resolver:
        """A resolver over the catalogue. `pins` maps titles to a gpu_id, or to `not_a_gpu`."""
        return cls(index.build(catalogue.gpus()), dict(pins))

    def resolve(self, title: str, evidence: Evidence | None = None, source: str | None = None) -> Resolution:
        """The GPU that `title` means; `evidence` is used where the title leaves it open."""
        reading = self._reader.read(title)
        choice = choose(reading, self._index, self._words)
        if not choice.mentions:
            choice = self._by_part_number(title, reading) or choice
        reason = products.not_a_card(reading, title, self._words)
        if reason:
            return self._answer(title, "not_a_gpu", choice, reason.kind, str(reason))
        if evidence:
            self._settle(choice, evidence)
        if choice.conflict:
            return self._answer(title, "unmatched" if choice.unknown or not choice.members else "ambiguous", choice, "conflict", choice.conflict)
        if not choice.members:
            return self._answer(title, "unmatched", choice, "no card", "no card of the catalogue is named")
        if len(choice.members) > 1:
            return self._answer(title, "ambiguous", choice, "open", "several cards remain")
        if choice.members[0].gpu.segment in ("mobile", "integrated") and not products.is_bare(reading, self._words):
            return self._answer(title, "not_a_gpu", choice, "inside a product", "a chip for laptops, named with more than itself")
        if reading.count > 1:
            return self._answer(title, "not_a_gpu", choice, "several", f"{reading.count} cards in one product", reading.count)
        return self._answer(title, "matched", choice, "name")

    def _answer(self, title: str, status: str, choice: Choice, rule: str, reason: str = "", count: int = 1) -> Resolution:
        gpu = choice.members[0].gpu if status == "matched" else None
        return Resolution(
            title=title,
            status=status,  # type: ignore[arg-type]
            gpu_id=gpu.gpu_id if gpu else None,
            gpu=gpu.display_name if gpu else None,
            candidates=tuple(sorted({member.gpu.gpu_id for member in choice.members})),
            gpu_count=count,
            rule=rule,
            notes=(*choice.notes, reason) if reason else tuple(choice.notes),
        )

    def _by_part_number(self, title: str, reading: Reading) -> Choice | None:
        """The card that a part number names, with the memory that the whole title states."""
        for words, maker in part_numbers.readings(title):
            coded = self._reader.read(words)
            family_sizes = frozenset(size for mention in coded.mentions for size in mention.family.sizes)
            coded.memory = reading.memory or [(size, inside) for size, inside in coded.memory if size in family_sizes]
            coded.memory_types |= reading.memory_types
            coded.marks |= reading.marks
            choice = choose(coded, self._index, self._words)
            if choice.members and not choice.conflict:
                choice.notes.insert(0, f"{maker}'s part number says {words!r}")
                reading.mentions = coded.mentions
                return choice
        return None

    def _settle(self, choice: Choice, evidence: Evidence) -> None:
        """Use the item's other fields: the chip and memory fields also contradict, the free text only settles."""
        if evidence.chipset:
            # Part catalogues write the shader count behind a dash: "Radeon RX 560 - 1024".
            field = choose(self._reader.read(evidence.chipset.split(" - ")[0]), self._index, self._words)
            if field.members and not field.conflict:
                both = [member for member in choice.members if member in field.members]
                if not choice.members:
                    choice.members, choice.conflict = field.members, None
                    choice.notes.append(f"the chip field says {evidence.chipset!r}")
                elif both:
                    choice.narrow(both, f"the chip field says {evidence.chipset!r}")
                else:
                    choice.members = choice.members + field.members
                    choice.conflict = f"the chip field says {evidence.chipset!r}"
        if evidence.memory:
            self._by_memory(choice, self._memory_field(evidence.memory), "memory field", contradicts=True)
        for name, text in (("part number", evidence.mpn), ("specification", evidence.specs)):
            if text and len(choice.members) > 1:
                self._by_memory(choice, self._reader.read(text), name, contradicts=False)

    def _memory_field(self, text: str) -> Reading:
        return self._reader.read(f"{text} GB" if text.replace(".", "", 1).strip().isdigit() else text)

    def _by_memory(self, choice: Choice, reading: Reading, name: str, *, contradicts: bool) -> None:
        sizes = reading.sizes
        kept = [member for member in choice.members if member.sizes & sizes]
        if sizes and not kept and contradicts and choice.members:
            choice.conflict = choice.conflict or f"the {name} says otherwise"
        choice.narrow(kept, f"by the {name}")
