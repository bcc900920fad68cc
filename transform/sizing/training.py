"""Memory to train a model: by the rule that the second source document publishes, and by a full account."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from gpuledger.extract.message import Message
from gpuledger.transform.sizing.errors import SizingError, UnknownPrecision
from gpuledger.transform.sizing.memory import check_context
from gpuledger.transform.sizing.tensors import Architecture, Tensor

#: Bytes that each optimizer keeps for each parameter, as the second document publishes (without weights and gradients).
OPTIMIZER_STATE_BYTES = {"adamw": 8, "adafactor": 4, "adamw-8bit": 2}

#: Matrices that LoRA adapts by default: query and value, as in Hu et al. 2021, section 4.2.
LORA_DEFAULT_TARGETS = ("attn_q", "attn_v")


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


def optimizer_state_bytes(parameters: int, optimizer: str) -> int:
    """The state of the optimizer alone, at the published bytes for each parameter: AdamW 8, Adafactor 4, 8-bit AdamW 2.

    Source: the second source document, after Hugging Face's "Anatomy of model's memory". Raises SizingError for an unknown
    optimizer.
    """
    if optimizer not in OPTIMIZER_STATE_BYTES:
        raise SizingError(
            Message(
                "model.optimizer_not_known", optimizer=optimizer, optimizer_state_bytes=tuple(OPTIMIZER_STATE_BYTES)
            )
        )
    return parameters * OPTIMIZER_STATE_BYTES[optimizer]


def factored_state_bytes(architecture: Architecture) -> int:
    """The state of Adafactor as its paper describes it: fp32 sums of the rows and columns of each matrix, and whole vectors.

    Source: Shazeer & Stern 2018, section 3. This is thousands of times less than the published 4 bytes for each parameter,
    which are right for Adafactor with a momentum of 32 bits.
    """

    def state(tensor: Tensor) -> int:
        if tensor.kind == "vector":
            return tensor.parameters
        return (tensor.rows + tensor.cols) * tensor.experts

    return 4 * sum(state(tensor) for tensor in architecture.tensors)


def layer_activation_bytes(architecture: Architecture, tokens: int, batch: int, *, checkpointing: bool) -> int:
    """Bytes of the activations that are kept for the backward pass, at 16 bits.

    A layer keeps 34 bytes × tokens × batch × hidden. With full checkpointing it keeps only its input, which is 2 bytes
    instead of 34. The formula was derived for a plain feed-forward of four times the hidden size, so it is an estimate for
    gated feed-forwards and mixtures. Source: Korthikanti et al. 2022, "Reducing Activation Recomputation", eq. 1 without the
    scores that FlashAttention does not keep.
    """
    per_value = 2 if checkpointing else 34
    return per_value * tokens * batch * architecture.hidden * architecture.layers


@dataclass(frozen=True, slots=True)
class Training:
    """How a model is trained: `batch` sequences of `tokens` tokens in a step."""

    optimizer: str
    tokens: int
    batch: int = 1
    mixed_precision: bool = True
    #: Keeps only the input of each layer for the backward pass, and computes the other activations again.
    checkpointing: bool = True


@dataclass(frozen=True, slots=True)
class Adapter:
    """A LoRA adapter over frozen weights of `base_bits` bits: 16, or 4.127 for QLoRA's NF4."""

    rank: int
    targets: tuple[str, ...] = LORA_DEFAULT_TARGETS
    base_bits: Fraction = Fraction(16)


def training_memory(architecture: Architecture, training: Training) -> TrainingMemory:
    """The full account of the memory to train every weight.

    With mixed precision each parameter takes 2 bytes for the weight, 2 for the gradient, 4 for the fp32 master copy, and the
    optimizer's state. With AdamW that makes 16 bytes (Rajbhandari et al. 2020, ZeRO, section 3.1). Without mixed precision
    it takes 4 bytes for the weight, 4 for the gradient, and the state. Raises ContextTooLong, SizingError.
    """
    check_context(architecture, training.tokens)
    parameters = sum(tensor.parameters for tensor in architecture.tensors)
    return TrainingMemory(
        weights=(2 if training.mixed_precision else 4) * parameters,
        gradients=(2 if training.mixed_precision else 4) * parameters,
        master=4 * parameters if training.mixed_precision else 0,
        optimizer=optimizer_state_bytes(parameters, training.optimizer),
        activations=_activations(architecture, training),
    )


def lora_parameters(architecture: Architecture, rank: int, targets: tuple[str, ...] = LORA_DEFAULT_TARGETS) -> int:
    """Trainable weights of a LoRA adapter: rank × (rows + cols) for every adapted matrix, and for each of its experts.

    Source: Hu et al. 2021, section 4.1. Raises SizingError if this model has no matrix that a target names.
    """
    if rank < 1:
        raise SizingError(Message("model.lora_rank_least_1_not", rank=rank))
    matrices = [tensor for tensor in architecture.tensors if tensor.kind == "matrix" and tensor.layer is not None]
    known = sorted({tensor.role for tensor in matrices})
    unknown = [target for target in targets if target not in known]
    if unknown:
        raise SizingError(Message("model.model_no", unknown=tuple(unknown), known=tuple(known)))
    return sum(rank * (tensor.rows + tensor.cols) * tensor.experts for tensor in matrices if tensor.role in targets)


def _activations(architecture: Architecture, training: Training) -> int:
    return layer_activation_bytes(architecture, training.tokens, training.batch, checkpointing=training.checkpointing)


def lora_memory(architecture: Architecture, adapter: Adapter, training: Training) -> TrainingMemory:
    """The account of the memory to train an adapter, in mixed precision whatever the precision of the frozen weights.

    Raises ContextTooLong, SizingError, UnknownPrecision.
    """
    if adapter.base_bits <= 0:
        raise UnknownPrecision(Message("model.frozen_weights_need_positive_number", base_bits=adapter.base_bits))
    check_context(architecture, training.tokens)
    frozen = sum(tensor.parameters for tensor in architecture.tensors)
    trainable = lora_parameters(architecture, adapter.rank, adapter.targets)
    return TrainingMemory(
        weights=round(frozen * adapter.base_bits / 8) + 2 * trainable,
        gradients=2 * trainable,
        master=4 * trainable,
        optimizer=optimizer_state_bytes(trainable, training.optimizer),
        activations=_activations(architecture, training),
    )
