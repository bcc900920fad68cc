"""What a title sells: each rule by its own case, and titles of every kind in many languages."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable
from pathlib import Path

import pytest

from gpuledger.transform.identity import products, resolver, text, vocabulary, words
from gpuledger.transform.identity.index import of_catalogue
from gpuledger.transform.identity.reader import Reader
from gpuledger.transform.identity.resolver import Resolution, Resolver

RESOLVER = Resolver.load()
WORDS = vocabulary.load()
READER = Reader(of_catalogue(), WORDS)


@pytest.mark.parametrize("rule", products.RULES, ids=lambda rule: rule.reason)
def test_each_rule_decides_its_case(rule: products.Rule) -> None:
    reason = products.not_a_card(READER.read_title(rule.case), rule.case)
    product = products.product_of(READER.read_title(rule.case), rule.case)
    first = next(one for one in products.RULES if one.find(product))
    assert first is rule, "a rule before it decides the case"
    assert reason.kind == rule.kind


def _by_case() -> list[tuple[str, resolver.Rule]]:
    rules = (*resolver.OF_MACHINES, *resolver.OF_PRODUCTS, *resolver.OF_CARDS)
    return [(rule.case, rule) for rule in rules]


@pytest.mark.parametrize(("title", "rule"), _by_case(), ids=lambda value: getattr(value, "reason", value))
def test_each_rule_of_the_resolver_answers_its_case(title: str, rule: resolver.Rule) -> None:
    """In one of the kinds of sources, the rule answers the title of its case, and no rule before it does."""
    used: list[resolver.Rule] = []
    for source in ("generic_shop", None, "ollama_benchmark", "gpuhunt_catalog"):
        asked = _Watched(of_catalogue())
        asked.resolve(title, source=source)
        used += asked.answered
    assert rule in used, [one.reason for one in used]


class _Watched(Resolver):
    """A resolver that remembers which rules answered."""

    answered: list[resolver.Rule]

    def _first(self, rules: Iterable[resolver.Rule], asked: resolver.Asked) -> Resolution | None:
        self.answered = getattr(self, "answered", [])
        for rule in rules:
            if answer := rule.find(self, asked):
                self.answered.append(rule)
                return answer
        return None


@pytest.mark.parametrize("rule", words.RULES, ids=lambda rule: rule.reason)
def test_each_rule_of_words_takes_a_piece_of_its_case(rule: words.Rule) -> None:
    lexicon = READER._words
    parts, position, known = text.pieces(rule.case), 0, True
    used = []
    while position < len(parts):
        place = words.Place(parts, position, known)
        first = next(one for one in words.RULES if one.take(lexicon, place))
        taken = first.take(lexicon, place)
        used.append(first)
        position, known = position + taken.pieces, taken.known
    assert rule in used, [one.reason for one in used]


def _rows(name: str) -> list[dict[str, str]]:
    with Path(__file__).with_name(name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


@pytest.mark.parametrize("row", _rows("kinds.csv"), ids=lambda row: row["title"])
def test_title_of_a_kind(row: dict[str, str]) -> None:
    found = RESOLVER.resolve(row["title"], source="generic_shop")
    if row["gpu_id"]:
        assert found.gpu_id == row["gpu_id"], found.explanation
    else:
        assert found.status != "matched", found.explanation
    if row["product_kind"]:
        assert found.product_kind == row["product_kind"], found.explanation


def test_titles_of_public_lists() -> None:
    """No title of another product is a card, no card is another one, and hardly any is missed."""
    rows = _rows("public_titles.csv")
    assert len(rows) > 250
    wrong, missed = [], []
    for row in rows:
        card, is_open = row["gpu_id"].rstrip("*"), row["gpu_id"].endswith("*")
        found = RESOLVER.resolve(row["title"], source="generic_shop")
        if found.status == "matched" and not (card and (found.gpu_id or "").startswith(card)):
            wrong.append(found)
        elif found.status != "matched" and card and not (is_open and found.status == "ambiguous"):
            missed.append(found)
        elif found.status == "matched" and not is_open and found.gpu_id != card:
            wrong.append(found)
    assert not wrong
    assert len(missed) <= 0.01 * len(rows), missed


def test_phrases_are_found_as_words_and_not_inside_others() -> None:
    phrases = vocabulary.Phrases(["no card", "solo caja"])
    assert phrases.find(["there", "is", "no", "card"], {"card"}) == {"no card"}
    assert not phrases.find(["piano", "card"], {"card"})
    assert not phrases.find(["card", "no"], {"card"})


def test_a_slot_has_one_spelling() -> None:
    for spelled in ("PCI-E", "PCI Express", "PCI-Express", "PCIe", "PCI E"):
        assert text.normalise(f"A100 {spelled} 80GB") == "a100 pcie 80gb"


def test_titles_that_were_read_wrongly(shared_data: Path) -> None:
    """Each case says in words what is right: a card's name, that no card is meant, or what it must never be."""
    cases = [file.parent for file in sorted(shared_data.glob("cases/pages/*/title.txt"))]
    assert len(cases) > 60
    wrong = []
    for folder in cases:
        source = re.search(r"--source (\S+)", (folder / "command").read_text("utf-8"))
        expected = (folder / "expected.txt").read_text("utf-8").strip()
        for title in filter(None, (folder / "title.txt").read_text("utf-8").splitlines()):
            found = RESOLVER.resolve(title, source=source[1] if source else None)
            if not _agrees(expected, found):
                wrong.append((folder.name, title, expected, found.status, found.gpu, found.explanation))
    assert not wrong


def _agrees(expected: str, found: Resolution) -> bool:
    status, gpu = found.status, found.gpu or ""
    if expected.startswith(("not_a_gpu", "ambiguous")):
        return status != "matched"
    if expected.startswith("matched"):
        return status == "matched"
    if expected.endswith(" (matched)"):
        return found.gpu_id == expected.removesuffix(" (matched)")
    name = re.split(r"[;:,(]", expected.replace("NVIDIA ", "").replace("AMD ", "").replace("Intel ", ""))[0].strip()
    return (status == "matched" and re.sub(r" \d+GB$", "", name) in gpu) or (
        status == "ambiguous" and "ambiguous" in expected
    )
