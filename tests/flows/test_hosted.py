"""An interface that hosts the model stands beside buying: its prices come from a list that is read like every page."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path

import duckdb
import pytest

from gpuledger.transform import freshness
from gpuledger.transform.buying.answer import Answer, ask
from gpuledger.transform.buying.headline import headline, sentences
from gpuledger.transform.buying.market import assumptions
from gpuledger.transform.buying.question import Question
from gpuledger.transform.buying.stock import Place, warehouse
from gpuledger.warehouse.paths import DataDir
from tests.extract.faulty_server import page
from tests.extract.test_http_sources import read
from tests.flows.inprocess import context, take_in_one
from tests.nights import Night

SEVENTY = {"id": "meta-llama/llama-3.3-70b-instruct", "hugging_face_id": "meta-llama/Llama-3.3-70B-Instruct"}


def a_list(prompt: str, completion: str) -> bytes:
    """A list of thirty models, of which the last is the one that is asked for."""
    others = [
        {"id": f"norvik/{n}", "hugging_face_id": "", "pricing": {"prompt": "0.000001", "completion": "0.000002"}}
        for n in range(29)
    ]
    return json.dumps(
        {"data": [*others, {**SEVENTY, "pricing": {"prompt": prompt, "completion": completion}}]}
    ).encode()


def answer_with(nights: dict[int, Night], tmp_path: Path, prompt: str, completion: str) -> Answer:
    data = DataDir(nights[1].copy(tmp_path / "data"))
    collected, _ = read("openrouter", page(a_list(prompt, completion), {"Content-Type": "application/json"}), tmp_path)
    assert collected.failure is None
    night = context(data.root, 2)
    with duckdb.connect(str(data.base)) as con:
        con.execute("SET TimeZone = 'UTC'")
        assert take_in_one(con, night, collected).outcome.status == "ok"
        freshness.keep(con, night.as_of)
        stock = warehouse(con, assumptions(con), Place(market="us"), None, night.as_of)
        return ask(Question(model="llama-3.3-70b"), stock, data.models)


def test_an_interface_is_cheaper_below_the_tokens_whose_price_is_what_owning_costs(
    nights: dict[int, Night], tmp_path: Path
) -> None:
    answer = answer_with(nights, tmp_path, "0.000001", "0.000004")
    found = headline(answer)
    assert found is not None
    assert found.api is not None
    assert (found.api.input_usd, found.api.output_usd) == (1, 4)
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
    said = next(one for one in sentences(answer) if one.code == "headline.api_below")
    assert said.values["share"] == f"{job.load.prompt / (job.load.prompt + answer.need.answer_tokens):.0%}"


def test_one_that_asks_less_than_the_electricity_is_always_cheaper(nights: dict[int, Night], tmp_path: Path) -> None:
    answer = answer_with(nights, tmp_path, "0.00000001", "0.00000002")
    found = headline(answer)
    assert found is not None
    assert found.api is not None
    assert found.api_below is None
    assert [one.code for one in sentences(answer) if one.code.startswith("headline.api")] == ["headline.api_always"]
