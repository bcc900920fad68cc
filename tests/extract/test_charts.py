"""Charts read by machine: what is accepted is right, and what the picture does not confirm is quarantined."""

from __future__ import annotations

import csv
import io
import json
import struct
import zlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from gpuledger.flows.cli import cli
from tests.command import gpuledger
from tests.readings import Readings

np = pytest.importorskip("numpy", reason="the part gpuledger[charts] is not installed")
for _module in ("cv2", "rapidocr", "onnxruntime", "PIL"):
    pytest.importorskip(_module, reason="the part gpuledger[charts] is not installed")

from PIL import Image, ImageDraw, ImageFont  # noqa: E402

from gpuledger.extract.charts import apart, bars, glyphs, layout, read, scale  # noqa: E402
from gpuledger.extract.charts.outcome import (  # noqa: E402
    BadPicture,
    ChartReading,
    Value,
)
from gpuledger.extract.charts.picture import pixels  # noqa: E402
from gpuledger.extract.charts.words import Frame, Word, without_share  # noqa: E402
from gpuledger.flows.night.charts import with_cards  # noqa: E402
from gpuledger.transform.identity.resolver import Resolver  # noqa: E402
from tests.support.chart_pictures import Drawn, draw, found_fonts  # noqa: E402

#: The seed of a drawn chart with few rows.
SMALL = 9


def _font(at: int, size: int) -> ImageFont.FreeTypeFont:
    return ImageFont.truetype(str(found_fonts()[at]), size)


def _canvas(width: int, height: int, ground: Any = "white") -> tuple[Image.Image, ImageDraw.ImageDraw]:
    picture = Image.new("RGB", (width, height), ground)
    return picture, ImageDraw.Draw(picture)


def _printed(text: str, font: ImageFont.FreeTypeFont, ink: str = "black", ground: str = "white") -> Any:
    """The pixels of a text with a margin of six."""
    picture, pen = _canvas(round(font.getlength(text)) + 12, round(font.size) + 12, ground)
    pen.text((6, 6), text, fill=ink, font=font)
    return np.asarray(picture)


#: Where the bars of a drawn chart end, which begin at 200.
ENDS = [1100, 830, 612, 377, 240]


def _draw_bars(
    pen: ImageDraw.ImageDraw,
    ends: Sequence[int],
    ink: str,
    *,
    left: int = 200,
    top: int = 20,
    every: int = 70,
    tall: int = 40,
) -> None:
    """A bar a row, which ends before the column that is given."""
    for row, end in enumerate(ends):
        pen.rectangle((left, top + row * every, end - 1, top + row * every + tall), fill=ink)


def _ends(found: bars.Bars) -> list[list[float]]:
    return [[bar.end for bar in lane.bars] for lane in found.lanes]


def _near(ends: Sequence[Sequence[float]], px: float = 0.6) -> list[list[Any]]:
    return [[pytest.approx(end, abs=px) for end in row] for row in ends]


def _alone(ends: Sequence[float], px: float = 0.6) -> list[list[Any]]:
    """One bar a row."""
    return _near([[end] for end in ends], px)


def _saved(picture: Image.Image, form: str, quality: int) -> Any:
    """The pixels of a picture after it was saved so."""
    out = io.BytesIO()
    picture.save(out, form, quality=quality)
    return pixels(out.getvalue())


def _png(picture: Image.Image) -> bytes:
    out = io.BytesIO()
    picture.save(out, "PNG")
    return out.getvalue()


def test_a_scale_stands_against_wrong_readings() -> None:
    right = [(value, 100 + 7.5 * value) for value in (3.0, 8.0, 14.0, 21.0, 33.0, 40.0, 52.0)]
    fitted = scale.fit([*right, (9.0, 100 + 7.5 * 90), (77.0, 250.0)], 100)
    assert fitted.px_per_unit == pytest.approx(7.5, abs=0.01)
    assert abs(fitted.residual(9.0, 100 + 7.5 * 90)) > 100


def test_no_scale_where_too_few_bars_agree() -> None:
    right = [(value, 100 + 7.5 * value) for value in (3.0, 8.0, 14.0)]
    wrong = [(5.0, 400.0), (6.0, 120.0), (7.0, 333.0)]
    assert scale.fit([*right, *wrong], 100) is None
    assert scale.fit(right[:2], 100) is None
    # Bars that do not begin at zero say nothing of their length.
    assert scale.fit([(value, 500 + 7.5 * value) for value in (3.0, 8.0, 14.0)], 100) is None


def test_an_axis_that_says_otherwise_contradicts_the_scale() -> None:
    fitted = scale.Scale(100, 7.5)
    assert scale.marks_agree(fitted, [(0, 100), (20, 250), (40, 400)]) is True
    # All points lost: every value ten times too large fits itself, and not the axis.
    assert scale.marks_agree(scale.Scale(100, 0.75), [(0, 100), (20, 250), (40, 400)]) is False
    assert scale.marks_agree(fitted, [(0, 100), (20, 250)]) is None


@pytest.mark.parametrize(
    ("text", "number", "unit"),
    [
        ("28.923", "28.923", None),
        ("1,234", "1,234", None),
        ("95%", "95", "%"),
        ("143.1 fps", "143.1", "fps"),
        ("21.8it/s", "21.8", "it/s"),
        ("$1,599", "1,599", None),
        ("RTX 4090", None, None),
        ("21.770 28.923", None, None),
        ("143.1 (98.2)", None, None),
        ("1.2.3", None, None),
        ("2x", "2", "x"),
        ("5.10 fp$", "5.10", "fps"),
        ("", None, None),
    ],
)
def test_what_is_a_number(text: str, number: str | None, unit: str | None) -> None:
    word = Word(text, (0, 0, 10, 10), 1.0)
    assert (word.number, word.unit) == (number, unit)


def test_what_a_comma_stands_for() -> None:
    assert layout.meaning_of_comma(["1,234", "987"]) == "thousands"
    assert layout.meaning_of_comma(["12,5", "9,25"]) == "decimal"
    assert layout.number("1,234.5") == layout.number("1,234.5", "decimal") == 1234.5
    # A digit that was left out of one number does not change the meaning of all others.
    assert layout.meaning_of_comma(["3,494.3", "2,18"]) == "thousands"
    assert layout.number("12,5", "decimal") == 12.5
    # A stroke behind one number, read as its last digit, would make a thousandth of all others; the axis decides.
    assert layout.meaning_of_comma(["2,2141", "1,192", "4,077"]) == "thousands"
    assert layout.meaning_of_comma(["21,770", "28,923"], ["0,0", "5,0", "10,0"]) == "decimal"
    assert layout.meaning_of_comma(["2,21", "1,92"], ["1,000", "2,000"]) == "thousands"


def _numbers(texts: list[str]) -> list[glyphs.Marks | None]:
    return [glyphs.marks(_printed(text, _font(0, 22)), text) for text in texts]


def test_a_digit_looks_like_itself_and_not_like_another() -> None:
    texts = ["20.695", "18.347", "91.502", "76.843"]
    marked = _numbers(texts)
    assert all(marks is not None for marks in marked)
    others = [mark for marks in marked[1:] if marks for mark in marks.glyphs]
    first = marked[0].glyphs
    assert set(glyphs.compare(first, others)) == {"same"}
    misread = [glyphs.Glyph("8", mark.shape) if mark.text == "6" else mark for mark in first]
    assert "other" in glyphs.compare(misread, others)
    # Where the bar leaves open nothing else, its shape is not asked for; among some, only those.
    assert set(glyphs.compare(misread, others, [""] * 6)) == {"same"}
    assert "other" in glyphs.compare(misread, others, ["6"] * 6)


def test_a_digit_that_stands_once_is_known_where_all_that_it_may_be_mistaken_for_stand_elsewhere() -> None:
    own, *marked = _numbers(["7", "1234", "5689"])
    others = [mark for marks in marked if marks for mark in marks.glyphs]
    assert glyphs.compare(own.glyphs, others) == ["same"]
    assert glyphs.compare(own.glyphs, [mark for mark in others if mark.text != "1"]) == ["alone"]
    assert glyphs.compare(own.glyphs, [mark for mark in others if mark.text != "1"], ["2358"]) == ["same"]
    # A 1 that was read as 7 looks like the ones that stand elsewhere.
    misread = [glyphs.Glyph("7", mark.shape) for mark in others if mark.text == "1"]
    assert glyphs.compare(misread, others) == ["other"]


def _row_of_numbers(texts: list[str]) -> tuple[read.Chart, list[Word]]:
    """Numbers behind bars, as they are drawn, and their words."""
    picture = Image.new("RGB", (1200, 60 * len(texts) + 20), "white")
    font, pen = _font(0, 20), ImageDraw.Draw(picture)
    lanes, words = [], []
    for row, text in enumerate(texts):
        top, end = 20 + 60 * row, 600 - 20 * row
        pen.rectangle((200, top, end - 1, top + 29), fill="#5f8f1f")
        pen.text((end + 8, top + 14), text, fill="black", font=font, anchor="lm")
        lanes.append(bars.Lane((bars.Bar(200, top, end, top + 30, (95, 143, 31), float(end)),)))
        words.append(Word(text, (end + 4, top, end + 12 + font.getlength(text), top + 30), 1.0))
    return read.Chart(Frame(np.asarray(picture)), tuple(words), bars.Bars(200.0, tuple(lanes))), words


@pytest.mark.parametrize(
    ("printed", "as_read", "missing"),
    [
        (["202.59 fps", "187.04 fps", "163.48 fps", "91.37 fps"], "202.5 fps", 0),
        (["202.59 fps", "187.04 fps", "163.48 fps", "91.37 fps"], "202 fps", 0),
        (["202.59fps", "187.04fps", "163.48fps", "91.37fps"], "202.5fps", 0),
        (["202.59", "187.04", "163.48", "91.37"], "202.5", 0),
        # The box of the word ends before the digit that was not read.
        (["202.59", "187.04", "163.48", "91.37"], "202.5", 13),
        (["202.59 fps", "187.04 fps"], "202.5 fps", 0),
        # A unit is as long as many digits, and its letters are higher than they are.
        (["202.59 img/min", "187.04 img/min", "163.48 img/min", "91.37 img/min"], "202.5 img/min", 0),
        (["202.59 img/min", "187.04 img/min", "163.48 img/min", "91.37 img/min"], "202.5 img/", 38),
        (["202.11 img/min", "187.04 img/min", "163.48 img/min", "91.37 img/min"], "202.1 img/min", 0),
    ],
)
def test_a_last_digit_that_no_reading_has_is_seen_to_be_missing(printed: list[str], as_read: str, missing: int) -> None:
    chart, words = _row_of_numbers(printed)
    if len(words) > 2:
        assert all(read._shapes(chart, words, []).values())
    left, top, right, bottom = words[0].box
    words[0] = Word(as_read, (left, top, right - missing, bottom), 1.0)
    chart = read.Chart(chart.frame, tuple(words), chart.bars)
    assert read._shapes(chart, words, [])[words[0].box] is None


def test_digits_that_touch_or_lie_over_a_line_of_the_grid_are_told_apart() -> None:
    font, usual = _font(-1, 19), glyphs.Usual(0.74, None)
    for text in ("14,274.0", "13,809.3", "5,578.1", "2,861.6"):
        for is_line in (False, True):
            picture, pen = _canvas(round(font.getlength(text)) + 20, 32, "#0d1117")
            if is_line:
                pen.line((0, 11, picture.width, 11), fill="#bbbbbb")
            pen.text((8, 4), text, fill="white", font=font)
            assert glyphs.marks(np.asarray(picture), text, known=usual) is not None, text
            assert glyphs.marks(np.asarray(picture), text[:-1], known=usual) is None, text


def test_white_digits_on_a_light_bar_are_told_apart() -> None:
    for text in ("17,625", "15,330", "6,857"):
        picture, pen = _canvas(round(_font(4, 13).getlength(text)) + 12, 22, "#b2df8a")
        pen.text((6, 3), text, fill="white", font=_font(4, 13))
        assert glyphs.marks(_saved(picture, "JPEG", 92), text) is not None, text
        assert glyphs.marks(_saved(picture, "JPEG", 92), text[:-1]) is None, text
    assert glyphs.marks(_saved(Image.new("RGB", (60, 22), "#b2df8a"), "JPEG", 60), "17") is None


def test_a_number_of_whose_unit_only_a_part_was_read_is_told_apart_with_all_of_it() -> None:
    chart, words = _row_of_numbers(["202.59 fps", "187.04 fps", "163.48 fps", "91.37 fps"])
    left, top, right, bottom = words[0].box
    for as_read, is_told in (("202.59 f", True), ("202.5 f", False)):
        words[0] = Word(as_read, (left, top, right - 26, bottom), 1.0)
        chart = read.Chart(chart.frame, tuple(words), chart.bars)
        assert (read._shapes(chart, words, [])[words[0].box] is not None) == is_told


def test_a_number_and_the_share_or_spread_behind_it_are_two_words() -> None:
    font = _font(0, 20)
    for printed, number, share in (
        ("31.2 (87%)", "31.2", "(87%)"), ("1,204 fps (100%)", "1,204 fps", "(100%)"), ("44.1 s (15%)", "44.1 s", "(15%)"),
        ("3238.00±63.64", "3238.00", "±63.64"), ("1430.00 ± 12.10", "1430.00", "± 12.10"),
    ):  # fmt: skip
        picture = Image.new("RGB", (400, 60), "white")
        pen = ImageDraw.Draw(picture)
        pen.text((100, 30), printed, fill="black", font=font, anchor="lm")
        pen.rectangle((0, 42, 399, 59), fill="#c4161c")  # the bar below reaches into the box
        word = Word(printed, (98, 18, 102 + font.getlength(printed), 44), 1.0)
        found = without_share(word, np.asarray(picture))
        assert [one.text for one in found] == [number, share]
        assert found[0].number == number.split()[0]
        gap = 100 + font.getlength(number), 100 + font.getlength(number + " ")
        assert gap[0] - 3 <= found[0].box[2] <= found[1].box[0] <= gap[1] + 3
        # What stands in brackets and is no share may be the number itself.
        assert without_share(replace(word, text="143.1 (98.2)"), np.asarray(picture))[0].number is None


def test_a_mark_too_many_or_a_comma_for_a_point_is_seen() -> None:
    crop = _printed("1,234", _font(0, 22))
    told = {text: glyphs.marks(crop, text) is not None for text in ("1,234", "1.234", "1234", "12,345")}
    assert told == {"1,234": True, "1.234": False, "1234": False, "12,345": False}


def test_bars_end_where_they_end() -> None:
    picture, pen = _canvas(1200, 400)
    _draw_bars(pen, ENDS, "#5f8f1f")
    _draw_bars(pen, [(200 + end) // 2 for end in ENDS], "#222222", top=24, tall=32)
    found = bars.find(np.asarray(picture), [])
    assert found.zero == pytest.approx(200, abs=0.6)
    assert _ends(found) == _near([[(200 + end) // 2, end] for end in ENDS])


def test_the_marks_of_the_axis_beside_labels_are_no_part_of_their_bars() -> None:
    picture, pen = _canvas(1200, 400, "#0d1117")
    _draw_bars(pen, ENDS, "#37474f")
    for row in range(5):
        pen.line((195, 40 + row * 70, 199, 40 + row * 70), fill="#4a5a62")
    found = bars.find(np.asarray(picture), [])
    assert (found.zero, _ends(found)) == (pytest.approx(200, abs=0.6), _alone(ENDS))


@pytest.mark.parametrize("is_along", [True, False], ids=["along", "across"])
def test_a_bar_that_goes_over_into_another_colour_is_one_bar(is_along: bool) -> None:
    light, dark = np.array((82, 143, 250)), np.array((48, 84, 146))
    drawn = np.full((400, 1200, 3), (24, 25, 30), dtype=np.uint8)
    for row, end in enumerate(ENDS):
        width, height = end - 200, 41
        share = np.linspace(0, 1, width)[None, :, None] if is_along else np.linspace(0, 1, height)[:, None, None]
        colours = np.broadcast_to(dark + share * (light - dark), (height, width, 3))
        drawn[20 + row * 70 : 61 + row * 70, 200:end] = colours.astype(np.uint8)
    for picture in (drawn, _saved(Image.fromarray(drawn), "JPEG", 80)):
        found = bars.find(np.asarray(picture), [])
        assert (found.zero, _ends(found)) == (pytest.approx(200, abs=0.6), _alone(ENDS))


def test_short_bars_that_are_lighter_towards_their_end_end_there() -> None:
    ends = [480, 300, 190, 146]
    light, dark = np.array((88, 144, 248)), np.array((50, 86, 150))
    drawn = np.full((300, 1200, 3), (23, 24, 29), dtype=np.uint8)
    for row, end in enumerate(ends):
        share = np.linspace(0, 1, end - 95)[None, :, None]
        drawn[20 + row * 60 : 50 + row * 60, 95:end] = (dark + share * (light - dark)).astype(np.uint8)
    found = bars.find(_saved(Image.fromarray(drawn), "JPEG", 60), [])
    assert _ends(found) == _alone(ends)


def test_a_bar_that_ends_at_a_line_of_the_grid_is_no_longer_for_it() -> None:
    picture, pen = _canvas(1200, 400)
    pen.line((830, 0, 830, 400), fill="#888888")
    _draw_bars(pen, [1100, 830, 829, 377, 240], "#90a4ae")
    found = bars.find(np.asarray(picture), [])
    assert [[lane.bars[-1].end] for lane in found.lanes] == _alone([1100, 830, 829, 377, 240])


def test_a_bar_goes_on_behind_a_line_of_the_grid_and_the_shading_of_a_row_is_none() -> None:
    picture, pen = _canvas(1200, 400)
    _draw_bars(pen, [1200] * 3, "#eeeeee", left=0, top=8, every=140, tall=64)
    _draw_bars(pen, [1100, 860, 845, 377, 240], "#4472c4")
    pen.line((830, 0, 830, 400), fill="#cccccc", width=2)
    # What is left of the second bar behind the line lies within its number, as the letters do.
    found = bars.find(np.asarray(picture), [(800, 92, 858, 128)])
    assert _ends(found) == _alone([1100, 860, 845, 377, 240])


def test_bars_are_apart_though_a_grid_of_their_colour_joins_them() -> None:
    picture, pen = _canvas(1200, 400, "#16181d")
    for column in range(200, 1200, 120):
        pen.line((column, 0, column, 399), fill="#3a3d44", width=2)
    ends = [1100, 930, 612, 477, 452]
    _draw_bars(pen, ends, "#2c3e50", tall=60)
    _draw_bars(pen, [(200 + end) // 2 for end in ends], "#8e44ad", top=26, tall=48)
    assert _ends(bars.find(np.asarray(picture), [])) == _near([[(200 + end) // 2, end] for end in ends])


def test_a_bar_that_is_lighter_at_its_top_is_one() -> None:
    picture, pen = _canvas(1200, 400)
    ends = [1100, 830, 612, 477, 340]
    for row, end in enumerate(ends):
        for at in range(44):
            light = 1.25 - 0.5 * at / 44
            shade = (int(118 * light), int(185 * light), int(60 * light))
            pen.line((200, 20 + row * 70 + at, end - 1, 20 + row * 70 + at), fill=shade)
    found = bars.find(np.asarray(picture), [])
    assert _ends(found) == _alone(ends)
    assert {lane.bottom - lane.top >= 40 for lane in found.lanes} == {True}


def _ends_of_a_nest(outer: bars._Piece, inner: bars._Piece, pieces: list[bars._Piece]) -> list[float]:
    """Where the bars of a lane end, on a picture of a bar in another; `pieces` are what was found of them."""
    picture = np.full((outer.bottom + 40, outer.right + 200, 3), 255, dtype=np.uint8)
    for bar in (outer, inner):
        picture[bar.top : bar.bottom, bar.left : bar.right] = bar.colour
    return [bar.end for bar in bars._lane(picture, pieces, np.array([255, 255, 255])).bars]


def test_the_blend_around_a_nested_bar_makes_it_no_part_of_the_longer_one() -> None:
    outer, inner = (
        bars._Piece(200, 20, 980, 46, 9500, (92, 92, 92)),
        bars._Piece(200, 22, 700, 44, 11000, (172, 28, 36)),
    )
    pieces = [
        inner,
        bars._Piece(200, 21, 702, 45, 2700, (132, 60, 60)),
        bars._Piece(200, 20, 980, 46, 8500, (108, 100, 92)),
        outer,
    ]
    assert [_ends_of_a_nest(outer, inner, pieces)] == _near([[700, 980]])


def test_the_patch_of_a_legend_and_the_stroke_of_a_number_are_no_bars() -> None:
    lanes = [bars.Lane((_bar(20 + 40 * row, 600 - 50 * row),)) for row in range(3)]
    patch = bars.Lane((bars.Bar(200, 180, 220, 200, (95, 143, 31), 220.0),))
    stroke = bars.Lane((bars.Bar(200, 150, 203, 160, (20, 20, 20), 203.0),))
    words = [Word("Average FPS", (226, 180, 330, 200), 1.0), Word("12.5", (508, 100, 550, 120), 1.0)]
    kept = layout.without_legend(bars.Bars(200.0, (*lanes, stroke, patch)), words)
    assert list(kept.lanes) == lanes
    # A short bar has its number behind it.
    words[0] = Word("3.1", (226, 180, 330, 200), 1.0)
    assert len(layout.without_legend(bars.Bars(200.0, (*lanes, patch)), words).lanes) == 4


def test_the_number_in_a_thin_bar_cuts_it_in_no_two() -> None:
    """What is seen of the bar before its number would else be a third bar, and the noise between two rows another one."""
    picture = Image.new("RGB", (2400, 600), "#262626")
    pen, words = ImageDraw.Draw(picture), []
    font = _font(0, 26)
    ends = [(1100, 2000), (1340, 1990), (1204, 1800), (1330, 1750), (996, 1420)]
    for row, (inner, outer) in enumerate(ends):
        top = 40 + row * 52
        pen.rectangle((400, top, outer - 1, top + 37), fill="#ed7d31")
        pen.rectangle((400, top + 6, inner - 1, top + 31), fill="#4472c4")
        pen.text((412, top + 19), f"{inner / 4:.0f}.{row}", fill="white", font=font, anchor="lm")
        words.append(
            tuple(side / 2 for side in pen.textbbox((412, top + 19), f"{inner / 4:.0f}.{row}", font, anchor="lm"))
        )
    found = bars.find(_saved(picture.resize((1200, 300), Image.Resampling.LANCZOS), "JPEG", 70), words)
    assert _ends(found) == _near([[end / 2 for end in both] for both in ends], 1)


def test_a_bar_is_no_longer_for_the_border_of_the_bar_that_touches_it() -> None:
    picture, pen = _canvas(1200, 100)
    pen.rectangle((223, 20, 1047, 39), fill="#0071c5")
    # The lower border of the longer bar mixes with the ground to what is the darker bar's colour.
    pen.rectangle((223, 40, 1047, 41), fill="#00306a")
    pen.rectangle((223, 42, 745, 63), fill="#00285a")
    [piece] = bars._pieces(np.asarray(picture), (4, 44, 92), np.array([255, 255, 255]))
    assert (piece.left, piece.top, piece.right, piece.bottom) == (223, 42, 746, 64)


def test_a_dark_bar_on_a_dark_ground_ends_before_its_halo() -> None:
    picture, pen = _canvas(1400, 340, "#262626")
    ends = [1298, 1171, 1143, 971]
    _draw_bars(pen, [end + 4 for end in ends], "#29303a", left=236, every=80, tall=46)  # as JPEG draws it
    _draw_bars(pen, ends, "#2c3e50", left=236, every=80, tall=46)
    assert _ends(bars.find(np.asarray(picture), [])) == _alone(ends, 1)


def test_a_number_right_behind_a_dark_bar_makes_it_no_longer() -> None:
    picture = Image.new("RGB", (1600, 520), "#262626")
    pen, font = ImageDraw.Draw(picture), _font(1, 21)
    ends = [951, 1009, 957, 687, 853, 737, 831, 820]
    for row, end in enumerate(ends):
        pen.rectangle((428, 20 + row * 60, end + 200, 41 + row * 60), fill="#2e75b6")
        pen.rectangle((428, 42 + row * 60, end - 1, 63 + row * 60), fill="#1f3864")
        pen.text((end + 5, 52 + row * 60), "117.08", fill="white", font=font, anchor="lm")
    words = [(end + 2.0, 41.0 + row * 60, end + 90.0, 64.0 + row * 60) for row, end in enumerate(ends)]
    lanes = _ends(bars.find(_saved(picture, "JPEG", 70), words))
    assert lanes[1::2] == _alone(ends, 1)


def test_dark_bars_between_light_ones_and_below_a_line_of_nearly_their_colour_are_whole() -> None:
    picture, pen = _canvas(1600, 420, "#16181d")
    ends = [1349, 1200, 1040, 965, 537]
    for row, end in enumerate(ends):
        for at, (colour, share) in enumerate((("#2e75b6", 1.0), ("#1f3864", 0.85), ("#9dc3e6", 0.3))):
            top = 20 + row * 75 + at * 18
            pen.rectangle((365, top, 365 + round((end - 365) * share) - 1, top + 17), fill=colour)
    for column in range(365, 1500, 126):
        pen.line((column, 10, column, 410), fill="#3a3d44")
    lanes = _ends(bars.find(_saved(picture, "WEBP", 55), []))
    assert [len(lane) for lane in lanes] == [1] * 15
    for row, end in enumerate(ends):
        expected = [365 + round((end - 365) * share) for share in (1.0, 0.85, 0.3)]
        assert [lane[0] for lane in lanes[3 * row : 3 * row + 3]] == [pytest.approx(one, abs=1) for one in expected]


def test_two_greys_that_touch_are_not_one_bar_of_the_grey_between_them() -> None:
    picture, pen = _canvas(1280, 400, "#1b1c20")
    ends = [(1169, 914, 688), (1120, 940, 599), (942, 751, 497), (531, 464, 357)]
    for row, along in enumerate(ends):
        for at, (end, colour) in enumerate(zip(along, ("#c4161c", "#7c7c7c", "#a9a9a9"), strict=True)):
            pen.rectangle((147, 20 + row * 80 + at * 20, end - 1, 39 + row * 80 + at * 20), fill=colour)
        pen.rectangle((147, 59 + row * 80, along[2] - 1, 60 + row * 80), fill="#929292")
    lanes = _ends(bars.find(_saved(picture, "JPEG", 70), []))
    assert lanes == _alone([end for along in ends for end in along], 1)


def test_the_longer_bar_of_a_nest_is_seen_around_the_shorter_one_where_both_have_round_ends() -> None:
    picture, ends = Image.new("RGB", (1600, 320), "#16171d"), [[1250, 1400], [1080, 1200], [900, 1000], [680, 760]]
    pen = ImageDraw.Draw(picture)
    for row, (shorter, longer) in enumerate(ends):
        top = 40 + row * 60
        pen.rounded_rectangle((400, top, longer - 1, top + 39), radius=20, fill="#6b8cae")
        pen.rounded_rectangle((400, top + 4, shorter - 1, top + 35), radius=16, fill="#b0c4de")
    assert _ends(bars.find(np.asarray(picture), [])) == _near(ends, 1)


def test_what_is_nearly_of_the_grounds_colour_beside_the_labels_is_not_where_bars_begin() -> None:
    picture, ends = Image.new("RGB", (1200, 300), "white"), [1000, 900, 700, 600, 500]
    pen = ImageDraw.Draw(picture)
    for row, end in enumerate(ends):
        top = 20 + row * 50
        pen.rectangle((160, top + 3, 171, top + 16), fill=(238, 238, 230))
        pen.rectangle((187, top, end - 1, top + 19), fill="#5a5a5a")
    assert _ends(bars.find(np.asarray(picture), [])) == _alone(ends, 1)


def test_digits_at_the_round_end_of_a_bar_are_told_apart() -> None:
    texts, ends = ["7.70", "7.18", "6.68", "4.02"], [854, 796, 741, 445]
    drawn = Image.new("RGB", (1200, 260), "#f7f7f7")
    pen, font = ImageDraw.Draw(drawn), ImageFont.truetype(str(found_fonts()[0].parent / "cmss10.ttf"), 14)
    for row, (text, end) in enumerate(zip(texts, ends, strict=True)):
        pen.rounded_rectangle((144, 20 + row * 60, end - 1, 32 + row * 60), radius=6, fill="#c4161c")
        pen.text((end - 6, 26 + row * 60), text, fill="white", font=font, anchor="rm")
    picture = _saved(drawn, "JPEG", 80)
    found = bars.find(picture, [])
    assert found is not None
    words = [
        Word(text, (end - 35, 18 + row * 60, end - 4, 35 + row * 60), 1.0)
        for row, (text, end) in enumerate(zip(texts, ends, strict=True))
    ]
    chart = read.Chart(Frame(picture), tuple(words), found)
    assert all(read._shapes(chart, words, []).values())
    # One that was left out at its end is not passed over with the end of the bar.
    words[0] = Word("7.7", words[0].box, 1.0)
    assert read._shapes(read.Chart(chart.frame, tuple(words), found), words, [])[words[0].box] is None


def test_a_bar_that_is_lighter_at_its_top_goes_on_around_the_number_at_its_end() -> None:
    picture, pen = _canvas(1440, 60)
    for at in range(20):
        light = 1.25 - 0.5 * at / 20
        pen.line((401, 20 + at, 1307, 20 + at), fill=(int(142 * light), int(68 * light), int(182 * light)))
    font = _font(0, 16)
    pen.text((1302, 30), "7.887", fill="white", font=font, anchor="rm")
    word = pen.textbbox((1302, 30), "7.887", font, anchor="rm")
    seen = bars._Piece(401, 21, round(word[0]) + 2, 38, 9000, (142, 68, 182))
    between = bars._Piece(round(word[0]) + 9, 24, round(word[0]) + 16, 36, 80, (150, 70, 190))
    ground = np.array([255, 255, 255])
    for pieces in ([seen], [seen, between]):
        lane = bars._lane(_saved(picture, "JPEG", 55), pieces, ground, [word])
        assert [bar.end for bar in lane.bars] == [pytest.approx(1308, abs=0.6)]
    # A number behind a bar on the ground makes it no longer.
    behind = Image.new("RGB", (1440, 60), "white")
    pen = ImageDraw.Draw(behind)
    pen.rectangle((401, 20, 900, 39), fill="#8e44b6")
    pen.text((908, 30), "7.887", fill="black", font=font, anchor="lm")
    word = pen.textbbox((908, 30), "7.887", font, anchor="lm")
    lane = bars._lane(_saved(behind, "JPEG", 55), [bars._Piece(401, 20, 901, 40, 9990, (142, 68, 182))], ground, [word])
    assert [bar.end for bar in lane.bars] == [pytest.approx(901, abs=0.6)]


def test_a_thin_bar_goes_on_behind_the_number_whose_letters_are_as_white_as_the_ground() -> None:
    picture = Image.new("RGB", (1200, 60), "white")
    pen, font = ImageDraw.Draw(picture), _font(0, 14)
    pen.rectangle((210, 20, 767, 35), fill="#e2231a")
    pen.text((761, 28), "532", fill="white", font=font, anchor="rm")
    left, _, right, _ = pen.textbbox((761, 28), "532", font, anchor="rm")
    seen = bars._Piece(210, 20, round(left) + 3, 35, 8000, (226, 35, 26))
    word = (left - 2.0, 19.0, right + 2.0, 37.0)
    lane = bars._lane(_saved(picture, "JPEG", 70), [seen], np.array([255, 255, 255]), [word])
    assert [bar.end for bar in lane.bars] == [pytest.approx(768, abs=0.6)]


def test_a_line_of_the_grid_behind_the_number_in_a_bar_makes_it_no_longer() -> None:
    picture = Image.new("RGB", (1600, 90), "white")
    pen, font = ImageDraw.Draw(picture), _font(6, 24)
    pen.line((1036, 0, 1036, 90), fill="#d4d4d4")
    pen.rectangle((384, 42, 1032, 63), fill="#5b9bd5")
    pen.text((1026, 53), "99.52", fill="white", font=font, anchor="rm")
    seen = bars._Piece(384, 42, 1033, 64, 9000, (92, 156, 212))
    lane = bars._lane(np.asarray(picture), [seen], np.array([255, 255, 255]), [(950.0, 40.0, 1035.0, 66.0)])
    assert [bar.end for bar in lane.bars] == [pytest.approx(1033, abs=0.6)]


def test_a_bar_whose_first_letters_and_a_line_of_the_grid_leave_little_of_it_begins_where_others_do() -> None:
    pieces = [
        bars._Piece(left, 158, right, 177, 19 * (right - left), (68, 116, 196))
        for left, right in ((475, 523), (525, 620), (622, 715))
    ]
    words = [(430.0, 155.0, 485.0, 180.0)]
    assert bars._behind_word(pieces[0], 428, words, pieces)
    assert not bars._behind_word(pieces[0], 428, words, pieces[:1])
    assert not bars._behind_word(pieces[1], 428, words, pieces)


#: Where the shorter and the longer bar of a nest end.
NESTED = [(1051, 1238), (931, 1190), (811, 1111), (691, 950), (550, 800)]


def _draw_nested(pen: ImageDraw.ImageDraw, nested: Sequence[tuple[int, int]]) -> None:
    _draw_bars(pen, [longer for _, longer in nested], "#56b4e9", left=197, every=60, tall=24)
    _draw_bars(pen, [shorter for shorter, _ in nested], "#e69f00", left=197, top=23, every=60, tall=18)


def test_the_longer_bar_of_a_nest_is_found_behind_a_line_of_the_grid() -> None:
    picture, pen = _canvas(1300, 300)
    _draw_nested(pen, NESTED[:4])
    for column in range(216, 1300, 120):
        pen.line((column, 10, column, 290), fill="#3a3d44", width=2)
    assert _ends(bars.find(np.asarray(picture), [])) == _near(NESTED[:4])


def test_a_mark_of_water_behind_nested_bars_is_none_of_them() -> None:
    """Neither a letter that lies across two rows nor one that begins where a bar ends."""
    picture, pen = _canvas(1300, 320, "#16181d")
    for letter in ((1111, 145, 1150, 245), (800, 256, 828, 290)):
        pen.rectangle(letter, fill="#3a3d44")
    _draw_nested(pen, NESTED)
    assert _ends(bars.find(np.asarray(picture), [])) == _near(NESTED)


def test_what_is_nearly_of_the_grounds_colour_between_two_rows_is_a_bar_where_a_word_stands_in_it() -> None:
    def lane(top: int, tall: int, colour: tuple[int, int, int]) -> bars.Lane:
        return bars.Lane((bars.Bar(200, top, 900, top + tall, colour, 900.0),))

    ground = np.array([255, 255, 255])
    rows = [lane(at * 22, 21, (31, 56, 100)) for at in range(6)]
    shading = lane(132, 15, (236, 236, 236))
    beside, behind = (20.0, 130.0, 180.0, 150.0), (908.0, 130.0, 960.0, 150.0)
    assert bars._without_shadows([*rows, shading], ground, [beside]) == rows
    assert bars._without_shadows([*rows, shading], ground, [behind]) == [*rows, shading]
    assert bars._without_shadows([*rows, lane(132, 15, (180, 180, 180))], ground, [])[-1].top == 132
    assert bars._without_shadows([*rows, lane(132, 12, (236, 236, 236))], ground, [behind]) == rows


def test_what_ends_in_many_rows_at_a_line_of_the_grid_is_the_shading_of_rows() -> None:
    ground = np.array((22, 24, 29), dtype=np.int32)
    own = [bars._Piece(300, 20 + 40 * row, 400 + 90 * row, 32 + 40 * row, 4000, (148, 68, 180)) for row in range(14)]
    shades = [bars._Piece(300, 30 + 40 * row, 1049, 50 + 40 * row, 9000, (36, 44, 52)) for row in range(5)]
    assert bars._without_tracks([*own, *shades], ground) == own
    # Four may be equal by chance, and a bar that ends further right is drawn on them.
    assert bars._without_tracks([*own, *shades[:4]], ground) == [*own, *shades[:4]]


def test_the_mixture_of_two_colours_makes_no_one_bar_of_two_that_are_nested() -> None:
    outer = bars._Piece(162, 196, 1668, 217, 14000, (107, 140, 174))
    inner = bars._Piece(162, 198, 1180, 215, 17000, (176, 196, 222))
    pieces = [
        replace(inner, colour=(172, 188, 204)),
        bars._Piece(162, 198, 1181, 215, 16900, (152, 178, 208)),
        replace(outer, colour=(124, 148, 172)),
    ]
    assert [_ends_of_a_nest(outer, inner, pieces)] == _near([[1180, 1668]])


def test_a_patch_of_a_legend_whose_word_reaches_over_it_is_no_bar() -> None:
    lanes = [bars.Lane((_bar(20 + 40 * row, 600 - 50 * row),)) for row in range(3)]
    patch = bars.Lane((bars.Bar(200, 180, 216, 196, (95, 143, 31), 216.0),))
    word = Word("FP16", (212, 178, 270, 198), 1.0)
    assert list(layout.without_legend(bars.Bars(200.0, (*lanes, patch)), [word]).lanes) == lanes
    number = replace(word, text="16.4")
    assert len(layout.without_legend(bars.Bars(200.0, (*lanes, patch)), [number]).lanes) == 4


def test_what_is_drawn_around_the_first_number_of_an_axis_is_no_bar() -> None:
    lanes = [bars.Lane((_bar(20 + 40 * row, 800 - 90 * row),)) for row in range(4)]
    ghost = bars.Lane((_bar(190, 216),))
    numbers = [Word(str(value), (200 + 20 * value, 192, 230 + 20 * value, 208), 1.0) for value in (5, 10, 15, 20, 25)]
    found = layout.without_legend(bars.Bars(200.0, (*lanes, ghost)), numbers)
    assert found.lanes == tuple(lanes)
    # Numbers that are no marks of an axis, or as many as bars, are those of a bar.
    for others in (numbers[:2], [*numbers[:3], replace(numbers[3], text="31"), numbers[4]]):
        assert layout.without_legend(bars.Bars(200.0, (*lanes, ghost)), others).lanes == (*lanes, ghost)


def _lines(gap: int, colours: list[tuple[int, int, int]]) -> tuple[bars.Bars, list[Word]]:
    """Two bars a card, and beside each one line of its label: the maker, and the model."""
    lanes, words = [], []
    for row, model in enumerate(("RTX 4090", "RTX 4080", "RTX 3090", "RTX 3080")):
        for line, text in enumerate(("NVIDIA GeForce", model)):
            top = 20 + row * (40 + gap) + 20 * line
            lanes.append(bars.Lane((bars.Bar(200, top, 900 - 60 * row, top + 20, colours[line], 900.0 - 60 * row),)))
            words.append(Word(text, (20, top, 190, top + 20), 1.0))
    return bars.Bars(200.0, tuple(lanes)), words


def test_a_label_of_two_lines_is_that_of_both_bars_beside_it() -> None:
    """Else its second line alone would give the number of the second bar to the first series of that card."""
    two = [(46, 117, 182), (31, 56, 100)]
    rows = layout.rows(*_lines(12, two), turned=False)
    assert [(row.label, len(row.lanes)) for row in rows][:2] == [
        ("NVIDIA GeForce RTX 4090", 2), ("NVIDIA GeForce RTX 4080", 2),
    ]  # fmt: skip
    # Where no gap says which bars belong together, no bar has a label.
    assert {row.label for row in layout.rows(*_lines(0, two), turned=False)} == {""}
    assert {row.label for row in layout.rows(*_lines(0, [two[0], two[0]]), turned=False)} == {""}


def test_lines_of_labels_as_near_to_the_next_as_to_each_other_are_parted_where_the_bars_are() -> None:
    """The top of some bars is lighter and was taken for ground, so that no line is in the middle of its bar."""
    found, words = _lines(12, [(46, 117, 182), (31, 56, 100)])
    lower = [
        replace(lane, bars=(replace(lane.bars[0], top=lane.top + (9 if at in (2, 4) else 0)),))
        for at, lane in enumerate(found.lanes)
    ]
    found = replace(found, lanes=tuple(lower))
    nearer = (-3, 3)
    words = [
        replace(word, box=(20, word.box[1] + nearer[at % 2] - 1, 190, word.box[3] + nearer[at % 2] + 1))
        for at, word in enumerate(words)
    ]
    rows = layout.rows(found, words, turned=False)
    assert [(row.label, len(row.lanes)) for row in rows] == [
        (f"NVIDIA GeForce RTX {model}", 2) for model in (4090, 4080, 3090, 3080)
    ]
    # Of one label a line was not read: what is left of it may be the name of another card.
    rows = layout.rows(found, words[:6] + words[7:], turned=False)
    assert [row.label for row in rows][2:] == ["NVIDIA GeForce RTX 3090", ""]


def test_a_maker_and_a_model_beside_bars_that_touch_are_a_label_where_their_lines_say_so() -> None:
    found, words = _lines(0, [(46, 117, 182), (31, 56, 100)])
    nearer = [
        replace(word, box=(20, word.box[1] + (3 if at % 2 == 0 else -3), 190, word.box[3] + (3 if at % 2 == 0 else -3)))
        for at, word in enumerate(words)
    ]
    rows = layout.rows(found, nearer, turned=False)
    assert [(row.label, len(row.lanes)) for row in rows][:2] == [
        ("NVIDIA GeForce RTX 4090", 2), ("NVIDIA GeForce RTX 4080", 2),
    ]  # fmt: skip
    # A line that names a model where a maker should stand leaves open which two are one label.
    odd = [replace(nearer[0], text="RTX 4070"), *nearer[1:]]
    assert {row.label for row in layout.rows(found, odd, turned=False)} == {""}


@pytest.mark.parametrize("as_read", ["H37.2", "137.2", "37.2"])
def test_a_number_behind_the_line_of_its_error_is_read_without_it(as_read: str) -> None:
    class Reader:
        def read_lines(self, crops: list[Any]) -> list[tuple[str, float]]:
            assert [crop.shape[1] < 64 * 5 for crop in crops] == [True]
            return [("37.2", 1.0)]

    picture, pen = _canvas(1200, 100)
    pen.rectangle((200, 20, 599, 59), fill="#2e75b6")
    pen.line((590, 40, 609, 40), fill="black")
    pen.line((609, 30, 609, 50), fill="black")
    pen.rectangle((616, 30, 630, 50), outline="black")
    lanes = bars.Bars(200.0, (bars.Lane((bars.Bar(200, 20, 600, 60, (46, 117, 182), 600.0),)),))
    found = read._freed(
        Word(as_read, (598, 28, 664, 52), 1.0),
        lanes,
        Frame(np.asarray(picture)),
        Reader(),  # type: ignore[arg-type]
    )
    assert (found.number, round(found.box[0])) == ("37.2", 610)
    label = Word("RTX 4090", (598, 28, 664, 52), 1.0)
    clean = np.full((100, 1200, 3), 255, dtype=np.uint8)
    assert read._freed(label, lanes, Frame(clean), None) is label  # type: ignore[arg-type]


def test_a_number_is_told_apart_from_the_line_before_it_and_from_the_number_beside_it() -> None:
    font = _font(0, 20)
    picture, pen = _canvas(1200, 200)
    lanes, words = [], []
    for row, text in enumerate(("41.27", "38.06", "25.94")):
        top, end = 20 + 60 * row, 600 - 60 * row
        pen.rectangle((200, top, end - 1, top + 39), fill="#2e75b6")
        pen.line((end, top + 20, end + 9, top + 20), fill="black")
        pen.line((end + 9, top + 14, end + 9, top + 26), fill="black")
        pen.text((end + 14, top + 20), text, fill="black", font=font, anchor="lm")
        box = (end + 3.0, top + 8.0, end + 16 + font.getlength(text), top + 32.0)
        words.append(Word(text, box, 1.0))
        lanes.append(bars.Lane((bars.Bar(200, top, end, top + 40, (46, 117, 182), float(end)),)))
    # Its box overlaps that of the number before it, which leaves no room for another digit.
    words.append(Word("77", (words[0].box[2] - 3, 30.0, words[0].box[2] + 30, 58.0), 1.0))
    pen.text((words[0].box[2], 44), "77", fill="black", font=font, anchor="lm")
    chart = read.Chart(Frame(np.asarray(picture)), tuple(words), bars.Bars(200.0, tuple(lanes)))
    shapes = read._shapes(chart, words[:3], [])
    told = ["".join(one.text for one in marked.glyphs) for word in words[:3] if (marked := shapes[word.box])]
    assert told == ["41.27", "38.06", "25.94"]
    # A digit more than was read is one too many all the same.
    short = [replace(word, text=word.text[:-1]) for word in words[:3]]
    assert not any(read._shapes(chart, short, []).values())


def test_small_print_below_a_label_is_read_again_and_no_name_of_a_card() -> None:
    class Reader:
        asked = 0

        def read_lines(self, crops: list[Any]) -> list[tuple[str, float]]:
            self.asked += 1
            return [("Stock, Rezsible BAR on" if self.asked == 1 else "Stock, Resizable BAR on", 1.0)]

    chart = read.Chart(Frame(np.full((100, 1200, 3), 255, dtype=np.uint8)), (), bars.Bars(200.0, ()))
    small, name = Word("Stock, Resizable BAR on", (20, 40, 180, 52), 1.0), Word("RTX 3080", (20, 20, 180, 38), 1.0)
    reader: Any = Reader()
    assert read._caption_again(chart, small, "Stock, Rezsible BAR", reader) == "Stock, Resizable BAR on"
    assert reader.asked == 2
    assert read._caption_again(chart, name, "RTX 3090", reader) == "RTX 3090"
    assert read._caption_again(chart, replace(name, text="Titan"), "Titan 2", reader) == "Titan 2"
    assert reader.asked == 2


@pytest.mark.parametrize(
    ("printed", "axis", "parts", "is_open"),
    [
        ("1.699 1.204 1.050 1.011", "0 1.000 1.500", ".", True),
        ("1.699 1.204 1.050 1.011", "0 500 1.000 1.500", ".", True),
        ("1.699 1.204 1.050 987", "", ".", True),
        ("1.699 1.204 1.050 1.011", "", ",", True),
        ("1.699 1.204 1.050 1.011", "0 0.5 1.0 1.5", ",", False),
        ("9.699 7.204 5.050 4.911 4.021 3.918 3.707", "0.0 5.0 10.0", ",", False),
        ("1.699 1.204 1.050 0.911", "", ",", False),
        ("12.699 1.204 1.050 1.011", "0 5 10", ",", False),
        ("1699.125 204.255 150.375 99.125", "", ",", False),
        ("16.99 12.04 10.50 10.11", "", ",", False),
        ("1,699 1,204 1,050 1,011", "", ",", True),
        ("1,699 1,204 1,050 987", "", ",", False),
        ("12,699 5,204 4,050 2,011", "0 5,000 10,000", ",", False),
        ("12,699 5,204 4,050 2,011", "0 5 10", ".", True),
        ("1,204,699 5,204 4,050 2,011", "", ",", False),
        ("1699 1204 1050 1011", "500 1,000 1,500", ",", False),
    ],
)
def test_what_stands_before_three_digits_is_decided_by_another_number(
    printed: str, axis: str, parts: str, is_open: bool
) -> None:
    """`parts` is the sign that really parts thousands in this chart; the reader knows how long the bars are, and no more."""
    texts, marks = printed.split(), axis.split()

    def meant(text: str) -> float:
        return float(text.replace(parts, "").replace(",", "."))

    def end(text: str) -> float:
        return 200 + 900 * meant(text) / meant(texts[0])

    comma = layout.meaning_of_comma(texts, marks)
    fitted = scale.fit([(layout.number(text, comma), end(text)) for text in texts], 200)
    assert fitted is not None
    entries = [
        read._Entry(layout.Row(text, (), ()), 0, replace(_bar(0, 700), end=end(text)), Word(text, _BOX, 1.0))
        for text in texts
    ]
    along = [Word(text, (end(text) - 20, 400, end(text) + 20, 420), 1.0) for text in marks]
    assert read._may_be_thousands_or_decimals(entries, along, fitted, comma) == is_open


_BOX = (0.0, 0.0, 40.0, 20.0)


def test_what_stands_below_the_labels_of_standing_bars_is_none() -> None:
    found, words = _standing([("RTX 3060 Ti", 100, 205), ("RTX 2070 Super", 245, 385), ("RTX 4080", 450, 535)])
    below = [Word("TensorRT", (110, 100, 130, 180), 1.0), Word("PyTorch", (110, 245, 130, 320), 1.0)]
    assert layout.without_captions([*words, *below], found, True) == tuple(words)
    assert layout.without_captions(words, found, True) == tuple(words)


def test_the_mark_of_the_axis_beside_a_label_is_not_read_with_it() -> None:
    picture, pen = _canvas(1200, 100)
    pen.line((200, 0, 200, 100), fill="black")
    pen.line((194, 50, 200, 50), fill="black")
    pen.rectangle((100, 40, 184, 60), fill="black")
    chart = read.Chart(Frame(np.asarray(picture)), (), bars.Bars(200.0, (bars.Lane((_bar(40, 500),)),)))
    assert read._before_tick(chart, Word("RTX 4090", (98, 36, 197, 64), 1.0)) == pytest.approx(194, abs=1)


def test_what_jpeg_draws_along_the_axis_is_no_bar() -> None:
    picture, pen = _canvas(1200, 400)
    pen.line((200, 0, 200, 400), fill="black")
    _draw_bars(pen, ENDS, "#5f8f1f", left=201)
    for top in range(0, 400, 35):
        pen.rectangle((194, top, 199, top + 25), fill="#c0c0c0")
    found = bars.find(np.asarray(picture), [])
    assert found.zero == pytest.approx(201, abs=1.1)
    assert [len(lane.bars) for lane in found.lanes] == [1] * 5


def test_what_jpeg_draws_behind_a_bar_is_no_second_bar() -> None:
    picture, pen = _canvas(1200, 400, "#1b1b1f")
    _draw_bars(pen, [end + 12 for end in (1100, 830, 612, 377, 290)], "#30183c", left=201)
    _draw_bars(pen, [1100, 830, 612, 377, 290], "#6a3d9a", left=201)
    assert [len(lane.bars) for lane in bars.find(np.asarray(picture), []).lanes] == [1] * 5


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("Intel Arc A750 -2160.8", ["Intel Arc A750", "2160.8"]),
        ("RTX 4090 28.923", ["RTX 4090", "28.923"]),
        ("RTX 3060 Ti-9,146", ["RTX 3060 Ti", "9,146"]),
        ("RTX 4090", ["RTX", "4090"]),  # over the line, so the number is the bar's; the label then means no card
        ("Radeon", ["Radeon"]),
    ],
)
def test_a_label_and_the_number_in_its_bar_are_two_words(text: str, parts: list[str]) -> None:
    assert [word.text for word in layout.parted(Word(text, (90, 0, 280, 30), 1.0), 200)] == parts
    # A word that ends before the bars, or begins behind their line, is what it is.
    assert layout.parted(Word(text, (20, 0, 190, 30), 1.0), 200) == [Word(text, (20, 0, 190, 30), 1.0)]
    assert layout.parted(Word(text, (210, 0, 380, 30), 1.0), 200) == [Word(text, (210, 0, 380, 30), 1.0)]


def test_thin_and_touching_digits_are_told_apart_at_another_threshold() -> None:
    told = 0
    for text in ("9.460", "8.930", "6.723", "5.497", "4.857", "9.045"):
        picture, pen = _canvas(round(_font(-1, 13).getlength(text)) + 12, 24, "#c4161c")
        pen.text((6, 4), text, fill="white", font=_font(-1, 13))
        told += glyphs.marks(np.asarray(picture), text) is not None
    assert told >= 5


def _bar(top: int, end: int) -> bars.Bar:
    return bars.Bar(200, top, end, top + 20, (95, 143, 31), float(end))


def test_a_bar_too_many_in_one_lane_makes_its_whole_row_unsure() -> None:
    """It gives the bars of the other lanes another place in the row, and their numbers another meaning."""
    words, lanes = [], []
    for row in range(3):
        top = 20 + 60 * row
        extra = (_bar(top, 700),) if row == 1 else ()
        lanes += [bars.Lane((_bar(top, 600), *extra)), bars.Lane((_bar(top + 22, 500),))]
        words += [
            Word(f"RTX {row}090", (60, top + 11, 180, top + 31), 1.0),
            Word("60.0", (610, top, 660, top + 20), 1.0),
            Word("50.0", (510, top + 22, 560, top + 42), 1.0),
        ]
    picture = np.full((220, 1200, 3), 255, dtype=np.uint8)
    chart = read.Chart(Frame(picture, False), tuple(words), bars.Bars(200.0, tuple(lanes)))
    entries = list(read._entries(chart))
    sure = [(entry.row.label, entry.series) for entry in entries if not entry.reason]
    assert sure == [("RTX 0090", 0), ("RTX 0090", 1), ("RTX 2090", 0), ("RTX 2090", 1)]
    unsure = [entry.reason for entry in entries if entry.row.label == "RTX 1090"]
    assert len(unsure) == 3
    assert all(unsure)


def test_a_shadow_beside_the_bars_of_one_row_makes_that_row_unsure_and_no_other() -> None:
    words, lanes = [], []
    for row in range(4):
        top = 20 + 90 * row
        tops = [top, top + 22, top + 44] if row == 1 else [top + 11, top + 33]
        lanes += [bars.Lane((_bar(one, 600 - one),)) for one in tops]
        words.append(Word(f"RTX {row}090", (60, top + 22, 180, top + 42), 1.0))
        words += [Word("6.25", (610 - one, one, 650 - one, one + 20), 1.0) for one in tops[-2:]]
    picture = np.full((400, 1200, 3), 255, dtype=np.uint8)
    chart = read.Chart(Frame(picture, False), tuple(words), bars.Bars(200.0, tuple(lanes)))
    found = {(entry.row.label, bool(entry.reason)) for entry in read._entries(chart)}
    assert found == {("RTX 0090", False), ("RTX 1090", True), ("RTX 2090", False), ("RTX 3090", False)}


def test_numbers_in_a_column_left_of_the_bars_are_values_and_no_part_of_labels() -> None:
    lanes = tuple(bars.Lane((_bar(20 + 40 * row, 700 - 60 * row),)) for row in range(5))
    found = bars.Bars(200.0, lanes)
    labels = [Word(f"RTX {row}090", (20, 20 + 40 * row, 110, 40 + 40 * row), 1.0) for row in range(5)]
    numbers = [Word(f"{50 - 6 * row}.0", (140, 20 + 40 * row, 190, 40 + 40 * row), 1.0) for row in range(5)]
    column = layout.column(found, [*labels, *numbers])
    assert column == {word.box for word in numbers}
    picture = np.full((220, 1200, 3), 255, dtype=np.uint8)
    chart = read.Chart(Frame(picture), (*labels, *numbers), found, column)
    entries = list(read._entries(chart))
    assert [(entry.row.label, entry.word, entry.reason) for entry in entries] == [
        (label.text, word, "") for label, word in zip(labels, numbers, strict=True)
    ]
    assert read._crop(chart, numbers[0]).shape[1] == 50
    # What stands in such a column beside bars with numbers of their own is something else: a price, or a count.
    own = [Word("7.0", (710 - 60 * row, 20 + 40 * row, 750 - 60 * row, 40 + 40 * row), 1.0) for row in range(5)]
    assert not layout.column(found, [*labels, *numbers, *own])
    # The second word of a name is nearer to the first.
    halves = [
        part
        for word in labels
        for part in (replace(word, text="RTX"), replace(word, text="4090", box=(118, word.box[1], 190, word.box[3])))
    ]
    assert not layout.column(found, halves)


def test_edges_in_a_photograph_without_a_word_are_no_chart() -> None:
    lanes = tuple(bars.Lane((_bar(20 + 60 * row, 600),)) for row in range(3))
    picture = np.full((440, 1200, 3), 255, dtype=np.uint8)
    for turned in (False, True):
        chart = read.Chart(Frame(picture, turned), (), bars.Bars(200.0, lanes))
        assert read._completed(chart, None) is chart  # type: ignore[arg-type]


def test_a_shading_above_the_bars_of_every_other_row_moves_none_to_another_series() -> None:
    words, lanes = [], []
    for row in range(4):
        top = 20 + 100 * row
        lanes += [bars.Lane((_bar(one, 600 - one),)) for one in range(top if row % 2 else top + 22, top + 88, 22)]
        words.append(Word(f"RTX {row}090", (60, top + 44, 180, top + 64), 1.0))
        words += [Word("6.25", (610 - one, one, 650 - one, one + 20), 1.0) for one in range(top + 22, top + 88, 22)]
    picture = np.full((440, 1200, 3), 255, dtype=np.uint8)
    chart = read.Chart(Frame(picture, False), tuple(words), bars.Bars(200.0, tuple(lanes)))
    sure = {entry.row.label for entry in read._entries(chart) if not entry.reason}
    assert sure == {"RTX 0090", "RTX 2090"}


def _standing(labels: list[tuple[str, int, int]]) -> tuple[bars.Bars, list[Word]]:
    """Two bars side by side over each label, turned as if they lay: a label is its words, and where it begins and ends."""
    lanes, words = [], []
    for text, start, end in labels:
        middle = (start + end) // 2
        lanes += [bars.Lane((_bar(middle - 21, 700),)), bars.Lane((_bar(middle + 1, 500),))]
        words.append(Word(text, (170, start, 190, end), 1.0))
    return bars.Bars(200.0, tuple(lanes)), words


def test_labels_below_standing_bars_are_apart_though_they_are_wide() -> None:
    found, words = _standing([("RTX 3060 Ti", 100, 205), ("RTX 2070 Super", 245, 385), ("RTX 4080", 450, 535)])
    rows = layout.rows(found, words, True)
    assert [(row.label, len(row.lanes)) for row in rows] == [("RTX 3060 Ti", 2), ("RTX 2070 Super", 2), ("RTX 4080", 2)]
    # Even where they touch.
    found, words = _standing([("RTX 3060 Ti", 95, 226), ("RTX 2070 Super", 224, 386), ("RTX 4080", 384, 530)])
    assert [row.label for row in layout.rows(found, words, True)] == ["RTX 3060 Ti", "RTX 2070 Super", "RTX 4080"]
    # One label of two words is one.
    found, words = _standing([("RTX 3060", 100, 180), ("RTX 2070 Super", 245, 385), ("RTX 4080", 450, 535)])
    rows = layout.rows(found, [*words, Word("Ti", (170, 188, 190, 205), 1.0)], True)
    assert [row.label for row in rows] == ["RTX 3060 Ti", "RTX 2070 Super", "RTX 4080"]


def test_labels_that_nearly_touch_are_not_the_label_of_one_bar() -> None:
    found, words = _standing([("RTX 3060 Ti", 100, 205), ("RTX 2070 Super", 245, 385), ("RTX 4080", 450, 535)])
    groups = layout.neighbours(found.lanes)
    assert [len(group) for group in groups] == [2, 2, 2]
    assert [len(group) for group in layout.neighbours(found.lanes[::2])] == [1, 1, 1]
    # JPEG lets a bar reach far into the one that touches it, and the rows have hardly more room between them.
    reaching = [bars.Lane((_bar(row * 47 + at * 20, 600),)) for row in range(5) for at in (0, 1)]
    reaching[2] = bars.Lane((replace(reaching[2].bars[0], bottom=reaching[3].top + 10),))
    assert [len(group) for group in layout.neighbours(reaching)] == [2] * 5
    cells = [(90.0, 225.0), (225.0, 410.0), (410.0, 540.0)]
    assert not any(read._is_of_several(word, cells, 200.0) for word in words)
    assert read._is_of_several(Word("RTX 3060 Ti RTX 2070 Super", (170, 100, 190, 385), 1.0), cells, 200.0)


def test_of_two_readings_of_a_label_the_one_with_its_spaces_counts() -> None:
    row = layout.Row("Intel Are A77016GB", (), ())
    assert read._spaced(row, {row.label: "Intel Arc A770 16GB -"}).label == "Intel Arc A770 16GB"
    assert read._spaced(row, {row.label: "Intel Arc A750 16GB"}) == row
    assert read._letters("RTX 4070 Ti") != read._letters("RTX 4070")
    assert [layout.respelt(one) for one in ("RTX 3070 πi", "RTX 3070 τi 8GB", "RTX 3070π")] == [
        "RTX 3070 Ti", "RTX 3070 Ti 8GB", "RTX 3070Ti",
    ]  # fmt: skip


def test_a_label_of_two_rows_names_none_of_their_bars_though_one_has_more() -> None:
    def value(label: str, series: int) -> Value:
        box = (0.0, 0.0, 1.0, 1.0)
        return Value(label, series, "8.1", "8.1", "8.1", None, box, box, 81.0, 0.0, "accepted", "")

    rows = (
        value("RTX 3090", 0),
        value("RTX 3090", 1),
        value("RTX 3090", 0),
        value("RTX 4090", 0),
        value("RTX 4090", 1),
    )
    assert [one.status for one in read._once_each(rows)] == ["quarantined"] * 3 + ["accepted"] * 2
    # Nor do two labels of one card.
    rows = (value("RTX 3090", 0), value("RTX 3090", 1), value("GeForce RTX 3090", 0), value("RTX 4090", 0))
    reading = ChartReading(1200, 400, None, None, None, 1.0, rows)
    judged = with_cards(reading, Resolver.load())
    assert [one.status for one, _ in judged] == ["quarantined"] * 3 + ["accepted"]


def test_the_numbers_of_an_axis_that_stands_are_flush() -> None:
    found, _ = _standing([("RTX 3060 Ti", 100, 205), ("RTX 4080", 430, 515)])
    axis = [Word(text, (column, 40 - 9 * len(text), column + 16, 40), 1.0) for text, column in
            (("0", 192), ("50", 292), ("100", 392), ("1000", 492))]  # fmt: skip
    assert [word.text for word in layout.marks(found, axis)] == ["0", "50", "100", "1000"]


def test_no_bars_in_a_picture_of_something_else() -> None:
    noise = np.random.default_rng(7).integers(0, 255, (400, 1200, 3), dtype=np.uint8)
    assert bars.find(noise, []) is None
    assert bars.find(np.full((400, 1200, 3), 255, dtype=np.uint8), []) is None


def _bomb() -> bytes:
    """A PNG whose header promises 60,000 × 60,000 pixels."""

    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    header = struct.pack(">IIBBBBB", 60_000, 60_000, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"IDAT", zlib.compress(bytes(1_000)))
        + chunk(b"IEND", b"")
    )


def _animated() -> bytes:
    out = io.BytesIO()
    first, *others = [Image.new("RGB", (1200, 400), colour) for colour in ("red", "blue", "green")]
    first.save(out, "PNG", save_all=True, append_images=others)
    return out.getvalue()


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (_bomb(), "too_large"),
        (_png(Image.new("L", (20_000, 40))), "too_large"),
        (_animated(), "animated"),
        (_png(Image.new("RGB", (1200, 400)))[:200], "broken"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "no_picture"),
        (b"", "no_picture"),
    ],
    ids=["bomb", "20,000 pixels", "animated", "cut short", "no picture", "empty"],
)
def test_a_bad_picture_is_refused_before_it_is_decoded(content: bytes, code: str) -> None:
    with pytest.raises(BadPicture) as refused:
        pixels(content)
    assert refused.value.code == code


@pytest.mark.slow_combination
def test_a_picture_of_twice_the_usual_side_is_read_within_the_memory_of_its_process() -> None:
    small = Image.open(io.BytesIO(draw(6_004).content)).convert("RGB")
    large = small.resize((3840, 3840 * small.height // small.width), Image.Resampling.LANCZOS)
    assert [value for value in apart.read_chart(_png(large)).values if value.status == "accepted"]


def test_a_process_that_takes_too_long_is_stopped() -> None:
    with pytest.raises(BadPicture) as refused:
        apart.read_chart(_png(Image.new("RGB", (1200, 400), "white")), wait=0.01)
    assert refused.value.code == "too_slow"


def _invoke(*words: object, cwd: Path, monkeypatch: pytest.MonkeyPatch) -> Result:
    monkeypatch.chdir(cwd)
    return CliRunner().invoke(cli, [str(word) for word in words], standalone_mode=False, catch_exceptions=False)


@pytest.fixture
def read_once(readings_of_pictures: Readings, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pictures are read by the real reader, and only once however many tests ask."""
    monkeypatch.setattr(apart, "read_chart", readings_of_pictures)


@pytest.fixture(scope="module")
def drawn() -> Drawn:
    """A chart of nine rows, as small as charts are read."""
    return draw(SMALL)


@pytest.mark.slow_combination
@pytest.mark.usefixtures("read_once")
def test_a_drawn_chart_by_the_command(drawn: Drawn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "chart.png").write_bytes(drawn.content)
    done = _invoke(
        "chart", "chart.png", "--format", "json", "--data-dir", tmp_path, cwd=tmp_path, monkeypatch=monkeypatch
    )
    rows = json.loads(done.stdout)
    assert done.return_value == (3 if any(row["status"] == "quarantined" for row in rows) else 0), done.output
    truth = {(one.label, one.series, one.text) for one in drawn.printed}
    accepted = {(row["label"], row["series"], row["value"]) for row in rows if row["status"] == "accepted"}
    assert accepted <= truth
    assert len(accepted) >= 0.95 * len(truth)
    assert all(row["gpu_id"] for row in rows if row["status"] == "accepted")
    assert all(abs(row["residual_px"]) <= 1 for row in rows if row["status"] == "accepted")


@pytest.mark.slow
def test_a_picture_of_something_else_gives_nothing_and_says_so(tmp_path: Path) -> None:
    path = tmp_path / "other.png"
    picture = Image.new("RGB", (1200, 500), "white")
    ImageDraw.Draw(picture).text((60, 60), "Nothing is measured here", fill="black", font=_font(0, 40))
    path.write_bytes(_png(picture))
    done = gpuledger("chart", path, "--format", "json", data=tmp_path)
    assert (done.status, json.loads(done.out)) == (3, [])
    assert "no bar chart" in done.err
    assert gpuledger("chart", __file__, data=tmp_path).status == 1


@pytest.mark.slow
@pytest.mark.usefixtures("read_once")
def test_a_publishers_chart_is_read_without_a_wrong_value(
    shared_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = shared_data / "charts" / "toms_sd_2023.png"
    done = _invoke("chart", path, "--format", "json", "--data-dir", tmp_path, cwd=tmp_path, monkeypatch=monkeypatch)
    found = json.loads(done.stdout)
    assert done.return_value == (3 if any(row["status"] == "quarantined" for row in found) else 0), done.output
    rows = [row for row in found if row["status"] == "accepted"]
    assert all(row["gpu_id"] for row in rows)
    assert all(abs(row["residual_px"]) <= 1 for row in rows)
    truth: Counter[tuple[str, int, str]] = Counter()
    with (shared_data / "charts" / "truth.csv").open(encoding="utf-8") as lines:
        for row in csv.DictReader(lines):
            if row["image"] == "toms_sd_2023":
                truth[row["label"], int(row["series"]), row["value"]] += 1
    accepted = Counter((row["label"], row["series"], row["value"]) for row in rows)
    assert accepted <= truth
    assert accepted.total() >= 0.95 * truth.total()
