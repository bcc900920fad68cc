"""The sample site is a real server: hosts, nights, validators, and nothing outside its own list of files."""

from __future__ import annotations

import http.client
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from gpuledger.extract.sample import server
from gpuledger.extract.sample.server import NIGHTS, SampleSite, clock, host, start_urls
from gpuledger.extract.source import Source, discover

FX = host("ecb_fx")
FX_PATH = "/stats/eurofxref/eurofxref-hist-90d.xml"


@pytest.fixture(scope="module")
def site() -> Iterator[SampleSite]:
    with SampleSite(1) as running:
        yield running


def ask(site: SampleSite, path: str, host: str = FX, **headers: str) -> tuple[int, dict[str, str], bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", site.port, timeout=10)
    try:
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.putrequest("GET", path, skip_host=True)
        for name, value in {"Host": host, **sent}.items():
            connection.putheader(name, value)
        connection.endheaders()
        response = connection.getresponse()
        return response.status, {k.lower(): v for k, v in response.getheaders()}, response.read()
    finally:
        connection.close()


def test_clock_is_three_in_the_morning_of_each_night() -> None:
    assert [clock(night) for night in NIGHTS] == [datetime(2023, 11, day, 3, tzinfo=UTC) for day in (16, 17, 18)]


@pytest.mark.parametrize("night", [0, 4, -1])
def test_an_unknown_night_names_the_known_ones(night: int) -> None:
    with pytest.raises(ValueError, match=rf"no night {night}; it has 1, 2, 3"):
        SampleSite(night)
    with pytest.raises(ValueError, match="1, 2, 3"):
        clock(night)


def test_every_start_page_of_every_sample_source_is_there_on_every_night() -> None:
    sources = [source for source in discover() if source.sample]
    assert sources
    for night in NIGHTS:
        with SampleSite(night) as running:
            for source in sources:
                assert host(source.name) in running.hosts
                for url, path in zip(start_urls(source), source.sample, strict=True):
                    assert url == f"http://{host(source.name)}{path}"
                    status, headers, body = ask(running, path, host(source.name))
                    assert (status, bool(body)) == (200, True), (night, url)
                    assert headers["content-type"] != "application/octet-stream", url


def test_a_source_without_a_sample_starts_nowhere() -> None:
    source = Source(name="x", title="x", homepage="x", parse=lambda page: [], kinds=())
    assert start_urls(source) == []


def test_connect_to_names_every_host(site: SampleSite) -> None:
    assert site.connect_to == dict.fromkeys(site.hosts, ("127.0.0.1", site.port))
    assert FX in site.hosts


def test_a_page_that_the_client_has_is_not_sent_again(site: SampleSite) -> None:
    _, headers, _ = ask(site, FX_PATH)
    assert ask(site, FX_PATH, If_None_Match=headers["etag"])[::2] == (304, b"")
    assert ask(site, FX_PATH, If_None_Match='"other"')[0] == 200


def test_robots_allow_all(site: SampleSite) -> None:
    status, headers, body = ask(site, "/robots.txt")
    assert status == 200
    assert headers["content-type"].startswith("text/plain")
    assert body == b"User-agent: *\nAllow: /\n"


def test_a_port_in_the_host_header_is_no_other_host(site: SampleSite) -> None:
    assert ask(site, FX_PATH, host=f"{FX}:{site.port}")[0] == 200


def test_an_unknown_host_is_refused(site: SampleSite) -> None:
    assert ask(site, "/", host="www.example.com")[0] == 421


@pytest.mark.parametrize(
    "path",
    [
        "/../server.py",
        "/..%2f..%2fserver.py",
        "/%2e%2e/%2e%2e/server.py",
        "//etc/passwd",
        "/../toms_gpu_hierarchy/reviews/gpu-hierarchy,4388.html",
        "/stats/../../../server.py",
        "/stats/eurofxref/",
        "/%00",
        "/..\\..\\server.py",
    ],
)
def test_nothing_outside_the_listed_files_is_served(site: SampleSite, path: str) -> None:
    assert ask(site, path)[0] == 404


def test_a_night_overlays_adds_and_removes_pages(tmp_path, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    for name, text in {
        "shop/sample/night1/index.html": "one",
        "shop/sample/night1/kept.html": "kept",
        "shop/sample/night1/old.html": "old",
        "shop/sample/night1/search@page=2.html": "page two",
        "shop/sample/night1/search.html": "page one",
        "shop/sample/night2/index.html": "two",
        "shop/sample/night2/new.html": "new",
        "shop/sample/night2/old.html.gone": "",
    }.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    monkeypatch.setattr(server, "_SITE", tmp_path)

    def read(night: int) -> dict[str, tuple[int, str]]:
        with SampleSite(night) as running:
            assert running.hosts == ("shop.sample.test",)
            paths = ("/", "/kept", "/old.html", "/new.html", "/search", "/search?page=2", "/search?page=9")
            answers = {path: ask(running, path, "shop.sample.test") for path in paths}
            return {path: (status, body.decode().strip()) for path, (status, _, body) in answers.items()}

    first, second, third = (read(night) for night in NIGHTS)
    assert first["/"] == (200, "one")
    assert first["/old.html"] == (200, "old")
    assert first["/new.html"][0] == 404
    assert first["/search?page=2"] == (200, "page two")
    assert first["/search"] == first["/search?page=9"] == (200, "page one")
    assert second == first | {"/": (200, "two"), "/old.html": second["/old.html"], "/new.html": (200, "new")}
    assert second["/old.html"][0] == 404
    assert third == second


def test_bytes_in_another_encoding_are_sent_without_a_charset(tmp_path, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    folder = tmp_path / "shop" / "sample" / "night1"
    folder.mkdir(parents=True)
    (folder / "index.html").write_bytes("그래픽카드".encode("euc-kr"))
    (folder / "plain.html").write_bytes("그래픽카드".encode())
    monkeypatch.setattr(server, "_SITE", tmp_path)
    with SampleSite(1) as running:
        assert ask(running, "/", "shop.sample.test")[1]["content-type"] == "text/html"
        assert ask(running, "/plain", "shop.sample.test")[1]["content-type"] == "text/html; charset=utf-8"
