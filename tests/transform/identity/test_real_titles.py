"""Titles of real shops, tables and clouds: how many find their card, and that none finds a wrong one."""

from __future__ import annotations

import csv
import importlib.util
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from gpuledger.transform.identity import catalogue
from gpuledger.transform.identity.resolver import Resolver

RESOLVER = Resolver.load()
KNOWN = frozenset(catalogue.by_id())


@pytest.fixture(scope="module")
def bench(shared_data: Path) -> ModuleType:
    """The measuring code, which builds the truth from the labels without the resolver. It reads the same folder."""
    path = Path(__file__).parents[3] / "benchmarks" / "bench_identity.py"
    spec = importlib.util.spec_from_file_location("bench_identity", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # its dataclasses look themselves up by name
    spec.loader.exec_module(module)
    assert module.DATA.is_dir(), shared_data
    return module


def test_titles_that_name_their_chip_find_it_by_the_memory_field(bench: ModuleType) -> None:
    named = [one for one in bench.part_catalogue(KNOWN) if one.names_chip]
    found = bench.measure(RESOLVER, named, bench.memory_field)
    assert found.titles > 400
    assert found.share >= 0.995, found.unmatched
    assert found.precision >= 0.999, found.wrong


def test_without_the_memory_field_they_are_right_or_open(bench: ModuleType) -> None:
    named = [one for one in bench.part_catalogue(KNOWN) if one.names_chip]
    found = bench.measure(RESOLVER, named)
    assert not found.wrong
    open_ones = [answer for one, answer in found.unmatched if one.truth in answer.candidates]
    assert (found.matched + len(open_ones)) / found.titles >= 0.995


def test_titles_of_a_line_only_are_found_by_the_chip_field_and_never_guessed_without(bench: ModuleType) -> None:
    parts = bench.part_catalogue(KNOWN)
    found = bench.measure(RESOLVER, parts, bench.all_fields)
    assert found.titles > 5000
    assert found.share >= 0.995
    assert found.precision >= 0.999, found.wrong
    assert not bench.measure(RESOLVER, parts).wrong


def test_wrong_labels_are_listed_with_evidence_and_are_really_there(bench: ModuleType) -> None:
    rows = {(one.title, one.label, one.memory) for one in bench.part_catalogue(KNOWN)}
    assert set(bench.LABEL_ERRORS) <= rows
    assert all(len(evidence) > 20 for evidence in bench.LABEL_ERRORS.values())


def test_every_title_of_a_shop_finds_its_card(bench: ModuleType) -> None:
    found = bench.measure(RESOLVER, bench.newegg(KNOWN))
    assert found.titles > 40
    assert found.share >= 0.995, found.unmatched
    assert not found.wrong


def test_korean_names_are_matched_or_rightly_open(bench: ModuleType) -> None:
    answers = Counter(RESOLVER.resolve(name, source="danawa_daily").status for name in bench.danawa())
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


#: What clouds rent that is no card of a graphics catalogue.
NOT_IN_THE_CATALOGUE = {"Gaudi2"}


def test_every_name_of_a_cloud_is_a_card_or_open_in_form_and_memory(shared_data: Path) -> None:
    names = {name for path in shared_data.glob("cloud/*.csv") for name in _column(path, "GPU Type")}
    names |= set(_column(shared_data / "survey" / "cloud_prices.csv", "gpu"))
    assert len(names) > 25
    for name in names - NOT_IN_THE_CATALOGUE:
        found = RESOLVER.resolve(name, source="gpuhunt_catalog")
        assert found.status in ("matched", "ambiguous"), found
        assert len({re.sub(r"-(pcie|sxm\d?|nvl|\d+gb)\b", "", gpu_id) for gpu_id in found.candidates}) == 1, found
    for name in NOT_IN_THE_CATALOGUE:
        assert RESOLVER.resolve(name, source="gpuhunt_catalog").status == "unmatched"


def test_every_card_in_brackets_behind_a_system_is_found(shared_data: Path) -> None:
    text = "".join(path.read_text("utf-8") for path in (shared_data / "benchmarks").glob("*.md"))
    names = set(re.findall(r"^\| ([^|]*?\((?:Nvidia|AMD) [^)]*\)[^|]*?)(?: <sup>.*?)? \|", text, re.M))
    names = {re.sub(r"\[(.*?)\]\(http.*?\)|<.*?>", r"\1", name).strip() for name in names}
    assert len(names) > 15
    for name in names:
        found = RESOLVER.resolve(name, source="ollama_benchmark")
        assert found.status in ("matched", "ambiguous"), found
        assert found.candidates, found
