"""Writes docs/forty-questions.md: the most likely questions and their answers, `python docs/forty_questions.py`.

Cards at their makers' launch prices, since a page cannot carry today's: `gpuledger buy` answers with those. What to rent for
is the price of an hour at which renting and owning cost the same.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from pathlib import Path

from gpuledger.transform.assumptions import Assumptions
from gpuledger.transform.buying import costs
from gpuledger.transform.buying.copies import HARDLY_FASTER, Copies
from gpuledger.transform.buying.hosts import Host, host_with_room
from gpuledger.transform.buying.need import Need, Usage, need_of
from gpuledger.transform.buying.options import NODES
from gpuledger.transform.identity.catalogue import gpus
from gpuledger.transform.identity.gpu import Gpu
from gpuledger.transform.sizing import catalogue
from gpuledger.transform.speed.features import memory_kind
from gpuledger.transform.speed.predict import Prediction
from gpuledger.transform.speed.serving import Serving, serving

PAGE = Path(__file__).with_name("forty-questions.md")
COUNTS = NODES
#: Every model with the precision that people take for one person, and for many.
MODELS = (
    ("llama-3.1-8b", "Q4_K_M", "fp16"),
    ("qwen3-14b", "Q4_K_M", "fp16"),
    ("qwen3-32b", "Q4_K_M", "fp16"),
    ("llama-3.3-70b", "Q4_K_M", "fp8"),
    ("gpt-oss-120b", "mxfp4", "mxfp4"),
    ("deepseek-v3", "Q4_K_M", "fp8"),
)
#: None asks for the least outlay, a budget for the fastest within it.
BUDGETS = (None, 10_000, 50_000)
#: Models for which several people ask what 10,000 USD buy as well.
SMALL = ("llama-3.1-8b",)
#: Users at once, tokens that each reads and is answered with, and what each must see a second.
LOADS = ((1, 2048, 1024, 10), (8, 1024, 256, 15), (64, 1024, 256, 15))


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """Cards in a machine that answer a question. `outlay` is what is paid on the first day, `each` what a user sees a
    second; until the first token is known only where the rate of reading is.
    """

    gpu: Gpu
    count: int
    host: Host
    outlay: Decimal
    own: costs.Ownership
    prediction: Prediction
    each: float
    first_token_s: float | None
    #: How often the model is loaded; `prediction` is of one of these.
    copies: int = 1


def cards() -> list[Gpu]:
    """Cards of the last years, and machines of shared memory, with a launch price and a known power."""
    return [gpu for gpu in gpus() if gpu.msrp_usd and gpu.tdp_w and (_is_card(gpu) or memory_kind(gpu) == "shared")]


def _is_card(gpu: Gpu) -> bool:
    is_recent = gpu.released_on is not None and gpu.released_on.year >= 2020
    is_sold_so = gpu.segment in ("consumer", "workstation", "data_center") and gpu.vendor in ("NVIDIA", "AMD")
    return is_recent and is_sold_so and (gpu.memory_gb or 0) >= 8


def choices(need: Need, assumptions: Assumptions) -> list[Choice]:
    """Every choice that holds the model, the cheapest on the first day first."""
    found, more = [], Copies(need)
    for gpu in cards():
        for count in COUNTS:
            host = host_with_room(gpu, count, gpu.tdp_w, partial(_in, need, gpu, count))
            prediction = None if host is None else _in(need, gpu, count, host)
            if host is None or prediction is None or prediction.verdict != "fits" or not gpu.msrp_usd or not gpu.tdp_w:
                continue
            if not need.engine.runs_on(gpu, need.precision):
                continue
            served = serving(prediction, need.answer_tokens)
            each = _each(need, prediction, served)
            if each is None:
                continue
            prediction, served, each, copies = _in_copies(more, gpu, count, host, (prediction, served, each, 1))
            machine = costs.Machine(host.full_usd(assumptions), host.power_w(assumptions), host.share(assumptions))
            own = costs.ownership(gpu.msrp_usd, gpu.tdp_w, assumptions, count=count, machine=machine)
            outlay = own.purchase + own.host
            found.append(
                Choice(
                    gpu=gpu, count=count, host=host, outlay=outlay, own=own, prediction=prediction, each=each,
                    first_token_s=None if served is None else served.first_token_s, copies=copies,
                )
            )  # fmt: skip
    return sorted(found, key=lambda one: (one.outlay, one.count, one.gpu.gpu_id))


Way = tuple[Prediction, Serving | None, float, int]


def _in_copies(more: Copies, gpu: Gpu, count: int, host: Host, whole: Way) -> Way:
    """The way in which each user is served fastest: by as many copies of the model as these cards hold, or by one."""
    best = whole
    for copies in more.on(gpu, count):
        need = more.of(copies)
        prediction = _in(need, gpu, count // copies, host)
        served = None if prediction is None else serving(prediction, need.answer_tokens)
        if prediction is None or served is None or prediction.verdict != "fits":
            continue
        if served.each_tokens_per_s > max(best[2], whole[2] * HARDLY_FASTER):
            best = (prediction, served, served.each_tokens_per_s, copies)
    return best


def _in(need: Need, gpu: Gpu, count: int, host: Host) -> Prediction | None:
    return need.on(gpu, count, host.memory(Assumptions()))


def _each(need: Need, prediction: Prediction, served: Serving | None) -> float | None:
    """What each user sees; one who is alone sees what is written, also where the rate of reading is not known."""
    if served is not None:
        return served.each_tokens_per_s
    return prediction.decode.expected if need.users == 1 else None


def page() -> str:
    """The whole page."""
    assumptions = Assumptions()
    lines = [_HEAD]
    number = 0
    for users, read, written, least in LOADS:
        people = "one person" if users == 1 else f"{users} people at once"
        lines += [
            f"## {people.capitalize()}, {read:,} tokens read and {written:,} written each, at {least} tokens/s or more",
            "",
            "| # | model | budget USD | cards | in a | GB needed of usable | each sees tokens/s (range) | first token s "
            "| outlay USD | 3 years USD | renting pays below USD an hour | speed is |",
            "|---|---|---|---|---|---|---|---|---|---|---|---|",
        ]
        for model_id, alone, many in MODELS:
            need = _need(model_id, alone if users == 1 else many, Usage(users=users, prompt=read, answer=written))
            held = choices(need, assumptions)
            if not _fast(held, least) and users == 1:
                # What does not fit may stay with the processor: experts are read least.
                left = Usage(users=users, prompt=read, answer=written, offload="experts")
                held = choices(_need(model_id, alone, left), assumptions)
            for budget in BUDGETS:
                if users > 1 and budget == BUDGETS[1] and model_id not in SMALL:
                    continue
                number += 1
                lines.append(_row(number, f"{model_id} {need.precision}", budget, held, least))
        lines.append("")
    return "\n".join(lines)


def _need(model_id: str, precision: str, asked: Usage) -> Need:
    return need_of(model_id, catalogue.architecture(model_id), precision, asked, Assumptions())


def _fast(held: list[Choice], least: float) -> list[Choice]:
    return [one for one in held if one.each >= least]


def _row(number: int, what: str, budget: int | None, held: list[Choice], least: float) -> str:
    found = _fast(held, least)
    within = [one for one in found if budget is None or one.outlay <= budget]
    asked = "the least" if budget is None else f"{budget:,}"
    if not within:
        return f"| {number} | {what} | {asked} | {_nothing(found, held)} | | | | | | | | |"
    one = _least(within) if budget is None else _fastest(within)
    prediction, own = one.prediction, one.own
    rate = prediction.decode
    assert rate.expected
    assert rate.low
    assert rate.high
    needed, usable = one.copies * prediction.needed / 1e9, one.copies * prediction.usable / 1e9
    each, first = one.each, "not known" if one.first_token_s is None else f"{one.first_token_s:.2f}"
    low, high = each * rate.low / rate.expected, each * rate.high / rate.expected
    return (
        f"| {number} | {what} | {asked} | {_cards(one)} | {one.host.name} "
        f"| {needed:.0f} of {usable:.0f} | {each:.0f} ({low:.0f}–{high:.0f}) "
        f"| {first} | {one.outlay:,.0f} | {own.total:,.0f} | {own.total / own.hours:.2f} "
        f"| {rate.basis}, {prediction.plan.engine.name}{_left(prediction)} |"
    )


def _least(within: list[Choice]) -> Choice:
    """The least outlay; where others cost hardly more, the one of fewest cards and then the fastest."""
    near = [one for one in within if one.outlay <= within[0].outlay * _HARDLY_MORE]
    return min(near, key=lambda one: (one.count, -one.each))


def _fastest(within: list[Choice]) -> Choice:
    """The fastest; where others are hardly slower, the one of the least outlay."""
    best = max(one.each for one in within)
    return next(one for one in within if Decimal(str(one.each)) * _HARDLY_MORE >= Decimal(str(best)))


def _nothing(found: list[Choice], held: list[Choice]) -> str:
    """What there is instead: what would cost more, or what holds it and is too slow."""
    if found:
        one = _least(found)
        return f"nothing; from {one.outlay:,.0f} with {_cards(one)}"
    if held:
        one = _fastest(held)
        return f"nothing is fast enough: {_cards(one)} give each {one.each:.0f} tokens/s for {one.outlay:,.0f}; {_RENT}"
    return f"nothing that has a launch price holds it; {_RENT}"


def _left(prediction: Prediction) -> str:
    away = prediction.moved
    if away is None:
        return ""
    return f", experts of {away.layers} of {away.of_layers} layers, {away.size / 1e9:.0f} GB, with the processor"


def _cards(one: Choice) -> str:
    boards = "" if one.count == 1 else f"{one.count} × "
    each = one.count // one.copies
    copies = "" if one.copies == 1 else f", {one.copies} copies on {each}" if each > 1 else f", {one.copies} copies"
    return f"{boards}{one.gpu.display_name}{copies}"


#: Nobody builds in more cards to save less than this, nor pays for less speed than this.
_HARDLY_MORE = Decimal("1.05")
_RENT = "ask `buy` for rented nodes"
_HEAD = """# The forty most likely questions

Which cards, in which machine, for which model, for how many people and how much money? Each row is a choice that holds the
model with 5% to spare and is fast enough for each: the one of the least outlay, or the fastest that a budget buys. Where
choices differ by less than 5%, the one of fewest cards is taken, and of speeds the one of the least outlay.
`python docs/forty_questions.py` writes this page from the catalogue, the machines of `transform/buying/hosts.toml` and the
calibrated speeds.

- **Prices are the makers' launch prices**, and the share of a desktop that the assumption `host_share` says; `gpuledger buy`
  answers with today's prices of shops and clouds, used cards included. Cards without a launch price (all data-center ones)
  are not here. A machine of shared memory (Strix Halo, DGX Spark, a Mac) is bought whole, at its maker's price.
- **A speed is what is expected, with the range that holds in 8 of 10 cases.** `calibrated` is fitted to measurements of that
  engine; `bound` means that nobody measured it, so it is a share of what physics allows with a wide range.
- Where nothing holds all of a mixture, its experts may stay in the memory of the machine (`--offload experts`): `bound` too.
- One person runs llama.cpp, where several cards add memory and no speed. Several people are served by vLLM, which divides
  every layer, or gives each card a share of the layers where the heads cannot be divided among so many. Where each is
  served faster so, the cards hold several copies of the model, each for its share of the people.
- Three years, 8 hours a day, half of them computing, 0.16 USD/kWh, and the cards sold at the end (`gpuledger describe
  assumptions`). Renting the same cards for those hours costs less than owning them below the price in the last but one
  column.
"""

if __name__ == "__main__":
    sys.exit(PAGE.write_text(page(), encoding="utf-8") and 0)
