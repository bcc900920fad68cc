"""Figures that a person read off a chart: reading, checking, and noticing that the chart has changed."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest

from gpuledger.extract import source
from gpuledger.extract.readers.transcriptions import (
    COLUMNS,
    Transcription,
    TranscriptionError,
    bundled,
    match,
    read_csv,
    scores,
)
from gpuledger.items import Chart

SAMPLE = source.folder("toms_ai_articles") / "sample" / "night1"
ARTICLE = "https://articles.test/one"
IMAGE = "https://cdn.test/chart.png"
OLD, NEW = "0" * 64, "1" * 64
GOOD = {
    "article_url": ARTICLE,
    "chart": "Images, 512x512",
    "image_url": IMAGE,
    "image_sha256": OLD,
    "published_on": "2023-11-16",
    "transcribed_on": "2023-11-20",
    "workload_id": "sd-512-image-generation",
    "unit": "it/s",
    "gpu_name": "RTX 4090",
    "score": "28.923",
}


def load(paths: Iterable[Path]) -> list[Transcription]:
    """All charts of some files, in which every row can be read."""
    charts: list[Transcription] = []
    for path in paths:
        found, problems = read_csv(path.read_bytes(), str(path))
        if problems:
            raise TranscriptionError("\n".join(problem.message for problem in problems))
        charts += found
    return charts


def content(*rows: dict[str, str], columns: tuple[str, ...] = COLUMNS) -> bytes:
    lines = [",".join(columns), *(",".join(f'"{(GOOD | row)[column]}"' for column in columns) for row in rows)]
    return "\n".join(lines).encode()


def one(*rows: dict[str, str]) -> Transcription:
    (found,), issues = read_csv(content(*rows), "t.csv")
    assert issues == []
    return found


def test_a_chart_with_its_figures() -> None:
    found = one({}, {"gpu_name": "RTX 3060", "score": "7.239"})
    assert found == Transcription(
        article_url=ARTICLE,
        chart="Images, 512x512",
        image_url=IMAGE,
        image_sha256=OLD,
        published_on=date(2023, 11, 16),
        transcribed_on=date(2023, 11, 20),
        workload_id="sd-512-image-generation",
        unit="it/s",
        figures=(("RTX 4090", Decimal("28.923")), ("RTX 3060", Decimal("7.239"))),
    )


def test_scores_carry_their_provenance() -> None:
    (item,) = scores(one({}))
    assert (item.gpu_name, item.score, item.unit) == ("RTX 4090", Decimal("28.923"), "it/s")
    assert (item.article_url, item.source_image, item.published_on) == (ARTICLE, IMAGE, date(2023, 11, 16))
    assert (item.table, item.workload_id) == ("Images, 512x512", "sd-512-image-generation")


def test_columns_may_stand_in_any_order_with_others_between_and_a_byte_order_mark() -> None:
    other = (
        b"\xef\xbb\xbf" + content({}, columns=tuple(reversed(COLUMNS))).replace(b"\n", b",note\n", 1) + b",seen twice"
    )
    assert read_csv(other, "t.csv") == read_csv(content({}), "t.csv")


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ({"score": "28,923"}, "score '28,923' is no number above zero"),
        ({"score": "0"}, "score '0'"),
        ({"score": "-1"}, "score '-1'"),
        ({"score": "NaN"}, "score 'NaN'"),
        ({"score": "1e3"}, "score '1e3'"),
        ({"score": ""}, "score ''"),
        ({"gpu_name": " "}, "gpu_name is empty"),
        ({"chart": ""}, "chart is empty"),
        ({"unit": ""}, "unit is empty"),
        ({"workload_id": "SD 512"}, "workload_id 'SD 512'"),
        ({"article_url": "articles.test/one"}, "article_url 'articles.test/one' is no http or https address"),
        ({"image_url": "file:///chart.png"}, "image_url"),
        ({"image_sha256": "abc"}, "64 hexadecimal digits"),
        ({"published_on": "16.11.2023"}, "published_on '16.11.2023' is no date like 2023-11-16"),
        ({"transcribed_on": "2023-11-15"}, "before published_on"),
    ],
)
def test_a_bad_row_is_named_and_the_others_are_kept(row: dict[str, str], words: str, tmp_path: Path) -> None:
    data = content({}, row | {"gpu_name": row.get("gpu_name", "RTX 3060")}, {"gpu_name": "RTX 3050", "score": "4.931"})
    (chart,), (issue,) = read_csv(data, "t.csv")
    assert [name for name, _ in chart.figures] == ["RTX 4090", "RTX 3050"]
    assert issue.code == "transcription_row"
    assert issue.severity == "error"
    assert words in issue.message
    assert issue.message.startswith("t.csv, line 3: ")
    path = tmp_path / "t.csv"
    path.write_bytes(data)
    with pytest.raises(TranscriptionError, match=r"t\.csv, line 3: "):
        load([path])


def test_two_scores_for_one_card_are_a_conflict_and_neither_is_used() -> None:
    charts, (issue,) = read_csv(content({}, {"score": "29.0"}, {"gpu_name": "RTX 3060", "score": "7.239"}), "t.csv")
    assert [chart.figures for chart in charts] == [(("RTX 3060", Decimal("7.239")),)]
    assert issue.code == "transcription_conflict"
    assert "28.923" in issue.message
    assert "29.0" in issue.message


def test_the_same_row_twice_is_one_figure() -> None:
    assert len(one({}, {}).figures) == 1


@pytest.mark.parametrize("data", [b"", b"a,b\n1,2\n", b"\xff\xfe\x00"])
def test_what_is_no_transcription_says_what_one_has(data: bytes) -> None:
    with pytest.raises(TranscriptionError, match=r"t\.csv: (no column article_url|not UTF-8)"):
        read_csv(data, "t.csv")


def chart(image: str = IMAGE, article: str = ARTICLE) -> Chart:
    return Chart(article_url=article, image_url=image, caption="", position=0)


UNNOTED = {"image_sha256": ""}


@pytest.mark.parametrize(
    ("article", "hashes", "row", "first_hashes", "is_outdated"),
    [
        (ARTICLE, {IMAGE: OLD}, {}, {}, False),
        # Without a noted hash the first bytes seen are the baseline, and a noted one goes before them.
        (ARTICLE, {IMAGE: NEW}, UNNOTED, {}, False),
        (ARTICLE, {IMAGE: NEW}, UNNOTED, {IMAGE: NEW}, False),
        (ARTICLE, {IMAGE: NEW}, UNNOTED, {IMAGE: OLD}, True),
        (ARTICLE, {IMAGE: OLD}, {}, {IMAGE: NEW}, False),
        # What was not fetched or read is not judged; an article is the same under another query or slash.
        (ARTICLE, {}, {}, {}, False),
        ("https://articles.test/two", {IMAGE: NEW}, {}, {}, False),
        (f"{ARTICLE}/?utm=1#top", {IMAGE: NEW}, {}, {}, True),
    ],
)
def test_whether_a_chart_outdates_its_transcription(
    article: str, hashes: dict[str, str], row: dict[str, str], first_hashes: dict[str, str], is_outdated: bool
) -> None:
    found = match([chart(article=article)], hashes, [one(row)], first_hashes=first_hashes)
    assert [issue.code for issue in found] == ["transcription_outdated"] * is_outdated


def test_changed_bytes_outdate_a_transcription() -> None:
    (issue,) = match([chart()], {IMAGE: NEW}, [one({})])
    assert (issue.code, issue.severity, issue.url, issue.text) == ("transcription_outdated", "warning", ARTICLE, IMAGE)
    assert NEW in issue.message


def test_a_chart_that_went_outdates_its_transcription() -> None:
    (issue,) = match([chart("https://cdn.test/other.png")], {}, [one({})])
    assert issue.code == "transcription_outdated"
    assert "no longer in the article" in issue.message


def test_a_transcription_without_an_address_says_that_nobody_watches_it() -> None:
    (issue,) = match([chart()], {IMAGE: OLD}, [one({"image_url": "", "image_sha256": ""})])
    assert (issue.code, issue.severity) == ("transcription_unwatched", "info")


def test_the_bundled_transcriptions_hold_the_survey_s_figures(shared_data: Path) -> None:
    tables = {
        "sd-512-image-generation": ("table_1.csv", "it/s"),
        "sd-2048-image-resolution": ("table_2.csv", "it/s"),
        "llama-13b-int4-text-generation": ("table_3.csv", "tokens/s"),
    }
    charts = {found.workload_id: found for found in load(bundled())}
    assert charts.keys() == tables.keys()
    for workload, (name, unit) in tables.items():
        with (shared_data / "survey" / name).open(encoding="utf-8") as file:
            printed = [(row["gpu_as_printed"], Decimal(row["score"])) for row in csv.DictReader(file)]
        assert list(charts[workload].figures) == printed
        assert (charts[workload].unit, charts[workload].published_on) == (unit, date(2023, 11, 16))


def test_the_sample_s_transcriptions_are_the_bundled_ones_with_the_sample_s_charts() -> None:
    sample = load(sorted((SAMPLE / "transcriptions").glob("*.csv")))
    live = load(bundled())
    assert [(found.workload_id, found.chart, found.figures) for found in sample] == [
        (found.workload_id, found.chart, found.figures) for found in live
    ]
    assert all(found.image_url and found.image_sha256 for found in sample)
