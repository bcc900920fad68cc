"""A table on a screen of any width: nothing is cut that a decision needs, and what is left out is named; codes are words."""

from __future__ import annotations

import io
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from gpuledger.flows.doors.showing.show import Table, _draw, human, show_rows
from gpuledger.flows.doors.showing.table import Drawn, cell_width, lay_out, shorten, wrapped
from gpuledger.flows.words import lang
from gpuledger.transform.answers.columns import KNOWN
from gpuledger.warehouse.outputs.answer import Answer, Column

CARDS = [
    "NVIDIA GeForce RTX 4070 Ti SUPER",
    "NVIDIA GeForce RTX 4070 Ti",
    "AMD Radeon RX 7900 XTX",
    "2 × NVIDIA A100 80GB",
]
COLUMNS = [
    Column("#", "#", weight=1), Column("gpu", "GPU", "card", weight=2), Column("score", "score", weight=4),
    Column("price_usd", "USD", weight=3), Column("premium_over_msrp", "over MSRP", "change"), Column("shop", "shop"),
    Column("reason", "why"),
]  # fmt: skip
REASON = "held: the price is less than half of what it was on each of the fourteen nights before"


def drawn(width: int) -> list[str]:
    """The lines of a table of offers on a terminal of `width` cells."""
    prices = [Decimal("20.697"), Decimal("1749.99"), 0.0632, "한국상점 danawa", REASON]
    cells = [[place, card, *prices] for place, card in enumerate(CARDS, 1)]
    console = Console(width=width, file=io.StringIO(), force_terminal=True, no_color=True, record=True)
    _draw(console, Table.of(Answer.of_rows(COLUMNS, cells)), "a title")
    return console.export_text().splitlines()


@given(st.integers(min_value=24, max_value=220))
def test_no_line_is_wider_than_the_screen(width: int) -> None:
    assert max(cell_width(line.rstrip()) for line in drawn(width)) <= width


@given(st.integers(min_value=44, max_value=220))
def test_a_price_is_never_split(width: int) -> None:
    assert sum("1749.99" in line for line in drawn(width)) == 4


def test_on_a_screen_amounts_have_their_thousands_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert sum("1,749.99" in line for line in drawn(120)) == 4


def test_a_narrow_screen_keeps_what_matters_and_names_the_rest() -> None:
    text = "\n".join(drawn(50))
    assert "RTX 4070 Ti SUPER" in text
    assert "NVIDIA" not in text
    assert "why" in text.split("left out at this width: ")[1]


def test_a_wide_screen_leaves_nothing_out() -> None:
    text = "\n".join(drawn(220))
    assert all(whole in text for whole in ("NVIDIA GeForce RTX 4070 Ti SUPER", "+6.3%", REASON))
    assert "left out" not in text


def test_a_sentence_is_wrapped_at_its_words() -> None:
    words = {word for line in drawn(110) for word in line.split()}
    assert set(REASON.split()) <= words
    mark = Drawn("mark", ("stale, street price",), False, KNOWN["mark"].shown_as)
    assert lay_out([mark], 14).columns[0].cells == mark.cells, "a mark that is cut is no mark"


def test_a_name_is_shortened_in_its_middle() -> None:
    assert shorten("NVIDIA GeForce RTX 4070 Ti SUPER", 15) == "NVIDIA …i SUPER"
    assert shorten("short", 15) == "short"


@given(st.text(), st.integers(min_value=0, max_value=40))
def test_what_is_shortened_has_room(text: str, width: int) -> None:
    assert cell_width(shorten(text, width)) <= max(width, 0) or cell_width(text) <= width


def test_letters_of_two_cells_stand_below_each_other() -> None:
    table = Table.of(Answer.of_rows([Column("shop", "shop"), Column("n", "n")], [["다나와 쇼핑", 1], ["newegg", 2]]))
    console = Console(width=40, file=io.StringIO(), force_terminal=True, no_color=True, record=True)
    _draw(console, table, "")
    ends = {cell_width(line.rstrip()) for line in console.export_text().splitlines() if line.endswith(("1", "2"))}
    assert len(ends) == 1


def test_a_pipe_gets_tabs_and_whole_cells() -> None:
    columns = [Column("gpu", "GPU"), Column("price_usd", "USD")]
    lines = list(Table.of(Answer.of_rows(columns, [[CARDS[0], Decimal("1.50")], ["a\tb\nc", None]])).lines())
    assert lines == ["GPU\tUSD", f"{CARDS[0]}\t1.50", "a b c\t"]


def test_a_query_shows_the_values_of_a_column_of_which_an_answer_shows_something_else(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert all(KNOWN[name].seen is not None for name in ("on_pareto_frontier", "hint_was_right"))
    show_rows(["gpu", "on_pareto_frontier", "hint_was_right"], [("RTX 4090", True, 3)], "table")
    assert capsys.readouterr().out == "gpu\ton_pareto_frontier\thint_was_right\nRTX 4090\tyes\t3\n"


def test_no_letter_is_lost_where_a_sentence_breaks() -> None:
    for text in (
        "게시된 벤치마크 수치, 그 행의 단위로. 작업이 less라고 하지 않으면 클수록 좋음",
        "http://shop.example/" + "a" * 90,
    ):
        for width in range(23, 60):
            lines = wrapped(text, width).split("\n")
            assert max(map(cell_width, lines)) <= width
            assert "".join("".join(lines).split()) == "".join(text.split())
    column = Drawn("설명", ("문맥 가운데 프롬프트가 차지하고, 답을 쓰는 동안 평균적으로 차 있는 비율",), False)
    (laid,) = lay_out([column], 24).columns
    assert all(cell_width(line) <= laid.width for line in laid.cells[0].split("\n"))
    assert "동안" in laid.cells[0]


@pytest.mark.parametrize(
    ("column", "code", "english", "korean"),
    [
        ("availability", "out_of_stock", "out of stock", "품절"),
        ("claim", "published", "published", "발표된 수치"),
        ("status", "published", "published", "발행됨"),
        ("condition", "new", "new", "새 제품"),
        ("excluded", "1 open_box, 2 no price", "1 open box, 2 no price", "1 × 개봉품, 2 × 가격 없음"),
    ],
)
def test_a_code_is_a_word(column: str, code: str, english: str, korean: str) -> None:
    assert human(code, KNOWN[column]) == english
    lang.use("ko")
    assert human(code, KNOWN[column]) == korean
    lang.use("en")
