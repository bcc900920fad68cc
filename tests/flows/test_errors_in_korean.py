"""Every sentence of an error that people may read has a Korean one, and it is found again by what it says."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import FrameType

import pytest

from gpuledger.extract import errors, local_files
from gpuledger.flows.words import lang, wrong_use

ROOT = Path(__file__).parents[2]
ROOMS = ("extract", "expectations", "warehouse", "transform", "flows")
#: Errors that say something to a programmer or to the code that called, and nothing to people.
UNSEEN = {
    # what Python says
    "AssertionError", "AttributeError", "EOFError", "KeyError", "LookupError", "OverflowError", "RuntimeError",
    "TimeoutError", "TypeError",
    # what a fetch makes a FetchError of
    "BodyTooLarge", "BodyTruncated", "ConnectTimeoutError", "NameResolutionError", "NewConnectionError", "RefusedPeer",
    "Transient", "UnknownEncoding", "transient",
    # what is counted, or tried in another way
    "BadCard", "TooMuch", "TooManyAttributes", "BadPicture", "_NoCard", "_NotStored",
}  # fmt: skip
#: Files whose plain ValueErrors are shown to the person who wrote the file, row or option that they are of.
OF_A_PERSONS_WORDS = (
    "extract/fetch/http_settings.py", "extract/local_files.py", "extract/readers/transcriptions.py",
    "extract/sample/server.py", "extract/sources/own_rates/pages.py", "flows/checks/pages.py",
    "flows/night/start.py", "flows/decisions/corrections.py", "flows/settings/settings.py",
    "warehouse/load/corrected.py", "warehouse/outputs/xlsx_files.py",
)  # fmt: skip


#: What the operating system says of files.
OF_THE_SYSTEM = {
    "Disk quota exceeded", "File exists", "File name too long", "Is a directory", "No space left on device",
    "No such file or directory", "Not a directory", "Operation not permitted", "Permission denied", "Read-only file system",
    "Too many open files",
}  # fmt: skip


#: What is written alike: names of our own, with a gap or two.
ALIKE = {
    "`gpuledger restore`",
    "pip install 'gpuledger[browser]'",
    "sql_memory_limit: {0}",
    "{0}/robots.txt: {1}",
}


def template(node: ast.expr) -> str | None:
    """The text that an expression makes, with {0}, {1} … for what it fills in; None where it makes none."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if not isinstance(node, ast.JoinedStr):
        return None
    gaps = iter(range(len(node.values)))
    return "".join(
        str(part.value) if isinstance(part, ast.Constant) else "{" + str(next(gaps)) + "}" for part in node.values
    )


def texts(node: ast.expr, returned: dict[str, list[ast.expr]]) -> Iterator[str]:
    """The texts that an argument of an error may be: itself, those of a list, what a function of its file returns, and what
    stands under its name there.
    """
    if isinstance(node, ast.IfExp):
        yield from (*texts(node.body, returned), *texts(node.orelse, returned))
    elif isinstance(node, ast.List):
        yield from (text for one in node.elts for text in texts(one, returned))
    elif isinstance(node, ast.Name):
        yield from (
            text for one in returned.get(node.id, []) if not isinstance(one, ast.Name) for text in texts(one, {})
        )
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        yield from filter(None, map(template, returned.get(node.func.id, [])))
    elif text := template(node):
        yield text


@cache
def raised() -> tuple[tuple[str, str], ...]:
    """Place and template of every text that is handed to an error."""
    trees = {
        file.relative_to(ROOT).as_posix(): ast.parse(file.read_text(encoding="utf-8"))
        for room in ROOMS
        for file in sorted((ROOT / room).rglob("*.py"))
    }
    bases = {
        node.name: [ast.unparse(base).rpartition(".")[2] for base in node.bases]
        for tree in trees.values()
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
    }

    def is_error(name: str) -> bool:
        return name in {"Exception", "OSError", "ValueError", "UsageError", "ClickException", "BadParameter"} or any(
            map(is_error, bases.get(name, []))
        )

    found: list[tuple[str, str]] = []
    for place, tree in trees.items():
        returned: dict[str, list[ast.expr]] = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef):
                inside = [one.value for one in ast.walk(node) if isinstance(one, ast.Return) and one.value]
                returned.setdefault(node.name, []).extend(inside)
            elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                returned.setdefault(node.targets[0].id, []).append(node.value)
        raising = {id(node.exc) for node in ast.walk(tree) if isinstance(node, ast.Raise)}
        for node in ast.walk(tree):
            if not isinstance(node, ast.Call):
                continue
            name = ast.unparse(node.func).rpartition(".")[2]
            if name == "understood":
                # extract.readers.answers puts the kind of the error and what it says behind it
                found.append((f"{place}:{node.lineno}", f"{template(node.args[1])}: {{0}} {{1}}"))
            if not (is_error(name) or id(node) in raising) or name in UNSEEN:
                continue
            if name == "ValueError" and place not in OF_A_PERSONS_WORDS:
                continue
            said = (text for argument in node.args for text in texts(argument, returned))
            found.extend((f"{place}:{node.lineno}", text) for text in said if is_sentence(text))
    return tuple(found)


def is_sentence(text: str) -> bool:
    """One word is an address or a name, and a text that is mostly gaps is found in any other."""
    words = re.sub(r"\{\d+\}", "", text)
    between = text.startswith("{") and text.endswith("}")
    return " " in text and len(re.findall("[a-zA-Z]", words)) >= (8 if between else 2)


def ways_out() -> set[str]:
    """What the errors of pages say that a person can do."""
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, errors.ExtractError)]
    return {kind.default_action for kind in kinds}


def test_every_sentence_of_an_error_is_korean() -> None:
    korean = lang.translations("ko", lang.ERRORS)
    assert isinstance(korean, lang.Catalogue)
    assert len(raised()) > 100
    missing = sorted(f"{place}: {text}" for place, text in raised() if text not in korean.messages)
    assert missing == [], "write their Korean in flows/words/locale/ko/LC_MESSAGES/errors.po"
    assert ways_out() - korean.messages.keys() == set()


def test_nothing_is_translated_that_nothing_says() -> None:
    korean = lang.translations("ko", lang.ERRORS)
    assert isinstance(korean, lang.Catalogue)
    assert {text for text in korean.messages if "{" in text and not is_sentence(text)} <= {
        "{0}: {1}; or choose another folder or --data-dir"
    }
    said = {text for _, text in raised()} | ways_out() | {f"{{0}}: {way}" for way in local_files.WAYS_OUT.values()}
    code = {node.value for room in ROOMS for file in (ROOT / room).rglob("*.py")
            for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
            if isinstance(node, ast.Constant) and isinstance(node.value, str)}  # fmt: skip
    joined = {text for room in ROOMS for file in (ROOT / room).rglob("*.py")
              for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
              if isinstance(node, ast.JoinedStr) and (text := template(node))}  # fmt: skip
    assert korean.messages.keys() - said - code - joined - OF_THE_SYSTEM == set()


def test_each_is_found_again_by_what_it_says() -> None:
    """With figures in its gaps, every sentence comes out Korean and keeps its figures."""
    lang.use("ko")
    for text in {text for _, text in raised()}:
        gaps = re.findall(r"\{\d+\}", text)
        figures = [f"x{number}y" for number in range(len(gaps))]
        said = wrong_use.translated(text.format(*figures) if gaps else text)
        assert re.search("[가-힣]", said) or text in ALIKE, text
        assert all(figure in said for figure in figures), f"{text}: {said}"
    lang.use("en")
    assert wrong_use.translated("the file is empty; write it again") == "the file is empty; write it again"


@pytest.mark.parametrize(
    ("english", "korean"),
    [
        (
            str(errors.NotFound("https://shop.example/a", "status 404")),
            "NotFound: https://shop.example/a: 상태 404; 설정이나 출처에 있는 주소를 고치십시오",
        ),
        (  # both halves hold a semicolon
            str(errors.ForeignHost("https://a.example/", "it leads to b.example, and the source is of a.example")),
            "ForeignHost: https://a.example/: b.example(으)로 가는데, 출처는 a.example의 것입니다; "
            "그 호스트가 출처의 것이면 SOURCE의 `hosts`에 적고, 아니면 페이지를 살펴보십시오",
        ),
        (
            "/data/x: Permission denied: mend the permissions; or choose another folder or --data-dir",
            "/data/x: 권한이 없습니다: 권한을 고치십시오. 또는 다른 폴더나 --data-dir을 고르십시오",
        ),
        ("Catalog Error: no words of ours", "Catalog Error: no words of ours"),
    ],
)
def test_what_a_person_reads(english: str, korean: str) -> None:
    lang.use("ko")
    assert wrong_use.translated(english) == korean
    lang.use("en")


def hostile() -> Iterator[str]:
    """A text of every sentence with gaps whose figures say its own words again and again; a thousand in each other."""
    for one in (
        "NotFound: u: ",
        "Invalid value: ",
        "a: b; ",
        "x; ",
        "a, b: ",
        "Could not open file a: ",
        "Did you mean ",
        "\n ",
    ):
        yield one * 1000
        yield "LayoutChanged: https://a.example/: " + one * 1000
        yield one * 100_000
    for text, literals in wrong_use._templates():
        for body in {literals[1], "".join(literals[1:-1])} - {""}:
            yield literals[0] + body * (15_000 // len(body)) + "".join(literals[1:]) + "\0"
        yield text.replace("{", "{{").replace("}", "}}") + "%s{0.__class__}{9}"


def test_no_strangers_words_keep_a_sentence_busy() -> None:
    """Counted in calls, and not in seconds: a page decides what stands in its error."""
    lang.use("ko")
    counted = 0

    def count(frame: FrameType, event: str, argument: object) -> None:
        nonlocal counted
        counted += event == "call" and frame.f_code is wrong_use.translated.__code__

    for text in hostile():
        counted, before = 0, sys.getprofile()
        sys.setprofile(count)
        try:
            wrong_use.translated(text)
        finally:
            sys.setprofile(before)
        assert counted <= 2000, text[:80]
    lang.use("en")


@pytest.mark.parametrize(
    "value", ["{0}", "{what}", "%s", "{0.__class__.__init__}", "{x!r:>999999999}", "}{", "\\1", "(.*?)"]
)
def test_what_a_stranger_wrote_fills_a_gap_and_is_no_pattern(value: str) -> None:
    lang.use("ko")
    for text, _ in wrong_use._templates():
        filled = wrong_use._GAP.sub(lambda _: value, text)
        assert wrong_use.translated(filled).count(value) >= filled.count(value), filled
    lang.use("en")
