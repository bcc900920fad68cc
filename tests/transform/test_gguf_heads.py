"""Heads of GGUF files as llama.cpp's converter writes them, of twenty kinds of models: the size and the cache of each are
those of its config.json. The keys are those of the gguf package 0.19.0 (gguf.constants.Keys).
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gpuledger.transform.sizing import catalogue
from gpuledger.transform.sizing.families import read_config
from gpuledger.transform.sizing.files.gguf_file import config_of
from gpuledger.transform.sizing.running import kv_cache_bytes, state_bytes
from gpuledger.transform.sizing.tensors import Tensor, count_parameters
from gpuledger.transform.sizing.weights import weights
from tests.transform.test_gguf_file import tensor, text

Value = str | int | bool | list[int] | list[bool]


def value(given: Value) -> bytes:
    if isinstance(given, list):
        kind = 7 if isinstance(given[0], bool) else 5
        return struct.pack(f"<IIQ{len(given)}{'?' if kind == 7 else 'i'}", 9, kind, len(given), *given)
    if isinstance(given, str):
        return struct.pack("<I", 8) + text(given)
    return struct.pack("<I?", 7, given) if isinstance(given, bool) else struct.pack("<II", 4, given)


def head(values: dict[str, Value], tensors: list[bytes]) -> bytes:
    stated = b"".join(text(key) + value(given) for key, given in values.items())
    return b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(values)) + stated + b"".join(tensors)


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


@pytest.mark.parametrize(("model_id", "kind", "stated", "named"), HEADS, ids=[one[0] for one in HEADS])
def test_a_head_is_the_model_of_its_config(
    tmp_path: Path, model_id: str, kind: str, stated: dict[str, Value], named: Callable[[Tensor], Iterator[Tensor]]
) -> None:
    shape = catalogue.architecture(model_id)
    values: dict[str, Any] = {
        "block_count": shape.layers, "embedding_length": shape.hidden, "context_length": shape.context,
        "attention.head_count": max((layer.heads for layer in shape.attention if layer.cached), default=0), **stated,
    }  # fmt: skip
    content = head(
        {"general.architecture": kind, **{f"{kind}.{key}": given for key, given in values.items()}},
        [tensor(part) for one in shape.tensors for part in named(one)],
    )
    (tmp_path / "model.gguf").write_bytes(content)
    found = read_config(config_of(tmp_path / "model.gguf"))
    own = sum(one.parameters for one in shape.tensors)
    assert count_parameters(found).total == own
    assert weights(found, found.stored_as).total == 2 * own
    assert found.bound == ""
    for context in (100, 4_000, shape.context):
        ours, theirs = kv_cache_bytes(found, context), kv_cache_bytes(shape, context)
        assert ours - state_bytes(found) == theirs - state_bytes(shape)
        assert ours == pytest.approx(theirs, rel=0.01)
