"""`gpuledger buy`: the cheapest way over the horizon first, each with its evidence, and a reason for what is left out."""

from __future__ import annotations

import csv
import dataclasses
import io
import json
import re
from collections.abc import Iterator
from contextlib import nullcontext
from decimal import Decimal
from pathlib import Path
from typing import Any

import click
import duckdb
import pytest
from click.testing import CliRunner

from gpuledger.extract.archive.snapshots import Archive
from gpuledger.flows.cli import cli
from gpuledger.flows.doors.asking import buying
from gpuledger.flows.history.rebuild import rebuild
from gpuledger.flows.night.context import utc_now
from gpuledger.transform.assumptions import Assumptions, settings
from gpuledger.transform.build import graph
from gpuledger.transform.build import run as builder
from gpuledger.transform.buying.stock import Stock
from gpuledger.transform.sizing import catalogue
from gpuledger.transform.sizing.running import prefill_flops
from gpuledger.warehouse.paths import DataDir
from tests.command import gpuledger, rows, succeeds
from tests.flows.inprocess import context
from tests.nights import Night

ASSUMPTIONS = list(settings())
#: What only --offload and --train ask, each with another value.
OF_A_CHOICE = {"host_memory_gb": "16", "host_memory_gb_s": "50", "host_memory_utilisation": "0.3"}
OF_A_CHOICE |= {"lora_rank": "64", "full_bytes_per_weight": "8"}
#: What decides which answer is recommended (see transform/buying/choosing).
OF_ADVICE = ASSUMPTIONS[ASSUMPTIONS.index("comfortable_tokens_per_s") : ASSUMPTIONS.index("sales_tax_share")]
OF_COST = [name for name in ASSUMPTIONS[ASSUMPTIONS.index("hours_per_day") :] if name not in OF_ADVICE]


@pytest.fixture
def data(nights: dict[int, Night]) -> Path:
    return nights[1].data


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No settings but the test's own."""
    monkeypatch.chdir(tmp_path)


def ask(data: Path, *words: object) -> list[dict[str, Any]]:
    """The options with a price as JSON, asked in this process: the same command, without the seconds of a new one."""
    return [row for row in everything(data, *words) if row["price_usd"] is not None]


def everything(data: Path, *words: object) -> list[dict[str, Any]]:
    """The same with machines whose price nobody here states."""
    in_order_of_cost = () if "--order" in words else ("--order", "total")
    new = () if "--condition" in words else ("--condition", "new")
    arguments = ["buy", *map(str, words), *in_order_of_cost, *new, "--format", "json", "--data-dir", str(data)]
    done = CliRunner().invoke(cli, arguments, catch_exceptions=False, standalone_mode=False)
    assert done.exit_code == 0
    found = json.loads(done.stdout)["options"]
    assert isinstance(found, list)
    return found


def told(data: Path, *words: object) -> dict[str, Any]:
    """The whole object for programs."""
    arguments = ["buy", *map(str, words), "--format", "json", "--data-dir", str(data)]
    answer: dict[str, Any] = json.loads(CliRunner().invoke(cli, arguments, catch_exceptions=False).stdout)
    return answer


def refused(data: Path, *words: object) -> str:
    with pytest.raises(click.UsageError) as caught:
        cli.main(["buy", *map(str, words), "--data-dir", str(data)], standalone_mode=False)
    return caught.value.format_message()


# ── the answer ────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_command_answers_in_every_form(data: Path) -> None:
    words = (
        "buy",
        "--model",
        "llama-13b",
        "--precision",
        "int4",
        "--context",
        512,
        "--order",
        "total",
        "--condition",
        "new",
    )
    table = succeeds(*words, data=data)
    assert (
        "llama-13b at int4, 512 tokens of context, one user · chat, from 20 tokens/s each · int4 is ideal" in table.out
    )
    assert "as of 2023-11-16 03:00 UTC" in table.out, "the sample's night, not today"
    listed = list(csv.DictReader(io.StringIO(gpuledger(*words, "--format", "csv", data=data).out)))
    found = ask(data, *words[1:])
    assert [row["what"] for row in listed] == [row["what"] for row in found]
    assert len(found) == 8
    assert len(ask(data, *words[1:], "--limit", 0)) > 40


def test_a_machine_without_a_price_comes_last_and_is_named_below_the_table(data: Path) -> None:
    found = everything(data, "--model", "gpt-oss-120b", "--precision", "mxfp4", "--limit", 0)
    unpriced = [row for row in found if row["price_usd"] is None]
    assert found[-len(unpriced) :] == unpriced
    spark = next(row for row in unpriced if row["gpu_id"] == "nvidia-gb10")
    assert (spark["price_is"], spark["total_usd"], spark["snapshot_sha256"]) == ("not known", None, None)
    assert (spark["host"], spark["fit"], spark["speed_is"]) == ("the machine itself", "fits", "estimated")
    table = CliRunner().invoke(
        cli, ["buy", "--model", "gpt-oss-120b", "--precision", "mxfp4", "--data-dir", str(data)], standalone_mode=False
    )
    assert "\n   Mac Studio, M" in table.stdout.partition("but no price is known here:")[2]


def test_the_sums_stand_below_the_table_and_in_each_row_of_json(data: Path) -> None:
    words = ["buy", "--model", "llama-2-7b", "--explain", "--data-dir", str(data)]
    table = CliRunner().invoke(cli, words, standalone_mode=False).stdout
    assert table.count("key-value cache: (32 × 8,192 × 4,096) × 16 ÷ 8 × 1 ÷ 10^9 = 2.14748 GB") == 3, "the first three"
    assert "(--assume host_usd=…)" in table
    rows_of_json = everything(data, "--model", "llama-2-7b", "--explain", "--limit", 2)
    figures = [[step["figure"] for step in row["explanation"]] for row in rows_of_json]
    assert [row[-2:] for row in figures] == [["a million tokens written", "energy of each"]] * 2
    assert "--explain needs --format table or json" in refused(
        data, "--model", "llama-2-7b", "--explain", "--format", "csv"
    )


def test_what_the_cards_do_not_hold_may_stay_with_the_processor_or_be_trained(data: Path) -> None:
    asked = ("--model", "gpt-oss-120b", "--precision", "mxfp4", "--offload", "experts", "--kv-bits", 8)
    first = ask(data, *asked)[0]
    assert (first["gpu_count"], first["speed_is"], first["fit"]) == (1, "bound", "fits")
    assert "stay with the processor: nobody measured how fast it reads them" in first["note"]
    trained = ask(data, "--model", "llama-2-7b", "--train", "qlora", "--min-tokens-per-s", 2000)
    assert {(row["speed_is"], row["fits"]) for row in trained} == {("estimated", True)}
    for row in trained:
        assert row["low_tokens_per_s"] < row["tokens_per_s"] < row["high_tokens_per_s"]
        assert row["tokens_per_s"] >= 2000
        assert float(row["usd_per_million_tokens"]) > 0


def test_the_cheapest_over_the_horizon_comes_first_and_everything_fits(data: Path) -> None:
    found = ask(data, "--model", "llama-2-13b", "--limit", 0)
    totals = [row["total_usd"] for row in found]
    assert totals == sorted(totals)
    assert [row["rank"] for row in found] == list(range(1, len(found) + 1))
    assert all(row["fits"] and row["needed_gb"] <= row["available_gb"] for row in found)


def test_prices_and_evidence_are_those_of_the_tables_and_the_archive(data: Path) -> None:
    prices = {
        gpu: words
        for gpu, *words in rows(data, "SELECT gpu_id, price_usd, url, snapshot_sha256, source FROM mart.gpu_price")
    }
    archive = Archive(data / "snapshots")
    found = [row for row in ask(data, "--model", "llama-2-7b", "--limit", 0) if row["price_mark"] == "invented"]
    bought = [row for row in found if row["host"]]
    for row in bought:
        price, url, sha, source = prices[row["gpu_id"]]
        assert Decimal(str(row["price_usd"])) == price * row["gpu_count"]
        assert (row["url"], row["snapshot_sha256"], row["source"]) == (url, sha, source)
    for row in found:
        assert archive.content_of(row["snapshot_sha256"])
        assert row["price_since"] <= row["last_seen_at"]
        assert row["url"].startswith("http://")
    assert {row["gpu_count"] for row in bought} == {1, 2, 3, 4, 6, 8}


def test_reading_is_bounded_by_arithmetic(data: Path) -> None:
    # A prompt of 1,024 tokens, half of the context, on an RTX 4090 at 16 bits: 330.3 TFLOPS over what `size` counts.
    found = {
        row["what"]: row
        for row in ask(data, "--model", "llama-2-7b", "--precision", "fp16", "--context", 2048, "--limit", 0)
    }
    flops = prefill_flops(catalogue.architecture("llama-2-7b"), 1024).total
    one, two = found["NVIDIA GeForce RTX 4090"], found["2 × NVIDIA GeForce RTX 4090"]
    assert one["prefill_bound_tokens_per_s"] == pytest.approx(1024 / (flops / 330.3e12), abs=1)
    assert two["prefill_bound_tokens_per_s"] == pytest.approx(2 * one["prefill_bound_tokens_per_s"], abs=1)
    narrow = {
        row["what"]: row
        for row in ask(data, "--model", "llama-2-7b", "--precision", "int8", "--context", 2048, "--limit", 0)
    }
    assert narrow["NVIDIA GeForce RTX 4090"]["prefill_bound_tokens_per_s"] == pytest.approx(
        2 * one["prefill_bound_tokens_per_s"], rel=0.001
    )
    image = ask(data, "--model", "stable-diffusion-xl", "--precision", "fp16")
    assert {row["prefill_bound_tokens_per_s"] for row in image} == {None}


def test_tokens_a_month_and_speech_a_day_leave_out_what_is_too_slow_and_the_hours_are_said(data: Path) -> None:
    asked = ("--model", "llama-2-7b", "--limit", 0)
    answer = told(data, *asked, "--tokens-per-month", "60M")
    (hours,) = re.findall(r"What is asked takes it (\S+) hours a day", " ".join(answer["sentences"]))
    first = answer["options"][0]
    # A request is half of the context read and half written.
    written = 30e6 / (365 / 12) / 3600
    assert written / first["expected_tokens_per_s"] < float(hours) < 1.3 * written / first["expected_tokens_per_s"] <= 8
    assert 0 < len(answer["options"]) < len(told(data, *asked)["options"])
    assert min(row["expected_tokens_per_s"] for row in answer["options"]) > written / 8
    heard = told(data, "--model", "whisper-large-v3", "--speech-hours-per-day", 40)
    times = float(re.findall(r"about (\S+) times as fast", heard["sentences"][1])[0])
    assert f"What is asked takes it {40 / times:.2g} hours a day." in heard["sentences"]
    assert not told(data, "--model", "whisper-large-v3", "--speech-hours-per-day", 500)["options"]
    read = told(data, "--model", "bge-m3", "--tokens-per-month", "5G")  # all of them are read
    hours = 5e9 / (365 / 12) / 3600 / read["options"][0]["expected_tokens_per_s"]
    assert f"What is asked takes it {hours:.2g} hours a day." in read["sentences"]


def test_a_shop_has_its_name_and_what_is_presumed_of_one_that_the_user_named_is_said(data: Path) -> None:
    of_photos = told(data, "--model", "llama-2-7b", "--shop", "B&H Photo Video")
    assert of_photos["picks"] == told(data, "--model", "llama-2-7b", "--shop", "bhphoto")["picks"]
    assert "at B&H Photo Video, an invented price of the sample, for" in of_photos["sentences"][0]
    said = "What a page of {} does not call used counts as new, and a marketplace's offers count for nothing."
    sentences = told(data, "--model", "llama-2-7b", "--shop", "generic_shop")["sentences"]
    assert "at generic-shop.sample.test, an invented price of the sample, for" in sentences[0]
    assert said.format("generic-shop.sample.test") in sentences
    assert said.format("generic-shop.sample.test") in succeeds("price", "3060 ti", data=data).out
    assert "does not call used" not in succeeds("price", "4090", data=data).out


def test_every_pick_says_how_fast_it_writes_speech_down(data: Path) -> None:
    words = ("--model", "whisper-large-v3", "--budget", "2000", "--condition", "any", "--limit", "1")
    picks, table = succeeds("buy", *words, data=data).out.split("whisper-large-v3 at")
    assert "\ttimes real time\t" in table
    assert picks.count("as fast as it is spoken") > 1
    assert "nobody knows how fast" not in picks


def test_an_image_model_has_the_speed_that_was_published_or_one_by_the_matrix_rate(data: Path, tmp_path: Path) -> None:
    found = ask(data, "--model", "stable-diffusion-1.5", "--limit", 0)
    measured = {row["gpu_id"]: row for row in found if row["image_workload"] and row["way"] == "buy"}
    published = dict(rows(data, "SELECT gpu_id, score FROM mart.ranking WHERE workload_id = 'sd-512-image-generation'"))
    assert len(measured) >= 10
    for gpu_id, row in measured.items():
        assert row["image_iterations_per_s"] == float(published[gpu_id])
        # A picture is a hundred iterations; busy half of 8 hours a day for 3 years, which the default assumptions say.
        made = row["images_per_s"] * 8 * 0.5 * 365 * 3 * 3600
        assert float(row["usd_per_thousand_images"]) == pytest.approx(float(row["total_usd"]) / made * 1000, abs=0.01)
        assert row["images_per_s"] == pytest.approx(float(published[gpu_id]) / 100, abs=1e-4)
        assert row["speed_is"] == "measured"
        assert row["speed_snapshot_sha256"]
    unmeasured = [row for row in found if row["gpu_id"] not in published]
    assert unmeasured
    assert {row["speed_is"] for row in unmeasured} <= {"calibrated", "estimated", "unknown"}
    assert {row["image_workload"] for row in unmeasured} == {None}
    # Nobody says that the benchmark ran on packed weights, and nobody measured another model.
    for words in (("stable-diffusion-1.5", "--precision", "int8"), ("stable-diffusion-xl", "--precision", "fp16")):
        assert {row["image_workload"] for row in ask(data, "--model", *words, "--limit", 0)} == {None}
    table = gpuledger("buy", "--model", "stable-diffusion-1.5", data=data).out
    assert "a picture is 100 iterations, as in that benchmark" in table
    assert "tokens/s" not in table
    video = gpuledger("buy", "--model", "wan-2.1-14b", "--precision", "int4", "--limit", 0, data=data).out
    assert "13.34 of 24.9" in video
    assert "A clip of 81 frames, 1280 × 720, with 50 steps takes" in video
    # Where the speed of nothing is known, what holds it is said, and nothing is recommended.
    asked = ("--own", "m5 pro 48gb", "--host", "own", "--budget", "1")
    unknown = gpuledger("buy", "--model", "ltx-2", *asked, cwd=tmp_path).out
    assert "so none is recommended" in unknown
    assert "Buy " not in unknown
    # What is known stands before what is not.
    first = json.loads(gpuledger("buy", "--model", "sdxl", "--budget", "1000", "--format", "json", cwd=tmp_path).out)
    assert first["options"][0]["speed_is"] != "unknown"


def test_used_cards_are_offered_where_they_are_asked_for_and_say_so(data: Path) -> None:
    new = ask(data, "--model", "llama-2-13b", "--limit", 0)
    assert {row["condition"] for row in new if row["way"] == "buy"} == {"new"}
    assert {row["condition"] for row in new if row["way"] != "buy"} == {None}
    used = ask(data, "--model", "llama-2-13b", "--condition", "used", "--limit", 0)
    assert {row["condition"] for row in used if row["way"] == "buy"} == {"used", "refurbished", "open_box"}
    cheapest = dict(rows(data, "SELECT gpu_id, used_price_usd FROM mart.gpu_price WHERE used_price_usd > 0"))
    for row in used:
        if row["way"] == "buy":
            assert Decimal(str(row["price_usd"])) == cheapest[row["gpu_id"]] * row["gpu_count"]
    both = ask(data, "--model", "llama-2-13b", "--condition", "any", "--limit", 0)
    assert _ways(both) == _ways(new) | _ways(used)
    table = gpuledger("buy", "--model", "llama-2-13b", "--condition", "used", "--limit", 0, data=data)
    assert "buy refurbished" in table.out
    assert "a used card is often a single piece" in table.out


def _ways(found: list[dict[str, Any]]) -> set[tuple[str, str | None, str]]:
    return {(row["way"], row["condition"], row["what"]) for row in found}


def test_the_budget_to_raise_to_is_enough(data: Path) -> None:
    words = ("buy", "--model", "llama-2-70b", "--budget")
    said = gpuledger(*words, 500, data=data).err
    enough = int(said.partition("raise the budget to ")[2].partition(" USD")[0].replace(",", ""))
    assert ask(data, *words[1:], enough)


def test_of_instances_of_one_kind_the_cheapest_stands_in_the_answer(data: Path) -> None:
    found = ask(data, "--model", "llama-2-7b", "--hours-per-day", 0.2, "--horizon-years", 0.2, "--limit", 0)
    kinds = [(row["gpu"], row["gpu_count"], row["way"]) for row in found if row["way"] != "buy"]
    assert len(kinds) == len(set(kinds))
    ((cheapest,),) = rows(
        data,
        """SELECT min(instance_hour_usd) FROM mart.cloud_price
           WHERE gpu_name = 'V100' AND gpu_count = 1 AND pricing_model = 'on_demand'""",
    )
    (row,) = [row for row in found if (row["gpu"], row["way"]) == ("V100", "on_demand")]
    assert row["price_usd"] == pytest.approx(float(cheapest))


def test_rentals_stand_beside_cards_and_win_where_little_is_asked(data: Path) -> None:
    found = ask(data, "--model", "llama-2-7b", "--hours-per-day", 0.2, "--horizon-years", 0.2, "--limit", 0)
    assert found[0]["way"] == "spot"
    assert {row["way"] for row in found} == {"buy", "on_demand", "spot", "reserved_1y", "reserved_3y"}
    hours = 0.2 * 365 * 0.2
    for row in found:
        if row["way"] in ("on_demand", "spot"):
            assert row["total_usd"] == pytest.approx(row["price_usd"] * hours, abs=0.01)
        if row["way"] == "reserved_1y":
            assert row["total_usd"] == pytest.approx(row["price_usd"] * 24 * 365, abs=0.01), "the whole term is paid"
    long = ask(data, "--model", "llama-2-7b", "--hours-per-day", 12, "--horizon-years", 3, "--limit", 5)
    assert {row["way"] for row in long} == {"buy"}
    for model, said in (
        ("gpt-oss-120b", r"of \d+ rental prices is of cards"),
        ("whisper-large-v3", r"To rent there is .*not known"),
    ):
        assert re.search(said, " ".join(told(data, "--model", model)["sentences"])), model


def test_a_speed_says_whether_it_was_measured(data: Path) -> None:
    found = {
        row["what"]: row
        for row in ask(data, "--model", "llama-13b", "--precision", "int4", "--context", 512, "--limit", 0)
    }
    measured = found["NVIDIA GeForce RTX 3060 12GB"]
    ((score, article, sha),) = rows(
        data,
        """SELECT score, article_url, snapshot_sha256 FROM mart.ranking
           WHERE workload_id = 'llama-13b-int4-text-generation' AND gpu_id = 'nvidia-geforce-rtx-3060-12gb'""",
    )
    assert (measured["speed_is"], measured["tokens_per_s"]) == ("measured", pytest.approx(float(score), abs=0.05))
    assert (measured["speed_url"], measured["speed_snapshot_sha256"]) == (article, sha)
    assert measured["speed_verdict"] == "limited by software or CPU, not by the card"
    guessed = found["NVIDIA GeForce RTX 3050 8GB"]
    assert (guessed["speed_is"], guessed["speed_url"]) == ("calibrated", None)
    assert guessed["expected_tokens_per_s"] <= measured["expected_tokens_per_s"] < guessed["decode_bound_tokens_per_s"]
    assert guessed["low_tokens_per_s"] < guessed["expected_tokens_per_s"] < guessed["high_tokens_per_s"]
    assert {row["engine"] for row in found.values()} == {"llama.cpp"}


def test_the_speeds_are_those_of_mart_model_fit(data: Path) -> None:
    fits = {
        (gpu, count): words
        for gpu, count, *words in rows(
            data,
            """SELECT gpu_id, gpu_count, decode_bound_tokens_per_s, expected_tokens_per_s, needed_gb, available_gb
               FROM mart.model_fit WHERE model_id = 'llama-13b' AND precision = 'int4' AND context_tokens = 2048""",
        )
    }
    for row in ask(data, "--model", "llama-13b", "--precision", "int4", "--context", 2048, "--limit", 0):
        if row["way"] == "buy" and row["gpu_count"] in (1, 2, 4, 8):
            found = [
                row[n] for n in ("decode_bound_tokens_per_s", "expected_tokens_per_s", "needed_gb", "available_gb")
            ]
            assert found == pytest.approx(fits[row["gpu_id"], row["gpu_count"]], abs=0.051)


# ── limits, and what is left out ──────────────────────────────────────────────────────────────────────────────────────


def test_what_is_next_cheaper_is_ruled_out_with_its_reason(data: Path) -> None:
    first = ask(data, "--model", "llama-2-70b", "--budget", 2000, "--budget-cards")[0]
    assert (first["what"], first["host"]) == ("2 × AMD Radeon RX 7900 XTX", "two-card desktop")
    assert " GB and has " in first["next_cheaper_is_ruled_out"]
    fast = ask(data, "--model", "llama-13b", "--precision", "int4", "--context", 512, "--min-tokens-per-s", 25)[0]
    assert "tokens/s (" in fast["next_cheaper_is_ruled_out"]
    assert ", under 25" in fast["next_cheaper_is_ruled_out"]
    all_fit = ask(data, "--model", "tinyllama-1.1b")
    assert {row["next_cheaper_is_ruled_out"] for row in all_fit} == {""}


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--model", "llama-13b", "--min-tokens-per-s", "5000"], ["the fastest that fits writes "]),
        (["--model", "llama-2-70b", "--budget", "300"], ["raise the budget to 2,400 USD"]),
        (["--model", "llama-3.1-8b", "--budget", "30"], ["\n  without --budget there are "]),
        (["--model", "llama-3.1-8b", "--min-tokens-per-s", "100000"], ["\n  without --min-tokens-per-s there are "]),
        # New cards for this money write fewer tokens/s, and one used card as many.
        (["--model", "llama-2-13b", "--precision", "int4", "--budget", "500", "--budget-cards", "--min-tokens-per-s", "55",
          "--condition", "new", "--context", "2048"],
         ["without --condition new there are 1 answers, the first: NVIDIA GeForce RTX 3080 10GB"]),
        (["--model", "deepseek-r1", "--precision", "int4", "--users", "16", "--context", "16384"],
         ["Mac Studio, M3 Ultra, 512 GB would hold it, but vllm is not known to run int4 there",
          "H200 NVL would hold it as asked"]),
    ],
)  # fmt: skip
def test_nothing_fits_says_what_would(data: Path, words: list[str], says: list[str]) -> None:
    outcome = gpuledger("buy", *words, "--format", "json", data=data)
    told = json.loads(outcome.out)
    assert (outcome.status, told["options"], told["picks"]) == (4, [], []), "a question that has no answer"
    assert [told["refusal"]["reason"], *told["refusal"]["ways_out"]] == [
        line.strip() for line in outcome.err.splitlines()
    ]
    assert "nothing within what is asked runs" in outcome.err.splitlines()[0]
    for sentence in says:
        assert sentence in outcome.err


def test_the_next_precision_that_runs_is_answered_at_once(data: Path) -> None:
    """A budget that does not reach a whole machine is answered for who has one, and bits that no card holds with fewer."""
    said = gpuledger("buy", "--model", "mixtral-8x22b", "--precision", "fp32", data=data)
    assert said.out.startswith("Nothing within what you ask runs mixtral-8x22b at fp32. At Q4_K_M: ")
    found = everything(data, "--model", "mixtral-8x22b", "--precision", "fp32")
    assert {row["precision"] for row in found} == {"Q4_K_M"}
    assert {row["instead"] for row in found} == {"Nothing within what you ask runs mixtral-8x22b at fp32. At Q4_K_M:"}
    at_home = everything(data, "--model", "llama-2-13b", "--budget", 600)
    assert at_home == [{**row, "instead": at_home[0]["instead"]} for row in
                       everything(data, "--model", "llama-2-13b", "--budget", 600, "--host", "own")]  # fmt: skip
    assert "(--host own)" in at_home[0]["instead"]


def test_where_every_price_is_too_old_the_last_one_stays_and_is_marked(
    nights: dict[int, Night], tmp_path: Path
) -> None:
    """After weeks without a night; the sample's prices are of 2023. An empty folder would have answered."""
    late = nights[3].copy(tmp_path / "data")
    (late / "inbox").mkdir(exist_ok=True)
    (late / "inbox" / "of-another.csv").write_text("title,price,currency,vendor\nNVIDIA L4 24GB,,USD,Ours\n")
    assert gpuledger("refresh", "--engine", "plain", "--only", "quotes", data=late).status in (0, 3)
    assert rows(late, "SELECT count(*) FROM core.offer WHERE exclusion IS NULL AND source <> 'quotes'") == [(0,)]
    asked = ("--model", "llama-3-70b", "--budget", 3000, "--limit", 0)
    before, after = ask(nights[3].data, *asked), ask(late, *asked)
    bought = {row["what"]: row["price_usd"] for row in before if row["way"] == "buy"}
    assert bought
    assert bought.items() <= {row["what"]: row["price_usd"] for row in after}.items()
    assert {row["price_mark"] for row in after if row["what"] in bought} == {"stale, invented"}
    rented = [row for row in ask(late, "--model", "llama-3.1-8b", "--limit", 0) if row["way"] != "buy"]
    assert {row["price_mark"] for row in rented} == {"stale, invented"}
    assert "The price is stale" in succeeds("buy", *asked[:4], data=late).out
    listed = json.loads(succeeds("price", "--format", "json", data=late).out)
    priced = {row["gpu"]: row["price_mark"] for row in listed if row["price_usd"]}
    assert set(priced.values()) == {"stale, invented"}
    shown = succeeds("show", "rtx 3090", data=late).out
    assert re.search(r"\(\d+\.\d% below MSRP, stale, invented\)\n", shown)
    assert re.search(r"used from [\d,.]+ USD \(stale, invented\)\n", shown)


def test_more_cards_need_a_larger_machine_and_are_no_faster_for_one_user(data: Path) -> None:
    asked = ("--model", "llama-2-7b", "--precision", "Q4_K_M", "--limit", 0)
    found = {row["what"]: row for row in ask(data, *asked)}
    one, four, eight = (found[f"{n}NVIDIA GeForce RTX 3060 12GB"] for n in ("", "4 × ", "8 × "))
    assert [row["host"] for row in (one, four, eight)] == ["desktop", "workstation", "4U server"]
    assert one["host_share_usd"] < four["host_share_usd"] < eight["host_share_usd"]
    assert one["expected_tokens_per_s"] > four["expected_tokens_per_s"] > eight["expected_tokens_per_s"]
    assert (one["split"], four["split"]) == (None, "layer")
    assert "an ordinary outlet gives 1,440 W" in eight["note"]
    german = {row["what"]: row for row in ask(data, *asked, "--country", "DE")}
    assert german["8 × NVIDIA GeForce RTX 3060 12GB"]["note"] == ""


def test_what_no_machine_holds_is_no_answer(data: Path) -> None:
    found = ask(data, "--model", "llama-2-7b", "--limit", 0)
    power = dict(rows(data, "SELECT gpu_id, tdp_w FROM core.gpu"))
    in_hosts = [row for row in found if row["host"] is not None]
    assert in_hosts
    assert all(row["gpu_count"] * power[row["gpu_id"]] <= 4800 for row in in_hosts)
    assert not [row for row in in_hosts if row["gpu_count"] == 8 and row["host"] == "desktop"]


def test_several_users_share_the_machine(data: Path) -> None:
    asked = ("--model", "llama-2-7b", "--precision", "fp16", "--input", 1024, "--output", 256, "--limit", 0)
    one = {row["what"]: row for row in ask(data, *asked)}
    many = {row["what"]: row for row in ask(data, *asked, "--users", 8)}
    shared = [what for what in many if what in one]
    assert shared
    for what in shared:
        few, lots = one[what], many[what]
        assert lots["users"] == 8
        assert lots["needed_gb"] > few["needed_gb"], "every user has a cache"
        assert lots["each_tokens_per_s"] < lots["expected_tokens_per_s"]
        if lots["usd_per_million_input_tokens"] is not None:
            assert lots["usd_per_million_input_tokens"] < lots["usd_per_million_tokens"]
    for row in ask(data, *asked, "--users", 8, "--min-speed", 10):
        assert row["each_tokens_per_s"] >= 10


# ── assumptions ───────────────────────────────────────────────────────────────────────────────────────────────────────


def other(name: str) -> float | int:
    """Another value of an assumption, within its bounds, that matters to the questions below."""
    setting, value = settings()[name], float(getattr(Assumptions(), name))
    if name == "low_utilisation":
        return 0.1  # below what was measured, so that the verdict is another one
    if name == "first_drop_share":
        return 0.9  # more than a card loses in three years, else the years decide
    half = max(setting.low, value / 2) if value else setting.high / 2
    return int(half) if isinstance(getattr(Assumptions(), name), int) else half


#: A text model with measurements and a long prompt, a mixture on a server, one whose layers keep a state, which nobody
#: measured on a server (the speed of a server that was measured has no parallel fraction), and an image model whose denoiser
#: needs most, and whose decoder.
QUESTIONS = (
    ("--model", "llama-13b", "--precision", "int4", "--context", "2048", "--limit", "0"),
    ("--model", "qwen3-30b-a3b", "--precision", "fp8", "--limit", "0"),
    ("--model", "bert-base", "--precision", "fp8", "--context", "512", "--limit", "0"),
    ("--model", "stable-diffusion-xl", "--precision", "fp16", "--limit", "0"),
    ("--model", "stable-diffusion-xl", "--precision", "int4", "--limit", "0"),
)


@pytest.fixture(scope="module")
def as_it_is(nights: dict[int, Night]) -> list[Any]:
    """The answer to each of the questions."""
    return [ask(nights[1].data, *question) for question in QUESTIONS]


@pytest.fixture(scope="module")
def offered(nights: dict[int, Night]) -> Iterator[Stock]:
    """What is on offer on the first night. It is kept, as to read it is half of an answer's time."""
    where = buying.Where(None, None, None)
    with buying.stock(DataDir(nights[1].data), where, clock=utc_now(), packaged=False) as found:
        yield found


@pytest.mark.parametrize(
    "name", [name for name in ASSUMPTIONS if name not in (*OF_A_CHOICE, *OF_ADVICE, "reread_share")]
)
def test_every_assumption_changes_the_answer(
    data: Path, as_it_is: list[Any], offered: Stock, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(buying, "stock", lambda *_, **__: nullcontext(offered))
    assert ask(data, *QUESTIONS[0]) == as_it_is[0]
    assumed = ("--assume", f"{name}={other(name)}")
    assert any(ask(data, *question, *assumed) != was for question, was in zip(QUESTIONS, as_it_is, strict=True))


@pytest.mark.parametrize("name", OF_A_CHOICE)
def test_every_assumption_of_a_choice_changes_its_answer(data: Path, name: str) -> None:
    ways = {"lora_rank": "llama-2-70b --train lora", "full_bytes_per_weight": "llama-13b --train full"}
    choice = ways.get(name, "llama-2-70b --offload layers --precision Q4_K_M")
    words = ["--model", *choice.split(), "--limit", "0"]
    assert ask(data, *words, "--assume", f"{name}={OF_A_CHOICE[name]}") != ask(data, *words)


def test_a_country_is_its_electricity_at_todays_exchange_rate(data: Path, as_it_is: list[Any]) -> None:
    ((price,),) = rows(
        data,
        """SELECT round(e.price * fx.usd_rate, 6) FROM core.electricity_price e JOIN core.fx_usd fx USING (currency)
           WHERE country = 'DE'""",
    )
    assert price > 0.3
    changed = ask(data, *QUESTIONS[0], "--country", "de")
    assert changed != as_it_is[0]
    told = ask(data, *QUESTIONS[0], "--assume", f"electricity_usd_per_kwh={price}")
    for row in (*changed, *told):
        del row["note"]  # what an outlet gives is the country's too
    assert changed == told
    assert ask(data, *QUESTIONS[0], "--country", "US") == as_it_is[0]


@pytest.fixture(scope="module")
def con(nights: dict[int, Night], tmp_path_factory: pytest.TempPathFactory) -> Iterator[duckdb.DuckDBPyConnection]:
    """A copy of the sample's warehouse, to change assumptions in."""
    copy = tmp_path_factory.mktemp("rent") / "gpuledger.duckdb"
    copy.write_bytes((nights[1].data / "gpuledger.duckdb").resolve().read_bytes())
    with duckdb.connect(str(copy)) as con:
        yield con


@pytest.mark.parametrize("name", OF_COST)
def test_every_assumption_of_cost_changes_renting_against_buying(con: duckdb.DuckDBPyConnection, name: str) -> None:
    wanted = ("mart.resale", "mart.rent_vs_buy", "mart.output_cost")
    models = [model for model in graph.load(con) if model.name in wanted]
    before = {table: con.execute(f"FROM {table} ORDER BY ALL").fetchall() for table in wanted}
    con.begin()
    con.execute("UPDATE core.assumption SET amount = ? WHERE assumption = ?", [other(name), name])
    builder.refresh_contents(con, ["core.assumption"])
    builder.build(con, models, "test")
    after = {table: con.execute(f"FROM {table} ORDER BY ALL").fetchall() for table in wanted}
    con.rollback()
    assert after["mart.rent_vs_buy"] != before["mart.rent_vs_buy"]
    # No card of the sample that was measured is rented one by one, so what only renting costs is not felt there.
    is_felt = name not in ("storage_usd_per_month", "egress_usd_per_month")
    assert (after["mart.output_cost"] != before["mart.output_cost"]) == is_felt


def test_a_rebuild_takes_an_assumption_of_the_settings_into_the_tables(
    nights: dict[int, Night], tmp_path: Path
) -> None:
    data = nights[1].copy(tmp_path / "data")
    base = context(data, 1)
    assumed = dataclasses.replace(base.settings.assumptions, host_usd=Decimal(0))
    summary = rebuild(dataclasses.replace(base, settings=dataclasses.replace(base.settings, assumptions=assumed)))
    rebuilt = {step.model for step in summary.builds if step.action == "rebuilt"}
    assert {"mart.rent_vs_buy", "mart.output_cost"} <= rebuilt
    assert not {"mart.gpu_price", "mart.value", "mart.ranking"} & rebuilt
    assert rows(data, "SELECT DISTINCT host_share_usd FROM mart.rent_vs_buy") == [(0.0,)]
    assert rows(data, "SELECT amount FROM core.assumption WHERE assumption = 'host_usd'") == [(0,)]


def test_describe_shows_every_assumption_with_value_unit_and_source(data: Path) -> None:
    outcome = gpuledger("describe", "assumptions", "--format", "json", data=data)
    shown = {row["assumption"]: row for row in json.loads(outcome.out)}
    assert list(shown) == ASSUMPTIONS
    for one in Assumptions().describe():
        row = shown[one.name]
        assert row["amount"] == row["default"] == pytest.approx(float(one.value))
        assert (row["unit"], row["description"], row["origin"]) == (
            one.setting.unit, one.setting.meaning, one.setting.source,
        )  # fmt: skip
    listed = gpuledger("describe", data=data).out
    assert all(f"assumptions.{name}\t" in listed for name in ASSUMPTIONS)
