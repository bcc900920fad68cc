"""`gpuledger predict`: whether a model fits on a number of equal cards, and how fast it will be.

Needs no warehouse. If there is one and no engine is named, its measurements of that model and precision count before the
calculation.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from gpuledger.flows.doors.asking.assume import explain_option, of_settings
from gpuledger.flows.doors.asking.card_names import ambiguous_name, count_and_name, gpus_of
from gpuledger.flows.doors.asking.fields import question_options
from gpuledger.flows.doors.asking.options import Whole, data_dir_option, object_option, read_from
from gpuledger.flows.doors.showing import terminal
from gpuledger.flows.doors.showing.prediction import as_objects, show_steps
from gpuledger.flows.words.lang import gettext
from gpuledger.flows.words.say import as_wrong_use
from gpuledger.message import Message
from gpuledger.transform.buying.question import CardQuestion

if TYPE_CHECKING:
    from gpuledger.transform.identity.gpu import Gpu
    from gpuledger.warehouse.paths import DataDir


@click.command()
@question_options(CardQuestion)
@explain_option
@click.option("--limit", type=Whole(0), metavar="N", default=25, show_default=True,
              help="Models to show without --model; 0 for all.")  # fmt: skip
@data_dir_option
@object_option
def command(question: CardQuestion, explain: bool, limit: int, data_dir: str | None, form: str) -> None:
    """What fits on N cards and how fast it will be: what to expect, a range, and a bound.

    Without --model: which models they run comfortably, the largest first, each at the most bits at which they do.
    """
    from gpuledger.flows.doors.asking import predicting
    from gpuledger.flows.doors.asking.from_hub import bring
    from gpuledger.flows.doors.showing import prediction as prediction_shown
    from gpuledger.transform.buying.need import need_of
    from gpuledger.transform.sizing.diffusion import DiffusionModel
    from gpuledger.transform.sizing.errors import SizingError
    from gpuledger.transform.sizing.named import FEW_USERS, id_of, limit_of_licence, shape_of, usual_precision
    from gpuledger.transform.speed import explained
    from gpuledger.transform.speed.engines import check_node, default_engine, engine_of
    from gpuledger.transform.speed.predict import DRAFTED_BY_TEXT, WITHOUT_DRAFT, with_draft

    data = read_from(data_dir, as_one=True)
    count, card_name, cards = _cards(data, question.gpu, question.count)
    assumptions = of_settings(question.changed())
    if not question.model:
        _show_what_runs(data, question, cards, form, limit)
        return
    engine, load = question.engine, question.usage
    bring(question.model, data)
    with as_wrong_use(SizingError):
        shape, model_id = shape_of(question.model, data.root), id_of(question.model, data.root)
        licence = [one] if (one := limit_of_licence(model_id)) else []
        program = engine_of(engine) if engine else None
        is_served = load.users > FEW_USERS if program is None else "gguf" not in program.loads
        precision = question.precision or usual_precision(shape, question.model, is_served=is_served)
        if load.train is not None or load.is_of_a_picture or isinstance(shape, DiffusionModel):
            if len(cards) > 1:
                raise ambiguous_name(card_name, cards)
            need = need_of(model_id, shape, precision, load, assumptions)
            check_node(cards[0], count, need.engine.name, need.precision)
            whole = predicting.whole(need, cards[0], count, data, load.train_tokens)
            if whole.verdict == "no" and question.precision is None:
                whole = whole._replace(said=[*whole.said, *predicting.fits_at(need, shape, load, cards[0], count)])
            whole = whole._replace(said=[*whole.said, *licence])
            if form == "json":
                terminal.give(prediction_shown.whole_object(whole, need, cards[0], count))
            else:
                prediction_shown.show_whole(whole, need, cards[0], count)
            return
        program = program or default_engine(precision, load.users)
        asked = predicting.Asked(shape, precision, program, question.split or program.split, load, assumptions)
        found = predicting.predicted(asked, card_name, cards, count, predicting.learned(data))
    if found is None:
        raise ambiguous_name(card_name, cards)
    prediction, notes = found
    if prediction.verdict == "no" and question.precision is None and engine is None:
        need = need_of(model_id, shape, precision, load, assumptions)
        notes.extend(predicting.fits_at(need, shape, load, prediction.plan.gpu, count))
    if question.draft:
        with as_wrong_use(SizingError):
            prediction = with_draft(prediction)
        notes = [DRAFTED_BY_TEXT if note.template == WITHOUT_DRAFT else note for note in notes]
    if engine is None and not question.draft:
        rate, url = predicting.measured(data, prediction, model_id, precision)
        if rate != prediction.decode:
            notes.insert(0, Message("measured with other software, which this rests on: {url}", url=url))
        prediction = prediction._replace(decode=rate)
    served, near = predicting.served(data, prediction, model_id, engine, explain=explain)
    if served is not None:
        notes.insert(0, served.note)
    notes += [*near, *licence]
    steps = list(explained.steps(prediction)) if explain else []
    if form == "json":
        answer = prediction_shown.as_object(prediction, model_id, precision, notes) | {
            "users": load.users, "users_at_once": prediction.job.load.users if prediction.verdict == "no" else load.users,
            "serves": served and {**prediction_shown.rate_object(served.rate), "each": round(served.each, 2)},
        } | ({"explanation": as_objects(steps)} if explain else {})  # fmt: skip
        terminal.give(answer)
    else:
        prediction_shown.show(prediction, f"{model_id} {precision}", notes, served and served.rate)
        show_steps(steps)


def _cards(data: DataDir, gpu: str, count: int) -> tuple[int, str, Sequence[Gpu]]:
    """How many cards, their name, and the cards of that name. A usage error if name and `count` contradict each other."""
    from gpuledger.transform.speed.predict import MOST_CARDS

    named, card_name = count_and_name(data, gpu)
    if named > 1 and count not in (1, named):
        raise click.UsageError(
            gettext("{name!r} says {named} cards and --count {count}").format(name=gpu, named=named, count=count)
        )
    if not 1 <= max(named, count) <= MOST_CARDS:
        raise click.UsageError(
            gettext("{name!r}: the number of cards must be from 1 to {most}").format(name=gpu, most=MOST_CARDS)
        )
    return max(named, count), card_name, gpus_of(data, card_name)


def _show_what_runs(data: DataDir, question: CardQuestion, cards: Sequence[Gpu], form: str, limit: int) -> None:
    """Show what cards run comfortably. A usage error for cards of several names, and for what is asked of one model."""
    from datetime import UTC, datetime

    from gpuledger.flows.doors.asking.buying import Where, stock
    from gpuledger.flows.doors.showing import prediction as prediction_shown
    from gpuledger.transform.buying.answer import what_runs
    from gpuledger.transform.buying.question import Question
    from gpuledger.transform.buying.stock import one_card

    if len(cards) > 1:
        raise ambiguous_name(question.gpu, cards)
    of_one = {
        "engine": question.engine,
        "split": question.split,
        "draft": question.draft,
        "train": question.usage.train,
    }
    if named := [name for name, value in of_one.items() if value]:
        raise click.UsageError(gettext("--{option} is about one model: give --model too").format(option=named[0]))
    count, _, _ = _cards(data, question.gpu, question.count)
    asked = Question(
        model="", precision=question.precision, usage=question.usage, kv_bits=question.kv_bits, assumed=question.assumed,
        owned=(cards[0].gpu_id,) * count, host="own", slots=count,
    )  # fmt: skip
    is_packaged = not data.published.exists()
    with stock(data, Where(None, None, None), clock=datetime.now(UTC), packaged=is_packaged) as known:
        answers = [*what_runs(asked, one_card(cards[0], known), data.root)]
    prediction_shown.show_what_runs(answers, cards[0], form, limit)
