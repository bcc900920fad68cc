"""What a prediction assumes, in words: the program and its load, the memory, and the measurements that it rests on."""

from __future__ import annotations

from collections.abc import Iterator

from gpuledger.extract.message import Message
from gpuledger.transform.sizing.weights import Weights
from gpuledger.transform.speed import memory
from gpuledger.transform.speed.engines import Engine, accelerator_of
from gpuledger.transform.speed.rules import Question

_SPLIT_WORDS = {
    "layer": Message("speed.split_layer"),
    "pipeline": Message("speed.split_pipeline"),
    "tensor": Message("speed.split_tensor"),
}
_MOVED_PARTS = {"experts": Message("speed.the_experts"), "layers": Message("speed.weights_and_cache")}
_NEAREST = {
    "card": Message("speed.card_among"),
    "architecture": Message("speed.card_not_among_others_architecture"),
    "none": Message("speed.no_card_architecture_among_range"),
}
_LEVELS = {
    "engine": Message("speed.of_none_of_its_architecture"),
    "architecture": Message("speed.of_its_architecture"),
    "card": Message("speed.of_this_card"),
}


def notes(asked: Question) -> Iterator[Message]:
    """The assumptions behind an answer, in the order in which a person reads them."""
    yield from _of_program(asked)
    yield from _of_memory(asked)
    yield from _of_measurements(asked)
    if asked.split == "tensor" and asked.plan.count > 1 and not asked.is_accelerator:
        link = asked.link
        yield Message("speed.gb_between_cards_exchange", gb_s=link.gb_s, latency_us=link.latency_us, source=link.source)
    if asked.tflops is None:
        yield Message("speed.matrix_rate_card_precision_not")


def _of_program(asked: Question) -> Iterator[Message]:
    """The program, what it holds where, its load, and what it cannot do."""
    job, plan, assumed = asked.job, asked.plan, asked.job.assumptions
    load, part = job.load, asked.moved
    split = _SPLIT_WORDS[asked.split] if plan.count > 1 else Message("speed.one_card")
    yield Message("speed.engine", engine=plan.engine.name, split=split)
    if part is not None and plan.host is not None:
        yield Message(
            "speed.layers_gb_stay_processor_gb", moved_parts=_MOVED_PARTS[part.what], layers=part.layers,
            of_layers=part.of_layers, size=part.size / 1e9, host_memory_utilisation=assumed.host_memory_utilisation,
            gb_s=plan.host.gb_s, source=plan.host.source,
        )  # fmt: skip
    yield Message(
        "speed.load", users=load.users, context=load.context, prompt=load.prompt, written_at=job.written_at,
        context_read=assumed.context_read,
    )  # fmt: skip
    if not asked.runs:
        card_name = plan.gpu.display_name
        yield Message("speed.not_known_to_run", engine=plan.engine.name, precision=job.size.precision, card=card_name)
    if asked.split != plan.split:
        first = job.shape.attention[0] if job.shape.attention else None
        yield Message(
            "speed.heads_cannot_divided_among_cards", heads=first.heads if first else 0,
            kv_heads=first.kv_heads if first else 0, count=plan.count,
        )  # fmt: skip


def _of_memory(asked: Question) -> Iterator[Message]:
    """What of a card's memory is there, and what lies in it."""
    job, plan, assumed = asked.job, asked.plan, asked.job.assumptions
    if (driver := memory.driver_memory(plan.gpu)) is not None:
        yield Message(
            "speed.memory_of_gpu", size=driver.size / 1e9, source=driver.source, memory_share=plan.engine.memory_share,
            each=memory.overhead_gb(plan.engine, plan.count, assumed), source2=plan.engine.source,
        )  # fmt: skip
    if accelerator := accelerator_of(plan.gpu):
        yield Message("speed.no_gpu", source=accelerator.source)
    embedding = _embedding(job.size, plan.engine)
    yield Message("speed.key_value_cache_bits", kv_cache_bits=assumed.kv_cache_bits, embedding=embedding)
    if job.state:
        yield Message("speed.sequence_keeps_mb_however_long", state=job.state / 1e6)


def _of_measurements(asked: Question) -> Iterator[Message]:
    """What was measured, and what stands in its place where nothing was."""
    plan, assumed, card = asked.plan, asked.job.assumptions, asked.card
    fitted = asked.served or asked.calibration
    if fitted is not None and card is not None:
        near = _NEAREST[fitted.nearest("decode" if asked.served is None else "served", card)]
        yield Message(
            "speed.calibrated_measurements_cards", measurements=fitted.measurements, cards=fitted.cards,
            source=fitted.source, near=near,
        )  # fmt: skip
    elif card is not None and not asked.is_accelerator:
        yield Message(
            "speed.nobody_measured_divided", engine=plan.engine.name, expected_utilisation=assumed.expected_utilisation,
            compute_share=asked.COMPUTE_SHARE,
        )  # fmt: skip
        if asked.job.shape.experts > 1:
            yield Message("speed.each_layer_mixture", mixture_layer_us=assumed.mixture_layer_us)
    if (shift := asked.shift) is not None:
        yield Message(
            "speed.measurements_warehouse", measurements=shift.nearest.measurements, engine=plan.engine.name,
            levels=_LEVELS[shift.nearest.level], factor=shift.factor,
        )  # fmt: skip


def _embedding(size: Weights, engine: Engine) -> Message:
    on_host = (size.total - size.on_cards) / 1e9
    if engine.embedding_on_host and on_host > 0:
        return Message("speed.token_embedding", on_host=on_host)
    return Message("speed.all_weights_cards")
