"""Machines whose memory processor and graphics share, in `gpuledger buy`: options like others, and no price is guessed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal

from gpuledger.extract.message import Message
from gpuledger.transform.assumptions import Assumptions
from gpuledger.transform.buying.market import Evidence, Node
from gpuledger.transform.buying.need import Need, Usage, need_of
from gpuledger.transform.buying.options import Limits, Market, Option, first_options
from gpuledger.transform.identity.catalogue import by_id
from gpuledger.transform.sizing import catalogue

SPARK, STUDIO, SMALL = (by_id()[name] for name in ("nvidia-gb10", "apple-m3-ultra-96gb", "apple-m4-16gb"))
SEEN = datetime(2026, 1, 1, tzinfo=UTC)


def need(model_id: str = "gpt-oss-120b", precision: str = "mxfp4") -> Need:
    return need_of(model_id, catalogue.architecture(model_id), precision, Usage(), Assumptions())


def of(market: Market, limits: Limits | None = None) -> Sequence[Option]:
    return list(first_options(need(), limits or Limits(), market, Assumptions(), 0).options)


def unpriced(*gpus: object) -> Market:
    return Market(cards=(), instances=(), measured={}, chips={}, machines=gpus)  # type: ignore[arg-type]


def test_without_a_price_it_is_an_option_whose_cost_is_not_known() -> None:
    small, spark = sorted(of(unpriced(SPARK, SMALL)), key=lambda option: option.available_gb)
    assert spark.against == ()
    assert (spark.price_usd, spark.outlay_usd, spark.total_usd, spark.evidence) == (None, None, None, None)
    assert spark.host.name == "the machine itself"
    assert "3,999 USD when it came out" in str(spark.notes[0])
    assert "needs 62.9 GB and has" in str(small.against[0])


def test_a_budget_asks_for_a_price() -> None:
    (option,) = of(unpriced(SPARK), Limits(budget=Decimal(100_000)))
    assert option.against == (Message("buy.price_unknown_for_budget"),)


def test_an_offer_of_it_is_a_row_like_any_other() -> None:
    node = Node(
        kind="workstation", title="NVIDIA DGX Spark 4TB", gpu_id=SPARK.gpu_id, gpu=SPARK.display_name, gpus=1, contents=None,
        condition="new", price_usd=Decimal(3999), memory_gb=SPARK.memory_gb, bandwidth_gb_s=SPARK.memory_bandwidth_gb_s,
        tdp_w=SPARK.tdp_w,
        evidence=Evidence(source="quotes", price_since=SEEN, seen_at=SEEN, url=None, snapshot_sha256="0" * 64, market="us"),
    )  # fmt: skip
    market = replace(unpriced(STUDIO), nodes=(node,), chips={SPARK.gpu_id: SPARK})
    spark, studio = of(market)
    assert (spark.against, studio.against) == ((), ())
    assert spark.own.host == 0, "a machine is bought with all that is in it"
    # 8 h a day for 3 years, half of them at 80% of 140 W and half at 8%, through a supply of 90%, and nothing beside it.
    kwh = Decimal(8 * 365 * 3) / 2 * (Decimal(140) * (Decimal("0.8") + Decimal("0.08")) / Decimal("0.9")) / 1000
    assert round(spark.own.electricity, 6) == round(kwh * Decimal("0.16"), 6)
    assert studio.total_usd is None
    assert studio.what == "Apple M3 Ultra 96GB"
