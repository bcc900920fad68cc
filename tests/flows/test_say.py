"""Every message has a sentence in every language, with the same gaps, and every sentence is said by something."""

from __future__ import annotations

import ast
import pickle
import re
from collections.abc import Iterator
from decimal import Decimal
from functools import cache
from pathlib import Path
from string import Formatter

import pytest

from gpuledger.extract.message import LANGUAGES, SENTENCES, Message, Mistake, Sum, Words, said, sentences, several
from gpuledger.flows.words import lang
from gpuledger.flows.words.say import say
from gpuledger.warehouse.errors import BadQuery
from tests.command import ROOT

ROOMS = ("extract", "expectations", "warehouse", "transform", "flows")
MESSAGES = ROOT / "extract" / "message.py"


@cache
def everything() -> dict[str, dict[str, str]]:
    """The sentences of all groups by their codes."""
    return {
        f"{file.stem}.{name}": dict(of_languages)
        for file in SENTENCES.glob("*.toml")
        for name, of_languages in sentences(file.stem).items()
    }


def gaps(sentence: str) -> dict[str, tuple[str, str | None]]:
    """The gaps of a sentence by name, with how their values are formatted."""
    return {name: (spec or "", way) for _, name, spec, way in Formatter().parse(sentence) if name is not None}


@cache
def trees() -> dict[Path, ast.Module]:
    """The code of all rooms by its files."""
    files = [file for room in ROOMS for file in sorted((ROOT / room).rglob("*.py"))]
    return {file: ast.parse(file.read_text(encoding="utf-8")) for file in files}


@cache
def mistakes() -> frozenset[str]:
    """The names of all errors that are made of the code of a message and its values, as Mistake is."""
    classes = [node for tree in trees().values() for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    names = {"Mistake"}
    while more := {c.name for c in classes if not names.isdisjoint(map(ast.unparse, c.bases))} - names:
        names |= more
    return frozenset(names)


@cache
def written() -> tuple[tuple[str, re.Pattern[str], frozenset[str]], ...]:
    """Place, code and names of the values of every message in the code. A code may be put together from parts."""
    found = []
    for file, tree in trees().items():
        # Message is another class, or nothing, in a file that does not import ours.
        is_ours = file == MESSAGES or "extract.message import" in file.read_text(encoding="utf-8")
        saying = mistakes() | {"Message"} if is_ours else mistakes()
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in saying and node.args:
                if file == MESSAGES and ast.unparse(node.args[0]) == "code":
                    continue  # a Mistake hands its own code on
                place = f"{file.relative_to(ROOT)}:{node.lineno}"
                names = frozenset(one.arg or "**" for one in node.keywords)
                found += [(place, code, names) for code in codes(node.args[0])]
    return tuple(found)


def codes(node: ast.expr) -> Iterator[re.Pattern[str]]:
    """The codes that an expression may be."""
    if isinstance(node, ast.IfExp):
        yield from (*codes(node.body), *codes(node.orelse))
    elif isinstance(node, ast.JoinedStr):
        parts = (re.escape(str(part.value)) if isinstance(part, ast.Constant) else r"\w+" for part in node.values)
        yield re.compile("".join(parts))
    elif isinstance(node, ast.Constant):
        yield re.compile(re.escape(str(node.value)))
    else:
        raise AssertionError(f"{ast.unparse(node)}: write the code in the call, so that it can be looked up")


def test_every_sentence_is_there_in_every_language_with_the_same_gaps() -> None:
    assert len(everything()) > 30
    for code, of_languages in everything().items():
        assert of_languages.keys() == {*LANGUAGES}, code
        assert len({tuple(sorted(gaps(sentence).items())) for sentence in of_languages.values()}) == 1, code
        for sentence in of_languages.values():
            assert all(re.fullmatch(r"\w+", name) for name in gaps(sentence)), f"{code}: a gap has a name and no more"
            assert sentence.strip() == sentence != "", code


def test_every_message_in_the_code_has_its_sentence_and_fills_its_gaps() -> None:
    assert len(written()) > 30
    for place, code, names in written():
        found = {
            name: set(gaps(of_languages["en"])) for name, of_languages in everything().items() if code.fullmatch(name)
        }
        assert found, f"{place}: write the sentences of {code.pattern} in extract/messages"
        assert all(filled == names for filled in found.values()), f"{place}: {code.pattern} has the gaps {found}"


def test_nothing_is_in_the_files_that_nothing_says() -> None:
    unsaid = {code for code in everything() if not any(pattern.fullmatch(code) for _, pattern, _ in written())}
    assert unsaid == set()


def test_a_message_passes_between_processes_and_is_english_as_text() -> None:
    message = Message("buy.needs_memory", needed=9.84, available=7.8)
    assert pickle.loads(pickle.dumps(message)) == message
    assert str(message) == "needs 9.8 GB and has 7.8"
    assert repr(message) == "Message('buy.needs_memory', needed=9.84, available=7.8)"
    assert message != Message("buy.needs_memory", needed=9.84, available=7.7)


def test_an_error_carries_its_message_to_the_edge_also_from_another_process() -> None:
    error = pickle.loads(pickle.dumps(BadQuery(Message("buy.speed_unknown"))))
    assert str(error) == "its speed is not known"
    lang.use("ko")
    assert say(error) == "속도를 모름"
    lang.use("en")


def test_a_mistake_is_made_of_the_code_of_its_message_and_passes_between_processes() -> None:
    error = pickle.loads(pickle.dumps(Mistake("buy.needs_memory", needed=9.84, available=7.8)))
    assert error.args == (Message("buy.needs_memory", needed=9.84, available=7.8),)
    assert str(error) == "needs 9.8 GB and has 7.8"


def test_a_message_or_an_error_in_a_gap_is_said_in_the_same_language() -> None:
    inner = BadQuery(Message("question.cannot", column="tdp_w", text="many"))
    error = BadQuery(Message("question.remove_file_add_card_gpuledger", path=Path("gpus/x.toml"), error=inner))
    said_in_english = "gpus/x.toml: tdp_w cannot be 'many'; remove the file and add the card with `gpuledger gpu add`"
    assert str(error) == said_in_english
    lang.use("ko")
    korean = "gpus/x.toml: tdp_w은(는) 'many'일 수 없습니다. 파일을 지우고 `gpuledger gpu add`로 카드를 추가하십시오"
    assert say(error) == korean
    lang.use("en")


@pytest.mark.parametrize(
    ("language", "sentence"),
    [
        ("en", "RTX 3050 (used) for 700 EUR: costs 700 EUR, over the budget of 500 EUR; its speed is not known"),
        ("ko", "RTX 3050 (중고), 700 EUR: 700 EUR로 예산 500 EUR을(를) 넘음; 속도를 모름"),
    ],
)
def test_a_sentence_is_of_one_language_and_one_currency_throughout(language: str, sentence: str) -> None:
    price, budget = Sum(Decimal(1400)), Sum(Decimal(1000))
    against = (Message("buy.over_budget", price=price, budget=budget), Message("buy.speed_unknown"))
    used = Message("buy.in_way", what="RTX 3050", way=Message("word.used"))
    message = Message("buy.ruled_out", what=Message("buy.for_total", what=used, total=price), against=against)
    assert said(message, language, Words(lambda amount: Sum(amount.amount / 2, "EUR"))) == sentence


def test_what_fills_a_gap_is_no_pattern() -> None:
    hostile = "{needed.__class__} {0} %s {{"
    assert said(Message("buy.would_hold_without_price", what=hostile), "en").startswith(hostile)


def test_several_sentences_are_one_and_none_are_none() -> None:
    assert str(several([Message("buy.speed_unknown"), "its text"])) == "its speed is not known; its text"
    assert several([]) is None
    lang.use("ko")
    assert (say(None), say(Path("a/b")), say(several([Message("buy.speed_unknown")]))) == ("", "a/b", "속도를 모름")
    lang.use("en")
