"""One question, asked at every door in one night's data: the same first answer, to the cent, and what a page bears out."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
from collections.abc import Callable
from decimal import Decimal
from itertools import cycle, product
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from openpyxl import load_workbook

from gpuledger.extract.archive.snapshots import Archive
from gpuledger.flows.cli import cli
from gpuledger.flows.doors.agent.from_commands import in_words_of_tools
from gpuledger.flows.doors.agent.tools import Tools
from gpuledger.transform.report.questions import QUESTIONS as QUESTIONS_KEPT
from gpuledger.transform.report.questions import Kept
from gpuledger.warehouse.paths import DataDir
from gpuledger.warehouse.read import query
from tests.command import gpuledger, rows, succeeds
from tests.flows.reports import shown, table, tree
from tests.nights import Night

#: Market and currency of each question in turn, so that all three are asked about every model.
PLACES = (("us", "USD"), ("kr", "KRW"), ("us", "EUR"))
MODELS = ("llama-3.1-8b", "gpt-oss-20b", "qwen3-32b", "llama-3.3-70b", "gpt-oss-120b")
QUESTIONS = [
    (*question, *place)
    for question, place in zip(product(MODELS, (1, 8), (8192, 32768), ("new", "any")), cycle(PLACES), strict=False)
]
#: Each model, place, number of people, length and condition among them; the others are further combinations of these.
FEW = QUESTIONS[::5]
Question = tuple[str, int, int, str, str, str]


@pytest.fixture(scope="module")
def page(report_file: Path) -> dict[str, Any]:
    return shown(tree(report_file))


@pytest.fixture(scope="module")
def in_workbook(
    nights: dict[int, Night], tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Callable[[Question], dict[str, Any]]:
    """The first row of a question in the workbook, in its own currency, in a folder where all are kept that this run asks;
    under `mart` what mart.answer says first.
    """
    asking = (item for item in request.session.items if "in_workbook" in getattr(item, "fixturenames", ()))
    asked_here: set[Question] = {
        item.callspec.params["question"] for item in asking if isinstance(item, pytest.Function)
    }
    folder = tmp_path_factory.mktemp("kept")
    data = nights[2].copy(folder / "data")
    for model, people, context, condition, market, currency in sorted(asked_here):
        asked = {"model": model, "users": people, "context": context, "condition": condition}
        name = f"{model} {people} {context} {condition}"
        QUESTIONS_KEPT.put(data, Kept(name=name, asked=asked, market=market, currency=currency))
    assert CliRunner().invoke(cli, ["rebuild", "--data-dir", str(data)], catch_exceptions=False).exit_code == 0
    columns, answers = query(DataDir(data), "FROM mart.answer WHERE rank <= 1")
    in_mart = {row["question"]: row for row in (dict(zip(columns, line, strict=True)) for line in answers)}
    words = ["export", str(folder / "sheet"), "--format", "xlsx", "--data-dir", str(data)]
    assert CliRunner().invoke(cli, words, catch_exceptions=False).exit_code == 0
    sheet = load_workbook(folder / "sheet" / "gpuledger.xlsx").worksheets[0]
    head = [cell.value for cell in sheet[4]]
    found: dict[str, dict[str, Any]] = {}
    for line in sheet.iter_rows(min_row=5, values_only=True):
        cells = dict(zip(head, line, strict=True))
        found.setdefault(cells["question"], cells | {"mart": in_mart[cells["question"]]})
    return lambda question: found[" ".join(map(str, question[:4]))]


def in_report(page: dict[str, Any], question: Question) -> dict[str, Any] | None:
    """The first answer of the page, None if it says that there is none."""
    model, people, context, condition, market, _ = question
    (place,) = (
        place
        for place, row in enumerate(table(page, "questions"))
        if (row["model_id"], row["people"], row["context"], row["condition"], row["market"])
        == (model, people, context, condition, market)
    )
    return next((row for row in table(page, "ways") if row["question"] == place), None)


def agent(data: Path, question: Question, shown: int = 1, **more: Any) -> dict[str, Any]:
    model, people, context, condition, market, currency = question
    return Tools(DataDir(data), cli).all()["buy"](
        model=model,
        users=people,
        context=context,
        condition=condition,
        market=market,
        currency=currency,
        limit=shown,
        **more,
    )


def rounded(usd: float | None, currency: str, page: dict[str, Any]) -> Decimal:
    """Dollars of the page as it shows them in a currency."""
    rates = {"USD": 1.0} | {row["currency"]: row["usd_rate"] for row in table(page, "rates")}
    return round(Decimal((usd or 0) / rates[currency]), -2 if currency == "KRW" else 2)


@pytest.mark.parametrize(
    "question",
    [pytest.param(one, marks=[pytest.mark.slow_combination] * (one not in FEW)) for one in QUESTIONS],
    ids=["-".join(map(str, question)) for question in QUESTIONS],
)
def test_report_workbook_mart_and_agent_give_the_same_first_answer(
    data: Path, page: dict[str, Any], in_workbook: Callable[[Question], dict[str, Any]], question: Question
) -> None:
    currency = question[-1]
    told = agent(data, question)
    in_page, in_book = in_report(page, question), in_workbook(question)
    if not told["options"]:
        assert in_page is None
        assert in_book["advice"] == "no answer"
        assert in_book["why"]
        assert (in_book["mart"]["rank"], in_book["mart"]["sentence"]) == (0, in_book["why"])
        return
    (first,) = told["options"]
    assert in_page is not None
    assert first["what"] == in_page["what"]
    assert in_book["what"].startswith(first["what"])
    for name, heading in (("outlay", "day one"), ("total", "in all")):
        amount = Decimal(str(first[f"{name}_{currency.lower()}"]))
        assert (amount, currency) == (Decimal(str(in_book[heading])), in_book["currency"])
        near = 100 if currency == "KRW" else Decimal("0.01") if currency != "USD" else 0
        assert abs(amount - rounded(in_page[f"{name}_usd"], currency, page)) <= near
        assert abs(amount - rounded(float(in_book["mart"][f"{name}_usd"]), currency, page)) <= near
    assert in_book["in a sentence"] == in_book["mart"]["sentence"]
    assert " ".join(told["sentences"]) == in_words_of_tools(in_book["in a sentence"])
    assert (first["price_mark"] or None) == in_book["mark"]


#: What a form says does not depend on the question: one of each place. That the others are answered alike is shown above.
OF_EACH_PLACE = list({question[4:]: question for question in FEW}.values())


@pytest.mark.parametrize(
    "question",
    [pytest.param(one, marks=[pytest.mark.slow_combination] * (one not in OF_EACH_PLACE)) for one in FEW],
    ids=["-".join(map(str, question)) for question in FEW],
)
def test_the_command_says_it_in_every_form(data: Path, question: Question) -> None:
    model, people, context, condition, market, currency = question
    words = [
        "buy", "--model", model, "--users", people, "--context", context, "--condition", condition, "--market", market,
        "--currency", currency, "--limit", 1, "--data-dir", data,
    ]  # fmt: skip

    def asked(form: str) -> str:
        done = CliRunner().invoke(cli, [*map(str, words), "--format", form], catch_exceptions=False)
        return done.stdout

    told = agent(data, question)
    assert json.loads(asked("json")).items() <= told.items(), "the tool adds its age and what is to be known"
    lines = list(csv.DictReader(io.StringIO(asked("csv"))))
    assert [line["what"] for line in lines] == [row["what"] for row in told["options"]]
    for line, row in zip(lines, told["options"], strict=True):
        name = f"outlay_{currency.lower()}"
        assert Decimal(line[name]) == Decimal(str(row[name]))
    if told["options"]:
        assert " ".join(asked("table").split()).startswith(" ".join(" ".join(told["sentences"]).split()))


def test_every_door_says_of_when_its_prices_are(data: Path, page: dict[str, Any], tmp_path: Path) -> None:
    """A day on which only a measurement was read makes no price younger."""
    later = tmp_path / "data"
    shutil.copytree(data, later, symlinks=True)
    succeeds("measure", "add", "gaming-1440p-ultra", 150, "--gpu", "rtx 4090", data=later)
    succeeds("refresh", "--only", "measurements", "--keep-sample", "--engine", "plain", data=later)
    for words in (("price", "4090"), ("value", "gaming-1440p-ultra", "--market", "all"), ("show", "rtx 4090"),
                  ("buy", "--model", "qwen3-32b")):  # fmt: skip
        done = gpuledger(*words, data=later)
        assert "prices as of 2023-11-17 03:00 UTC" in done.out + done.err, words
    assert agent(later, QUESTIONS[0])["as_of"] == "2023-11-17T03:00:00Z"
    assert Tools(DataDir(later), cli).all()["price"](card="rtx 4090")["as_of"] == "2023-11-17T03:00:00Z"
    assert page["run"]["as_of"] == "2023-11-17T03:00Z"


def test_a_price_of_a_shop_that_could_not_be_read_is_stale_at_every_door_and_day(data: Path) -> None:
    stale = "stale, invented"
    for words in (("price", "7900 xtx"), ("price", "7900 xtx", "--as-of", "2023-11-17")):
        (row,) = json.loads(succeeds(*words, "--json", data=data).out)
        assert (row["source"], row["price_mark"]) == ("bhphoto", stale)
    (was,) = json.loads(succeeds("price", "7900 xtx", "--as-of", "2023-11-16", "--json", data=data).out)
    assert was["price_mark"] == "invented"
    assert stale in succeeds("show", "7900 xtx", data=data).out.partition("Offers")[0]


@pytest.mark.parametrize(
    ("budget", "speed"), [(1300, 0), pytest.param(1500, 20, marks=pytest.mark.slow_combination), (6000, 40)]
)
def test_a_budget_and_a_speed_give_the_picks_of_the_command_in_the_report(
    data: Path, page: dict[str, Any], budget: int, speed: int
) -> None:
    compared, questions, all_ways, all_steps = 0, *(table(page, name) for name in ("questions", "ways", "steps"))
    for number, row in enumerate(questions):
        if row["people"] != 1 or row["market"] != "us" or row["condition"] != "any":
            continue
        if (row["context"] and (row["context"] > 8192) != bool(speed)) or (speed and not row["context"]):
            continue  # each length with one of the budgets; a model of pictures writes no tokens
        question = (row["model_id"], 1, row["context"], "any", "us", "USD")
        told = agent(data, question, budget=budget, min_tokens_per_s=speed or None, shown=3)["options"]
        of_command = [
            (one["what"], one["precision"])
            for one in told if one["pick"] and not ("--host own" in one["instead"] or (one["instead"] and row["context"]))
        ]  # fmt: skip
        ways = [way for way in all_ways if way["question"] == number]
        steps = [
            step for step in all_steps
            if step["question"] == number and step["speed"] == speed and (step["budget_usd"] or 1e9) <= budget
        ]  # fmt: skip
        places = [steps[-1][name] for name in ("first", "for_less", "other")] if steps else []
        in_report = [
            (ways[place]["what"], ways[place]["precision"] or row["at_precision"])
            for place in places
            if place is not None
        ]
        assert in_report == of_command, question
        compared += len(of_command)
    assert compared >= 6


@pytest.mark.parametrize("question", QUESTIONS[::8], ids=lambda question: "-".join(map(str, question)))
def test_the_first_answer_is_what_its_archived_page_and_plain_arithmetic_give(data: Path, question: Question) -> None:
    """Recomputed from the bytes of the page and the assumptions by the sums of docs/guides/decide.md, in dollars."""
    told = agent(data, (*question[:-1], "USD"))["options"]
    if not told or told[0]["way"] != "buy":
        pytest.skip("there is no card to buy in the first answer")
    (first,) = told
    ((title, price, currency, rate),) = rows(
        data,
        f"""SELECT title, price, currency, usd_rate FROM core.market_offer o LEFT JOIN core.fx_usd f USING (currency)
           WHERE gpu_id = '{first["gpu_id"]}' AND snapshot_sha256 = '{first["snapshot_sha256"]}' AND exclusion IS NULL
           ORDER BY o.price_usd LIMIT 1""",
    )
    text = Archive(data / "snapshots").content_of(first["snapshot_sha256"]).decode("utf-8", errors="replace")
    printed = f"{price:,.0f}" if currency == "KRW" else f"{price:,.2f}"
    places = [at for at in range(len(text)) if text.startswith(title, at)]
    assert places, "the page names it"
    # Newegg prints the cents as `<sup>.99</sup>`, B&H as `<sup>99</sup>`.
    near = [re.sub(r"<[^>]*>", "", text[at : at + 1500]) for at in places]
    assert any(printed in plain or f"${printed.replace('.', '')}" in plain for plain in near)
    card = round(Decimal(price) * (1 if currency == "USD" else Decimal(str(rate))), 2)
    assumed = {name: Decimal(amount) for name, amount in rows(data, "SELECT assumption, amount FROM core.assumption")}
    boards = round(first["price_usd"] / float(card))
    assert Decimal(str(first["price_usd"])) == card * boards
    machine = Decimal(str(first["machine_usd"]))
    assert abs(card * boards + machine - Decimal(str(first["outlay_usd"]))) <= Decimal("0.01")
    years = assumed["horizon_years"]
    of_card = (
        f"SELECT observed_value_kept_per_year FROM mart.resale WHERE is_long_enough AND gpu_id = '{first['gpu_id']}'"
    )
    a_year = next((Decimal(str(seen)) for (seen,) in rows(data, of_card)), assumed["value_kept_per_year"])
    share = min(a_year**years, 1 - assumed["first_drop_share"])
    resale = card * boards * share * (1 - assumed["selling_cost_share"])
    assert abs(resale - Decimal(str(first["resale_usd"]))) <= Decimal("0.01")
    assert abs(
        Decimal(str(first["total_usd"]))
        - (Decimal(str(first["outlay_usd"])) + Decimal(str(first["running_usd"])) - Decimal(str(first["kept_usd"])))
    ) <= Decimal("0.02")
    hours = assumed["hours_per_day"] * 365 * years
    ((tdp,),) = rows(data, f"SELECT tdp_w FROM core.gpu WHERE gpu_id = '{first['gpu_id']}'")
    if first["host"] == "desktop" and question[4] == "us":
        watts = [
            (Decimal(round(tdp)) * assumed[share_of] * boards + assumed["host_power_w"]) / assumed["supply_efficiency"]
            for share_of in ("load_power_share", "idle_power_share")
        ]
        busy = assumed["utilisation"]
        electricity = hours * (watts[0] * busy + watts[1] * (1 - busy)) / 1000 * assumed["electricity_usd_per_kwh"]
        assert abs(electricity - Decimal(str(first["electricity_usd"]))) <= Decimal("0.01")


#: Models that people asked about in 2026, small and large, dense and mixtures.
ASKED_ABOUT = (
    "llama-3.1-8b", "qwen3-8b", "gemma-3-12b", "qwen3-14b", "gpt-oss-20b", "mistral-small-3.2-24b", "qwen3-30b-a3b",
    "gemma-4-31b", "qwen3-32b", "qwen3.5-35b-a3b", "llama-3.3-70b", "gpt-oss-120b", "gemma-3-27b", "qwen3.6-27b",
    "mistral-7b",
)  # fmt: skip


@pytest.mark.parametrize("context", [(), ("--context", "32768")], ids=["default", "32k"])
def test_what_is_recommended_fits_by_the_command_that_predicts(
    context: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Told the model and the context alone, as a reader would who checks the advice from an empty folder."""
    monkeypatch.chdir(tmp_path)

    def asked(*words: object) -> Any:
        done = CliRunner().invoke(cli, [*map(str, words), *context, "--format", "json"], catch_exceptions=False)
        return json.loads(done.stdout)

    checked = 0
    for model in ASKED_ABOUT:
        for row in asked("buy", "--model", model, "--budget", 4000, "--limit", 3)["options"]:
            told = asked("predict", "--model", model, "--gpu", row["gpu_id"], "--count", row["gpu_count"])
            assert told["verdict"] in ("fits", "tight"), (model, row["what"])
            assert told["memory_needed_gb"] <= told["memory_usable_gb"]
            checked += 1
    assert checked >= 30


def test_what_a_card_runs_is_what_a_question_about_it_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    def asked(*words: str) -> Any:
        return json.loads(CliRunner().invoke(cli, [*words, "--format", "json"], catch_exceptions=False).stdout)

    runs = {row["model"]: row for row in asked("predict", "--gpu", "rtx 3090", "--limit", "0")}
    assert runs.keys() >= {"qwen3-32b", "gpt-oss-20b", "flux.1-dev"}
    assert runs["llama-3.1-8b"]["precision"] == "fp16", "the most bits that are comfortable"
    for model in (*ASKED_ABOUT, "flux.1-dev"):
        precision = ("--precision", runs[model]["precision"]) if model in runs else ()
        first = asked("buy", "--model", model, *precision, "--own", "rtx 3090", "--host", "own")["options"][0]
        assert (first["condition"] == "owned" and not first["behind"]) == (model in runs), model
        assert not precision or runs[model].items() & first.items() == {
            (name, value) for name, value in runs[model].items() if name not in ("model", "seconds_each")
        }, model
    assert "llama-3.3-70b" in {row["model"] for row in asked("predict", "--gpu", "2x rtx 3090", "--limit", "0")}
