"""An interface that hosts the model stands beside buying: its prices come from a list that is read like every page."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import duckdb
import pytest

from gpuledger.transform import freshness
from gpuledger.transform.buying.answer import Answer, ask
from gpuledger.transform.buying.headline import Requested, headline, sentences
from gpuledger.transform.buying.market import assumptions
from gpuledger.transform.buying.question import Question
from gpuledger.transform.buying.stock import Place, warehouse
from gpuledger.transform.queries import select_of
from gpuledger.transform.sizing.catalogue import served_as, served_names
from gpuledger.warehouse.paths import DataDir
from tests.extract.faulty_server import page
from tests.extract.test_http_sources import read
from tests.flows.inprocess import context, take_in_one
from tests.nights import Night

SEVENTY = {"id": "meta-llama/llama-3.3-70b-instruct", "hugging_face_id": "meta-llama/Llama-3.3-70B-Instruct"}


def a_list(prompt: str, completion: str, more: dict[str, object]) -> bytes:
    """A list of thirty models, of which the last is the one that is asked for, with `more` prices."""
    others = [
        {"id": f"norvik/{n}", "hugging_face_id": "", "pricing": {"prompt": "0.000001", "completion": "0.000002"}}
        for n in range(29)
    ]
    return json.dumps(
        {"data": [*others, {**SEVENTY, "pricing": {"prompt": prompt, "completion": completion, **more}}]}
    ).encode()


def answer_with(
    nights: dict[int, Night], tmp_path: Path, prompt: str, completion: str, use: str | None = None, **more: object
) -> Answer:
    lists = {"openrouter": a_list(prompt, completion, more)}
    return next(answers_from(nights, tmp_path, lists, Question(model="llama-3.3-70b", use=use)))


def answers_from(
    nights: dict[int, Night], tmp_path: Path, lists: dict[str, bytes], *questions: Question
) -> Iterator[Answer]:
    data = DataDir(nights[1].copy(tmp_path / "data"))
    night = context(data.root, 2)
    with duckdb.connect(str(data.base)) as con:
        con.execute("SET TimeZone = 'UTC'")
        for name, content in lists.items():
            collected, _ = read(name, page(content, {"Content-Type": "application/json"}), tmp_path / name)
            assert collected.failure is None
            assert take_in_one(con, night, collected).outcome.status == "ok"
        freshness.keep(con, night.as_of)
        con.execute(f"DROP TABLE mart.token_price; CREATE TABLE mart.token_price AS {select_of('mart.token_price')}")
        stock = warehouse(con, assumptions(con), Place(market="us"), None, night.as_of)
        for question in questions:
            yield ask(question, stock, data.root)


def test_an_interface_is_cheaper_below_the_tokens_whose_price_is_what_owning_costs(
    nights: dict[int, Night], tmp_path: Path
) -> None:
    answer = answer_with(nights, tmp_path, "0.000001", "0.000004")
    found = headline(answer)
    assert found is not None
    assert found.api is not None
    assert (found.api.usd("input", 4096), found.api.usd("output", 4096)) == (1, 4)
    own, speed, job = found.option.own, found.option.speed, answer.need.job
    assert own is not None
    assert speed is not None
    assert job is not None
    assert found.api_below is not None
    # By hand: what is bought and not sold again, over what a written token with what is read for it costs more there.
    read = Decimal(job.load.prompt) / answer.need.answer_tokens
    an_hour = Decimal(str(speed.serving.all_tokens_per_s if speed.serving else speed.expected)) * 3600
    saved = (read + 4) / 1_000_000 - own.electricity / own.hours / an_hour
    fixed = own.purchase + own.host + own.other - own.resale
    months = 12 * answer.assumptions.horizon_years
    assert found.api_below == pytest.approx(fixed / saved / months * (1 + read), rel=Decimal("1e-9"))
    said = next(one for one in sentences(answer) if "an API is cheaper below {millions}" in one.template)
    assert said.values["share"] == f"{job.load.prompt / (job.load.prompt + answer.need.answer_tokens):.0%}"


def test_one_that_asks_less_than_the_electricity_is_always_cheaper(nights: dict[int, Night], tmp_path: Path) -> None:
    answer = answer_with(nights, tmp_path, "0.00000001", "0.00000002")
    found = headline(answer)
    assert found is not None
    assert found.api is not None
    assert found.api_below is None
    said = [one.template for one in sentences(answer) if "an API is cheaper" in one.template]
    assert said == ["If your data may leave the house, an API is cheaper than all that this can write ({api})."]


def test_an_agent_reads_its_context_again_at_the_price_of_a_cache_and_of_its_length(
    nights: dict[int, Night], tmp_path: Path
) -> None:
    prices = ("0.000001", "0.000004", "agent")
    cached = answer_with(nights, tmp_path / "cached", *prices, input_cache_read="0.0000001")
    # Half of what is left of 32,768 tokens beside 4,096 that are read and 1,024 that are written.
    assert cached.need.request == (4096, 13824, 1024)
    said = next(str(one) for one in sentences(cached) if "an API is cheaper" in one.template)
    assert "0.10 USD read again" in said
    assert "it reads 13,824 tokens of the context again" in said
    long = {"min_prompt_tokens": 16000, "prompt": "0.000002", "completion": "0.000006"}
    answers = [cached, answer_with(nights, tmp_path / "none", *prices), answer_with(
        nights, tmp_path / "long", *prices, input_cache_read="0.0000001", overrides=[long]
    )]  # fmt: skip
    costs = []
    for answer in answers:
        found = headline(answer)
        assert found is not None
        assert found.api is not None
        costs.append(Requested(*answer.need.request).usd(found.api) * 1_000_000)
    assert costs == [
        4096 + 13824 * Decimal("0.1") + 1024 * 4, 4096 + 13824 + 1024 * 4, 4096 * 2 + 13824 * Decimal("0.1") + 1024 * 6,
    ]  # fmt: skip


def test_a_provider_is_found_by_the_weights_that_it_names_and_a_batch_by_its_own_price(
    nights: dict[int, Night], tmp_path: Path
) -> None:
    """A name that moves, or of other weights of one shape, is no answer, nor is a model that a provider gives up."""

    def served(name: str, price: float, **more: object) -> dict[str, object]:
        return {"id": name, "prices": {"input_mtok": price, "output_mtok": 9}, **more}

    batch = [{"when": {"processing": "batch"}, "prices": {"input_mtok": 0.5, "output_mtok": 2}}]
    qwen, thinking = "Qwen/Qwen3-235B-A22B-FP8", "@cf/qwen/qwen3-235b-a22b-thinking-fp8"
    providers = {
        "maker": [
            *(served(f"m{number}", 1) for number in range(110)), served("qwen3-235b-a22b-latest", 0.1),
            served(thinking, 0.2), served("qwen3-235b-a22b-2507", 0.3),
        ],
        "host": [served(name, 0.7, price_variants=batch) for name in (qwen, "llama-3.3-70b")],
        "gives-up": [served("qwen3-235b-a22b", 0.4, deprecated=True)],
        "openrouter": [served(str(SEVENTY["id"]), 0.1)],
    }  # fmt: skip
    lists = {
        "openrouter": a_list("0.000001", "0.000004", {}),
        "genai_prices": json.dumps([{"id": name, "models": models} for name, models in providers.items()]).encode(),
    }
    expected = {
        ("qwen3:235b", None): (f"{qwen} at host (says genai-prices)", Decimal("0.7")),
        ("qwen3:235b", "batch"): (f"{qwen} at host in a batch (says genai-prices)", Decimal("0.5")),
        ("Qwen/Qwen3-235B-A22B-Instruct-2507", None): (
            "qwen3-235b-a22b-2507 at maker (says genai-prices)", Decimal("0.3"),
        ),
        ("qwen3-235b-a22b-thinking", "batch"): (f"{thinking} at maker (says genai-prices)", Decimal("0.2")),
        ("llama-3.3-70b", None): (f"{SEVENTY['id']} at openrouter", Decimal(1)),
        ("llama-3.3-70b", "batch"): ("llama-3.3-70b at host in a batch (says genai-prices)", Decimal("0.5")),
    }  # fmt: skip
    assert served_names("deepseek-v3.1")[0] == {served_as("deepseek-ai/DeepSeek-V3.1")} != {served_as("deepseek-v3")}
    asked = [Question(model=model, use=use) for model, use in expected]  # type: ignore[arg-type]
    for answer in answers_from(nights, tmp_path, lists, *asked):
        found, said = headline(answer), " ".join(map(str, sentences(answer)))
        assert found is not None
        assert found.api is not None
        name, price = expected[answer.question.model, answer.question.use]
        assert (f"({name}, " in said, found.api.usd("input", 9)) == (True, price), (name, said)


def test_what_a_list_of_others_says_stands_beside_what_the_provider_says(
    nights: dict[int, Night], tmp_path: Path
) -> None:
    """The rows that contradict their provider's own list are named, with both prices, and others are not."""
    night, json_type = context(nights[1].copy(tmp_path / "data"), 2), {"Content-Type": "application/json"}
    others = [{"id": f"m{n}", "prices": {"input_mtok": 1, "output_mtok": 2}} for n in range(120)]
    second_hand = [
        {"id": "maker", "models": others},
        {"id": "openrouter", "models": [
            {"id": SEVENTY["id"], "prices": {"input_mtok": 1, "output_mtok": 9, "cache_read_mtok": 0.1}},
            {"id": "norvik/1", "prices": [{"prices": {"input_mtok": 1, "output_mtok": 3}},
                                          {"constraint": {"start_date": "2023-01-02"},
                                           "prices": {"input_mtok": 1, "output_mtok": 2}}]},
        ]},
    ]  # fmt: skip
    lists = {
        "openrouter": a_list("0.000001", "0.000004", {"input_cache_read": "0.0000001"}),
        "genai_prices": json.dumps(second_hand).encode(),
    }
    with duckdb.connect(str(DataDir(tmp_path / "data").base)) as con:
        con.execute("SET TimeZone = 'UTC'")
        for name, content in lists.items():
            collected, _ = read(name, page(content, json_type), tmp_path / name)
            assert take_in_one(con, night, collected).outcome.status == "ok"
        prices = f"FROM ({select_of('mart.token_price')}) WHERE is_second_hand"
        assert con.execute(
            f"SELECT hosted_name, tokens, price_usd, own_usd {prices} AND own_usd IS NOT NULL"
        ).fetchall() == [(SEVENTY["id"], "output", 9, 4)]
        # What others say of the days before the first night is there, with its days.
        was = con.execute(
            f"SELECT price, valid_from, valid_to {prices} AND hosted_name = 'norvik/1' AND tokens = 'output'"
        )
        changed = datetime(2023, 1, 2, tzinfo=UTC)
        assert was.fetchall() == [(2, changed, None), (3, None, changed)]
