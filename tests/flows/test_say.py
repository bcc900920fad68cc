"""Every message fills the gaps of its template, and its Korean has the same gaps. What the catalogue knows is said."""

from __future__ import annotations

import ast
import pickle
import re
import subprocess
from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from functools import cache
from pathlib import Path
from string import Formatter

import pytest

from gpuledger.flows.words import lang
from gpuledger.flows.words.particles import Korean
from gpuledger.flows.words.say import label, say
from gpuledger.message import Label, Message, Sum, Words, said, several
from gpuledger.transform.seeds.markets import markets
from gpuledger.warehouse.errors import BadQuery
from tests.command import ROOT

ROOMS = ("extract", "expectations", "warehouse", "transform", "flows")
MESSAGES = ROOT / "gpuledger" / "message.py"
OURS = re.compile(r"gpuledger\.message import .*\bMessage\b")
#: Where answers and their refusals are made. What is wrong with a machine or its data may be told in English alone.
OF_ANSWERS = ("transform", "flows/doors/asking", "flows/doors/showing", "flows/doors/agent")
#: What click says.
OF_CLICK = {"Commands", "Show this message and exit.", "Show the version and exit."}


def gaps(sentence: str) -> dict[str, tuple[str, str | None]]:
    """The gaps of a sentence by name, with how their values are formatted. What stands between several is words too."""
    found = [(name, spec or "", way) for _, name, spec, way in Formatter().parse(sentence) if name is not None]
    return {name: (", " if spec.endswith(" ") else spec, way) for name, spec, way in found}


@cache
def trees() -> dict[Path, ast.Module]:
    """The code of all rooms by its files."""
    files = [*(ROOT / "gpuledger").glob("*.py"), *(file for room in ROOMS for file in (ROOT / room).rglob("*.py"))]
    return {file: ast.parse(file.read_text(encoding="utf-8")) for file in sorted(files)}


@cache
def mistakes() -> frozenset[str]:
    """The names of all errors that are made of the template of a message and its values, as Mistake is."""
    classes = [node for tree in trees().values() for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    names = {"Mistake"}
    while more := {c.name for c in classes if not names.isdisjoint(map(ast.unparse, c.bases))} - names:
        names |= more
    return frozenset(names)


@cache
def constants() -> dict[str, ast.expr]:
    """The texts, and tables of texts, that have a name at the top of a file."""
    return {
        node.targets[0].id: node.value
        for tree in trees().values()
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
        if isinstance(node.value, ast.Constant | ast.Dict)
    }


@cache
def written() -> tuple[tuple[str, str, frozenset[str]], ...]:
    """Place, template and names of the values of every message in the code."""
    found = []
    for file, tree in trees().items():
        # Message is another class, or nothing, in a file that does not import ours.
        is_ours = file == MESSAGES or OURS.search(file.read_text(encoding="utf-8"))
        saying = mistakes() | {"Message"} if is_ours else mistakes()
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in saying and node.args:
                if file == MESSAGES and ast.unparse(node.args[0]) == "template":
                    continue  # a Mistake hands its own template on
                place = f"{file.relative_to(ROOT)}:{node.lineno}"
                names = frozenset(one.arg or "**" for one in node.keywords)
                found += [(place, template, names) for template in templates(node.args[0])]
    return tuple(found)


def templates(node: ast.expr) -> Iterator[str]:
    """The templates that an expression may be."""
    if isinstance(node, ast.IfExp):
        yield from (*templates(node.body), *templates(node.orelse))
    elif isinstance(node, ast.Constant):
        yield str(node.value)
    elif isinstance(node, ast.Dict):
        for value in node.values:
            yield from templates(value)
    else:
        name = node.value if isinstance(node, ast.Subscript) else node
        assert getattr(name, "id", None) in constants(), f"{ast.unparse(node)}: write the sentence here"
        assert isinstance(name, ast.Name)
        yield from templates(constants()[name.id])


def korean() -> dict[str, str]:
    catalogue = lang.translations("ko")
    assert isinstance(catalogue, lang.Catalogue)
    return catalogue.messages


def test_every_message_in_the_code_fills_its_gaps_and_those_of_answers_are_korean() -> None:
    assert len(written()) > 450
    for place, template, names in written():
        assert gaps(template).keys() <= names, f"{place}: {template}"
        assert template in korean() or not place.startswith(OF_ANSWERS), f"{place}: write the Korean of {template!r}"
        assert gaps(korean().get(template, template)) == gaps(template), place


def squeezed(text: str) -> str:
    """Without spaces and the underscores of columns' names."""
    return "".join(text.replace("_", " ").split())


def test_nothing_is_in_the_catalogue_that_nothing_says() -> None:
    """Texts, names of columns and words of the report: how they stand in the code, the data and the page."""
    said_by_code = [
        node.value for tree in trees().values() for node in ast.walk(tree) if isinstance(node, ast.Constant)
    ]
    files = subprocess.run(
        ["git", "ls-files", "gpuledger", *ROOMS], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    data = [ROOT / file for file in files.split() if file.endswith((".toml", ".sql", ".html", ".js", ".csv"))]
    texts = [str(text) for text in said_by_code] + [
        file.read_text(encoding="utf-8").replace('\\"', '"') for file in data
    ]
    texts += [f"market {country.market}" for country in markets(date(2026, 1, 1))]
    everything = "\0".join(map(squeezed, texts))
    assert {text for text in korean() if squeezed(text) not in everything} - OF_CLICK == set()


def test_a_message_passes_between_processes_and_is_english_as_text() -> None:
    message = Message("needs {needed:.1f} GB and has {available:.1f}", needed=9.84, available=7.8)
    assert pickle.loads(pickle.dumps(message)) == message
    assert str(message) == "needs 9.8 GB and has 7.8"
    assert repr(message) == "Message('needs {needed:.1f} GB and has {available:.1f}', needed=9.84, available=7.8)"
    assert message != Message("needs {needed:.1f} GB and has {available:.1f}", needed=9.84, available=7.7)


def test_an_error_carries_its_message_to_the_edge_also_from_another_process() -> None:
    error = pickle.loads(pickle.dumps(BadQuery(Message("its speed is not known"))))
    assert str(error) == "its speed is not known"
    lang.use("ko")
    assert say(error) == "속도를 모름"
    lang.use("en")


def test_a_message_or_an_error_in_a_gap_is_said_in_the_same_language() -> None:
    inner = BadQuery(Message("{column} cannot be {text!r}", column="tdp_w", text="many"))
    error = BadQuery(
        Message("{name!r}: {reason}; `gpuledger gpu add` with --like adds such a card", name="BR100", reason=inner)
    )
    assert str(error) == "'BR100': tdp_w cannot be 'many'; `gpuledger gpu add` with --like adds such a card"
    lang.use("ko")
    assert (
        say(error)
        == "'BR100': tdp_w는 'many'일 수 없습니다; 그런 카드는 --like를 붙인 `gpuledger gpu add`로 추가합니다"
    )
    lang.use("en")


@pytest.mark.parametrize(
    ("language", "sentence"),
    [
        ("en", "RTX 3050 (used) for 700 EUR: costs 700 EUR, over the budget of 500 EUR; its speed is not known"),
        ("ko", "RTX 3050 (중고), 700 EUR: 비용 700 EUR가 예산 500 EUR를 넘음; 속도를 모름"),
    ],
)
def test_a_sentence_is_of_one_language_and_one_currency_throughout(language: str, sentence: str) -> None:
    price, budget = Sum(Decimal(1400)), Sum(Decimal(1000))
    against = (
        Message("costs {price}, over the budget of {budget}", price=price, budget=budget),
        Message("its speed is not known"),
    )
    used = Message("{what} ({way})", what="RTX 3050", way=Label("used"))
    message = Message(
        "{what}: {against:; }", what=Message("{what} for {total}", what=used, total=price), against=against
    )
    lang.use(language)
    assert said(message, Words(lambda amount: Sum(amount.amount / 2, "EUR"), label, lang.gettext)) == sentence
    lang.use("en")


def test_what_fills_a_gap_is_no_pattern() -> None:
    hostile = "{needed.__class__} {0} %s {{"
    assert said(Message("{what} would hold it as asked, and has no price here", what=hostile)).startswith(hostile)


def test_several_sentences_are_one_and_none_are_none() -> None:
    assert str(several([Message("its speed is not known"), "its text"])) == "its speed is not known; its text"
    assert several([]) is None
    lang.use("ko")
    assert (
        say(None), say(Path("a/b")), say(several([Message("its speed is not known")])),
    ) == ("", "a/b", "속도를 모름")  # fmt: skip
    lang.use("en")


@pytest.mark.parametrize(
    ("template", "value", "sentence"),
    [
        ("{it}은(는) 없음", "RTX 4090", "RTX 4090은 없음"), ("{it}은(는) 없음", "RTX 4080 Ti", "RTX 4080 Ti는 없음"),
        ("{it}를 읽음", "Q4_K_M", "Q4_K_M을 읽음"), ("{it}을(를) 읽음", "newegg", "newegg를 읽음"),
        ("{it}(으)로", "vllm", "vllm으로"), ("{it}(으)로", "서울", "서울로"),
        ("{it}을 씀", "100%", "100%를 씀"), ("{it}로 올림", "1,699,000 KRW", "1,699,000원으로 올림"),
        ("{it!r}(이)라는 카드", "4090 (중고)", "'4090 (중고)'이라는 카드"), ("{it}와(과) 함께", "값", "값과 함께"),
        ("{it}이 {it}(으)로는", "3", "3이 3으로는"), ("{it}이다", "값", "값이다"),
        ("{it!r}은(는) 숫자가 아님", "abc", "'abc'는 숫자가 아님"),
    ],
)  # fmt: skip
def test_a_particle_agrees_with_the_value_before_it(template: str, value: str, sentence: str) -> None:
    assert Korean(template).format(it=value) == sentence
