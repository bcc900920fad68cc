"""The data files of the rules: every rule does what it says, and no word pulls two ways."""

from __future__ import annotations

from itertools import combinations

import pytest

from gpuledger.transform.identity import aliases, catalogue, text, vocabulary
from gpuledger.transform.identity.aliases import Code
from gpuledger.transform.identity.resolver import Resolver

RESOLVER = Resolver.load()
WORDS = vocabulary.load()


@pytest.mark.parametrize("code", aliases.codes(), ids=lambda code: code.example)
def test_a_part_number_says_what_its_example_says(code: Code) -> None:
    assert code.pattern.search(code.example.lower()), "the pattern does not fit its own example"
    tries = [words for words, maker in aliases.readings(code.example) if maker == code.maker]
    if not code.says:
        assert not tries
        return
    assert code.says in tries
    assert RESOLVER.resolve(code.says).candidates


def test_a_part_number_that_contradicts_the_words_leaves_it_open() -> None:
    found = RESOLVER.resolve("Gigabyte GeForce RTX 4060 8GB GV-N406TEAGLE OC-8GD")
    assert found.status == "ambiguous"
    assert set(found.candidates) == {"nvidia-geforce-rtx-4060", "nvidia-geforce-rtx-4060-ti-8gb"}


def test_a_name_that_no_card_has_beside_one_that_a_card_has_leaves_the_known_one_as_a_candidate() -> None:
    found = RESOLVER.resolve("Radeon RX 7650 XTX RTX 4070 graphics card")
    assert (found.status, found.candidates) == ("ambiguous", ("nvidia-geforce-rtx-4070",))


def test_words_that_contradict_a_card_leave_it_open_and_are_named() -> None:
    found = RESOLVER.resolve("Radeon RX 580 8GB Vega edition")
    assert (found.status, found.candidates) == ("ambiguous", ("amd-radeon-rx-580-8gb",))
    assert "vega is not its name" in found.notes
    found = RESOLVER.resolve("GeForce GTX 1650 4GB HBM2")
    assert (found.status, len(found.candidates)) == ("ambiguous", 2)
    assert "states HBM2, which it was not sold with" in found.notes


def test_a_prefix_that_stands_apart_from_its_number_may_belong_to_it_and_is_named() -> None:
    found = RESOLVER.resolve("RTX Quadro 4000 8GB")
    assert found.gpu_id == "nvidia-quadro-rtx-4000"
    assert "rtx elsewhere in the title may belong to the name" in found.notes


#: Lists of which a title's word may be in one only: it cannot be both a card's and another product's.
_KINDS = (
    "board_maker",
    "accessory",
    "service",
    "laptop",
    "computer",
    "enclosure",
    "other",
    "broken",
    "processor",
    "graphics",
)


@pytest.mark.parametrize(("one", "other"), list(combinations(_KINDS, 2)))
def test_no_word_is_in_two_lists_of_kinds(one: str, other: str) -> None:
    assert not getattr(WORDS, one) & getattr(WORDS, other)


def test_every_word_of_the_lists_can_be_met() -> None:
    """A word that the spelling of titles never leaves standing would be dead."""
    for word in WORDS.marks:
        assert text.split_words(text.normalise(word)) == [word], word


@pytest.mark.parametrize(
    ("word", "size", "kind"),
    [
        ("12go", 12, None),
        ("o8g", 8, None),
        ("8gbd6", 8, "GDDR6"),
        ("2048mb", 2, None),
        ("512m", 0.5, None),
        ("1.5gb", 1.5, None),
        ("24gd6x", 24, "GDDR6X"),
    ],
)
def test_a_word_that_is_a_memory_size(word: str, size: float, kind: str | None) -> None:
    assert text.glued_memory(word) == (size, kind)


@pytest.mark.parametrize(
    "word",
    [
        "960m",
        "1008gb",
        "16gbps",
        "3060",
        "gddr6",
        "0g",
        "850mm",
        "7mb",
    ],
)
def test_a_word_that_is_none(word: str) -> None:
    assert text.glued_memory(word) is None


def test_a_size_that_a_card_was_not_sold_with_is_never_matched() -> None:
    for gpu in catalogue.gpus():
        if gpu.segment == "consumer" and (gpu.released_on and gpu.released_on.year >= 2016) and gpu.memory_gb:
            name = gpu.name.removesuffix(catalogue.memory_text(gpu.memory_gb)).strip()
            found = RESOLVER.resolve(f"ASUS {gpu.vendor} {name} 72GB graphics card")
            assert found.gpu_id is None, found.explanation
