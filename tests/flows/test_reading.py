"""The reading commands answer in a table for people, and in CSV and JSON for programs, from the file alone."""

from __future__ import annotations

import csv
import gzip
import io
import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pytest
from openpyxl import load_workbook

from gpuledger.extract.archive.snapshots import Archive
from gpuledger.extract.sample.server import host
from gpuledger.warehouse.outputs.tables import MARKED
from tests.command import arguments, environment, gpuledger, rows, succeeds, tables

SD = "sd-512-image-generation"


def as_json(*words: object, data: Path | None = None) -> list[dict[str, Any]]:
    outcome = succeeds(*words, "--format", "json", data=data)
    found = json.loads(outcome.out)
    assert isinstance(found, list)
    return found


def as_csv(*words: object, data: Path | None = None) -> list[dict[str, str]]:
    outcome = succeeds(*words, "--format", "csv", data=data)
    return list(csv.DictReader(io.StringIO(outcome.out, newline="")))


def test_rank_gives_the_rows_of_the_mart_in_their_order(data: Path) -> None:
    expected = rows(
        data, f"SELECT rank, gpu_id, score FROM mart.ranking WHERE workload_id = '{SD}' ORDER BY rank, gpu_id"
    )
    assert [(row["rank"], row["gpu_id"], row["score"]) for row in as_json("rank", SD, data=data)] == [
        (rank, gpu, float(score)) for rank, gpu, score in expected
    ]
    assert [(row["rank"], row["gpu_id"], Decimal(row["score"])) for row in as_csv("rank", SD, data=data)] == [
        (str(rank), gpu, score) for rank, gpu, score in expected
    ]
    assert len(expected) == 13


@pytest.mark.parametrize(("basis", "words"), [("street", ()), ("msrp", ("--price", "msrp"))])
def test_value_gives_the_rows_of_the_mart_on_the_basis_asked_for(
    data: Path, basis: str, words: tuple[str, ...]
) -> None:
    expected = rows(
        data,
        f"""SELECT value_rank, gpu_id, price_usd FROM mart.value WHERE workload_id = '{SD}' AND price_basis = '{basis}'
            ORDER BY value_rank, gpu_id""",
    )
    found = as_json("value", SD, *words, data=data)
    assert [(row["value_rank"], row["gpu_id"], Decimal(str(row["price_usd"]))) for row in found] == expected
    assert {row["price_basis"] for row in found} == {basis}
    assert expected


def test_the_table_for_people_says_what_it_is_of_and_as_of_when(data: Path) -> None:
    answer = gpuledger("value", SD, data=data)
    assert "2023-11-17 03:00 UTC" in answer.err, "a price without its age helps nobody"
    told = answer.out
    assert "NVIDIA GeForce RTX 4070 Ti" in told
    for line in told.splitlines():
        if "RTX 4070 Ti" in line:
            assert "Newegg" in line, "and the shop that asks it"


def test_sql_in_all_three_forms(data: Path) -> None:
    query = (
        "SELECT 1 AS a, 2.50::DECIMAL(9,2) AS b, 'x,y' AS c, NULL AS d, DATE '2023-11-16' AS e, true AS f ORDER BY ALL"
    )
    assert as_json("sql", query, data=data) == [{"a": 1, "b": 2.5, "c": "x,y", "d": None, "e": "2023-11-16", "f": True}]
    assert gpuledger("sql", query, "--format", "csv", data=data).out == 'a,b,c,d,e,f\n1,2.5,"x,y",,2023-11-16,true\n'
    assert "2023-11-16" in gpuledger("sql", query, data=data).out
    assert as_json("sql", "SELECT 1 AS a WHERE false", data=data) == []
    assert "no rows" in gpuledger("sql", "SELECT 1 AS a WHERE false", data=data).err


def test_korean_titles_reach_a_pipe_unharmed(data: Path) -> None:
    query = "SELECT title FROM core.listing WHERE source = 'danawa' ORDER BY 1"
    expected = [title for (title,) in rows(data, query)]
    assert any("지포스" in title for title in expected)
    assert [row["title"] for row in as_json("sql", query, data=data)] == expected
    assert [row["title"] for row in as_csv("sql", query, data=data)] == expected


def test_a_reader_changes_nothing(data: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in data.rglob("*")}
    for words in (("rank", SD), ("value", SD), ("sql", "SELECT 1"), ("status",), ("describe",)):
        assert gpuledger(*words, data=data).status in (0, 3)
    assert {path: path.stat().st_mtime_ns for path in data.rglob("*")} == before


def test_a_pipe_that_closes_early_is_no_traceback(data: Path) -> None:
    command = f"{sys.executable} -m gpuledger sql 'SELECT * FROM core.gpu' --format csv --data-dir {data} | head -1"
    done = subprocess.run(
        ["bash", "-c", command], cwd=Path(__file__).parents[2], capture_output=True, text=True, check=False
    )
    assert done.stdout.startswith("gpu_id,")
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-"])
def test_who_closes_what_is_printed_gets_the_exit_status_alone(data: Path, closed: str) -> None:
    command = f"{sys.executable} -m gpuledger rank sd-512-image-generation --data-dir {data} {closed}"
    done = subprocess.run(["sh", "-c", command], env=environment(), check=False, capture_output=True, text=True)
    assert done.returncode == 0
    assert "Traceback" not in done.stderr


# ── files ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_workbook_has_a_sheet_a_table_with_numbers_as_numbers(
    data: Path, workbook_of: Callable[[str, str], Path]
) -> None:
    book = load_workbook(workbook_of("us", "USD"), read_only=True)
    assert {name.removeprefix("mart.") for name in tables(data, "mart")} - set(book.sheetnames) == {"price_daily"}
    header, *lines = book["value"].iter_rows(values_only=True)
    assert len(lines) == len(tables(data, "mart")["mart.value"])
    first = dict(zip(header, lines[0], strict=True))
    assert isinstance(first["price_usd"], int | float)
    assert isinstance(first["gpu_id"], str)
    for sheet in book.worksheets:
        for line in sheet.iter_rows(values_only=True):
            assert not [cell for cell in line if isinstance(cell, str) and cell.startswith(("=", "+", "-", "@"))]


def test_parquet_has_the_warehouses_types_and_rows(data: Path, tmp_path: Path) -> None:
    succeeds("export", tmp_path, "--format", "parquet", data=data)
    with duckdb.connect() as con:
        con.execute("SET TimeZone = 'UTC'")
        for name, held in tables(data, "mart").items():
            without_mark = "SELECT * EXCLUDE (price_mark) " if name in MARKED else ""
            found = con.execute(
                f"{without_mark}FROM read_parquet('{tmp_path / name.removeprefix('mart.')}.parquet') ORDER BY ALL"
            ).fetchall()
            assert found == held, name


# ── one saved page, one title ─────────────────────────────────────────────────────────────────────────────────────────


def test_a_saved_page_gives_what_the_night_loaded(data: Path, tmp_path: Path) -> None:
    archive = Archive(data / "snapshots")
    snapshot = next(s for s in archive.history("newegg") if s.url.startswith(f"http://{host('newegg')}/"))
    page = archive.content_of(snapshot.sha256)
    (tmp_path / "page.html").write_bytes(page)
    (tmp_path / "page.html.gz").write_bytes(gzip.compress(page))
    told = [
        gpuledger("parse", "newegg", tmp_path / name, "--url", snapshot.url, "--fetched-at", "2023-11-16T03:00:00Z")
        for name in ("page.html", "page.html.gz")
    ]
    assert told[0].status == told[1].status == 0
    assert told[0].out == told[1].out
    items = [json.loads(line) for line in told[0].out.splitlines()]
    assert items
    assert {item["kind"] for item in items} == {"offer"}
    loaded = dict(
        rows(
            data,
            f"""SELECT listing_key, price FROM core.listing JOIN core.price_history USING (listing_id, source)
                WHERE source = 'newegg' AND core.price_history.snapshot_sha256 = '{snapshot.sha256}'""",
        )
    )
    assert loaded
    by_key = {item["key"]: item["price"] for item in items}
    for key, price in loaded.items():
        assert (None if by_key[key] is None else Decimal(by_key[key])) == price


def test_a_page_by_hand_has_the_limits_of_a_night(tmp_path: Path) -> None:
    """A wide table took the command seconds, and nothing ended it."""
    row = f"<tr>{'<td>1</td>' * 300}</tr>"
    (tmp_path / "page.html").write_text(f"<table>{row * 300}</table>")
    words = ("parse", "toms_gpu_hierarchy", tmp_path / "page.html")
    outcome = gpuledger(*words, env={"GPULEDGER_PAGE_TIMEOUT_S": "0.02"})
    assert outcome.status == 1
    assert "parsing it took more than" in outcome.err
    assert "raise page_timeout_s or page_memory_mb in the settings" in outcome.err
    assert outcome.out == ""


def test_a_page_that_is_none_of_its_source_is_said_to_be(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text(
        f"<html><title>Our story</title><body><h1>Our story</h1><p>{'We like birds. ' * 200}</p></body></html>"
    )
    outcome = gpuledger("parse", "newegg", page, "--url", "http://newegg.sample.test/x")
    assert (outcome.status, outcome.out, outcome.err[:11]) == (1, "", "gpuledger: "), outcome.err


def test_titles_come_from_arguments_and_from_a_pipe() -> None:
    titles = ["ASUS TUF Gaming GeForce RTX 4090 OC 24GB", "A wooden spoon"]
    told = succeeds("resolve", *titles)
    found = [json.loads(line) for line in told.out.splitlines()]
    assert [row["title"] for row in found] == titles
    assert found[0]["gpu_id"] == "nvidia-geforce-rtx-4090"
    assert found[0]["status"] == "matched"
    assert found[1]["gpu_id"] is None
    assert all({"title", "status", "gpu_id", "gpu", "candidates"} <= row.keys() for row in found)
    assert gpuledger("resolve").status == 2
    piped = subprocess.run(
        arguments("resolve", "-"),
        input=b"RTX 3080 10GB\r\n\nRTX 3090 Ti\n",
        env=environment(),
        capture_output=True,
        check=True,
    )
    answers = [json.loads(line) for line in piped.stdout.splitlines()]
    assert [(row["title"], row["status"]) for row in answers] == [
        ("RTX 3080 10GB", "matched"), ("", "unmatched"), ("RTX 3090 Ti", "matched"),
    ], "a line for every line, so that answers can be put beside titles"  # fmt: skip


def test_bash_completes_commands_and_options_with_the_script_that_it_is_given() -> None:
    program = Path(sys.executable).with_name("gpuledger")
    for words, completed in (("gpuledger ran", "rank"), ("gpuledger rank --as", "--as-of")):
        asked = f"""
            eval "$(_GPULEDGER_COMPLETE=bash_source "$0")"
            COMP_WORDS=({words}); COMP_CWORD={words.count(" ")}
            _gpuledger_completion "$0"; printf '%s\\n' "${{COMPREPLY[@]}}"
        """
        shell = subprocess.run(
            ["bash", "-c", asked, str(program)], capture_output=True, text=True, check=True, env=environment()
        )
        assert shell.stdout.split() == [completed]


# ── one card on one screen, what changed, and the page behind a figure ────────────────────────────────────────────────


def test_a_name_of_several_versions_shows_each(data: Path) -> None:
    cards = json.loads(gpuledger("show", "rtx 3080", "--format", "json", data=data).out)
    assert {card["gpu_id"] for card in cards} == {"nvidia-geforce-rtx-3080-10gb", "nvidia-geforce-rtx-3080-12gb"}


def test_the_screen_says_price_offers_and_scores(data: Path) -> None:
    (card,) = json.loads(gpuledger("show", "4090", "--format", "json", data=data).out)
    shown = gpuledger("show", "4090", data=data).out
    assert f"{card['price_usd']:,.2f} USD" in shown
    assert len(card["offers"]) > 3
    # People are told who sells, and programs the source.
    assert {offer["shop"] for offer in card["offers"]} == {"newegg", "danawa", "bhphoto"}
    assert "\tB&H Photo Video\t" in shown
    assert "\tbhphoto\t" not in shown
    assert {score["workload"] for score in card["scores"]} >= {"Stable Diffusion, 512×512 image generation"}


def test_changes_are_those_of_the_table(data: Path) -> None:
    changes = json.loads(gpuledger("changes", "--limit", 0, "--format", "json", data=data).out)
    assert [(len(changes),)] == rows(data, "SELECT count(*) FROM core.price_change")
    since = json.loads(gpuledger("changes", "--since", "2023-11-17", "--limit", 0, "--format", "json", data=data).out)
    assert 0 < len(since) < len(changes)
    assert gpuledger("changes", "--since", "2030-01-01", data=data).status == 4


def test_each_price_is_found_in_its_page(data: Path) -> None:
    pages = rows(data, "SELECT DISTINCT snapshot_sha256 FROM core.price_span WHERE price IS NOT NULL")
    for (sha256,) in pages:
        shown = gpuledger("evidence", sha256[:12], data=data).out
        assert sha256 in shown
        assert "fetched" in shown
        assert "line " in shown
        assert "it stands 0 times" not in shown, "cents may stand in elements of their own, without a point"


def test_the_page_itself_is_given_byte_for_byte(data: Path, tmp_path: Path) -> None:
    ((sha256,),) = rows(data, "SELECT snapshot_sha256 FROM mart.gpu_price WHERE gpu_id = 'nvidia-geforce-rtx-4090'")
    whole = gpuledger("evidence", sha256, "--print", data=data).out
    assert "<html" in whole
    # The archive alone has it: a published file that cannot be read takes no page away.
    shutil.copytree(data / "snapshots", tmp_path / "snapshots")
    (tmp_path / "gpuledger.duckdb").write_text("no warehouse")
    assert gpuledger("evidence", sha256, "--print", data=tmp_path).out == whole
