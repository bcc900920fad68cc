"""The memory that cards need to train a model of text: all of its weights, or an adapter over frozen weights.

Several cards share weights, gradients and the optimizer's state, as in ZeRO's third stage and in FSDP (Rajbhandari et al.
2020, section 5). Each card keeps the activations of its own sequences.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, get_args

from gpuledger.extract.message import Message
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

    `trained` is the number of weights that are trained, and `flops` the number of operations for each token. The other
    amounts are in bytes. The cards share `weights`, `gradients`, `master` and `optimizer`; each card has its own
    `activations` and `scores`.
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
        """Bytes that several cards share."""
        return self.weights + self.gradients + self.master + self.optimizer

    @property
    def each(self) -> int:
        """Bytes on every card."""
        return self.activations + self.scores

    @property
    def description(self) -> Message:
        """What the figures assume."""
        how = {
            "full": Message("speed.all_weights_adamw_16_bit"),
            "lora": Message("speed.adapter_over_weights_16_bits", targets=tuple(self.targets)),
            "qlora": Message("speed.adapter_over_weights_nf4_adamw", targets=tuple(self.targets)),
        }[self.way]
        return Message("speed.training", how=how, trained=self.trained, batch=self.batch, tokens=self.tokens)


def tuning(shape: Architecture, way: Way, tokens: int, batch: int, assumptions: Assumptions) -> Tuning:
    """What training in one of WAYS needs. Raises SizingError for a model of images or speech, and ContextTooLong."""
    if shape.kind != "decoder":
        raise SizingError(Message("model.model_not_write_token_token_2", model_type=shape.model_type))
    training = Training("adamw", tokens, batch)
    loaded, targets = weights(shape, PRECISIONS[way]).total, _targets(shape)
    parameters = sum(tensor.parameters for tensor in shape.tensors)
    if way == "full":
        parts, trained = training_memory(shape, training), parameters
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
        weights=parts.weights + frozen,
        gradients=parts.gradients,
        master=parts.master,
        optimizer=parts.optimizer,
        activations=parts.activations,
        scores=_SCORE_BYTES * tokens * batch * shape.vocab,
        flops=_PASSES[way] * forward,
    )


def _targets(shape: Architecture) -> tuple[str, ...]:
    """Query and value, as in the paper. If the model has no such matrices, every matrix that mixes tokens."""
    roles = {tensor.role for tensor in shape.tensors if tensor.kind == "matrix" and tensor.layer is not None}
    if roles.issuperset(LORA_DEFAULT_TARGETS):
        return LORA_DEFAULT_TARGETS
    return tuple(sorted(role for role in roles if role.startswith(("attn", "ssm_in", "ssm_out"))))
