"""The memory that cards need to train a model of text: all of its weights, or an adapter over frozen weights.

It is counted by the rule that the second source document publishes, and by a full account.

Several cards share weights, gradients and the optimizer's state, as in ZeRO's third stage and in FSDP (Rajbhandari et al.
2020, section 5). Each card keeps the activations of its own sequences.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal

from gpuledger.message import Message
from gpuledger.transform.assumptions import Assumptions
from gpuledger.transform.sizing.errors import SizingError
from gpuledger.transform.sizing.running import check_context, prefill_flops
from gpuledger.transform.sizing.tensors import Architecture
from gpuledger.transform.sizing.weights import weights

#: Bytes that each optimizer keeps for each parameter, without weights and gradients. Source: the second source document,
#: after Hugging Face's "Anatomy of model's memory".
OPTIMIZER_STATE_BYTES = {"adamw": 8, "adafactor": 4, "adamw-8bit": 2}


@dataclass(frozen=True, slots=True)
class TrainingMemory:
    """Bytes by purpose. `total` is their sum. `master` holds the fp32 copies that mixed precision keeps."""

    weights: int
    gradients: int
    master: int
    optimizer: int
    activations: int

    @property
    def total(self) -> int:
        """Bytes needed in all."""
        return self.weights + self.gradients + self.master + self.optimizer + self.activations


def _activations(architecture: Architecture, training: Training) -> int:
    """Bytes of the activations that are kept for the backward pass, at 16 bits.

    A layer keeps its input, 2 bytes × tokens × batch × hidden, and its other activations are computed again (full
    checkpointing): the one layer that is computed has all of its own, 34 bytes. The formula was derived for a plain
    feed-forward of four times the hidden size, so it is an estimate for gated feed-forwards and mixtures. Source:
    Korthikanti et al. 2022, "Reducing Activation Recomputation", eq. 1 without the scores that FlashAttention does not keep.
    """
    return (2 * architecture.layers + 34) * training.tokens * training.batch * architecture.hidden


@dataclass(frozen=True, slots=True)
class Training:
    """How a model is trained, in mixed precision of 16 bits: `batch` sequences of `tokens` tokens in a step."""

    optimizer: str
    tokens: int
    batch: int = 1


@dataclass(frozen=True, slots=True)
class Adapter:
    """A LoRA adapter over frozen weights of `base_bits` bits: 16, or 4.127 for QLoRA's NF4."""

    rank: int
    targets: tuple[str, ...]
    base_bits: Fraction = Fraction(16)


def training_memory(architecture: Architecture, training: Training) -> TrainingMemory:
    """The full account of the memory to train every weight.

    Each parameter takes 2 bytes for the weight, 2 for the gradient, 4 for the fp32 master copy, and the optimizer's state.
    With AdamW that makes 16 bytes (Rajbhandari et al. 2020, ZeRO, section 3.1). Raises ContextTooLong.
    """
    check_context(architecture, training.tokens)
    parameters = sum(tensor.parameters for tensor in architecture.tensors)
    return TrainingMemory(
        weights=2 * parameters,
        gradients=2 * parameters,
        master=4 * parameters,
        optimizer=OPTIMIZER_STATE_BYTES[training.optimizer] * parameters,
        activations=_activations(architecture, training),
    )


def lora_parameters(architecture: Architecture, rank: int, targets: tuple[str, ...]) -> int:
    """Trainable weights of a LoRA adapter: rank × (rows + cols) for every adapted matrix, and for each of its experts.

    Source: Hu et al. 2021, section 4.1.
    """
    matrices = [tensor for tensor in architecture.tensors if tensor.kind == "matrix" and tensor.layer is not None]
    return sum(rank * (tensor.rows + tensor.cols) * tensor.experts for tensor in matrices if tensor.role in targets)


def lora_memory(architecture: Architecture, adapter: Adapter, training: Training) -> TrainingMemory:
    """The account of the memory to train an adapter, in mixed precision whatever the precision of the frozen weights.

    Raises ContextTooLong.
    """
    check_context(architecture, training.tokens)
    frozen = sum(tensor.parameters for tensor in architecture.tensors)
    trainable = lora_parameters(architecture, adapter.rank, adapter.targets)
    return TrainingMemory(
        weights=round(frozen * adapter.base_bits / 8) + 2 * trainable,
        gradients=2 * trainable,
        master=4 * trainable,
        optimizer=OPTIMIZER_STATE_BYTES[training.optimizer] * trainable,
        activations=_activations(architecture, training),
    )


Way = Literal["full", "lora", "qlora"]

#: The work of a training step in forward passes, if the layers' activations are computed again. The step runs forward
#: twice, and the backward pass costs as much as two. An adapter needs one less, as frozen weights have no gradients.
#: Source: Chen et al. 2016 (checkpointing); Kaplan et al. 2020.
_PASSES = {"full": 4, "lora": 3, "qlora": 3}
#: The precision at which each way loads the weights.
PRECISIONS = {"full": "bf16", "lora": "bf16", "qlora": "nf4"}
#: Bytes for the score of each word of the vocabulary and for its gradient, both at 32 bits.
_SCORE_BYTES = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Tuning:
    """What one way to train needs, with `batch` sequences of `tokens` tokens on each card.

    `trained` is the number of weights that are trained, and `flops` the number of operations for each token. The cards share
    the weights, gradients, fp32 copies and optimizer of `memory`; each card has its own activations, and `scores` (bytes).
    """

    way: Way
    tokens: int
    batch: int
    trained: int
    targets: tuple[str, ...]
    memory: TrainingMemory
    scores: int
    flops: float

    @property
    def shared(self) -> int:
        """Bytes that several cards share."""
        return self.memory.total - self.memory.activations

    @property
    def each(self) -> int:
        """Bytes on every card."""
        return self.memory.activations + self.scores

    @property
    def description(self) -> Message:
        """What the figures assume."""
        how = {
            "full": Message(
                "all weights, {each:g} bytes each (full_bytes_per_weight: 16 by AdamW in mixed precision, 8 with everything "
                "in bf16, 6 with states of 8 bits)",
                each=4 + (self.memory.master + self.memory.optimizer) / self.trained,
            ),
            "lora": Message("an adapter on {targets} over weights of 16 bits, AdamW", targets=tuple(self.targets)),
            "qlora": Message("an adapter on {targets} over weights in NF4, AdamW", targets=tuple(self.targets)),
        }[self.way]
        return Message(
            "{how}; {trained:,} weights are trained; {batch} × {tokens:,} tokens in a step of each card, layers' "
            "activations computed again; several cards divide weights, gradients and optimizer (ZeRO stage 3)", how=how,
            trained=self.trained, batch=self.batch, tokens=self.tokens,
        )  # fmt: skip


def tuning(shape: Architecture, way: Way, tokens: int, batch: int, assumptions: Assumptions) -> Tuning:
    """What training in one of WAYS needs. Raises SizingError for a model of images or speech, and ContextTooLong."""
    if shape.kind != "decoder":
        raise SizingError(
            "a {model_type} model does not write token by token, and its training is not known here",
            model_type=shape.model_type,
        )
    training = Training("adamw", tokens, batch)
    loaded, targets = weights(shape, PRECISIONS[way]).total, adapted(shape)
    parameters = sum(tensor.parameters for tensor in shape.tensors)
    if way == "full":
        # Weights and gradients are at 16 bits, and the copies at 32 bits are of mixed precision.
        each = assumptions.full_bytes_per_weight - 4
        copies = 4 if each >= 4 + OPTIMIZER_STATE_BYTES["adamw"] else 0
        parts, trained = training_memory(shape, training), parameters
        parts = replace(parts, master=copies * parameters, optimizer=round((each - copies) * parameters))
        frozen = 2 * sum(tensor.parameters for tensor in shape.extra)
    else:
        adapter = Adapter(assumptions.lora_rank, targets, Fraction(loaded * 8, parameters))
        parts, frozen = lora_memory(shape, adapter, training), 0
        trained = lora_parameters(shape, assumptions.lora_rank, targets)
    forward = prefill_flops(shape, tokens, logits="all").total / tokens
    return Tuning(
        way=way,
        tokens=tokens,
        batch=batch,
        trained=trained,
        targets=targets,
        memory=replace(parts, weights=parts.weights + frozen),
        scores=_SCORE_BYTES * tokens * batch * shape.vocab,
        flops=_PASSES[way] * forward,
    )


def adapted(shape: Architecture) -> tuple[str, ...]:
    """The matrices that an adapter is trained on: all of a layer, but no router and no experts of a mixture.

    Source: Dettmers et al. 2023, QLoRA, section 4 (all layers are needed to match full training); the defaults of Unsloth,
    Axolotl and LLaMA-Factory.
    """
    kinds = {tensor.role for tensor in shape.tensors
             if tensor.kind == "matrix" and tensor.layer is not None and tensor.experts == 1}  # fmt: skip
    return tuple(sorted(kinds - {"ffn_gate_inp"}))
