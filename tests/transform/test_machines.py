"""Machines whose memory processor and graphics share, in `gpuledger buy`: options like others, and no price is guessed."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

import duckdb

from gpuledger.message import Message
from gpuledger.transform.assumptions import Assumptions
from gpuledger.transform.buying import makers
from gpuledger.transform.buying.answer import Question, ask
from gpuledger.transform.buying.headline import sentences
from gpuledger.transform.buying.hosts import host_for, supply_w
from gpuledger.transform.buying.market import CONDITIONS, Node, OfferFilter, assumptions
from gpuledger.transform.buying.options import Limits, Market, Option
from gpuledger.transform.buying.stock import Packaged, Place, packaged, warehouse, with_older
from gpuledger.transform.identity.catalogue import by_id, rows_of
from gpuledger.warehouse.paths import DataDir
from tests.nights import Night
from tests.support.buying import SEEN, card, market, need, options

SPARK, STUDIO, SMALL = (by_id()[name] for name in ("nvidia-gb10", "apple-m3-ultra-96gb", "apple-m4-16gb"))


def of(offered: Market, limits: Limits | None = None) -> list[Option]:
    return options(need("gpt-oss-120b", "mxfp4"), offered, limits)


def test_without_a_price_it_is_an_option_whose_cost_is_not_known() -> None:
    small, spark = sorted(of(market(machines=(SPARK, SMALL))), key=lambda option: option.available_gb)
    assert spark.against == ()
    assert (spark.price_usd, spark.outlay_usd, spark.total_usd, spark.evidence) == (None, None, None, None)
    assert spark.host.name == "the machine itself"
    assert "3,999 USD when it came out" in str(spark.notes[0])
    assert "needs 63.1 GB and has" in str(small.against[0])


def test_a_budget_asks_for_a_price() -> None:
    (option,) = of(market(machines=(SPARK,)), Limits(budget=Decimal(100_000)))
    assert option.against == (Message("its price is not known, so whether the budget buys it is not"),)


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
    assert studio.what == "Mac Studio, M3 Ultra, 96 GB"


# ── without a warehouse ───────────────────────────────────────────────────────────────────────────────────────────────


def empty_folder() -> Packaged:
    return packaged(Assumptions(), Place(market="us"), None, datetime(2026, 11, 27, tzinfo=UTC))


def test_every_card_and_machine_with_a_price_is_an_option_or_left_out_with_the_reason() -> None:
    wanted = need("qwen2.5-0.5b", "int4")
    offered = options(wanted, empty_folder().offered(wanted, OfferFilter(CONDITIONS["any"])))
    priced = {(option.gpu_id, option.condition) for option in offered if option.price_usd is not None}
    assert priced >= {
        (row["gpu_id"], row["condition"]) for row in rows_of("street_prices.csv") if row["market"] == "us"
    }
    offered = options(wanted, empty_folder().offered(wanted, OfferFilter()))
    found = {option.gpu_id: option for option in reversed(offered)}
    for gpu in (gpu for gpu in by_id().values() if gpu.msrp_usd):
        option = found.get(gpu.gpu_id)
        if option is not None and option.price_usd is not None:
            assert option.evidence.price_since.date() >= gpu.released_on, gpu.gpu_id
            continue
        reason = makers.left_out()[gpu.gpu_id] if option is None else option.notes[0]
        assert reason.template.startswith("no longer sold since {day}"), gpu.gpu_id
        assert option is not None or not gpu.memory_bandwidth_gb_s or gpu.released_on.year < 2021, gpu.gpu_id


def test_a_laptop_is_a_machine_that_takes_no_card(tmp_path: Path) -> None:
    mine = ("nvidia-geforce-rtx-4060-mobile",)
    small, large = (
        ask(Question(model=model, owned=mine), empty_folder(), tmp_path) for model in ("qwen3-4b", "qwen3-32b")
    )
    assert small.picks is not None and large.picks is not None  # noqa: PT018
    assert (small.picks.first.condition, small.picks.first.host.name) == ("owned", "the machine itself")
    assert large.picks.first.outlay_usd - large.picks.first.price_usd >= 600, (
        "a card goes into a machine that is bought"
    )
    assert {option.gpu_count for option in large.options if option.gpu_id == mine[0]} == {1}


def test_what_is_no_longer_made_is_never_offered_at_its_launch_price() -> None:
    asked = makers.asked()
    for old in ("intel-arc-a380", "nvidia-geforce-rtx-3050-8gb", "nvidia-geforce-rtx-4090", "apple-m4-16gb"):
        assert old not in asked
    assert str(makers.left_out()["nvidia-geforce-rtx-4090"]).startswith(
        "no longer sold since 2025-01-30, when NVIDIA GeForce RTX 5090 came"
    )
    for row in rows_of("sold_until.csv"):
        card, successor = by_id()[row["gpu_id"]], by_id()[row["successor"]]
        assert successor.memory_gb
        assert card.released_on is None or str(card.released_on) <= row["sold_until"], row
        assert successor.released_on is None or str(successor.released_on) <= row["sold_until"], row
    # Whoever adds a generation of cards says which of the last one it follows.
    newest = max(one.day.year for one in asked.values())
    assert all(newest - one.gpu.released_on.year <= 4 for one in asked.values() if one.gpu.released_on)


def test_a_price_that_its_maker_changed_has_its_own_day() -> None:
    wanted = need("gpt-oss-120b", "mxfp4")
    found = {
        one.gpu_id: one for one in options(wanted, empty_folder().offered(wanted, OfferFilter())) if not one.against
    }
    spark = found[SPARK.gpu_id]
    assert (spark.price_usd, spark.evidence.mark) == (4699, "list price")
    assert spark.evidence.price_since.date() == date(2026, 2, 23)
    assert makers.asked()["amd-ryzen-ai-max-plus-395-128gb"].usd == 3449
    assert makers.asked()["nvidia-rtx-pro-6000-blackwell"].usd == 8565
    # A machine of unknown power is bought for its price; only what it costs in all is not known.
    assert (found["apple-m5-max-128gb"].outlay_usd, found["apple-m5-max-128gb"].total_usd) == (5099, None)


# ── street prices ─────────────────────────────────────────────────────────────────────────────────────────────────────


def marks(market: str, today: date) -> dict[tuple[str, str], str]:
    """The mark of each price that is known in a market on a day, by card and condition."""
    return {(one.gpu.gpu_id, one.condition): one.mark(today) for one in makers.known(market, today)}


def test_street_prices_have_source_and_day_and_come_before_old_launch_prices() -> None:
    rows = list(rows_of("street_prices.csv"))
    assert len({row["gpu_id"] for row in rows}) >= 40
    assert len({(row["gpu_id"], row["condition"], row["market"]) for row in rows}) == len(rows)
    for row in rows:
        assert row["source"], row
        assert row["condition"] in ("new", "used"), row
        assert date.fromisoformat(row["day"]) >= by_id()[row["gpu_id"]].released_on, row
    known = marks("us", date(2026, 11, 27))
    assert known["nvidia-geforce-rtx-5090", "new"] == known["nvidia-geforce-rtx-3090", "used"] == "street price"
    assert known["nvidia-geforce-rtx-4090", "used"] == "stale, street price"
    assert ("nvidia-geforce-rtx-4090", "new") not in known
    # What its maker asked this year says more than what one asked years ago, where the street is known.
    wanted = need("llama-3.1-8b", "Q4_K_M")
    cards = {card.gpu_id: card for card in empty_folder().offered(wanted, OfferFilter()).cards}
    names = ("amd-radeon-rx-9070", "amd-radeon-rx-9070-xt", "apple-m6-16gb")
    said = [(cards[name].evidence.is_behind, cards[name].evidence.may_have_risen) for name in names]
    assert said == [(True, False), (False, True), (False, False)]


def test_what_shops_lack_comes_behind_where_they_have_a_market_and_not_where_they_have_a_card_or_two(
    nights: dict[int, Night],
) -> None:
    """Two quotes in a new folder put a mini-PC of half the price behind three used cards."""
    with duckdb.connect(str(DataDir(nights[1].data).base), read_only=True) as con:
        con.execute("SET TimeZone = 'UTC'")
        stock = warehouse(con, assumptions(con), Place(market="us"), None, datetime.now(UTC))
        stock.now = datetime(
            2026, 11, 27, tzinfo=UTC
        )  # of a sample it is the sample's day, when no street price is known
        cards = stock.offered(need("llama-3.1-8b", "Q4_K_M"), OfferFilter(CONDITIONS["any"])).cards
    # The sample's shops have a score of new cards, and a used one or two.
    for condition, is_behind in (("new", True), ("used", False)):
        brought = [
            card.evidence for card in cards if card.condition == condition and card.evidence.seen_at.year == 2026
        ]
        assert {evidence.is_behind for evidence in brought if "street price" in evidence.mark} == {is_behind}


def test_an_unconfirmed_price_gives_way_to_a_later_one_and_a_quote_of_few_pieces_to_what_has_more() -> None:
    old, few = by_id()["nvidia-geforce-rtx-3090"], by_id()["nvidia-rtx-6000-ada-generation"]
    street = SEEN._replace(seen_at=datetime(2026, 10, 1, tzinfo=UTC), mark="street price")
    stale = SEEN._replace(seen_at=datetime(2023, 11, 17, tzinfo=UTC), mark="stale, invented")
    quote = SEEN._replace(source="quotes", vendor="Northgate", offered=1)
    offers = [card(old, 750, evidence=stale), card(few, 4800, evidence=quote)]
    now = datetime(2026, 11, 28, tzinfo=UTC)
    cards = [*with_older(offers, (), [card(old, 1207, evidence=street), card(few, 6000, evidence=street)], now)]
    assert [one.price_usd for one in cards] == [4800, 1207, 6000]
    asked = need("llama-3.3-70b", "Q4_K_M")
    for offered, prices in ((cards, {1: 4800, 2: 12_000}), (cards[:1], {1: 4800})):
        ways = [one for one in options(asked, market(cards=offered, gpus=(old, few))) if one.gpu_id == few.gpu_id]
        assert {one.gpu_count: one.price_usd for one in ways if not one.against and one.gpu_count < 3} == prices
        assert [str(why) for one in ways if one.gpu_count == 2 and one.against for why in one.against] == [
            "Northgate offers 1 at this price, and this takes 2"
        ]
    assert cards == [*with_older(cards, (), [card(old, 800, evidence=stale)], now)], (
        "an older price replaces no newer one"
    )


def test_a_street_price_counts_in_its_market_and_ages() -> None:
    korean = marks("kr", date(2026, 11, 27))
    assert {condition for _, condition in korean} == {"new"}
    assert set(korean.values()) == {"launch price", "list price"}
    euros = {one.gpu.gpu_id: one for one in makers.known("eu", date(2026, 11, 27)) if one.kind == makers.STREET_PRICE}
    assert euros["nvidia-geforce-rtx-5090"].usd > 2800, "a price in euros is worth more dollars"
    anywhere = {(one.gpu.gpu_id, one.condition): one for one in makers.known("all", date(2026, 11, 27))}
    assert anywhere["nvidia-geforce-rtx-5090", "new"].usd == 5258, "a stale price of another market is no lower one"
    later = marks("us", date(2027, 10, 1))
    assert {mark for (_, condition), mark in later.items() if condition == "used"} == {"stale, street price"}
    ended = ("nvidia-geforce-rtx-3060-12gb", "new")
    assert ended in marks("us", date(2026, 11, 27))
    assert ended not in later, "a year later it counts as its launch price does, and it is no longer made"


def test_the_machine_around_the_cards_is_of_the_class_that_they_need() -> None:
    assert supply_w(1, 450, Decimal(80)) == 850, "what the maker of an RTX 4090 asks for"
    card, assumptions = by_id()["nvidia-geforce-rtx-3090"], Assumptions()
    one, two, four = (host_for(card, boards, card.tdp_w) for boards in (1, 2, 4))
    assert [host.name for host in (one, two, four)] == ["desktop", "two-card desktop", "workstation"]
    # Guides of 2026 list the rest of a PC for 430 to 780 USD, and a used RTX 3090 in one for 1,500 USD.
    assert one.low_usd <= one.full_usd(assumptions) == 600 <= one.high_usd
    assert two.full_usd(assumptions) == 900
    assert "2026" in one.source


def test_what_is_said_of_a_first_pick_without_a_whole_cost_is_true(tmp_path: Path) -> None:
    one_card = {"least_card_gb_of_several": "32"}
    answer = ask(Question(model="llama-3.3-70b", condition="new", assumed=one_card), empty_folder(), tmp_path)
    said = [str(one) for one in sentences(answer)]
    assert said[0].startswith("Buy Mac Studio, M5 Ultra, 96 GB at the launch price of 2026-08-25")
    assert not any(" in all, at" in one for one in said), "nobody knows its power"
    assert any(one.startswith("Street prices are what others published in 2026-03–2026-10;") for one in said)
