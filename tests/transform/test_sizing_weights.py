"""Bytes of weights: uniform precisions, GGUF against published files, GPTQ, AWQ and MXFP4, and what a step reads."""

from __future__ import annotations

import tomllib
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuledger.transform.sizing import catalogue, gguf
from gpuledger.transform.sizing.errors import BadConfig, UnknownPrecision
from gpuledger.transform.sizing.families import read_config
from gpuledger.transform.sizing.quantised import packing
from gpuledger.transform.sizing.tensors import count_parameters
from gpuledger.transform.sizing.weights import known_precisions, weights

#: Bits a weight of Llama-3.1-8B as llama.cpp's own documentation of its quantizer prints them (tools/quantize/README.md).
LLAMA_BITS = {
    "IQ1_S": 2.0042,
    "IQ1_M": 2.1460,
    "IQ2_XXS": 2.3824,
    "IQ2_XS": 2.5882,
    "IQ2_S": 2.7403,
    "IQ2_M": 2.9294,
    "IQ3_XXS": 3.2548,
    "IQ3_XS": 3.4977,
    "IQ3_S": 3.6606,
    "IQ3_M": 3.7628,
    "Q2_K_S": 2.9697,
    "Q2_K": 3.1593,
    "Q3_K_S": 3.6429,
    "Q3_K_L": 4.2979,
    "IQ4_XS": 4.4597,
    "IQ4_NL": 4.6818,
    "Q4_K_S": 4.6672,
    "Q4_K_M": 4.8944,
    "Q5_K_S": 5.5704,
    "Q5_K_M": 5.7036,
    "Q6_K": 6.5633,
    "Q8_0": 8.5008,
    "F16": 16.0005,
}

#: GiB of Llama-3-8B in the help text of the same program.
LLAMA_GIB = {
    "Q2_K": 2.96,
    "Q3_K_S": 3.41,
    "Q3_K_M": 3.74,
    "Q3_K_L": 4.03,
    "Q4_0": 4.34,
    "Q4_1": 4.78,
    "Q4_K_S": 4.37,
    "Q4_K_M": 4.58,
    "Q5_0": 5.21,
    "Q5_1": 5.65,
    "Q5_K_S": 5.21,
    "Q5_K_M": 5.33,
    "Q6_K": 6.14,
    "Q8_0": 7.96,
}

SIZES = tomllib.loads((Path(__file__).parents[1] / "fixtures/sizing/gguf_sizes.toml").read_text(encoding="utf-8"))[
    "size"
]


def published(measure: str) -> Any:
    """The published sizes of one kind, as test parameters."""
    rows = [(row["model"], row["type"], row[measure]) for row in SIZES if measure in row]
    assert len(rows) >= 4
    return pytest.mark.parametrize(("model_id", "file_type", "size"), rows)


def tensor_bytes(model_id: str, file_type: str) -> int:
    return sum(gguf.tensor_bytes(catalogue.architecture(model_id), file_type))


@pytest.mark.parametrize(("file_type", "bits"), LLAMA_BITS.items())
def test_bits_a_weight_to_the_last_printed_digit(file_type: str, bits: float) -> None:
    assert round(tensor_bytes("llama-3.1-8b", file_type) * 8 / 8_030_261_248, 4) == bits


@pytest.mark.parametrize(("file_type", "gib"), LLAMA_GIB.items())
def test_sizes_in_the_quantizers_help(file_type: str, gib: float) -> None:
    assert tensor_bytes("llama-3-8b", file_type) / 2**30 == pytest.approx(gib, abs=0.016)


@published("file")
def test_file_sizes_as_published(model_id: str, file_type: str, size: int) -> None:
    tokenizer = (
        45 * catalogue.architecture(model_id).vocab
    )  # 23 (Llama 2) to 61 bytes a token (Llama 3), in the same file
    assert tensor_bytes(model_id, file_type) + tokenizer == pytest.approx(size, rel=0.0015)


@published("tensors")
def test_tensor_bytes_to_the_byte(model_id: str, file_type: str, size: int) -> None:
    assert tensor_bytes(model_id, file_type) == size


@published("tensors_gib")
def test_tensor_bytes_as_printed(model_id: str, file_type: str, size: float) -> None:
    assert round(tensor_bytes(model_id, file_type) / 2**30, 2) == size


def test_qwen3_moe_is_within_the_published_size_though_files_differ_by_tool_version() -> None:
    assert tensor_bytes("qwen3-30b-a3b", "Q4_K_M") == pytest.approx(18_556_686_912, rel=0.001)


def test_falcons_narrow_rows_fall_back_to_blocks_of_32() -> None:
    # 4544 is no multiple of 256: 97 of 130 packed tensors of a published falcon-7b Q4_K_M fell back.
    architecture = catalogue.architecture("falcon-7b")
    packed = [tensor for tensor in architecture.tensors if tensor.kind != "vector"]
    narrow = [tensor for tensor in packed if tensor.cols % 256 and tensor.role != "token_embd"]
    assert len(narrow) == 32 * 3
    assert tensor_bytes("falcon-7b", "Q4_K_M") > 6_921_720_704 * 4.5 / 8


@pytest.mark.parametrize(
    ("precision", "size"),
    # TheBloke/Llama-2-7B-AWQ: model.safetensors 3.89 GB; TheBloke/Llama-2-7B-GPTQ, 4 bits, groups of 128: 3.90 GB.
    [("awq-int4-g128", 3.89e9), ("gptq-int4-g128", 3.90e9)],
)
def test_gptq_and_awq_files_of_llama_2_7b(precision: str, size: float) -> None:
    assert weights(catalogue.architecture("llama-2-7b"), precision).total == pytest.approx(size, rel=0.003)


@pytest.mark.parametrize(
    ("model_id", "gib"),
    # The gpt-oss model card: checkpoints of 12.8 GiB and 60.8 GiB.
    [("gpt-oss-20b", 12.8), ("gpt-oss-120b", 60.8)],
)
def test_mxfp4_checkpoints(model_id: str, gib: float) -> None:
    assert round(weights(catalogue.architecture(model_id), "mxfp4").total / 2**30, 1) == gib


@pytest.mark.parametrize(("precision", "bits"), [("32", 32), ("bf16", 16), ("FP16", 16), ("8", 8), ("4", 4)])
def test_uniform_precisions(precision: str, bits: int) -> None:
    result = weights(catalogue.architecture("llama-2-7b"), precision)
    assert result.total == 6_738_415_616 * bits // 8
    assert result.bits_per_weight == bits


def test_four_bits_in_a_gguf_file_are_not_four() -> None:
    assert weights(catalogue.architecture("llama-2-7b"), "q4_k_m").bits_per_weight == pytest.approx(4.84, abs=0.01)


def test_nf4_with_double_quantization() -> None:
    # 4 + 0.127 bits on the matrices of the layers (QLoRA, section 3), 16 on the rest.
    architecture = catalogue.architecture("llama-2-7b")
    layers = 6_738_415_616 - 2 * 32000 * 4096 - 65 * 4096
    expected = (layers * 4.126953125 + (6_738_415_616 - layers) * 16) / 8
    assert weights(architecture, "nf4").total == pytest.approx(expected, rel=1e-9)


def test_formats_that_say_their_bits() -> None:
    architecture = catalogue.architecture("llama-3-8b")
    packed, table, norms = 32 * 218_103_808, 128_256 * 4096, 65 * 4096
    # ExLlamaV2: the layers at what was asked, the output at 6 bits, embeddings and norms at 16.
    expected = packed * 4.25 + table * (6 + 16) + norms * 16
    assert weights(architecture, "exl2-4.25bpw").total == pytest.approx(expected / 8, rel=1e-9)
    assert weights(architecture, "4.25bpw-EXL2") == weights(architecture, "exl2 4.25")
    # MLX: 64 weights share a scale and a bias of 16 bits, in the embeddings too.
    expected = (packed + 2 * table) * 4.5 + norms * 16
    assert weights(architecture, "mlx-4bit").total == pytest.approx(expected / 8, rel=1e-9)
    for unknown in ("exl2-9bpw", "4.0bpw", "mlx-7bit"):
        with pytest.raises(UnknownPrecision, match="mlx-4bit with any bits"):
            weights(architecture, unknown)
    # Unsloth's files of Qwen3.5-27B as published; the mixtures of llama.cpp would be 8 to 20% smaller.
    for name, published in (("UD-Q4_K_XL", 17.6), ("q5_k_xl", 20.2), ("UD-IQ2_XXS", 8.57), ("UD-Q8_K_XL", 35.5)):
        assert weights(catalogue.architecture("qwen3.5-27b"), name).total == pytest.approx(published * 1e9, rel=0.07)


def test_an_unknown_precision_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UnknownPrecision, match=r"'int3'.*bf16.*gptq-int4-g128.*Q4_K_M"):
        weights(catalogue.architecture("llama-2-7b"), "int3")
    with pytest.raises(UnknownPrecision, match="Q9_K"):
        gguf.tensor_bytes(catalogue.architecture("llama-2-7b"), "Q9_K")


@pytest.mark.parametrize("model_id", list(catalogue.models()))
def test_every_model_has_a_size_at_every_precision(model_id: str) -> None:
    architecture = catalogue.architecture(model_id)
    parameters = count_parameters(architecture).total
    sizes = {precision: weights(architecture, precision) for precision in known_precisions()}
    for precision, size in sizes.items():
        assert size.parameters == parameters
        assert 0 < size.read_bytes() <= size.read_bytes(8) <= size.total, precision
    assert sizes["Q2_K"].total < sizes["Q4_K_M"].total < sizes["Q6_K"].total < sizes["Q8_0"].total < sizes["fp32"].total


def test_a_step_reads_the_output_projection_and_only_a_row_of_the_embedding() -> None:
    untied = weights(catalogue.architecture("llama-2-7b"), "fp16")
    assert untied.total - untied.read_bytes() == 2 * (32000 * 4096 - 4096)
    tied = weights(catalogue.architecture("llama-3.2-3b"), "fp16")
    assert tied.read_bytes() == tied.total


def test_a_step_of_a_mixture_reads_the_chosen_experts() -> None:
    architecture = catalogue.architecture("mixtral-8x7b")
    mixture = weights(architecture, "fp16")
    expert = 32 * 3 * 4096 * 14336 * 2
    assert mixture.total - mixture.read_bytes() == 6 * expert + 2 * (32000 - 1) * 4096
    # Two sequences choose 2 of 8 each: 8 × (1 − (6/8)²) = 3.5 distinct ones expected.
    assert mixture.read_bytes(2) - mixture.read_bytes(1) == pytest.approx(1.5 * expert)


@given(batch=st.integers(1, 4096))
def test_a_larger_batch_never_reads_less_and_never_more_than_all(batch: int) -> None:
    mixture = weights(catalogue.architecture("qwen3-30b-a3b"), "Q4_K_M")
    assert mixture.read_bytes(batch) <= mixture.read_bytes(batch + 1) <= mixture.total


# ── configs of quantised models, as the programs that quantise write them ──────────────────────────────────────────────
# A layer's matrices are counted by hand from the shape. What a quantisation leaves (embedding, output, norms, router) has
# 16 bits. The forms are those of transformers 5.24.0 (utils/quantization_config.py) and of published repositories.

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
