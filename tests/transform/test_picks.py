"""At most three picks, by rules that a user can read, change and switch off."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from gpuledger.message import Message, said
from gpuledger.transform.assumptions import Assumptions
from gpuledger.transform.buying.answer import Answer, ImpossibleQuestion, ask
from gpuledger.transform.buying.choosing.comfort import (
    GRAVITY,
    LITTLE_ROOM,
    NO_FAN,
    ONE_CARD_DOES,
    SLOW,
    SLOW_READER,
    SMALL_CARD,
    experiments,
    gravity,
    uses,
    with_reasons,
)  # fmt: skip
from gpuledger.transform.buying.choosing.picks import Choice, Picks
from gpuledger.transform.buying.headline import headline, sentences, why_nothing
from gpuledger.transform.buying.options import Limits, options_of
from gpuledger.transform.buying.question import Question, Usage
from gpuledger.transform.buying.stock import Place, packaged
from gpuledger.transform.identity import catalogue
from gpuledger.transform.speed.engines import engines
from tests.support import buying

NOW = datetime(2026, 11, 27, tzinfo=UTC)
#: New and used cards at round prices: what misses a rule, what is comfortable, and one far too large.
CARDS = {
    "nvidia-geforce-rtx-5060": (("new", 300),), "nvidia-geforce-rtx-3060-12gb": (("new", 340), ("used", 240)),
    "nvidia-geforce-rtx-5060-ti-16gb": (("new", 520),), "nvidia-geforce-rtx-5090": (("new", 3200),),
    "nvidia-tesla-p40": (("used", 290),), "intel-arc-b580": (("new", 250),),
    "amd-radeon-rx-9060-xt-16gb": (("new", 480),), "amd-radeon-rx-9070-xt": (("new", 620),),
    "nvidia-geforce-rtx-3090": (("used", 850),), "nvidia-rtx-a6000": (("used", 2800),),
}  # fmt: skip


def picked(budget: int | None, model: str = "llama-3.1-8b", **assumed: str) -> tuple[Picks, list[Any]]:
    """The picks and all answers in their order, for who has a machine."""
    known, assumptions = catalogue.by_id(), Assumptions().with_text(assumed)
    offered = buying.market(
        cards=[
            buying.card(known[name], usd, condition=condition) for name, all_ in CARDS.items() for condition, usd in all_
        ],
        gpus=[known[name] for name in CARDS],
    )  # fmt: skip
    need = buying.need(model, "Q4_K_M", assumptions=assumptions)
    limits = Limits(budget=None if budget is None else Decimal(budget), has_host=True, slots=2)
    judged = with_reasons(options_of(need, limits, offered, assumptions), need, limits, assumptions)
    choice = Choice(assumptions, budget is not None)
    answers = [option for option in judged if not option.against]
    found = choice.picks(answers)
    assert found is not None
    return found, choice.ordered(answers, found, "picks")


def named(option: Any) -> str | None:
    return option and f"{option.what.split(' RTX ')[-1]}, {option.condition}"


def test_with_a_budget_the_best_comfortable_one_and_without_one_the_cheapest() -> None:
    assert named(picked(600)[0].first) == "3060 12GB, used", "12 GB are twice what it needs, and fast enough"
    best, listed = picked(600, enough_memory="3")
    assert list(map(named, best)) == ["5060 Ti 16GB, new", "3060 12GB, used", None]
    assert listed[:2] == [best.first, best.for_less]
    assert named(picked(None)[0].first) == "3060 12GB, used"
    assert list(map(named, picked(345)[0])) == ["3060 12GB, used", None, "3060 12GB, new"]
    assert named(picked(5000, enough_memory="3")[0].first) == "5060 Ti 16GB, new", (
        "nobody buys six times the memory that is needed"
    )


def test_what_misses_a_rule_is_listed_behind_with_the_reason() -> None:
    _, listed = picked(5000)
    behind = {option.what: [reason.template for reason in option.behind] for option in listed if option.gpu_count == 1}
    assert behind["NVIDIA GeForce RTX 5060"] == [SMALL_CARD]
    assert behind["NVIDIA Tesla P40"] == ["NVIDIA ended its support in CUDA 13", NO_FAN]
    assert behind["Intel Arc B580"] == [
        "Intel archived its own software for language models, and few programs know oneAPI"
    ]
    assert {reason.template for option in listed for reason in option.behind} <= {*GRAVITY}
    places = [bool(option.behind) for option in listed]
    assert places == sorted(places), "what is comfortable comes first"


@pytest.mark.parametrize(
    ("assumed", "card"),
    [
        ({"least_card_gb": "0"}, "NVIDIA GeForce RTX 5060"),
        ({"experiments": "1"}, "Intel Arc B580"),
        ({"experiments": "1"}, "NVIDIA Tesla P40"),
    ],
)
def test_each_rule_can_be_switched_off(assumed: dict[str, str], card: str) -> None:
    _, listed = picked(5000, **assumed)
    assert next(option for option in listed if option.what == card).behind == ()


def test_where_nothing_is_comfortable_the_nearest_comes_first() -> None:
    best, _ = picked(260, comfortable_tokens_per_s="60", large_model_parameters="1000")
    assert named(best.first) == "3060 12GB, used"
    assert [reason.template for reason in best.first.behind] == [SLOW]
    far = best.first._replace(behind=(Message(SLOW, low=2.0, least=20.0),))
    near = best.first._replace(behind=(Message(SLOW, low=15.0, least=20.0), Message(SMALL_CARD, memory=8, least=12)))
    assert gravity(near) < gravity(far), "eight times too slow is worse than two small faults"
    # Memory that is nearly free enough is a smaller fault than too slow, and hardly any is a greater one.
    nearly, hardly = (
        best.first._replace(behind=(Message(LITTLE_ROOM, free=free, least=0.1),)) for free in (0.09, 0.03)
    )
    assert gravity(nearly) < gravity(best.first) < gravity(hardly)


def test_a_step_up_must_gain_what_it_costs() -> None:
    assert named(picked(5000, "qwen3-32b")[0].first) == "5090, new"
    any_size = {"most_memory": "0", "fast_enough_tokens_per_s": "20", "enough_memory": "0"}
    assert named(picked(5000, **any_size)[0].first) == "5090, new", "an A6000 has more memory for three 3090, no speed"
    assert named(picked(5000, **any_size, step_cost="4")[0].first) == "A6000, used"
    assert named(picked(5000, **any_size, step_memory="10")[0].first) == "3060 12GB, used"
    room = {"roomy_memory_gb": "5"}
    assert named(picked(3000, "qwen3-32b", **room)[0].first) == "3090, used", "48 GB for 3.3 times the price, no faster"
    assert named(picked(3000, "qwen3-32b", **room, room_cost="4")[0].first) == "A6000, used"
    # 620 for 520, 1.17 times as fast: a step of 0.38 of one and a half times the price.
    small = {"fast_enough_tokens_per_s": "0", "least_card_gb": "16", "software_cost": "0", "step_gain": "1.5"}
    assert named(picked(650, **small)[0].first) == "AMD Radeon RX 9070 XT, new"
    assert named(picked(650, **small, step_part="0.3")[0].first) == "5060 Ti 16GB, new"


def test_a_used_card_must_save_enough_and_one_card_must_be_as_fast_as_several() -> None:
    assert named(picked(345, used_saves_share="0.3")[0].first) == "3060 12GB, new", "100 of 340 are saved"
    best, _ = picked(4500, "llama-3.3-70b")
    assert best.first.what == "2 × NVIDIA GeForce RTX 3090"
    assert not any(reason.template == ONE_CARD_DOES for reason in best.first.behind)
    slower, _ = picked(4500, "llama-3.3-70b", step_gain="1.5", step_cost="2")
    assert slower.first.what == "NVIDIA RTX A6000"


def test_room_to_grow_comes_before_speed_and_software_before_a_speed_that_nobody_notices() -> None:
    slow = {"comfortable_tokens_per_s": "10"}
    assert named(picked(500, "qwen3-14b", **slow)[0].first) == "AMD Radeon RX 9060 XT 16GB, new"
    assert named(picked(500, "qwen3-14b", **slow, roomy_memory_gb="0")[0].first) == "3060 12GB, used"
    assert named(picked(650, enough_memory="3")[0].first) == "5060 Ti 16GB, new"
    for software, card in (("1.2", "5060 Ti 16GB, new"), ("0", "AMD Radeon RX 9060 XT 16GB, new")):
        known = {"enough_memory": "3", "fast_enough_tokens_per_s": "30", "step_cost": "3", "software_cost": software}
        assert named(picked(650, **known)[0].first) == card


def test_the_tables_of_support_and_uses_name_what_exists() -> None:
    known = {gpu.architecture for gpu in catalogue.gpus()}
    for row in experiments():
        assert row.architectures <= known
        assert row.engines <= engines().keys()
        assert row.reason.template in GRAVITY
    for use in uses().values():
        Assumptions().with_text(use.get("assume", {}))


def from_the_program(model: str, tmp_path: Path, market: str = "us", **other: Any) -> Answer:
    stock = packaged(Assumptions(), Place(market=market), None, NOW)
    return ask(Question(model=model, **other), stock, tmp_path)


def test_a_stale_street_price_counts_as_one_that_rose_and_the_precision_that_is_most_comfortable(
    tmp_path: Path,
) -> None:
    def first(model: str, budget: int, **assumed: str) -> tuple[str, str]:
        answer = from_the_program(model, tmp_path, budget=Decimal(budget), host="own", assumed=assumed)
        assert answer.picks is not None
        return answer.picks.first.what, answer.need.precision

    assert first("llama-3.1-8b", 500) == ("NVIDIA GeForce RTX 3060 12GB", "Q4_K_M")
    step = {"step_gain": "1.15"}
    assert first("qwen3-32b", 2000, **step) == ("NVIDIA GeForce RTX 3090", "Q4_K_M")
    assert first("qwen3-32b", 2000, **step, stale_price_rise="1") == ("NVIDIA GeForce RTX 4090", "Q4_K_M")
    # No two 4090 for a tenth; 5 GB are free, so no Mac for room, nor four cards.
    for budget in ("5000", "6000", "12000"):
        whole = from_the_program("llama-3.3-70b", tmp_path, budget=Decimal(budget)).picks
        assert whole is not None
        assert whole.first.what == "2 × NVIDIA GeForce RTX 3090"
    trained = from_the_program("qwen3-14b", tmp_path, use="training").picks
    assert trained is not None
    assert trained.for_less is None, "a used 5060 Ti costs 100 more; the first is stale and counts as dearer"
    assert first("flux.2-dev", 2500) == ("NVIDIA GeForce RTX 4090", "int4"), "at int8 it takes 90 s instead of 50"


@pytest.mark.parametrize(
    ("model", "asked", "first"),
    [
        ("gpt-oss-120b", {"usage": Usage(users=10), "budget": 20000, "assumed": {"stale_price_rise": "1"}},
         "NVIDIA RTX PRO 6000 Blackwell"),
        ("llama-3.3-70b", {"usage": Usage(train="full"), "budget": 50000}, "2 × NVIDIA GeForce RTX 5090"),
        ("wan-2.2-a14b", {"budget": 2000}, "NVIDIA GeForce RTX 3090"),
        ("gpt-oss-20b", {}, "NVIDIA GeForce RTX 4060 Ti 16GB"),
        ("qwen3-8b", {"owned": ("nvidia-geforce-rtx-4060",)}, "NVIDIA GeForce RTX 4060"),
        ("gpt-oss-120b", {"usage": Usage(users=25), "budget": 45000}, "2 × NVIDIA RTX PRO 6000 Blackwell"),
        ("llama-3.3-70b", {"usage": Usage(users=50)}, "4 × NVIDIA RTX PRO 6000 Blackwell (2 × 2)"),
        ("deepseek-v3", {"usage": Usage(users=50)}, "8 × NVIDIA RTX PRO 6000 Blackwell"),
        ("llama-3.3-70b", {"precision": "int8", "usage": Usage(users=16), "min_tokens_per_s": 20},
         "4 × NVIDIA RTX PRO 6000 Blackwell"),
        ("mistral-small-3.2-24b", {"usage": Usage(users=2), "budget": 1900}, "NVIDIA GeForce RTX 3090"),
        ("llama-3.3-70b", {"use": "documents", "usage": Usage(users=4), "budget": 15000},
         "NVIDIA RTX PRO 6000 Blackwell"),
        ("qwen3-32b", {"budget": 3000}, "NVIDIA GeForce RTX 3090"),
        ("mistral-small-24b", {"use": "training"}, "NVIDIA GeForce RTX 3090"),
    ],
)  # fmt: skip
def test_an_expert_would_sign_it(model: str, asked: dict[str, Any], first: str, tmp_path: Path) -> None:
    """Not four or eight cards where one or two do it, 24 GB for clips, what most programs run on, and what is there; no
    H200 for three times the price, eight gaming cards, step to a price of long ago, or two cards for training that one does
    (QLoRA of 32B takes 26 GB by Unsloth's requirements). Of one price the fastest; no server for two people.
    """
    picks = from_the_program(model, tmp_path, **asked).picks
    assert picks is not None
    assert picks.first.what == first


@pytest.mark.parametrize(
    ("model", "asked", "precision", "offload"),
    [
        ("qwen2.5-14b", {"usage": Usage(context=16384), "budget": 250}, "Q3_K_M", "none"),
        ("llama-3.3-70b", {"usage": Usage(users=3), "budget": 2500}, "Q3_K_M", "none"),
        ("gpt-oss-120b", {"budget": 1500}, "mxfp4", "experts"),
    ],
)
def test_what_does_not_fit_well_is_answered_with_fewer_bits_or_experts_in_memory(
    model: str, asked: dict[str, Any], precision: str, offload: str, tmp_path: Path
) -> None:
    answer = from_the_program(model, tmp_path, host="own", **asked)
    assert answer.instead is not None
    assert (answer.need.precision, answer.need.offload) == (precision, offload)
    assert all(option.needed_gb <= 0.95 * option.available_gb for option in answer.ranking)


def test_what_a_maker_asks_is_held_against_the_street_of_another_market(tmp_path: Path) -> None:
    answer = from_the_program("qwen3-32b", tmp_path, market="kr", budget=Decimal(3000))
    assert answer.picks is not None
    assert answer.picks.first.what == "NVIDIA GeForce RTX 5090"
    assert (
        "On the street of market us one cost 5,258.00 USD in 2026-10 (GPU Poet): expect to pay more than its maker asks."
        in map(said, sentences(answer))
    )


def test_what_is_cheaper_is_that_against_which_least_speaks(tmp_path: Path) -> None:
    """Not the cheapest of all, which writes a token a second for 30 people."""
    answer = from_the_program("llama-3.3-70b", tmp_path, usage=Usage(users=30))
    found = headline(answer)
    assert found is not None
    assert found.cheaper is not None
    assert answer.picks is not None
    least = min(pick.outlay_usd or 0 for pick in answer.picks.all())
    below = [one for one in answer.ranking if one.way == "buy" and one.outlay_usd and one.outlay_usd < least]
    assert found.cheaper in below
    assert len(found.cheaper.behind) == min(len(one.behind) for one in below)
    cheapest = min(below, key=lambda one: one.outlay_usd or 0)
    assert len(cheapest.behind) > len(found.cheaper.behind), "else this shows nothing"


def test_more_speech_than_one_machine_writes_down_says_how_much_it_does(tmp_path: Path) -> None:
    answer = from_the_program("whisper-large-v3", tmp_path, speech_hours_per_day=200.0, budget=Decimal(3000))
    # Where no rental and no interface is named, it is said, in a refusal too.
    silent = ["No rental price is known here.", "No price of a hosted API is known."]
    assert [said(line) for line in why_nothing(answer)][-2:] == silent
    told = next(line for line in answer.remedies if "hours" in line.values)
    less = from_the_program(
        "whisper-large-v3", tmp_path, speech_hours_per_day=told.values["hours"], budget=Decimal(3000)
    )
    assert less.ranking
    assert set(silent) < set(map(said, sentences(less)))


def test_a_budget_without_comfort_says_from_where_on_there_is(tmp_path: Path) -> None:
    answer = from_the_program("stable-diffusion-xl", tmp_path, budget=Decimal(800))
    assert [said(line) for line in sentences(answer)][1].startswith(
        "The cheapest comfortable one is over the budget: NVIDIA GeForce RTX 3060 12GB (used) at the street price of "
        "2026-06, "
    )
    few: dict[str, Any] = {"usage": Usage(users=3), "host": "own"}
    for other in ({}, {"host": None}):
        asked = from_the_program("llama-3.3-70b", tmp_path, budget=Decimal(5000), **few | other)
        least = asked.comfortable[""].outlay_usd or Decimal(0)
        for budget, is_comfortable in ((least, True), (least - 1, False)):
            then = from_the_program("llama-3.3-70b", tmp_path, budget=budget, **few | other).picks
            assert then is not None
            assert (not then.first.behind) == is_comfortable
    asked = from_the_program("llama-3.3-70b", tmp_path, budget=Decimal(5000), **few)
    for argument, more in (("--slots 4", {"slots": 4}), ("--precision Q3_K_M", {"precision": "Q3_K_M"})):
        then = from_the_program("llama-3.3-70b", tmp_path, budget=Decimal(5000), **few | more).picks
        assert then is not None
        assert (asked.comfortable[argument].what, then.first.behind) == (then.first.what, ())
        assert any(said(line).startswith(f"Comfortable with {argument}: ") for line in sentences(asked))
    trained = from_the_program("llama-3.1-8b", tmp_path, usage=Usage(train="full"), budget=Decimal(20000))
    assert trained.ranking
    assert not any("P40" in option.what for option in trained.ranking), "it does not multiply bf16"


def test_a_use_sets_what_the_question_leaves_open(tmp_path: Path) -> None:
    agent = from_the_program("qwen3-32b", tmp_path, use="agent")
    assert (agent.need.context_tokens, agent.assumptions.comfortable_tokens_per_s) == (32768, 30)
    shorter = from_the_program("qwen3-32b", tmp_path, use="agent", usage=Usage(context=16384))
    assert shorter.need.context_tokens == 16384
    assert from_the_program("qwen3-32b", tmp_path, use="training").need.tuning is not None
    assert from_the_program("llama-3.1-8b", tmp_path, use="batch").need.users == 8
    assert from_the_program("llama-3.1-8b", tmp_path).need.context_tokens == 8192


@pytest.mark.parametrize("model", ["qwen3-embedding-8b", "xlm-roberta-large"])
def test_what_reads_only_is_judged_by_how_fast_it_reads(model: str, tmp_path: Path) -> None:
    answer = from_the_program(model, tmp_path, usage=Usage(users=20))
    assert answer.picks is not None
    assert answer.picks.first.gpu_count == 1, "texts are read one after another, and no cache is kept of any"
    speed, read = answer.picks.first.speed, answer.picks.first.prediction
    assert speed is not None and read is not None  # noqa: PT018
    assert (speed.expected, read.decode.expected) == (read.prefill.expected, None)
    assert any(said(line).startswith("Reads ") for line in sentences(answer))
    strict = {"comfortable_first_token_s": "0.001"}
    assert [why.template for why in from_the_program(model, tmp_path, assumed=strict).picks.first.behind] == [
        SLOW_READER
    ]
    with pytest.raises(ImpossibleQuestion, match="makes vectors"):
        from_the_program(model, tmp_path, use="chat")


@pytest.mark.parametrize(("model", "least"), [("qwen3-14b", 250), ("qwen3-32b", 900)])
def test_more_money_never_picks_something_cheaper(model: str, least: int) -> None:
    paid = [picked(budget, model)[0].first.outlay_usd or 0 for budget in range(least, 3500, 300)]
    assert paid == sorted(paid)
