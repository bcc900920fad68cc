"""HTML tables as caption, header words and rows."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuledger.extract.markup.html import soup
from gpuledger.extract.markup.tables import Table, cell_text, read_tables


def tables(html: str) -> list[Table]:
    return list(read_tables(soup(html.encode(), "text/html; charset=utf-8")))


def one(html: str) -> Table:
    (found,) = tables(html)
    return found


CARD, PLACE = "<tr><td>Graphics Card<td>Score<tr><td>card<td>1", "Header Cell - Column"


@pytest.mark.parametrize(
    ("html", "header", "rows"),
    [
        # The header is that of thead, or the first row; one of placeholders only gives way to the row below it.
        (f"<thead><tr><th>{PLACE} 0<th>{PLACE} 1</thead>{CARD}", ("Graphics Card", "Score"), [("card", "1")]),
        # Inline markup joins, line breaks part, widgets and scripts are no content, and spaces are of one kind.
        ("<tr><td>A<td>B<tr><td><b>1</b>,599<td>100.0%<br>(143.1fps)<!-- 7 --><script>8</script>", ("A", "B"),
         [("1,599", "100.0% (143.1fps)")]),
        # Short rows are filled, and empty ones left out.
        ("<tr><td>A<td>B<tr><td>1<tr><td> <td>", ("A", "B"), [("1", "")]),
    ],
)  # fmt: skip
def test_header_and_rows_of_a_table(html: str, header: tuple[str, ...], rows: list[tuple[str, ...]]) -> None:
    found = one(f"<table>{html}</table>")
    assert (found.header, list(found.rows)) == (header, rows)


@pytest.mark.parametrize("span", ["0", "-1", "x", "", "99999999999", "²"])
def test_odd_spans_do_no_harm(span: str) -> None:
    found = one(f'<table><tr><th>A<th>B<tr><td colspan="{span}">1<td>2</table>')
    assert found.rows[0][0] == "1"
    assert "2" in found.rows[0]
    assert len(found.header) <= 101


def test_a_title_above_the_header_is_the_caption() -> None:
    found = one("<table><tr><td colspan=2>Ranking<tr><td>Card<td>Score<tr><td>x<td>1</table>")
    assert (found.caption, found.header) == ("Ranking", ("Card", "Score"))


def test_caption_figcaption_heading() -> None:
    assert one("<h2>Head</h2><table><caption>Cap</caption><tr><td>A<tr><td>1</table>").title == "Cap"
    figure = "<h2>Head</h2><figure><table><tr><td>A<tr><td>1</table><figcaption>Fig</figcaption></figure>"
    assert one(figure).title == "Fig"
    found = one("<h2>Head</h2><table><tr><td>A<tr><td>1</table>")
    assert (found.caption, found.heading, found.title) == ("", "Head", "Head")


def test_widgets_are_no_content() -> None:
    widget = '<aside class="hawk-placeholder"><table><tr><td>A<tr><td>$1</table></aside>'
    assert tables(widget) == []
    assert tables(widget.replace("aside", "div").replace("class=", "data-widget-type=")) == []


def test_a_table_inside_a_table_is_its_own() -> None:
    outer, inner = tables("<table><tr><td>A<tr><td>x <table><tr><td>B<tr><td>y</table></table>")
    assert (outer.header, outer.rows) == (("A",), (("x",),))
    assert (inner.header, inner.rows) == (("B",), (("y",),))


def test_empty_tables_are_left_out() -> None:
    assert tables("<table></table><table><tr></table><table><tr><th>A<th>B</table>") == []


def test_find_asks_for_words() -> None:
    found = one("<table><tr><td>Card<td>1440p Ultra<tr><td>x<td>1</table>")
    assert found.find(re.compile("1440p")) == 1
    assert found.find(re.compile("4K")) is None


_PIECES = """
<table> </table> <tr> </tr> <td> <th> <thead> <caption> </caption> <h2> </h2> <aside> </aside> <br> <figure> <b> a 1
"""
_MARKUP = st.lists(
    st.sampled_from([*_PIECES.split(), " ", "Row 0 - Cell 1", "<td colspan=3 rowspan=2>"]), max_size=60
).map("".join)


@given(_MARKUP)
def test_any_markup_gives_rectangles(html: str) -> None:
    for found in tables(html):
        assert found.header
        assert all(len(row) == len(found.header) for row in found.rows)


@given(st.text(max_size=40))
def test_cell_text_is_one_line(text: str) -> None:
    document = soup(b"<p></p>")
    paragraph = document.p
    paragraph.string = text
    found = cell_text(paragraph)
    assert "\n" not in found
    assert found == found.strip()
