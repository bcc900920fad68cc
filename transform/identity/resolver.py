"""From a title to one GPU, or to an honest "I do not know"."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from transform.identity import catalogue, index, products, vocabulary
from transform.identity.index import Member
from transform.identity.reading import _ARCHITECTURES, _FORM_WORDS, Mention, Reader, Reading
from transform.identity.resolution import Evidence, Resolution

__all__ = ["Evidence", "Resolution", "Resolver"]


class Resolver:
    """Maps titles to GPUs. Load once: the index over the catalogue takes a tenth of a second. One per thread."""

    def __init__(self, reader: Reader, pins: Mapping[str, str]) -> None:
        self._reader = reader
        self._pins = pins
        self._words = vocabulary.load()

    @classmethod
    def load(cls, pins: Mapping[str, str] | Iterable[tuple[str, str]] = ()) -> Resolver:
        """A resolver over the catalogue. `pins` maps titles to a gpu_id, or to `not_a_gpu`."""
        return cls(Reader(index.build(catalogue.gpus())), dict(pins))

    def resolve(self, title: str, evidence: Evidence | None = None, source: str | None = None) -> Resolution:
        """The GPU that `title` means; `evidence` is used where the title leaves it open."""
        if pinned := self._pins.get(title):
            if pinned == "not_a_gpu":
                return Resolution(title=title, status="not_a_gpu", rule="pin", notes=("pinned by a person",))
            return self._matched(title, catalogue.by_id()[pinned].gpu_id, "pin", ("pinned by a person",))
        reading = self._reader.read(title)
        members = self._members(reading)
        reason = products.not_a_card(reading, self._words)
        candidates = tuple(sorted(member.gpu.gpu_id for member in members))
        if reason:
            return Resolution(title=title, status="not_a_gpu", candidates=candidates, rule="product", notes=(reason,))
        if not members and evidence and evidence.chipset:
            chip = self.resolve(evidence.chipset, Evidence(memory=evidence.memory))
            return Resolution(
                title=title, status=chip.status, gpu_id=chip.gpu_id, gpu=chip.gpu, candidates=chip.candidates,
                rule="chipset field", notes=("the title names no chip", *chip.notes),
            )  # fmt: skip
        if len(members) > 1 and evidence:
            members = self._settle(members, evidence)
            candidates = tuple(sorted(member.gpu.gpu_id for member in members))
        if not members:
            return Resolution(
                title=title, status="unmatched", rule="no card", notes=("no card of the catalogue is named",)
            )
        if len(members) > 1:
            return Resolution(
                title=title, status="ambiguous", candidates=candidates, rule="open", notes=("several cards remain",)
            )
        gpu = members[0].gpu
        if gpu.segment in ("mobile", "integrated") and not products.is_bare(reading, self._words):
            return Resolution(
                title=title,
                status="not_a_gpu",
                candidates=candidates,
                rule="laptop",
                notes=("a laptop part inside a product",),
            )
        return self._matched(
            title, gpu.gpu_id, "name", (f"named {', '.join(mention.words for mention in reading.mentions)}",)
        )

    def _matched(self, title: str, gpu_id: str, rule: str, notes: tuple[str, ...]) -> Resolution:
        gpu = catalogue.by_id()[gpu_id]
        return Resolution(
            title=title,
            status="matched",
            gpu_id=gpu_id,
            gpu=gpu.display_name,
            candidates=(gpu_id,),
            rule=rule,
            notes=notes,
        )

    def _members(self, reading: Reading) -> list[Member]:
        mentions = [mention for mention in reading.mentions if not mention.weak]
        if not mentions and (reading.vendors or any(mention.suffixes for mention in reading.mentions)):
            mentions = reading.mentions
        found: list[Member] = []
        for mention in mentions:
            for member in self._of(mention, reading):
                if member not in found:
                    found.append(member)
        return found

    def _of(self, mention: Mention, reading: Reading) -> list[Member]:
        family = mention.family
        marks = reading.marks
        suffixes = set(mention.suffixes)
        stray = {word for word in family.suffixes & marks if len(word) > 1}
        mobile = "maxq" if "maxq" in marks else "m" if marks & self._words.mobile else None
        members = [member for member in family.members if (member.mobile is None) == (mobile is None)]
        if stray - suffixes:
            members = [member for member in members if suffixes <= member.suffixes <= suffixes | stray]
        else:
            members = [member for member in members if member.suffixes == suffixes]
        if reading.vendors:
            members = [
                m for m in members if ("AMD" if m.gpu.vendor == "ATI" else m.gpu.vendor) in reading.vendors
            ] or members
        for word in marks & _ARCHITECTURES:
            members = [m for m in members if m.architecture == word or (word == "lovelace" and m.architecture == "ada")]
        for word in {_FORM_WORDS[mark] for mark in marks if mark in _FORM_WORDS} | (marks & {"pro", "quadro"}):
            members = [m for m in members if word in m.open_words] or members
        if reading.memory:
            members = [m for m in members if m.sizes & set(reading.memory)] or members
        return members

    def _settle(self, members: list[Member], evidence: Evidence) -> list[Member]:
        for text in (evidence.memory, evidence.mpn, evidence.specs):
            if not text:
                continue
            sizes = set(self._reader.read(text if not text.replace(".", "").isdigit() else f"{text} GB").memory)
            kept = [m for m in members if m.sizes & sizes]
            if kept:
                members = kept
            if len(members) == 1:
                break
        return members
