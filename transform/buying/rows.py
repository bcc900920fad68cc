"""An option as a row, for every door. Amounts are in dollars; each door shows them in its currency."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from types import MappingProxyType
from typing import Any

from gpuledger.extract.message import Message, several
from gpuledger.transform.buying.answer import Answer
from gpuledger.transform.buying.hosts import supply_w
from gpuledger.transform.buying.options import Option


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """An option with its place in the answer, what rules out the next cheaper one, and the address of an archived page."""

    rank: int
    option: Option
    ruled_out: Message | None
    answer: Answer
    origin: Callable[[str], str | None]


def machine_usd(option: Option, answer: Answer) -> Decimal | None:
    """What the machine costs on day one, None if the price includes it, if it is there, or if nothing is bought."""
    host = option.host
    if host is None or not host.lanes or option.own is None or answer.limits.has_host:
        return None
    return host.full_usd(answer.assumptions) * (1 + answer.limits.machine_tax)


def supply_of(option: Option) -> int | None:
    """Watts of the power supply that the cards need, with a margin. None if they are in a machine already."""
    power, host = option.power, option.host
    return (
        None if power is None or host is None or not host.lanes else supply_w(power.boards, power.tdp_w, power.host_w)
    )


def mark_of(option: Option) -> str:
    """What a reader must know about the price before all else: `stale`, `invented`, `launch price`, empty if nothing."""
    return (option.evidence.mark if option.evidence else None) or ""


def row_of(shown: Shown) -> dict[str, Any]:
    """The option by the names of its columns."""
    return {name: value(shown) for name, value in COLUMNS.items()}


def _cents(amount: Decimal | None) -> Decimal | None:
    return None if amount is None else round(amount, 2)


def _rounded(value: float | None, places: int = 1) -> float | None:
    return None if value is None else round(value, places)


def _of_evidence(name: str) -> Callable[[Shown], Any]:
    return lambda shown: shown.option.evidence and getattr(shown.option.evidence, name)


def _owned(name: str) -> Callable[[Shown], Any]:
    return lambda shown: None if shown.option.own is None else _cents(getattr(shown.option.own, name))


def _rate(name: str) -> Callable[[Shown], Any]:
    return lambda shown: None if shown.option.speed is None else _rounded(getattr(shown.option.speed.rate, name))


def _of_speed(name: str) -> Callable[[Shown], Any]:
    return lambda shown: None if shown.option.speed is None else _rounded(getattr(shown.option.speed, name))


def _images(name: str) -> Callable[[Shown], Any]:
    """Pictures a second of all cards, of a field with those of one card."""

    def of_all(shown: Shown) -> float | None:
        one = shown.option.pictures and getattr(shown.option.pictures, name)
        return None if one is None else float(f"{one * shown.option.gpu_count:.4g}")

    return of_all


def _plain(name: str) -> Callable[[Shown], Any]:
    return lambda shown: getattr(shown.option, name)


def _money(name: str) -> Callable[[Shown], Any]:
    return lambda shown: _cents(getattr(shown.option, name))


def _price_is(shown: Shown) -> str:
    """What one pays the price for: all cards, or an hour of rent."""
    if shown.option.price_usd is None:
        return "not known"
    return "all cards" if shown.option.way == "buy" else "an hour"


def _speed_is(shown: Shown) -> str:
    speed = shown.option.speed
    return shown.option.pictures.basis if shown.option.pictures else speed.rate.basis if speed else "unknown"


def _measured(shown: Shown) -> Any:
    """The measurement behind the speed, if there is one."""
    return shown.option.pictures or (shown.option.speed and shown.option.speed.measured)


def _url(shown: Shown) -> str | None:
    evidence = shown.option.evidence
    if evidence is None or not evidence.snapshot_sha256:
        return None
    return evidence.url or shown.origin(evidence.snapshot_sha256)


def _reads(shown: Shown) -> int | None:
    prediction = shown.option.prediction
    rate = None if prediction is None else prediction.prefill.expected
    return None if rate is None else round(rate * shown.option.copies)


def _machine(shown: Shown) -> Decimal | None:
    return _cents(machine_usd(shown.option, shown.answer))


def _host_limit(name: str) -> Callable[[Shown], Any]:
    return lambda shown: None if _machine(shown) is None else getattr(shown.option.host, name)


#: The columns and their values, in their order. `outlay_usd` is what is paid on day one, or the rent over the horizon.
COLUMNS: Mapping[str, Callable[[Shown], Any]] = MappingProxyType(
    {
        "rank": lambda shown: shown.rank,
        "way": _plain("way"),
        "condition": _plain("condition"),
        "what": _plain("what"),
        "gpu_id": _plain("gpu_id"),
        "gpu": _plain("gpu"),
        "gpu_count": _plain("gpu_count"),
        "price_usd": _plain("price_usd"),
        "price_is": _price_is,
        "price_since": _of_evidence("price_since"),
        "last_seen_at": _of_evidence("seen_at"),
        "market": _of_evidence("market"),
        "source": _of_evidence("source"),
        "needed_gb": lambda shown: _rounded(shown.option.needed_gb, 2),
        "available_gb": lambda shown: _rounded(shown.option.available_gb, 2),
        "fits": _plain("fits"),
        "tokens_per_s": _of_speed("expected"),
        "speed_is": _speed_is,
        "decode_bound_tokens_per_s": _of_speed("bound"),
        "expected_tokens_per_s": _of_speed("expected"),
        "speed_verdict": lambda shown: shown.option.speed and shown.option.speed.verdict,
        "prefill_bound_tokens_per_s": lambda shown: shown.option.prefill_bound and round(shown.option.prefill_bound),
        "total_usd": _money("total_usd"),
        "host_share_usd": _owned("host"),
        "electricity_usd": _owned("electricity"),
        "resale_usd": _owned("resale"),
        "usd_per_million_tokens": _money("usd_per_million_tokens"),
        "next_cheaper_is_ruled_out": lambda shown: shown.ruled_out or "",
        "url": _url,
        "snapshot_sha256": lambda shown: _of_evidence("snapshot_sha256")(shown) or None,
        "speed_url": lambda shown: _measured(shown) and _measured(shown).url,
        "speed_snapshot_sha256": lambda shown: _measured(shown) and _measured(shown).snapshot_sha256,
        "low_tokens_per_s": _rate("low"),
        "high_tokens_per_s": _rate("high"),
        "engine": lambda shown: shown.option.prediction and shown.option.prediction.plan.engine.name,
        "split": lambda shown: (
            shown.option.prediction.split
            if shown.option.prediction and shown.option.prediction.plan.count > 1
            else None
        ),
        "fit": lambda shown: shown.option.prediction and shown.option.prediction.verdict,
        "users": lambda shown: shown.option.prediction and shown.answer.need.users,
        "each_tokens_per_s": _of_speed("each"),
        "first_token_s": lambda shown: (
            _rounded(shown.option.speed.serving.first_token_s, 2)
            if shown.option.speed and shown.option.speed.serving
            else None
        ),
        "prefill_tokens_per_s": _reads,
        "usd_per_million_input_tokens": _money("usd_per_million_read"),
        "host": lambda shown: shown.option.host and shown.option.host.name,
        "note": lambda shown: several(shown.option.notes) or "",
        "image_iterations_per_s": lambda shown: shown.option.pictures and shown.option.pictures.iterations_per_s,
        "images_per_s": _images("per_s"),
        "usd_per_thousand_images": _money("usd_per_thousand_images"),
        "image_workload": lambda shown: shown.option.pictures and shown.option.pictures.workload,
        "other_usd": _owned("other"),
        "outlay_usd": _money("outlay_usd"),
        "machine_usd": _machine,
        "machine_low_usd": _host_limit("low_usd"),
        "machine_high_usd": _host_limit("high_usd"),
        "supply_w": lambda shown: supply_of(shown.option),
        "running_usd": _owned("running"),
        "kept_usd": _owned("kept"),
        "low_images_per_s": _images("low"),
        "high_images_per_s": _images("high"),
        "seller": _of_evidence("vendor"),
        "price_mark": lambda shown: mark_of(shown.option),
    }
)
