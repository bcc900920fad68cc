"""All assumptions behind sizes, speeds, costs and advice, each with its value, unit, bounds, meaning and source in
`assumptions.toml`.

No other module assumes anything. `Assumptions()` has the values of that file, and `dataclasses.replace` changes some. An
impossible value (a negative price, a share over 1) raises ImpossibleAssumption, so functions can trust the values they get.
"""

# ruff: noqa: RUF009  # what the functions of the defaults return is a field, as of dataclasses.field

from __future__ import annotations

import dataclasses
import functools
import math
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any, TypeAlias

from gpuledger.message import Label, Mistake

Number: TypeAlias = int | float | Decimal


class ImpossibleAssumption(Mistake):
    """A setting has an impossible value; the message names the setting, its bounds and its meaning."""


@dataclass(frozen=True, slots=True)
class Setting:
    """Describes an assumption. The bounds `low` and `high` are allowed values. `source` is where the default comes from."""

    unit: str
    low: float
    high: float
    meaning: str
    source: str


@dataclass(frozen=True, slots=True)
class Described:
    """One assumption with its value, for display."""

    name: str
    value: Number
    default: Number
    setting: Setting


#: Every assumption as `assumptions.toml` has it.
_TABLES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"), parse_float=Decimal)


def _assumed(name: str, kind: type[Number]) -> Any:
    """A field of Assumptions: its value of the type `kind`, and its Setting."""
    table = _TABLES[name]
    low, high = (bound if isinstance(bound, int) else float(bound) for bound in (table["low"], table["high"]))
    about = Setting(table["unit"], low, high, table["meaning"], table["source"])
    return dataclasses.field(default=kind(table["value"]), metadata={"setting": about})


@dataclass(frozen=True, slots=True, kw_only=True)
class Assumptions:
    """The settings of sizing, speed and cost. Money is in US dollars, as Decimal. Shares are between 0 and 1."""

    # Memory
    device_overhead_gb: float = _assumed("device_overhead_gb", float)
    server_memory_share: float = _assumed("server_memory_share", float)
    kv_cache_bits: float = _assumed("kv_cache_bits", float)
    prefill_chunk_tokens: int = _assumed("prefill_chunk_tokens", int)
    context_read: float = _assumed("context_read", float)
    reread_share: float = _assumed("reread_share", float)
    image_activation_gb_per_megapixel: float = _assumed("image_activation_gb_per_megapixel", float)
    denoiser_activation_gb_per_megapixel: float = _assumed("denoiser_activation_gb_per_megapixel", float)
    networks_on_card: float = _assumed("networks_on_card", float)
    lora_rank: int = _assumed("lora_rank", int)
    full_bytes_per_weight: float = _assumed("full_bytes_per_weight", float)
    # Speed
    low_utilisation: float = _assumed("low_utilisation", float)
    expected_utilisation: float = _assumed("expected_utilisation", float)
    mixture_layer_us: float = _assumed("mixture_layer_us", float)
    parallel_fraction: float = _assumed("parallel_fraction", float)
    link_gb_s: float = _assumed("link_gb_s", float)
    slot_share: float = _assumed("slot_share", float)
    link_latency_us: float = _assumed("link_latency_us", float)
    host_memory_gb: float = _assumed("host_memory_gb", float)
    host_memory_gb_s: float = _assumed("host_memory_gb_s", float)
    host_memory_utilisation: float = _assumed("host_memory_utilisation", float)
    # Use
    hours_per_day: Decimal = _assumed("hours_per_day", Decimal)
    utilisation: Decimal = _assumed("utilisation", Decimal)
    horizon_years: Decimal = _assumed("horizon_years", Decimal)
    # Cost
    electricity_usd_per_kwh: Decimal = _assumed("electricity_usd_per_kwh", Decimal)
    load_power_share: Decimal = _assumed("load_power_share", Decimal)
    idle_power_share: Decimal = _assumed("idle_power_share", Decimal)
    host_power_w: Decimal = _assumed("host_power_w", Decimal)
    supply_efficiency: Decimal = _assumed("supply_efficiency", Decimal)
    host_usd: Decimal = _assumed("host_usd", Decimal)
    host_share: Decimal = _assumed("host_share", Decimal)
    value_kept_per_year: Decimal = _assumed("value_kept_per_year", Decimal)
    first_drop_share: Decimal = _assumed("first_drop_share", Decimal)
    selling_cost_share: Decimal = _assumed("selling_cost_share", Decimal)
    # Advice: what is comfortable, and what is recommended. 0 switches a rule off.
    comfortable_tokens_per_s: float = _assumed("comfortable_tokens_per_s", float)
    large_model_tokens_per_s: float = _assumed("large_model_tokens_per_s", float)
    large_model_parameters: float = _assumed("large_model_parameters", float)
    comfortable_first_token_s: float = _assumed("comfortable_first_token_s", float)
    comfortable_picture_s: float = _assumed("comfortable_picture_s", float)
    comfortable_clip_minutes: float = _assumed("comfortable_clip_minutes", float)
    free_memory_share: float = _assumed("free_memory_share", float)
    roomy_memory_gb: float = _assumed("roomy_memory_gb", float)
    room_cost: float = _assumed("room_cost", float)
    least_card_gb: float = _assumed("least_card_gb", float)
    least_card_gb_of_several: float = _assumed("least_card_gb_of_several", float)
    most_consumer_cards: float = _assumed("most_consumer_cards", float)
    several_cards: float = _assumed("several_cards", float)
    experiments: float = _assumed("experiments", float)
    fast_enough_tokens_per_s: float = _assumed("fast_enough_tokens_per_s", float)
    step_cost: float = _assumed("step_cost", float)
    step_gain: float = _assumed("step_gain", float)
    step_memory: float = _assumed("step_memory", float)
    step_part: float = _assumed("step_part", float)
    software_cost: float = _assumed("software_cost", float)
    enough_memory: float = _assumed("enough_memory", float)
    most_memory: float = _assumed("most_memory", float)
    used_saves_share: float = _assumed("used_saves_share", float)
    stale_price_rise: float = _assumed("stale_price_rise", float)
    # Costs that many people leave out: zero unless the user states them
    sales_tax_share: Decimal = _assumed("sales_tax_share", Decimal)
    cost_of_capital: Decimal = _assumed("cost_of_capital", Decimal)
    failure_share_per_year: Decimal = _assumed("failure_share_per_year", Decimal)
    spare_share: Decimal = _assumed("spare_share", Decimal)
    building_overhead: Decimal = _assumed("building_overhead", Decimal)
    colocation_usd_per_kw_month: Decimal = _assumed("colocation_usd_per_kw_month", Decimal)
    storage_usd_per_month: Decimal = _assumed("storage_usd_per_month", Decimal)
    egress_usd_per_month: Decimal = _assumed("egress_usd_per_month", Decimal)

    def __post_init__(self) -> None:
        self.validate()

    def validate(self) -> None:
        """Raise ImpossibleAssumption for the first setting that is not a number or lies outside its bounds."""
        for name, setting in settings().items():
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
                raise ImpossibleAssumption(
                    "{name} must be a number of {unit}, not {value!r}", name=name, unit=Label(setting.unit), value=value
                )
            if not math.isfinite(value) or not setting.low <= value <= setting.high:
                raise ImpossibleAssumption(
                    "{name} must be between {low} and {high} {unit}, not {value}: it is the {meaning}", name=name,
                    low=setting.low, high=setting.high, unit=Label(setting.unit), value=value,
                    meaning=Label(setting.meaning),
                )  # fmt: skip

    def describe(self) -> list[Described]:
        """All settings with their value, default, unit, bounds, meaning and source, in the order of the fields."""
        defaults = Assumptions()
        return [
            Described(name, getattr(self, name), getattr(defaults, name), setting)
            for name, setting in settings().items()
        ]

    def with_text(self, texts: Mapping[str, str]) -> Assumptions:
        """These assumptions with new values for some of them, as texts (`{"utilisation": "0.8"}`).

        Raises ImpossibleAssumption for an unknown name (and lists the known ones), for a text that is no number, and for an
        impossible value.
        """
        changed: dict[str, Number] = {}
        for name, text in texts.items():
            if name not in settings():
                raise ImpossibleAssumption(
                    "there is no assumption {name!r}; there are {settings}", name=name, settings=tuple(settings())
                )
            value = getattr(self, name)
            try:
                changed[name] = type(value)(text)
            except (ValueError, ArithmeticError) as error:
                raise ImpossibleAssumption(
                    "{name} must be a number alone, such as {value:g}, not {text!r}", name=name, value=float(value),
                    text=text,
                ) from error  # fmt: skip
        # mypy cannot see that the keys are fields and the values have the types of these fields.
        return dataclasses.replace(self, **changed)  # type: ignore[arg-type]


@functools.cache
def settings() -> dict[str, Setting]:
    """The setting of each assumption, by name."""
    return {field.name: field.metadata["setting"] for field in dataclasses.fields(Assumptions)}


def from_table(rows: Iterable[tuple[str, Number]]) -> Assumptions:
    """Assumptions from names and values as core.assumption has them. Names that this version does not know are left out."""
    known = settings()
    texts = {name: f"{Decimal(str(amount)).normalize():f}" for name, amount in rows if name in known}
    return Assumptions().with_text(texts)


@functools.lru_cache(maxsize=256)
def with_value_kept(assumptions: Assumptions, value_kept: Decimal | None, *, is_new: bool = True) -> Assumptions:
    """The assumptions with the share of its price that a card was seen to keep a year, if that is known.

    A card that is bought used loses nothing by becoming one.
    """
    changed: dict[str, Decimal] = {} if value_kept is None else {"value_kept_per_year": value_kept}
    if not is_new:
        changed["first_drop_share"] = Decimal(0)
    # mypy cannot see that the keys are fields and the values have the types of these fields.
    return dataclasses.replace(assumptions, **changed) if changed else assumptions  # type: ignore[arg-type]
