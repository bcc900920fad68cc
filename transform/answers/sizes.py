"""Everything that we know about the size of a model, as named quantities. `gpuledger size` prints them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from gpuledger.message import Label, Message
from gpuledger.transform.assumptions import Assumptions
from gpuledger.transform.buying.need import DEFAULT_CONTEXT
from gpuledger.transform.claims.published_methods import difference, park_transformer_flops
from gpuledger.transform.sizing.diffusion import DiffusionModel, image_memory, weights_bytes
from gpuledger.transform.sizing.errors import SizingError
from gpuledger.transform.sizing.gguf import dynamic_types
from gpuledger.transform.sizing.running import (
    decode_flops,
    inference_memory,
    kv_bytes_per_token,
    prefill_flops,
    state_bytes,
)
from gpuledger.transform.sizing.tensors import Architecture, count_parameters
from gpuledger.transform.sizing.tuning import (
    OPTIMIZER_STATE_BYTES,
    Adapter,
    Training,
    adapted,
    lora_memory,
    training_memory,
)
from gpuledger.transform.sizing.weights import weights

_GB = 10**9


@dataclass(frozen=True, slots=True)
class Quantity:
    """One figure. `value` is exact if it was counted (bytes, weights, operations)."""

    quantity: Message | str
    value: int | float
    unit: str
    note: Message | str = ""


def quantities(
    shape: Architecture | DiffusionModel, precision: str, context: int | None, batch: int, assumptions: Assumptions
) -> list[Quantity]:
    """The parameters, memory and operations of a model of either kind. Raises SizingError."""
    if isinstance(shape, DiffusionModel):
        if context is not None:
            raise SizingError("an image model has no context; leave --context out")
        return list(image_sizes(shape, precision, batch, assumptions))
    length = min(DEFAULT_CONTEXT, shape.context) if context is None else context
    return list(sizes(shape, precision, length, batch, assumptions))


def sizes(
    shape: Architecture, precision: str, context: int, batch: int, assumptions: Assumptions
) -> Iterator[Quantity]:
    """Parameters, memory to answer and to train, and operations of a model of text, in this order.

    If something of the model was not understood, every line that follows from it says that it is estimated. Raises
    SizingError if the model does not allow the context or the precision.
    """
    for line in _counted(shape, precision, context, batch, assumptions):
        is_read = not shape.estimated or line.quantity in ("parameters", "longest context", "activations")
        yield line if is_read else replace(
            line, note=Message("estimated; {note}", note=line.note) if line.note else Message("estimated")
        )  # fmt: skip


def _counted(
    shape: Architecture, precision: str, context: int, batch: int, assumptions: Assumptions
) -> Iterator[Quantity]:
    count = count_parameters(shape)
    stored = weights(shape, precision)
    memory = inference_memory(shape, precision, context, batch, assumptions)
    exact, unread = Message("exact, counted from the shape"), shape.estimated
    how = Message(
        "estimated: {key} is not understood; give the folder with its safetensors files for the exact count",
        key=unread,
    ) if unread else exact  # fmt: skip
    yield Quantity("parameters", count.total, "weights", how)
    if shape.drafting:
        drafted = Message("with the layer that guesses a token ahead, as published totals often count")
        yield Quantity("parameters with a draft", count.total + shape.drafting, "weights", drafted)
    if count.active != count.total:
        yield Quantity("active parameters", count.active, "weights", Message("that one token uses"))
    yield Quantity("longest context", shape.context, "tokens")
    bits = Message(
        "at {precision}, {bits_per_weight:.3f} bits a weight", precision=stored.precision,
        bits_per_weight=stored.bits_per_weight,
    )  # fmt: skip
    if stored.precision in dynamic_types():
        bits = Message("estimated; {note}", note=bits)
    yield Quantity("weights", stored.total, "bytes", bits)
    per_token = kv_bytes_per_token(shape, assumptions.kv_cache_bits)
    yield Quantity(
        "key-value cache per token", per_token, "bytes",
        Message("at {kv_cache_bits:g} bits", kv_cache_bits=assumptions.kv_cache_bits),
    )  # fmt: skip
    if state_bytes(shape):
        yield Quantity("state per sequence", state_bytes(shape), "bytes", Message("however long the sequence is"))
    tokens = Message("{context} tokens × {batch}", context=context, batch=batch)
    if shape.bound:
        tokens = Message("{tokens}; bound, at most: {key} is not understood", tokens=tokens, key=shape.bound)
    yield Quantity("key-value cache", memory.kv_cache, "bytes", tokens)
    yield Quantity("activations", memory.activations, "bytes", Message("an estimate, on each card"))
    yield Quantity("memory to run", memory.total / _GB, "GB", Message("of 10^9 bytes; driver and runtime take more"))
    for optimizer in OPTIMIZER_STATE_BYTES:
        training = training_memory(shape, Training(optimizer, context, batch))
        yield Quantity(
            Message("memory to train with {optimizer}", optimizer=optimizer), training.total / _GB, "GB",
            Message("16-bit mixed precision"),
        )  # fmt: skip
    if targets := adapted(shape):
        adapter = Adapter(assumptions.lora_rank, targets)
        yield Quantity(
            Message("memory to train with {optimizer}", optimizer="LoRA"),
            lora_memory(shape, adapter, Training("adamw", context, batch)).total / _GB, "GB",
            Message("rank {lora_rank}, 16-bit weights, adamw", lora_rank=adapter.rank),
        )  # fmt: skip
    if shape.kind != "encoder_decoder":
        yield from _operations(shape, context, batch)


def image_sizes(model: DiffusionModel, precision: str, batch: int, assumptions: Assumptions) -> Iterator[Quantity]:
    """The parts of an image model, and the memory that they need together. Raises UnknownPrecision."""
    yield Quantity("parameters", model.parameters, "weights", Message("of all parts"))
    for part in model.parts:
        yield Quantity(
            Message("parameters of {part}", part=part.name), part.parameters, "weights",
            Message("{all:; }", all=(Label(part.role), part.source)),
        )  # fmt: skip
    yield Quantity("weights", weights_bytes(model, precision), "bytes", f"at {precision}")
    memory = image_memory(model, precision, batch, assumptions)
    origin = "estimated" if model.clip else "assumed"
    yield Quantity(
        "weights of the largest stage", memory.weights, "bytes",
        Message("encoders, denoiser and decoder work one after the other and leave the card"),
    )  # fmt: skip
    yield Quantity("activations", memory.activations, "bytes", f"{origin} for {batch} {model.makes}")
    yield Quantity("memory to run", memory.needed / _GB, "GB", Message("of 10^9 bytes; driver and runtime take more"))
    yield Quantity(
        "memory with all on the card", memory.all_resident / _GB, "GB",
        Message("of 10^9 bytes; driver and runtime take more"),
    )  # fmt: skip


def _operations(shape: Architecture, tokens: int, batch: int) -> Iterator[Quantity]:
    """The exact count, and the count by the method of the second source document, with each step between the two."""
    exact = prefill_flops(shape, tokens, batch)
    of = Message("{context} tokens × {batch}", context=tokens, batch=batch)

    def how(note: Message) -> Message:
        return note if shape.estimated else Message("{note}, exact", note=note)

    yield Quantity("operations to read the prompt", exact.total, "FLOP", how(of))
    yield Quantity("the same by 2 × parameters × tokens", exact.rule_of_thumb, "FLOP", Message("rule of thumb"))
    if shape.kind == "decoder":
        decoding = decode_flops(shape, tokens, batch)
        after = Message("after {tokens}", tokens=of)
        yield Quantity("operations to write a token", decoding.total, "FLOP", how(after))
    if state_bytes(shape):
        return  # the published method covers only attention
    inner, heads = shape.ffn, shape.attention[0].heads
    published = park_transformer_flops(
        tokens=tokens, hidden=shape.hidden, inner=inner, layers=shape.layers, heads=heads
    )
    yield Quantity(
        "published method (Park 2023)", published.total, "FLOP",
        Message("attention × heads, FFN of two matrices; {tokens} tokens", tokens=tokens),
    )  # fmt: skip
    yield Quantity("published method (Park 2023), per token", published.per_token, "FLOP")
    for step in difference(shape, tokens, inner=inner, heads=heads):
        if step.flops:
            yield Quantity("difference to the exact count", step.flops, "FLOP", step.reason)
    full = prefill_flops(shape, tokens, causal=False, logits="all").total
    yield Quantity(
        "exact count as that method counts positions", full, "FLOP",
        Message("all pairs of tokens, scores of all positions"),
    )  # fmt: skip
