"""What is comfortable, by the rules of the assumptions: why an answer is listed behind those that are recommended."""

from __future__ import annotations

import functools
import math
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

from gpuledger.message import Message
from gpuledger.transform.assumptions import Assumptions
from gpuledger.transform.buying.hosts import OWN_SLOTS, has_no_fan
from gpuledger.transform.buying.need import Need
from gpuledger.transform.buying.options import OWNED, SPEED_UNKNOWN, Limits, Option
from gpuledger.transform.identity.gpu import Gpu
from gpuledger.transform.sizing.tensors import count_parameters

LITTLE_ROOM = "only {free:.0%} of its memory stays free, under {least:.0%}"
WAITS = "part of its weights waits in the machine's memory"
SMALL_CARD = "{memory:g} GB leave no room for the next model ({least:g} GB do)"
SMALL_CARDS = "several cards of {memory:g} GB each, where {least:g} GB make sense"
MANY_CARDS = "{count} cards made for a desktop in one machine, where at most {most:g} make sense"
SLOW = "{low:.3g} tokens/s at the low end, under {least:g}"
SLOW_PICTURE = "{slow:,.0f} s for each at the slow end, where {most:,.0f} are comfortable"
SLOW_READER = "{seconds:.2g} s for a text of {tokens:,} tokens, over {most:.3g}"
LATE = "{seconds:.3g} s until the first token, over {most:.3g}"
NO_FAN = "it has no fan of its own, only a server's cool it"
OLD_PRICE = "nobody confirmed its price of late"
ONE_CARD_DOES = "{what} alone does it"
#: Tokens of the prompt that `comfortable_first_token_s` is meant for: half of the usual context.
USUAL_PROMPT = 4096
#: The reasons of support.toml.
_SUPPORT = {
    "ended": "NVIDIA ended its support in CUDA 13",
    "not_listed": "ROCm 7 does not list it",
    "of_intel": "Intel archived its own software for language models, and few programs know oneAPI",
    "of_others": "guides for pictures, clips and training name NVIDIA alone, and not Intel",
    "of_pictures": "programs for pictures call their support of Radeon experimental",
    "of_training": "programs for training call their support of Radeon experimental",
}
#: The reasons, the gravest first: experts let memory decide, then speed, then software, then price. For pictures, clips and
#: training software comes before the size of a card: guides name NVIDIA alone.
GRAVITY = (
    LITTLE_ROOM, WAITS, _SUPPORT["of_others"], _SUPPORT["of_pictures"], _SUPPORT["of_training"], SMALL_CARD,
    SMALL_CARDS, MANY_CARDS, SPEED_UNKNOWN, SLOW, SLOW_PICTURE, SLOW_READER, LATE, _SUPPORT["ended"], _SUPPORT["not_listed"],
    _SUPPORT["of_intel"], NO_FAN, OLD_PRICE, ONE_CARD_DOES,
)  # fmt: skip


class Experiment(NamedTuple):
    """Programs whose support of some architectures is an experiment (see support.toml)."""

    architectures: frozenset[str]
    engines: frozenset[str]
    reason: Message


@functools.cache
def experiments() -> tuple[Experiment, ...]:
    """All of support.toml."""
    return tuple(
        Experiment(frozenset(row["architectures"]), frozenset(row["engines"]), Message(_SUPPORT[row["reason"]]))
        for row in _read("support.toml")["experiment"]
    )


@functools.cache
def uses() -> Mapping[str, Mapping[str, Any]]:
    """What a model is used for, by name (see uses.toml)."""
    return _read("uses.toml")


def _read(name: str) -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_name(name).read_text(encoding="utf-8"))


def least_speed(need: Need, limits: Limits, assumptions: Assumptions) -> float:
    """The tokens a second that each user must see before an option is recommended, by the question or by the size."""
    if limits.min_tokens_per_s is not None or not need.writes or need.job is None:
        return limits.min_tokens_per_s or 0.0
    is_large = count_parameters(need.job.shape).active >= assumptions.large_model_parameters * 1e9
    return assumptions.large_model_tokens_per_s if is_large else assumptions.comfortable_tokens_per_s


def with_reasons(options: Sequence[Option], need: Need, limits: Limits, assumptions: Assumptions) -> list[Option]:
    """The options, each answer with the reasons why it is not recommended (`behind`), the gravest first."""
    rules = _Rules(need, assumptions, least_speed(need, limits, assumptions), limits.has_host)
    judged = [option if option.against else option._replace(behind=tuple(rules.missed(option))) for option in options]
    return beside_one_card(judged, assumptions)


def beside_one_card(judged: list[Option], assumptions: Assumptions) -> list[Option]:
    """The judged options, several cards with the reason that one does it too, unless `several_cards` says otherwise."""
    if assumptions.several_cards:
        return judged
    singles = [o for o in judged if o.way == "buy" and o.gpu_count == 1 and o.outlay_usd is not None]
    alone = sorted((o for o in singles if not (o.against or o.behind)), key=lambda one: paid(one, assumptions))
    return [_beside(alone, option, assumptions) for option in judged]


def _beside(alone: Sequence[Option], option: Option, assumptions: Assumptions) -> Option:
    """An option with the reason that one card does it too, if it is several and not far cheaper, by what is asked and by
    what counts for what may have risen.

    Two that are faster stand beside it; more, for which no desktop has slots, do not.
    """
    if option.gpu_count == 1 or option.against or option.outlay_usd is None:
        return option
    times = Decimal(str(assumptions.step_cost))
    most, most_asked = paid(option, assumptions) * times, option.outlay_usd * times
    speed = noticed_speed(option, assumptions) if option.gpu_count <= OWN_SLOTS else 0.0
    does = (
        one
        for one in alone
        if paid(one, assumptions) < most
        and (one.outlay_usd or 0) < most_asked
        and noticed_speed(one, assumptions) * assumptions.step_gain > speed
    )
    one = next(does, None)
    return option if one is None else option._replace(behind=(*option.behind, Message(ONE_CARD_DOES, what=one.what)))


def noticed_speed(option: Option, assumptions: Assumptions) -> float:
    """How fast an option is for each user, of tokens at most as fast as anybody notices (`fast_enough_tokens_per_s`)."""
    each, most = option.each_a_second, assumptions.fast_enough_tokens_per_s
    return min(each, most) if option.pictures is None and most else each


def paid(option: Option, assumptions: Assumptions) -> Decimal:
    """What is paid on day one, or as rent, in US dollars; 0 if it is not known. A stale street price may have risen since
    (`stale_price_rise`).
    """
    outlay = option.outlay_usd or Decimal(0)
    if not option.may_have_risen:
        return outlay
    return outlay + (option.price_usd or 0) * Decimal(str(assumptions.stale_price_rise - 1))


def gravity(option: Option) -> tuple[bool, bool, int, int, int]:
    """How much speaks against recommending it: an unknown speed, weights that wait, then how often its time is twice what is
    comfortable, then the number of reasons, then the gravest of them.
    """
    reasons = [_place(reason) for reason in option.behind]
    is_unknown, waits = (any(reason.template == one for reason in option.behind) for one in (SPEED_UNKNOWN, WAITS))
    doubled = int(math.log2(max(map(_times_too_slow, option.behind), default=1)))
    return is_unknown, waits, doubled, len(reasons), sum(1 << (len(GRAVITY) - place) for place in reasons)


def _place(reason: Message) -> int:
    """Its place in GRAVITY. With half of the memory free that should be, it runs well, and weighs as little as an old
    price."""
    said = reason.values
    nearly = reason.template == LITTLE_ROOM and float(said["free"]) >= float(said["least"]) / 2
    return GRAVITY.index(OLD_PRICE if nearly else reason.template)


def _times_too_slow(reason: Message) -> float:
    """How many times as long as is comfortable it takes, 1 if a reason is no matter of speed."""
    said = reason.values
    if reason.template == SLOW:
        return float(said["least"]) / max(float(said["low"]), 1e-9)
    return float(said["seconds"]) / float(said["most"]) if reason.template in (SLOW_PICTURE, SLOW_READER, LATE) else 1


class _Rules(NamedTuple):
    need: Need
    assumptions: Assumptions
    least_speed: float
    has_host: bool

    def missed(self, option: Option) -> Iterator[Message]:
        yield from self._memory(option)
        yield from self._speed(option)
        if option.chip is not None:
            yield from self._of_chip(option, option.chip)
        evidence = option.evidence
        if evidence is not None and evidence.is_behind:
            yield Message(OLD_PRICE)

    def _of_chip(self, option: Option, chip: Gpu) -> Iterator[Message]:
        most = self.assumptions.most_consumer_cards
        # A node that is sold whole was built for its cards.
        if most and option.host and chip.segment == "consumer" and option.gpu_count > most:
            yield Message(MANY_CARDS, count=option.gpu_count, most=most)
        if self.assumptions.experiments:
            return
        for row in experiments():
            if chip.architecture in row.architectures and self.need.engine.name in row.engines:
                yield row.reason
        if self.has_host and has_no_fan(chip):
            yield Message(NO_FAN)

    def _memory(self, option: Option) -> Iterator[Message]:
        free = 1 - option.needed_gb / option.available_gb
        # What may stay outside the card leaves it: networks of pictures that do not work at the moment, and experts.
        moves = self.need.diffusion is not None or self.need.offload != "none"
        if not moves and free < self.assumptions.free_memory_share:
            yield Message(LITTLE_ROOM, free=free, least=self.assumptions.free_memory_share)
        if option.needed_gb > option.available_gb:
            yield Message(WAITS)
        memory = option.chip.memory_gb if option.chip and option.condition != OWNED else None
        if memory is None:
            return
        if memory < self.assumptions.least_card_gb:
            yield Message(SMALL_CARD, memory=memory, least=self.assumptions.least_card_gb)
        elif option.gpu_count > 1 and memory < self.assumptions.least_card_gb_of_several:
            yield Message(SMALL_CARDS, memory=memory, least=self.assumptions.least_card_gb_of_several)

    def _speed(self, option: Option) -> Iterator[Message]:
        if self.need.diffusion is not None:
            yield from self._pictures(option, is_clip=self.need.diffusion.clip is not None)
        if not (self.need.writes or self.need.reads_only):
            return
        speed = option.speed
        if speed is None:
            yield Message(SPEED_UNKNOWN)
            return
        low = speed.each * (speed.rate.low or 0) / speed.expected if speed.expected else 0.0
        if low < self.least_speed:
            yield Message(SLOW, low=low, least=self.least_speed)
        prompt = self.need.job.load.prompt if self.need.job else 0
        longest = self.assumptions.comfortable_first_token_s * max(1, prompt / USUAL_PROMPT)
        if self.need.reads_only:
            if longest and (seconds := prompt / (low or speed.each)) > longest:
                yield Message(SLOW_READER, seconds=seconds, tokens=prompt, most=longest)
            return
        if longest and speed.serving is not None and speed.serving.first_token_s > longest:
            yield Message(LATE, seconds=speed.serving.first_token_s, most=longest)

    def _pictures(self, option: Option, *, is_clip: bool) -> Iterator[Message]:
        made, known = option.pictures, self.assumptions
        longest = known.comfortable_clip_minutes * 60 if is_clip else known.comfortable_picture_s
        if made is None:
            yield Message(SPEED_UNKNOWN)
        elif longest and (slow := 1 / (made.low or made.per_s)) > longest:
            yield Message(SLOW_PICTURE, seconds=1 / made.per_s, slow=slow, most=longest)
