"""Shows an option as arithmetic, step by step: memory and speed (see speed/explained.py), and money."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

from gpuledger.message import Message
from gpuledger.transform.assumptions import Assumptions
from gpuledger.transform.buying import costs
from gpuledger.transform.buying.hosts import Host
from gpuledger.transform.buying.need import Need
from gpuledger.transform.buying.options import Option
from gpuledger.transform.sizing.tuning import Tuning
from gpuledger.transform.speed import explained
from gpuledger.transform.speed.explained import Step, assumed, both, number
from gpuledger.transform.speed.predict import Prediction, serving

#: The assumptions behind the costs that many people forget.
_OTHER = (
    "sales_tax_share", "cost_of_capital", "failure_share_per_year", "spare_share", "colocation_usd_per_kw_month",
)  # fmt: skip


def steps(option: Option, need: Need, country: str | None = None) -> Iterator[Step]:
    """The steps of memory, speed, money and energy of one option, in this order."""
    prediction, speed = option.prediction, option.speed
    if need.tuning is not None:
        yield from tuning_steps(need.tuning, option.gpu_count)
    elif prediction is None:
        yield Step(
            "needed", number(option.needed_gb), option.needed_gb, "GB",
            Message("weights and activations: `gpuledger size` names both"),
        )  # fmt: skip
    else:
        yield from explained.memory_steps(prediction)
        if speed is not None:
            rate = speed.rate if option.copies == 1 else prediction.decode
            yield from explained.writing_steps(prediction._replace(decode=rate))
        yield from explained.reading_steps(prediction)
        served = (
            None if speed is None else speed.serving if option.copies == 1 else serving(prediction, need.answer_tokens)
        )
        if served is not None and need.users > 1:
            yield from explained.serving_steps(prediction, served, need.answer_tokens)
        if option.copies > 1:
            yield from _copies_steps(option, prediction, need)
    yield from money_steps(option, need)
    yield from _energy_steps(option, need, country)


def _energy_steps(option: Option, need: Need, country: str | None) -> Iterator[Step]:
    """The joules of each token or picture, and the carbon over the horizon where that of the country's grid is known."""
    power, own = option.power, option.own
    if power is None or own is None:
        return
    watts = costs.wall_watts(power.tdp_w, power.boards, need.assumptions, busy=True, host_w=power.host_w)
    served = option.speed and option.speed.serving
    rate = served.all_tokens_per_s if served else option.speed.expected if option.speed else option.each_a_second
    if rate:
        yield Step(
            "energy of each", f"{number(watts)} ÷ {number(rate)}", float(watts) / rate, "J",
            Message("watts while busy ÷ pieces a second, by the power of the boards; nobody measured it"),
        )  # fmt: skip
    grid = costs.electricity_prices().get((country or "").upper())
    kwh = float(own.electricity / need.assumptions.electricity_usd_per_kwh)
    if grid is not None and grid.carbon_g is not None:
        yield Step(
            "carbon", f"{number(kwh)} × {number(grid.carbon_g)} ÷ 1000", kwh * float(grid.carbon_g) / 1000, "kg",
            Message(
                "kWh of all hours × grams of CO2 of the grid of {country} in 2023 (Ember, by Our World in Data)",
                country=grid.country,
            ),
        )  # fmt: skip


def _copies_steps(option: Option, prediction: Prediction, need: Need) -> Iterator[Step]:
    """The memory and speed of all copies together. The steps before these are about one copy."""
    served, users = serving(prediction, need.answer_tokens), prediction.job.load.users
    yield Step("all copies need", f"{option.copies} × {number(prediction.needed / 1e9)}", option.needed_gb, "GB",
               "the figures above are of one copy, with the users that it has")  # fmt: skip
    if option.speed is None or served is None or option.speed.serving is None:
        return
    yield Step("all copies together", f"{number(served.all_tokens_per_s)} × {need.users} ÷ {users}",
               option.speed.serving.all_tokens_per_s, "tokens/s", "of one copy, times all users by its own")  # fmt: skip


def tuning_steps(trained: Tuning, count: int) -> Iterator[Step]:
    """The memory for training on `count` cards."""
    memory = trained.memory
    parts = (
        ("weights", memory.weights, Message("of the model and of what is trained beside it")),
        ("gradients", memory.gradients, Message("2 bytes of each trained weight")),
        ("32-bit copies", memory.master, Message("4 bytes of each trained weight (mixed precision)")),
        ("optimizer", memory.optimizer, Message("8 bytes of each trained weight (AdamW; Rajbhandari et al. 2020)")),
    )
    for name, size, source in parts:
        yield Step(name, f"{size:,} ÷ 10^9", size / 1e9, "GB", source)
    yield Step(
        "activations of each card", f"({memory.activations:,} + {trained.scores:,}) ÷ 10^9", trained.each / 1e9, "GB",
        both(
            Message(
                "(2 bytes × layers + 34 of the one computed again) × tokens × hidden, 8 bytes × tokens × vocabulary for "
                "scores and their gradient"
            ),
            trained.description,
        ),
    )  # fmt: skip
    sums = " + ".join(number(size / 1e9) for _, size, _ in parts)
    yield Step(
        "needed", f"{sums} + {count} × {number(trained.each / 1e9)}", (trained.shared + count * trained.each) / 1e9,
        "GB", Message("the first four are divided among the cards"),
    )  # fmt: skip


def money_steps(option: Option, need: Need) -> Iterator[Step]:
    """The cost over the horizon and of a million tokens. No steps if a price or a power is not known."""
    assumptions = need.assumptions
    if option.total_usd is None or option.price_usd is None:
        return
    hours = costs.hours_of(assumptions)
    yield Step(
        "hours", f"{number(assumptions.hours_per_day)} × {costs.DAYS_A_YEAR} × {number(assumptions.horizon_years)}",
        float(hours), "h", assumed(assumptions, "hours_per_day", "horizon_years"),
    )  # fmt: skip
    own = option.own
    if own is None:
        yield from _rent(option, assumptions)
    else:
        yield from _owning(option, own, assumptions)
    yield from _per_million(option, need, hours)


def _rent(option: Option, assumptions: Assumptions) -> Iterator[Step]:
    assert option.price_usd is not None
    assert option.total_usd is not None
    years = costs.TERM_YEARS[option.way]
    where = (
        Message("the offer below")
        if option.evidence is None
        else f"{option.evidence.shop}, {option.evidence.price_since:%Y-%m-%d}"
    )
    monthly_usd = assumptions.storage_usd_per_month + assumptions.egress_usd_per_month
    months = f" + {number(monthly_usd)} × 12 × {number(assumptions.horizon_years)}" if monthly_usd else ""
    if years is None:
        hours = f"{number(assumptions.hours_per_day)} × {costs.DAYS_A_YEAR} × {number(assumptions.horizon_years)}"
        sum_, why = (
            f"{number(option.price_usd)} × {hours}", Message("the hours of use, at the price of {where}", where=where),
        )  # fmt: skip
    else:
        terms = -(-assumptions.horizon_years // years)
        sum_ = f"{number(option.price_usd)} × 24 × {costs.DAYS_A_YEAR} × {number(terms * years)}"
        why = Message("every hour of whole terms, used or not, at the price of {where}", where=where)
    yield Step("total", sum_ + months, float(option.total_usd), "USD", why)


def _owning(option: Option, own: costs.Ownership, assumptions: Assumptions) -> Iterator[Step]:
    price, host = option.price_usd, option.host
    assert price is not None
    offered = Message("the price as it is offered")
    if option.evidence is not None:
        offered = Message(
            "the price as it is offered: {source}, {day:%Y-%m-%d}", source=option.evidence.shop,
            day=option.evidence.price_since,
        )  # fmt: skip
    yield Step("cards", number(price), float(own.purchase), "USD", offered)
    yield _machine(own, host, assumptions)
    yield from _electricity(option, own, assumptions)
    if own.resale:
        kept = own.resale / own.purchase / (1 - assumptions.selling_cost_share)
        yield Step(
            "sold at the end",
            f"{number(own.purchase)} × {kept:.9g} × (1 − {number(assumptions.selling_cost_share)})",
            float(own.resale),
            "USD",
            both(
                Message(
                    "price × part that is kept over {years} years, of this card's own price history where that is "
                    "long enough, and less for a new card",
                    years=number(assumptions.horizon_years),
                ),
                assumed(assumptions, "value_kept_per_year", "first_drop_share", "selling_cost_share"),
            ),
        )
    if own.other:
        yield Step("what else", number(own.other), float(own.other), "USD", assumed(assumptions, *_OTHER))
    yield Step(
        "total",
        f"{number(own.purchase)} + {number(own.host)} + {number(own.electricity)} + {number(own.other)} "
        f"− {number(own.resale)}",
        float(own.total),
        "USD",
        Message("cards + machine + electricity + what else − what they bring"),
    )
    yield Step(
        "paid on day one", f"{number(own.total)} + {number(own.kept)} − {number(own.running)}", float(own.day_one),
        "USD",
        Message(
            "total + what is left at the end − what is paid later; the whole machine counts, with tax where it is "
            "known",
        ),
    )  # fmt: skip


def _machine(own: costs.Ownership, host: Host | None, assumptions: Assumptions) -> Step:
    if host is not None and host.price_usd is None:
        return Step(
            "machine", f"{number(host.full_usd(assumptions))} × {number(assumptions.host_share)}", float(own.host), "USD",
            both(f"a {host.name}: {host.source}", assumed(assumptions, "host_usd", "host_share")),
        )  # fmt: skip
    source = (
        Message("it is in the price") if host is None else f"{host.name}: {host.source} (transform/buying/hosts.toml)"
    )
    return Step("machine", number(own.host), float(own.host), "USD", source)


def _electricity(option: Option, own: costs.Ownership, assumptions: Assumptions) -> Iterator[Step]:
    power = option.power
    if power is None:
        return
    shares = (
        ("power while busy", assumptions.load_power_share, "load_power_share"),
        ("power while waiting", assumptions.idle_power_share, "idle_power_share"),
    )
    supply = number(assumptions.supply_efficiency)
    watts = []
    for figure, share, name in shares:
        is_busy = name == "load_power_share"
        value = costs.wall_watts(power.tdp_w, power.boards, assumptions, busy=is_busy, host_w=power.host_w)
        watts.append(value)
        yield Step(
            figure,
            f"({power.tdp_w} × {number(share)} × {power.boards} + {number(power.host_w)}) ÷ {supply}",
            float(value),
            "W",
            both(
                Message("power limit of the card × share × cards + machine, through the supply"),
                assumed(assumptions, name, "supply_efficiency"),
            ),
        )
    busy, idle = own.busy_hours, own.hours - own.busy_hours
    yield Step(
        "electricity",
        f"({number(busy)} × {number(watts[0])} + {number(idle)} × {number(watts[1])}) ÷ 1000 "
        f"× (1 + {number(assumptions.building_overhead)}) × {number(assumptions.electricity_usd_per_kwh)}",
        float(own.electricity),
        "USD",
        Message(
            "{words}, or --country",
            words=assumed(assumptions, "utilisation", "electricity_usd_per_kwh", "building_overhead"),
        ),
    )


def _per_million(option: Option, need: Need, hours: Decimal) -> Iterator[Step]:
    speed, cost, total = option.speed, option.usd_per_million_tokens, option.total_usd
    if speed is None or cost is None or total is None:
        return
    busy = hours * need.assumptions.utilisation
    rate, writing_usd, description = speed.expected, total, Message("all of it is put on what is written, for one user")
    if need.users > 1 and speed.serving is not None:
        rate = speed.serving.all_tokens_per_s
        writing_usd = total * (1 - Decimal(str(speed.serving.read_share)))
        description = Message(
            "the part of the time in which is written ({read_share:.1%})", read_share=1 - speed.serving.read_share
        )
    yield Step(
        "a million tokens written", f"{number(writing_usd)} ÷ ({number(rate)} × 3600 × {number(busy)}) × 10^6", float(cost),
        "USD", both(description, assumed(need.assumptions, "utilisation")),
    )  # fmt: skip
