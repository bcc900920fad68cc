"""Shows every figure of a prediction as arithmetic, step by step, and where each number comes from."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from gpuledger.message import Message
from gpuledger.transform.figures import Step, assumed, both, explaining, fields_of, number, shown
from gpuledger.transform.speed import memory
from gpuledger.transform.speed.calibration import EIGHTY_PERCENT
from gpuledger.transform.speed.predict import Prediction, cache_copies
from gpuledger.transform.speed.rules import Question, Rate, Writing


def steps(prediction: Prediction) -> Iterator[Step]:
    """The steps of memory, writing and reading of a prediction, in this order."""
    yield from memory_steps(prediction)
    yield from writing_steps(prediction)
    yield from reading_steps(prediction)


def memory_steps(prediction: Prediction) -> Iterator[Step]:
    """The memory that the model needs and that the cards have, in GB of 10^9 bytes."""
    job, plan = prediction.job, prediction.plan
    size, assumptions, count = job.size, job.assumptions, plan.count
    resident = size.on_cards if plan.engine.embedding_on_host else size.total
    yield Step(
        "weights", f"{number(size.parameters)} × {size.total * 8 / size.parameters:.9g} ÷ 8 ÷ 10^9", size.total / 1e9,
        "GB", Message("weights of the model's config.json × average bits of {precision}", precision=size.precision),
    )  # fmt: skip
    if resident != size.total:
        yield Step(
            "weights on the cards", f"{number(size.total / 1e9)} − {number((size.total - resident) / 1e9)}",
            resident / 1e9, "GB",
            Message(
                "the token embeddings stay with the processor: {source} (--embedding cards)", source=plan.engine.source,
            ),
        )  # fmt: skip
    yield from _cache(prediction)
    yield _activations(prediction)
    copies, cache = cache_copies(job, plan.split, plan.count), number(job.cache_in(plan.engine) / 1e9)
    caches = f"{copies:.9g} × {cache}" if copies > 1 else cache
    pictures, activations = job.tower_in(plan.engine), number(job.activations_in(plan.engine) / 1e9)
    each = f"({activations} + {number(pictures / 1e9)})" if pictures else activations
    parts = f"{number(resident / 1e9)} + {caches} + {count} × {each}"
    sources = [Message("weights, cache, and activations of each card")]
    if padding := job.padding_in(plan.engine):
        parts += f" + {number(padding / 1e9)}"
        sources.append(Message(
            "{engine} pads 4-bit experts to whole blocks, by {size:.2f} GB", engine=plan.engine.name, size=padding / 1e9
        ))  # fmt: skip
    if pictures:
        sources.append(Message(
            "{engine} takes {size:g} GB on each card to try a model that sees pictures with pictures",
            engine=plan.engine.name, size=pictures / 1e9,
        ))  # fmt: skip
    if prediction.moved is not None:
        parts += f" − {number(prediction.moved.size / 1e9)}"
        moved = prediction.moved
        sources.append(Message(
            "{layers} of {all} layers' experts stay with the processor" if moved.what == "experts"
            else "{layers} of {all} layers' layers stay with the processor", layers=moved.layers, all=moved.of_layers,
        ))  # fmt: skip
    yield Step("needed", parts, prediction.needed / 1e9, "GB", both(*sources))
    driver = memory.driver_memory(plan.gpu)
    if driver is None:
        return
    overhead, share = memory.overhead_gb(plan.engine, count, assumptions), memory.share_of(plan.engine, assumptions)
    yield Step(
        "usable",
        f"({number(driver.size / 1e9)} × {share:g} − {overhead:g}) × {count}",
        prediction.usable / 1e9,
        "GB",
        both(
            driver.source,
            Message(
                "{engine} takes {share:.0%} of it and {own:g} GB of that for itself ({source})",
                engine=plan.engine.name,
                share=share,
                own=overhead,
                source=plan.engine.source,
            ),
            assumed(assumptions, "device_overhead_gb"),
        ),
    )


def _activations(prediction: Prediction) -> Step:
    job = prediction.job
    engine = prediction.plan.engine
    (users, tokens), activations = job.at_once_in(engine), job.activations_in(engine)
    logits = users * job.shape.vocab * 4 if job.shape.kind != "encoder" else 0
    widest = (activations - logits) // (2 * users * tokens) - 2 * job.shape.hidden
    scores = f" + {users} × {job.shape.vocab:,} × 4" if logits else ""
    return Step(
        "activations on each card",
        f"({users} × {tokens} × (2 × {job.shape.hidden:,} + {widest:,}) × 2{scores}) ÷ 10^9",
        activations / 1e9,
        "GB",
        both(
            Message(
                "users × tokens at once × (residual stream twice + the widest projection) × 2 bytes, and 4 bytes a "
                "word of the vocabulary for the scores (Dao et al. 2022 keep no others)"
            ),
            "" if engine.tried_tokens else assumed(job.assumptions, "prefill_chunk_tokens"),
        ),
    )


def _cache(prediction: Prediction) -> Iterator[Step]:
    job, engine = prediction.job, prediction.plan.engine
    context, users, bits = job.load.context, job.load.users, job.assumptions.kv_cache_bits
    kinds = Counter(
        (layer.cached, min(context, layer.window + engine.piece_tokens) if layer.window else context)
        for layer in job.shape.attention
        if layer.cached
    )
    sums = [f"{layers} × {cached:,} × {reach:,}" for (cached, reach), layers in kinds.items()]
    joined = " + ".join(sums) or "0"
    state = job.state
    states = f" + {state:,} × {users} ÷ 10^9" if state else ""
    whole = f"({joined}) × {bits:g} ÷ 8 × {users} ÷ 10^9{states}"
    yield Step(
        "key-value cache",
        whole,
        job.cache_in(engine) / 1e9,
        "GB",
        both(
            Message(
                "layers × elements kept of a token × tokens, for each user (Pope et al. 2022), and what layers with a "
                "state keep of each sequence"
                if state
                else "layers × elements kept of a token × tokens, for each user (Pope et al. 2022)"
            ),
            Message("{words}, or --kv-bits", words=assumed(job.assumptions, "kv_cache_bits")),
        ),
    )


def writing_steps(prediction: Prediction) -> Iterator[Step]:
    """The speed of writing, in tokens a second of all users together."""
    timed, job, rate = prediction.question.writing(), prediction.job, prediction.decode
    if timed is None or rate.bound is None:
        return
    users = job.load.users
    weights = job.size.read_bytes(users)
    read = Message("weights, and the cache that is held on average")
    if job.size.experts > 1:
        read = Message(
            "weights, {used} of {all} experts a token, and the cache that is held on average",
            used=job.size.used_experts, all=job.size.experts,
        )  # fmt: skip
    away = f" − {number(timed.host_bytes / 1e9)}" if timed.host_bytes else ""
    yield Step(
        "read from the cards for a token of each",
        f"{number(weights / 1e9)} + {users} × {number(job.cache_written / 1e9)}{away}", timed.card_bytes / 1e9, "GB",
        both(read, assumed(job.assumptions, "context_read")),
    )  # fmt: skip
    made = dict(_seconds(prediction))
    yield made.pop("bound")
    if rate.expected is None:
        return
    if rate.basis == "measured":
        yield Step(
            "written", number(rate.expected), rate.expected, "tokens/s", Message("measured on this card, as published")
        )
        yield from _range(rate, timed.deviation)
        return
    yield from made.values()
    if not math.isclose(made["written"].value, rate.expected, rel_tol=1e-9):
        yield Step(
            "written, as answered", number(rate.expected), rate.expected, "tokens/s",
            Message("never above its bound, nor above what a card of more bandwidth was measured at"),
        )  # fmt: skip
    yield from _range(rate, timed.deviation)


def _seconds(prediction: Prediction) -> Iterator[tuple[str, Step]]:
    """The bound, the time of a step on one card and then on several together, and what is written, by figure."""
    job, plan, asked, users = prediction.job, prediction.plan, prediction.question, prediction.job.load.users
    traced_question = replace(asked, job=replace(job, assumptions=fields_of(job.assumptions)))
    traced_question.__dict__["card"] = asked.card and fields_of(asked.card)  # it is a cached property
    with explaining() as made:
        timed = traced_question.writing()
        assert timed is not None, "a rate has a bound"
        timed = fields_of(timed)
        several = "for several users together" if users > 1 else "for one user"
        shown("bound", timed.bound, "tokens/s")
        shown("written", users / timed.seconds, "tokens/s", several)
    sources = {
        "bound": Message(
            "seconds of a step at {bandwidth:g} GB/s and at the matrix rate of the data sheet, the longer of them",
            bandwidth=plan.gpu.memory_bandwidth_gb_s,
        ),
        "time of a step": both(*_of_a_step(asked, timed)),
        "times faster together": both(
            Message("Amdahl 1967 with exchanges in every layer"), assumed(job.assumptions, "parallel_fraction"),
            assumed(job.assumptions, "link_gb_s", "slot_share", "link_latency_us"),
        ),
        "time of a step, divided": Message("the cards work on parts of every layer"),
        "time of a step with its experts": Message(
            "layers of a mixture: {assumed}", assumed=assumed(job.assumptions, "mixture_layer_us"),
        ),
        "time of a step, as measured here": Message(
            "what the measurements of this warehouse say of the program beside that (core.calibration)"
        ),
    }  # fmt: skip
    for figure, step in made.items():
        yield figure, replace(step, source=sources.get(figure, step.source))


def _of_a_step(asked: Question, timed: Writing) -> Iterator[Message | str]:
    """Where the time of a step on one card comes from."""
    assumptions, host = asked.job.assumptions, asked.plan.host
    if (fitted := asked.calibration) is not None:
        yield Message(
            "bytes × how much longer than the data sheet says + bytes of the cache × seconds a byte + layers × seconds a "
            "layer + handovers between cards, fitted to {measurements} measurements of {cards} cards: {source} "
            "(transform/speed/calibration.toml)",
            measurements=fitted.measurements, cards=fitted.cards, source=fitted.source,
        )  # fmt: skip
    elif (fitted := asked.served) is not None:
        yield Message(
            "of each card: weights + cache + operations + exchange + layers + what every step takes, fitted to "
            "{measurements} measurements of {cards} cards: {source} (transform/speed/served.py)",
            measurements=fitted.measurements, cards=fitted.cards, source=fitted.source,
        )  # fmt: skip
    else:
        yield Message("nobody measured this: {assumed}", assumed=assumed(assumptions, "expected_utilisation"))
    if timed.step.computing_s:
        yield Message("computing for several users at half of the 16-bit rate")
    if timed.host_bytes and host is not None:
        yield Message("the processor reads at {words}", words=assumed(assumptions, "host_memory_utilisation"))
        yield host.source


def _range(rate: Rate, deviation: float) -> Iterator[Step]:
    if rate.expected is None or rate.low is None or rate.high is None:
        return
    spread = math.log(rate.expected / rate.low) / EIGHTY_PERCENT
    factor = math.exp(EIGHTY_PERCENT * spread)
    why = (
        Message("the spread of held-out measurements")
        if rate.basis in ("calibrated", "estimated")
        else Message("own choice, wide on purpose")
    )
    if rate.basis == "measured":
        why = Message("two runs of one benchmark on one card")
    yield Step(
        "low", f"{number(rate.expected)} ÷ {factor:.7g}", rate.low, "tokens/s",
        Message("80% of cases: e^({quantile} × {spread:.3g}), {why}", quantile=EIGHTY_PERCENT, spread=spread, why=why),
    )  # fmt: skip
    high = rate.expected * factor
    if rate.bound is not None and high > rate.bound:
        yield Step(
            "high", number(rate.bound), rate.high, "tokens/s",
            Message("the bound, which lies below the upper end of the range"),
        )  # fmt: skip
    else:
        yield Step(
            "high", f"{number(rate.expected)} × {factor:.7g}", rate.high, "tokens/s", Message("the same upwards")
        )


def reading_steps(prediction: Prediction) -> Iterator[Step]:
    """The speed of reading a prompt, in tokens a second."""
    job, rate = prediction.job, prediction.prefill
    if rate.expected is None or job.prefill_flops is None:
        return
    each = job.prefill_flops / job.load.prompt
    yield Step(
        "operations of a prompt token", f"{number(job.prefill_flops)} ÷ {job.load.prompt:,}", each, "FLOP",
        Message("every matrix and the attention of a prompt of that length, counted from the shape"),
    )  # fmt: skip
    reached = rate.expected * each / 1e12
    fitted = prediction.question.read_calibration or prediction.question.served
    if rate.basis in ("calibrated", "estimated") and fitted is not None:
        source = Message(
            "tera-operations a second by the fit to {measurements} measurements ({source})",
            measurements=fitted.measurements, source=fitted.source,
        )  # fmt: skip
    else:
        source = Message(
            "half of the 16-bit matrix rate, divided by the cards or prompt after prompt through them, and the slot "
            "for what stays with the processor"
        )
    yield Step("reads", f"{number(reached)} × 10^12 ÷ {number(each)}", rate.expected, "tokens/s", source)
