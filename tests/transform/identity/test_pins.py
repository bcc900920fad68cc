"""What a person has pinned: kept as data with day and reason, and stronger than every rule."""

from __future__ import annotations

import tempfile
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuledger import local_files
from gpuledger.records import BadRecord
from gpuledger.transform.identity.pins import NOT_A_GPU, PINS, Pin, PinError
from gpuledger.transform.identity.resolver import Resolver

DAY = date(2026, 3, 1)
CARD = "nvidia-geforce-rtx-4070"


def _pin(title: str = "Gigabyte WINDFORCE OC", gpu_id: str = CARD, source: str | None = None) -> Pin:
    return Pin(title=title, gpu_id=gpu_id, pinned_on=DAY, reason="the product page says so", source=source)


def test_a_pinned_title_is_that_card_with_the_day_and_the_reason() -> None:
    found = Resolver.load([_pin()]).resolve("  Gigabyte   WINDFORCE OC ", source="newegg")
    assert (found.status, found.gpu_id, found.rule) == ("matched", CARD, "pin")
    assert found.explanation == "pinned on 2026-03-01: the product page says so"


def test_a_pin_overrules_what_the_title_says() -> None:
    resolver = Resolver.load([_pin("ASUS RTX 3060 12GB bundle", NOT_A_GPU), _pin("2x RTX 3090", CARD)])
    assert resolver.resolve("ASUS RTX 3060 12GB bundle").status == "not_a_gpu"
    assert resolver.resolve("2x RTX 3090").gpu_id == CARD


def test_the_pin_of_a_source_counts_there_and_before_the_general_one() -> None:
    other = "nvidia-geforce-rtx-4060"
    resolver = Resolver.load([_pin(), _pin(gpu_id=other, source="newegg")])
    assert resolver.resolve("Gigabyte WINDFORCE OC", source="newegg").gpu_id == other
    assert resolver.resolve("Gigabyte WINDFORCE OC", source="amazon").gpu_id == CARD
    assert resolver.resolve("Gigabyte WINDFORCE OC").gpu_id == CARD


def test_pins_are_read_back_in_order_and_the_same_place_is_replaced(tmp_path: Path) -> None:
    assert PINS.all(tmp_path) == []
    first, second = _pin(), _pin("RTX 3060", "nvidia-geforce-rtx-3060-12gb", "newegg")
    assert PINS.put(tmp_path, first) is None
    assert PINS.put(tmp_path, second) is None
    changed = _pin(gpu_id=NOT_A_GPU)
    assert PINS.put(tmp_path, changed) == first
    assert PINS.all(tmp_path) == [second, changed]
    assert [file.name for file in PINS.file(tmp_path).parent.iterdir()] == ["pins.toml"]


@given(st.text(min_size=1).filter(str.strip), st.text(min_size=1).filter(str.strip))
def test_any_title_and_reason_survive_the_file(title: str, reason: str) -> None:
    pin = Pin(title=title, gpu_id=NOT_A_GPU, pinned_on=DAY, reason=reason)
    with tempfile.TemporaryDirectory() as folder:
        PINS.put(Path(folder), pin)
        assert PINS.all(Path(folder)) == [pin]


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"gpu_id": "nvidia-rtx-9999"}, "'nvidia-rtx-9999'.*is no gpu_id of the catalogue"),
        ({"title": "  "}, "a pin needs a title"),
        ({"reason": ""}, "needs a reason"),
    ],
)
def test_a_pin_that_says_too_little_or_names_no_card_is_refused(changed: dict[str, str], says: str) -> None:
    with pytest.raises(PinError, match=says):
        Pin(**{"title": "a", "gpu_id": CARD, "reason": "b", **changed}, pinned_on=DAY)


@pytest.mark.parametrize(
    "text",
    [
        "[[pin]]\ntitle = \n",
        '[[pin]]\ntitle = "a"\n',
        '[[pin]]\ntitle = "a"\ngpu_id = "nowhere"\npinned_on = 2026-03-01\nreason = "b"\n',
        '[[pin]]\ntitle = "a"\ngpu_id = "not_a_gpu"\npinned_on = 2026-03-01\nreason = "b"\nwhy = "c"\n',
        '[[pin]]\ntitle = 5\ngpu_id = "not_a_gpu"\npinned_on = 2026-03-01\nreason = "b"\n',
        '[[pin]]\ntitle = "a"\ngpu_id = "not_a_gpu"\npinned_on = "today"\nreason = "b"\n',
        'pin = "a"\n',
        2 * '[[pin]]\ntitle = "a"\ngpu_id = "not_a_gpu"\npinned_on = 2026-03-01\nreason = "b"\n',
    ],
)
def test_a_file_that_cannot_be_understood_is_named(tmp_path: Path, text: str) -> None:
    path = local_files.write_text(PINS.file(tmp_path), text)
    with pytest.raises(BadRecord, match=r"pins\.toml"):
        PINS.all(tmp_path)
    with pytest.raises(BadRecord):
        PINS.put(tmp_path, _pin())
    assert path.read_text() == text


def test_a_file_that_is_no_text_is_named(tmp_path: Path) -> None:
    local_files.write(PINS.file(tmp_path), b'[[pin]]\ntitle = "\xff"\n')
    with pytest.raises(BadRecord, match=r"pins\.toml"):
        PINS.all(tmp_path)
