"""Models by what their keys mean, beside the counts of transformers 5.24.0.

`model_types.jsonl` was made by that package's own classes: the configuration that each class has by default, and the
number of parameters of its model on the meta device (None where it cannot be made there), with the weights that balance
experts apart.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gpuledger.transform.sizing import catalogue
from gpuledger.transform.sizing.errors import BadConfig
from gpuledger.transform.sizing.families import read_config
from gpuledger.transform.sizing.families.meaning import families
from gpuledger.transform.sizing.running import kv_cache_bytes, state_bytes
from gpuledger.transform.sizing.tensors import count_parameters

ROWS: dict[str, dict[str, Any]] = {
    row["model_type"]: row
    for row in map(json.loads, Path(__file__).with_name("model_types.jsonl").read_text().splitlines())
}
#: What these make is put together from parts whose numbers no key states at the top.
REFUSED = {"bark", "fastspeech2_conformer_with_hifigan", "kosmos-2", "kosmos-2.5", "pi0"}
#: The package counts another class of these (a head for masked words, a decoder alone).
OTHER_CLASS = {"bert", "roberta", "xlm-roberta", "whisper"}


def counted(name: str) -> int:
    return count_parameters(read_config(ROWS[name]["config"])).total


@pytest.mark.parametrize("name", sorted(ROWS.keys() - REFUSED - OTHER_CLASS))
def test_a_count_is_exact_or_says_which_key_was_not_understood(name: str) -> None:
    row, shape = ROWS[name], read_config(ROWS[name]["config"])
    if not shape.estimated and row["parameters"]:
        assert count_parameters(shape).total in (row["parameters"], row["parameters"] + row["balancing"])


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_what_has_no_numbers_names_the_missing_key(name: str) -> None:
    with pytest.raises(BadConfig, match=r"has no (hidden_size|num_hidden_layers)"):
        read_config(ROWS[name]["config"])


def test_more_than_a_hundred_counts_are_within_a_thousandth() -> None:
    known = [name for name in ROWS.keys() - REFUSED if ROWS[name]["parameters"]]
    close = [name for name in known if abs(counted(name) / ROWS[name]["parameters"] - 1) <= 0.001]
    assert len(close) >= 110


def test_every_model_type_of_the_table_is_in_the_catalogue_or_was_compared_here() -> None:
    of_catalogue = {model.config["model_type"] for model in catalogue.models().values()}
    older = {"mt5", "RefinedWeb", "RefinedWebModel", "gguf"}  # under names of their own in test_sizing_parameters.py
    parts = {"qwen2_5_vl_text", "qwen2_vl_text", "qwen3_vl_text", "qwen3_vl_moe_text"}
    assert families().keys() - of_catalogue - ROWS.keys() <= older | parts


@pytest.mark.parametrize(
    ("name", "context", "gigabytes"),
    [
        # layers × kept tokens × 2 × kv heads × head width × 2 bytes, worked out by hand from the configs
        ("qwen3_5_text", 20_000, 8 * 20_000 * 2 * 4 * 256 * 2 / 1e9),
        ("gemma4_text", 20_000, (25 * 512 * 2 * 4 * 256 + 5 * 20_000 * 2 * 4 * 512) * 2 / 1e9),
        ("glm4_moe_lite", 20_000, 47 * 20_000 * (512 + 64) * 2 / 1e9),
        ("minimax_m2", 20_000, 62 * 20_000 * 2 * 8 * 128 * 2 / 1e9),
        ("deepseek_v32", 4_000, 61 * 4_000 * (512 + 64 + 128) * 2 / 1e9),
        # a window of one key for all heads in each layer, an entry for 4 tokens with its index in 20 and for 128 in 23
        ("deepseek_v4", 20_000, (43 * 128 * 512 + 20 * 5_000 * (512 + 128) + 23 * 20_000 * 512 / 128) * 2 / 1e9),
    ],
)
def test_the_cache_follows_from_the_kinds_of_layers(name: str, context: int, gigabytes: float) -> None:
    shape = read_config(ROWS[name]["config"])
    assert (kv_cache_bytes(shape, context) - state_bytes(shape)) / 1e9 == pytest.approx(gigabytes)
    assert not shape.bound


def test_a_kind_of_layer_that_is_not_understood_gives_a_bound_that_names_it() -> None:
    config = dict(catalogue.get("gpt-oss-20b").config)
    plain = read_config(config | {"layer_types": ["full_attention"] * 24})
    strange = read_config(config | {"layer_types": ["full_attention", "of_tomorrow"] * 12})
    assert strange.bound == "layer type 'of_tomorrow'"
    assert kv_cache_bytes(strange, 8_000) == kv_cache_bytes(plain, 8_000)
    unnamed = read_config(dict(catalogue.get("llama-2-7b").config) | {"model_type": "x", "sliding_window": 1_024})
    assert unnamed.bound == "sliding_window"


def without_its_name(config: dict[str, Any]) -> dict[str, Any]:
    """The config as of a family that came out yesterday: nothing but the meaning of its keys says what it is."""
    inner = {
        key: value | {"model_type": f"of_tomorrow_{key}"}
        for key, value in config.items()
        if isinstance(value, dict) and "model_type" in value and key.endswith(("text_config", "llm_config"))
    }
    return config | inner | {"model_type": "of_tomorrow"}


def test_a_cache_of_an_unknown_family_is_at_most_half_as_much_again() -> None:
    """Of the families whose cache is exact, each with its name hidden."""
    ratios: dict[str, float] = {}
    for name in sorted(ROWS.keys() - REFUSED):
        exact = read_config(ROWS[name]["config"])
        if exact.estimated or exact.bound or exact.kind != "decoder" or not ROWS[name]["parameters"]:
            continue
        context = min(32_768, exact.context)
        hidden = read_config(without_its_name(ROWS[name]["config"]))
        assert hidden.estimated, f"{name} is not known without its name, and says so"
        ratios[name] = kv_cache_bytes(hidden, context) / kv_cache_bytes(exact, context)
    assert len(ratios) >= 85
    assert min(ratios.values()) >= 1, "a bound is never too small"
    assert {name for name, ratio in ratios.items() if ratio > 1.5} == {"falcon", "mistral"}
