"""Resolves a title to one GPU, or to an honest "I do not know".

The rules are asked in their order, and the first that answers decides: `OF_MACHINES` before a card is looked for,
`OF_PRODUCTS` about what is sold, and `OF_CARDS` about which card it is. Each has its reason and a title that it decides.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from gpuledger.transform.identity import (
    aliases,
    catalogue,
    index,
    products,
    systems,
    vocabulary,
)
from gpuledger.transform.identity.added_cards import Names
from gpuledger.transform.identity.choosing import Choice, choose, settle
from gpuledger.transform.identity.gpu import Gpu
from gpuledger.transform.identity.pins import NOT_A_GPU, Pin, place_of
from gpuledger.transform.identity.reader import Reader, Reading, cards_before
from gpuledger.transform.identity.resolution import Evidence, ProductKind, Resolution, Status

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
# NVIDIA's names of virtual GPU profiles (`A10-4Q`, `T4-8C`) and multi-instance profiles (`A100 MIG 1g.5gb`), and fractions.
# Source: NVIDIA, Virtual GPU Software User Guide, and Multi-Instance GPU User Guide.
_SLICE = re.compile(
    r"-\d{1,2}[qcab]\b|\b[1-7]g\.\d{1,3}gb\b|\bmig\b|\bvgpu\b|(?<![\d/])[1-9]/(?!1\b)\d{1,2}(?![\d/])|\bfraction", re.I
)


@dataclass(slots=True)
class Asked:
    """A title with the other fields of its item and its source, and what was understood so far."""

    title: str
    evidence: Evidence | None
    source: str | None
    context: aliases.Context | None
    reading: Reading
    choice: Choice = field(default_factory=Choice)
    #: Why the product is not a card; None if nothing speaks against a card.
    reason: products.NotACard | None = None

    @property
    def is_sold(self) -> bool:
        """Whether the title is a shop's or a question, where the price belongs to the whole product.

        A table of results names a laptop by its GPU, and a cloud rents several GPUs as one instance.
        """
        return self.context not in ("benchmark", "cloud")


class Resolver:
    """Maps titles to GPUs.

    Load a resolver once and keep it. It remembers words that it has read, so every thread needs a resolver of its own. Its
    answers do not depend on the titles that it has read before.
    """

    def __init__(self, built: index.Index, pinned: Iterable[Pin] = (), own: Iterable[Gpu] = ()) -> None:
        """A resolver over an index. Raises AliasError if an alias contradicts the catalogue."""
        self._vocabulary = vocabulary.load()
        self._reader = Reader(built, self._vocabulary)
        self._own = Names.of(own)
        self._pins = {pin.place: pin for pin in pinned}
        self._aliases = aliases.load()
        self._aliases.check(
            lambda name: {member.gpu.gpu_id for member in choose(self._reader.read_title(name)).members}
        )

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
        if self._pins and (pin := self._pins.get(place_of(title, source)) or self._pins.get(place_of(title, None))):
            note = f"pinned on {pin.pinned_on}: {pin.reason}"
            if pin.gpu_id == NOT_A_GPU:
                return Resolution(title=title, status="not_a_gpu", rule="pin", notes=(note,))
            return _matched(title, pin.gpu_id, "pin", (note,))
        letters = len(title) if evidence is None else max(map(len, _texts(title, evidence)))
        if letters > MOST_LETTERS:
            why = f"{letters} letters are no title, nor a field of one item"
            return Resolution(title=title, status="unmatched", rule="too long", notes=(why,))
        sold = products.offered(title)
        reading = self._reader.read_title(sold)
        resolution = self._decide(sold, reading, evidence, source)
        if sold is not title:
            kind = resolution.product_kind or "service"  # what it wants in return is no card that it sells
            resolution = dataclasses.replace(resolution, title=title, product_kind=kind)
        if self._own.gpus and resolution.status != NOT_A_GPU and (added := self._own.find(title)):
            resolution = _answer_of_own(resolution, added)
        if explain:
            ignored = tuple(token.text for token in reading.tokens if not token.live)
            return dataclasses.replace(resolution, ignored=ignored)
        return resolution

    def _decide(self, title: str, reading: Reading, evidence: Evidence | None, source: str | None) -> Resolution:
        asked = Asked(title, evidence, source, self._aliases.context(source), reading)
        reading.rented = asked.context == "cloud"
        if answer := self._first(OF_MACHINES, asked):
            return answer
        asked.choice = self._choose(title, reading)
        counted = (cards_before(reading, mention) for mention in asked.choice.mentions)
        reading.count = max(reading.count, *counted, 1)
        if asked.is_sold and (answer := self._first(OF_PRODUCTS, asked)):
            return answer
        if evidence:
            settle(asked.choice, evidence, self._reader)
        if reading.rented:
            _keep_data_center(asked.choice)
        return self._first(OF_CARDS, asked) or _answer(asked, "matched", "name", count=reading.count)

    def _first(self, rules: Iterable[Rule], asked: Asked) -> Resolution | None:
        for rule in rules:
            if answer := rule.find(self, asked):
                return answer
        return None

    # --- Rules of machines and products -------------------------------------------------------------------------------

    def _machine(self, asked: Asked) -> Resolution | None:
        if asked.context not in (None, "benchmark"):
            return None
        choice = systems.choice_in_question(asked.title, in_a_table=asked.context == "benchmark")
        if choice is None:
            return None
        asked = dataclasses.replace(asked, choice=choice)
        answer = self._first(NOT_ONE_CARD, asked) or _answer(asked, "matched", "machine")
        return dataclasses.replace(answer, product_kind="computer")

    def _card_for_a_machine(self, asked: Asked) -> Resolution | None:
        cut = systems.without_its_machine(asked.title, asked.reading)
        if cut is None or not self._choose(cut.product_part, self._reader.read_title(cut.product_part)).members:
            return None
        short = cut.shortened_title
        resolution = self._decide(short, self._reader.read_title(short), asked.evidence, asked.source)
        note = "said to be for a machine, and none itself"
        return dataclasses.replace(resolution, title=asked.title, notes=(*resolution.notes, note))

    def _system_by_its_card(self, asked: Asked) -> Resolution | None:
        has_chip = bool(asked.evidence and asked.evidence.chipset)
        asked.reason = products.not_a_card(asked.reading, asked.title, chip_field=has_chip)
        if asked.context is not None or asked.reason is None or asked.reason.kind != "computer":
            return None
        system = self._choice_in_brackets(asked.title, asked.reading)
        if system is None:
            return None
        asked = dataclasses.replace(asked, choice=system)
        return self._first(NOT_ONE_CARD, asked) or _answer(asked, "matched", "system")

    def _product_with_cards(self, asked: Asked) -> Resolution | None:
        reason, reading, title = asked.reason, asked.reading, asked.title
        if reason is not None and reason.kind in _KINDS_WITHOUT_CARDS:
            return None
        is_edition = any("server" in member.suffixes for member in asked.choice.members)
        sold = systems.find(title, reading, is_edition=is_edition)
        if sold is None and reason is not None:
            sold = systems.of_kind(reason, title, reading)
        # In a question, the name of a machine with one chip (DGX Spark) means the chip. A shop sells the machine.
        if sold is None or (asked.context is None and self._aliases.find(reading.words, None)):
            return None
        rule, why = (reason.kind, str(reason)) if reason else (sold.kind, sold.why)
        return _answer_of_system(dataclasses.replace(asked, choice=self._card_inside(title, sold)), sold, rule, why)

    def _product_without_cards(self, asked: Asked) -> Resolution | None:
        if asked.reason is None:
            return None
        kind = asked.reason.kind
        answer = _answer(asked, "not_a_gpu", kind, str(asked.reason), count=asked.reading.count)
        return dataclasses.replace(answer, product_kind=_KINDS_WITHOUT_CARDS.get(kind))

    # --- Rules of cards -----------------------------------------------------------------------------------------------

    def _slice(self, asked: Asked) -> Resolution | None:
        if not asked.reading.rented or not asked.choice.members or not _SLICE.search(asked.title):
            return None
        return _answer(asked, "unmatched", "slice", "a part of a card, not the whole")

    def _alias(self, asked: Asked) -> Resolution | None:
        choice = asked.choice
        is_open = len(choice.members) != 1 and not (choice.conflict and choice.members)
        alias = self._aliases.find(asked.reading.words, asked.source) if is_open else None
        if alias is None:
            return None
        where = f"alias of {asked.source}" if asked.source else "alias"
        return _matched(asked.title, alias.gpu_id, "alias", (*choice.notes, f"{where}: {alias.reason}"))

    def _conflict(self, asked: Asked) -> Resolution | None:
        choice = asked.choice
        if not choice.conflict:
            return None
        # A cloud's price for an ambiguous name is compared by the weakest candidate. This would be wrong for a name with a
        # memory size that no candidate has (an A10 with 4 GB is a sixth of a card).
        has_none = choice.unknown or not choice.members or asked.reading.rented
        status: Status = "unmatched" if has_none else "ambiguous"
        return _answer(asked, status, "conflict", choice.conflict, count=asked.reading.count)

    def _no_card(self, asked: Asked) -> Resolution | None:
        if asked.choice.members:
            return None
        return _answer(asked, "unmatched", "no card", "no card of the catalogue is named")

    def _open(self, asked: Asked) -> Resolution | None:
        if len(asked.choice.members) == 1:
            return None
        return _answer(asked, "ambiguous", "open", "nothing says which of them", count=asked.reading.count)

    def _inside(self, asked: Asked) -> Resolution | None:
        within = asked.choice.members[0].gpu.segment in ("mobile", "integrated") and asked.context != "benchmark"
        if not within or (asked.context != "shop" and products.is_bare(asked.reading)):
            return None
        # "RTX 4060 Laptop" alone is the chip's name, but a shop with this title sells the laptop.
        return _answer(asked, "not_a_gpu", "inside", "a chip for laptops or processors, which no shop sells alone")

    def _several(self, asked: Asked) -> Resolution | None:
        if not asked.is_sold or asked.reading.count == 1:
            return None
        sold = systems.of_several(asked.reading.count, asked.title)
        return _answer_of_system(asked, sold, "several", sold.why)

    def _product_open(self, asked: Asked) -> Resolution | None:
        shown = asked.choice.coded or (
            products.shows_a_card(asked.reading) and products.unknown_head(asked.reading, asked.title) is None
        )
        if not asked.is_sold or shown or _field_shows_a_card(asked.evidence, self._vocabulary):
            return None
        system = self._choice_in_brackets(asked.title, asked.reading) if asked.context is None else None
        if system is not None:
            return _answer(dataclasses.replace(asked, choice=system), "matched", "system")
        return _answer(
            asked, "ambiguous", "product open", "names the chip, but nothing says that the product is a card"
        )

    # --- What the rules need ------------------------------------------------------------------------------------------

    def _card_inside(self, title: str, sold: systems.System) -> Choice:
        """The card in a product, from the title without the words for the product. The memory in the title counts only if it
        fits the card, as it may be that of the machine.
        """
        text = systems.without_words_of_systems(title)
        shared = systems.choice_in_title(text)
        if shared is not None and sold.kind in ("computer", "workstation", "laptop"):
            return shared
        # A short name (A100) counts only beside a word for cards. The product holds cards, so such a word is added.
        reading = self._reader.read_title(
            " ".join((text, sold.gpu or "", "laptop" if sold.kind == "laptop" else "gpu"))
        )
        reading.memory = []
        choice = choose(reading)
        sizes = frozenset().union(*(member.sizes for member in choice.members))
        stated = [float(size) for size in _GIGABYTES.findall(text)]
        own = [size for size in stated if size in sizes]
        shares = [size / sold.gpu_count for size in stated if sold.gpu_count]
        reading.memory = [(size, False) for size in own or shares if size in sizes]
        return choose(reading) if reading.memory else choice

    def _choose(self, title: str, reading: Reading) -> Choice:
        choice = choose(reading)
        if not choice.mentions:
            return self._by_part_number(title, reading) or choice
        if aliases.to_check(title):
            coded = self._by_part_number(title, reading, checks=True)
            if coded and choice.members and not any(member in choice.members for member in coded.members):
                choice.members = choice.members + coded.members
                choice.conflict = f"{coded.notes[0]}, the words another card"
        return choice

    def _by_part_number(self, title: str, reading: Reading, *, checks: bool = False) -> Choice | None:
        """The card that a part number names, narrowed by the memory in the whole title; None if no part number names one."""
        for spelled, maker in aliases.readings(title, checks=checks):
            coded = self._reader.read_title(spelled)
            sold = frozenset(size for mention in coded.mentions for size in mention.family.sizes)
            coded.memory = reading.memory or [(size, inside) for size, inside in coded.memory if size in sold]
            coded.memory_types |= reading.memory_types
            coded.marks |= reading.marks
            choice = choose(coded)
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
            choice = choose(alone)
            if choice.members and products.is_bare(alone):
                choice.notes.insert(0, "a system named by the GPU in brackets")
                return choice
        return None


@dataclass(frozen=True, slots=True)
class Rule:
    """One way to an answer. `find` returns the answer; None if the rule does not apply."""

    reason: str
    #: A title that this rule decides.
    case: str
    find: Callable[[Resolver, Asked], Resolution | None]


OF_MACHINES: tuple[Rule, ...] = (
    Rule("a question or a table names a machine by its chip", "Apple M2 Ultra 64GB", Resolver._machine),
)
#: Only for titles of shops and questions.
OF_PRODUCTS: tuple[Rule, ...] = (
    Rule("a card that is for a machine is the card", "L40S for Dell PowerEdge R750", Resolver._card_for_a_machine),
    Rule("a table names a system by its card", "Ryzen 9 7900X (Nvidia 4090)", Resolver._system_by_its_card),
    Rule("a server or a bundle holds cards", "Supermicro server with 8x H100", Resolver._product_with_cards),
    Rule("a bracket holds none", "RTX 4090 bracket", Resolver._product_without_cards),
)
#: What is said of a choice that is not exactly one card.
NOT_ONE_CARD: tuple[Rule, ...] = (
    Rule("the title contradicts itself or the card", "RTX 3070 16GB", Resolver._conflict),
    Rule("it names no card of the catalogue", "Bicycle", Resolver._no_card),
    Rule("several cards have the name", "RTX 3060", Resolver._open),
)
OF_CARDS: tuple[Rule, ...] = (
    Rule("clouds also rent parts of a card", "A100 MIG 1g.5gb", Resolver._slice),
    Rule("an alias says which card a source means", "DGX Spark", Resolver._alias),
    *NOT_ONE_CARD,
    Rule("no shop sells a laptop's chip alone", "ASUS RTX 4060 Laptop 8GB", Resolver._inside),
    Rule("the price is for several cards", "2x RTX 3090 24GB", Resolver._several),
    Rule("something with this chip may be sold, not the card", "Galactic wonder RTX 4090", Resolver._product_open),
)


def _answer(asked: Asked, status: Status, rule: str, reason: str | None = None, *, count: int = 1) -> Resolution:
    """An answer with `status`. Its notes are those of the choice, followed by `reason`, if they do not give it."""
    choice = asked.choice
    gpu = choice.members[0].gpu if status == "matched" else None
    return Resolution(
        title=asked.title,
        status=status,
        gpu_id=gpu.gpu_id if gpu else None,
        gpu=gpu.display_name if gpu else None,
        candidates=tuple(sorted({member.gpu.gpu_id for member in choice.members})),
        product_kind=("card" if count == 1 else "lot") if choice.members and status != "not_a_gpu" else None,
        gpu_count=count,
        rule=rule,
        notes=(*choice.notes, reason) if reason else tuple(choice.notes),
        decided_by=tuple(mention.spelled for mention in choice.mentions),
    )


def _answer_of_system(asked: Asked, sold: systems.System, rule: str, reason: str) -> Resolution:
    """The answer for a product with cards in it. It never matches a card, but names the card inside if that is certain."""
    choice = asked.choice
    inside = choice.members[0].gpu if len(choice.members) == 1 and not choice.conflict else None
    return dataclasses.replace(
        _answer(asked, "not_a_gpu", rule, reason),
        product_kind=sold.kind,
        gpu_count=sold.gpu_count,
        contained=(inside.gpu_id, inside.display_name) if inside and sold.gpu_count != 0 else None,
        parts=tuple(sold.parts.items()),
    )


def _answer_of_own(resolution: Resolution, gpu: Gpu) -> Resolution:
    return dataclasses.replace(
        resolution, status="matched", gpu_id=gpu.gpu_id, gpu=gpu.display_name, candidates=(gpu.gpu_id,),
        product_kind="card" if resolution.gpu_count == 1 else "lot", rule="own", notes=("a card that was added",),
    )  # fmt: skip


def _matched(title: str, gpu_id: str, rule: str, notes: tuple[str, ...]) -> Resolution:
    name = catalogue.by_id()[gpu_id].display_name
    return Resolution(
        title=title, status="matched", gpu_id=gpu_id, gpu=name, candidates=(gpu_id,), rule=rule, notes=notes
    )


def _field_shows_a_card(evidence: Evidence | None, words: vocabulary.Vocabulary) -> bool:
    """Whether the item has a field that only cards have: memory, chip, or a brand that makes cards."""
    if evidence is None:
        return False
    brand = (evidence.brand or "").lower().split()
    return bool(evidence.memory or evidence.chipset or words.board_maker.intersection(brand))


def _keep_data_center(choice: Choice) -> None:
    """Keep the data-center part if makers share a bare number (`A40` is NVIDIA's and Intel's): clouds mean that one."""
    if len({member.maker for member in choice.members}) > 1:
        parts = [member for member in choice.members if member.gpu.segment == "data_center"]
        choice.narrow(parts, "a cloud's bare number is the data-center part")


def _texts(title: str, evidence: Evidence) -> Iterator[str]:
    """All texts of an item that are read."""
    yield title
    yield from filter(None, (evidence.memory, evidence.specs, evidence.mpn, evidence.chipset, evidence.brand))
