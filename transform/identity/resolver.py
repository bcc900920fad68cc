"""Resolves a title to one GPU, or to an honest "I do not know"."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Iterator

from gpuledger.transform.identity import (
    aliases,
    catalogue,
    counts,
    from_machines,
    index,
    machines,
    part_numbers,
    products,
    rented,
    systems,
    verdict,
    vocabulary,
)  # fmt: skip
from gpuledger.transform.identity import evidence as fields
from gpuledger.transform.identity.choice import Choice
from gpuledger.transform.identity.choosing import choose
from gpuledger.transform.identity.gpu import Gpu
from gpuledger.transform.identity.own import Names
from gpuledger.transform.identity.pins import NOT_A_GPU, Pin
from gpuledger.transform.identity.reader import Reader
from gpuledger.transform.identity.reading import Reading
from gpuledger.transform.identity.resolution import Evidence, ProductKind, Resolution
from gpuledger.transform.identity.verdict import Item, Why

__all__ = ["Evidence", "Resolution", "Resolver"]

#: Words that a shop uses for a computer that it sells. A system in a table of results has no such word in its name.
_SOLD_AS = frozenset(("gaming", "gamer"))
#: Kinds of `products` without a card in them, and the kind of product in the answer.
_KINDS_WITHOUT_CARDS: dict[str, ProductKind] = {
    "accessory": "accessory", "service": "service", "broken": "broken", "other": "other",
}  # fmt: skip
#: Letters of the longest title or field that is read. Those of shops have a few hundred. Reading time grows with the square
#: of the letters, and a night reads texts that strangers wrote.
MOST_LETTERS = 4_000
_GIGABYTES = re.compile(r"(?<![\d.])(\d{1,4})\s?gb?\b")
_IN_BRACKETS = re.compile(r"\(([^()]*)\)")


class Resolver:
    """Maps titles to GPUs.

    Load a resolver once and keep it. It remembers words that it has read, so every thread needs a resolver of its own. Its
    answers do not depend on the titles that it has read before.
    """

    def __init__(self, built: index.Index, pinned: Iterable[Pin] = (), own: Iterable[Gpu] = ()) -> None:
        """A resolver over an index. Raises AliasError if an alias contradicts the catalogue."""
        self._index = built
        self._vocabulary = vocabulary.load()
        self._reader = Reader(built, self._vocabulary)
        self._own = Names.of(own)
        self._pins = {pin.place: pin for pin in pinned}
        self._aliases = aliases.load()
        self._aliases.check(lambda name: {member.gpu.gpu_id for member in self._choice_of(name).members})

    @classmethod
    def load(cls, pins: Iterable[Pin] = (), own: Iterable[Gpu] = ()) -> Resolver:
        """A resolver over the catalogue, with the titles that a person pinned (`pins.read_pins`) and the GPUs that the user
        added.
        """
        return cls(index.of_catalogue(), pins, own)

    def resolve(
        self, title: str, evidence: Evidence | None = None, source: str | None = None, *, explain: bool = False
    ) -> Resolution:
        """The GPU that `title` means.

        `evidence` holds other fields of the same item. `source` is the name of the title's source. It selects the aliases of
        the source, and tells whether the title is from a shop, a benchmark or a cloud. Pass the source if it is known, above
        all for prices: without it, a system that is named by its GPU in brackets counts as that GPU. `explain` also lists
        the ignored words.
        """
        if self._pins and (pin := self._pin_of(title, source)):
            return _answer_of_pin(title, pin)
        if (letters := max(map(len, _texts(title, evidence)))) > MOST_LETTERS:
            why = Why("too long", f"{letters} letters are no title, nor a field of one item")
            return verdict.answer(title, "unmatched", Choice(), why)
        reading = self._reader.read_title(title)
        resolution = self._decide(title, reading, evidence, source)
        if resolution.status != NOT_A_GPU and (added := self._own.find(title)):
            resolution = _answer_of_own(resolution, added)
        if explain:
            ignored = tuple(token.text for token in reading.tokens if not token.live)
            return dataclasses.replace(resolution, ignored=ignored)
        return resolution

    def _decide(self, title: str, reading: Reading, evidence: Evidence | None, source: str | None) -> Resolution:
        context = self._aliases.context(source)
        reading.rented = context == "cloud"
        if context in (None, "benchmark") and (
            shared := machines.choice_in_question(title, in_a_table=context == "benchmark")
        ):
            machine = verdict.of_choice(title, shared, reading) or verdict.answer(
                title, "matched", shared, Why("machine")
            )
            return dataclasses.replace(machine, product_kind="computer")
        choice = self._choose(title, reading)
        before = (counts.of_cards_before(reading, mention, self._vocabulary) for mention in choice.mentions)
        reading.count = max(reading.count, *before, 1)
        if context not in ("benchmark", "cloud"):
            if for_a_machine := self._card_for_a_machine(title, evidence, source):
                return for_a_machine
            reason = products.not_a_card(
                reading, title, self._vocabulary, chip_field=bool(evidence and evidence.chipset)
            )
            if (
                reason
                and context is None
                and reason.kind == "computer"
                and (system := self._choice_in_brackets(title, reading))
            ):
                return verdict.of_choice(title, system, reading) or verdict.answer(
                    title, "matched", system, Why("system")
                )
            # In a question, the name of a machine with one chip (DGX Spark) means the chip. A shop sells the machine.
            aliased = context is None and self._aliases.find(title, None)
            if not aliased and (product := self._product_with_cards(title, reading, reason, choice)):
                return product
            if reason:
                answer = verdict.answer(title, "not_a_gpu", choice, Why(reason.kind, str(reason)), count=reading.count)
                return dataclasses.replace(answer, product_kind=_KINDS_WITHOUT_CARDS.get(reason.kind))
        if evidence:
            fields.settle(choice, evidence, self._reader, self._index, self._vocabulary)
        if reading.rented:
            rented.narrow(choice)
            if choice.members and rented.is_slice(title):
                return verdict.answer(title, "unmatched", choice, Why("slice", "a part of a card, not the whole"))
        open_still = len(choice.members) != 1 and not (choice.conflict and choice.members)
        if open_still and (alias := self._aliases.find(title, source)):
            return _answer_of_alias(title, alias, source, choice)
        item = Item(title, context, evidence)
        product = verdict.of_choice(title, choice, reading) or verdict.of_product(
            item, reading, choice, self._vocabulary
        )
        if (
            context is None
            and product
            and product.rule == "product open"
            and (system := self._choice_in_brackets(title, reading))
        ):
            return verdict.answer(title, "matched", system, Why("system"))
        return product or verdict.answer(title, "matched", choice, Why("name"), count=reading.count)

    def _card_for_a_machine(self, title: str, evidence: Evidence | None, source: str | None) -> Resolution | None:
        """The answer if the title says that a card is for a line of machines (`for Dell PowerEdge R750`): the product is the
        card and not the machine. None if the title does not say so.
        """
        cut = from_machines.without_its_machine(title, self._vocabulary)
        if cut is None or not self._choose(cut.product_part, self._reader.read_title(cut.product_part)).members:
            return None
        resolution = self._decide(cut.shortened_title, self._reader.read_title(cut.shortened_title), evidence, source)
        note = "said to be for a machine, and none itself"
        return dataclasses.replace(resolution, title=title, notes=(*resolution.notes, note))

    def _product_with_cards(
        self, title: str, reading: Reading, reason: products.NotACard | None, choice: Choice
    ) -> Resolution | None:
        """The answer if the product is not a card but holds cards (a server, a laptop, a lot); None otherwise."""
        if reason is not None and reason.kind in _KINDS_WITHOUT_CARDS:
            return None
        is_edition = any("server" in member.suffixes for member in choice.members)
        sold = systems.find(title, reading, self._vocabulary, is_edition=is_edition)
        if sold is None and reason is not None:
            sold = systems.of_kind(reason, title, reading, self._vocabulary)
        if sold is None:
            return None
        why = Why(reason.kind, str(reason)) if reason else Why(sold.kind, sold.why)
        return verdict.of_system(title, sold, self._card_inside(title, sold), why)

    def _card_inside(self, title: str, sold: systems.System) -> Choice:
        """The card in a product, from the title without the words for the product. The memory in the title counts only if it
        fits the card, as it may be that of the machine.
        """
        text = systems.without_words_of_systems(title)
        shared = machines.choice_in_title(text)
        if shared is not None and sold.kind in ("computer", "workstation", "laptop"):
            return shared
        # A short name (A100) counts only beside a word for cards. The product holds cards, so such a word is added.
        beside = [text, sold.gpu or "", "laptop" if sold.kind == "laptop" else "gpu"]
        reading = self._reader.read_title(" ".join(beside))
        reading.memory = []
        choice = choose(reading, self._index, self._vocabulary)
        sizes = frozenset().union(*(member.sizes for member in choice.members))
        stated = [float(size) for size in _GIGABYTES.findall(text)]
        own = [size for size in stated if size in sizes]
        shares = [size / sold.gpu_count for size in stated if sold.gpu_count]
        reading.memory = [(size, False) for size in own or shares if size in sizes]
        return choose(reading, self._index, self._vocabulary) if reading.memory else choice

    def _choice_of(self, text: str) -> Choice:
        return choose(self._reader.read_title(text), self._index, self._vocabulary)

    def _choose(self, title: str, reading: Reading) -> Choice:
        choice = choose(reading, self._index, self._vocabulary)
        if not choice.mentions:
            return self._by_part_number(title, reading) or choice
        if part_numbers.to_check(title):
            coded = self._by_part_number(title, reading, checks=True)
            if coded and choice.members and not any(member in choice.members for member in coded.members):
                choice.members = choice.members + coded.members
                choice.conflict = f"{coded.notes[0]}, the words another card"
        return choice

    def _by_part_number(self, title: str, reading: Reading, *, checks: bool = False) -> Choice | None:
        """The card that a part number names, narrowed by the memory in the whole title; None if no part number names one."""
        for spelled, maker in part_numbers.readings(title, checks=checks):
            coded = self._reader.read_title(spelled)
            sold = frozenset(size for mention in coded.mentions for size in mention.family.sizes)
            coded.memory = reading.memory or [(size, inside) for size, inside in coded.memory if size in sold]
            coded.memory_types |= reading.memory_types
            coded.marks |= reading.marks
            choice = choose(coded, self._index, self._vocabulary)
            if choice.members and not choice.conflict:
                choice.coded = True
                choice.notes.insert(0, f"{maker}'s part number says {spelled!r}")
                if not checks:
                    reading.mentions = coded.mentions
                return choice
        return None

    def _choice_in_brackets(self, title: str, reading: Reading) -> Choice | None:
        """The card of a system in a table of results, as in `Ryzen 9 7900X (Nvidia 4090)`; None if brackets do not hold
        exactly a chip's name.
        """
        outside = any(not mention.in_brackets for mention in reading.mentions)
        sold = reading.marks & (self._vocabulary.computer | self._vocabulary.laptop | _SOLD_AS)
        if outside or sold:
            return None
        for inside in _IN_BRACKETS.findall(title):
            alone = self._reader.read_title(inside)
            choice = choose(alone, self._index, self._vocabulary)
            if choice.members and products.is_bare(alone, self._vocabulary):
                choice.notes.insert(0, "a system named by the GPU in brackets")
                return choice
        return None

    def _pin_of(self, title: str, source: str | None) -> Pin | None:
        plain = " ".join(title.split())
        return self._pins.get((source or "", plain)) or self._pins.get(("", plain))


def _answer_of_pin(title: str, pin: Pin) -> Resolution:
    note = f"pinned on {pin.pinned_on}: {pin.reason}"
    if pin.gpu_id == NOT_A_GPU:
        return Resolution(title=title, status="not_a_gpu", rule="pin", notes=(note,))
    return _matched(title, pin.gpu_id, "pin", (note,))


def _answer_of_own(resolution: Resolution, gpu: Gpu) -> Resolution:
    return dataclasses.replace(
        resolution, status="matched", gpu_id=gpu.gpu_id, gpu=gpu.display_name, candidates=(gpu.gpu_id,),
        product_kind="card" if resolution.gpu_count == 1 else "lot", rule="own", notes=("a card that was added",),
    )  # fmt: skip


def _answer_of_alias(title: str, alias: aliases.Alias, source: str | None, choice: Choice) -> Resolution:
    where = f"alias of {source}" if source else "alias"
    return _matched(title, alias.gpu_id, "alias", (*choice.notes, f"{where}: {alias.reason}"))


def _matched(title: str, gpu_id: str, rule: str, notes: tuple[str, ...]) -> Resolution:
    name = catalogue.by_id()[gpu_id].display_name
    return Resolution(
        title=title, status="matched", gpu_id=gpu_id, gpu=name, candidates=(gpu_id,), rule=rule, notes=notes
    )


def _texts(title: str, evidence: Evidence | None) -> Iterator[str]:
    """All texts of an item that are read."""
    yield title
    if evidence:
        yield from filter(None, (getattr(evidence, field.name) for field in dataclasses.fields(evidence)))
