"""An option as a row, for every door. Amounts are in dollars; each door shows them in its currency."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from types import MappingProxyType
from typing import Any

from gpuledger.message import Message, several
from gpuledger.transform.buying.answer import Answer
from gpuledger.transform.buying.hosts import has_no_fan, supply_w
from gpuledger.transform.buying.options import Option
from gpuledger.transform.sizing.diffusion import weights_bytes

#: GB of memory that are sold together, and those of the system and its programs.
_MEMORY_GB, _SYSTEM_GB = (16, 32, 64, 96, 128, 192, 256, 384, 512), 8


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
    if host is None or not host.lanes or option.own is None or answer.limits.has_machine(host):
        return None
    return host.full_usd(answer.assumptions) * (1 + answer.limits.machine_tax)


def supply_of(option: Option) -> int | None:
    """Watts of the power supply that the cards need, with a margin. None if they are in a machine already."""
    bought, host = option.bought, option.host
    if bought is None or host is None or not host.lanes:
        return None
    return supply_w(bought.boards, bought.tdp_w, bought.machine.watts)


def memory_gb(option: Option, answer: Answer) -> float | None:
    """GB of memory of the machine: those of its estimate, and what weights need that lie or wait in it.

    None if neither is known or asked.
    """
    known, host = answer.assumptions, option.host
    machine = host.memory(known) if host is not None and machine_usd(option, answer) else None
    waiting, need = 0.0, answer.need
    if need.diffusion is not None:
        waiting = weights_bytes(need.diffusion, need.precision) / 1e9 + _SYSTEM_GB
    elif option.prediction is not None and option.prediction.moved is not None:
        waiting = option.prediction.moved.size / 1e9 + _SYSTEM_GB
    held = next((size for size in _MEMORY_GB if size >= waiting), waiting) if waiting else 0.0
    return max(held, machine.gb if machine else 0.0) or None


def mark_of(option: Option) -> str:
    """What a reader must know about the price before all else: `stale`, `invented`, `street price`, empty if nothing."""
    return (option.evidence.mark if option.evidence else None) or ""


def row_of(shown: Shown) -> dict[str, Any]:
    """The option by the names of its columns."""
    return {name: value(shown) for name, value in COLUMNS.items()}


def _at(path: str, places: int | None = None) -> Callable[[Shown], Any]:
    """What an option has at a path such as `speed.rate.low`, rounded if `places` are given. None where a part is missing."""
    names = path.split(".")

    def value_of(shown: Shown) -> Any:
        value: Any = shown.option
        for name in names:
            if value is None:
                return None
            value = getattr(value, name)
        return value if places is None or value is None else round(value, places)

    return value_of


def _images(name: str) -> Callable[[Shown], Any]:
    """Pictures a second of all cards, of a field with those of one card."""

    def of_all(shown: Shown) -> float | None:
        one = shown.option.pictures and getattr(shown.option.pictures, name)
        return None if one is None else float(f"{one * shown.option.gpu_count:.4g}")

    return of_all


def _speech(name: str) -> Callable[[Shown], Any]:
    """How many times as fast as it is spoken speech is written down."""
    return lambda shown: shown.option.heard and float(f"{shown.option.heard.values[name]:.3g}")


def _price_is(shown: Shown) -> str:
    """What one pays the price for: all cards, or an hour of rent."""
    if shown.option.price_usd is None:
        return "not known"
    return "all cards" if shown.option.way == "buy" else "an hour"


def _speed_is(shown: Shown) -> str:
    option = shown.option
    if option.heard is not None:
        return "estimated"
    return option.pictures.basis if option.pictures else option.speed.rate.basis if option.speed else "unknown"


def _measured(shown: Shown) -> Any:
    """The measurement behind the speed, if there is one."""
    return shown.option.pictures or (shown.option.speed and shown.option.speed.measured)


def _url(shown: Shown) -> str | None:
    evidence = shown.option.evidence
    if evidence is None:
        return None
    return evidence.url or (evidence.snapshot_sha256 and shown.origin(evidence.snapshot_sha256)) or None


def _age(shown: Shown) -> float | None:
    """Hours since the price was last confirmed."""
    evidence = shown.option.evidence
    if evidence is None:
        return None
    return round(max(0.0, (shown.answer.stock.now - evidence.seen_at).total_seconds() / 3600), 1)


def _reads(shown: Shown) -> int | None:
    rate = _at("prediction.prefill.expected")(shown)
    return None if rate is None else round(rate * shown.option.copies)


def _machine(shown: Shown) -> Decimal | None:
    usd = machine_usd(shown.option, shown.answer)
    return None if usd is None else round(usd, 2)


def _host_limit(name: str) -> Callable[[Shown], Any]:
    return lambda shown: None if _machine(shown) is None else getattr(shown.option.host, name)


def _pick(shown: Shown) -> str:
    """`first`, `for less` or `other condition`, empty for what is no pick."""
    picks = shown.answer.picks
    names = () if picks is None else zip(("first", "for less", "other condition"), picks, strict=True)
    return next((name for name, pick in names if pick is shown.option), "")


#: The columns and their values, in their order. `outlay_usd` is what is paid on day one, or the rent over the horizon.
COLUMNS: Mapping[str, Callable[[Shown], Any]] = MappingProxyType(
    {
        "rank": lambda shown: shown.rank,
        "way": _at("way"),
        "condition": _at("condition"),
        "what": _at("what"),
        "gpu_id": _at("gpu_id"),
        "gpu": _at("gpu"),
        "gpu_count": _at("gpu_count"),
        "price_usd": _at("price_usd"),
        "price_is": _price_is,
        "price_since": _at("evidence.price_since"),
        "last_seen_at": _at("evidence.seen_at"),
        "market": _at("evidence.market"),
        "source": _at("evidence.source"),
        "needed_gb": _at("needed_gb", 2),
        "available_gb": _at("available_gb", 2),
        "fits": _at("fits"),
        "tokens_per_s": _at("speed.expected", 1),
        "speed_is": _speed_is,
        "decode_bound_tokens_per_s": _at("speed.bound", 1),
        "expected_tokens_per_s": _at("speed.expected", 1),
        "speed_verdict": _at("speed.verdict"),
        "prefill_bound_tokens_per_s": lambda shown: shown.option.prefill_bound and round(shown.option.prefill_bound),
        "total_usd": _at("total_usd", 2),
        "host_share_usd": _at("own.host", 2),
        "electricity_usd": _at("own.electricity", 2),
        "resale_usd": _at("own.resale", 2),
        "usd_per_million_tokens": _at("usd_per_million_tokens", 2),
        "next_cheaper_is_ruled_out": lambda shown: shown.ruled_out or "",
        "url": _url,
        "snapshot_sha256": lambda shown: _at("evidence.snapshot_sha256")(shown) or None,
        "speed_url": lambda shown: _measured(shown) and _measured(shown).url,
        "speed_snapshot_sha256": lambda shown: _measured(shown) and _measured(shown).snapshot_sha256,
        "low_tokens_per_s": _at("speed.rate.low", 1),
        "high_tokens_per_s": _at("speed.rate.high", 1),
        "engine": _at("prediction.plan.engine.name"),
        "split": lambda shown: (
            shown.option.prediction.split
            if shown.option.prediction and shown.option.prediction.plan.count > 1
            else None
        ),
        "fit": _at("prediction.verdict"),
        "users": lambda shown: shown.option.prediction and shown.answer.need.users,
        "each_tokens_per_s": _at("speed.each", 1),
        "first_token_s": _at("speed.serving.first_token_s", 2),
        "prefill_tokens_per_s": _reads,
        "usd_per_million_input_tokens": _at("usd_per_million_read", 2),
        "host": _at("host.name"),
        "note": lambda shown: several(shown.option.notes) or "",
        "image_iterations_per_s": _at("pictures.iterations_per_s"),
        "images_per_s": _images("per_s"),
        "usd_per_thousand_images": _at("usd_per_thousand_images", 2),
        "image_workload": _at("pictures.workload"),
        "other_usd": _at("own.other", 2),
        "outlay_usd": _at("outlay_usd", 2),
        "machine_usd": _machine,
        "machine_low_usd": _host_limit("low_usd"),
        "machine_high_usd": _host_limit("high_usd"),
        "supply_w": lambda shown: supply_of(shown.option),
        "running_usd": _at("own.running", 2),
        "kept_usd": _at("own.kept", 2),
        "low_images_per_s": _images("low"),
        "high_images_per_s": _images("high"),
        "times_real_time": _speech("times"),
        "low_times_real_time": _speech("low"),
        "high_times_real_time": _speech("high"),
        "seller": _at("evidence.vendor"),
        "listing_id": _at("evidence.listing_id"),
        "age_hours": _age,
        "price_mark": lambda shown: mark_of(shown.option),
        "pick": _pick,
        "behind": lambda shown: several(shown.option.behind) or "",
        "precision": lambda shown: shown.answer.need.precision,
        "instead": lambda shown: shown.answer.instead or "",
        "cooling": lambda shown: (
            shown.option.bought
            and shown.option.chip
            and ("fans of a server" if has_no_fan(shown.option.chip) else "own fan")
        ),
    }
)
