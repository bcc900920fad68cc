"""Models from GGUF files: files written here from shapes of the catalogue come back as those shapes, and damaged ones are
refused with the way out.
"""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import pytest

from gpuledger.transform.sizing import catalogue
from gpuledger.transform.sizing.families import read_config
from gpuledger.transform.sizing.files.gguf_file import BadGguf, config_of
from gpuledger.transform.sizing.running import decode_flops, kv_cache_bytes
from gpuledger.transform.sizing.tensors import Architecture, Tensor, count_parameters
from gpuledger.transform.sizing.weights import weights
from tests.command import gpuledger, succeeds

#: Dense, biases, experts, sliding windows of two kinds, latent attention: with the family's name in such files, and
#: what its head says of attention.
MODELS: dict[str, tuple[str, dict[str, int]]] = {
    "llama-3-8b": ("llama", {"attention.head_count_kv": 8}),
    "qwen2.5-7b": ("qwen2", {"attention.head_count_kv": 4}),
    "mixtral-8x7b": ("llama", {"attention.head_count_kv": 8, "expert_used_count": 2}),
    "gemma-3-4b": (
        "gemma3",
        {
            "attention.head_count_kv": 4, "attention.key_length": 256, "attention.value_length": 256,
            "attention.sliding_window": 1024,
        },
    ),
    "gpt-oss-20b": (
        "gpt-oss",
        {
            "attention.head_count_kv": 8, "attention.key_length": 64, "attention.value_length": 64,
            "attention.sliding_window": 128, "expert_used_count": 4,
        },
    ),
    "deepseek-v2-lite": (
        "deepseek2",
        {
            "attention.head_count_kv": 16, "attention.key_length": 192, "attention.value_length": 128,
            "attention.kv_lora_rank": 512, "rope.dimension_count": 64, "expert_used_count": 6,
        },
    ),
}  # fmt: skip


def text(words: str) -> bytes:
    return struct.pack("<Q", len(words)) + words.encode()


def value(given: str | int | list[str]) -> bytes:
    if isinstance(given, list):
        return struct.pack("<IIQ", 9, 8, len(given)) + b"".join(map(text, given))
    return struct.pack("<I", 8) + text(given) if isinstance(given, str) else struct.pack("<II", 4, given)


def tensor(one: Tensor) -> bytes:
    role, _, is_bias = one.role.rpartition("_bias") if one.role.endswith("_bias") else (one.role, "", None)
    name = f"{role}.{'weight' if is_bias is None else 'bias'}"
    if one.layer is not None:
        name = f"blk.{one.layer}.{name}"
    dims = [one.cols] if one.kind == "vector" and one.rows == 1 else [one.cols, one.rows]
    dims += [one.experts] if one.experts > 1 else []
    return text(name) + struct.pack(f"<I{len(dims)}QIQ", len(dims), *dims, 1, 0)


def head(values: dict[str, Any], tensors: list[bytes], version: int = 3) -> bytes:
    stated = b"".join(text(key) + value(given) for key, given in values.items())
    return b"GGUF" + struct.pack("<IQQ", version, len(tensors), len(values)) + stated + b"".join(tensors)


def of(model_id: str) -> tuple[Architecture, dict[str, Any]]:
    shape, (kind, more) = catalogue.architecture(model_id), MODELS[model_id]
    stated = {
        "block_count": shape.layers, "embedding_length": shape.hidden, "context_length": shape.context,
        "attention.head_count": shape.attention[0].heads, **more,
    }  # fmt: skip
    values = {"general.architecture": kind, "general.name": "My Model", "tokenizer.ggml.tokens": ["a", "bc"] * 3000}
    return shape, values | {f"{kind}.{key}": given for key, given in stated.items()}


@pytest.mark.parametrize("model_id", MODELS)
def test_a_file_comes_back_as_the_shape_that_it_was_written_from(tmp_path: Path, model_id: str) -> None:
    shape, values = of(model_id)
    path = tmp_path / "model.gguf"
    path.write_bytes(head(values, [tensor(one) for one in shape.tensors]))
    found = read_config(config_of(path))
    assert (found.layers, found.hidden, found.vocab, found.tied) == (
        shape.layers,
        shape.hidden,
        shape.vocab,
        shape.tied,
    )
    own = sum(one.parameters for one in shape.tensors)
    assert count_parameters(found).total == own
    assert sum(one.active_parameters for one in found.tensors) == sum(one.active_parameters for one in shape.tensors)
    for context in (100, 4096):
        assert kv_cache_bytes(found, context, 1, 16) == kv_cache_bytes(shape, context, 1, 16)
        assert decode_flops(found, context).total == decode_flops(shape, context).total
    assert weights(found, "fp16").read_bytes(1) == 2 * sum(
        one.active_parameters // (one.rows if one.kind == "embedding" and not shape.tied else 1)
        for one in shape.tensors
    )
    assert weights(found, found.stored_as).total == 2 * own


def test_a_file_in_parts_is_whole_or_refused(tmp_path: Path) -> None:
    shape, values = of("llama-3-8b")
    tensors = [tensor(one) for one in shape.tensors]
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
    shape, values = of("llama-3-8b")
    path = tmp_path / "model.gguf"
    path.write_bytes(change(head(values, [tensor(one) for one in shape.tensors])))
    with pytest.raises(BadGguf, match=reason):
        config_of(path)


def test_model_add_takes_a_file_and_its_model_is_sized(tmp_path: Path) -> None:
    shape, values = of("mixtral-8x7b")
    path = tmp_path / "model.gguf"
    path.write_bytes(head(values, [tensor(one) for one in shape.tensors]))
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
