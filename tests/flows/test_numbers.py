"""A number that no option means is wrong usage, in every option alike, and a query may begin with a comment."""

from __future__ import annotations

from collections.abc import Iterator

import click
import pytest

from gpuledger.flows.asking.options import Amount, Whole
from gpuledger.flows.cli import cli
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


def test_a_query_may_begin_with_a_comment_and_an_option_stand_on_either_side(nights: dict[int, Night]) -> None:
    query = min((ROOT / "examples").glob("*.sql")).read_text(encoding="utf-8").strip()
    assert query.startswith("--")
    asked = (("--format", "csv", query), (query, "--format", "csv"))
    answers = {succeeds("sql", *words, data=nights[1].data).out for words in asked}
    assert [answer.count(",") > 1 for answer in answers] == [True]


def test_what_looks_like_an_option_and_is_none_of_sql_is_no_query() -> None:
    assert gpuledger("sql", "--data-dir=/tmp/a folder", "SELECT 1").status == 1
