"""`gpuledger size` and `gpuledger model`: exact figures without a warehouse, and impossible questions refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gpuledger.flows.history.rebuild import rebuild
from tests.command import Outcome, gpuledger, rows, succeeds
from tests.flows.inprocess import context
from tests.nights import Night

#: A small decoder that no catalogue has: 2 layers of grouped-query attention, tied embeddings.
CONFIG = {
    "model_type": "llama", "hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2, "num_attention_heads": 4,
    "num_key_value_heads": 2, "vocab_size": 1000, "max_position_embeddings": 256, "tie_word_embeddings": True,
}  # fmt: skip
#: By hand: embedding 64,000; a layer 64 × (64 + 32 + 32 + 64) + 3 × 64 × 128 + 2 × 64 = 36,992; the last norm 64.
PARAMETERS = 64_000 + 2 * 36_992 + 64


def size(*words: object, data: Path | None = None, env: dict[str, str] | None = None) -> dict[str, Any]:
    outcome = succeeds("size", *words, "--format", "json", data=data, env=env)
    return {row["quantity"]: row["value"] for row in json.loads(outcome.out)}


def refused(*words: object, data: Path | None = None, env: dict[str, str] | None = None) -> str:
    outcome = gpuledger(*words, data=data, env=env)
    assert outcome.status == 2
    return " ".join(outcome.err.split())


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "small-model" / "config.json"
    path.parent.mkdir()
    path.write_text(json.dumps(CONFIG))
    return path


def test_a_model_of_the_catalogue_beside_the_published_method() -> None:
    found = size("llama-2-7b", "--context", 512, "--precision", "fp16")
    assert found["parameters"] == 6_738_415_616
    assert found["weights"] == 13_476_831_232
    assert found["key-value cache per token"] == 2**19
    assert found["published method (Park 2023)"] == 20_547_123_544_064
    assert found["published method (Park 2023), per token"] == 40_131_100_672
    assert found["exact count as that method counts positions"] == 6_903_086_186_496


def test_an_image_model_is_its_parts() -> None:
    found = size("flux.1-dev")
    assert found["parameters"] == sum(value for name, value in found.items() if name.startswith("parameters of"))
    assert found["memory to run"] < 26 < 35 < found["memory with all on the card"]
    assert "no context" in refused("size", "flux.1-dev", "--context", 512)


def test_any_config(config: Path) -> None:
    found = size("--config", config, "--context", 100, "--precision", "fp16")
    assert found["parameters"] == PARAMETERS
    assert found["weights"] == 2 * PARAMETERS
    # Keys and values of 2 heads of 16 elements in 2 layers, 2 bytes each.
    assert found["key-value cache"] == 2 * 2 * 16 * 2 * 2 * 100


def test_an_assumption_by_option_and_by_environment() -> None:
    half = 2**18
    assert size("llama-2-7b", "--assume", "kv_cache_bits=8")["key-value cache per token"] == half
    assert size("llama-2-7b", env={"GPULEDGER_ASSUMPTION_KV_CACHE_BITS": "8"})["key-value cache per token"] == half


def test_an_impossible_setting_is_refused_with_its_place() -> None:
    said = refused("size", "llama-2-7b", env={"GPULEDGER_ASSUMPTION_UTILISATION": "1.5"})
    assert "the environment variable GPULEDGER_ASSUMPTION_UTILISATION: utilisation must be between 0 and 1" in said


def test_settings_file_sets_assumptions(tmp_path: Path) -> None:
    (tmp_path / "gpuledger.toml").write_text("[assumptions]\nkv_cache_bits = 8\n")
    outcome = gpuledger("size", "llama-2-7b", "--format", "json", cwd=tmp_path)
    values = {row["quantity"]: row["value"] for row in json.loads(outcome.out)}
    assert values["key-value cache per token"] == 2**18
    (tmp_path / "gpuledger.toml").write_text("[assumptions]\nelectricity_usd_per_kwh = -1\n")
    outcome = gpuledger("size", "llama-2-7b", cwd=tmp_path)
    assert outcome.status == 2
    assert "gpuledger.toml [assumptions]: electricity_usd_per_kwh must be between 0 and 5" in outcome.err


def test_an_added_model_is_sized_at_once_and_in_the_warehouse_after_a_rebuild(
    nights: dict[int, Night], tmp_path: Path, config: Path
) -> None:
    data = nights[1].copy(tmp_path / "data")
    outcome = succeeds("model", "add", config, data=data)
    assert f"small-model: {PARAMETERS:,} parameters" in outcome.out
    assert size("small-model", data=data)["parameters"] == PARAMETERS
    rebuild(context(data, 2))
    found = rows(data, "SELECT parameters, max_context_tokens, family FROM core.model WHERE model_id = 'small-model'")
    assert found == [(PARAMETERS, 256, "own")]
    ((cheapest, needed),) = rows(
        data, "SELECT price_usd, needed_gb FROM cheapest_fit('small-model', 'int4', 256) WHERE rank = 1"
    )
    assert cheapest == rows(data, "SELECT min(price_usd) FROM mart.gpu_price")[0][0], "it fits on every card"
    assert 0 < needed < 0.01


def _add(config: Path, data: Path, *words: object) -> Outcome:
    return gpuledger("model", "add", config, *words, data=data)


def test_an_added_model_has_a_name_of_its_own(tmp_path: Path, config: Path) -> None:
    data = tmp_path / "data"
    assert _add(config, data, "--id", "mine").status == 0
    assert _add(config, data, "--id", "mine").status == 0, "the same once more is nothing new"
    config.write_text(json.dumps({**CONFIG, "num_hidden_layers": 3}))
    assert "has another model of that name" in _add(config, data, "--id", "mine").err.replace("\n", " ")
    assert "the catalogue already has a model 'llama-2-7b'" in _add(config, data, "--id", "llama-2-7b").err
    assert "must be small letters" in _add(config, data, "--id", "Mine!").err


def test_a_broken_file_among_the_added_models_stops_no_night_and_is_on_record(
    nights: dict[int, Night], tmp_path: Path, config: Path
) -> None:
    data = nights[1].copy(tmp_path / "data")
    _add(config, data, "--id", "good")
    with (data / "decisions" / "models.toml").open("a") as file:
        file.write('[[model]]\nmodel_id = "bad"\nadded_on = 2026-11-27\nconfig = "{"\n')
    rebuild(context(data, 2))
    assert rows(data, "SELECT model_id FROM core.model WHERE family = 'own'") == [("good",)]
    ((source, message),) = rows(data, "SELECT source, message FROM ops.issue WHERE code = 'bad_model'")
    assert source == "models"
    assert "its config is not JSON" in message
    assert "its config is not JSON" in gpuledger("model", "list", data=data).out
