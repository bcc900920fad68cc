"""Titles of real shops, tables and clouds: how many find their card, and that none finds a wrong one."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from gpuledger.transform.identity import catalogue
from gpuledger.transform.identity.resolver import Resolver
from tests.support import labelled_titles

RESOLVER = Resolver.load()
KNOWN = frozenset(catalogue.by_id())


@pytest.fixture(autouse=True)
def _real_titles(shared_data: Path) -> None:
    """Every test here reads the same folder as the measuring code, and is skipped where it is not."""
    assert labelled_titles.DATA.is_dir(), shared_data


def test_titles_that_name_their_chip_find_it_by_the_memory_field() -> None:
    named = [one for one in labelled_titles.part_catalogue(KNOWN) if one.names_chip]
    found = labelled_titles.measure(RESOLVER, named, labelled_titles.memory_field)
    assert found.titles > 400
    assert found.share >= 0.995, found.unmatched
    assert found.precision >= 0.999, found.wrong


def test_without_the_memory_field_they_are_right_or_open() -> None:
    named = [one for one in labelled_titles.part_catalogue(KNOWN) if one.names_chip]
    found = labelled_titles.measure(RESOLVER, named)
    assert not found.wrong
    open_ones = [answer for one, answer in found.unmatched if one.truth in answer.candidates]
    assert (found.matched + len(open_ones)) / found.titles >= 0.995


def test_titles_of_a_line_only_are_found_by_the_chip_field_and_never_guessed_without() -> None:
    parts = labelled_titles.part_catalogue(KNOWN)
    found = labelled_titles.measure(RESOLVER, parts, labelled_titles.all_fields)
    assert found.titles > 5000
    assert found.share >= 0.995
    assert found.precision >= 0.999, found.wrong
    assert not labelled_titles.measure(RESOLVER, parts).wrong


def test_wrong_labels_are_listed_with_evidence_and_are_really_there() -> None:
    rows = {(one.title, one.label, one.memory) for one in labelled_titles.part_catalogue(KNOWN)}
    assert set(labelled_titles.LABEL_ERRORS) <= rows
    assert all(len(evidence) > 20 for evidence in labelled_titles.LABEL_ERRORS.values())


def test_every_title_of_a_shop_finds_its_card() -> None:
    found = labelled_titles.measure(RESOLVER, labelled_titles.newegg(KNOWN))
    assert found.titles > 40
    assert found.share >= 0.995, found.unmatched
    assert not found.wrong


def test_korean_names_are_matched_or_rightly_open() -> None:
    answers = Counter(RESOLVER.resolve(name, source="danawa_daily").status for name in labelled_titles.danawa())
    cards = sum(answers.values()) - answers["not_a_gpu"]
    assert cards > 3000
    assert (answers["matched"] + answers["ambiguous"]) / cards >= 0.98, answers
    assert answers["ambiguous"] < 0.01 * cards


def _column(path: Path, column: str) -> Iterator[str]:
    with path.open(encoding="utf-8", newline="") as file:
        yield from (row[column] for row in csv.DictReader(file))


@pytest.mark.parametrize(
    ("files", "column", "source"),
    [("survey/table_*.csv", "gpu_as_printed", "survey"), ("toms/*.csv", "gpu", "toms_gpu_hierarchy")],
)
def test_every_name_of_a_published_table_is_one_card(shared_data: Path, files: str, column: str, source: str) -> None:
    for path in shared_data.glob(files):
        for name in _column(path, column):
            found = RESOLVER.resolve(name, source=source)
            assert found.status == "matched", found


def test_every_name_of_a_cloud_is_a_card_or_open_in_form_and_memory(shared_data: Path) -> None:
    names = {name for path in shared_data.glob("cloud/*.csv") for name in _column(path, "GPU Type")}
    names |= set(_column(shared_data / "survey" / "cloud_prices.csv", "gpu"))
    assert len(names) > 25
    for name in names:
        found = RESOLVER.resolve(name, source="gpuhunt_catalog")
        assert found.status in ("matched", "ambiguous"), found
        assert len({re.sub(r"-(pcie|sxm\d?|nvl|\d+gb)\b", "", gpu_id) for gpu_id in found.candidates}) == 1, found


def test_every_card_in_brackets_behind_a_system_is_found(shared_data: Path) -> None:
    text = "".join(path.read_text("utf-8") for path in (shared_data / "benchmarks").glob("*.md"))
    names = set(re.findall(r"^\| ([^|]*?\((?:Nvidia|AMD) [^)]*\)[^|]*?)(?: <sup>.*?)? \|", text, re.M))
    names = {re.sub(r"\[(.*?)\]\(http.*?\)|<.*?>", r"\1", name).strip() for name in names}
    assert len(names) > 15
    for name in names:
        found = RESOLVER.resolve(name, source="ollama_benchmark")
        assert found.status in ("matched", "ambiguous"), found
        assert found.candidates, found
