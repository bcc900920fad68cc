"""Answers a question about buying or renting. Every door asks here: terminal, report, agent, files, workbook."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

from gpuledger.extract.source import discover
from gpuledger.message import Label, Message, Mistake
from gpuledger.transform.assumptions import Assumptions
from gpuledger.transform.buying.advice import CANNOT_RUN, cheaper_ruled_out, is_against, named, smaller, what_would
from gpuledger.transform.buying.choosing.comfort import ONE_CARD_DOES, gravity, least_speed, paid, uses, with_reasons
from gpuledger.transform.buying.choosing.picks import Choice, Picks
from gpuledger.transform.buying.hosts import OWN_SLOTS, around
from gpuledger.transform.buying.market import CONDITIONS, Hosted, OfferFilter
from gpuledger.transform.buying.need import Need, need_of
from gpuledger.transform.buying.options import NODES, TIGHT, Limits, Option, options_of
from gpuledger.transform.buying.question import Question, Usage
from gpuledger.transform.buying.stock import OneCard, Stock
from gpuledger.transform.identity import catalogue
from gpuledger.transform.sizing.diffusion import DiffusionModel
from gpuledger.transform.sizing.errors import SizingError
from gpuledger.transform.sizing.named import (
    FEW_USERS,
    SERVED_FILE,
    USUAL_FILE,
    id_of,
    names,
    parameters_of,
    shape_of,
    usual_precision,
)
from gpuledger.transform.sizing.tensors import Architecture

#: The files with more bits than the usual one that people run, the most first.
_MORE_BITS = ("Q8_0", "Q6_K", "Q5_K_M")
#: The fewest bits that are suggested, as of a file that people run.
_FEWEST_BITS = "Q3_K_M"
#: What a model is used for where nobody says it, by what it makes.
_USUAL = {"text": "chat", "vectors": "embedding", "speech": "speech", "pictures": "pictures", "clips": "clips"}
_NOT_COMFORTABLE = "At {asked} nothing here is comfortable. At {precision}:"
_IN_MEMORY = (
    "No cards within what you ask hold {model} comfortably. With its experts in the machine's memory ({options}):"
)
_NO_MACHINE = "The budget does not reach a whole machine. With one that is there (--host own):"
_NEITHER = (
    "Nothing within what you ask runs {model} at {asked}. At {precision}, with a machine that is there (--host own):"
)
_AS_ASKED = "Nothing within what you ask runs {model} at {asked}. At {precision}:"


class ImpossibleQuestion(Mistake):
    """A question that makes no sense. Its message says why."""


class Blocked(NamedTuple):
    """An argument of a question without an answer, and the answer without it."""

    argument: str
    without: Answer


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The question and all options for it, the cheapest first.

    `picks` are what is recommended, None if no answer has a price, and `ranking` all answers as they are listed. `hosted` is
    what interfaces ask that host the model. `instead` says what the answer presumes beside the question, where there is none
    as it was asked. `more_bits` is a precision of more bits that the first pick holds comfortably too, with its tokens a
    second, and `fewer_bits` what is comfortable for less at a precision of fewer bits. `comfortable` is what would be where
    nothing in the answer is: the cheapest for more money (""), and what is with another argument, by that argument. If no
    option is an answer, `blocked` has the arguments without any one of which there are answers, the one that rules out most
    first, and `remedies` has what else would help.
    """

    question: Question
    #: What for, as the question or the model says.
    use: str
    need: Need
    limits: Limits
    assumptions: Assumptions
    stock: Stock
    options: Sequence[Option]
    picks: Picks | None
    ranking: Sequence[Option]
    hosted: Sequence[Hosted] = ()
    instead: Message | None = None
    more_bits: tuple[str, float] | None = None
    fewer_bits: tuple[Need, Option] | None = None
    comfortable: Mapping[str, Option] = field(default_factory=dict)
    blocked: Sequence[Blocked] = ()
    remedies: Sequence[Message] = ()

    def ranked(self, limit: int) -> list[tuple[Option, Message | None]]:
        """The first `limit` answers, all for 0, each with what rules out the next cheaper option."""
        ruled_out = {id(self.options[place]): why for place, why in cheaper_ruled_out(self.options).items()}
        return [(option, ruled_out[id(option)]) for option in self.ranking[: limit or None]]

    @property
    def first_named(self) -> Message | str:
        """The first pick in words, of an answer that has one."""
        assert self.picks is not None
        return named(self.picks.first)

    @property
    def rentals(self) -> list[Option]:
        """All rentals that hold and run the model, whatever they cost and how fast they are."""
        return [one for one in self.options if one.way != "buy" and one.fits and not is_against(one, *CANNOT_RUN)]


class _Asker:
    """A question to a stock, as it was asked and with changes."""

    def __init__(self, question: Question, stock: Stock, own_models: Path) -> None:
        self.question, self.stock, self.own_models = question, stock, own_models
        self.shape, self.model_id = shape_of(question.model, own_models), id_of(question.model, own_models)
        self.use = question.use or ("training" if question.usage.train else _USUAL[pieces_of(self.shape)])
        assumed = uses()[self.use].get("assume", {})
        self.assumptions = stock.assumptions.with_text({**assumed, **question.changed()})
        self.usage = _usage(question, self.shape)
        of_title = {source.title.lower(): source.name for source in discover()} if question.shops else {}
        shops = tuple(sorted({of_title.get(name.lower(), name.lower()) for name in question.shops})) or None
        if shops and not stock.shops():
            raise ImpossibleQuestion("no shop was read yet: run `gpuledger refresh` first, or leave --shop out")
        if shops and (unknown := [name for name in shops if name not in {known.lower() for known in stock.shops()}]):
            raise ImpossibleQuestion(
                "nobody called {shop} sells anything here; known are {known:, }", shop=unknown[0],
                known=tuple(stock.shops()),
            )  # fmt: skip
        self.shops = shops
        #: The answers so far, by the identity of the need: pictures at fewer bits are asked for up to three times.
        self._answers: dict[tuple[int, Limits], Answer] = {}

    def need(self, precision: str, usage: Usage) -> Need:
        """What the model needs. It is kept for the next question, of any market: electricity changes no need."""
        assumptions = replace(self.assumptions, electricity_usd_per_kwh=Assumptions().electricity_usd_per_kwh)
        key = (self.question.model, precision, usage, assumptions)
        if key not in self.stock.needs:
            need = need_of(self.model_id, self.shape, precision, usage, assumptions)
            self.stock.needs[key] = replace(need, learned=self.stock.learned)
        return self.stock.needs[key]

    def limits(self) -> Limits:
        """The limits of the question."""
        question, stock, known = self.question, self.stock, catalogue.by_id()
        owned = tuple(sorted({name: question.owned.count(name) for name in question.owned}.items()))
        return Limits(
            budget=question.budget, currency=stock.place.currency, for_cards=question.budget_cards,
            has_host=question.host is not None, slots=OWN_SLOTS if question.slots is None else question.slots,
            owned=owned, machines=around((known[name], count) for name, count in owned if name in known),
            min_tokens_per_s=question.min_tokens_per_s, speech_hours_per_day=question.speech_hours_per_day,
            tokens_per_month=_count(question.tokens_per_month) if question.tokens_per_month else None,
            country=stock.country, machine_tax=stock.place.machine_tax,
        )  # fmt: skip

    def as_asked(self) -> Answer:
        """The answer, without what would help if there is none."""
        return nearest(self.at_each_precision())

    def at_each_precision(self) -> Iterator[Answer]:
        """The answer as it was asked, and about pictures and clips of no stated precision those at fewer bits, as people run
        them, the most bits first.
        """
        question, usage = self.question, self.usage
        precision = question.precision or usual_precision(self.shape, question.model, is_served=usage.users > FEW_USERS)
        first = self.answer(self.need(precision, usage), self.limits())
        yield first
        if question.precision or first.need.diffusion is None:
            return
        for need in self.smaller(first.need):
            instead = Message(
                _AS_ASKED if first.picks is None else _NOT_COMFORTABLE,
                model=need.model_id, asked=first.need.precision, precision=need.precision,
            )  # fmt: skip
            yield replace(self.answer(need, first.limits), instead=instead)

    def if_asked(self, **changes: Any) -> Answer | None:
        """The answer that who types the question with these changes reads first, None if there is none with a price."""
        with suppress(SizingError, ImpossibleQuestion):
            answer = _Asker(replace(self.question, **changes), self.stock, self.own_models).as_asked()
            return answer if answer.picks else None
        return None

    def answer(self, need: Need, limits: Limits) -> Answer:
        """The answer to the question with this need and these limits, without what would help if there is none."""
        question, stock, key = self.question, self.stock, (id(need), limits)
        if key in self._answers:
            return self._answers[key]
        offered = stock.offered(
            need, OfferFilter(CONDITIONS[question.condition], owned=question.owned, shops=self.shops)
        )
        options = with_reasons(
            options_of(need, limits, offered, self.assumptions), need, limits, self.assumptions,
        )  # fmt: skip
        answers = [option for option in options if not option.against]
        choice = Choice(self.assumptions, limits.budget is not None)
        picks = choice.picks(answers)
        self._answers[key] = Answer(
            question=question, use=self.use, need=need, limits=limits, assumptions=self.assumptions, stock=stock,
            options=options, picks=picks, ranking=choice.ordered(answers, picks, question.order),
            hosted=stock.hosted(question.model) if need.writes else (),
        )  # fmt: skip
        return self._answers[key]

    def smaller(self, need: Need) -> Iterator[Need]:
        """What the model needs at each precision at which it needs less, the most bits first."""
        for precision in smaller(need):
            other = self.at(precision)
            if other is not None and other.needed_bytes(1) < need.needed_bytes(1):
                yield other

    def at(self, precision: str) -> Need | None:
        """What the model needs at another precision, None if it cannot be loaded or trained so."""
        usage = self.usage
        if usage.train is not None:
            if precision != "int4" or usage.train == "qlora":
                return None
            usage = replace(usage, train="qlora")
        with suppress(SizingError):
            return self.need(precision, usage)
        return None


def ask(question: Question, stock: Stock, own_models: Path) -> Answer:
    """The ways to run the model.

    `own_models` is the folder of the models that the user added. Raises SizingError and ImpossibleQuestion for a question
    that makes no sense, and ImpossibleAssumption.
    """
    return _asked(_Asker(question, stock, own_models))


def _asked(asker: _Asker) -> Answer:
    question, stock, answer = asker.question, asker.stock, asker.as_asked()
    need, limits = answer.need, answer.limits
    asks_tokens = "--tokens-per-month" if question.tokens_per_month else "--min-tokens-per-s"
    is_trained = need.tuning is not None and not question.tokens_per_month
    counts = need.writes or is_trained or (need.reads_only and question.min_tokens_per_s is None)
    if (question.tokens_per_month or question.min_tokens_per_s is not None) and not counts:
        raise ImpossibleQuestion(
            "{model} does not write token by token: leave {option} out", model=question.model, option=asks_tokens
        )
    if question.speech_hours_per_day is not None and pieces_of(asker.shape) != "speech":
        raise ImpossibleQuestion(
            "{model} writes no speech down: leave --speech-hours-per-day out", model=question.model
        )
    if answer.ranking:
        ways = itertools.chain((answer,), _looser(asker, answer))
        return _completed(asker, next((one for one in ways if one.picks and not one.picks.first.behind), answer))
    changed = nearest((answer, *_changed(asker, need, limits)))
    if changed.picks:
        return _completed(asker, changed)
    return replace(
        answer,
        blocked=_blocked(asker),
        remedies=[*what_would(answer.options, limits, need, asker.at, stock.known()), *_limits_to_ask(asker)],
    )


def nearest(answers: Iterable[Answer]) -> Answer:
    """The first answer with a comfortable pick, else the one that comes nearest, the first if none has picks."""
    found = list[Answer]()
    for answer in answers:
        found.append(answer)
        if answer.picks and not answer.picks.first.behind:
            break
    return min(found, key=lambda one: (one.picks is None, gravity(one.picks.first) if one.picks else ()))


def at_each_precision(question: Question, stock: Stock, own_models: Path) -> tuple[Answer, list[Answer]]:
    """The answer that `ask` gives, and those among which it takes the nearest: of pictures and clips one a precision, the
    most bits first. Raises as `ask` does.
    """
    asker = _Asker(question, stock, own_models)
    answer = _asked(asker)
    others = () if answer.need.job else asker.at_each_precision()
    return answer, [answer if one.need.precision == answer.need.precision else one for one in others] or [answer]


def what_runs(question: Question, stock: OneCard, own_models: Path) -> Iterator[Answer]:
    """Of each model that writes text or makes pictures, and that the cards of `question` run comfortably: the answer at the
    most bits at which they do, or at those of the maker's own files. The largest models come first.
    """
    shapes = {name: shape_of(name, own_models) for name in names(own_models)}
    for name in sorted(shapes, key=lambda name: -parameters_of(shapes[name])):
        with suppress(SizingError, ImpossibleQuestion):
            asker = _Asker(replace(question, model=name), stock, own_models)
            usual = question.precision or usual_precision(asker.shape, name, is_served=question.usage.users > FEW_USERS)
            need = asker.need(usual, asker.usage)
            if not need.writes and need.diffusion is None:
                continue
            precisions: Sequence[str] = (usual,)
            if not question.precision and usual in (USUAL_FILE, SERVED_FILE, "fp16"):
                precisions = ("fp16", *_MORE_BITS, usual) if usual == USUAL_FILE else smaller(need)
            answers = (asker.answer(at, asker.limits()) for at in map(asker.at, precisions) if at is not None)
            found = next((one for one in answers if one.picks and not one.picks.first.behind), None)
            if found is not None:
                yield found


def _completed(asker: _Asker, answer: Answer) -> Answer:
    """An answer with what its first pick can do beside, and what would be comfortable if nothing in it is."""
    if not asker.question.precision:
        answer = replace(answer, more_bits=_more_bits(asker, answer), fewer_bits=_fewer_bits(asker, answer))
    if answer.picks and answer.picks.first.behind:
        return replace(answer, comfortable=dict(_comfortable(asker, answer)))
    return answer


def _comfortable(asker: _Asker, answer: Answer) -> Iterator[tuple[str, Option]]:
    """What is comfortable for more money, in a machine with more slots, and at the precisions that people run."""
    need, limits, question = answer.need, answer.limits, asker.question
    least = _least_comfortable(asker, need, limits)
    if least is not None:
        yield "", least
    if question.host and question.slots is None:
        roomy = _least_comfortable(asker, need, replace(limits, slots=max(NODES)))
        if roomy and roomy.bought and (least is None or _spent(roomy, limits) < _spent(least, limits)):
            slots = roomy.bought.boards
            picks = asker.answer(need, replace(limits, slots=slots)).picks
            yield f"--slots {slots}", picks.first if picks and not picks.first.behind else roomy
    if question.precision or need.job is None or need.tuning is not None:
        return
    for precision in (USUAL_FILE, SERVED_FILE, _FEWEST_BITS):
        other = None if precision == need.precision else asker.if_asked(precision=precision)
        if other and other.picks and not other.picks.first.behind:
            yield f"--precision {precision}", other.picks.first
            return


def _least_comfortable(asker: _Asker, need: Need, limits: Limits) -> Option | None:
    """The cheapest comfortable one whatever the budget, which a budget of its price picks.

    Several cards where one does it too are not passed over: a dearer one is then beyond the budget.
    """
    answers = (
        one
        for one in asker.answer(need, replace(limits, budget=None)).ranking
        if one.outlay_usd is not None and all(reason.template == ONE_CARD_DOES for reason in one.behind)
    )
    return min(answers, key=lambda one: _spent(one, limits), default=None)


def _spent(option: Option, limits: Limits) -> Decimal:
    """What the budget is held against."""
    return (option.price_usd if limits.for_cards and option.way == "buy" else option.outlay_usd) or Decimal(0)


def _more_bits(asker: _Asker, answer: Answer) -> tuple[str, float] | None:
    """The most bits that the first pick holds comfortably beside those of the answer, for one person."""
    first = answer.picks and answer.picks.first
    if not first or first.chip is None or answer.need.users > 1 or answer.need.precision != USUAL_FILE or first.behind:
        return None
    least = least_speed(answer.need, answer.limits, answer.assumptions)
    for precision in _MORE_BITS:
        need = asker.at(precision)
        made = need and need.on(first.chip, first.gpu_count)
        if not made or made.needed > made.usable * (1 - answer.assumptions.free_memory_share):
            continue
        if made.decode.expected and (made.decode.low or 0) >= least:
            return precision, made.decode.expected
    return None


def _fewer_bits(asker: _Asker, answer: Answer) -> tuple[Need, Option] | None:
    """What makes pictures or clips, or trains, comfortably at fewer bits for less than all picks, by `step_cost` if they are
    comfortable.
    """
    known, need = answer.assumptions, answer.need
    if not answer.picks or need.job is not None:
        return None
    times = 1.0 if answer.picks.first.behind else known.step_cost
    least = min(paid(pick, known) for pick in answer.picks.all()) / Decimal(str(times))
    for other, budget in itertools.product(asker.smaller(need), {answer.limits.budget: None, None: None}):
        picks = asker.answer(other, replace(answer.limits, budget=budget)).picks
        if picks and not picks.first.behind and picks.first.way == "buy" and paid(picks.first, known) < least:
            return other, picks.first
    return None


def _usage(question: Question, shape: Architecture | DiffusionModel) -> Usage:
    """How the model is used: as the question says, and what it leaves open as its use does."""
    usage = question.usage
    if question.use is None:
        return usage
    use = uses()[question.use]
    makes = pieces_of(shape)
    if use.get("kind", "text") != makes and "train" not in use:
        raise ImpossibleQuestion(
            "{model} makes {makes}: leave --for {use} out", model=question.model, use=question.use,
            makes=Label("text of speech" if makes == "speech" else makes),
        )  # fmt: skip
    filled: dict[str, Any] = {
        name: use[name]
        for name in ("context", "prompt", "answer", "train")
        if getattr(usage, name) is None and name in use
    }
    if "context" in filled:
        filled["context"] = min(filled["context"], shape.context)  # type: ignore[union-attr]
    return replace(usage, users=max(usage.users, use.get("users", 1)), **filled)


def pieces_of(shape: Architecture | DiffusionModel) -> str:
    """What a model makes: `text`, `vectors` (of texts), `speech` (that it writes down), `pictures` or `clips`."""
    if isinstance(shape, DiffusionModel):
        return "pictures" if shape.clip is None else "clips"
    if shape.kind == "encoder":
        return "vectors"
    return "speech" if shape.is_of_speech else "text"


def _looser(asker: _Asker, answer: Answer) -> Iterator[Answer]:
    """Answers at smaller precisions, the most bits first, where something holds the model as it was asked too tightly, and
    with its experts in memory.
    """
    if any(one.against and all(reason.template == TIGHT for reason in one.against) for one in answer.options):
        for need in asker.smaller(answer.need):
            instead = Message(_NOT_COMFORTABLE, asked=answer.need.precision, precision=need.precision)
            yield replace(asker.answer(need, answer.limits), instead=instead)
    yield from _in_memory(asker, answer.need, answer.limits)


def _changed(asker: _Asker, need: Need, limits: Limits) -> Iterator[Answer]:
    """Answers to the nearest questions, the nearest first: for who has a machine, at smaller precisions, and both."""
    has_machine = limits.has_host or limits.for_cards or limits.budget is None
    places = (limits,) if has_machine else (limits, replace(limits, has_host=True))
    # A server's files have at least 4 bits: who has no room for those runs one of fewer.
    fewest = asker.at(_FEWEST_BITS) if need.job is not None and need.precision == SERVED_FILE else None
    for other in (need, *asker.smaller(need), *filter(None, (fewest,))):
        for place in places:
            if other is need and place is limits:
                continue
            instead = Message(
                _AS_ASKED if place is limits else _NO_MACHINE if other is need else _NEITHER,
                model=need.model_id, asked=need.precision, precision=other.precision,
            )  # fmt: skip
            yield replace(asker.answer(other, place), instead=instead)
    for place in places:
        yield from _in_memory(asker, need, place)


def _in_memory(asker: _Asker, need: Need, limits: Limits) -> Iterator[Answer]:
    """The answer with the experts of the model in the machine's memory, if it has any and its program can do that."""
    if need.job is None or need.offload != "none":
        return
    with suppress(SizingError):
        other = asker.need(need.precision, replace(asker.usage, offload="experts"))
        options = "--offload experts" + " --host own" * (limits.has_host and asker.question.host is None)
        yield replace(asker.answer(other, limits), instead=Message(_IN_MEMORY, model=need.model_id, options=options))


#: More digits are a slip of the finger, or no number that a float holds.
_COUNT = re.compile(r"(\d{1,12}(?:\.\d{1,12})?)([kMG]?)")


def _count(text: str) -> int:
    """A number of tokens as people write it: `500k`, `5M`. Raises ImpossibleQuestion for another text."""
    found = _COUNT.fullmatch(text.strip())
    if found is None or not float(found[1]):
        raise ImpossibleQuestion("{text!r} is no number of tokens such as 500k or 5M", text=text)
    return round(float(found[1]) * {"": 1, "k": 1e3, "M": 1e6, "G": 1e9}[found[2]])


def _blocked(asker: _Asker) -> list[Blocked]:
    """The arguments without any one of which there are answers, the one that rules out most first."""
    question = asker.question
    without: dict[str, dict[str, Any]] = {
        "--budget": {"budget": None, "budget_cards": False},
        "--min-tokens-per-s": {"min_tokens_per_s": None},
        "--slots": {"slots": None},
        "--shop": {"shops": ()},
        "--tokens-per-month": {"tokens_per_month": None},
        "--speech-hours-per-day": {"speech_hours_per_day": None},
        f"--condition {question.condition}": {"condition": "any"},
        "--users": {"usage": replace(question.usage, users=1)},
        "--context": {"usage": replace(question.usage, context=None)},
    }
    found = [
        Blocked(name, other)
        for name, changes in without.items()
        if replace(question, **changes) != question and (other := asker.if_asked(**changes))
    ]
    return sorted(found, key=lambda blocked: -len(blocked.without.ranking))


def _limits_to_ask(asker: _Asker) -> Iterator[Message]:
    """The nearest limits with which there is an answer, each with what is then picked."""
    question, money = asker.question, asker.stock.place.currency
    if question.speech_hours_per_day is not None and (alone := asker.if_asked(speech_hours_per_day=None)):
        heard = [one.heard.values["times"] for one in alone.ranking if one.heard]
        if heard:
            hours = max(heard) * float(alone.assumptions.hours_per_day)
            yield Message("the fastest writes {hours:.0f} hours a day down: share them among machines", hours=hours)
    if question.min_tokens_per_s is not None and (any_speed := asker.if_asked(min_tokens_per_s=None)):
        priced = (option.each_a_second for option in any_speed.ranking if option.outlay_usd is not None)
        speed = math.floor(10 * max(priced)) / 10
        if answer := asker.if_asked(min_tokens_per_s=speed):
            yield Message(
                "the fastest that fits writes {speed:.1f} tokens/s: ask for that, or for a precision of fewer bits; the "
                "first is then {what}", speed=speed, what=answer.first_named,
            )  # fmt: skip
    if question.budget is not None and (any_price := asker.if_asked(budget=None, budget_cards=False)):
        least = min(one.outlay_usd for one in any_price.ranking if one.outlay_usd is not None)
        unit = Decimal(10) ** max(0, -money.places)
        budget = math.ceil(money.of(least) / unit) * unit
        if answer := asker.if_asked(budget=budget):
            yield Message(
                "raise the budget to {budget}: the first is then {what}", budget=f"{budget:,.0f} {money.code}",
                what=answer.first_named,
            )  # fmt: skip
