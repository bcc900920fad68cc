"""What people type wrongly, and what they are told: the name that they meant, or where the right one is found."""

from __future__ import annotations

import shlex
import tomllib
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from gpuledger.flows import cli
from gpuledger.flows.doors.asking.options import Amount, Whole
from gpuledger.flows.words import lang
from gpuledger.spelling import names_like
from tests.command import ROOT, Outcome, gpuledger, succeeds
from tests.nights import Night

VALUE = "value sd-512-image-generation"
#: As typed, exit status, and what the answer must say.
MISTAKES = [
    (line, 4 if kind == "with status 4" else 2, told)
    for kind, lines in tomllib.loads(Path(__file__).with_name("mistakes.toml").read_text(encoding="utf-8")).items()
    for line, told in lines.items()
]


@pytest.fixture
def ask(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> object:
    """The command line as `main` runs it, in this process: usage errors and those of the warehouse alike."""
    monkeypatch.chdir(tmp_path)

    def one(line: str, data: Path) -> Outcome:
        monkeypatch.setenv("GPULEDGER_DATA_DIR", str(data))
        monkeypatch.setattr("sys.argv", ["gpuledger", *shlex.split(line)])
        with pytest.raises(SystemExit) as leaving:
            cli.call()
        out, err = capsys.readouterr()
        lang.use(None)
        return Outcome(int(leaving.value.code or 0), out, err)

    return one


@pytest.mark.parametrize(("line", "status", "told"), MISTAKES, ids=[line for line, *_ in MISTAKES])
def test_a_mistake_is_answered_with_the_remedy(
    ask: object, nights: dict[int, Night], line: str, status: int, told: str
) -> None:
    assert callable(ask)
    outcome = ask(line, nights[1].data)
    assert outcome.status == status, outcome
    assert told in outcome.err
    assert "Traceback" not in outcome.err


@pytest.mark.parametrize(
    ("line", "holds"),
    [
        ("describe value", "mart.value"),
        ("describe VALUE", "mart.value"),
        ("rank 'SD 512 image generation'", "NVIDIA GeForce RTX 4090"),
        ("value 'Stable Diffusion, 512×512 image generation'", "NVIDIA GeForce RTX 4090"),
        ("price 4090 --json", '"nvidia-geforce-rtx-4090"'),
    ],
)
def test_what_can_only_mean_one_thing_is_answered(ask: object, nights: dict[int, Night], line: str, holds: str) -> None:
    assert callable(ask)
    outcome = ask(line, nights[1].data)
    assert outcome.status == 0, outcome
    assert holds in outcome.out + outcome.err


def test_before_the_first_refresh_the_sample_is_named(ask: object, tmp_path: Path) -> None:
    assert callable(ask)
    for line in (
        VALUE, "rank sd-512", "show 4090", "changes", "status", "export out", "report out", "describe", "workloads",
        "sql 'SELECT 1'",
    ):  # fmt: skip
        outcome = ask(line, tmp_path / "data")
        assert (outcome.status, outcome.out) == (1, "")
        (said,) = outcome.err.splitlines()
        none = f"gpuledger: no warehouse in {tmp_path / 'data'} yet: run `gpuledger refresh --sample` first"
        assert said.startswith(none), line
    priced = ask("price 'rtx3090, 4090'", tmp_path / "data").out.splitlines()
    assert [line.split("\t")[0] for line in priced[1:]] == ["NVIDIA GeForce RTX 3090", "NVIDIA GeForce RTX 4090"]
    assert all("street price" in line for line in priced[1:])
    assert ask("describe assumptions.hours_per_day", tmp_path / "data").out.count("hours_per_day") == 1
    assert not (tmp_path / "data").exists(), "reading leaves nothing behind"


def test_near_names_are_near() -> None:
    assert names_like("neweg", ["newegg", "danawa"]) == ["newegg"]
    assert names_like("RTX-4090", ["rtx 4090", "rtx 4080"])[0] == "rtx 4090"
    assert names_like("iphone", ["4090", "a100"]) == []
    assert names_like("", ["4090"]) == []
    assert names_like("gaming", [f"gaming-{n}" for n in range(9)]) == ["gaming-0", "gaming-1", "gaming-2"]


def test_two_cards_between_which_a_comma_stands_are_both_priced(ask: object, nights: dict[int, Night]) -> None:
    assert callable(ask)
    outcome = ask("price '4090, rtx4080' --format csv", nights[1].data)
    assert outcome.status == 0
    assert [line.split(",")[0] for line in outcome.out.splitlines()[1:]] == [
        "nvidia-geforce-rtx-4080", "nvidia-geforce-rtx-4090",
    ]  # fmt: skip


# ── numbers that no option means, and a query that begins with a comment ─────────────────────────────────────────────────


def options(group: click.Group = cli.cli, above: str = "") -> Iterator[tuple[str, click.Parameter]]:
    """Every option and argument of every command whose type is a number."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from options(command, f"{above}{name} ")
        for parameter in command.params:
            if isinstance(parameter.type, click.types.IntParamType | click.types.FloatParamType):
                yield f"{above}{name} {parameter.name}", parameter


def test_no_option_takes_a_number_that_nobody_means() -> None:
    found = list(options())
    assert len(found) > 30
    for name, parameter in found:
        assert isinstance(parameter.type, Whole | Amount) or getattr(parameter.type, "max", None) is not None, name
        for text in ("nan", "inf", "-inf", "-1", "1e400", "NaN", "infinity", "0x10"):
            with pytest.raises(click.BadParameter):
                parameter.type.convert(text, parameter, None)
        if isinstance(parameter.type, Whole):
            with pytest.raises(click.BadParameter, match="is not in the range"):
                parameter.type.convert("9" * 30, parameter, None)


def test_a_query_may_begin_with_a_comment_and_an_option_stand_on_either_side(nights: dict[int, Night]) -> None:
    query = min((ROOT / "examples").glob("*.sql")).read_text(encoding="utf-8").strip()
    assert query.startswith("--")
    asked = (("--format", "csv", query), (query, "--format", "csv"))
    answers = {succeeds("sql", *words, data=nights[1].data).out for words in asked}
    assert [answer.count(",") > 1 for answer in answers] == [True]


def test_what_looks_like_an_option_and_is_none_of_sql_is_no_query() -> None:
    assert gpuledger("sql", "--data-dir=/tmp/a folder", "SELECT 1").status == 1
