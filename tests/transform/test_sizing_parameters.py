"""Parameter counts: exact against published ones, refused where the family is not known."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuledger.transform.sizing import catalogue
from gpuledger.transform.sizing.errors import BadConfig, UnknownModel
from gpuledger.transform.sizing.families import read_config
from gpuledger.transform.sizing.families.meaning import families
from gpuledger.transform.sizing.running import kv_cache_bytes, state_bytes
from gpuledger.transform.sizing.tensors import count_parameters

PUBLISHED = [model for model in catalogue.models().values() if model.published_parameters is not None]

LLAMA_2_7B = dict(catalogue.get("llama-2-7b").config)


@pytest.mark.parametrize("model", PUBLISHED, ids=lambda model: model.model_id)
def test_count_equals_the_published_one(model: catalogue.Model) -> None:
    assert count_parameters(catalogue.architecture(model.model_id)).total == model.published_parameters


def test_enough_models_and_families_are_checked() -> None:
    assert len(PUBLISHED) >= 80
    assert len({model.config["model_type"] for model in PUBLISHED}) >= 20
    assert all(model.published_source for model in PUBLISHED)


@pytest.mark.parametrize(
    ("model_id", "part", "billions"),
    [
        # Active parameters as model cards print them: Mixtral 12.9B of 46.7B, Qwen3 3.3B and 22B, DeepSeek-V2-Lite 2.4B
        # without its embedding, gpt-oss 3.6B and 5.1B without theirs (the card counts the output projection, not the
        # lookup).
        ("mixtral-8x7b", "active", "12.9"),
        ("mixtral-8x22b", "active", "39.2"),
        ("qwen3-30b-a3b", "active", "3.4"),
        ("qwen3-235b-a22b", "active", "22.2"),
        ("deepseek-v3", "active", "37.6"),
        ("gpt-oss-20b", "active", "3.61"),
        ("gpt-oss-120b", "active", "5.13"),
        # All parameters, as model cards and reports round them.
        ("command-r-35b", "total", "35.0"),
        ("command-r-plus-104b", "total", "103.8"),
        ("command-r7b", "total", "8.0"),
        ("starcoder2-3b", "total", "3.0"),
        ("starcoder2-7b", "total", "7.2"),
        ("starcoder2-15b", "total", "16.0"),
        ("phi-3.5-moe", "total", "41.9"),
        ("mpt-7b", "total", "6.6"),
        ("granite-3.1-8b", "total", "8.2"),
        ("kimi-k2", "total", "1026.4"),
    ],
)
def test_a_count_rounds_to_what_its_card_says(model_id: str, part: str, billions: str) -> None:
    counted = getattr(count_parameters(catalogue.architecture(model_id)), part)
    assert f"{counted / 1e9:.{len(billions.partition('.')[2])}f}" == billions


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


def test_one_tensor_more_or_less_is_a_key_of_the_config() -> None:
    """Each of these keys adds exactly its tensors, so that a config beside the catalogue's is counted as exactly."""
    command = dict(catalogue.get("command-r-35b").config)
    plain = count_parameters(read_config(command)).total
    normed = count_parameters(read_config(command | {"use_qk_norm": True})).total
    assert normed - plain == 40 * (64 + 64) * 128
    small = dict(catalogue.get("starcoder2-3b").config)
    untied = count_parameters(read_config(small | {"tie_word_embeddings": False})).total
    assert untied - count_parameters(read_config(small)).total == 49_152 * 3_072
    one_head = dict(catalogue.get("starcoder-15b").config)
    all_heads = count_parameters(read_config(one_head | {"multi_query": False})).total
    assert all_heads - count_parameters(read_config(one_head)).total == 40 * 2 * 47 * 128 * (6_144 + 1)


def test_an_unknown_family_is_counted_by_its_keys_and_says_so() -> None:
    unknown = read_config(LLAMA_2_7B | {"model_type": "of-tomorrow"})
    assert unknown.estimated == "model_type"
    assert count_parameters(unknown).total == count_parameters(read_config(LLAMA_2_7B)).total
    assert not read_config(LLAMA_2_7B).estimated


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
    ("model_id", "change", "message"),
    [
        ("mixtral-8x7b", {"num_experts_per_tok": 9}, "cannot use 9 of 8 experts"),
        ("gpt-oss-20b", {"layer_types": ["full_attention"] * 3}, "names 3 layers of 24"),
        ("opt-1.3b", {"word_embed_proj_dim": 512}, "has word_embed_proj_dim 512"),
        ("mpt-7b", {"no_bias": False}, "mpt model has no_bias False"),
        ("llama-2-7b", {"model_type": None}, "has no model_type"),
        ("llama-2-7b", {"hidden_size": None}, "no hidden_size"),
        ("llama-2-7b", {"hidden_size": "4096"}, "hidden_size .* whole number above 0, not '4096'"),
        ("llama-2-7b", {"hidden_size": -1}, "hidden_size .* not -1"),
        ("llama-2-7b", {"hidden_size": True}, "hidden_size .* not True"),
        ("llama-2-7b", {"num_key_value_heads": 5}, "32 heads .* cannot share 5"),
        ("llama-2-7b", {"tie_word_embeddings": "yes"}, "must be true or false, not 'yes'"),
        (
            "llama-2-7b",
            {"num_hidden_layers": 10**9},
            "num_hidden_layers .* is 1,000,000,000, and no model has over 20,000",
        ),
        ("llama-2-7b", {"vocab_size": 10**12}, "vocab_size .* no model has over"),
    ],
)
def test_a_config_that_cannot_be_counted_says_why(model_id: str, change: dict[str, Any], message: str) -> None:
    with pytest.raises(BadConfig, match=message):
        read_config(dict(catalogue.get(model_id).config) | change)


def test_heads_that_do_not_divide_the_width_are_an_estimate_that_names_the_missing_key() -> None:
    assert read_config(LLAMA_2_7B | {"hidden_size": 4097}).estimated == "head_dim"


def test_layer_types_win_over_the_family_rule() -> None:
    config = dict(catalogue.get("gpt-oss-20b").config) | {"layer_types": ["full_attention"] * 24}
    assert {layer.window for layer in read_config(config).attention} == {None}


def test_quantization_settings_change_bytes_not_the_count() -> None:
    config = LLAMA_2_7B | {"quantization_config": {"quant_method": "gptq", "bits": 4}}
    assert count_parameters(read_config(config)).total == 6_738_415_616


def test_an_unknown_model_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UnknownModel, match=r"'llama-9-9b'; did you mean llama-7b"):
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


@pytest.mark.parametrize(
    ("model_id", "in_repository", "predicts_second"),
    [
        ("glm-4.5", 358_337_791_296, 5_539_962_272),
        ("glm-4.5-air", 110_468_824_832, 3_616_573_568),
        ("qwen3-next-80b-a3b", 81_324_862_720, 1_650_471_424),
    ],
)
def test_a_repository_holds_also_the_layer_that_predicts_a_second_token(
    model_id: str, in_repository: int, predicts_second: int
) -> None:
    shape = catalogue.architecture(model_id)
    assert count_parameters(shape).total == in_repository - predicts_second
    assert shape.drafting == predicts_second


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("13b", "of that size are llama-13b, llama-2-13b, olmo-2-13b."),
        ("59B", "none has that size, the next ones are qwen2-57b-a14b, "),
        ("yi", "names that have it are yi-1.5-34b, yi-1.5-6b, yi-1.5-9b, yi-34b."),
        ("qwen", "names that have it are qwen1.5-moe-a2.7b, qwen2-0.5b, "),
        ("lama-2-13b", "did you mean llama-2-13b"),
        ("nothing-like-it", "give its name on the model hub (`gpuledger size OWNER/NAME`)"),
    ],
)
def test_a_name_that_no_model_has_is_answered_with_those_it_may_mean(name: str, said: str) -> None:
    assert said in str(catalogue.unknown(name, catalogue.models()))


@pytest.mark.parametrize(
    ("name", "model_id", "billions", "active"),
    [
        ("codestral", "codestral-22b", 22.2, 22.2),
        ("Qwen/Qwen3-Coder-30B-A3B-Instruct", "qwen3-coder-30b-a3b", 30.5, 3.4),
        ("qwen3-coder:480b", "qwen3-coder-480b-a35b", 480.2, 35.5),
        ("nvidia/Llama-3.1-Nemotron-70B-Instruct-HF", "nemotron-70b", 70.6, 70.6),
        ("yi:34b", "yi-34b", 34.4, 34.4),
        ("zai-org/GLM-4.7", "glm-4.7", 352.8, 33.6),
        ("Qwen/Qwen3.5-35B-A3B", "qwen3.5-35b-a3b", 35.1, 3.9),
        ("qwen3.6:35b", "qwen3.6-35b-a3b", 35.1, 3.9),
        ("Qwen/Qwen3.8-27B-FP8", "qwen3.8-27b", 27.4, 27.4),
        ("unsloth/Qwen3.5-9B-GGUF:Q4_K_M", "qwen3.5-9b", 9.4, 9.4),
        ("gemma4:31b", "gemma-4-31b", 31.27, 31.27),
        ("google/gemma-4-26B-A4B-it", "gemma-4-26b-a4b", 25.8, 4.4),
        ("glm-4.7-flash", "glm-4.7-flash", 29.9, 3.9),
        ("zai-org/GLM-5", "glm-5", 743.9, 41.8),
        ("deepseek-ai/DeepSeek-V3.2-Exp", "deepseek-v3.2", 671.9, 38.4),
        ("MiniMaxAI/MiniMax-M2", "minimax-m2", 228.7, 11.0),
        ("mistralai/Mistral-Small-4-119B-2603", "mistral-small-4-119b", 119.0, 6.6),
        ("ministral-3:8b", "ministral-3-8b", 8.5, 8.5),
        ("nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16", "nemotron-3-nano-30b-a3b", 31.6, 3.6),
        ("upstage/Solar-Open-100B", "solar-open-100b", 102.7, 12.1),
        ("tencent/Hy3-preview", "hy3-295b", 295.0, 20.7),
        ("Qwen/Qwen3-Coder-Next", "qwen3-coder-next", 79.7, 3.9),
        ("mistralai/Ministral-3-14B-Instruct-2512", "ministral-3-14b", 13.5, 13.5),
        ("mistralai/Mistral-Small-3.2-24B-Instruct-2506", "mistral-small-3.2-24b", 24.0, 24.0),
        ("devstral-small-2:24b", "devstral-small-2-24b", 24.0, 24.0),
        ("MiniMaxAI/MiniMax-M2.5", "minimax-m2.5", 228.7, 11.0),
        ("moonshotai/Kimi-K2.5", "kimi-k2.5", 1026.9, 33.3),
        ("google/gemma-4-E4B-it", "gemma-4-e4b", 7.5, 7.5),
        ("unsloth/DeepSeek-V4-Flash-GGUF:Q4_K_M", "deepseek-v4-flash", 283.8, 13.4),
    ],
)
def test_models_that_people_ask_for_are_known_by_their_names(
    name: str, model_id: str, billions: float, active: float
) -> None:
    assert catalogue.canonical(name) == model_id
    counted = count_parameters(catalogue.architecture(model_id))
    assert counted.total / 1e9 == pytest.approx(billions, abs=0.06)
    assert counted.active / 1e9 == pytest.approx(active, abs=0.6)


def test_the_models_of_these_two_years_are_known_as_people_type_them() -> None:
    names = """
    qwen3 next 80b, qwen3 coder 480b, qwen3-coder-30b, qwen3-coder-next, qwen3-vl-2b, qwen3-vl-8b, qwen3-vl-32b,
    qwen3-vl-235b, qwen3.5-0.8b, qwen3.5-2b, qwen3.5-4b, qwen3.5-122b, qwen3.5-397b-a17b, qwen3.6-35b, qwen3.8-27b,
    glm 4.6, glm-4.5-air, glm-4.5v, glm-4.6v, glm-4.7-flash, glm-5, glm-5.1, glm-5.2, glm-5.3, deepseek-v3.1,
    deepseek-v3.2-exp, deepseek-v4-flash, deepseek-v4-pro, deepseek-r1-0528-qwen3-8b, kimi k2, kimi-k2-thinking,
    kimi-k2.5, kimi-k2.6, kimi-k2.7-code, kimi-k3, kimi-linear-48b, minimax-m2, minimax-m2.1, minimax-m2.7,
    minimax-m3, gpt-oss-20b, gpt-oss-120b, gemma-4-12b, gemma-4-e4b, gemma-4-26b, gemma-4-31b, mistral-small-3.2,
    mistral-small-4, magistral-small, devstral-small, devstral-small-2, devstral-2-123b, ministral-3-3b,
    ministral-3-8b, ministral-3-14b, llama-4-scout, llama-4-maverick, phi-4, phi-4-mini, phi-4-reasoning-plus,
    granite-4.0-h-small, granite-4.0-h-tiny, granite-4.0-h-micro, granite-4.0-micro, granite-4.1-3b,
    granite-4.1-8b, granite-4.1-30b, granite-4.2-8b, nemotron-3-nano-30b, nemotron-3-super-120b,
    nemotron-3-ultra-550b, nemotron-3.5-lightning, llama-3.3-nemotron-super-49b, hunyuan-a13b, hunyuan-7b, hy3,
    ernie-4.5-0.3b, ernie-4.5-21b, seed-oss-36b, dots.llm1, olmo-3-7b, olmo-3-32b, olmo-3.1-32b, smollm3-3b,
    lfm2-1.2b, lfm2-2.6b, lfm2-8b-a1b, lfm2-24b-a2b, lfm2.5-1.2b, exaone-4.0-32b, exaone-4.0-1.2b, exaone-4.5-33b,
    k-exaone-236b, step-3.7-flash, longcat-flash, solar-open-100b, a.x-4.0-light, a.x-k1, kanana-1.5-8b,
    mimo-v2-flash, apriel-1.6-15b, apertus-8b, apertus-70b, hyperclovax-seed-think-14b, afm-4.5b, hermes-4-70b,
    qwen3-embedding-8b, granite-3.3-8b, glm-4-32b, qwen2.5:7b, qwen2-57b, llama3.3, nemotron-3-nano, qwq, qwen2.5vl,
    granite4:small-h, smollm3, k-exaone, jan-v1, intellect-3, gpt-oss-safeguard-20b, deepcoder, falcon3
    """
    asked = [" ".join(name.split()) for name in names.split(",")]
    assert [name for name in asked if catalogue.canonical(name) is None] == []
    assert catalogue.canonical("qwen2.5:7b") == "qwen2.5-7b", "no name without its active size takes that of another"


@pytest.mark.parametrize(
    ("name", "model_id", "precision"),
    [
        ("RedHatAI/Llama-3.3-70B-Instruct-quantized.w4a16", "llama-3.3-70b", "gptq-int4-g128"),
        ("neuralmagic/Meta-Llama-3.1-8B-Instruct-FP8-dynamic", "llama-3.1-8b", "fp8"),
        ("hugging-quants/Meta-Llama-3.1-70B-Instruct-AWQ-INT4", "llama-3.1-70b", "awq-int4-g128"),
        ("Qwen/Qwen2.5-72B-Instruct-GPTQ-Int4", "qwen2.5-72b", "gptq-int4-g128"),
        ("unsloth/Qwen3-32B-unsloth-bnb-4bit", "qwen3-32b", "nf4"),
        ("Intel/Qwen3-235B-A22B-Instruct-2507-int4-AutoRound", "qwen3-235b-a22b-2507", "gptq-int4-g128"),
        ("Qwen/Qwen3-235B-A22B-Thinking-2507", "qwen3-235b-a22b-2507", None),
        ("unsloth/Kimi-K2-Thinking-GGUF", "kimi-k2-thinking", None),
        ("moonshotai/Kimi-K2-Instruct-0905", "kimi-k2", None),
        ("phi4-reasoning", "phi-4-reasoning-plus", None),
        ("mlx-community/Qwen3-8B-8bit", "qwen3-8b", "mlx-8bit"),
        ("google/gemma-3-27b-it-qat-q4_0-gguf", "gemma-3-27b", "Q4_0"),
        ("amd/Llama-3.3-70B-Instruct-FP8-KV", "llama-3.3-70b", "fp8"),
        ("bartowski/Llama-3.2-3B-Instruct-GGUF:Q6_K", "llama-3.2-3b", "Q6_K"),
        ("https://huggingface.co/Qwen/Qwen3-32B-AWQ/tree/main", "qwen3-32b", "awq-int4-g128"),
    ],
)
def test_a_repository_is_its_model_at_the_precision_of_its_name(
    name: str, model_id: str, precision: str | None
) -> None:
    assert (catalogue.canonical(name), catalogue.precision_in(name)) == (model_id, precision)


#: Made by the own classes of transformers 5.24.0: the configuration that each has by default, and the number of parameters
#: of its model on the meta device (None where it cannot be made there), with the weights that balance experts apart.
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
    row = ROWS[name]
    tie = "" if "text_config" in row["config"] else "tie_word_embeddings"  # a default that families have of their own
    without = {key: value for key, value in row["config"].items() if key != tie}
    for shape in map(read_config, (row["config"], without)):
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


def test_a_key_that_counts_something_and_that_nobody_reads_makes_the_count_an_estimate() -> None:
    config = catalogue.get("qwen3-8b").config
    assert not read_config(config).estimated
    for key in ("engram_vocab_size", "kv_compress_dim", "num_memory_slots"):
        assert read_config({**config, key: 1024}).estimated == key


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
