"""All assumptions behind sizes, speeds and costs. Each is a named setting with unit, bounds, meaning and source.

No other module assumes anything. `Assumptions()` has the defaults, and `dataclasses.replace` changes some of them. An
impossible value (a negative price, a share over 1) raises ImpossibleAssumption, so functions can trust the values they get.
"""

# ruff: noqa: RUF009  # what the functions of the defaults return is a field, as of dataclasses.field

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, TypeAlias

from gpuledger.extract.message import Label, Mistake

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


def _amount(default: Any, unit: str, bounds: tuple[float, float], meaning: str, source: str) -> Any:
    """A field of Assumptions with its Setting."""
    return dataclasses.field(default=default, metadata={"setting": Setting(unit, *bounds, meaning, source)})


def _share(default: Any, meaning: str, source: str, unit: str = "share") -> Any:
    """A field that is a part of something, between nothing and all of it."""
    return _amount(default, unit, (0, 1), meaning, source)


@dataclass(frozen=True, slots=True, kw_only=True)
class Assumptions:
    """The settings of sizing, speed and cost. Money is in US dollars, as Decimal. Shares are between 0 and 1."""

    # Memory
    device_overhead_gb: float = _amount(
        0.8,
        "GB",
        (0, 10),
        "memory that driver, runtime and fragmentation take on each card",
        "own choice: a CUDA context takes 0.3-0.5 GB, and servers report 0.5-1 GB of buffers beside it",
    )
    kv_cache_bits: float = _amount(
        16.0,
        "bits",
        (4, 32),
        "precision of the key-value cache; q8_0 has 8.5 bits, q4_0 4.5 and fp8 8",
        "the default of llama.cpp, vLLM and transformers",
    )
    prefill_chunk_tokens: int = _amount(
        512, "tokens", (1, 1_000_000), "tokens of a prompt that pass the model at once", "llama.cpp's default n_ubatch"
    )
    context_read: float = _share(
        0.5,
        "part of the context that is the prompt, and that is held on average while an answer is written",
        "own choice: half is read and half is written, as in the benchmarks that speeds are calibrated on",
    )
    reread_share: float = _share(
        0.0,
        "part of the context beside prompt and answer that an interface reads again for each answer, from its cache",
        "own choice: who asks one question has nothing before it; what is on the card stays there",
    )
    image_activation_gb_per_megapixel: float = _amount(
        2.0,
        "GB/megapixel",
        (0, 100),
        "temporary memory of an image model's decoder for each million pixels of the picture",
        "own choice: what diffusers reports beside the weights with attention in slices and the decoder in tiles",
    )
    denoiser_activation_gb_per_megapixel: float = _amount(
        0.5,
        "GB/megapixel",
        (0, 100),
        "temporary memory of an image model's denoiser for each million pixels of the picture",
        "own choice: twice what the shape of FLUX.1 gives (4,608 tokens of 49,152 bytes); it runs at 16 bits in 24 GB",
    )
    networks_on_card: float = _share(
        0.0,
        "part of the other networks of an image model that stays on the card while one of them works",
        "ComfyUI and the offloading of diffusers remove each network after its work; 1 keeps all of them",
    )
    lora_rank: int = _amount(
        16,
        "rank",
        (1, 4096),
        "rank of an adapter that is trained",
        "the default of most guides; Hu et al. 2021 use 1 to 64",
    )
    # Speed
    low_utilisation: float = _share(
        0.4,
        "share of the bound below which a measured speed is put down to software or CPU",
        "own choice: below what llama.cpp reaches on current cards beside a desktop CPU",
    )
    expected_utilisation: float = _amount(
        0.65,
        "share",
        (0.01, 1),
        "share of the decode bound that a card reaches where nothing was measured",
        "own choice, near the median of llama.cpp measurements on desktop cards",
    )
    mixture_layer_us: float = _amount(
        130.0,
        "µs",
        (0, 10_000),
        "time that a layer of a mixture takes beside its reading, where nothing was measured, on however many cards: "
        "choosing experts and starting many small operations",
        "own choice, on the fast side: eight H200 write 30 tokens/s of DeepSeek-V3 for one user where reading alone "
        "would allow over 300, which is 500 µs a layer (sgl-project/sglang pull request 2643, December 2024), and "
        "programs have become several times faster since",
    )
    parallel_fraction: float = _share(
        0.95,
        "part of the work that several cards can divide (p in Amdahl's law)",
        "the example of the third source document",
    )
    link_gb_s: float = _amount(
        31.5, "GB/s", (0.01, 10_000), "bandwidth between two cards, one direction", "PCIe 4.0 with 16 lanes"
    )
    slot_share: float = _amount(
        0.28,
        "share",
        (0.01, 1),
        "part of a slot's rate that cards without a fabric reach when they exchange",
        "nccl-tests: 64 MB among four cards in 11,369 µs over PCIe 4.0, without access to each other's memory",
    )
    link_latency_us: float = _amount(
        10.0,
        "microseconds",
        (0, 100_000),
        "time of one exchange between cards before its first byte",
        "own choice: the order of an NCCL all-reduce of a few KB over PCIe",
    )
    host_memory_gb: float = _amount(
        64.0,
        "GB",
        (0, 100_000),
        "memory of a desktop, of which a model may take nine tenths",
        "own choice: two modules of 32 GB",
    )
    host_memory_gb_s: float = _amount(
        89.6,
        "GB/s",
        (0.1, 10_000),
        "bandwidth of a desktop's memory, where weights stay with the processor",
        "two channels of DDR5-5600: 2 × 8 bytes × 5.6 GT/s (JEDEC)",
    )
    host_memory_utilisation: float = _amount(
        0.6,
        "share",
        (0.01, 1),
        "part of that bandwidth that a processor reaches which reads weights",
        "own choice: as far below the data sheet as cards are where nothing was measured",
    )
    # Use
    hours_per_day: Decimal = _amount(
        Decimal(8), "hours", (0.1, 24), "hours a day in which the machine is on or rented", "own choice: a working day"
    )
    utilisation: Decimal = _share(Decimal("0.5"), "share of those hours in which the card computes", "own choice")
    horizon_years: Decimal = _amount(
        Decimal(3), "years", (0.01, 20), "years until the card is sold", "the longest reservation that clouds sell"
    )
    # Cost
    electricity_usd_per_kwh: Decimal = _amount(
        Decimal("0.16"),
        "USD/kWh",
        (0, 5),
        "price of electricity",
        "US household average of 2023 (EIA); electricity.toml has other countries",
    )
    load_power_share: Decimal = _share(
        Decimal("0.8"),
        "power of a computing card",
        "own choice: inference seldom draws the full limit",
        unit="share of TDP",
    )
    idle_power_share: Decimal = _share(
        Decimal("0.08"), "power of a waiting card", "own choice: 20-35 W on desktop cards", unit="share of TDP"
    )
    host_power_w: Decimal = _amount(
        Decimal(80),
        "W",
        (0, 10_000),
        "power of the rest of the machine while it is on",
        "own choice: an idling desktop",
    )
    supply_efficiency: Decimal = _amount(
        Decimal("0.9"),
        "share",
        (0.5, 1),
        "power that reaches the parts of what the meter counts",
        "80 PLUS Gold at half load",
    )
    host_usd: Decimal = _amount(
        Decimal(600),
        "USD",
        (0, 1_000_000),
        "price of the machine around the card",
        "middle of three lists of parts around a card of 2026: convly.ai 650 USD, promptquorum.com 620, mylocalai.org 500",
    )
    host_share: Decimal = _share(Decimal("0.5"), "part of the machine's price that this use has to bear", "own choice")
    value_kept_per_year: Decimal = _share(
        Decimal("0.75"),
        "part of its price that a card keeps from one year to the next",
        "own choice until a used-price history of the card gives its own",
    )
    first_drop_share: Decimal = _share(
        Decimal("0.15"),
        "part of its price that a new card loses when it becomes a used one",
        "own choice: the size of the tax that a private buyer cannot reclaim",
    )
    selling_cost_share: Decimal = _share(
        Decimal("0.10"),
        "part of the price of a used card that its sale costs",
        "the final value fee of a marketplace (ebaymag, examples of fee calculations: 10%), without shipping",
    )

    # Advice: what is comfortable, and what is recommended. 0 switches a rule off.
    comfortable_tokens_per_s: float = _amount(
        20.0,
        "tokens/s",
        (0, 10_000),
        "least speed that each user must see at the low end of the range before an option is recommended",
        "comfortable chat: 15 to 20 (startupfortune, spanvero), 20 to 40 (mljourney, compute-market), guides of 2026",
    )
    large_model_tokens_per_s: float = _amount(
        10.0,
        "tokens/s",
        (0, 10_000),
        "that speed for models that read large_model_parameters or more for each token",
        "14 to 18 tokens/s of a 70B are accepted (bestllmfor, specpicks); 10 is the floor of four guides of 2026",
    )
    large_model_parameters: float = _amount(
        65.0,
        "10^9 weights",
        (0, 10_000),
        "weights read for a token from which a model counts as large",
        "the 70B class",
    )
    comfortable_first_token_s: float = _amount(
        10.0,
        "s",
        (0, 100_000),
        "longest wait for the first token of an answer to a prompt of up to 4,096 tokens; to longer ones in proportion",
        "Nielsen 1993, Usability Engineering, chapter 5: ten seconds keep a person's attention",
    )
    comfortable_picture_s: float = _amount(
        60.0, "s", (0, 1_000_000), "longest wait for a picture", "own choice: one tries several before one is kept"
    )
    comfortable_clip_minutes: float = _amount(
        30.0, "minutes", (0, 1_000_000), "longest wait for a clip", "own choice: a few tries in an evening"
    )
    free_memory_share: float = _share(
        0.1,
        "part of the memory for a model of text that stays free at the asked context",
        "20-30% over the weights (pocketanimus, kentino) or 1-2 GB for display and buffers (local-llm.net, whichllm, "
        "dexiio); a 32B on 24 GB, the most common pick, has 14%",
    )
    roomy_memory_share: float = _share(
        0.2,
        "part of the memory that gives room to grow: with a budget, what leaves less for a model of text comes behind",
        "20-30% over the weights (pocketanimus, kentino); of 14 guides for a 12-14B, 12 name 16 GB and not 12",
    )
    least_card_gb: float = _amount(
        12.0,
        "GB",
        (0, 10_000),
        "memory of a card that has room for the next model too",
        "of 134 picks in guides of 2025-10 to 2026-10 no one has 8 GB; specpicks, mylocalai: 8 GB to be avoided",
    )
    least_card_gb_of_several: float = _amount(
        16.0,
        "GB",
        (0, 10_000),
        "memory of each card where several share a model",
        "several cards are first in 18 of 134 picks, none with less than 20 GB each; specpicks rejects two 12 GB cards",
    )
    several_cards: float = _share(
        0.0,
        "1: several cards are recommended although one card does it",
        "one card beats two on every metric where it holds the model (specpicks, Qwen 3.6 27B)",
        unit="0 or 1",
    )
    experiments: float = _share(
        0.0,
        "1: engines whose support of a card is an experiment are recommended too (support.toml)",
        "the engines' own documents",
        unit="0 or 1",
    )
    fast_enough_tokens_per_s: float = _amount(
        40.0,
        "tokens/s",
        (0, 100_000),
        "speed for each user from which more memory is worth more than more speed",
        "comfortable chat is 20 to 40 tokens/s (mljourney, compute-market); memory is the main reason of 69 of 134 picks",
    )
    step_cost: float = _amount(
        1.5,
        "ratio",
        (1, 1000),
        "a step up that costs so many times as much must gain step_gain",
        "9bench on the 5090: dearer by more than it is faster",
    )
    step_gain: float = _amount(
        1.1, "ratio", (1, 1000), "times the speed that such a step must gain", "own choice: less is not noticed"
    )
    step_memory: float = _amount(
        1.25,
        "ratio",
        (1, 1000),
        "or times the memory",
        "sizes of cards differ by a third or more (12, 16, 24, 32, 48 GB)",
    )
    step_part: float = _share(
        0.5,
        "part of step_cost from which a cheaper step counts too, if it gains less than that part of step_gain",
        "guides of gpt-oss-120b: a Strix Halo for its price, not a Spark as fast (compute-market, ai-manual, kyuz0)",
    )
    software_cost: float = _amount(
        1.2,
        "ratio",
        (0, 1000),
        "times as much may cost an equally fast card with as much memory which more programs run on",
        "reliability and mature software win (localaimaster); NVIDIA is first in 118 of 134 picks",
    )
    enough_memory: float = _amount(
        2.0,
        "times",
        (0, 1000),
        "memory beyond so many times the need is worth no step up",
        "guides buy two to three times the need: of 19 first picks for a 7-9B, which needs 5 to 6 GB, 15 have 12 GB",
    )
    most_memory: float = _amount(
        3.0,
        "times",
        (0, 1000),
        "memory beyond so many times the need is not bought for speed",
        "guides buy two to three times the need; three call a 5090 sensible only if 32 GB are needed",
    )
    used_saves_share: float = _share(
        0.25,
        "part of the price that a used card must save against a new one that is as good",
        "20 to 30% are lost in the first year (calcbee), and 10 to 40% of the price is off (atozranking, 2026-01)",
    )

    # Costs that many people leave out: zero unless the user states them
    sales_tax_share: Decimal = _share(
        Decimal(0),
        "tax on what is bought, where prices are without it",
        "0: prices of a market are as its shops print them",
    )
    cost_of_capital: Decimal = _share(
        Decimal(0),
        "interest on what was paid for cards and machine",
        "0: own money; a company knows its rate",
        unit="share a year",
    )
    failure_share_per_year: Decimal = _share(
        Decimal(0), "part of the cards that is bought anew each year", "0: a guarantee covers it", unit="share a year"
    )
    spare_share: Decimal = _share(
        Decimal(0), "cards that are bought beside those that run", "0: nobody waits for a desktop"
    )
    building_overhead: Decimal = _amount(
        Decimal(0),
        "share",
        (0, 3),
        "cooling and losses of the building beside what the meter counts (PUE less 1)",
        "0: at home; Uptime Institute's survey of 2024 has 0.56 on average",
    )
    colocation_usd_per_kw_month: Decimal = _amount(
        Decimal(0),
        "USD/kW a month",
        (0, 2000),
        "rent of a place in a data center, by the power of the busy machine",
        "0: it stands at home or in the office",
    )
    storage_usd_per_month: Decimal = _amount(
        Decimal(0),
        "USD a month",
        (0, 1000000),
        "storage that is rented beside an instance",
        "0: the model is loaded anew",
    )
    egress_usd_per_month: Decimal = _amount(
        Decimal(0), "USD a month", (0, 1000000), "data that leave a rented instance", "0: text is small"
    )

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
            number_type = type(getattr(self, name))
            try:
                changed[name] = number_type(text)
            except (ValueError, ArithmeticError) as error:
                raise ImpossibleAssumption(
                    "{name} must be a number ({number_type}), not {text!r}", name=name,
                    number_type=number_type.__name__, text=text,
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
