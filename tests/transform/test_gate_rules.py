"""The rules of the gate, at their bounds: what is just believed, what is just held, and when it is let go."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from gpuledger.items import OpenModel
from gpuledger.transform.gate import Bounds
from gpuledger.transform.gate.good_nights import Acceptance, GoodNight, Released, rows_missed
from gpuledger.transform.gate.rules import (
    Compared,
    Held,
    Sighting,
    Tally,
    agrees,
    has_moved,
    hold,
    is_explained,
    is_placeholder,
    is_shuffled,
    suspected,
)
from gpuledger.warehouse.load.batch import Batch, Row

NOW = datetime(2024, 3, 9, 3, tzinfo=UTC)
YESTERDAY = NOW - timedelta(days=1)
BOUNDS = Bounds()
QUIET = Tally(comparable=0, moved=0, known=0, lost=0)


@dataclass
class Known:
    """What is known beside the night's own rows."""

    asked: dict[str, tuple[Decimal, Decimal]] = field(default_factory=dict)
    others: dict[str, list[Decimal]] = field(default_factory=dict)
    seen: dict[str, Sighting] = field(default_factory=dict)


def judge(
    tally: Tally, rows: Sequence[Compared], known: Known, released: Sequence[tuple[str, Decimal]] = ()
) -> list[Held]:
    """The rules in their order, as `tables.judge` asks them."""
    suspects = [
        (one, rule)
        for one, rule in suspected(rows, tally, BOUNDS)
        if rule != "move"
        or not is_explained(one, known.asked.get(one.listing_id), known.others.get(one.listing_id, ()), BOUNDS)
    ]
    return hold(suspects, known.seen, released, (NOW, tally), BOUNDS)


def row(
    price: str | None, reference: str | None = "100", *, currency: str | None = "USD", was: str | None = "USD",
    had_price: bool = True, is_steady: bool = True, label: str = "", listing_id: str = "shop:a",
) -> Compared:  # fmt: skip
    amount, old = (None if text is None else Decimal(text) for text in (price, reference))
    return Compared(
        listing_id, amount, currency, old, was, had_price, "sha", is_steady=is_steady, label=label
    )  # fmt: skip


def holds(
    one: Compared, tally: Tally = QUIET, known: Known | None = None, released: Sequence[tuple[str, Decimal]] = ()
) -> str | None:
    held = judge(tally, [one], known or Known(), released)
    return held[0].hold if held else None


def the_held(one: Compared, tally: Tally = QUIET, known: Known | None = None) -> Held:
    (held,) = judge(tally, [one], known or Known())
    return held


def crowd(comparable: int, moved: int) -> Tally:
    return Tally(comparable, moved, known=0, lost=0)


def lost(known: int, lost: int) -> Tally:
    return Tally(comparable=0, moved=0, known=known, lost=lost)


def seen(price: str | None, currency: str | None = "USD", at: datetime = YESTERDAY, runs: int = 1) -> Known:
    return Known(seen={"shop:a": Sighting(None if price is None else Decimal(price), currency, at, runs)})


def peers(*prices: str) -> Known:
    return Known(others={"shop:a": [Decimal(one) for one in prices]})


ASKED = Known(asked={"shop:a": (Decimal(200), Decimal(300))})
#: What would excuse any move of a price.
EXCUSED = Known(others={"shop:a": [Decimal(9999)] * 3}, asked={"shop:a": (Decimal(1), Decimal(99999))})


@pytest.mark.parametrize(
    ("one", "tally", "known", "hold"),
    [
        # A single move is held from the bound on.
        (row("167"), QUIET, Known(), None), (row("168"), QUIET, Known(), "move"), (row("59.9"), QUIET, Known(), None),
        (row("59.8"), QUIET, Known(), "move"), (row("100"), QUIET, Known(), None),
        # A price without a reference in its currency is believed, and another currency held at the same amount.
        (row("1000", None, was=None), QUIET, Known(), None), (row("1000", "0"), QUIET, Known(), None),
        (row("1000", currency=None), QUIET, Known(), None), (row("100", currency="EUR"), QUIET, Known(), "currency"),
        # A smaller move is held where more than a fifth of ten or more make it; what wanders by nature is of no crowd.
        (row("130"), crowd(10, 3), Known(), "crowd"), (row("130"), crowd(10, 2), Known(), None),
        (row("130"), crowd(9, 9), Known(), None), (row("130"), crowd(15, 3), Known(), None),
        (row("130"), crowd(15, 4), Known(), "crowd"), (row("110"), crowd(10, 3), Known(), None),
        (row("130", is_steady=False), crowd(10, 3), Known(), None), (row("200"), crowd(10, 3), Known(), "move"),
        # A lost price is doubted where more than half of ten or more lost theirs.
        (row(None), lost(10, 6), Known(), "lost"), (row(None), lost(10, 5), Known(), None),
        (row(None), lost(9, 9), Known(), None), (row(None), lost(12, 7), Known(), "lost"),
        (row(None, had_price=False), lost(10, 6), Known(), None),
        # A move is believed when an earlier run saw the same price; a rate that wanders is the same within a crowd's move.
        (row("1000"), QUIET, seen("1000"), None), (row("1000"), QUIET, seen("1000", at=NOW), "move"),
        (row("1000"), QUIET, seen("1049"), None), (row("1000"), QUIET, seen("1060"), "move"),
        (row("1000"), QUIET, seen("940"), "move"), (row("1000"), QUIET, seen("1000", "EUR"), "move"),
        (row("1000"), QUIET, seen(None, None), "move"), (row("1000"), QUIET, seen("1150"), "move"),
        (row("1000", is_steady=False), QUIET, seen("1150"), None),
        # A price that was asked before is no slip, nor one that comes home to three others.
        (row("200"), QUIET, ASKED, None), (row("190"), QUIET, ASKED, None), (row("189"), QUIET, ASKED, "move"),
        (row("315"), QUIET, ASKED, None), (row("316"), QUIET, ASKED, "move"),
        (row("1000"), QUIET, peers("1000", "1000", "1000"), None), (row("1000"), QUIET, peers("1000", "1000"), "move"),
        (row("1000"), QUIET, peers("1", "1000", "5000"), None), (row("1000"), QUIET, peers("1", "2", "1000"), "move"),
        (row("1000"), QUIET, peers("600", "600", "600"), None), (row("1000"), QUIET, peers("590", "590", "590"), "move"),
        # Neither excuses anything but a move.
        (row("9999"), QUIET, EXCUSED, "placeholder"), (row("100", currency="EUR"), QUIET, EXCUSED, "currency"),
    ],
)  # fmt: skip
def test_what_is_held(one: Compared, tally: Tally, known: Known, hold: str | None) -> None:
    assert holds(one, tally, known) == hold


@pytest.mark.parametrize(
    ("price", "known", "hold", "times", "since"),
    [
        ("1000", Known(), "move", 1, NOW),
        ("9999", seen("9999", runs=4), "placeholder", 5, YESTERDAY),
        # Another price than the held one begins anew.
        ("1000", seen("2000", runs=3), "move", 1, NOW),
    ],
)
def test_the_nights_of_a_held_price_are_counted(
    price: str, known: Known, hold: str, times: int, since: datetime
) -> None:
    held = the_held(row(price), known=known)
    assert (held.hold, held.times_held, held.held_at) == (hold, times, since)


def test_the_factor_is_that_of_two_prices_in_one_currency() -> None:
    assert row("150").factor == 1.5
    assert row("150", currency="EUR").factor is None
    assert row(None).factor is None
    assert row("150", None).factor is None


def test_a_crowd_moves_by_more_than_a_fifth() -> None:
    assert [has_moved(factor, BOUNDS) for factor in (1.21, 1.19, 0.79, 0.81)] == [True, False, True, False]
    assert not has_moved(1.2, Bounds(crowd_move=abs(1.2 - 1)))


@pytest.mark.parametrize(
    ("price", "currency", "expected"),
    [
        ("0", "USD", True), ("0", "KRW", True), ("9999", "USD", True), ("9999.99", "EUR", True), ("999", "USD", False),
        ("11111", None, True), ("1111", "USD", False), ("99990", "USD", False), ("99990", "KRW", False),
        ("9999", "CZK", False), ("99999", "INR", False), ("999999", "CZK", True),
        ("999990", "JPY", False), ("9999990", "KRW", True), ("99999000", "JPY", True), ("11111111", "KRW", True),
        ("11111110", "KRW", False), ("9999999", "KRW", True), ("1111111", "KRW", False), ("12345678", "KRW", False),
    ],
)  # fmt: skip
def test_amounts_that_stand_for_no_price(price: str, currency: str | None, expected: bool) -> None:
    assert is_placeholder(Decimal(price), currency) is expected
    one = row(price, price, currency=currency, was=currency)
    assert holds(one) == ("placeholder" if expected else None)


@pytest.mark.parametrize(
    ("price", "hold"), [("1000", None), ("1049", None), ("951", None), ("1060", "move"), ("940", "move")]
)
def test_a_person_lets_one_listing_pass_near_one_price(price: str, hold: str | None) -> None:
    assert holds(row(price), released=[("shop:a", Decimal(5)), ("shop:a", Decimal(1000))]) == hold
    assert holds(row(price), released=[("shop:b", Decimal(price))]) == "move"


def test_what_is_let_pass_hides_none_of_the_others() -> None:
    other = row("1000")._replace(listing_id="shop:b")
    held = judge(QUIET, [row("1000"), other], Known(), [("shop:a", Decimal(1000))])
    assert [one.compared.listing_id for one in held] == ["shop:b"]
    held = judge(QUIET, [row("1000"), other], seen("1000"))
    assert [one.compared.listing_id for one in held] == ["shop:b"]


def test_the_reason_says_what_was_seen() -> None:
    assert the_held(row("9999")).reason == "9999 USD stands for no price"
    assert the_held(row("100", currency="EUR")).reason == "currency was USD and is EUR"
    assert the_held(row("1000")).reason == "100 to 1000 USD (+900%) at once"
    assert the_held(row("50", label="cloud a100")).reason == "cloud a100: 100 to 50 USD (-50%) at once"
    assert the_held(row("130"), crowd(10, 5)).reason == "100 to 130 USD (+30%) at once, as on many others"
    assert the_held(row(None), lost(10, 7)).reason == "the price is gone, as on 7 of 10 listings at once"


def batch(rows: int, is_whole: bool = False) -> Batch:
    return Batch("shop", NOW, [Row(OpenModel(repository="any"), "")] * rows, is_whole=is_whole)


def good(rows: int, is_complete: bool = True) -> GoodNight:
    return GoodNight(NOW, rows, is_complete)


@pytest.mark.parametrize(
    ("rows", "past", "expected"),
    [
        (5, [], False),
        (24, [good(30)], False),
        (23, [good(30)], True),
        (31, [good(30)], False),
        # The middle of the nights before, and not their mean, their last or their least.
        (60, [good(100), good(10), good(100)], True),
        (60, [good(10), good(10), good(100)], False),
        (60, [good(10), good(100)], True),
        # Seven nights and no more.
        (50, [*[good(100)] * 4, *[good(50)] * 4], True),
        (50, [*[good(100)] * 3, *[good(50)] * 4, *[good(100)] * 9], False),
        # A crawl that stays broken never becomes the usual one.
        (15, [good(15, False), good(30), good(30)], True),
        (15, [*[good(15, False)] * 40, good(30)], True),
        (25, [*[good(15, False)] * 40, good(30)], False),
        (15, [good(15), good(30), good(30)], True),
    ],
)
def test_a_night_is_short_by_the_middle_of_the_nights_before(rows: int, past: list[GoodNight], expected: bool) -> None:
    missed = rows_missed(batch(rows), BOUNDS, past, Released())
    assert (missed is not None) is expected


def test_what_is_known_to_be_all_there_is_is_not_short() -> None:
    assert rows_missed(batch(1), BOUNDS, [good(30)], Released()) == 30
    assert rows_missed(batch(1, is_whole=True), BOUNDS, [good(30)], Released()) is None


def test_an_acceptance_begins_a_new_count() -> None:
    def missed(rows: int, *past: GoodNight, source: str = "shop") -> int | None:
        released = Released(sources=[Acceptance(source, 15, NOW - timedelta(days=2))])
        return rows_missed(batch(rows), BOUNDS, past, released)

    before = GoodNight(NOW - timedelta(days=9), 30, True)
    after = GoodNight(NOW - timedelta(days=1), 20, True)
    assert missed(15, before) is None
    assert missed(11, before) == 15, "so many rows and no fewer"
    assert missed(15, before, source="another") == 30
    assert missed(15, after, before) == 20, "what came since says what is usual"


# ── shuffled nights ───────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("moved", "rose", "expected"),
    [(40, 20, True), (40, 8, True), (40, 7, False), (40, 32, True), (40, 33, False), (21, 10, True), (20, 10, False)],
)
def test_a_night_is_shuffled_where_many_prices_move_both_ways(moved: int, rose: int, expected: bool) -> None:
    assert is_shuffled(Tally(100, moved, 100, 0, rose), BOUNDS) is expected


def test_three_cards_of_a_small_shop_are_no_shuffle() -> None:
    assert not is_shuffled(Tally(12, 9, 12, 0, 4), BOUNDS)


def test_a_night_agrees_with_a_held_one_only_in_another_session() -> None:
    moved = [row(str(100 + 50 * n), listing_id=f"shop:{n}") for n in range(1, 6)]

    def before(hours: float, of: int) -> dict[str, Sighting]:
        held_at = NOW - timedelta(hours=hours)
        return {c.listing_id: Sighting(c.price, "USD", held_at, 1) for c in moved[:of]}

    assert agrees(moved, before(24, of=3), NOW, BOUNDS)
    assert not agrees(moved, before(24, of=2), NOW, BOUNDS), "less than half of them"
    assert not agrees(moved, before(10, of=5), NOW, BOUNDS), "the same wrong page once more"
    assert agrees(moved, before(20, of=5), NOW, BOUNDS)
    assert not agrees(moved, before(19.9, of=5), NOW, BOUNDS), "less than twenty hours later"
