"""Whatever a server does to a source, the source fails with the right class: never with zero rows and no failure."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest

from gpuledger import errors
from gpuledger.extract import source
from gpuledger.extract.archive.parsed_cache import ParsedCache
from gpuledger.extract.archive.snapshots import Archive
from gpuledger.extract.collect import Collected, Reading, collect, parse_page
from gpuledger.extract.fetch.http import Client, HttpSettings, Machine
from gpuledger.extract.markup import charset
from gpuledger.extract.pages import Fetching
from gpuledger.extract.source import Page
from gpuledger.items import Aside, CloudOffer, Issue, Parsed
from tests.extract import faulty_server as faults
from tests.extract.fake_time import FakeTime
from tests.extract.faulty_server import FaultyServer, Route, page, redirect, status
from tests.extract.test_http_faults import wall

NOW = datetime(2026, 3, 1, 3, 0, tzinfo=UTC)
SOURCES = source.folder("")
# A page of another site altogether: nothing that any source looks for, and enough words to be no wall.
ELSEWHERE = f"<html><title>Our story</title><body><h1>Our story</h1><p>{'We like birds. ' * 200}</p></body></html>"

#: What the client finds, before a source sees anything: one of each way to fail. It has one client, and all of them are in
#: test_http_faults.py.
OF_THE_CLIENT: dict[str, tuple[Route, type[errors.ExtractError]]] = {
    "404": (status(404), errors.NotFound),
    "429 for long": (status(429, {"Retry-After": "86400"}), errors.RateLimited),
    "reset": (faults.reset, errors.ConnectionFailed),
    "truncated gzip": (faults.truncated_gzip, errors.Truncated),
    "redirect inside": (redirect("http://127.0.0.1/start"), errors.ForbiddenAddress),
}
OF_THE_PAGE: dict[str, tuple[Route, type[errors.ExtractError]]] = {
    "empty": (page(b""), errors.EmptyBody),
    "consent": (wall("Before you continue", "We use cookies. Accept all?"), errors.Blocked),
    "captcha": (wall("Are you a human?", "Enter the characters you see"), errors.Blocked),
    "challenge": (wall("Just a moment...", "Checking your browser"), errors.Blocked),
    "soft 404": (wall("Page not found", "Try our search."), errors.Blocked),
    "another page": (page(ELSEWHERE.encode()), errors.LayoutChanged),
}


def read(name: str, route: Route, folder: Path, **others: Route) -> tuple[Collected, FaultyServer]:
    """What the source gives when its start address is answered by `route`, and `others` by their names."""
    time, host = FakeTime(), "source.faulty.test"
    with FaultyServer({"/start": route, **{f"/{name}/vms.csv": other for name, other in others.items()}}) as server:
        settings = HttpSettings(connect_to={host: ("127.0.0.1", server.port)}, deadline_s=5.0)
        with Client(settings, Machine(clock=time.clock, sleep=time.sleep, now=lambda: NOW)) as client:
            addresses = [f"http://{host}/start", *(f"http://{host}/{name}/vms.csv" for name in others)]
            reading = Reading(source.get(name), addresses)
            pages = Fetching(client, Archive(folder / "s"), NOW, "run")
            result = collect(reading, pages, ParsedCache(folder / "p"))
    return result, server


#: A shop's pages, an interface in JSON and a file: they go on from the client's answer in ways of their own.
ONE_OF_A_KIND = ("newegg", "openrouter", "ecb_fx")


@pytest.mark.parametrize("name", source.names())
def test_each_fault_fails_each_source_in_its_own_way(name: str, tmp_path: Path) -> None:
    wrong = {}
    for fault, (route, expected) in (OF_THE_PAGE | (OF_THE_CLIENT if name in ONE_OF_A_KIND else {})).items():
        result, server = read(name, route, tmp_path / fault)
        seen = (type(result.failure), len(result.rows), len(server.paths()) <= 3)
        if seen != (expected, 0, True):
            wrong[fault] = seen
    assert wrong == {}


@pytest.mark.parametrize(
    ("name", "body", "kind"),
    [
        ("openrouter", '{"data": [], "links": {"next": null}}', "application/json"),
        (
            "gpuhunt_catalog",
            "instance_name,location,price,cpu,memory,gpu_count,gpu_name,gpu_memory,spot,disk_size",
            "text/csv",
        ),
        ("danawa_daily", "Id,Name,2023-07-01 00:00:00", "text/csv"),
        ("toms_ai_articles", "article_url,image_url,image_date,gpu,value,unit,workload_id,transcribed_on", "text/csv"),
    ],
)
def test_a_right_answer_without_a_row_is_no_success(name: str, body: str, kind: str, tmp_path: Path) -> None:
    result, _ = read(name, page(body.encode(), {"Content-Type": kind}), tmp_path)
    assert (result.rows, result.is_complete) == ([], False)
    assert isinstance(result.failure, errors.LayoutChanged)


def renamed(html: str) -> str:
    """The same words in the same order, with every name for a selector to hold on to changed and no data for machines."""
    html = re.sub(r"<script\b.*?</script>", "", html, flags=re.DOTALL | re.IGNORECASE)
    html = re.sub(r"""\s(class|id|data-[\w-]+|item\w+|property)=("[^"]*"|'[^']*'|[^\s>]+)""", ' class="x1"', html)
    return re.sub(r"(</?)(li|article|section|h[1-6]|strong|sup|ul|ol|table|tr|td|th)\b", r"\1div", html)


def html_fixtures() -> list[tuple[str, str]]:
    return sorted(
        (file.parents[1].name, file.stem)
        for file in SOURCES.glob("*/cases/*.html")
        # Without its stale data for machines a page of the case `disagreement` has one price, and that is right.
        if file.parents[1].name in source.names() and file.stem != "disagreement"
    )


@pytest.mark.parametrize(("name", "case"), html_fixtures())
def test_a_renamed_layout_is_noticed(name: str, case: str, fixture_page: Callable[[str, str], Page]) -> None:
    chosen, good = source.get(name), fixture_page(name, case)
    try:
        before = rows(parse_page(chosen, good))
    except errors.ExtractError:
        return  # the fixture is of a page that must fail anyway
    if not before:
        return
    changed = dataclasses.replace(good, content=renamed(charset.decode(good.content)).encode())
    try:
        parsed = parse_page(chosen, changed)
    except errors.LayoutChanged:
        return
    # What is still read must be right, and to read nothing must be said.
    after = rows(parsed)
    assert after or any(isinstance(item, Issue) for item in parsed)
    prices = {getattr(row, "price", None) for row in before} | {None}
    assert {getattr(row, "price", None) for row in after} <= prices


def machine_fixtures() -> list[tuple[str, str]]:
    return sorted(
        (file.parents[1].name, file.stem)
        for file in SOURCES.glob("*/cases/*.*")
        if file.parents[1].name in source.names() and file.suffix in (".csv", ".xml")
    ) + [
        (file.parents[1].name, file.name.removesuffix(".page.json"))
        for file in sorted(SOURCES.glob("*/cases/*.page.json"))
    ]


@pytest.mark.parametrize(("name", "case"), machine_fixtures())
def test_renamed_fields_are_noticed(name: str, case: str, fixture_page: Callable[[str, str], Page]) -> None:
    good = fixture_page(name, case)
    text = good.content.decode()
    if text.lstrip().startswith(("{", "[")):
        text = re.sub(r'"([\w ]+)"(\s*:)', r'"x\1"\2', text)
    elif text.lstrip().startswith("<"):
        text = re.sub(r"(</?)([\w:]+)", r"\1x\2", text)
    else:
        text = re.sub(r"[^\W\d_]+", "x", text)
    changed = dataclasses.replace(good, content=text.encode())
    assert changed.content != good.content
    try:
        parsed = parse_page(source.get(name), changed)
    except errors.ExtractError:
        return
    assert rows(parsed) == []
    assert any(isinstance(item, Issue) for item in parsed)


def test_a_broken_catalogue_takes_no_other_along(tmp_path: Path) -> None:
    good = (source.folder("skypilot_catalog") / "cases" / "vms.csv").read_bytes()
    csv = {"Content-Type": "text/csv"}
    collected, _ = read(
        "skypilot_catalog", status(500), tmp_path, lium=page(good, csv), vast=page(b"a,b\n1,2\n", csv),
        yotta=page(re.sub(rb",[\d.]+,(austin|US|FI)", rb",90000,\\1", good), csv),
    )  # fmt: skip
    assert collected.failure is None
    found = [item for item, _ in collected.rows if isinstance(item, CloudOffer)]
    assert [(item.provider, item.price) for item in found if item.pricing_model == "on_demand"] == [
        ("lium", Decimal("31.92")), ("lium", Decimal("0.4")),
    ]  # fmt: skip
    assert not collected.is_complete, "what the others had has not ended"
    codes = {issue.code for issue, _ in collected.issues}
    assert {"ServerError", "LayoutChanged", "unreadable_row"} <= codes


def rows(parsed: Sequence[Parsed]) -> list[Parsed]:
    return [item for item in parsed if not isinstance(item, Aside)]
