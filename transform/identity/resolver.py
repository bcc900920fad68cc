"""From a title to one GPU, or to an honest "I do not know"."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable

from gpuledger.transform.identity import aliases, catalogue, index, part_numbers, products, rented, verdict, vocabulary
from gpuledger.transform.identity import evidence as fields
from gpuledger.transform.identity.choice import Choice
from gpuledger.transform.identity.choosing import choose
from gpuledger.transform.identity.pins import NOT_A_GPU, Pin
from gpuledger.transform.identity.reader import Reader
from gpuledger.transform.identity.reading import Reading
from gpuledger.transform.identity.resolution import Evidence, Resolution

__all__ = ["Evidence", "Resolution", "Resolver"]

#: A computer that a shop names so is on sale; in a table of results stands the system's name.
_SOLD_AS = frozenset(("gaming", "gamer"))
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
        self._aliases.check(lambda name: {member.gpu.gpu_id for member in self._read(name).members})

    @classmethod
    def load(cls, pins: Iterable[Pin] = ()) -> Resolver:
        """A resolver over the catalogue, with the titles that a person has pinned (`pins.read`)."""
        return cls(index.build(catalogue.gpus()), pins)

    def resolve(
        self, title: str, evidence: Evidence | None = None, source: str | None = None, *, explain: bool = False
    ) -> Resolution:
        """The GPU that `title` means.

        `evidence` are other fields of the same item. `source` is the name of the source the title is from: it brings that
        source's aliases and says whether the title is a shop's, a benchmark's or a cloud's. Pass it wherever it is known,
        above all for prices: without it, a system named by its GPU in brackets counts as that GPU. `explain` also lists the
        words that were ignored.
        """
        if self._pins and (pin := self._pin(title, source)):
            return _pinned(title, pin)
        reading = self._reader.read(title)
        found = self._decide(title, reading, evidence, source)
        if explain:
            ignored = tuple(token.text for token in reading.tokens if not token.live)
            return dataclasses.replace(found, ignored=ignored)
        return found

    def _decide(self, title: str, reading: Reading, evidence: Evidence | None, source: str | None) -> Resolution:
        context = self._aliases.context(source)
        reading.rented = context == "cloud"
        choice = self._choose(title, reading)
        if context not in ("benchmark", "cloud"):
            reason = products.not_a_card(reading, title, self._words, chip_field=bool(evidence and evidence.chipset))
            if reason and context is None and reason.kind == "computer" and (system := self._system(title, reading)):
                return verdict.of_choice(title, system, reading) or verdict.answer(title, "matched", system, "system")
            if reason:
                return verdict.answer(title, "not_a_gpu", choice, reason.kind, str(reason), count=reading.count)
        if evidence:
            fields.settle(choice, evidence, self._reader, self._index, self._words)
        if reading.rented:
            rented.narrow(choice)
            if choice.members and rented.is_slice(title):
                return verdict.answer(title, "unmatched", choice, "slice", "a part of a card, not the whole")
        open_still = len(choice.members) != 1 and not (choice.conflict and choice.members)
        if open_still and (alias := self._aliases.find(title, source)):
            return _aliased(title, alias, source, choice)
        product = verdict.of_choice(title, choice, reading) or verdict.of_product(
            title, reading, choice, context, evidence, self._words
        )
        if context is None and product and product.rule == "product open" and (system := self._system(title, reading)):
            return verdict.answer(title, "matched", system, "system")
        return product or verdict.answer(title, "matched", choice, "name", count=reading.count)

    def _read(self, text: str) -> Choice:
        return choose(self._reader.read(text), self._index, self._words)

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
                choice.coded = True
                choice.notes.insert(0, f"{maker}'s part number says {words!r}")
                if not checks:
                    reading.mentions = coded.mentions
                return choice
        return None

    def _system(self, title: str, reading: Reading) -> Choice | None:
        """`Ryzen 9 7900X (Nvidia 4090)` in a table of results: the brackets hold nothing but a chip's name."""
        outside = any(not mention.in_brackets for mention in reading.mentions)
        sold = reading.marks & (self._words.computer | self._words.laptop | _SOLD_AS)
        if outside or sold:
            return None
        for inside in _IN_BRACKETS.findall(title):
            alone = self._reader.read(inside)
            choice = choose(alone, self._index, self._words)
            if choice.members and products.is_bare(alone, self._words):
                choice.notes.insert(0, "a system named by the GPU in brackets")
                return choice
        return None

    def _pin(self, title: str, source: str | None) -> Pin | None:
        plain = " ".join(title.split())
        return self._pins.get((source or "", plain)) or self._pins.get(("", plain))


def _pinned(title: str, pin: Pin) -> Resolution:
    note = f"pinned on {pin.pinned_on}: {pin.reason}"
    if pin.gpu_id == NOT_A_GPU:
        return Resolution(title=title, status="not_a_gpu", rule="pin", notes=(note,))
    return _named(title, pin.gpu_id, "pin", (note,))


def _aliased(title: str, alias: aliases.Alias, source: str | None, choice: Choice) -> Resolution:
    where = f"alias of {source}" if source else "alias"
    return _named(title, alias.gpu_id, "alias", (*choice.notes, f"{where}: {alias.reason}"))


def _named(title: str, gpu_id: str, rule: str, notes: tuple[str, ...]) -> Resolution:
    name = catalogue.by_id()[gpu_id].display_name
    return Resolution(
        title=title, status="matched", gpu_id=gpu_id, gpu=name, candidates=(gpu_id,), rule=rule, notes=notes
    )
