"""`gpuledger buy`: what to buy or rent to run a model, with the evidence."""

from __future__ import annotations

from datetime import UTC, datetime

import click

from gpuledger.flows.doors.asking.assume import explain_option
from gpuledger.flows.doors.asking.fields import Grouped, question_options
from gpuledger.flows.doors.asking.options import (  # fmt: skip
    Whole,
    currency_option,
    data_dir_option,
    format_option,
    market_option,
    may_be_packaged,
    read_from,
)
from gpuledger.flows.doors.showing import chosen
from gpuledger.flows.words.lang import gettext
from gpuledger.transform.buying.question import Question

#: How many options a person reads, and how many of them with their arithmetic; `--limit` shows more.
MOST_SHOWN, _EXPLAINED = 8, 3


@click.command(cls=Grouped)
@question_options(Question)
@click.option("--limit", type=Whole(0), metavar="N",
              help="Options to show; 0 for all (default: 8, with --explain 3).")  # fmt: skip
@explain_option
@click.option("--save", metavar="NAME",
              help="Keep the question under this name: each night answers it again (mart.answer), `export` lists it, and "
                   "`watch` tells when its pick changes.")  # fmt: skip
@market_option
@currency_option
@data_dir_option
@format_option
def command(
    question: Question, limit: int | None, explain: bool, save: str | None, data_dir: str | None, form: str
) -> int:
    """What to buy to run a model: at most three picks, then all other ways, with evidence."""
    from gpuledger.flows.doors.asking.buying import Where, ask, keep, stock
    from gpuledger.flows.doors.asking.from_hub import bring
    from gpuledger.flows.doors.showing.buy_answer import show_answer

    data = read_from(data_dir, month_will_do=True, as_one=True)
    if explain and form == "csv":
        raise click.UsageError(gettext("--explain needs --format table or json"))
    count = (_EXPLAINED if explain else MOST_SHOWN) if limit is None else limit
    # The answer and its headings are read from one version, and only one connection is opened.
    where = Where(chosen.market(), chosen.currency(), question.country)
    with stock(data, where, clock=datetime.now(UTC), packaged=may_be_packaged(data, data_dir)) as offered:
        bring(question.model, data)
        answer = ask(data, offered, question)
        if save is not None:
            from gpuledger.flows.settings import settings
            from gpuledger.flows.telling import kept_answers, notify

            kept, words = keep(save, answer.question, data)
            click.echo(
                "\n".join(filter(None, (words, notify.unheard(settings.load({"data_dir": data_dir}))))), err=True
            )
            kept_answers.begin(data, kept, answer)
        return show_answer(answer, data, count, form, explain=explain)
