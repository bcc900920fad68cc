"""One card on one screen, what changed, and the page behind a figure."""

from __future__ import annotations

import json
from pathlib import Path

from tests.command import gpuledger, rows


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


def test_a_price_is_found_in_its_page(data: Path) -> None:
    ((sha256, text),) = rows(
        data, "SELECT snapshot_sha256, price FROM mart.gpu_price WHERE gpu_id = 'nvidia-geforce-rtx-4090'"
    )
    shown = gpuledger("evidence", sha256[:12], data=data).out
    assert sha256 in shown
    assert "fetched" in shown
    place = next(
        after
        for before, after in zip(shown.splitlines(), shown.splitlines()[1:], strict=False)
        if f"{text:.2f}" in before
    )
    assert place.strip().startswith("line ")


def test_the_page_itself_is_given_byte_for_byte(data: Path) -> None:
    ((sha256,),) = rows(data, "SELECT snapshot_sha256 FROM mart.gpu_price WHERE gpu_id = 'nvidia-geforce-rtx-4090'")
    assert "<html" in gpuledger("evidence", sha256, "--print", data=data).out
