"""Everything that we know about the size of a model, as named quantities. `gpuledger size` prints them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from gpuledger.transform.assumptions import Assumptions
from gpuledger.transform.claims.published_methods import difference, park_transformer_flops
from gpuledger.transform.sizing.architecture import count_parameters
from gpuledger.transform.sizing.diffusion import DiffusionModel, image_memory, weights_bytes
from gpuledger.transform.sizing.flops import decode_flops, prefill_flops
from gpuledger.transform.sizing.memory import inference_memory, kv_bytes_per_token, state_bytes
from gpuledger.transform.sizing.tensors import Architecture
from gpuledger.transform.sizing.training import (
    LORA_DEFAULT_TARGETS,
    OPTIMIZER_STATE_BYTES,
    Adapter,
    Training,
    lora_memory,
    training_memory,
)
from gpuledger.transform.sizing.weights import weights

_GB = 10**9
_LORA_RANK = 16


@dataclass(frozen=True, slots=True)
class Quantity:
    """One figure. `value` is exact if it was counted (bytes, weights, operations)."""

    quantity: str
    value: int | float
    unit: str
    note: str = ""


def sizes(
    shape: Architecture, precision: str, context: int, batch: int, assumptions: Assumptions
) -> Iterator[Quantity]:
    """Parameters, memory to answer and to train, and operations of a model of text, in this order.

    Raises SizingError if the model does not allow the context or the precision.
    """
    count = count_parameters(shape)
    stored = weights(shape, precision)
    memory = inference_memory(shape, precision, context, batch, assumptions)
    yield Quantity("parameters", count.total, "weights", "exact, counted from the shape")
    if count.active != count.total:
        yield Quantity("active parameters", count.active, "weights", "that one token uses")
    yield Quantity("longest context", shape.context, "tokens")
    yield Quantity(
        "weights", stored.total, "bytes", f"at {stored.precision}, {stored.bits_per_weight:.3f} bits a weight"
    )
    per_token = kv_bytes_per_token(shape, assumptions.kv_cache_bits)
    yield Quantity("key-value cache per token", per_token, "bytes", f"at {assumptions.kv_cache_bits:g} bits")
    if state_bytes(shape):
        yield Quantity("state per sequence", state_bytes(shape), "bytes", "however long the sequence is")
    yield Quantity("key-value cache", memory.kv_cache, "bytes", f"{context} tokens × {batch}")
    yield Quantity("activations", memory.activations, "bytes", "an estimate, on each card")
    yield Quantity("memory to run", memory.total / _GB, "GB", "of 10^9 bytes; driver and runtime take more")
    for optimizer in OPTIMIZER_STATE_BYTES:
        training = training_memory(shape, Training(optimizer, context, batch))
        yield Quantity(f"memory to train with {optimizer}", training.total / _GB, "GB", "16-bit mixed precision")
    roles = {tensor.role for tensor in shape.tensors}
    if set(LORA_DEFAULT_TARGETS) <= roles:
        adapted = lora_memory(shape, Adapter(_LORA_RANK), Training("adamw", context, batch))
        yield Quantity(
            "memory to train with LoRA", adapted.total / _GB, "GB", f"rank {_LORA_RANK}, 16-bit weights, adamw"
        )
    if shape.kind != "encoder_decoder":
        yield from _operations(shape, context, batch)


def image_sizes(model: DiffusionModel, precision: str, batch: int, assumptions: Assumptions) -> Iterator[Quantity]:
    """The parts of an image model, and the memory that they need together. Raises UnknownPrecision."""
    yield Quantity("parameters", model.parameters, "weights", "of all parts")
    for part in model.parts:
        yield Quantity(f"parameters of {part.name}", part.parameters, "weights", f"{part.role}; {part.source}")
    total = weights_bytes(model, precision)
    without_text = weights_bytes(model, precision, offload_text=True)
    yield Quantity("weights", total, "bytes", f"at {precision}")
    yield Quantity("weights without text encoders", without_text, "bytes", "where they leave the card after their work")
    resident, activations = image_memory(model, precision, batch, assumptions)
    origin = "estimated" if model.clip else "assumed"
    yield Quantity("activations", activations, "bytes", f"{origin} for {batch} {model.makes}")
    yield Quantity("memory to run", (resident + activations) / _GB, "GB", "of 10^9 bytes; driver and runtime take more")


def _operations(shape: Architecture, tokens: int, batch: int) -> Iterator[Quantity]:
    """The exact count, and the count by the method of the second source document, with each step between the two."""
    exact = prefill_flops(shape, tokens, batch)
    yield Quantity("operations to read the prompt", exact.total, "FLOP", f"{tokens} tokens × {batch}, exact")
    yield Quantity("the same by 2 × parameters × tokens", exact.rule_of_thumb, "FLOP", "rule of thumb")
    if shape.kind == "decoder":
        decoding = decode_flops(shape, tokens, batch)
        yield Quantity("operations to write a token", decoding.total, "FLOP", f"after {tokens} tokens × {batch}, exact")
    if state_bytes(shape):
        return  # the published method covers only attention
    inner, heads = shape.ffn, shape.attention[0].heads
    published = park_transformer_flops(
        tokens=tokens, hidden=shape.hidden, inner=inner, layers=shape.layers, heads=heads
    )
    name = "published method (Park 2023)"
    yield Quantity(name, published.total, "FLOP", f"attention × heads, FFN of two matrices; {tokens} tokens")
    yield Quantity(f"{name}, per token", published.per_token, "FLOP")
    for step in difference(shape, tokens, inner=inner, heads=heads):
        if step.flops:
            yield Quantity("difference to the exact count", step.flops, "FLOP", step.reason)
    full = prefill_flops(shape, tokens, causal=False, logits="all").total
    yield Quantity(
        "exact count as that method counts positions", full, "FLOP", "all pairs of tokens, scores of all positions"
    )
