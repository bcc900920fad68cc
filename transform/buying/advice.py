"""Explains the answers: what rules out the next cheaper option, and what would help if there is no answer."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

from gpuledger.transform.buying.hosts import host_for
from gpuledger.transform.buying.need import Need
from gpuledger.transform.buying.options import NODES, Limits, Option
from gpuledger.transform.identity.gpu import Gpu

#: Parts of the reasons against an option whose speed is too low or not known.
_SLOW = ("tokens/s", "its speed is not known")
#: Smaller precisions that may be suggested, the one with most bits first.
_SMALLER = ("fp16", "int8", "Q4_K_M", "int4")


def cheaper_ruled_out(options: Sequence[Option]) -> dict[int, str]:
    """For each answer, by its position: the reasons against the next cheaper option.

    An empty text if that option is an answer too, or if no option is cheaper.
    """
    reasons = {}
    for position, option in enumerate(options):
        if option.against:
            continue
        cheaper = options[position - 1] if position and option.total_usd is not None else None
        is_cheaper = cheaper is not None and (cheaper.pictures is None) == (option.pictures is None)
        reasons[position] = _verdict(cheaper) if cheaper is not None and is_cheaper and cheaper.against else ""
    return reasons


def _verdict(option: Option) -> str:
    total = "" if option.total_usd is None else f" for {option.total_usd:,.0f} USD"
    way = f" ({option.way})" if option.way != "buy" else "" if option.condition == "new" else f" ({option.condition})"
    return f"{option.what}{way}{total}: {'; '.join(option.against)}"


def what_would(
    options: Sequence[Option],
    limits: Limits,
    need: Need,
    at: Callable[[str], Need | None],
    known: Sequence[Gpu],
) -> Iterator[str]:
    """Sentences that say what would give an answer, if there is none.

    `at` sizes the model at another precision, and gives None if that is not possible. `known` holds all cards, with or
    without a price, the smallest first.
    """
    holding = [option for option in options if option.fits]
    fitting = [option for option in holding if not any("is not known to run" in reason for reason in option.against)]
    if holding and not fitting:
        yield f"{holding[0].what} would hold it, but {need.engine.name} is not known to run {need.precision} there"
    # Without a price nobody can say that a machine is within a budget.
    candidates = [option for option in fitting if option.price_usd is not None or limits.budget_usd is None]
    if not candidates:
        yield from _what_would_fit(options, need, at)
        if fitting:
            yield f"{fitting[0].what} would hold it as asked, and has no price here"
        else:
            yield from _what_would_hold(need, known)
        return
    in_machine = [option for option in fitting if not any("no machine" in reason for reason in option.against)]
    fast_enough = [
        option
        for option in in_machine
        if not any(reason_part in reason for reason_part in _SLOW for reason in option.against)
    ]
    if limits.min_tokens_per_s is not None and not fast_enough:
        best = max((o for o in in_machine if o.speed), key=lambda o: o.speed.each if o.speed else 0, default=None)
        if best is not None and best.speed is not None:
            yield (
                f"the fastest that fits is {best.what}, at {best.speed.each:.1f} tokens/s: ask for that, or for a "
                "precision of fewer bits"
            )
        return
    if limits.budget_usd is not None:
        priced = [option for option in fast_enough or in_machine or fitting if option.outlay_usd is not None]
        cheapest = min(priced, key=lambda option: option.outlay_usd or 0, default=None)
        if cheapest is not None and cheapest.outlay_usd is not None:
            budget = math.ceil(cheapest.outlay_usd)
            yield f"the cheapest that does it is {cheapest.what}: raise the budget to {budget:,} USD"


def without_prices(options: Sequence[Option]) -> Iterator[str]:
    """Says that nothing has a price, if that is so. After weeks without a night no price of a shop counts any more."""
    if all(option.price_usd is None for option in options):
        yield (
            "nothing has a price that counts today: run `gpuledger refresh`; `gpuledger status` says how old each source "
            "is"
        )


def _what_would_fit(options: Sequence[Option], need: Need, at: Callable[[str], Need | None]) -> Iterator[str]:
    priced = (option for option in options if option.price_usd is not None)
    largest = max(priced, key=lambda option: option.available_gb, default=None)
    needed_gb = need.needed_bytes(1) / 1e9
    if largest is None:
        yield from without_prices(options)
        return
    yield (
        f"it needs {needed_gb:.1f} GB on one card; the most that has a price here is {largest.what} "
        f"with {largest.available_gb:.1f} GB for it"
    )
    for precision in _SMALLER:
        smaller = at(precision)
        if smaller is None or smaller.needed_bytes(1) >= need.needed_bytes(1):
            continue
        room = [o for o in options if o.total_usd is not None and _holds(smaller, o)]
        if room:
            cheapest = min(room, key=lambda option: option.total_usd or 0)
            needed = f"{smaller.needed_bytes(1) / 1e9:.1f}"
            if smaller.tuning is None:
                yield f"at {precision} it needs {needed} GB and fits on {cheapest.what}"
            else:
                yield f"trained with {smaller.tuning.way} it needs {needed} GB and fits on {cheapest.what}"
            return
    yield "no smaller precision fits either: take a smaller model or a shorter context"


def _holds(need: Need, option: Option) -> bool:
    return need.needed_bytes(option.gpu_count if need.splits else 1) / 1e9 <= option.available_gb


def _what_would_hold(need: Need, known: Sequence[Gpu]) -> Iterator[str]:
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
            yield f"{node} would hold it as asked, and has no price here"
            return
    yield "no node of up to 8 cards of one kind would hold it as asked"
