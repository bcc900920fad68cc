"""Versions of what is no shop's price (scores, cloud rates): begun, replaced, doubted, ended, and a run that is repeated."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import duckdb
import pytest

from gpuledger.items import CloudOffer, Item, Score
from gpuledger.warehouse.load import others
from gpuledger.warehouse.load.batch import Batch, Row

FIRST = datetime(2024, 1, 1, 3, tzinfo=UTC)


def night(number: int) -> datetime:
    return FIRST + timedelta(days=number - 1)


def rate(instance: str, price: str = "2", **more: Any) -> CloudOffer:
    words = {"provider": "cloud", "gpu_name": "A100", "gpu_count": 1, "pricing_model": "on_demand", "currency": "USD"}
    return CloudOffer(**{**words, "instance": instance, "price": Decimal(price), **more})


def score(gpu: str, value: str) -> Score:
    return Score(gpu_name=gpu, table="t", column="c", workload_id="w", score=Decimal(value), unit="fps")


def load(
    con: duckdb.DuckDBPyConnection, number: int, *items: Item, held: tuple[Item, ...] = (), is_complete: bool = True,
    previous: int | None = None, source: str = "wiki",
) -> dict[str, int]:  # fmt: skip
    batch = Batch(
        source, night(number), [Row(item, "sha") for item in items], is_complete, [Row(i, "sha") for i in held]
    )
    return others.load(con, batch, None if previous is None else night(previous)).changed


def versions(con: duckdb.DuckDBPyConnection, instance: str) -> list[tuple[Any, ...]]:
    found = con.execute(
        """SELECT price, valid_from, valid_to, confirmed_until FROM core.cloud_offer_history
           WHERE instance = ? ORDER BY valid_from, valid_to""",
        [instance],
    ).fetchall()
    return [(int(price), *(None if t is None else (t - FIRST).days + 1 for t in times)) for price, *times in found]


RATES = "core.cloud_offer_history"


def night_of(text: str) -> dict[str, Any]:
    """What a page shows: `x` is a rate of 2, `x=3` one of 3; `!x=9` is held, and `…` says that the page is incomplete."""
    found: dict[str, Any] = {"items": [], "held": (), "is_complete": "…" not in text}
    for instance, _, price in (token.partition("=") for token in text.replace("…", "").split()):
        if instance.startswith("!"):
            found["held"] = (rate(instance[1:], price),)
        else:
            found["items"].append(rate(instance, price or "2"))
    return found


HELD = [(1, "x y"), (2, "y !x=99")]


@pytest.mark.parametrize(
    ("nights", "written", "x", "y"),
    [
        # A rate that stands is written once; one begun and one closed are two.
        ([(1, "x y"), (2, "x y"), (3, "x=3 y")], [2, 0, 2], [(2, 1, 3, 2), (3, 3, None, None)], 2),
        # One that is gone from a complete page has ended, and from an incomplete one was last seen the night before.
        ([(1, "x y"), (2, "y"), (3, "x y")], [2, 1, 1], [(2, 1, 2, 1), (2, 3, None, None)], 2),
        ([(1, "x y"), (2, "x y"), (3, "y …")], [2, 0, 1], [(2, 1, None, 2)], 2),
        ([(1, "x y"), (2, "x y"), (3, "y …"), (4, "y …"), (5, "y")], [2, 0, 1, 0, 1], [(2, 1, 5, 2)], 2),
        # One that was not seen and then held keeps its last sighting; a held one is in doubt also on a complete page.
        ([(1, "x y"), (2, "x y"), (3, "y …"), (4, "y !x=99")], None, [(2, 1, 4, 2), (2, 4, None, 2)], 2),
        (HELD, None, [(2, 1, 2, 1), (2, 2, None, 1)], 2),
        ([*HELD, (3, "x y")], None, [(2, 1, 2, 1), (2, 2, 3, 1), (2, 3, None, None)], 2),
        # A repeated run keeps none of what it wrote before, also where only some rows are written anew.
        ([(1, "x y"), (2, "x=3 y z"), (2, "x=4 y")], None, [(2, 1, 2, 1), (4, 2, None, None)], 2),
        ([(1, "x y"), (2, "x=3 y"), (2, "x=4 y=5")], None, [(2, 1, 2, 1), (4, 2, None, None)], 5),
        ([*HELD, (2, "y !x=99")], None, [(2, 1, 2, 1), (2, 2, None, 1)], 2),
        ([*HELD, (2, "y !x=99"), (2, "x y")], None, [(2, 1, 2, 1), (2, 2, None, None)], 2),
    ],
)  # fmt: skip
def test_versions_that_nights_leave(
    con: duckdb.DuckDBPyConnection, nights: list[tuple[int, str]], written: list[int] | None, x: list[Any], y: int
) -> None:
    counts = []
    for number, text in nights:
        before = max((other for other, _ in nights if other < number), default=None)
        shown = night_of(text)
        counts.append(load(con, number, *shown.pop("items"), previous=before, **shown).get(RATES, 0))
    assert counts == written or written is None
    assert versions(con, "x") == x
    assert versions(con, "y") == ([(2, 1, None, None)] if y == 2 else [(2, 1, 2, 1), (y, 2, None, None)])
    others_left = con.execute(f"SELECT count(*) FROM {RATES} WHERE valid_from = valid_to OR instance = 'z'").fetchone()
    assert others_left == (0,)


@pytest.mark.parametrize(("back_on", "expected"), [
    (4, [(2, 1, None, None)]), (5, [(2, 1, 5, 2), (2, 5, None, None)]),
], ids=["while it counted", "after it had ceased to"])  # fmt: skip
def test_a_rate_that_comes_back_goes_on_where_it_had_counted_all_the_while(
    con: duckdb.DuckDBPyConnection, back_on: int, expected: list[tuple[Any, ...]]
) -> None:
    con.execute("INSERT INTO ops.source_state BY NAME SELECT 'wiki' AS source, 48 AS freshness_hours")
    load(con, 1, rate("x"), rate("y"))
    load(con, 2, rate("x"), rate("y"), previous=1)
    for number in range(3, back_on):
        load(con, number, rate("y"), is_complete=False, previous=number - 1)
    assert load(con, back_on, rate("x"), rate("y"), previous=back_on - 1) == {RATES: len(expected)}
    assert versions(con, "x") == expected


def test_without_a_night_before_it_was_seen_at_its_beginning(con: duckdb.DuckDBPyConnection) -> None:
    load(con, 1, rate("x"))
    load(con, 3, is_complete=False)
    assert versions(con, "x") == [(2, 1, None, 1)]


def test_another_source_is_left_alone(con: duckdb.DuckDBPyConnection) -> None:
    load(con, 1, rate("x"), source="other")
    load(con, 1, rate("y"))
    load(con, 2, rate("z"), previous=1)
    assert versions(con, "x") == [(2, 1, None, None)]


def test_what_has_no_doubt_stays_while_it_is_not_known_to_be_gone(con: duckdb.DuckDBPyConnection) -> None:
    load(con, 1, score("a", "10"), score("b", "20"))
    assert load(con, 2, score("a", "10"), is_complete=False, previous=1) == {}
    assert load(con, 3, score("a", "11"), held=(score("b", "99"),), previous=2) == {"core.benchmark_score": 2}
    found = con.execute(
        "SELECT gpu_name, score::INT, valid_from, valid_to FROM core.benchmark_score ORDER BY ALL"
    ).fetchall()
    assert found == [("a", 10, night(1), night(3)), ("a", 11, night(3), None), ("b", 20, night(1), None)]
    assert load(con, 4, score("a", "11"), previous=3) == {"core.benchmark_score": 1}
