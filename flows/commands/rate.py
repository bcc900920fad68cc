"""`gpuledger rate`: add the hourly rates of one's own contracts to those that clouds publish."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal, InvalidOperation

import click

from gpuledger.flows.asking.options import Whole, complete_cards, data_dir_option, data_of, format_option, read_from
from gpuledger.flows.words.lang import gettext


@click.group()
def command() -> None:
    """Add negotiated rates, list them, or take one out; a run takes them into mart.cloud_price."""


@command.command()
@click.argument("provider")
@click.argument("card", metavar="CARD", shell_complete=complete_cards)
@click.argument("price", metavar="PRICE")
@click.option("--count", type=click.IntRange(1, 72), default=1, show_default=True, help="GPUs of the instance.")
@click.option("--per-gpu", is_flag=True, help="PRICE is of one GPU, and not of the whole instance.")
@click.option("--paid-in", "currency", default="USD", show_default=True, metavar="C", help="Currency of PRICE.")
@click.option("--way", "pricing_model", type=click.Choice(["on_demand", "spot", "reserved_1y", "reserved_3y"]),
              default="on_demand", show_default=True, help="A reservation is paid around the clock.")  # fmt: skip
@click.option("--region", default="", metavar="R", help="Where it stands.")
@click.option("--instance", default="", metavar="I", help="What the cloud calls it.")
@click.option("--ends-on", type=click.DateTime(["%Y-%m-%d"]), metavar="DAY", help="Last day on which it can be had.")
@click.option("--note", default="", metavar="TEXT", help="Number of the contract, or who agreed.")
@data_dir_option
def add(
    provider: str,
    card: str,
    price: str,
    count: int,
    per_gpu: bool,
    currency: str,
    pricing_model: str,
    region: str,
    instance: str,
    ends_on: datetime | None,
    note: str,
    data_dir: str | None,
) -> None:
    """Keep what an hour costs by your own contract.

    One that is added again for the same replaces the old price.

    \b
    gpuledger rate add lambda "H100 SXM" 14.40 --count 8 --way reserved_1y --ends-on 2027-06-30
    """
    from gpuledger.flows.asking.card_names import gpu_of
    from gpuledger.flows.decisions import identities, rates
    from gpuledger.flows.night.context import utc_now
    from gpuledger.transform.identity import pins

    data = data_of(data_dir)
    amount = _amount(price) * (count if per_gpu else 1)
    if not (len(currency) == 3 and currency.isascii() and currency.isalpha()):
        raise click.UsageError(gettext("{text!r} is no currency such as EUR").format(text=currency))
    if not provider.strip():
        raise click.UsageError(gettext("say whose rate it is"))
    gpu, today = gpu_of(data, card), utc_now().date()
    last = None if ends_on is None else ends_on.date()
    if last is not None and last < today:
        raise click.UsageError(gettext("{day} has passed: such a rate cannot be had").format(day=last))
    rate = rates.Rate(
        provider=provider.strip(), gpu_name=gpu.display_name, gpu_count=count, price=amount, currency=currency.upper(),
        pricing_model=pricing_model, region=region.strip(), instance=instance.strip(), ends_on=last, note=note.strip(),
        added_on=today,
    )  # fmt: skip
    replaces = rates.add(data, rate)
    if identities.resolver_of(data).resolve(rate.gpu_name, source="own_rates").gpu_id != gpu.gpu_id:
        # The name of a card may be that of its versions too. The user has just said which one it is.
        pin = pins.Pin(
            title=rate.gpu_name, gpu_id=gpu.gpu_id, pinned_on=today, reason="gpuledger rate add", source="own_rates"
        )
        pins.PINS.put(data.root, pin)
    message = (
        gettext("{count} × {gpu} at {provider}: {price} {currency} an hour, in place of the rate before")
        if replaces
        else gettext("{count} × {gpu} at {provider}: {price} {currency} an hour")
    )
    values = {"count": count, "gpu": gpu.display_name, "provider": provider, "price": amount, "currency": rate.currency}
    click.echo(message.format(**values))
    click.echo(gettext("`gpuledger refresh --only own_rates` takes it into the tables; the next night does so too"))


def _amount(text: str) -> Decimal:
    try:
        amount = Decimal(text)
    except InvalidOperation:
        amount = Decimal(0)
    if not (amount.is_finite() and 0 < amount <= 10_000_000):
        message = gettext("{text!r} is no price of an hour: write it as 14.40")
        raise click.UsageError(message.format(text=text))
    return amount


@command.command(name="list")
@data_dir_option
@format_option
def list_(data_dir: str | None, form: str) -> None:
    """Every rate of one's own, with the number by which `remove` takes it out."""
    from gpuledger.extract.sources.own_rates.pages import COLUMNS
    from gpuledger.flows.decisions import rates
    from gpuledger.flows.showing.show import show_rows

    rows = rates.rows_of(read_from(data_dir))
    show_rows(
        ["#", *COLUMNS],
        [[number, *(cell or None for cell in row)] for number, row in enumerate(rows, 1)],
        form,
        if_empty=gettext("no rate yet: `gpuledger rate add PROVIDER CARD PRICE` adds one"),
    )


@command.command()
@click.argument("number", type=Whole(1))
@data_dir_option
def remove(number: int, data_dir: str | None) -> None:
    """Take out the rate of that number in `gpuledger rate list`."""
    from gpuledger.flows.decisions import rates

    removed = rates.remove(data_of(data_dir), number)
    click.echo(gettext("taken out: {rate}").format(rate=", ".join(filter(None, removed))))
