"""Articles whose figures are pictures: which pictures are found, and that no figure is read."""

from __future__ import annotations

import hashlib
from urllib.parse import urlsplit

import pytest

from gpuledger.extract import source
from gpuledger.extract.errors import LayoutChanged
from gpuledger.extract.items import Chart, Link, Parsed, Score
from gpuledger.extract.readers.transcriptions import COLUMNS, match, read_csv
from gpuledger.extract.sample.server import SampleSite, start_urls
from gpuledger.extract.sources.toms_ai_articles.pages import parse
from tests.extract.pages import page
from tests.extract.test_sample_server import ask

URL = "https://www.tomshardware.com/news/running-your-own-chatbot-on-a-single-gpu"


def read(body: str) -> list[Parsed]:
    return list(parse(page(f'<div id="article-body">{body}</div>', URL)))


def images(body: str) -> list[str]:
    return [item.image_url for item in read(body) if isinstance(item, Chart)]


@pytest.mark.parametrize(
    ("markup", "address"),
    [
        ('<img src="/a.png">', "https://www.tomshardware.com/a.png"),
        ('<img src="missing-image.svg" data-original-mos="https://c.test/a.png">', "https://c.test/a.png"),
        ('<img src="https://x.test/media/img/missing-image.svg" data-src="/a.png">', "https://www.tomshardware.com/a.png"),
        ('<img data-srcset="/a-320.png 320w, /a-1200.png 1200w, /a-650.png 650w">', "https://www.tomshardware.com/a-1200.png"),
        ('<img srcset="/a.png 1x, /b.png 2x" src="/a.png">', "https://www.tomshardware.com/b.png"),
        ('<img srcset="/a,b.png">', "https://www.tomshardware.com/a,b.png"),
        ('<picture><source data-srcset="/a.webp 900w"><img src="data:image/gif;base64,R0"></picture>', "https://www.tomshardware.com/a.webp"),
    ],
)  # fmt: skip
def test_the_address_of_a_lazy_image(markup: str, address: str) -> None:
    assert images(markup) == [address]
    assert Link(url=address, role="image") in read(markup)


def test_the_caption_is_the_alternative_text_or_the_figure_s() -> None:
    with_words = '<figure><img src="/a.png" alt="Tokens"><figcaption>A</figcaption></figure>'
    found = read(with_words + '<figure><img src="/b.png"><figcaption>B</figcaption></figure>')
    assert [item.caption for item in found if isinstance(item, Chart)] == ["Tokens", "B"]


@pytest.mark.parametrize(
    "outside",
    [
        '<aside><img src="/x.png"></aside>',
        '<div data-widget-type="deal"><img src="/x.png"></div>',
        '<div class="hawk-wrapper"><img src="/x.png"></div>',
        '<div class="author__box"><img src="/x.png"></div>',
        '<section class="related-articles"><img src="/x.png"></section>',
        '<img src="/media/img/missing-image.svg">',
        '<img src="">',
        "<img>",
    ],
)
def test_pictures_that_are_no_charts_of_the_article(outside: str) -> None:
    assert images(f'{outside}<img src="/a.png">') == ["https://www.tomshardware.com/a.png"]


def test_a_picture_shown_twice_is_one_chart() -> None:
    assert images('<img src="/a.png"><img src="/b.png"><img src="/a.png">') == [
        "https://www.tomshardware.com/a.png",
        "https://www.tomshardware.com/b.png",
    ]


@pytest.mark.parametrize(
    "script",
    [
        '{"galleryData": [',
        '{"galleryData": 5}',
        "galleryData",
        '{"galleryData": [1, {"image": 2}, {"image": {"src": 3}}]}',
    ],
)
def test_a_gallery_that_cannot_be_read_does_no_harm(script: str) -> None:
    assert images(f'<img src="/a.png"><script>var data = {script};</script>') == ["https://www.tomshardware.com/a.png"]


def test_no_price_and_no_figure_is_read_from_an_article() -> None:
    found = read(
        '<img src="/a.png"><table><tr><th>Graphics Card<th>Price<tr><td>RTX 4090<td>$1,599</table><p>28.9 it/s, $999'
    )
    assert {type(item) for item in found} == {Chart, Link}


def test_an_article_without_pictures_has_changed() -> None:
    with pytest.raises(LayoutChanged, match="no picture in the text"):
        read("<p>Soon</p>")
    with pytest.raises(LayoutChanged):
        list(parse(page('<div class="new"><img src="/a.png"></div>', URL)))


def test_an_image_is_archived_and_not_parsed() -> None:
    assert list(parse(page(b"\x89PNG\r\n", "https://c.test/a.png", "image/png"))) == []


def test_a_transcription_of_the_program_s_own_is_parsed_like_a_page() -> None:
    row = "https://a.test/,C,,,2023-11-16,2023-11-16,w,fps,RTX 3060,7.2"
    text = f"{','.join(COLUMNS)}\n{row}\n"
    for url, kind in (
        ("file:mine.csv", "text/csv; charset=utf-8"),
        ("https://a.test/mine.csv", "application/octet-stream"),
    ):
        (found,) = parse(page(text, url, kind))
        assert isinstance(found, Score)
        assert (found.gpu_name, found.workload_id) == ("RTX 3060", "w")


def test_the_sample_s_charts_are_those_that_were_transcribed() -> None:
    charts: list[Chart] = []
    hashes: dict[str, str] = {}
    transcriptions = []
    with SampleSite(1) as site:

        def get(url: str) -> tuple[bytes, str]:
            parts = urlsplit(url)
            status, headers, content = ask(site, parts.path, parts.netloc)
            assert status == 200, url
            return content, headers["content-type"]

        for url in start_urls(source.get("toms_ai_articles")):
            content, kind = get(url)
            if kind.startswith("text/csv"):
                transcriptions += read_csv(content, url)[0]
                continue
            for item in parse(page(content, url, kind)):
                if isinstance(item, Chart):
                    charts.append(item)
                elif isinstance(item, Link):
                    hashes[item.url] = hashlib.sha256(get(item.url)[0]).hexdigest()
    assert len(charts) == len(hashes) == len(transcriptions) == 3
    assert match(charts, hashes, transcriptions) == []
    changed = dict.fromkeys(hashes, "0" * 64)
    assert [issue.code for issue in match(charts, changed, transcriptions)] == ["transcription_outdated"] * 3
    assert [issue.code for issue in match(charts[:1], hashes, transcriptions)] == ["transcription_outdated"]
