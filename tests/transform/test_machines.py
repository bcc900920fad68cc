"""Machines whose memory processor and graphics share, in `gpuledger buy`: options like others, and no price is guessed."""

from __future__ import annotations

from decimal import Decimal

from gpuledger.extract.message import Message
from gpuledger.transform.buying.market import Node
from gpuledger.transform.buying.options import Limits, Market, Option
from gpuledger.transform.identity.catalogue import by_id
from tests.support.buying import SEEN, market, need, options

SPARK, STUDIO, SMALL = (by_id()[name] for name in ("nvidia-gb10", "apple-m3-ultra-96gb", "apple-m4-16gb"))


def of(offered: Market, limits: Limits | None = None) -> list[Option]:
    return options(need("gpt-oss-120b", "mxfp4"), offered, limits)


def test_without_a_price_it_is_an_option_whose_cost_is_not_known() -> None:
    small, spark = sorted(of(market(machines=(SPARK, SMALL))), key=lambda option: option.available_gb)
    assert spark.against == ()
    assert (spark.price_usd, spark.outlay_usd, spark.total_usd, spark.evidence) == (None, None, None, None)
    assert spark.host.name == "the machine itself"
    assert "3,999 USD when it came out" in str(spark.notes[0])
    assert "needs 62.9 GB and has" in str(small.against[0])


def test_a_budget_asks_for_a_price() -> None:
    (option,) = of(market(machines=(SPARK,)), Limits(budget=Decimal(100_000)))
    assert option.against == (Message("buy.price_unknown_for_budget"),)


def test_an_offer_of_it_is_a_row_like_any_other() -> None:
    node = Node(
        kind="workstation", title="NVIDIA DGX Spark 4TB", gpu_id=SPARK.gpu_id, gpu=SPARK.display_name, gpus=1, contents=None,
        condition="new", price_usd=Decimal(3999), memory_gb=SPARK.memory_gb, bandwidth_gb_s=SPARK.memory_bandwidth_gb_s,
        tdp_w=SPARK.tdp_w, evidence=SEEN,
    )  # fmt: skip
    spark, studio = of(market(machines=(STUDIO,), nodes=(node,), gpus=[SPARK]))
    assert (spark.against, studio.against) == ((), ())
    assert spark.own.host == 0, "a machine is bought with all that is in it"
    # 8 h a day for 3 years, half of them at 80% of 140 W and half at 8%, through a supply of 90%, and nothing beside it.
    kwh = Decimal(8 * 365 * 3) / 2 * (Decimal(140) * (Decimal("0.8") + Decimal("0.08")) / Decimal("0.9")) / 1000
    assert round(spark.own.electricity, 6) == round(kwh * Decimal("0.16"), 6)
    assert studio.total_usd is None
    assert studio.what == "Apple M3 Ultra 96GB"
