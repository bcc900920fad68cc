"""Every way to run the model: cards alone and in nodes, and instances, with what each costs and what speaks against it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from gpuledger.transform.assumptions import Assumptions
from gpuledger.transform.buying import costs
from gpuledger.transform.buying.market import Card, Evidence, Instance, Measurement
from gpuledger.transform.buying.need import Need
from gpuledger.transform.buying.parallel import usable_bytes
from gpuledger.transform.buying.peaks import fastest_matrix_tflops
from gpuledger.transform.buying.performance import utilisation
from gpuledger.transform.buying.rent_or_buy import kept
from gpuledger.transform.identity.gpu import Gpu

#: Cards of one kind in one machine.
NODES = (1, 2, 4, 8)


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What an answer must keep to; None for no limit."""

    budget_usd: Decimal | None = None
    min_tokens_per_s: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Speed:
    """Tokens a second of an option. `tokens_per_s` is `basis` (measured, or the bound of what nobody measured); `expected`
    is what to count on. `measured` is where a measurement is published.
    """

    tokens_per_s: float
    basis: str
    bound: float
    expected: float
    verdict: str | None
    measured: Measurement | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One way to run the model. `price_usd` is of all cards, or of an hour; `outlay_usd` what the budget is asked for.

    `against` are the reasons why it is no answer, empty where it is one.
    """

    way: str
    #: Of a card that is bought: `new`, `open_box`, `refurbished` or `used`.
    condition: str | None
    what: str
    gpu_id: str | None
    gpu: str
    gpu_count: int
    price_usd: Decimal
    outlay_usd: Decimal
    needed_gb: float
    available_gb: float
    speed: Speed | None
    #: Prompt tokens a second at most; None where a rate of the card is not known or the model reads no prompt.
    prefill_bound: float | None
    own: costs.Ownership | None
    total_usd: Decimal | None
    usd_per_million_tokens: Decimal | None
    evidence: Evidence
    against: tuple[str, ...]

    @property
    def fits(self) -> bool:
        """The model fits in the memory."""
        return self.needed_gb <= self.available_gb


def options(
    need: Need,
    limits: Limits,
    cards: Sequence[Card],
    instances: Sequence[Instance],
    measured: Mapping[str, Measurement],
    chips: Mapping[str, Gpu],
    assumptions: Assumptions,
) -> list[Option]:
    """All options, the cheapest over the horizon first; those whose cost is not known come last.

    `chips` gives what the arithmetic of a card follows from; a card that is not in it has no bound for reading.
    """
    rates = {gpu_id: fastest_matrix_tflops(chip, need.weight_bits) for gpu_id, chip in chips.items()}
    found = [
        *_bought(need, limits, cards, measured, rates, assumptions),
        *_rented(need, limits, instances, measured, rates, assumptions),
    ]
    return sorted(found, key=lambda o: (o.total_usd is None, o.total_usd or 0, o.gpu_count, o.what))


def _prefill(need: Need, tflops: float | None, bandwidth: float | None, gpus: int) -> float | None:
    return need.prefill(tflops, bandwidth, gpus) if need.prefill and tflops and bandwidth else None


def _bought(
    need: Need,
    limits: Limits,
    cards: Sequence[Card],
    measured: Mapping[str, Measurement],
    rates: Mapping[str, float | None],
    assumptions: Assumptions,
) -> Iterator[Option]:
    for card in cards:
        if not card.memory_gb:
            continue  # whether anything fits on it is not known
        long_enough = card.history_years is not None and card.history_years * 2 >= float(assumptions.horizon_years)
        assumed = kept(assumptions, card.value_kept if long_enough else None)
        for boards in NODES if need.splits else (1,):
            gpus = boards * card.gpus_on_board
            price = card.price_usd * boards
            own = None if card.tdp_w is None else costs.ownership(card.price_usd, card.tdp_w, assumed, count=boards)
            total = own.total if own else None
            speed = _speed(need, card.gpu_id, card.bandwidth_gb_s, gpus, measured, assumptions)
            prefill = _prefill(need, rates.get(card.gpu_id), card.bandwidth_gb_s, gpus)
            needed, available = _memory(need, card.memory_gb, gpus, assumptions)
            yield Option(
                way="buy", condition=card.condition, what=card.gpu if boards == 1 else f"{boards} × {card.gpu}",
                gpu_id=card.gpu_id, gpu=card.gpu,
                gpu_count=gpus, price_usd=price, outlay_usd=price, needed_gb=needed, available_gb=available,
                speed=speed, prefill_bound=prefill, own=own, total_usd=total,
                usd_per_million_tokens=_per_million(total, own.busy_hours if own else None, speed),
                evidence=card.evidence,
                against=_against(needed, available, price, speed, total, limits),
            )  # fmt: skip


def _rented(
    need: Need,
    limits: Limits,
    instances: Sequence[Instance],
    measured: Mapping[str, Measurement],
    rates: Mapping[str, float | None],
    assumptions: Assumptions,
) -> Iterator[Option]:
    hours = assumptions.hours_per_day * costs.DAYS_A_YEAR * assumptions.horizon_years
    for one in instances:
        total = costs.rent_per_used_hour(one.hour_usd, one.pricing_model, assumptions) * hours
        speed = _speed(need, one.gpu_id, one.bandwidth_gb_s, one.gpu_count, measured, assumptions)
        prefill = _prefill(need, rates.get(one.gpu_id or ""), one.bandwidth_gb_s, one.gpu_count)
        needed, available = _memory(need, one.memory_gb, one.gpu_count, assumptions)
        place = " ".join(filter(None, [one.provider, one.instance, one.region]))
        gpus = one.gpu if one.gpu_count == 1 else f"{one.gpu_count} × {one.gpu}"
        yield Option(
            way=one.pricing_model, condition=None, what=f"{gpus} at {place}", gpu_id=one.gpu_id, gpu=one.gpu,
            gpu_count=one.gpu_count,
            price_usd=one.hour_usd, outlay_usd=total, needed_gb=needed, available_gb=available, speed=speed,
            prefill_bound=prefill, own=None,
            total_usd=total, usd_per_million_tokens=_per_million(total, hours * assumptions.utilisation, speed),
            evidence=one.evidence, against=_against(needed, available, total, speed, total, limits),
        )  # fmt: skip


def _memory(need: Need, memory_gb: float, gpus: int, assumptions: Assumptions) -> tuple[float, float]:
    """GB (10^9 bytes) that the model needs, and that so many GPUs have for it."""
    together = gpus if need.splits else 1
    return need.memory(together) / 1e9, usable_bytes(memory_gb, together, assumptions) / 1e9


def _speed(
    need: Need,
    gpu_id: str | None,
    bandwidth: float | None,
    gpus: int,
    measured: Mapping[str, Measurement],
    assumptions: Assumptions,
) -> Speed | None:
    """Speed of so many GPUs; None where nothing is written token by token or the bandwidth is not known.

    What nobody measured is expected at `expected_utilisation` of its bound, and never above what a card of more bandwidth
    was measured at: where software limited that one, it limits this one too.
    """
    if need.bound is None or need.bound_of_empty_cache is None or not bandwidth:
        return None
    bound = need.bound(bandwidth)
    own = measured.get(gpu_id) if gpu_id else None
    if own is not None:
        expected = min(own.tokens_per_s, bound)
        verdict = utilisation(own.tokens_per_s, need.bound_of_empty_cache(bandwidth), assumptions).verdict
    else:
        faster = [m.tokens_per_s for m in measured.values() if m.bandwidth_gb_s >= bandwidth]
        expected, verdict = min([bound * assumptions.expected_utilisation, *faster]), None
    is_measured = own is not None and gpus == 1
    return Speed(
        tokens_per_s=own.tokens_per_s if own is not None and is_measured else need.several(bound, gpus),
        basis="measured" if is_measured else "bound",
        bound=need.several(bound, gpus),
        expected=need.several(expected, gpus),
        verdict=verdict if is_measured else None,
        measured=own if is_measured else None,
    )


def _per_million(total: Decimal | None, busy_hours: Decimal | None, speed: Speed | None) -> Decimal | None:
    if total is None or not busy_hours or speed is None or speed.expected <= 0:
        return None
    return costs.cost_per_million_tokens(total, busy_hours, speed.expected)


def _against(
    needed: float, available: float, outlay: Decimal, speed: Speed | None, total: Decimal | None, limits: Limits
) -> tuple[str, ...]:
    reasons = []
    if needed > available:
        reasons.append(f"needs {needed:.1f} GB and has {available:.1f}")
    if limits.budget_usd is not None and outlay > limits.budget_usd:
        reasons.append(f"costs {outlay:,.0f} USD, over the budget of {limits.budget_usd:,.0f}")
    if limits.min_tokens_per_s is not None:
        if speed is None:
            reasons.append("its speed is not known")
        elif speed.expected < limits.min_tokens_per_s:
            basis = "as measured" if speed.basis == "measured" else f"expected of a bound of {speed.bound:.1f}"
            reasons.append(f"{speed.expected:.1f} tokens/s ({basis}), under {limits.min_tokens_per_s:g}")
    if total is None:
        reasons.append("its power is not known, so its cost is not")
    return tuple(reasons)
