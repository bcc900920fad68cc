"""No page takes a parser's time or memory beyond the limits, and the next page is read as if nothing had been."""

from __future__ import annotations

import os
import pickle
import signal
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest

from gpuledger.errors import ExtractError, LayoutChanged
from gpuledger.extract.collect import parse_page
from gpuledger.extract.markup import html, jsonld
from gpuledger.extract.price.amounts import json_number, to_decimal
from gpuledger.extract.price.money import read_price
from gpuledger.extract.price.no_price import is_writable
from gpuledger.extract.processes.parse_pool import Limits, ParsePool
from gpuledger.extract.source import Page, get
from gpuledger.items import Chart, Offer
from tests.support.memory import peak_mb
from tests.walls.bombs import BOMBS, MORE_BOMBS, random_bomb
from tests.walls.cases import failing
from tools import fuzz

GOOD = b"""<html><head><script type="application/ld+json">{"@type": "Product", "name": "GeForce RTX 4070 12GB",
 "offers": {"price": "599.99", "priceCurrency": "USD"}}</script></head><body>x</body></html>"""
#: What a process may take beyond the limit, in MB: the interpreter with its libraries. With the limit, what is promised.
OWN_MB = 100


def page(content: bytes) -> Page:
    url = "https://shop.example/p"
    headers = {"content-type": "text/html; charset=utf-8"}
    return Page(url=url, final_url=url, content=content, sha256="0" * 64, fetched_at=datetime.now(UTC), headers=headers)


@pytest.fixture(scope="module")
def pool() -> Iterator[ParsePool]:
    with ParsePool(Limits(seconds=2.0, memory_bytes=200_000_000, processes=1)) as one:
        yield one


def process(pool: ParsePool) -> int | None:
    """The process that waits for the next page."""
    waiting = pool._idle.queue[-1]
    return None if waiting is None else waiting._process.pid


def read_a_good_one(pool: ParsePool) -> None:
    (offer,) = [item for item in pool.parse(get("generic_shop"), page(GOOD)) if isinstance(item, Offer)]
    assert (offer.title, offer.price) == ("GeForce RTX 4070 12GB", Decimal("599.99"))


def survives(pool: ParsePool, source: str, content: bytes) -> None:
    """The page gives its rows, or fails with a reason and a way out; processor time and memory are the process's own."""
    with suppress(ExtractError):
        pool.parse(get(source), page(content))
    unharmed(pool)


def unharmed(pool: ParsePool) -> None:
    pid = process(pool)
    if pid is not None:
        assert peak_mb(pid) <= 200 + OWN_MB
    read_a_good_one(pool)


#: What is known is refused before the expensive step: the process need not be ended.
KNOWN = {
    "20,000 attributes", "40,000 attributes", "40,000 attributes in a soup", "70 KB of spans", "spans of 65,534",
    "a cell of 60 MB", "ten cells of 6 MB", "10 KB of nested XML", "nested rates", "attributes behind a quoted >",
    "attributes apart by slashes",
}  # fmt: skip


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb(pool: ParsePool, name: str) -> None:
    source, make = BOMBS[name]
    if name not in KNOWN:
        survives(pool, source, make())
        return
    read_a_good_one(pool)
    pid = process(pool)
    with pytest.raises(ExtractError) as caught:
        pool.parse(get(source), page(make()))
    assert "processor time" not in caught.value.seen
    assert "of memory" not in caught.value.seen
    assert process(pool) == pid, "the process was not needed to be ended"
    unharmed(pool)


@pytest.mark.parametrize(
    "seed", [pytest.param(seed, marks=[pytest.mark.slow_combination] * (seed >= 6)) for seed in range(50)]
)
def test_a_bomb_that_nobody_thought_of(pool: ParsePool, seed: int) -> None:
    source, make = random_bomb(1000 + seed)
    survives(pool, source, make())


@pytest.mark.parametrize(
    ("limits", "seen"),
    [
        (Limits(seconds=0.5, memory_bytes=4_000_000_000, processes=1), "more than 0.5 s of processor time"),
        (Limits(seconds=60.0, memory_bytes=200_000_000, processes=1), "more than 200 MB of memory"),
    ],
)
def test_a_page_without_end_is_named_with_its_limit_and_the_setting(limits: Limits, seen: str) -> None:
    with ParsePool(limits) as pool:
        with pytest.raises(LayoutChanged, match=f"{seen} .* page_timeout_s") as given_up:
            pool.parse(get("quotes"), page(BOMBS["rows of a sheet without end"][1]()))
        assert not given_up.value.is_by_content, "on another night there may be time and memory for it"
        read_a_good_one(pool)


def test_a_page_without_bounds_is_named_with_its_limit_and_the_setting() -> None:
    with (
        ParsePool(Limits(seconds=20.0, memory_bytes=30_000_000, processes=1)) as small,
        pytest.raises(LayoutChanged, match=r"memory.*page_memory_mb"),
    ):
        small.parse(get("toms_gpu_hierarchy"), page(b"<table>" + b"<tr><td>1<td>2" * 200_000))


def test_a_process_that_dies_takes_one_page_with_it(pool: ParsePool) -> None:
    read_a_good_one(pool)
    pid = process(pool)
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    with pytest.raises(LayoutChanged, match="ended with status -9") as given_up:
        pool.parse(get("generic_shop"), page(GOOD))
    assert not given_up.value.is_by_content
    read_a_good_one(pool)


def test_a_refusal_comes_out_of_the_process_as_the_parser_gave_it(pool: ParsePool) -> None:
    with pytest.raises(LayoutChanged) as refused:
        pool.parse(get("newegg"), page(b"<html><body><p>Nothing that is known here</p></body></html>"))
    assert refused.value.is_by_content
    failed = LayoutChanged("u", "a bug", is_by_content=False)
    assert not pickle.loads(pickle.dumps(failed)).is_by_content


def test_microdata_that_refers_on_and_on_is_refused_and_the_next_page_is_read(pool: ParsePool) -> None:
    """Each part names the next one by `itemref`, 400 deep: no stack may end, and no process may wait without end."""
    scope = b"<div itemscope itemtype='https://schema.org/Product' itemprop=offers "
    chain = b"".join(b"<section id=r%d>%sitemref=r%d></div></section>" % (n, scope, n + 1) for n in range(400))
    microdata = b"""<div itemscope itemtype="https://schema.org/Product"><h1 itemprop=name>GeForce RTX 4070 12GB</h1>
      <p itemprop=offers itemscope itemtype="https://schema.org/Offer"><meta itemprop=price content=599.99>
      <meta itemprop=priceCurrency content=USD>$599.99</p></div>"""
    for levels in range(5):
        with pytest.raises(LayoutChanged, match="no product"):
            pool.parse(get("generic_shop"), page((scope + b">") * levels + scope + b"itemref=r0></div>" + chain))
        (offer,) = [item for item in pool.parse(get("generic_shop"), page(microdata)) if isinstance(item, Offer)]
        assert offer.price == Decimal("599.99")


#: JSON that is nested more deeply than Python follows: what stands beside it on a page is read.
DEEP = '{"price": ' + "[" * 100_000


def test_structured_data_hide_no_price_beside_them() -> None:
    good = '{"@type": "Product", "name": "GeForce RTX 4070", "offers": {"price": "599.99", "priceCurrency": "USD"}}'
    text = f"<script type='application/ld+json'>{DEEP}</script><script type='application/ld+json'>{good}</script>"
    (offer,) = [one for one in parse_page(get("generic_shop"), page(text.encode())) if isinstance(one, Offer)]
    assert str(offer.price) == "599.99"
    assert jsonld.loads(DEEP) is None


def test_a_gallery_hides_no_picture_beside_it() -> None:
    gallery = 'var data = {"galleryData": [{"image": {"src": "https://x.test/b.png"}}]}'
    text = f'<div id="article-body"><img src="/a.png"><script>var no = {DEEP}; {gallery}</script></div>'
    found = [one for one in parse_page(get("toms_ai_articles"), page(text.encode())) if isinstance(one, Chart)]
    assert [one.image_url for one in found] == ["https://shop.example/a.png", "https://x.test/b.png"]


def test_the_processes_are_used_again_and_none_is_left(pool: ParsePool) -> None:
    with ParsePool(Limits(processes=2)) as other:
        assert process(other) is None, "none is started before it is needed"
        read_a_good_one(other)
        pid = process(other)
        read_a_good_one(other)
        assert process(other) == pid
        assert pid is not None
    assert not Path(f"/proc/{pid}").exists()


def test_they_know_no_secret(pool: ParsePool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GPULEDGER_NOTIFY_URLS", "mailto://user:hunter2@example.test")
    with ParsePool(Limits(processes=1)) as other:
        read_a_good_one(other)
        assert b"hunter2" not in Path(f"/proc/{process(other)}/environ").read_bytes()


@pytest.mark.parametrize("text", [
    "1e999999999", "1e-999999999", "-1e999999", "9" * 5000, "0." + "0" * 5000 + "1", "1" + "0" * 41, "1E+41", "nan", "inf",
    "", "x",
])  # fmt: skip
def test_a_number_without_end_is_none(text: str) -> None:
    assert json_number(text) is None
    assert to_decimal(text) is None
    if text and text not in ("x",):
        assert not is_writable(Decimal(text)) or len(text) > 40
        assert to_decimal(Decimal(text)) is None or len(text) > 15


@pytest.mark.parametrize("text", ["0", "0.5", "1599.00", "123456789.123456", "0.0000012", "1e3", "-5"])
def test_a_number_as_feeds_have_it_is_exact(text: str) -> None:
    assert json_number(text) == Decimal(text)


@pytest.mark.parametrize("tag", [
    "<div data-props='" + "a b c " * 40_000 + "'>x</div>", '<div class="' + "x " * 90_000 + '">x</div>',
    "<div " + " ".join(f"data-{n}='{n} {n}'" for n in range(1_500)) + ">x</div>",
    "<script>" + "var a = 1; " * 90_000 + "</script>", "<style>" + ".a { b: c } " * 90_000 + "</style>",
    "<!-- " + "a b " * 90_000 + "-->", "<p>" + "words and words " * 90_000 + "</p>",
    "<img src='data:" + "A" * 900_000 + "'>",
    "<div style=\"font: '" + "a b " * 50_000 + "'\">x</div>",
])  # fmt: skip
def test_a_long_tag_of_few_attributes_is_a_page(tag: str) -> None:
    html.refuse_attributes(f"<html><body>{tag}</body></html>".encode())


CORPUS = Path(__file__).parent / "corpus"


@pytest.mark.parametrize("path", sorted(CORPUS.glob("*/*")), ids=lambda path: f"{path.parent.name}-{path.name}")
def test_what_the_fuzzer_is_given_and_found(pool: ParsePool, path: Path) -> None:
    if path.parent.name == "price":
        read_price(path.read_bytes().decode("utf-8", "replace"), country="DE")
        return
    survives(pool, fuzz.source_of(path.parent.name, path.read_bytes()), path.read_bytes()[1:])


def test_a_larger_page_and_a_file_of_many_pages_may_take_longer() -> None:
    small, large = (
        Page(url="u", final_url="u", content=bytes(size), sha256="", fetched_at=datetime.now(UTC), headers={})
        for size in (1_000, 3_000_000)
    )
    limits = Limits(seconds=2.0)
    assert limits.seconds_of(get("newegg"), small) == 2.0
    assert limits.seconds_of(get("newegg"), large) == 6.0
    # Every rate since 1999 in half a megabyte: a backfill on a busy machine would have had none.
    assert limits.seconds_of(get("ecb_fx_history"), small) == 40.0


def processor_s(pid: int | None) -> float:
    """Seconds of processor time that a process has used."""
    if pid is None:
        return 0.0
    words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def test_bombs_thought_of_after_the_code_was_done(pool: ParsePool) -> None:
    """Each is read or refused within the limits, by the same process: none has to be ended but for its stack."""

    def harmless(source: str, content: bytes) -> None:
        read_a_good_one(pool)
        pid = process(pool)
        assert pid is not None
        before = processor_s(pid)
        try:
            pool.parse(get(source), page(content))
        except ExtractError as error:
            if "RecursionError" in error.seen:
                return
        assert process(pool) == pid, "it had to be ended"
        assert processor_s(pid) - before < 2.0
        assert peak_mb(pid) <= 200 + OWN_MB

    assert (
        failing({name: lambda s=source, m=make: harmless(s, m()) for name, (source, make) in MORE_BOMBS.items()}) == {}
    )  # type: ignore[misc]
    read_a_good_one(pool)
