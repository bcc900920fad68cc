"""Models from GGUF files: heads written here as llama.cpp's converter writes them, of models of every kind, come back as
the models of their config.json, and damaged files are refused with the way out. The keys are those of the gguf package
0.19.0 (gguf.constants.Keys).
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gpuledger.transform.sizing import catalogue
from gpuledger.transform.sizing.families import read_config
from gpuledger.transform.sizing.files.gguf_file import BadGguf, config_of
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
