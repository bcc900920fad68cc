"""Shows an option as arithmetic, step by step: memory and speed (see speed/explained.py), and money."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

from gpuledger.message import Message
from gpuledger.transform.assumptions import Assumptions
from gpuledger.transform.buying import costs
from gpuledger.transform.buying.need import Need
from gpuledger.transform.buying.options import Option, per_million
from gpuledger.transform.figures import Step, assumed, both, explaining, fields_of, number, shown, traced
from gpuledger.transform.sizing.tuning import Tuning
from gpuledger.transform.speed import explained
from gpuledger.transform.speed.predict import Prediction, serving

#: The assumptions behind the costs that many people forget.
_OTHER = (
    "sales_tax_share", "cost_of_capital", "failure_share_per_year", "spare_share", "colocation_usd_per_kw_month",
)  # fmt: skip


def steps(
    option: Option, need: Need, country: str | None = None, electricity: costs.ElectricityPrice | None = None
) -> Iterator[Step]:
    """The steps of memory, speed, money and energy of one option, in this order. `electricity` is what that of a country
    costs, None where the assumption counts.
    """
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
        if speed is not None and need.users > 1:
            writes, reads = fields_of(prediction.decode), fields_of(prediction.prefill)
            with explaining() as made:
                serving(prediction._replace(decode=writes, prefill=reads), need.answer_tokens)
            yield from made.values()
        if option.copies > 1:
            yield from _copies_steps(option, prediction, need)
    yield from money_steps(option, need, electricity)
    yield from _energy_steps(option, need, country)


def _energy_steps(option: Option, need: Need, country: str | None) -> Iterator[Step]:
    """The joules of each token or picture, and the carbon over the horizon where that of the country's grid is known."""
    bought, own = option.bought, option.own
    if bought is None or own is None:
        return
    watts = costs.wall_watts(bought.tdp_w, bought.boards, need.assumptions, busy=True, host_w=bought.machine.watts)
    served = option.speed and option.speed.serving
    rate = served.all_tokens_per_s if served else option.speed.expected if option.speed else option.each_a_second
    if rate:
        yield Step(
            "energy of each", f"{number(watts)} ÷ {number(rate)}", float(watts) / rate, "J",
            Message("watts while busy ÷ pieces a second, by the power of the boards; nobody measured it"),
        )  # fmt: skip
    grid = costs.electricity_prices().get((country or "").upper())
    kwh = float(own.electricity / bought.assumptions.electricity_usd_per_kwh)
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
        (
            "optimizer",
            memory.optimizer,
            Message(
                "{each:g} bytes of each trained weight (AdamW; Rajbhandari et al. 2020)",
                each=memory.optimizer / trained.trained,
            ),
        ),
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


def money_steps(option: Option, need: Need, electricity: costs.ElectricityPrice | None = None) -> Iterator[Step]:
    """The cost over the horizon and of a million tokens. No steps if a price or a power is not known."""
    if option.total_usd is None or option.price_usd is None:
        return
    with explaining() as made:
        assumptions = fields_of(need.assumptions)
        hours = costs.hours_of(assumptions)
        bought = option.bought
        total = _owning(option, bought, electricity) if bought else _rent(option, option.price_usd, assumptions)
        per_million(total, hours * assumptions.utilisation, option.speed, need)
    # What is bought is known before what it draws.
    yield from sorted(made.values(), key=lambda step: step.figure not in ("hours", "price of the cards", "machine"))


def _rent(option: Option, price: Decimal, assumptions: Assumptions) -> Decimal:
    evidence = option.evidence
    where = f"{evidence.shop}, {evidence.price_since:%Y-%m-%d}" if evidence else Message("the offer below")
    why = Message(
        "every hour of whole terms, used or not, at the price of {where}" if costs.TERM_YEARS[option.way]
        else "the hours of use, at the price of {where}", where=where,
    )  # fmt: skip
    return shown("total", costs.rent_usd(traced(price), option.way, assumptions), "USD", why)


def _owning(option: Option, bought: costs.Bought, electricity: costs.ElectricityPrice | None) -> Decimal:
    assumptions, machine, evidence, host = bought.assumptions, bought.machine, option.evidence, option.host
    own = bought._replace(
        price_usd=traced(bought.price_usd), assumptions=fields_of(assumptions),
        machine=machine._replace(usd=traced(machine.usd), share=traced(machine.share)),
    ).ownership()  # fmt: skip
    offered = Message("the price as it is offered")
    if evidence is not None:
        offered = Message(
            "the price as it is offered: {source}, {day:%Y-%m-%d}", source=evidence.shop, day=evidence.price_since
        )
    around: Message | str = "it is in the price"
    if host is not None:
        around = f"{host.name}: {host.source} (transform/buying/hosts.toml)"
        if host.price_usd is None:
            around = both(f"a {host.name}: {host.source}", assumed(assumptions, "host_usd", "host_share"))
    price = () if electricity else ("electricity_usd_per_kwh",)
    energy = assumed(assumptions, "utilisation", *price, "building_overhead")
    if electricity is not None:
        energy = both(energy, Message(
            "{price} {currency} a kWh in {country} ({period}): {source}", price=f"{electricity.price.normalize():f}",
            currency=electricity.currency, country=electricity.country, period=electricity.period,
            source=electricity.source,
        ))  # fmt: skip
    kept = Message(
        "price × part that is kept over {years} years, of this card's own price history where that is long enough, and "
        "less for a new card", years=number(assumptions.horizon_years),
    )  # fmt: skip
    kept = both(kept, assumed(assumptions, "value_kept_per_year", "first_drop_share", "selling_cost_share"))
    own = own._replace(
        purchase=shown("price of the cards", own.purchase, "USD", offered),
        host=shown("machine", own.host, "USD", around),
        electricity=shown("electricity", own.electricity, "USD", Message("{words}, or --country", words=energy)),
        resale=own.resale and shown("sold at the end", own.resale, "USD", kept),
        other=own.other and shown("what else", own.other, "USD", assumed(assumptions, *_OTHER)),
    )
    total = shown("total", own.total, "USD", "cards + machine + electricity + what else − what they bring")
    shown("paid on day one", own.day_one, "USD", "cards + the whole machine, with tax where it is known")
    return total
