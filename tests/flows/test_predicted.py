"""Cards without a figure in `rank` and `value`: marked, with a range, and beside the measured ones as these were."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from gpuledger.flows.asking import workload_names
from gpuledger.flows.cli import cli
from gpuledger.transform.answers import predicted
from gpuledger.transform.buying import market
from gpuledger.warehouse.paths import DataDir
from gpuledger.warehouse.read import reader
from tests.command import rows

TEXT = "llama-13b-int4-text-generation"


def ask(data: Path, *words: str) -> list[dict[str, Any]]:
    done = CliRunner().invoke(cli, [*words, "--format", "json", "--data-dir", str(data)], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("command", ["rank", "value"])
def test_what_is_predicted_is_marked_and_what_was_measured_stays_as_it_is(command: str, data: Path) -> None:
    measured, whole = ask(data, command, TEXT), ask(data, command, TEXT, "--predicted")
    place = "rank" if command == "rank" else "value_rank"
    kept = [row for row in whole if row["basis"] == "measured"]
    assert [{name: row[name] for name in row.keys() - {place, "basis", "low", "high", "bound"}} for row in kept] == [
        {name: row[name] for name in row.keys() - {place}} for row in measured
    ]
    added = [row for row in whole if row["basis"] != "measured"]
    assert added
    assert {row["basis"] for row in added} <= {"calibrated", "bound"}
    for row in added:
        assert row["low"] < row["score"] < row["high"] <= row["bound"] * 1.01
    assert not {row["gpu_id"] for row in added} & {row["gpu_id"] for row in kept}
    assert [row[place] for row in whole] == sorted(row[place] for row in whole)
    if command == "value":
        prices = dict(rows(data, "SELECT gpu_id, price_usd::DOUBLE FROM mart.gpu_price"))
        assert all(row["price_usd"] == prices[row["gpu_id"]] for row in added)
        assert all(row["score_per_usd"] == pytest.approx(row["score"] / row["price_usd"], rel=0.01) for row in added)


def test_the_range_holds_for_measured_cards_that_are_hidden_in_turn(data: Path) -> None:
    """What is said of a card must not rest on that card's own figure."""
    wanted = workload_names._wanted(DataDir(data), TEXT)
    job, plan = predicted._job(predicted._workload_facts(DataDir(data), TEXT), wanted)
    scores = dict(rows(data, f"SELECT gpu_id, score::DOUBLE FROM mart.ranking WHERE workload_id = '{TEXT}'"))
    with reader(DataDir(data)) as con:
        chips = market.chips(con, scores)
    within = 0
    for hidden, gpu in chips.items():
        others = {other: scores[gpu_id] for gpu_id, other in chips.items() if gpu_id != hidden}
        rate = predicted.Level.of(job, plan, others).adjusted(
            gpu, predicted.predict(job, predicted.replace(plan, gpu=gpu)).decode
        )
        assert rate.low is not None
        assert rate.high is not None
        within += rate.low <= scores[hidden] <= rate.high
    assert within >= 0.8 * len(scores) > 5


def test_what_nothing_predicts_is_said(data: Path) -> None:
    for words, reason in (
        (["rank", "sd-512-image-generation", "--predicted"], "nothing predicts sd-512-image-generation"),
        (["value", TEXT, "--predicted", "--as-of", "2023-11-16"], "leave --as-of out"),
    ):
        refused = CliRunner().invoke(cli, [*words, "--data-dir", str(data)])
        assert refused.exit_code == 2
        assert reason in refused.output
