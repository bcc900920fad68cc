"""Who shows ten options is told the same of them, and of how many there are, as who shows all."""

from __future__ import annotations

from decimal import Decimal

import pytest

from gpuledger.transform.assumptions import Assumptions
from gpuledger.transform.buying.need import Usage
from gpuledger.transform.buying.options import Limits, Market, first_options
from gpuledger.transform.identity.catalogue import by_id
from gpuledger.transform.speed.cards import memory_kind
from tests.support import buying
from tests.support.buying import need, options

SERVED = Usage(users=32, prompt=1024, answer=256)


def market() -> Market:
    """Every seventh card that can be bought, new and used, many of one price, some of unknown power; and machines."""
    known = by_id()
    sold = [one for one in known.values() if memory_kind(one) != "shared" and (one.memory_gb or 0) >= 8][::7]
    machines = [one for one in known.values() if memory_kind(one) == "shared" and (one.memory_gb or 0) >= 16][::3]
    cards = [
        buying.card(gpu, 500 + number % 9 * 250, condition=condition, tdp_w=None if number % 11 == 5 else 300)
        for number, gpu in enumerate(sold)
        for condition in ("new", "used")
    ]
    return buying.market(cards=cards, gpus=(*sold, *machines), machines=machines)


@pytest.mark.parametrize(
    ("model_id", "precision", "asked", "limits"),
    [
        ("llama-2-13b", "int4", Usage(), Limits()),
        ("llama-3.1-70b", "int4", Usage(), Limits(budget=Decimal(6000), country="DE")),
        ("llama-3.1-8b", "fp16", SERVED, Limits()),
        ("llama-3.1-8b", "fp16", SERVED, Limits(min_tokens_per_s=20)),
        ("llama-3.1-70b", "int4", Usage(offload="layers"), Limits(min_tokens_per_s=2)),
        ("llama-3.1-70b", "int4", Usage(train="qlora"), Limits()),
        ("bert-base", "fp16", Usage(context=512), Limits()),
    ],
)
def test_the_first_options_are_those_of_all(model_id: str, precision: str, asked: Usage, limits: Limits) -> None:
    wanted, offered = need(model_id, precision, asked), market()
    every = options(wanted, offered, limits)
    answers = sum(not one.against for one in every)
    assert 20 < answers < len(every), "or the case shows nothing"
    for count in (1, 3, 10, answers, answers + 1):
        found = first_options(wanted, limits, offered, Assumptions(), count)
        first, left = list(found.options), every[len(found.options) :]
        assert first == every[: len(first)]
        assert sum(not one.against for one in first) >= min(count, answers)
        assert found.more == sum(not one.against for one in left)
        assert list(found.unpriced) == [one for one in left if not one.against and one.price_usd is None]
        if count > answers:
            assert left == [], "what would give an answer is asked of all"


def test_not_every_option_is_reckoned_for_the_first() -> None:
    wanted, offered = need("llama-2-13b", "int4", Usage()), market()
    every = options(wanted, offered)
    assert len(first_options(wanted, Limits(), offered, Assumptions(), 3).options) < len(every) / 4


def test_a_server_for_several_is_offered_only_where_it_divides_the_heads() -> None:
    wanted = need("llama-3.1-70b", "int8", SERVED)
    every = options(wanted, market())
    refused = [one for one in every if any(reason.code == "buy.heads_not_divided" for reason in one.against)]
    assert {one.gpu_count // one.copies for one in refused} == {3, 6, 12}, "of 8 key-value heads"
    for one in every:
        if not one.against and one.gpu_count // one.copies in (3, 6, 12):
            raise AssertionError(one.what)
    alone = options(need("llama-3.1-70b", "int8"), market())
    assert any(one.gpu_count == 3 and not one.against for one in alone), "one user's program shares the layers"
