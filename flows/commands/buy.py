"""`gpuledger buy`: what to buy or rent to run a model, with the evidence."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import TYPE_CHECKING

import click

from gpuledger.flows.asking.assume import assume_option, explain_option, serving_options
from gpuledger.flows.asking.options import (  # fmt: skip
    Amount,
    Whole,
    complete_models,
    currency_option,
    data_dir_option,
    format_option,
    market_option,
    read_from,
)
from gpuledger.flows.showing import chosen
from gpuledger.flows.words.lang import gettext

if TYPE_CHECKING:
    from gpuledger.transform.buying.answer import Condition, Use
    from gpuledger.transform.buying.choosing.picks import Order
    from gpuledger.transform.buying.need import Usage

#: How many options a person reads, and how many of them with their arithmetic; `--limit` shows more.
MOST_SHOWN, _EXPLAINED = 8, 3
#: The uses of uses.toml, which is read only where one is asked.
USES = ("chat", "agent", "documents", "batch", "pictures", "clips", "speech", "training")


@click.command()
@click.option(
    "--model",
    "model_id",
    required=True,
    metavar="M",
    shell_complete=complete_models,
    help="Model to run; `gpuledger model list` lists all.",
)
@click.option(
    "--precision",
    metavar="P",
    help="fp16, Q8_0, Q4_K_M … (default: the maker's own files, else Q4_K_M, for several users AWQ, of an image model "
    "fp16; int4 is ideal: 4 bits a weight, which no file has).",
)
@click.option("--for", "use", type=click.Choice(list(USES)),
              help="What for: sets context, prompt, answer and least speed where you do not (default: chat).")  # fmt: skip
@click.option("--context", type=Whole(1), metavar="N", help="Tokens of context (default: 8192, or the model's own).")
@click.option("--budget", type=Amount(0, min_open=True), metavar="A",
              help="Most that may be paid on day one for cards and machine, or as rent over the horizon, in the currency "
                   "that is shown.")  # fmt: skip
@click.option("--budget-cards", is_flag=True, help="The budget is for the cards alone.")
@click.option("--host", type=click.Choice(["own"]), help="You have a machine for the cards: it costs nothing.")
@click.option("--slots", type=Whole(1), metavar="N",
              help="With --host own: how many cards of double width it takes (default: 2, as a desktop).")  # fmt: skip
@click.option("--own", "owned", multiple=True, metavar="CARD",
              help="A card that you have; several times for several. More of it counts new or used.")  # fmt: skip
@click.option("--shop", "shops", multiple=True, metavar="NAME",
              help="Only offers of this shop, vendor or source, such as quotes; several times for several.")  # fmt: skip
@click.option("--min-tokens-per-s", "--min-speed", type=Amount(0, min_open=True), metavar="R",
              help="Least speed that each user must see, in tokens a second.")  # fmt: skip
@click.option("--users", type=Whole(1), default=1, show_default=True, metavar="N", help="People served at once.")
@click.option("--input", "prompt", type=Whole(1), metavar="N", help="Length of the prompt of each person, in tokens.")
@click.option("--output", "answer", type=Whole(1), metavar="N", help="Length of the answer to each person, in tokens.")
@serving_options
@click.option("--hours-per-day", metavar="H", help="Hours a day in which it is on or rented.")
@click.option("--horizon-years", metavar="Y", help="Years until the card is sold.")
@click.option("--days", type=Amount(1), metavar="N", help="Days until the card is sold, instead of years.")
@click.option("--country", metavar="CC", help="Electricity at the household price of this country (US, KR, DE, EU …).")
@click.option("--condition", type=click.Choice(["new", "used", "any"]), default="any", show_default=True,
              help="Cards on sale new, used (also refurbished and opened), or both.")  # fmt: skip
@click.option("--order", type=click.Choice(["picks", "total", "day-one", "speed", "memory"]), default="picks",
              show_default=True, help="How the rows are sorted: picks first, or by one figure alone.")  # fmt: skip
@click.option("--limit", type=Whole(0), metavar="N",
              help="Options to show; 0 for all (default: 8, with --explain 3).")  # fmt: skip
@explain_option
@assume_option
@market_option
@currency_option
@data_dir_option
@format_option
def command(
    model_id: str,
    precision: str | None,
    use: Use | None,
    load: Usage,
    budget: float | None,
    budget_cards: bool,
    host: str | None,
    slots: int | None,
    owned: tuple[str, ...],
    shops: tuple[str, ...],
    min_tokens_per_s: float | None,
    kv_bits: str | None,
    hours_per_day: str | None,
    horizon_years: str | None,
    days: float | None,
    country: str | None,
    condition: Condition,
    order: Order,
    limit: int | None,
    explain: bool,
    assumed: tuple[str, ...],
    data_dir: str | None,
    form: str,
) -> int:
    """What to buy to run a model: at most three picks, then all other ways, with evidence."""
    from gpuledger.flows.asking.buying import Where, ask, stock, years_of
    from gpuledger.flows.asking.from_hub import bring
    from gpuledger.flows.showing.buy_answer import show_answer

    data = read_from(data_dir)
    if explain and form == "csv":
        raise click.UsageError(gettext("--explain needs --format table or json"))
    if days is not None and horizon_years is not None:
        raise click.UsageError(gettext("--days and --horizon-years say the same: give one of them"))
    if budget_cards and budget is None:
        raise click.UsageError(gettext("--budget-cards says what --budget is for: give --budget too"))
    if slots is not None and host is None:
        raise click.UsageError(gettext("--slots is about a machine that you have: give --host own too"))
    overrides = {
        "hours_per_day": hours_per_day, "kv_cache_bits": kv_bits,
        "horizon_years": horizon_years if days is None else years_of(days),
    }  # fmt: skip
    amount = None if budget is None else Decimal(str(budget))
    count = (_EXPLAINED if explain else MOST_SHOWN) if limit is None else limit
    # The answer and its headings are read from one version, and only one connection is opened.
    where = Where(chosen.market(), chosen.currency(), country)
    with stock(data, where, clock=datetime.now(UTC), may_be_wheel=data_dir is None) as offered:
        bring(model_id, data)
        answer = ask(
            data, offered, model=model_id, precision=precision, use=use, order=order, usage=load,
            budget=amount, for_cards=budget_cards,
            min_tokens_per_s=min_tokens_per_s, condition=condition, country=country, has_host=host == "own", slots=slots,
            owned=owned, shops=shops,
            assumed={name: value for name, value in overrides.items() if value}, texts=assumed,
        )  # fmt: skip
        return show_answer(answer, data, count, form, explain=explain)
