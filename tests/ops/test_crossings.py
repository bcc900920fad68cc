"""A thing is said once, when it begins to be so."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpuledger.flows.telling import kept_answers
from gpuledger.flows.telling.alerts import newly_true
from gpuledger.flows.telling.notify import Message
from gpuledger.transform.report.questions import QUESTIONS, Kept
from gpuledger.warehouse.paths import DataDir
from tests.flows.inprocess import refresh
from tests.nights import Night


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state" / "told.json"


@pytest.mark.parametrize(
    "looks",
    [
        pytest.param([(met, ["watch:1"] if is_said else []) for met, is_said in (
            (False, False), (True, True), (True, False), (False, False), (True, True))], id="once a crossing"),
        pytest.param([(met, ["watch:1"] if is_said else []) for met, is_said in (
            (True, True), (None, False), (True, False), (None, False), (False, False), (None, False), (True, True))],
            id="what cannot be told changes nothing"),
    ],
)  # fmt: skip
def test_a_thing_is_said_when_it_begins_to_be_so(path: Path, looks: list[tuple[bool | None, list[str]]]) -> None:
    assert [newly_true(path, {"watch:1": met}) for met, _ in looks] == [said for _, said in looks]


def test_what_is_over_can_begin_again_and_what_was_not_looked_at_stays(path: Path) -> None:
    held = {"held:a 10": True}
    assert [newly_true(path, facts, ["held"]) for facts in (held, {}, held)] == [["held:a 10"], [], ["held:a 10"]]
    newly_true(path, {"layout:newegg": True, "run:failed": False}, ["run"])
    newly_true(path, {"run:failed": False}, ["run"])
    assert newly_true(path, {"layout:newegg": True}, ["run"]) == []


def test_without_a_listener_nothing_counts_as_said(path: Path) -> None:
    assert newly_true(None, {"watch:1": True}) == ["watch:1"]
    assert newly_true(path, {"watch:1": True}) == ["watch:1"]


def test_a_torn_file_says_things_again_rather_than_never(path: Path) -> None:
    newly_true(path, {"watch:1": True})
    path.write_text('{"watch:1": tr', encoding="utf-8")
    assert newly_true(path, {"watch:1": True}) == ["watch:1"]


def test_a_kept_question_is_told_when_its_price_moved_by_a_twentieth_with_the_sentence_before_and_after(
    nights: dict[int, Night], site: Path, tmp_path: Path
) -> None:
    data = DataDir(nights[1].copy(tmp_path / "data"))
    QUESTIONS.put(data.root, Kept(name="pictures", asked={"model": "flux.1-dev", "shop": ["newegg"]}))
    page = site / "newegg" / "sample" / "night2" / "gpus" / "index.html"
    text = page.read_text(encoding="utf-8")

    def look(*, is_heard: bool = True) -> list[Message]:
        return kept_answers.tell(data, kept_answers.now(data), is_heard=is_heard)

    refresh(data.root, 1, only=["newegg"])
    assert look() == [], "the first sight is no news"
    (first,) = kept_answers.last_told(kept_answers.file(data)).values()
    for price, titles in (("1,700", []), ("1,500", ["gpuledger: pictures: -10.6% on day one"])):
        page.write_text(text.replace("<strong>1,699</strong>", f"<strong>{price}</strong>"), encoding="utf-8")
        refresh(data.root, 2, only=["newegg"])
        told = look(is_heard=False)
        assert [one.title for one in told] == titles
    assert told[0].body.startswith(
        f"before (2023-11-16): {first['sentence']}\nnow: Buy NVIDIA GeForce RTX 4090 at Newegg for "
    )
    assert look() == told, "as long as nobody heard it, it is not told"
    assert look() == []
    another = {"pictures": {**first, "pick": "another"}, "lost": {**first, "pick": None, "day_one_usd": None}}
    found = kept_answers.news({"pictures": first, "lost": first}, another)
    assert [one.title for one in found.values()] == [
        "gpuledger: pictures: now another", "gpuledger: lost: nothing runs it now",
    ]  # fmt: skip
