"""The fit in SQL is the fit in Python: the same bytes, the same bound and the same speed of several cards, for models of
every kind, and it moves with every assumption behind it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import duckdb
import pytest

from gpuledger.transform.assumptions import Assumptions, settings
from gpuledger.transform.buying import market
from gpuledger.transform.identity.catalogue import by_id
from gpuledger.transform.sizing import catalogue
from gpuledger.transform.speed.engines import default_engine
from gpuledger.transform.speed.learned import NOTHING_LEARNED, Learned
from gpuledger.transform.speed.predict import job_of, load_of, predict
from gpuledger.transform.speed.rules import Plan
from tests.nights import Night

#: Dense, grouped-query, sliding windows, experts, latent attention, tied embeddings, an encoder, states.
MODELS = [
    "llama-13b", "llama-3-8b", "mistral-7b", "mixtral-8x7b", "gemma-3-4b", "gpt-oss-20b", "deepseek-v2-lite",
    "qwen2.5-0.5b", "bert-base", "mamba-2.8b", "qwen3-next-80b-a3b",
]  # fmt: skip
PRECISIONS = ["fp16", "int4", "Q4_K_M"]
CARDS = ["nvidia-geforce-rtx-3060-12gb", "nvidia-geforce-rtx-4090"]
FIT = [
    "needed_gb", "available_gb", "fits", "decode_bound_tokens_per_s", "expected_tokens_per_s", "low_tokens_per_s",
    "high_tokens_per_s", "engine", "fit",
]  # fmt: skip


@pytest.fixture(scope="module")
def con(nights: dict[int, Night], tmp_path_factory: pytest.TempPathFactory) -> Iterator[duckdb.DuckDBPyConnection]:
    """A copy of the sample's warehouse that may be written to."""
    copy = tmp_path_factory.mktemp("fit") / "gpuledger.duckdb"
    copy.write_bytes((nights[1].data / "gpuledger.duckdb").resolve().read_bytes())
    with duckdb.connect(str(copy)) as con:
        yield con


def expected(
    model: str,
    precision: str,
    context: int,
    batch: int,
    gpu_id: str,
    cards: int,
    a: Assumptions,
    learned: Learned = NOTHING_LEARNED,
) -> list[float | bool | str | None]:
    """What `gpuledger predict` says."""
    shape, engine = catalogue.architecture(model), default_engine(precision, batch)
    job = job_of(shape, precision, load_of(shape, context, batch, None, a), a)
    plan = Plan(gpu=by_id()[gpu_id], count=cards, engine=engine, split=engine.split, learned=learned)
    found = predict(job, plan)
    rate = found.decode
    # How fast a server writes is fitted apart and only said by `gpuledger predict`.
    speeds = [None] * 3 if engine.name == "vllm" else [rate.expected, rate.low, rate.high]
    return [
        found.needed / 1e9, found.usable / 1e9, found.verdict != "no", rate.bound, *speeds,
        engine.name, found.verdict,
    ]  # fmt: skip


@pytest.mark.parametrize(("context", "batch"), [(512, 1), (300, 4), (8192, 1), (2048, 16)])
@pytest.mark.parametrize("model", MODELS)
def test_sql_and_python_agree(con: duckdb.DuckDBPyConnection, model: str, context: int, batch: int) -> None:
    rows = con.execute(
        f"""SELECT precision, gpu_id, gpu_count, {", ".join(FIT)} FROM fit_at(?, ?, ?) f
            WHERE f.model_id = ? AND list_contains(?, f.gpu_id)""",
        [PRECISIONS, [context], batch, model, CARDS],
    ).fetchall()
    if context > catalogue.architecture(model).context:
        assert rows == []
        return
    assert len(rows) == len(PRECISIONS) * len(CARDS) * 4
    for precision, gpu, cards, *found in rows:
        wanted = expected(model, precision, context, batch, gpu, cards, Assumptions())
        if model == "llama-13b" and precision == "int4" and batch == 1:
            # This one is measured, with other software: see below.
            found, wanted = found[:4], wanted[:4]
        # Where several sequences meet the arithmetic of the card, SQL leaves the scores of attention out.
        assert agree(found, wanted, 0.03 if batch > 1 else 1e-6), (precision, gpu, cards, found, wanted)


def agree(found: Sequence[Any], wanted: Sequence[Any], rel: float = 1e-6) -> bool:
    """Figures to a share `rel`; words and gaps exactly."""
    return all(
        one == pytest.approx(other, rel=rel) if isinstance(other, float) else one == other
        for one, other in zip(found, wanted, strict=True)
    )


def answers(con: duckdb.DuckDBPyConnection) -> list[tuple[Any, ...]]:
    """What the fit says of a text model with measurements and of an image model."""
    return con.execute(
        """SELECT * FROM mart.model_fit
           WHERE model_id IN ('llama-13b', 'stable-diffusion-xl') AND gpu_id = 'nvidia-geforce-rtx-3060-12gb'
           UNION ALL SELECT * FROM mart.model_fit
           WHERE model_id = 'llama-2-7b' AND gpu_id = 'nvidia-geforce-rtx-3060-12gb'
           UNION ALL SELECT * FROM fit_at(['fp8'], [2048], 1)
           WHERE model_id IN ('llama-2-7b', 'qwen3-30b-a3b') AND gpu_id = 'nvidia-geforce-rtx-3060-12gb' ORDER BY ALL"""
    ).fetchall()


#: Assumptions of what only `buy` and `predict` know: choices, and programs that nobody measured (see test_predict.py).
NOT_OF_SQL = (
    "host_memory", "lora", "full_bytes", "expected_utilisation", "mixture_layer_us", "link_", "slot_share",
    "parallel_fraction", "reread_", "server_memory_share",
)  # fmt: skip
#: Assumptions of memory and speed; those of use and cost are felt in mart.rent_vs_buy (see test_buy.py).
OF_THE_FIT = [
    name for name in list(settings())[: list(settings()).index("hours_per_day")] if not name.startswith(NOT_OF_SQL)
]


@pytest.mark.parametrize("name", OF_THE_FIT)
def test_every_assumption_of_memory_and_speed_moves_the_fit_at_once(con: duckdb.DuckDBPyConnection, name: str) -> None:
    before = answers(con)
    setting = settings()[name]
    value = float(getattr(Assumptions(), name))
    other = setting.low if value > (setting.low + setting.high) / 2 else min(setting.high, value * 1.5 or 1)
    if name == "low_utilisation":
        other = 0.1  # below what was measured, so that the verdict is another one
    con.execute("UPDATE core.assumption SET amount = ? WHERE assumption = ?", [other, name])
    try:
        assert answers(con) != before
    finally:
        con.execute("UPDATE core.assumption SET amount = ? WHERE assumption = ?", [value, name])
    assert answers(con) == before


@pytest.mark.parametrize("name", ["device_overhead_gb", "kv_cache_bits", "parallel_fraction", "link_gb_s"])
def test_sql_and_python_agree_under_other_assumptions(con: duckdb.DuckDBPyConnection, name: str) -> None:
    value = getattr(Assumptions(), name)
    # llama.cpp's q8_0 has half a bit more than 8.
    other = 8.5 if name == "kv_cache_bits" else value / 2
    assumed = dataclasses.replace(Assumptions(), **{name: type(value)(other)})
    con.execute("UPDATE core.assumption SET amount = ? WHERE assumption = ?", [other, name])
    try:
        rows = con.execute(
            f"""SELECT gpu_id, gpu_count, {", ".join(FIT)} FROM fit_at(['fp8'], [509], 1, counts := [1, 3, 5, 12, 16, 17]) f
                WHERE f.model_id = 'llama-2-13b' AND list_contains(?, f.gpu_id)""",
            [CARDS],
        ).fetchall()
    finally:
        con.execute("UPDATE core.assumption SET amount = ? WHERE assumption = ?", [value, name])
    assert sorted(cards for gpu, cards, *_ in rows if gpu == CARDS[0]) == [1, 3, 5, 12, 16]  # no machine holds more
    for gpu, cards, *found in rows:
        wanted = expected("llama-2-13b", "fp8", 509, 1, gpu, cards, assumed)
        assert agree(found, wanted), (found, wanted)


@pytest.mark.parametrize(("precision", "users"), [("Q4_K_M", 1), ("fp16", 4)])
def test_sql_and_python_agree_on_what_the_warehouse_measured(
    con: duckdb.DuckDBPyConnection, precision: str, users: int
) -> None:
    engine, rtx = ("llama.cpp", "vllm")[users > 1], CARDS[1]
    con.executemany(
        "INSERT INTO core.calibration VALUES (?, ?, ?, ?, ?, ?, ?)",
        [
            [engine, users > 1, "engine", engine, -0.2, 0.35, 5],
            [engine, users > 1, "architecture", "Ada Lovelace", 0.05, 0.15, 3],
            [engine, users > 1, "card", rtx, 0.03, 0.11, 2],
            [engine, users > 1, "measurement", rtx, 0.5, None, 1],
        ],
    )
    try:
        learned, asked = market.learned(con), ["llama-3-8b", "qwen3-next-80b-a3b"]
        rows = con.execute(
            f"""SELECT model_id, gpu_id, gpu_count, {", ".join(FIT)}, speed_basis FROM fit_at(?, [512], ?) f
                WHERE list_contains(?, f.model_id) AND list_contains(?, f.gpu_id)""",
            [[precision], users, asked, CARDS],
        ).fetchall()
    finally:
        con.execute("DELETE FROM core.calibration")
    assert len(rows) == 16
    for model, gpu, cards, *found in rows:
        wanted = expected(model, precision, 512, users, gpu, cards, Assumptions(), learned)
        if model == "llama-3-8b" and gpu == rtx and cards == 1 and users == 1:
            assert found[-1] == "calibrated"
        assert agree(found[:-1], wanted, 0.03 if users > 1 else 1e-6), (model, gpu, cards, found, wanted)


def test_sql_and_python_agree_where_ranges_did_not_hold(con: duckdb.DuckDBPyConnection) -> None:
    card = "amd-radeon-rx-7900-xtx"
    rows = con.execute(
        f"""SELECT model_id, gpu_count, {", ".join(FIT)}, speed_basis FROM fit_at(['Q4_K_M'], [512], 1) f
            WHERE f.model_id IN ('llama-3-8b', 'gpt-oss-20b') AND f.gpu_id = ?""",
        [card],
    ).fetchall()
    assert len(rows) == 8
    for model, cards, *found in rows:
        assert found.pop() == "estimated"
        assert agree(found, expected(model, "Q4_K_M", 512, 1, card, cards, Assumptions())), (model, cards, found)


def test_nothing_that_was_measured_is_above_its_bound(con: duckdb.DuckDBPyConnection) -> None:
    found = con.execute(
        "SELECT gpu_id, bandwidth_utilisation, verdict FROM mart.model_fit WHERE measured_tokens_per_s IS NOT NULL"
    ).fetchall()
    assert len({gpu for gpu, *_ in found}) == 9
    for gpu, share, verdict in found:
        assert 0 < share <= 1, gpu
        assert verdict == "limited by software or CPU, not by the card", gpu


def test_a_card_is_not_expected_to_be_faster_than_one_that_was_measured_with_more_bandwidth(
    con: duckdb.DuckDBPyConnection,
) -> None:
    slower = con.execute(
        """SELECT f.gpu_id, f.expected_tokens_per_s, m.measured_tokens_per_s
           FROM mart.model_fit f JOIN core.gpu g ON g.gpu_id = f.gpu_id
           JOIN mart.model_fit m ON m.model_id = f.model_id AND m.precision = f.precision AND m.gpu_count = 1
               AND m.context_tokens = f.context_tokens AND m.measured_tokens_per_s IS NOT NULL
           JOIN core.gpu mg ON mg.gpu_id = m.gpu_id
           WHERE f.model_id = 'llama-13b' AND f.precision = 'int4' AND f.context_tokens = 512 AND f.gpu_count = 1
               AND f.measured_tokens_per_s IS NULL AND g.memory_bandwidth_gb_s <= mg.memory_bandwidth_gb_s"""
    ).fetchall()
    assert len(slower) > 1000
    assert all(guess <= measured for _, guess, measured in slower)


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        ("'llama-9', 'int4', 512", "no model is called llama-9; core.model lists them"),
        ("'llama-2-7b', '3bit', 512", "the precision 3bit is not known for llama-2-7b"),
        ("'llama-2-7b', 'int4', 4097", "4097 tokens is beyond what llama-2-7b was trained for, 4096"),
        ("'llama-2-7b', 'int4', 0", "a context of 0 tokens"),
    ],
)
def test_the_macro_refuses_what_cannot_be_with_the_reason(
    con: duckdb.DuckDBPyConnection, call: str, reason: str
) -> None:
    with pytest.raises(duckdb.Error, match=reason):
        con.execute(f"FROM cheapest_fit({call})").fetchall()


def test_the_macro_answers_any_client_by_position_and_by_name(
    con: duckdb.DuckDBPyConnection, nights: dict[int, Night]
) -> None:
    path: Path = (nights[1].data / "gpuledger.duckdb").resolve()
    with duckdb.connect(str(path), read_only=True) as reader:
        by_position = reader.execute("FROM cheapest_fit('llama-13b', 'int4', 512)").fetchall()
        by_name = reader.execute(
            """FROM cheapest_fit(context_tokens := 512, "precision" := 'int4', model := 'llama-13b')"""
        ).fetchall()
        prices = reader.execute("SELECT total_price_usd FROM cheapest_fit('llama-13b', 'int4', 512) ORDER BY rank")
        totals = [price for (price,) in prices.fetchall()]
    assert by_position == by_name
    assert totals == sorted(totals)
    assert len(totals) > 20
