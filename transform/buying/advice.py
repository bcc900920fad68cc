"""Explains the answers: what rules out the next cheaper option, and what would help if there is no answer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from gpuledger.message import Label, Message, Sum
from gpuledger.transform.buying.hosts import host_for
from gpuledger.transform.buying.market import TOO_FEW
from gpuledger.transform.buying.need import WITHOUT_BF16, Need
from gpuledger.transform.buying.options import HEADS_NOT_DIVIDED, NODES, OWNED, TIGHT, Limits, Option
from gpuledger.transform.identity.gpu import Gpu
from gpuledger.transform.sizing.named import SERVED_FILE
from gpuledger.transform.speed.engines import NOT_KNOWN_TO_RUN
from gpuledger.transform.speed.predict import serving

#: Precisions that may be suggested instead, as files of them are published, the one with most bits first: for programs that
#: load GGUF, for pictures and training, and for servers.
_FILES, _UNIFORM, _SERVED = ("fp16", "Q8_0", "Q4_K_M", "Q3_K_M"), ("fp16", "int8", "int4"), ("fp16", "fp8", SERVED_FILE)
#: The reasons against an option that does not run the model, whatever it costs.
CANNOT_RUN = (NOT_KNOWN_TO_RUN, WITHOUT_BF16, HEADS_NOT_DIVIDED)


def named(option: Option) -> Message | str:
    """`2 × NVIDIA GeForce RTX 3090 (used)`."""
    return in_condition(option.what, option)


def in_condition(what: str, option: Option) -> Message | str:
    """What is bought, with its condition if it is not new."""
    if option.condition in (None, "new", OWNED):
        return what
    return Message("{what} ({way})", what=what, way=Label(option.condition.replace("_", " ")))


def cheaper_ruled_out(options: Sequence[Option]) -> dict[int, Message | None]:
    """For each answer, by its position: the reasons against the next cheaper option.

    None if that option is an answer too, or if no option is cheaper.
    """
    reasons: dict[int, Message | None] = {}
    for position, option in enumerate(options):
        if option.against:
            continue
        cheaper = options[position - 1] if position and option.total_usd is not None else None
        is_cheaper = (
            cheaper is not None
            and (cheaper.pictures is None) == (option.pictures is None)
            and (cheaper.total_usd or 0) <= (option.total_usd or 0)
        )
        reasons[position] = _verdict(cheaper) if cheaper is not None and is_cheaper and cheaper.against else None
    return reasons


def _verdict(option: Option) -> Message:
    way = option.condition if option.way == "buy" else option.way
    what = in_condition(option.what, option._replace(condition=way))
    if option.total_usd is not None:
        what = Message("{what} for {total}", what=what, total=Sum(option.total_usd))
    return Message("{what}: {against:; }", what=what, against=option.against)


def smaller(need: Need) -> tuple[str, ...]:
    """The precisions that may be suggested instead of that of a need, the one with most bits first."""
    if need.job is None:
        return _UNIFORM
    return _FILES if "gguf" in need.engine.loads else _SERVED


def offered_in_too_few(options: Iterable[Option]) -> Iterator[Option]:
    """What would be an answer if its quote were for as many pieces."""
    return (one for one in options if one.against and all(why.template == TOO_FEW for why in one.against))


def is_against(option: Option, *templates: str) -> bool:
    """Whether one of the reasons with these templates speaks against an option."""
    return any(reason.template in templates for reason in option.against)


def what_would(
    options: Sequence[Option],
    limits: Limits,
    need: Need,
    at: Callable[[str], Need | None],
    known: Sequence[Gpu],
) -> Iterator[Message]:
    """What would give an answer, if there is none.

    `at` sizes the model at another precision, and gives None if that is not possible. `known` holds all cards, with or
    without a price, the smallest first.
    """
    for option in offered_in_too_few(options):
        yield Message("{what} would do it, but {why:; }", what=option.what, why=option.against)
        return
    holding = [option for option in options if option.fits]
    fitting = [option for option in holding if not is_against(option, NOT_KNOWN_TO_RUN, TIGHT)]
    if holding and not fitting:
        yield Message(
            "{what} would hold it, but {engine} is not known to run {precision} there", what=holding[0].what,
            engine=need.engine.name, precision=need.precision,
        )  # fmt: skip
    # Without a price nobody can say that a machine is within a budget.
    candidates = [option for option in fitting if option.price_usd is not None or limits.budget is None]
    if not candidates:
        yield from _what_would_fit(options, need, at)
        if fitting:
            yield Message("{what} would hold it as asked, and has no price here", what=fitting[0].what)
        else:
            yield from _what_would_hold(need, known)


def without_prices(options: Sequence[Option]) -> Iterator[Message]:
    """Says that nothing has a price, if that is so. After weeks without a night no price of a shop counts any more."""
    if all(option.price_usd is None for option in options):
        yield Message(
            "nothing has a price that counts today: run `gpuledger refresh`; `gpuledger status` says how old each "
            "source is"
        )


def _what_would_fit(options: Sequence[Option], need: Need, at: Callable[[str], Need | None]) -> Iterator[Message]:
    priced = (option for option in options if option.price_usd is not None)
    largest = max(priced, key=lambda option: option.available_gb, default=None)
    needed_gb = need.needed_bytes(1) / 1e9
    if largest is None:
        yield from without_prices(options)
        return
    yield Message(
        "it needs {needed:.1f} GB; the most that has a price here is {what} with {available:.1f} GB for it",
        needed=needed_gb, what=largest.what, available=largest.available_gb,
    )  # fmt: skip
    for precision in smaller(need):
        other = at(precision)
        if other is None or other.needed_bytes(1) >= need.needed_bytes(1):
            continue
        room = [
            o
            for o in options
            if o.total_usd is not None
            and other.needed_bytes(o.gpu_count if other.splits else 1) / 1e9 <= o.available_gb
        ]
        if room:
            cheapest = min(room, key=lambda option: option.total_usd or 0)
            needed = other.needed_bytes(1) / 1e9
            if other.tuning is None:
                yield Message(
                    "at {precision} it needs {needed:.1f} GB and fits on {what}", precision=precision, needed=needed,
                    what=cheapest.what,
                )  # fmt: skip
            else:
                yield Message(
                    "trained with {way} it needs {needed:.1f} GB and fits on {what}", way=other.tuning.way,
                    needed=needed, what=cheapest.what,
                )  # fmt: skip
            return
    yield Message("no smaller precision fits either: take a smaller model or a shorter context")


def _what_would_hold(need: Need, known: Sequence[Gpu]) -> Iterator[Message]:
    """The smallest card, or node of equal cards, that would hold the model, with or without a price."""
    for count in NODES if need.splits else (1,):
        holds = (
            gpu
            for gpu in known
            if need.needed_bytes(count) <= need.usable_bytes(gpu, count)
            and host_for(gpu, count, gpu.tdp_w)
            and need.engine.runs_on(gpu, need.precision)
        )
        card = next(holds, None)
        if card is not None:
            node = card.display_name if count == 1 else f"{count} × {card.display_name}"
            prediction = need.on(card, count)
            served = prediction and need.users > 1 and serving(prediction, need.answer_tokens)
            if served:
                yield Message(
                    "{what} would hold it as asked, about {speed:.3g} tokens/s for each of {users}, and has no price here",
                    what=node, speed=served.each_tokens_per_s, users=need.users,
                )  # fmt: skip
            else:
                yield Message("{what} would hold it as asked, and has no price here", what=node)
            return
    yield Message("no node of up to 8 cards of one kind would hold it as asked")
