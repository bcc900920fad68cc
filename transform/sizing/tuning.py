"""What training a model of text needs of cards: all of its weights, or an adapter over frozen ones.

Several cards divide weights, gradients and the optimizer's state among them, as ZeRO's third stage and FSDP do (Rajbhandari
et al. 2020, section 5); each keeps the activations of its own sequences.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, get_args

from gpuledger.transform.assumptions import Assumptions
from gpuledger.transform.sizing.errors import SizingError
from gpuledger.transform.sizing.flops import prefill_flops
from gpuledger.transform.sizing.tensors import Architecture
from gpuledger.transform.sizing.training import (
    LORA_DEFAULT_TARGETS,
    Adapter,
    Training,
    lora_memory,
    lora_parameters,
    training_memory,
)
from gpuledger.transform.sizing.weights import weights

Way = Literal["full", "lora", "qlora"]
WAYS: tuple[str, ...] = get_args(Way)

#: Forward passes that a step of training is worth where the layers' activations are computed again: forward, again, and
#: twice as much backwards; without gradients of frozen weights once less.
#: Source: Chen et al. 2016 (checkpointing); Kaplan et al. 2020.
_PASSES = {"full": 4, "lora": 3, "qlora": 3}
#: The precision of the weights that are loaded.
PRECISIONS = {"full": "bf16", "lora": "bf16", "qlora": "nf4"}
#: The scores over the vocabulary of every token, and their gradient, at 32 bits.
_SCORE_BYTES = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Tuning:
    """One way to train, of `batch` sequences of `tokens` tokens on each card. Bytes; `trained` weights out of all.

    The first four parts are divided among cards, activations and scores are each card's own. `flops` are operations of a
    token.
    """

    way: Way
    tokens: int
    batch: int
    trained: int
    targets: tuple[str, ...]
    weights: int
    gradients: int
    master: int
    optimizer: int
    activations: int
    scores: int
    flops: float

    @property
    def shared(self) -> int:
        """Bytes that several cards divide among them."""
        return self.weights + self.gradients + self.master + self.optimizer

    @property
    def each(self) -> int:
        """Bytes on every card."""
        return self.activations + self.scores

    @property
    def words(self) -> str:
        """What is assumed, in a line."""
        how = {
            "full": "all weights, AdamW in 16-bit mixed precision (16 bytes a weight)",
            "lora": f"an adapter on {', '.join(self.targets)} over weights of 16 bits, AdamW",
            "qlora": f"an adapter on {', '.join(self.targets)} over weights in NF4, AdamW",
        }[self.way]
        return (
            f"{how}; {self.trained:,} weights are trained; {self.batch} × {self.tokens:,} tokens in a step of each card, "
            "layers' activations computed again; several cards divide weights, gradients and optimizer (ZeRO stage 3)"
        )


def tuning(shape: Architecture, way: Way, tokens: int, batch: int, assumptions: Assumptions) -> Tuning:
    """What training in one of WAYS needs. Raises SizingError for an image or speech model, ContextTooLong."""
    if shape.kind != "decoder":
        raise SizingError(
            f"a {shape.model_type} model does not write token by token, and its training is not known here"
        )
    training = Training("adamw", tokens, batch)
    loaded, targets = weights(shape, PRECISIONS[way]).total, _targets(shape)
    held = sum(tensor.parameters for tensor in shape.tensors)
    if way == "full":
        needed, trained = training_memory(shape, training), held
        frozen = 2 * sum(tensor.parameters for tensor in shape.extra)
    else:
        adapter = Adapter(assumptions.lora_rank, targets, Fraction(loaded * 8, held))
        needed, frozen = lora_memory(shape, adapter, training), 0
        trained = lora_parameters(shape, assumptions.lora_rank, targets)
    forward = prefill_flops(shape, tokens, logits="all").total / tokens
    return Tuning(
        way=way,
        tokens=tokens,
        batch=batch,
        trained=trained,
        targets=targets,
        weights=needed.weights + frozen,
        gradients=needed.gradients,
        master=needed.master,
        optimizer=needed.optimizer,
        activations=needed.activations,
        scores=_SCORE_BYTES * tokens * batch * shape.vocab,
        flops=_PASSES[way] * forward,
    )


def _targets(shape: Architecture) -> tuple[str, ...]:
    """Query and value, as the paper; where they are no matrices of their own, every matrix that mixes tokens."""
    roles = {tensor.role for tensor in shape.tensors if tensor.kind == "matrix" and tensor.layer is not None}
    if roles.issuperset(LORA_DEFAULT_TARGETS):
        return LORA_DEFAULT_TARGETS
    return tuple(sorted(role for role in roles if role.startswith(("attn", "ssm_in", "ssm_out"))))
