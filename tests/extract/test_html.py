"""Bytes to a tree, and what of an element a reader sees."""

from __future__ import annotations

import lxml.html
import pytest

from gpuledger.extract.markup.html import soup, tree, visible_text


def test_text_comes_out_as_it_was_written() -> None:
    page = '<html lang="ko"><p>가격 1.299,00 €</p></html>'
    assert tree(page.encode()).findtext(".//p") == "가격 1.299,00 €"
    assert tree(page.encode("utf-16")).findtext(".//p") == "가격 1.299,00 €"
    assert tree(page.encode("cp949", "replace"), "text/html; charset=euc-kr").findtext(".//p") == "가격 1.299,00 €"
    assert soup(page.encode()).find("p").get_text() == "가격 1.299,00 €"  # type: ignore[union-attr]


@pytest.mark.parametrize("content", [b"", b"   ", b"<!-- only this -->", b"\x00", b"text", b"<p>x", b"\xff\xfe\xfd"])
def test_any_bytes_give_an_html_element(content: bytes) -> None:
    assert tree(content).tag == "html"


def test_a_declared_xml_encoding_is_no_error() -> None:
    assert tree(b'<?xml version="1.0" encoding="utf-8"?><html lang="de"><p>x</p></html>').get("lang") == "de"


def test_nothing_is_lost_behind_a_nul() -> None:
    assert tree(b"<html><p>a\x00b</p><p>c</p></html>").text_content() == "abc"


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("<p>63<sup>07</sup> <span>Lei</span></p>", "63.07 Lei"),
        ("<p>1.299<sup>99</sup> €</p>", "1.299,99 €"),
        ('<p>1,299<span class="price-cents">99</span></p>', "1,299.99"),
        ("<p>1,299<span>.</span><span>99</span></p>", "1,299.99"),
        ("<p>$1299<span>99</span></p>", "$1299 99"),
        ("<p>1<b>299</b> zł</p>", "1299 zł"),
        ("<p>12<b>99</b> zł</p>", "12 99 zł"),
        ("<p>1 299 €<sup>99</sup></p>", "1 299,99 €"),
        ("<p>$549<small>99</small></p>", "$549.99"),
        ("<p>a<script>x</script>b<style>y</style> <!-- c -->d</p>", "a b d"),
        ('<p>5 €<span style="display: none">9 €</span><i hidden>8 €</i></p>', "5 €"),
        ("<p>1&nbsp;299,00&nbsp;€\n  </p>", "1\u00a0299,00\u00a0€"),
        ("<p></p>", ""),
    ],
)  # fmt: skip
def test_what_the_eye_joins_and_parts(markup: str, text: str) -> None:
    assert visible_text(lxml.html.fragment_fromstring(markup)) == text


def test_a_long_text_is_cut() -> None:
    assert 10 < len(visible_text(lxml.html.fragment_fromstring(f"<p>{'<b>word </b>' * 1000}</p>"), 20)) < 40
