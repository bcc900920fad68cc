"""Parameter counts: exact against published ones, refused where the family is not known."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transform.sizing import catalogue
from transform.sizing.architecture import count_parameters, known_model_types, read_config
from transform.sizing.errors import BadConfig, UnknownArchitecture, UnknownModel

PUBLISHED = [model for model in catalogue.models().values() if model.published_parameters is not None]

LLAMA_2_7B = dict(catalogue.get("llama-2-7b").config)


@pytest.mark.parametrize("model", PUBLISHED, ids=lambda model: model.model_id)
def test_count_equals_the_published_one(model: catalogue.Model) -> None:
    assert count_parameters(catalogue.architecture(model.model_id)).total == model.published_parameters


def test_enough_models_and_families_are_checked() -> None:
    assert len(PUBLISHED) >= 80
    assert len({model.config["model_type"] for model in PUBLISHED}) >= 20


def test_every_published_count_names_its_source() -> None:
    assert all(model.published_source for model in PUBLISHED)


@pytest.mark.parametrize(
    ("model_id", "billions"),
    [
        # As model cards print them: Mixtral 12.9B of 46.7B, Qwen3 3.3B and 22B, DeepSeek-V2-Lite 2.4B without its embedding,
        # gpt-oss 3.6B and 5.1B without theirs (the card counts the output projection, not the lookup).
        ("mixtral-8x7b", "12.9"),
        ("mixtral-8x22b", "39.2"),
        ("qwen3-30b-a3b", "3.4"),
        ("qwen3-235b-a22b", "22.2"),
        ("deepseek-v3", "37.6"),
    ],
)
def test_active_parameters(model_id: str, billions: str) -> None:
    active = count_parameters(catalogue.architecture(model_id)).active
    assert f"{active / 1e9:.1f}" == billions


@pytest.mark.parametrize(("model_id", "billions"), [("gpt-oss-20b", "3.61"), ("gpt-oss-120b", "5.13")])
def test_active_parameters_of_gpt_oss_as_its_card_counts_them(model_id: str, billions: str) -> None:
    count = count_parameters(catalogue.architecture(model_id))
    assert f"{(count.active - count.embedding) / 1e9:.2f}" == billions


def test_parts_add_up_to_the_total() -> None:
    for model_id in catalogue.models():
        count = count_parameters(catalogue.architecture(model_id))
        parts = count.embedding + count.attention + count.feed_forward + count.output + count.other
        assert parts == count.total, model_id
        assert count.active <= count.total, model_id


def test_an_mt5_with_its_published_count() -> None:
    # bigscience/mt0-large in the PEFT guide: all params 1231940608, of which its adapter has 2359296.
    config = {
        "model_type": "mt5",
        "d_model": 1024,
        "d_kv": 64,
        "d_ff": 2816,
        "num_layers": 24,
        "num_heads": 16,
        "vocab_size": 250112,
        "feed_forward_proj": "gated-gelu",
        "tie_word_embeddings": False,
    }
    assert count_parameters(read_config(config)).total == 1_231_940_608 - 2_359_296


def test_an_unknown_family_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UnknownArchitecture, match=r"'mamba' is not known.*llama, mistral"):
        read_config(LLAMA_2_7B | {"model_type": "mamba"})


def test_every_family_has_a_model_in_the_catalogue_or_a_test() -> None:
    tested_here = {"mt5", "RefinedWeb", "RefinedWebModel"}
    assert set(known_model_types()) - {m.config["model_type"] for m in catalogue.models().values()} == tested_here


def test_falcon_under_its_first_name_is_the_same_model() -> None:
    config = dict(catalogue.get("falcon-7b").config)
    renamed = {
        "model_type": "RefinedWebModel",
        "hidden_size": config["hidden_size"],
        "n_layer": config["num_hidden_layers"],
        "n_head": config["num_attention_heads"],
        "vocab_size": config["vocab_size"],
        "multi_query": True,
        "parallel_attn": True,
        "bias": False,
    }
    assert count_parameters(read_config(renamed)) == count_parameters(read_config(config))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"model_type": None}, "has no model_type"),
        ({"hidden_size": None}, "no hidden_size"),
        ({"hidden_size": "4096"}, "hidden_size .* whole number above 0, not '4096'"),
        ({"hidden_size": -1}, "hidden_size .* not -1"),
        ({"hidden_size": True}, "hidden_size .* not True"),
        ({"hidden_size": 4097}, "4097 .* not divisible by 32 heads"),
        ({"num_key_value_heads": 5}, "32 heads .* cannot share 5"),
        ({"tie_word_embeddings": "yes"}, "must be true or false, not 'yes'"),
    ],
)
def test_a_config_that_cannot_be_counted_says_why(change: dict[str, Any], message: str) -> None:
    with pytest.raises(BadConfig, match=message):
        read_config(LLAMA_2_7B | change)


def test_layer_types_must_name_every_layer() -> None:
    config = dict(catalogue.get("gpt-oss-20b").config) | {"layer_types": ["full_attention"] * 3}
    with pytest.raises(BadConfig, match="names 3 layers of 24"):
        read_config(config)


def test_layer_types_win_over_the_family_rule() -> None:
    config = dict(catalogue.get("gpt-oss-20b").config) | {"layer_types": ["full_attention"] * 24}
    assert {layer.window for layer in read_config(config).attention} == {None}


def test_opt_with_projected_embeddings_is_refused() -> None:
    config = dict(catalogue.get("opt-1.3b").config) | {"word_embed_proj_dim": 512}
    with pytest.raises(BadConfig, match="opt-350m"):
        read_config(config)


def test_quantization_settings_change_bytes_not_the_count() -> None:
    config = LLAMA_2_7B | {"quantization_config": {"quant_method": "gptq", "bits": 4}}
    assert count_parameters(read_config(config)).total == 6_738_415_616


def test_an_unknown_model_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UnknownModel, match=r"'llama-9-9b'.*llama-2-7b"):
        catalogue.get("llama-9-9b")


@given(
    hidden=st.integers(1, 64).map(lambda n: n * 64),
    inner=st.integers(1, 20_000),
    layers=st.integers(1, 12),
    queries=st.sampled_from([1, 2, 4, 8]),
    kv=st.sampled_from([1, 2, 4]),
    vocab=st.integers(2, 300_000),
    tied=st.booleans(),
)
def test_a_llama_of_any_shape_has_the_closed_form(
    hidden: int, inner: int, layers: int, queries: int, kv: int, vocab: int, tied: bool
) -> None:
    head = 16
    config = {
        "model_type": "llama",
        "hidden_size": hidden,
        "intermediate_size": inner,
        "num_hidden_layers": layers,
        "num_attention_heads": queries * kv,
        "num_key_value_heads": kv,
        "head_dim": head,
        "vocab_size": vocab,
        "tie_word_embeddings": tied,
    }
    attention = 2 * hidden * queries * kv * head + 2 * hidden * kv * head
    layer = attention + 3 * hidden * inner + 2 * hidden
    expected = (1 if tied else 2) * vocab * hidden + layers * layer + hidden
    assert count_parameters(read_config(config)).total == expected
