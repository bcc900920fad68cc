"""A number that no option means is wrong usage, in every option alike, and a query may begin with a comment."""

from __future__ import annotations

from collections.abc import Iterator

import click
import pytest

from gpuledger.flows.asking.options import Amount, Whole
from gpuledger.flows.cli import call, cli
from tests.command import ROOT, gpuledger, succeeds
from tests.nights import Night


def options(group: click.Group = cli, above: str = "") -> Iterator[tuple[str, click.Parameter]]:
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


@pytest.mark.parametrize(
    "words",
    [
        *(("buy", "--model", "llama-2-7b", "--budget", text) for text in ("nan", "inf", "-1", "0", "1e400", "-inf")),
        ("buy", "--model", "llama-2-7b", "--min-speed", "nan"), ("buy", "--model", "llama-2-7b", "--users", "9" * 30),
        *(("buy", "--model", "llama-2-7b", "--hours-per-day", text) for text in ("nan", "inf", "-1")),
        *(("buy", "--model", "llama-2-7b", "--horizon-years", text) for text in ("nan", "inf", "-1")),
        ("changes", "--limit", "9" * 30), ("size", "llama-2-7b", "--context", "nan"),
        *(("size", "llama-2-7b", "--assume", f"kv_cache_bits={text}") for text in ("nan", "inf", "-1", "9" * 400)),
        *(("watch", "add", "rtx 4090", "--below", text) for text in ("nan", "inf", "-1", "1e999")),
        *(("watch", "add", "rtx 4090", "--below", "500", "--new-low", text) for text in ("nan", "9" * 30 + "d")),
        *(("price", "rtx 4090", "--days", text) for text in ("nan", "9" * 30)),
    ],
)  # fmt: skip
def test_it_is_wrong_usage_and_no_traceback(
    words: tuple[str, ...],
    nights: dict[int, Night],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr("sys.argv", ["gpuledger", *words, "--data-dir", str(nights[1].data)])
    with pytest.raises(SystemExit) as leaving:
        call()
    said = capsys.readouterr().err
    assert (leaving.value.code, "Traceback" in said) == (2, False), said


def test_a_query_may_begin_with_a_comment_and_an_option_stand_on_either_side(nights: dict[int, Night]) -> None:
    query = min((ROOT / "examples").glob("*.sql")).read_text(encoding="utf-8").strip()
    assert query.startswith("--")
    asked = (("--format", "csv", query), (query, "--format", "csv"))
    answers = {succeeds("sql", *words, data=nights[1].data).out for words in asked}
    assert [answer.count(",") > 1 for answer in answers] == [True]


def test_a_misspelt_option_of_sql_is_still_one() -> None:
    assert "No such option" in gpuledger("sql", "--formt", "csv", "SELECT 1").err
    assert gpuledger("sql", "--data-dir=/tmp/a folder", "SELECT 1").status == 1
