"""Configs of quantised models, as the programs that quantise write them: the bytes of the weights, worked out apart.

A layer's matrices are counted by hand from the shape. What a quantisation leaves (embedding, output, norms, router) has 16
bits. The forms are those of transformers 5.24.0 (utils/quantization_config.py) and of published repositories.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from gpuledger.transform.sizing import catalogue
from gpuledger.transform.sizing.errors import BadConfig
from gpuledger.transform.sizing.families import read_config
from gpuledger.transform.sizing.quantised import packing
from gpuledger.transform.sizing.tensors import count_parameters
from gpuledger.transform.sizing.weights import weights

#: qwen3-8b: query and output of 4096, key and value of 1024, three matrices of 12288, in 36 layers of 4096.
LAYERS = 36 * (2 * 4096 * 4096 + 2 * 1024 * 4096 + 3 * 12288 * 4096)
#: An index of 32 bits for each input of a matrix, which GPTQ keeps: five matrices read 4096, the output 4096, one 12288.
INDEX = 36 * 32 * (6 * 4096 + 12288)


def group(bits: int, size: int, *, zeros: bool) -> Fraction:
    return bits + Fraction(16 + (bits if zeros else 0), size)


def of_tensors(**weights: Any) -> dict[str, Any]:
    return {"quant_method": "compressed-tensors", "ignore": ["lm_head"], "config_groups": {"group_0": {
        "targets": ["Linear"], "weights": weights}}}  # fmt: skip


AWQ = {"quant_method": "awq", "version": "gemm", "zero_point": True, "modules_to_not_convert": None}
GPTQ = {"quant_method": "gptq", "desc_act": False, "sym": True}
BNB = {"quant_method": "bitsandbytes", "bnb_4bit_quant_type": "nf4"}
#: What a config says, the precision that this is, bits of a matrix's weight, and further bits.
CONFIGS: list[tuple[dict[str, Any], str, Fraction, int]] = [
    ({**AWQ, "bits": 4, "group_size": 128}, "awq-int4-g128", group(4, 128, zeros=True), 0),
    ({**AWQ, "bits": 4, "group_size": 64}, "awq-int4-g128", group(4, 64, zeros=True), 0),
    ({**AWQ, "w_bit": 4, "q_group_size": 32}, "awq-int4-g128", group(4, 32, zeros=True), 0),
    ({**GPTQ, "bits": 4, "group_size": 128}, "gptq-int4-g128", group(4, 128, zeros=True), INDEX),
    ({**GPTQ, "bits": 8, "group_size": 128}, "gptq-int8-g128", group(8, 128, zeros=True), INDEX),
    ({**GPTQ, "bits": 4, "group_size": 32, "desc_act": True}, "gptq-int4-g128", group(4, 32, zeros=True), INDEX),
    ({"quant_method": "auto-round", "bits": 4, "group_size": 128, "sym": True}, "gptq-int4-g128",
     group(4, 128, zeros=True), INDEX),
    ({"quant_method": "fp8", "weight_block_size": [128, 128], "activation_scheme": "dynamic"}, "fp8", Fraction(8), 0),
    ({"quant_method": "fp8", "modules_to_not_convert": ["lm_head", "model.embed_tokens"]}, "fp8", Fraction(8), 0),
    ({"quant_method": "fbgemm_fp8", "modules_to_not_convert": ["lm_head"]}, "fp8", Fraction(8), 0),
    (of_tensors(num_bits=8, type="float", strategy="channel", symmetric=True), "fp8", Fraction(8), 0),
    (of_tensors(num_bits=8, type="int", strategy="channel", symmetric=True), "int8", Fraction(8), 0),
    (of_tensors(num_bits=4, type="int", strategy="group", group_size=128, symmetric=True), "gptq-int4-g128",
     group(4, 128, zeros=False), 0),
    (of_tensors(num_bits=4, type="int", strategy="group", group_size=128, symmetric=False), "gptq-int4-g128",
     group(4, 128, zeros=True), 0),
    (of_tensors(num_bits=4, type="int", strategy="group", group_size=32), "gptq-int4-g128", group(4, 32, zeros=False), 0),
    (of_tensors(num_bits=8, type="int", strategy="group", group_size=128), "gptq-int8-g128", group(8, 128, zeros=False), 0),
    (of_tensors(num_bits=4, type="float", strategy="tensor_group", group_size=16), "nvfp4", Fraction(9, 2), 0),
    ({"quant_method": "modelopt", "quant_algo": "NVFP4", "ignore": ["lm_head"]}, "nvfp4", Fraction(9, 2), 0),
    ({"quant_method": "modelopt", "quant_algo": "FP8", "ignore": ["lm_head"]}, "fp8", Fraction(8), 0),
    ({**BNB, "load_in_4bit": True, "bnb_4bit_use_double_quant": True}, "nf4", 4 + Fraction(1, 8) + Fraction(1, 512), 0),
    ({**BNB, "load_in_4bit": True, "bnb_4bit_use_double_quant": False}, "nf4", Fraction(9, 2), 0),
    ({**BNB, "load_in_8bit": True}, "int8", Fraction(8), 0),
]  # fmt: skip


@pytest.mark.parametrize(("stated", "precision", "bits", "more"), CONFIGS)
def test_the_bytes_of_a_quantised_config(stated: dict[str, Any], precision: str, bits: Fraction, more: int) -> None:
    plain = catalogue.get("qwen3-8b").config
    found = read_config({**plain, "quantization_config": stated})
    everything = count_parameters(read_config(plain)).total
    assert count_parameters(found).total == everything
    assert found.stored_as == precision
    expected = (bits * LAYERS + more + 16 * (everything - LAYERS)) / 8
    assert weights(found, precision).total == pytest.approx(float(expected), rel=1e-6)


def test_parts_that_a_list_names_stay_as_they_are() -> None:
    """In a wrapper too, where the model of text has the quantisation, and by patterns of names."""
    plain = catalogue.get("qwen3-8b").config
    left = {"quant_method": "fp8", "modules_to_not_convert": ["lm_head", "re:.*self_attn.*"]}
    attention = 36 * (2 * 4096 * 4096 + 2 * 1024 * 4096)
    found = read_config({**plain, "quantization_config": left})
    whole = read_config(
        {**plain, "quantization_config": {"quant_method": "fp8", "modules_to_not_convert": ["lm_head"]}}
    )
    assert weights(found, "fp8").total - weights(whole, "fp8").total == attention
    assert packing({"text_config": {**plain, "quantization_config": left}}) is not None


@pytest.mark.parametrize(
    ("model_id", "gigabytes"),
    # The files of openai/gpt-oss-20b (12.8 GiB) and 120b (60.8 GiB), and the 595 GB of moonshotai/Kimi-K2.5.
    [("gpt-oss-20b", 13.76), ("gpt-oss-120b", 65.25), ("kimi-k2.5", 595.1)],
)
def test_models_that_were_published_with_packed_experts(model_id: str, gigabytes: float) -> None:
    shape = catalogue.architecture(model_id)
    assert weights(shape, shape.stored_as).total / 1e9 == pytest.approx(gigabytes, rel=0.001)


def test_a_method_that_is_not_known_is_refused_with_the_remedy() -> None:
    with pytest.raises(BadConfig, match=r"quant_method 'of_tomorrow', whose size is not known: give the folder"):
        read_config({**catalogue.get("qwen3-8b").config, "quantization_config": {"quant_method": "of_tomorrow"}})
