"""Korean: every heading and message of the reading commands and of the report, and the README's first screens."""

from __future__ import annotations

import gettext
import inspect
import json
import os
import pty
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from babel.messages.catalog import Catalog
from babel.messages.extract import extract, extract_from_dir
from babel.messages.pofile import read_po
from click.testing import CliRunner, Result

from gpuledger.extract.source import discover
from gpuledger.flows import cli as command_line
from gpuledger.flows.cli import cli
from gpuledger.flows.doors.showing.table import cell_width
from gpuledger.flows.words import lang
from gpuledger.flows.words.say import spoken
from gpuledger.transform import workloads
from gpuledger.warehouse.outputs.report import files
from gpuledger.warehouse.paths import DataDir
from gpuledger.warehouse.read import query
from tests.command import ROOT, arguments, environment
from tests.nights import Night

WORKLOAD = "sd-512-image-generation"
TEXT = "llama-13b-int4-text-generation"
#: How each reading command is asked, so that every heading that it can show is shown.
ASKED: dict[str, list[list[str]]] = {
    "alias list": [[]],
    "audit": [[]],
    "buy": [["--model", "llama-2-13b"], ["--model", "stable-diffusion-1.5"]],
    "changes": [[], ["4090"]],
    "describe": [[], ["mart.value"], ["main.value_as_of"], ["assumptions"]],
    "doctor": [["--offline", "--sample"]],
    "gpu list": [[]],
    "model list": [[]],
    "price": [
        [],
        ["--market", "kr"],
        ["--market", "all"],
        ["no such card"],
        ["--as-of", "2023-11-16"],
    ],
    "measure list": [[]],
    "quotes sample": [[]],
    "quotes check": [[str(ROOT / "extract" / "sources" / "quotes" / "cases" / "english.csv")]],
    "rank": [[WORKLOAD], [WORKLOAD, "--as-of", "2023-11-16"], ["no-workload"]],
    "predict": [["--gpu", "RTX 4090", "--count", "2", "--model", "llama-3-8b"]],
    "settings": [[]],
    "show": [["4090"], ["no such card"]],
    "size": [["llama-2-7b"]],
    "sources": [[]],
    "sources check": [["--sample", "ecb_fx"]],
    "sources corrections": [[]],
    "sources diff": [["bhphoto"], ["newegg"]],
    "status": [[]],
    "value": [[WORKLOAD], [WORKLOAD, "--price", "msrp"], [WORKLOAD, "--as-of", "2023-11-16"]],
    "watch list": [[]],
    "workloads": [[]],
}
#: The columns of its answer are the user's own.
OWN_COLUMNS = {"sql"}


#: Names and symbols that Korean writes as English does. A source's title without a common word is its name.
ALIKE = {one.title for one in discover() if not re.search(" [a-z]", one.title)} | {
    "ebay", "FLOP", "GB", "GFLOPS", "KRW", "TFLOPS", "TOPS", "49.9 / 4.46 = 11.2",
}  # fmt: skip


class Untranslated(gettext.NullTranslations):
    """Remembers what a catalogue had no words for."""

    def __init__(self) -> None:
        super().__init__()
        self.messages: set[str] = set()

    def gettext(self, message: str) -> str:
        self.messages.add(message)
        return message


@pytest.fixture
def untranslated() -> Iterator[set[str]]:
    lang.translations.cache_clear()
    seen = Untranslated()
    lang.translations("ko").add_fallback(seen)
    yield seen.messages
    lang.translations.cache_clear()
    lang.use("en")


def all_commands(group: click.Group = cli, before: str = "") -> dict[str, click.Command]:
    """Every command below `group`, by its words."""
    found: dict[str, click.Command] = {}
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        words = f"{before} {name}".strip()
        found[words] = command
        if isinstance(command, click.Group):
            found |= all_commands(command, words)
    return found


def reading_commands() -> dict[str, click.Command]:
    """Every command with --format table, by its words."""
    return {
        words: command
        for words, command in all_commands().items()
        if any(isinstance(option.type, click.Choice) and "table" in option.type.choices for option in command.params)
    }


def ask(language: str, words: list[str], data: Path | None, env: dict[str, str] | None = None) -> Result:
    command = [*(["--lang", language] if language else []), *words]
    where = [] if data is None else ["--data-dir", str(data)]
    return CliRunner().invoke(cli, [*command, *where], env=env)


def has_data_dir(command: click.Command) -> bool:
    return any(option.name == "data_dir" for option in command.params)


def test_every_reading_command_is_asked_below() -> None:
    assert reading_commands().keys() - OWN_COLUMNS <= ASKED.keys(), "add it, and its headings to flows/words/locale/ko"


def test_every_heading_of_a_reading_command_is_korean(nights: dict[int, Night], untranslated: set[str]) -> None:
    for words, command in reading_commands().items():
        for following in ASKED.get(words, []):
            data = nights[2].data if has_data_dir(command) else None
            answer = ask("ko", [*words.split(), *following], data)
            # A traceback would hide headings; a usage error is one of the messages.
            assert answer.exception is None or isinstance(answer.exception, SystemExit), answer.exc_info
    assert sorted(untranslated - ALIKE) == [], "write their Korean in flows/words/locale/ko/LC_MESSAGES/gpuledger.po"


def test_the_list_of_commands_is_korean_and_no_sentence_of_it_is_cut() -> None:
    for language, of_all in (("en", r"[.]$"), ("ko", "[가-힣]")):
        lines = ask(language, ["--help"], None).output.partition("--help")[2]
        said = re.split(r"\n  (?=\w)", re.sub(r"(?m)^\S.*:$", "", lines))[1:]
        assert len(said) > 35
        assert [one for one in said if not re.search(of_all, one.strip())] == []
    lang.use("en")


def squeezed(text: str) -> str:
    return "".join(text.split())


def test_the_help_of_every_command_is_korean_and_fits_the_terminal() -> None:
    for words, command in {"": cli, **all_commands()}.items():
        shown = ask("ko", [*words.split(), "--help"], None).output
        described = inspect.cleandoc(command.help or "").split("\n\n")
        # A list of commands shows the first paragraph.
        assert re.findall(r"\. ", described[0]) == [], f"{words}: begin with a paragraph of one sentence"
        examples = [text for text in described if text.startswith("\b")]
        options = [one for one in command.get_params(click.Context(command)) if isinstance(one, click.Option)]
        for text in [*(text for text in described if text not in examples), *(one.help or "" for one in options)]:
            korean = lang.gettext(" ".join(text.split()))
            assert re.search("[가-힣]", korean), f"{words}: write the Korean of {text!r} in the catalogue"
            assert squeezed(korean) in squeezed(shown), words
        # Headings, and what click adds to an option's help.
        assert re.findall(r"^[A-Z][a-z]+:|\[default|\brequired\]", shown, re.MULTILINE) == [], words
        kept = {line.strip() for text in examples for line in text.splitlines()}
        assert [line for line in shown.splitlines() if cell_width(line) > 80 and line.strip() not in kept] == [], words
    lang.use("en")


#: What goes wrong on a command line, one of a kind.
WRONG = (
    "--langg", "price --asof x", "price --format xml", "price --format", "price --json=3", "value", "buy", "export",
    "changes --limit x", "buy --model x --users 0", "audit x", "audit x y", "quotes chek",
    "quotes check nofile", "parse product /", "changes", "price --lang de", "watch add", "watch add 4090 --below x",
    "resolve", "parse product README.md --fetched-at x", "refresh --night 2", "replay --until x",
)  # fmt: skip


def test_what_is_said_of_a_wrong_use_is_korean(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GPULEDGER_DATA_DIR", str(tmp_path / "none"))
    for line in WRONG:
        monkeypatch.setattr("sys.argv", ["gpuledger", "--lang", "ko", *line.split()])
        with pytest.raises(SystemExit) as leaving:
            command_line.call()
        said = capsys.readouterr().err.strip().splitlines()
        assert leaving.value.code, line
        assert re.search("[가-힣]{2}", said[-1]), f"{line}: {said[-1]}"
        assert not re.search("^(Usage|Error|Try)", "\n".join(said), re.MULTILINE), line
    lang.use("en")


def test_the_language_counts_wherever_it_stands() -> None:
    for words in (["--help", "--lang", "ko"], ["price", "--help", "--lang=ko"], ["price", "--lang", "ko", "--help"]):
        assert "사용법:" in CliRunner().invoke(cli, words).output, words
    assert "사용법:" in ask("", ["rank", "--help"], None, {"GPULEDGER_LANG": "ko"}).output
    assert "Usage:" in CliRunner().invoke(cli, []).output, "and where nothing stands"
    lang.use("en")


def catalogue() -> Catalog:
    with (lang.LOCALE / "ko" / "LC_MESSAGES" / f"{lang.DOMAIN}.po").open("rb") as file:
        return read_po(file, locale="ko")


def test_the_catalogue_is_read_as_babel_reads_it() -> None:
    korean = lang.translations("ko")
    assert isinstance(korean, lang.Catalogue)
    assert korean.messages == {str(message.id): message.string for message in catalogue() if message.id}


def test_every_message_in_the_code_and_the_templates_is_korean() -> None:
    korean = catalogue()
    used = [
        *extract_from_dir(ROOT / "flows", method_map=[("**.py", "python")]),
        *extract_from_dir(
            ROOT / "warehouse" / "outputs",
            method_map=[("**.py", "python"), ("report/page.html", "jinja2"), ("report/app/**.js", "javascript")],
            options_map={"report/app/**.js": {"template_string": "yes"}},
        ),
    ]
    assert len(used) > 450
    missing = {
        f"{file}:{line}: {text}" for file, line, text, *_ in used if text not in korean or not korean[text].string
    }
    assert not missing


def test_a_translation_keeps_the_places_of_what_is_filled_in() -> None:
    for message in catalogue():
        if message.id:
            placed = [
                # What stands between the parts of a tuple is words too.
                sorted(re.findall(r"%\(\w+\)s|\{\w+(?:![rs])?(?::[^{}]+)?\}", re.sub(":[;, a-z]* }", "}", str(text))))
                for text in (message.id, message.string)
            ]
            assert placed[0] == placed[1], message.id
            assert not message.fuzzy, message.id


@pytest.mark.slow_combination
def test_programs_get_the_same_in_every_language(nights: dict[int, Night]) -> None:
    for words, command in reading_commands().items():
        # What the machine is like is seen anew each time, and the sample site of a check lies at another address.
        if words in ("doctor", "sources check"):
            continue
        for following in ASKED.get(words, []):
            data = nights[2].data if has_data_dir(command) else None
            english, korean = (
                ask(language, [*words.split(), *following, "--format", "csv"], data).stdout for language in ("en", "ko")
            )
            assert english == korean, words
    lang.use("en")


def literals(model: str) -> set[str]:
    """The texts that a model's SQL makes, each with a number where it fills one in."""
    text = (ROOT / "transform" / "models" / model / "query.sql").read_text(encoding="utf-8")
    made = re.findall(r"(?:THEN|ELSE) '(.*)'", text)
    made += [re.sub(r"{\w+}", "7", one) for one in re.findall(r"replace\(\s*'([^'{]+{[^']*)'", text)]
    return {re.sub(r"' \|\| .*? \|\| '", "7", text) for one in made for text in one.split("' ELSE '")}


def test_every_sentence_that_sql_makes_is_korean(nights: dict[int, Night]) -> None:
    """What the SQL could say and what it said on a night, and what workloads are called."""
    data = DataDir(nights[2].data)
    said = {
        text
        for question in (
            "SELECT DISTINCT reason FROM mart.price_trend",
            "SELECT DISTINCT exclusion FROM core.offer WHERE exclusion IS NOT NULL",
            "SELECT DISTINCT excluded FROM mart.market_price WHERE excluded IS NOT NULL",
        )
        for (text,) in query(data, question)[1]
    }
    could_say = literals("mart/price_trend") - {"unknown", "wait", "buy", "neutral"} | literals("core/offer_exclusion")
    could_say |= literals("mart/node_offer") - {"now"}
    assert len(could_say) >= 22
    names = {text for one in workloads.packaged().values() for text in (one.workload, one.description)}
    lang.use("ko")
    english = {text for text in said | could_say | names if not re.search("[가-힣]", spoken(text))}
    assert english == set(), "write its Korean in the catalogue"
    lang.use("en")
    assert all(spoken(text) == text for text in could_say | names)


@pytest.mark.parametrize(
    "asked",
    [
        ["--gpu", "2x RTX 4090", "--model", "llama-3-8b"],
        ["--gpu", "A100 80GB", "--model", "gpt-oss-20b", "--precision", "mxfp4"],
        ["--gpu", "H100 SXM", "--count", "8", "--model", "deepseek-v3", "--precision", "fp8", "--users", "32"],
        ["--gpu", "RX 7900 XTX", "--count", "3", "--model", "llama-3-70b", "--precision", "fp16", "--engine", "vllm"],
        ["--gpu", "L4", "--model", "llama-3-70b", "--offload", "layers"],
        ["--gpu", "M1 8GB", "--model", "mamba-2.8b", "--precision", "fp16"],
        ["--gpu", "T4", "--model", "llama-3-8b", "--train", "qlora"],
        ["--gpu", "Gaudi 3", "--count", "8", "--model", "llama-3-70b", "--precision", "bf16", "--users", "8"],
        *(["size", model] for model in ("llama-3-8b", "mamba-2.8b", "flux.1-dev")),
    ],
)
def test_every_note_and_sum_of_a_prediction_and_of_a_size_is_korean(asked: list[str], tmp_path: Path) -> None:
    is_size = asked[0] == "size"
    answer = ask("ko", asked if is_size else ["predict", *asked, "--explain"], None if is_size else tmp_path)
    lang.use("en")
    assert answer.exit_code == 0, answer.output
    # Beside its rows `size` has a line of names.
    lines = [line for line in answer.output.splitlines() if not is_size or "\t" in line]
    assert len(lines) > 10
    assert [line for line in lines if not re.search("[가-힣]", line)] == []


def test_data_for_programs_are_the_same_in_every_language(nights: dict[int, Night]) -> None:
    for form in ("csv", "json"):
        words = ["value", WORKLOAD, "--format", form]
        assert ask("ko", words, nights[2].data).output == ask("en", words, nights[2].data).output


def test_what_has_no_translation_stays_english() -> None:
    lang.use("ko")
    assert lang.gettext("price") == "가격"
    assert lang.gettext("a heading that nobody translated") == "a heading that nobody translated"
    assert lang.gettext("") == ""
    lang.use("en")


def test_the_language_comes_from_the_option_the_environment_or_the_settings(
    nights: dict[int, Night], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    data, english, korean = nights[2].data, "over MSRP", "출시가 대비"
    assert english in ask("", ["price"], data).output
    assert korean in ask("", ["price"], data, {"GPULEDGER_LANG": "ko"}).output
    assert english in ask("en", ["price"], data, {"GPULEDGER_LANG": "ko"}).output, "the option goes before"
    (tmp_path / "gpuledger.toml").write_text('lang = "ko"\n', encoding="utf-8")
    assert korean in ask("", ["price"], data).output
    assert english in ask("", ["price"], data, {"GPULEDGER_LANG": "en"}).output
    lang.use("en")


def test_a_terminal_asks_for_its_language_and_a_pipe_does_not(nights: dict[int, Night], tmp_path: Path) -> None:
    words = arguments("show", "rtx 4090", data=nights[2].data)
    korean = environment({"LC_ALL": "", "LC_MESSAGES": "", "LANG": "ko_KR.UTF-8"})
    screen, terminal = pty.openpty()
    subprocess.run(words, env=korean, cwd=tmp_path, stdout=terminal, check=True)
    os.close(terminal)
    assert "출시가 대비" in os.read(screen, 100_000).decode("utf-8", errors="ignore")
    piped = subprocess.run(words, env=korean, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "over MSRP" in piped.stdout


def test_the_report_is_korean_but_its_data_are_not(nights: dict[int, Night], tmp_path: Path) -> None:
    assert ask("ko", ["report", str(tmp_path)], nights[2].data).exit_code == 0
    lang.use("en")
    page = (tmp_path / "index.html").read_text(encoding="utf-8")
    found = dict(re.findall(r'<script type="application/json" id="(\w+)">(.*?)</script>', page))
    assert not re.search("[가-힣]{2} [가-힣]{2}", json.loads(found["contents"])["tables"]["rows"][0][-1])
    words = json.loads(found["words"])
    assert (words["language"], words["languages"]) == ("ko", ["en", "ko"])
    assert '<html lang="ko">' in page
    assert "GPU 가격과 가성비" in page
    scripts = [(files.ROOM / name).read_text(encoding="utf-8") for name in files.SCRIPTS]
    texts = {
        *files.of_scripts(scripts),
        *(text for vocabulary in words["values"].values() for text in vocabulary.values()),
    }
    korean_words = lang.translations("ko")
    assert isinstance(korean_words, lang.Catalogue)
    assert texts - korean_words.messages.keys() == set(), "write it in flows/words/locale/ko/LC_MESSAGES/gpuledger.po"
    assert len(words["translations"]["ko"]) > 300


def test_the_texts_of_the_scripts_are_found_as_babel_finds_them() -> None:
    for name in files.SCRIPTS:
        with (files.ROOM / name).open("rb") as script:
            babels = {str(text) for _, text, *_ in extract("javascript", script, options={"template_string": "yes"})}
        assert babels <= {*files.of_scripts([(files.ROOM / name).read_text(encoding="utf-8")])}, (
            "it leaves out some between backticks"
        )


def commands(text: str) -> set[str]:
    """Commands of a README, whatever their language: its indented and fenced blocks without remarks, and those between
    backticks.
    """
    text = text.replace(" --lang ko", "")
    blocks = re.findall(r"^(?:    |\$ )(\S.*?)(?:\s{2,}#.*)?$", text, re.MULTILINE)
    inline = [" ".join(found.split()) for found in re.findall(r"`((?:gpuledger|make)\s[^`]*)`", text)]
    return {line for line in [*blocks, *inline] if re.match(r"(gpuledger|make|duckdb) ", line)}


def test_the_korean_readme_has_every_command_of_the_english_one() -> None:
    english, korean = (commands((ROOT / name).read_text(encoding="utf-8")) for name in ("README.md", "README.ko.md"))
    assert len(english) >= 3
    assert english <= korean
    asked = {line.split()[1] for line in korean if line[0] == "g"}
    assert asked <= set(cli.list_commands(click.Context(cli)))


GUIDES = ROOT / "docs" / "guides"


def typed(text: str) -> list[str]:
    """What a guide lets one type, in its order: lines of code without remarks, and what stands between backticks."""
    fenced = re.compile(r"^```[\s\S]*?^```$", re.MULTILINE)
    lines = [*re.findall(r"^ {4}\S.*$", text, re.MULTILINE), *fenced.findall(text)]
    inline = re.findall(r"`([^`\n]+)`", fenced.sub("", text))
    return [re.sub(r" {2,}#.*", "", line) for line in lines] + sorted(inline)


def led_to(path: Path) -> list[str]:
    links = re.findall(r"\]\((?!https?:)([^)#]+)(#[^)]*)?\)", path.read_text(encoding="utf-8"))
    return sorted(f"{(path.parent / file).resolve().relative_to(ROOT)}{anchor}" for file, anchor in links)


#: The handbook lies beside the guides, as documents of the repository's top lead to it; its translation is one of them.
HANDBOOK = ROOT / "docs" / "operations.md"


@pytest.mark.parametrize("english", [*sorted(GUIDES.glob("*.md")), HANDBOOK], ids=lambda path: path.name)
def test_every_guide_is_there_in_korean_with_the_same_commands_and_links(english: Path) -> None:
    korean = GUIDES / "ko" / english.name
    assert typed(korean.read_text(encoding="utf-8")) == typed(english.read_text(encoding="utf-8"))
    # A guide leads to its neighbours of the same language.
    here = {f"docs/guides/ko/{path.name}": str(path.relative_to(ROOT)) for path in (*GUIDES.glob("*.md"), HANDBOOK)}
    led = [link.partition("#") for link in led_to(korean)]
    assert sorted("".join((here.get(file, file), *anchor)) for file, *anchor in led) == led_to(english)
