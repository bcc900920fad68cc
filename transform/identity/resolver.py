"""From a title to one GPU, or to an honest "I do not know"."""

from __future__ import annotations

import re
from collections.abc import Iterable

from transform.identity import aliases, catalogue, index, part_numbers, products, vocabulary
from transform.identity import evidence as fields
from transform.identity.choosing import Choice, choose
from transform.identity.pins import NOT_A_GPU, Pin
from transform.identity.reading import Reader, Reading
from transform.identity.resolution import Evidence, Resolution, Status

__all__ = ["Evidence", "Resolution", "Resolver"]

_IN_BRACKETS = re.compile(r"\(([^()]*)\)")


class Resolver:
    """Maps titles to GPUs.

    Load it once and keep it: the index over the catalogue takes a tenth of a second. It learns words as it reads, so every
    thread needs a resolver of its own; what it answers does not depend on what it has read before.
    """

    def __init__(self, built: index.Index, pinned: Iterable[Pin] = ()) -> None:
        """A resolver over an index. Raises AliasError where an alias contradicts the catalogue."""
        self._index = built
        self._words = vocabulary.load()
        self._reader = Reader(built, self._words)
        self._pins = {pin.place: pin for pin in pinned}
        self._aliases = aliases.load()
        self._check_aliases()

    @classmethod
    def load(cls, pins: Iterable[Pin] = ()) -> Resolver:
        """A resolver over the catalogue, with the titles that a person has pinned (`pins.read`)."""
        return cls(index.build(catalogue.gpus()), pins)

    def resolve(
        self, title: str, evidence: Evidence | None = None, source: str | None = None, *, explain: bool = False
    ) -> Resolution:
        """The GPU that `title` means.

        `evidence` are other fields of the same item. `source` is the name of the source the title is from: it brings that
        source's aliases and says whether the title is a shop's, a benchmark's or a cloud's. Pass it wherever it is known, above
        all for prices: without it, a system named by its GPU in brackets counts as that GPU. `explain` also lists the words
        that were ignored.
        """
        if pin := self._pin(title, source):
            return self._pinned(title, pin)
        reading = self._reader.read(title)
        choice = self._choose(title, reading)
        answer = self._decide(title, reading, choice, evidence, source)
        if not explain:
            return answer
        ignored = tuple(token.text for token in reading.tokens if not token.live)
        return Resolution(**{**{name: getattr(answer, name) for name in Resolution.__slots__}, "ignored": ignored})

    def _decide(
        self, title: str, reading: Reading, choice: Choice, evidence: Evidence | None, source: str | None
    ) -> Resolution:
        context = self._aliases.context(source)
        system_alone = False
        if context not in ("benchmark", "cloud"):
            chip_field = bool(evidence and evidence.chipset)
            reason = products.not_a_card(reading, title, self._words, chip_field=chip_field)
            if reason and reason.kind == "computer" and context is None and (system := self._system(title, reading)):
                choice, system_alone = system, True
            elif reason:
                return _answer(title, "not_a_gpu", choice, reason.kind, str(reason))
        if evidence:
            fields.settle(choice, evidence, self._reader, self._index, self._words)
        if (len(choice.members) != 1 or choice.conflict) and (alias := self._aliases.find(title, source)):
            return self._aliased(title, alias, source, choice)
        if choice.conflict:
            status: Status = "unmatched" if choice.unknown or not choice.members else "ambiguous"
            return _answer(title, status, choice, "conflict", choice.conflict)
        if not choice.members:
            return _answer(title, "unmatched", choice, "no card", "no card of the catalogue is named")
        if len(choice.members) > 1:
            return _answer(title, "ambiguous", choice, "open", "nothing says which of them")
        if (
            context != "benchmark"
            and choice.members[0].gpu.segment in ("mobile", "integrated")
            and not products.is_bare(reading, self._words)
        ):
            return _answer(
                title, "not_a_gpu", choice, "inside", "a chip for laptops or processors, named with more than itself"
            )
        if context not in ("benchmark", "cloud") and not evidence and not products.shows_a_card(reading, self._words) and not system_alone:
            return _answer(title, "ambiguous", choice, "product open", "names the chip, but nothing says that the product is a card")
        if reading.count > 1 and context != "cloud":
            return _answer(
                title, "not_a_gpu", choice, "several", f"{reading.count} cards in one product", reading.count
            )
        return _answer(title, "matched", choice, "name", count=reading.count)

    def _choose(self, title: str, reading: Reading) -> Choice:
        choice = choose(reading, self._index, self._words)
        if not choice.mentions:
            return self._by_part_number(title, reading) or choice
        if part_numbers.to_check(title):
            coded = self._by_part_number(title, reading, checks=True)
            if coded and choice.members and not any(member in choice.members for member in coded.members):
                choice.members = choice.members + coded.members
                choice.conflict = f"{coded.notes[0]}, the words another card"
        return choice

    def _by_part_number(self, title: str, reading: Reading, *, checks: bool = False) -> Choice | None:
        """The card that a part number names, with the memory that the whole title states."""
        for words, maker in part_numbers.readings(title, checks=checks):
            coded = self._reader.read(words)
            sold = frozenset(size for mention in coded.mentions for size in mention.family.sizes)
            coded.memory = reading.memory or [(size, inside) for size, inside in coded.memory if size in sold]
            coded.memory_types |= reading.memory_types
            coded.marks |= reading.marks
            choice = choose(coded, self._index, self._words)
            if choice.members and not choice.conflict:
                choice.notes.insert(0, f"{maker}'s part number says {words!r}")
                if not checks:
                    reading.mentions = coded.mentions
                return choice
        return None

    def _system(self, title: str, reading: Reading) -> Choice | None:
        """`Ryzen 9 7900X (Nvidia 4090)` in a table of results: the brackets hold nothing but a chip's name."""
        if any(not mention.in_brackets for mention in reading.mentions) or reading.marks & (
            self._words.computer | self._words.laptop
        ):
            return None
        for inside in _IN_BRACKETS.findall(title):
            alone = self._reader.read(inside)
            choice = choose(alone, self._index, self._words)
            if choice.members and products.is_bare(alone, self._words):
                choice.notes.insert(0, "a system named by the GPU in brackets")
                return choice
        return None

    def _pin(self, title: str, source: str | None) -> Pin | None:
        if not self._pins:
            return None
        plain = " ".join(title.split())
        return self._pins.get((source or "", plain)) or self._pins.get(("", plain))

    def _pinned(self, title: str, pin: Pin) -> Resolution:
        note = (f"pinned on {pin.pinned_on}: {pin.reason}",)
        if pin.gpu_id == NOT_A_GPU:
            return Resolution(title=title, status="not_a_gpu", rule="pin", notes=note)
        gpu = catalogue.by_id()[pin.gpu_id]
        return Resolution(
            title=title,
            status="matched",
            gpu_id=gpu.gpu_id,
            gpu=gpu.display_name,
            candidates=(gpu.gpu_id,),
            rule="pin",
            notes=note,
        )

    def _aliased(self, title: str, alias: aliases.Alias, source: str | None, choice: Choice) -> Resolution:
        gpu = catalogue.by_id()[alias.gpu_id]
        where = f"alias of {source}" if source else "alias"
        return Resolution(
            title=title,
            status="matched",
            gpu_id=gpu.gpu_id,
            gpu=gpu.display_name,
            candidates=(gpu.gpu_id,),
            rule="alias",
            notes=(*choice.notes, f"{where}: {alias.reason}"),
            decided_by=tuple(mention.words for mention in choice.mentions),
        )

    def _check_aliases(self) -> None:
        """Raise AliasError where an alias names no card, or a card that its own words exclude."""
        for (source, name), alias in self._aliases.by_key.items():
            if alias.gpu_id not in catalogue.by_id():
                raise aliases.AliasError(
                    f"aliases.toml: {name!r} means {alias.gpu_id!r}, which is not in the catalogue; correct it"
                )
            choice = choose(self._reader.read(name), self._index, self._words)
            meant = {member.gpu.gpu_id for member in choice.members}
            if meant and alias.gpu_id not in meant:
                raise aliases.AliasError(
                    f"aliases.toml: {name!r} of {source or 'no source'} means {alias.gpu_id}, but its words say {sorted(meant)}; correct it"
                )


def _answer(title: str, status: Status, choice: Choice, rule: str, reason: str = "", count: int = 1) -> Resolution:
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
