"""`gpuledger buy` as a buyer asks it: a budget is the whole bill, in the currency shown, and a sentence says what to do."""

from __future__ import annotations

import json
import re
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from gpuledger.flows.cli import cli
from tests.command import gpuledger, succeeds
from tests.nights import Night


@pytest.fixture
def data(nights: dict[int, Night]) -> Path:
    return nights[1].data


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)


def run(*words: object) -> Result:
    return CliRunner().invoke(cli, ["buy", *map(str, words)], catch_exceptions=False)


def ask(data: Path, *words: object) -> list[dict[str, Any]]:
    done = run(*words, "--format", "json", "--data-dir", data)
    found = json.loads(done.stdout)["options"]
    assert isinstance(found, list)
    return found


# ── the budget ────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_budget_pays_cards_and_machine_on_day_one(data: Path) -> None:
    words = ("--model", "llama-3.3-70b", "--users", 5, "--precision", "int4", "--context", 4096, "--limit", 0)
    found = ask(data, *words, "--budget", 7500)
    assert found
    assert all(row["outlay_usd"] <= 7500 for row in found)
    for row in (row for row in found if row["machine_usd"]):
        assert row["outlay_usd"] == pytest.approx(row["price_usd"] + row["machine_usd"], abs=0.01)
        assert row["machine_low_usd"] <= row["machine_usd"] <= row["machine_high_usd"]
    # The cards alone would be eight, in a server that costs more than they do. Six do not divide the heads of this model.
    assert any(row["gpu_count"] == 8 for row in ask(data, *words, "--budget", 7500, "--budget-cards"))
    assert not any(row["gpu_count"] == 8 for row in found)


@pytest.mark.parametrize(("market", "currency"), [("us", "EUR"), ("kr", "KRW"), ("kr", "USD"), ("us", "JPY")])
def test_the_budget_is_in_the_currency_that_is_shown(data: Path, market: str, currency: str) -> None:
    words = ("--model", "llama-3.1-8b", "--market", market, "--currency", currency)
    column = f"outlay_{currency.lower()}"
    first = ask(data, *words)[0]
    exactly = ask(data, *words, "--budget", first[column])
    assert exactly[0]["what"] == first["what"], "a budget of the very amount that is shown is enough"
    assert all(row[column] <= first[column] for row in exactly)


def test_won_and_yen_have_no_cents(data: Path) -> None:
    for currency in ("KRW", "JPY"):
        out = run("--model", "llama-3.1-8b", "--currency", currency, "--data-dir", data).stdout
        assert re.search(rf"for [\d,]+ {currency}; with the machine [\d,]+ {currency} on day one", out)


def test_who_has_a_machine_pays_for_cards_alone(data: Path) -> None:
    row = ask(data, "--model", "llama-3.1-8b", "--host", "own")[0]
    assert (row["outlay_usd"], row["machine_usd"]) == (row["price_usd"], None)
    out = run("--model", "llama-3.1-8b", "--host", "own", "--data-dir", data).stdout
    assert re.search(r"Your machine needs 1 × slot as wide as the card, a supply of [\d,]+ W\.", out)


def test_a_market_without_a_price_knows_what_makers_ask(data: Path) -> None:
    words = ("--model", "llama-3.1-8b", "--market", "de", "--currency", "EUR", "--data-dir", data)
    done = run(*words, "--budget", 6000)
    first = r"No price of a shop or of the street is known here in market de: .* Buy .* at the launch price of "
    assert re.match(first, done.stdout), "who reads the first line alone takes it for no shop's price"
    cheap = run(*words, "--budget", 1)
    assert cheap.stdout == ""
    assert "raise the budget to " in cheap.stderr


# ── two weeks, and what is there ──────────────────────────────────────────────────────────────────────────────────────


def test_two_weeks_cost_what_a_new_card_loses_at_once_and_what_its_sale_costs(data: Path) -> None:
    row = next(r for r in ask(data, "--model", "llama-3.1-8b", "--days", 14, "--limit", 0) if r["way"] == "buy")
    assert row["resale_usd"] == pytest.approx(row["price_usd"] * 0.85 * 0.9, abs=0.01)
    assert row["total_usd"] > row["price_usd"] * 0.2
    assert "After 14 days " in run("--model", "llama-3.1-8b", "--days", 14, "--data-dir", data).stdout
    assert run("--model", "llama-3.1-8b", "--days", 14, "--horizon-years", 1, "--data-dir", data).exit_code == 2


def test_what_is_there_costs_nothing_and_what_is_added_its_price(data: Path) -> None:
    words = ("--model", "llama-3.3-70b", "--own", "rtx 3090", "--host", "own", "--condition", "new", "--limit", 0)
    two = next(
        row for row in ask(data, *words) if row["what"] == "2 × NVIDIA GeForce RTX 3090" and row["condition"] == "new"
    )
    both = next(
        row
        for row in ask(data, "--model", "llama-3.3-70b", "--host", "own", "--condition", "new", "--limit", 0)
        if row["what"] == "2 × NVIDIA GeForce RTX 3090"
    )
    assert two["price_usd"] == pytest.approx(both["price_usd"] / 2)
    assert "1 of them you have" in two["note"]
    # Who has a card has the desktop around it, which takes a second one, and no larger machine.
    owning = ask(data, "--model", "llama-3.1-8b", "--own", "rtx 3090", "--limit", 0)
    assert (owning[0]["what"], owning[0]["condition"], owning[0]["outlay_usd"]) == (
        "NVIDIA GeForce RTX 3090",
        "owned",
        0,
    )
    machines = {row["host"]: row["machine_usd"] for row in owning if row["way"] == "buy"}
    assert (machines["desktop"], machines["two-card desktop"]) == (None, None)
    assert machines["workstation"] == 4500
    unknown = run("--model", "llama-3.1-8b", "--own", "rtx 3099", "--data-dir", data)
    assert unknown.exit_code == 2
    assert "did you mean" in unknown.stderr


def test_another_one_of_a_card_that_is_there_counts_used_too_and_its_way_is_said(data: Path, tmp_path: Path) -> None:
    words = ("--model", "llama-3.3-70b", "--data-dir", data)
    first = run(*words, "--own", "rtx 3090").stdout.splitlines()[0]
    assert first.startswith("Buy 1 more NVIDIA GeForce RTX 3090 (used) at ")
    # Where another card is cheaper, what there is is not passed over.
    first = run(*words, "--own", "rtx 4060 ti 16gb", "--condition", "any").stdout.splitlines()[0]
    assert "With your NVIDIA GeForce RTX 4060 Ti 16GB: 3 × NVIDIA GeForce RTX 4060 Ti 16GB, " in first
    assert "Different cards in one machine are not computed." in first
    # Where no price of another one is known, that is said.
    first = run("--model", "llama-3.3-70b", "--own", "rtx 3090 ti").stdout.splitlines()[0]
    assert "Your NVIDIA GeForce RTX 3090 Ti alone does not do it; 2 × NVIDIA GeForce RTX 3090 Ti would" in first
    assert "no price of another one counts today" in first
    # What it cannot do within the question is said with the reason.
    first = run(*words, "--own", "rtx 4060 ti 16gb", "--condition", "any", "--budget", 3000).stdout.splitlines()[0]
    assert re.search(r"Not with your NVIDIA GeForce RTX 4060 Ti 16GB: .*, over the budget of 3,000", first)


def test_offers_of_one_shop_are_asked_for_by_its_name(data: Path) -> None:
    rows = ask(data, "--model", "llama-3.1-8b", "--shop", "newegg", "--limit", 0)
    assert rows
    assert {row["source"] for row in rows} == {"newegg"}
    unknown = run("--model", "llama-3.1-8b", "--shop", "newegk", "--data-dir", data)
    assert unknown.exit_code == 2
    assert "nobody called newegk sells anything here; known are " in unknown.stderr
    assert "no shop was read yet" in run("--model", "llama-3.1-8b", "--shop", "newegg").stderr


def test_a_card_that_just_holds_the_model_is_said_to(data: Path) -> None:
    words = ("--model", "qwen3-32b", "--context", 20480, "--own", "rtx 3090", "--budget", 10)
    row = ask(data, *words)[0]
    said = f"Its memory is just enough: {row['needed_gb']:.1f} of {row['available_gb']:.1f} GB."
    assert row["fit"] == "tight"
    assert said in run(*words, "--data-dir", data).stdout.splitlines()[0]
    assert "just enough" not in run("--model", "llama-3.1-8b", "--data-dir", data).stdout.splitlines()[0]


def test_a_fine_tune_says_its_hours_and_what_they_cost(data: Path) -> None:
    words = ("--model", "qwen2.5-7b", "--train", "lora", "--data-dir", data)
    first = run(*words, "--train-tokens", 20_000_000).stdout.splitlines()[0]
    found = re.search(r"Trains about ([\d,]+) tokens/s .*: 20,000,000 tokens take ([\d.]+) h", first)
    assert found
    assert float(found[2]) == pytest.approx(2e7 / float(found[1].replace(",", "")) / 3600, rel=0.01)
    assert re.search(r"Those hours cost [\d.]+ USD of electricity \([\d.]+ USD to [\d.]+ USD\)", first)
    assert "1,000,000 tokens take" in run(*words).stdout
    alone = run("--model", "qwen2.5-7b", "--train-tokens", 5, "--data-dir", data)
    assert (alone.exit_code, "give --train too" in alone.stderr) == (2, True)


# ── marks, and the sentence ───────────────────────────────────────────────────────────────────────────────────────────


def test_the_sentence_comes_first_in_both_languages(data: Path) -> None:
    words = ("buy", "--model", "qwen3-14b", "--budget", "2000", "--data-dir", str(data))
    english = CliRunner().invoke(cli, words).stdout.splitlines()[0]
    assert re.match(
        r"Buy .* at [\w&. ]+, an invented price of the sample, for [\d,.]+ USD; with the machine [\d,.]+ USD on day one",
        english,
    )
    assert "(shipping and sales tax not included)" in english
    assert re.search(r"[\d.]+ tokens/s for you \([\d.]+ to [\d.]+, calibrated\)", english)
    assert re.search(r"After 3 years [\d,.]+ USD in all: ", english)
    assert "For less: " in CliRunner().invoke(cli, words).stdout
    korean = CliRunner().invoke(cli, ["--lang", "ko", *words]).stdout.splitlines()[0]
    assert "사십시오" in korean
    assert not re.search(r"\b(?:Buy|After|Machine|with|calibrated)\b", korean)


# ── the first minute ──────────────────────────────────────────────────────────────────────────────────────────────────


def test_an_empty_folder_answers_from_what_the_program_brings(tmp_path: Path) -> None:
    done = succeeds("buy", "--model", "qwen3-32b", "--budget", "3000", cwd=tmp_path)
    first = done.out.splitlines()[0]
    assert re.match(
        r"Buy .* at the street price of \d{4}-\d\d, [\w. ]+, for [\d,.]+ USD; (?:with the machine )?[\d,.]+ USD on day one",
        first,
    )
    assert "`gpuledger refresh` reads those of today" in done.out
    assert list(tmp_path.iterdir()) == [], "a question leaves nothing behind"
    in_korea = json.loads(
        gpuledger(
            "buy", "--model", "llama-3.1-8b", "--market", "kr", "--currency", "KRW", "--format", "json", cwd=tmp_path
        ).out
    )["options"]
    assert {row["price_mark"] for row in in_korea} == {"launch price"}
    assert all(Decimal(str(row["outlay_krw"])) % 10 == 0 for row in in_korea)
    # A folder that somebody names must be there: it may be mistyped.
    (tmp_path / "new").mkdir()
    assert (
        gpuledger("buy", "--model", "qwen3-32b", "--budget", "3000", "--data-dir", "new", cwd=tmp_path).out == done.out
    )
    assert "no warehouse" in gpuledger("buy", "--model", "qwen3-32b", "--data-dir", "elsewhere", cwd=tmp_path).err
