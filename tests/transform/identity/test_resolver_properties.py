"""Whatever is done to the words around a card's name, its title never comes to mean another card."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from gpuledger.transform.identity import catalogue, index
from gpuledger.transform.identity.gpu import Gpu
from gpuledger.transform.identity.resolver import Resolver
from tools import specifications

RESOLVER = Resolver.load()

#: Cards that shops sell and benchmarks measure, and that titles can name; laptop parts and consoles have rules of their own.
CARDS = [
    gpu
    for gpu in catalogue.gpus()
    if gpu.segment in ("consumer", "workstation", "data_center")
    and gpu.released_on
    and gpu.released_on.year >= 2012
    and index.member(gpu)
]
DESKTOP_WITH_LAPTOP_TWIN = [gpu for gpu in CARDS if f"{gpu.gpu_id}-mobile" in catalogue.by_id()]
SEVERAL_SIZES = [
    gpu
    for gpu in CARDS
    if gpu.memory_gb and gpu.name.endswith(catalogue.memory_text(gpu.memory_gb)) and "DDR" not in gpu.name
]
BRAND_WORDS = [
    "ASUS", "MSI", "GIGABYTE", "EVGA", "ZOTAC", "Palit", "PNY", "Sapphire", "PowerColor", "XFX", "Gaming",
    "OC", "Edition", "White", "DUAL", "Ventus", "Eagle", "Strix", "Trinity", "Graphics", "Card", "Video",
    "LHR", "V2", "RGB", "Triple", "Fan",
]  # fmt: skip


def meaning(title: str) -> str | None:
    """The card that a title is matched to, if it is."""
    return RESOLVER.resolve(title).gpu_id


def _spelled(draw: st.DrawFn, words: list[str]) -> str:
    """The words in another case, with other signs between them."""
    cases: list[Callable[[str], str]] = [str.lower, str.upper, str.title, str]
    case = draw(st.sampled_from(cases))
    signs = draw(
        st.lists(st.sampled_from([" ", "  ", " - ", ", ", " / ", "™ ", "® "]), min_size=len(words), max_size=len(words))
    )
    return "".join(case(word) + sign for word, sign in zip(words, signs, strict=True))


@st.composite
def dressed(draw: st.DrawFn, cards: list[Gpu]) -> tuple[Gpu, str]:
    """A card's name among brand words, in another order, case, spacing and punctuation."""
    gpu = draw(st.sampled_from(cards))
    words = gpu.display_name.split() + draw(st.lists(st.sampled_from(BRAND_WORDS), max_size=5))
    assume(not (gpu.name == "GeForce RTX 5090 D" and "V2" in words))  # a card of its own
    if draw(st.booleans()):
        random.Random(draw(st.integers(0, 2**16))).shuffle(words)
    return gpu, _spelled(draw, words)


@given(dressed(CARDS))
@settings(max_examples=600, deadline=None)
def test_brand_words_order_case_spacing_and_punctuation_never_make_another_card(case: tuple[Gpu, str]) -> None:
    gpu, title = case
    assert meaning(title) in (gpu.gpu_id, None), title


@given(st.sampled_from(CARDS), st.lists(st.sampled_from(BRAND_WORDS), max_size=4))
@settings(max_examples=300, deadline=None)
def test_a_card_in_its_own_words_is_found_among_brand_words(gpu: Gpu, brands: list[str]) -> None:
    title = " ".join(["ASUS", *brands, gpu.display_name, "Graphics"])
    resolution = RESOLVER.resolve(title)
    assert gpu.gpu_id in resolution.candidates, resolution


@given(st.sampled_from(SEVERAL_SIZES))
@settings(max_examples=150, deadline=None)
def test_without_the_memory_a_card_of_several_sizes_is_ambiguous(gpu: Gpu) -> None:
    title = f"ASUS {specifications.without_memory(gpu.display_name.replace('GB', ' GB').replace('MB', ' MB'))} OC"
    resolution = RESOLVER.resolve(title)
    assert resolution.status == "ambiguous", resolution
    assert gpu.gpu_id in resolution.candidates


@given(
    st.sampled_from(DESKTOP_WITH_LAPTOP_TWIN),
    st.sampled_from(["Laptop", "laptop GPU", "Notebook", "Mobile", "노트북"]),
    st.booleans(),
)
@settings(max_examples=150, deadline=None)
def test_laptop_never_yields_the_desktop_card(gpu: Gpu, word: str, before: bool) -> None:
    title = f"{word} {gpu.display_name}" if before else f"{gpu.display_name} {word}"
    resolution = RESOLVER.resolve(title)
    assert gpu.gpu_id not in resolution.candidates, resolution


@given(st.text(max_size=80))
@settings(max_examples=400, deadline=None)
def test_any_text_gets_an_answer(text: str) -> None:
    resolution = RESOLVER.resolve(text)
    assert resolution.status in ("matched", "ambiguous", "unmatched", "not_a_gpu")
    assert (resolution.gpu_id is not None) == (resolution.status == "matched")


@given(dressed(CARDS))
@settings(max_examples=200, deadline=None)
def test_the_answer_does_not_depend_on_what_was_read_before(case: tuple[Gpu, str]) -> None:
    _, title = case
    assert RESOLVER.resolve(title) == FRESH.resolve(title)


FRESH = Resolver.load()


@pytest.mark.parametrize("gpu", DESKTOP_WITH_LAPTOP_TWIN, ids=lambda gpu: gpu.gpu_id)
def test_a_laptop_chip_is_found_by_its_bare_name(gpu: Gpu) -> None:
    resolution = RESOLVER.resolve(f"{gpu.display_name} Laptop GPU")
    # The GTX 980 has two: GTX 980M and GTX 980 Mobile.
    assert resolution.gpu_id == f"{gpu.gpu_id}-mobile" or f"{gpu.gpu_id}-mobile" in resolution.candidates
