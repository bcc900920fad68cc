"""What people see in a terminal of 80 cells: no word is lost where a line breaks, and codes are words."""

from __future__ import annotations

import pytest

from gpuledger.flows.showing.show import human
from gpuledger.flows.showing.table import Drawn, cell_width, lay_out, wrapped
from gpuledger.flows.words import lang
from gpuledger.transform.answers.columns import KNOWN


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
        ("condition", "new", "new", "새 상품"),
        ("excluded", "1 open_box, 2 no price", "1 open box, 2 no price", "1 × 개봉품, 2 × 가격 없음"),
    ],
)
def test_a_code_is_a_word(column: str, code: str, english: str, korean: str) -> None:
    assert human(code, KNOWN[column]) == english
    lang.use("ko")
    assert human(code, KNOWN[column]) == korean
    lang.use("en")
