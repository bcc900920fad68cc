"""Models from files. GGUF: heads written here as llama.cpp's converter writes them, of models of every kind, come back
as the models of their config.json, and damaged files are refused with the way out; the keys are those of the gguf package
0.19.0 (gguf.constants.Keys). Folders as they are downloaded: safetensors, an index, the parts of a model of pictures.
"""

from __future__ import annotations

import itertools
import json
import struct
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gpuledger.transform.sizing import catalogue, diffusion
from gpuledger.transform.sizing.diffusion import DiffusionModel, shape_in
from gpuledger.transform.sizing.errors import BadModelFile, SizingError
from gpuledger.transform.sizing.families import read_config
from gpuledger.transform.sizing.files.gguf_file import BadGguf, config_of
from gpuledger.transform.sizing.files.safetensors import BadSafetensors, head_of
from gpuledger.transform.sizing.files.source import described
from gpuledger.transform.sizing.running import decode_flops, kv_cache_bytes, state_bytes
from gpuledger.transform.sizing.tensors import Architecture, Tensor, count_parameters
from gpuledger.transform.sizing.weights import weights
from tests.command import gpuledger, succeeds

Value = str | int | bool | list[int] | list[bool] | list[str]


def text(words: str) -> bytes:
    return struct.pack("<Q", len(words)) + words.encode()


def value(given: Value) -> bytes:
    if isinstance(given, str):
        return struct.pack("<I", 8) + text(given)
    if not isinstance(given, list):
        return struct.pack("<I?", 7, given) if isinstance(given, bool) else struct.pack("<II", 4, given)
    if isinstance(given[0], str):
        return struct.pack("<IIQ", 9, 8, len(given)) + b"".join(map(text, given))
    kind, form = (7, "?") if isinstance(given[0], bool) else (5, "i")
    return struct.pack(f"<IIQ{len(given)}{form}", 9, kind, len(given), *given)


def tensor(one: Tensor) -> bytes:
    role, _, is_bias = one.role.rpartition("_bias") if one.role.endswith("_bias") else (one.role, "", None)
    name = f"{role}.{'weight' if is_bias is None else 'bias'}"
    if one.layer is not None:
        name = f"blk.{one.layer}.{name}"
    dims = [one.cols] if one.kind == "vector" and one.rows == 1 else [one.cols, one.rows]
    dims += [one.experts] if one.experts > 1 else []
    return text(name) + struct.pack(f"<I{len(dims)}QIQ", len(dims), *dims, 1, 0)


def head(values: dict[str, Value], tensors: list[bytes], version: int = 3) -> bytes:
    stated = b"".join(text(key) + value(given) for key, given in values.items())
    return b"GGUF" + struct.pack("<IQQ", version, len(tensors), len(values)) + stated + b"".join(tensors)


def as_it_is(one: Tensor) -> Iterator[Tensor]:
    yield one


def of_delta_net(key_heads: int, value_heads: int) -> Callable[[Tensor], Iterator[Tensor]]:
    """A delta net's matrices under the names of the file: query, key and value apart from the gate, alpha from beta."""

    def named(one: Tensor) -> Iterator[Tensor]:
        width = 128 * value_heads
        if one.role == "ssm_in":
            yield replace(one, role="attn_qkv", rows=one.rows - width)
            yield replace(one, role="attn_gate", rows=width)
        elif one.role == "ssm_ba":
            yield replace(one, role="ssm_alpha", rows=value_heads)
            yield replace(one, role="ssm_beta", rows=value_heads)
        else:
            yield one

    assert key_heads <= value_heads
    return named


DELTA = {"ssm.conv_kernel": 4, "ssm.state_size": 128, "full_attention_interval": 4, "attention.key_length": 256,
         "attention.value_length": 256}  # fmt: skip
LATENT = {"attention.head_count_kv": 1, "attention.kv_lora_rank": 512, "rope.dimension_count": 64}
EVERY_SIXTH = [layer % 6 != 5 for layer in range(60)]

#: The model of the catalogue, the name of its architecture in files, what the head says beside layers, width, heads and
#: length, and the names of its tensors.
HEADS: list[tuple[str, str, dict[str, Value], Callable[[Tensor], Iterator[Tensor]]]] = [
    ("llama-3-8b", "llama", {"attention.head_count_kv": 8}, as_it_is),
    ("qwen2.5-7b", "qwen2", {"attention.head_count_kv": 4}, as_it_is),
    ("mixtral-8x7b", "llama", {"attention.head_count_kv": 8, "expert_used_count": 2}, as_it_is),
    ("gemma-3-4b", "gemma3", {"attention.head_count_kv": 4, "attention.key_length": 256, "attention.value_length": 256,
     "attention.sliding_window": 1024}, as_it_is),
    ("gpt-oss-20b", "gpt-oss", {"attention.head_count_kv": 8, "attention.key_length": 64, "attention.value_length": 64,
     "attention.sliding_window": 128, "expert_used_count": 4}, as_it_is),
    ("deepseek-v2-lite", "deepseek2", {"attention.head_count_kv": 16, "attention.key_length": 192,
     "attention.value_length": 128, "attention.kv_lora_rank": 512, "rope.dimension_count": 64, "expert_used_count": 6},
     as_it_is),
    ("qwen3-8b", "qwen3", {"attention.head_count_kv": 8, "attention.key_length": 128,
     "attention.value_length": 128}, as_it_is),
    ("qwen3-30b-a3b", "qwen3moe", {"attention.head_count_kv": 4, "attention.key_length": 128,
     "attention.value_length": 128, "expert_used_count": 8, "expert_count": 128}, as_it_is),
    ("qwen3.6-27b", "qwen35", {**DELTA, "attention.head_count_kv": 4, "ssm.group_count": 16, "ssm.time_step_rank": 48,
     "ssm.inner_size": 6144}, of_delta_net(16, 48)),
    ("qwen3.5-35b-a3b", "qwen35moe", {**DELTA, "attention.head_count_kv": 2, "ssm.group_count": 16,
     "ssm.time_step_rank": 32, "ssm.inner_size": 4096, "expert_used_count": 8, "expert_count": 256}, of_delta_net(16, 32)),
    ("qwen3-next-80b-a3b", "qwen3next", {**DELTA, "attention.head_count_kv": 2, "ssm.group_count": 16,
     "ssm.time_step_rank": 32, "ssm.inner_size": 4096, "expert_used_count": 10, "expert_count": 512}, of_delta_net(16, 32)),
    ("gemma-4-31b", "gemma4", {"attention.head_count_kv": [16 if local else 4 for local in EVERY_SIXTH],
     "attention.key_length": 512, "attention.value_length": 512, "attention.key_length_swa": 256,
     "attention.value_length_swa": 256, "attention.sliding_window": 1024,
     "attention.sliding_window_pattern": EVERY_SIXTH}, as_it_is),
    ("gemma-4-26b-a4b", "gemma4", {"attention.head_count_kv": [8 if local else 2 for local in EVERY_SIXTH[:30]],
     "attention.key_length": 512, "attention.value_length": 512, "attention.key_length_swa": 256,
     "attention.value_length_swa": 256, "attention.sliding_window": 1024, "expert_used_count": 8,
     "attention.sliding_window_pattern": EVERY_SIXTH[:30]}, as_it_is),
    ("gemma-4-e4b", "gemma4", {"attention.head_count_kv": 2, "attention.key_length": 512, "attention.value_length": 512,
     "attention.key_length_swa": 256, "attention.value_length_swa": 256, "attention.sliding_window": 512,
     "attention.shared_kv_layers": 18, "attention.sliding_window_pattern": EVERY_SIXTH[:42]}, as_it_is),
    ("gemma-2-9b", "gemma2", {"attention.head_count_kv": 8, "attention.key_length": 256, "attention.value_length": 256,
     "attention.sliding_window": 4096}, as_it_is),
    ("gpt-oss-120b", "gpt-oss", {"attention.head_count_kv": 8, "attention.key_length": 64, "attention.value_length": 64,
     "attention.sliding_window": 128, "expert_used_count": 4}, as_it_is),
    ("glm-4.5-air", "glm4moe", {"attention.head_count_kv": 8, "attention.key_length": 128, "attention.value_length": 128,
     "expert_used_count": 8}, as_it_is),
    ("glm-4.7-flash", "deepseek2", {**LATENT, "attention.key_length": 576, "attention.value_length": 512,
     "attention.key_length_mla": 256, "attention.value_length_mla": 256, "expert_used_count": 4}, as_it_is),
    ("kimi-k2", "deepseek2", {**LATENT, "attention.key_length": 576, "attention.value_length": 512,
     "attention.key_length_mla": 192, "attention.value_length_mla": 128, "expert_used_count": 8}, as_it_is),
    ("minimax-m2", "minimax-m2", {"attention.head_count_kv": 8, "attention.key_length": 128,
     "attention.value_length": 128, "expert_used_count": 8}, as_it_is),
    ("ministral-3-14b", "mistral3", {"attention.head_count_kv": 8, "attention.key_length": 128,
     "attention.value_length": 128}, as_it_is),
    ("command-r7b", "cohere2", {"attention.head_count_kv": 8, "attention.key_length": 128, "attention.value_length": 128,
     "attention.sliding_window": 4096}, as_it_is),
    ("olmo-2-7b", "olmo2", {"attention.head_count_kv": 32}, as_it_is),
    ("phi-4", "phi3", {"attention.head_count_kv": 10}, as_it_is),
    ("granite-3.1-8b", "granite", {"attention.head_count_kv": 8}, as_it_is),
    ("falcon-mamba-7b", "mamba", {"attention.head_count": 0, "attention.head_count_kv": 0, "ssm.conv_kernel": 4,
     "ssm.inner_size": 8192, "ssm.state_size": 16, "ssm.time_step_rank": 256}, as_it_is),
    ("smollm3-3b", "smollm3", {"attention.head_count_kv": 4}, as_it_is),
]  # fmt: skip


SHAPES = {model_id: (kind, stated, named) for model_id, kind, stated, named in HEADS}


def of(model_id: str) -> tuple[Architecture, dict[str, Value]]:
    """A model of the catalogue, and what the head of its file says."""
    shape, (kind, stated, _) = catalogue.architecture(model_id), SHAPES[model_id]
    values: dict[str, Any] = {
        "block_count": shape.layers, "embedding_length": shape.hidden, "context_length": shape.context,
        "attention.head_count": max((layer.heads for layer in shape.attention if layer.cached), default=0), **stated,
    }  # fmt: skip
    general = {"general.architecture": kind, "general.name": "My Model", "tokenizer.ggml.tokens": ["a", "bc"] * 3000}
    return shape, general | {f"{kind}.{key}": given for key, given in values.items()}


def tensors_of(model_id: str) -> list[bytes]:
    """The tensors of a model's file, under the names of the file."""
    return [tensor(part) for one in catalogue.architecture(model_id).tensors for part in SHAPES[model_id][2](one)]


@pytest.mark.parametrize("model_id", SHAPES)
def test_a_head_is_the_model_of_its_config(tmp_path: Path, model_id: str) -> None:
    shape, values = of(model_id)
    (tmp_path / "model.gguf").write_bytes(head(values, tensors_of(model_id)))
    found = read_config(config_of(tmp_path / "model.gguf"))
    assert (found.layers, found.hidden, found.tied, found.bound) == (shape.layers, shape.hidden, shape.tied, "")
    own = sum(one.parameters for one in shape.tensors)
    assert count_parameters(found).total == own
    assert weights(found, found.stored_as).total == 2 * own
    assert sum(one.active_parameters for one in found.tensors) == sum(one.active_parameters for one in shape.tensors)
    rows = {"embedding": not shape.tied}
    read = sum(one.active_parameters // (one.rows if rows.get(one.kind) else 1) for one in shape.tensors)
    if model_id != "gemma-4-e4b":  # its layers have embeddings of their own
        assert weights(found, "fp16").read_bytes(1) == pytest.approx(2 * read, rel=1e-12)
    for context in (100, 4_000, shape.context):
        ours, theirs = kv_cache_bytes(found, context), kv_cache_bytes(shape, context)
        assert ours - state_bytes(found) == theirs - state_bytes(shape)
        assert ours == pytest.approx(theirs, rel=0.01)
        assert decode_flops(found, context).total == pytest.approx(decode_flops(shape, context).total, rel=0.01)


def test_a_file_in_parts_is_whole_or_refused(tmp_path: Path) -> None:
    (shape, values), tensors = of("llama-3-8b"), tensors_of("llama-3-8b")
    first, second = (tmp_path / f"m-0000{n}-of-00002.gguf" for n in (1, 2))
    first.write_bytes(head(values, tensors[:100]))
    with pytest.raises(BadGguf, match=r"is one of 2 parts, and m-00002-of-00002.gguf is not beside it"):
        config_of(first)
    second.write_bytes(head({"split.no": 1}, tensors[100:]))
    assert count_parameters(read_config(config_of(second))).total == count_parameters(shape).total


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda content: content[: len(content) // 2], "is damaged or was not downloaded to its end"),
        (lambda content: content[:8] + b"\xff" * 16 + content[24:], "is damaged: it states"),
        (lambda content: b"GGUF" + struct.pack("<I", 1) + content[8:], "is GGUF of version 1"),
        (lambda content: content[:20], "is damaged or was not downloaded"),
        (
            lambda content: content.replace(b"llama.block_count", b"llama.block_cousin"[:17]),
            "llama.block_count must be",
        ),
        (lambda content: content.replace(b"token_embd", b"toucan_emb"), "holds no language model"),
    ],
)
def test_damaged_files_and_models_that_cannot_be_counted_are_refused(tmp_path: Path, change: Any, reason: str) -> None:
    path = tmp_path / "model.gguf"
    path.write_bytes(change(head(of("llama-3-8b")[1], tensors_of("llama-3-8b"))))
    with pytest.raises(BadGguf, match=reason):
        config_of(path)


def test_model_add_takes_a_file_and_its_model_is_sized(tmp_path: Path) -> None:
    shape, values = of("mixtral-8x7b")
    path = tmp_path / "model.gguf"
    path.write_bytes(head(values, tensors_of("mixtral-8x7b")))
    added = succeeds("model", "add", path, data=tmp_path / "data")
    assert f"my-model: {count_parameters(shape).total:,} parameters" in added.out
    assert "16.00 bits a weight" in added.out
    asked = ["predict", "--gpu", "RTX 4090", "--count", "2", "--precision", "Q4_K_M", "--format", "json", "--model"]
    ours, known = (
        json.loads(gpuledger(*asked, name, data=tmp_path / "data").out) for name in ("my-model", "mixtral-8x7b")
    )
    for name in ("memory_needed_gb", "verdict", "decode", "prefill"):
        assert ours[name] == known[name]
    path.write_bytes(b"GGUF")
    refused = gpuledger("model", "add", path, data=tmp_path / "data")
    assert refused.status == 2
    assert "was not downloaded to its end" in " ".join(refused.err.split())


Tensors = dict[str, tuple[str, list[int]]]
BITS = {"BF16": 16, "F32": 32, "F16": 16, "U8": 8, "I32": 32, "F8_E4M3": 8}


def file_of(tensors: Tensors, **other: Any) -> bytes:
    """The head of a file as the safetensors library writes it: every tensor has its place."""
    entries: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    place = 0
    for name, (kind, shape) in tensors.items():
        size = BITS[kind] // 8
        for length in shape:
            size *= length
        entries[name] = {"dtype": kind, "shape": shape, "data_offsets": [place, place + size]}
        place += size
    stated = json.dumps(entries | other).encode()
    return struct.pack("<Q", len(stated)) + stated


def llama(layers: int, kind: str = "BF16") -> Tensors:
    """The tensors of a Llama of width 64 with two key-value heads of 16, as transformers names them."""
    tensors: Tensors = {"model.embed_tokens.weight": (kind, [1000, 64]), "lm_head.weight": (kind, [1000, 64])}
    for layer in range(layers):
        of = f"model.layers.{layer}"
        for name, rows in (("self_attn.q_proj", 64), ("self_attn.k_proj", 32), ("self_attn.v_proj", 32),
                           ("self_attn.o_proj", 64), ("mlp.gate_proj", 128), ("mlp.up_proj", 128)):  # fmt: skip
            tensors[f"{of}.{name}.weight"] = (kind, [rows, 64])
        tensors[f"{of}.mlp.down_proj.weight"] = (kind, [64, 128])
        tensors[f"{of}.input_layernorm.weight"] = tensors[f"{of}.post_attention_layernorm.weight"] = (kind, [64])
    return tensors | {"model.norm.weight": (kind, [64])}


CONFIG = {
    "model_type": "llama", "hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 4, "num_attention_heads": 4,
    "num_key_value_heads": 2, "vocab_size": 1000, "max_position_embeddings": 512, "tie_word_embeddings": False,
}  # fmt: skip


def folder_of(path: Path, config: dict[str, Any], **files: bytes) -> Path:
    path.mkdir(exist_ok=True)
    (path / "config.json").write_text(json.dumps(config))
    for name, content in files.items():
        (path / name.replace("__", "-").replace("_safetensors", ".safetensors")).write_bytes(content)
    return path


@pytest.mark.parametrize(("kind", "bits"), [("BF16", 16), ("F32", 32), ("F8_E4M3", 8)])
def test_the_heads_say_the_size_whatever_the_family(tmp_path: Path, kind: str, bits: int) -> None:
    by_config = read_config(CONFIG)
    folder = folder_of(
        tmp_path / "m", {**CONFIG, "model_type": "of_tomorrow"}, model_safetensors=file_of(llama(4, kind))
    )
    found = read_config(described(folder))
    assert found.estimated == ""
    assert count_parameters(found).total == count_parameters(by_config).total
    assert weights(found, found.stored_as).total * 8 == bits * count_parameters(by_config).total


def test_a_layer_that_predicts_further_tokens_is_not_loaded(tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "m", CONFIG, model_safetensors=file_of(llama(5)))
    assert count_parameters(read_config(described(folder))).total == count_parameters(read_config(CONFIG)).total


def test_parts_are_read_together_and_a_missing_one_is_named(tmp_path: Path) -> None:
    tensors = list(llama(4).items())
    first, second = (f"model-0000{n}-of-00002.safetensors" for n in (1, 2))
    index = {"weight_map": {name: second if place % 2 else first for place, (name, _) in enumerate(tensors)}}
    folder = folder_of(tmp_path / "m", CONFIG)
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    (folder / first).write_bytes(file_of(dict(tensors[::2])))
    with pytest.raises(BadModelFile, match=r"has 1 of 2 safetensors files, and model-00002-of-00002"):
        described(folder)
    (folder / second).write_bytes(file_of(dict(tensors[1::2])))
    assert count_parameters(read_config(described(folder))).total == count_parameters(read_config(CONFIG)).total


def test_packed_weights_are_counted_unpacked_and_sized_as_they_are(tmp_path: Path) -> None:
    """AWQ keeps eight weights of 4 bits in an integer, with zeros and scales beside them."""
    packed: Tensors = {}
    for name, (kind, shape) in llama(4).items():
        if ".layers." not in name or len(shape) == 1:
            packed[name] = (kind, shape)
            continue
        rows, cols = shape
        base = name.removesuffix(".weight")
        packed[f"{base}.qweight"] = ("I32", [cols, rows // 8])
        packed[f"{base}.qzeros"] = ("I32", [cols // 64, rows // 8])
        packed[f"{base}.scales"] = ("F16", [cols // 64, rows])
    quantised = {**CONFIG, "quantization_config": {"quant_method": "awq", "bits": 4, "group_size": 64}}
    folder = folder_of(tmp_path / "m", quantised, model_safetensors=file_of(packed))
    found = read_config(described(folder))
    assert count_parameters(found).total == count_parameters(read_config(CONFIG)).total
    matrices = sum(rows * cols for name, (_, (rows, *rest)) in llama(4).items() for cols in rest if ".layers." in name)
    rest = count_parameters(found).total - matrices
    assert weights(found, found.stored_as).total == matrices * (4 + (16 + 4) / 64) / 8 + 2 * rest


def test_twice_as_many_tensors_take_twice_as_many_calls(tmp_path: Path) -> None:
    """Repositories have 200,000 of them, so that nothing may be done for each pair."""

    def calls(of_a_layer: int) -> int:
        experts: Tensors = {
            f"model.layers.{layer}.mlp.experts.{expert}.{name}.weight": ("BF16", [8, 8])
            for layer in range(4) for expert in range(of_a_layer) for name in ("gate_proj", "up_proj", "down_proj")
        }  # fmt: skip
        folder = folder_of(tmp_path / str(of_a_layer), CONFIG, model_safetensors=file_of(llama(4) | experts))
        count = itertools.count()
        sys.setprofile(lambda *_: next(count))
        try:
            found = read_config(described(folder))
        finally:
            sys.setprofile(None)
        assert found.experts == of_a_layer
        assert count_parameters(found).total == count_parameters(read_config(CONFIG)).total + 64 * len(experts)
        return next(count)

    assert calls(1_000) < 2.2 * calls(500)


@pytest.mark.parametrize(
    "content",
    [
        b"", b"\x08", struct.pack("<Q", 2**63) + b"{}", struct.pack("<Q", 50) + b"{}", struct.pack("<Q", 2) + b"[]",
        struct.pack("<Q", 200_000) + b"[" * 200_000, struct.pack("<Q", 4) + b"\xff\xfe{}", struct.pack("<Q", 3) + b"NaN",
    ],
    ids=str,
)  # fmt: skip
def test_what_is_no_head_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "model.safetensors").write_bytes(content)
    with pytest.raises(BadSafetensors, match="is no safetensors file, or was not downloaded to the end of its head"):
        head_of(tmp_path / "model.safetensors")


@pytest.mark.parametrize(
    "entry",
    [
        None, [], "BF16", {"dtype": "BF16"}, {"dtype": "BF16", "shape": "64"}, {"dtype": "BF16", "shape": [-1, 64]},
        {"dtype": "BF16", "shape": [10**30]}, {"dtype": "BF16", "shape": [1.5]}, {"dtype": "BF16", "shape": [True, 2]},
        {"dtype": "X9", "shape": [64]}, {"dtype": None, "shape": [64]},
        {"dtype": "BF16", "shape": [64, 64], "data_offsets": [0, 4096]},
        {"dtype": "BF16", "shape": [64, 64], "data_offsets": [8192, 0]},
    ],
    ids=str,
)  # fmt: skip
def test_a_tensor_that_cannot_be_is_named(tmp_path: Path, entry: Any) -> None:
    """Also one whose place in the file has another size than its type and shape."""
    folder = folder_of(tmp_path / "m", CONFIG, model_safetensors=file_of(llama(4), **{"model.odd.weight": entry}))
    with pytest.raises(SizingError, match=r"the tensor 'model\.odd\.weight' has the type"):
        described(folder)


def pipeline(path: Path, denoiser: dict[str, Any], decoder: dict[str, Any]) -> Path:
    """A folder as diffusers keeps one: a transformer in two parts, two text encoders, one of them by its index alone."""
    index: dict[str, Any] = {
        "_class_name": "SomePipeline", "_diffusers_version": "0.42.1", "scheduler": ["diffusers", "SomeScheduler"],
        "tokenizer": ["transformers", "SomeTokenizer"], "text_encoder": ["transformers", "CLIPTextModel"],
        "text_encoder_2": ["transformers", "T5EncoderModel"], "transformer": ["diffusers", "SomeTransformer"],
        "vae": ["diffusers", "SomeAutoencoder"], "image_encoder": [None, None], "force_zeros": True,
        "safety_checker": ["stable_diffusion", "StableDiffusionSafetyChecker"],
    }  # fmt: skip
    for part in ("transformer", "text_encoder", "text_encoder_2", "vae"):
        (path / part).mkdir(parents=True)
    (path / "model_index.json").write_text(json.dumps(index))
    for number in (1, 2):
        name = f"diffusion_pytorch_model-0000{number}-of-00002.safetensors"
        (path / "transformer" / name).write_bytes(file_of({f"blocks.{number}.w": ("BF16", [1000, 1000])}))
    (path / "transformer" / "config.json").write_text(json.dumps(denoiser))
    (path / "text_encoder" / "model.safetensors").write_bytes(file_of({"w": ("F32", [500, 1000])}))
    (path / "text_encoder" / "model.fp16.safetensors").write_bytes(file_of({"w": ("F16", [500, 1000])}))
    total = {"metadata": {"total_size": 600_000}}
    (path / "text_encoder_2" / "model.safetensors.index.json").write_text(json.dumps(total))
    (path / "vae" / "diffusion_pytorch_model.safetensors").write_bytes(file_of({"w": ("F32", [100, 1000])}))
    (path / "vae" / "config.json").write_text(json.dumps(decoder))
    return path


def test_a_model_of_pictures_is_the_parts_that_its_folder_names(tmp_path: Path) -> None:
    folder = pipeline(tmp_path / "m", {"_class_name": "SomeTransformer2DModel", "sample_size": 64}, {})
    found = shape_in(described(folder))
    assert isinstance(found, DiffusionModel)
    assert [(part.role, part.name, part.parameters) for part in found.parts] == [
        ("text", "text_encoder", 500_000), ("text", "text_encoder_2", 300_000), ("denoiser", "transformer", 2_000_000),
        ("vae", "vae", 100_000),
    ]  # fmt: skip
    assert (found.side, found.clip) == (512, None)
    sized = gpuledger("size", folder, "--format", "json", data=tmp_path / "data")
    assert {row["quantity"]: row["value"] for row in json.loads(sized.out)}["weights"] == 2 * 2_900_000
    added = gpuledger("model", "add", folder, "--id", "mine", data=tmp_path / "data")
    assert "mine: 2,900,000 parameters" in added.out, added.err
    listed = gpuledger("model", "list", "--format", "json", data=tmp_path / "data")
    assert json.loads(listed.out)[0]["parameters"] == 2_900_000


def test_a_model_of_clips_says_its_widths(tmp_path: Path) -> None:
    """As Wan's files do: one token covers 4 frames and 16 pixels of each side."""
    denoiser = {"_class_name": "WanTransformer3DModel", "num_attention_heads": 12, "attention_head_dim": 128,
                "ffn_dim": 8960, "patch_size": [1, 2, 2]}  # fmt: skip
    decoder = {"base_dim": 96, "scale_factor_spatial": 8, "scale_factor_temporal": 4}
    found = shape_in(described(pipeline(tmp_path / "m", denoiser, decoder)))
    assert isinstance(found, DiffusionModel)
    assert found.clip == diffusion.diffusion_models()["wan-2.1-1.3b"].clip


def test_a_part_without_weights_is_named(tmp_path: Path) -> None:
    folder = pipeline(tmp_path / "m", {}, {})
    (folder / "vae" / "diffusion_pytorch_model.safetensors").unlink()
    with pytest.raises(BadModelFile, match=r"vae has no safetensors files: fetch those of this part, or their index"):
        described(folder)
    for odd in ({"model_type": "diffusers"}, {"model_type": "diffusers", "parts": [["denoiser", "x", -1, ""]]}):
        with pytest.raises(SizingError, match="names no transformer and no U-Net with weights"):
            shape_in(odd)
