"""A question about a past day has the answer that was published on that day."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpuledger.extract.sample import server
from tests.command import gpuledger, rows
from tests.nights import Night

VALUE = "SELECT * FROM {} ORDER BY ALL"


@pytest.mark.parametrize("night", [1, 2, 3])
@pytest.mark.parametrize(
    ("then", "later"), [("mart.value", "value_as_of"), ("mart.ranking", "ranking_as_of")], ids=["value", "ranking"]
)
def test_the_last_file_answers_as_each_night_did(nights: dict[int, Night], night: int, then: str, later: str) -> None:
    day = server.clock(night).date()
    published = rows(nights[night].data, VALUE.format(then))
    assert published
    assert rows(nights[3].data, VALUE.format(f"{later}(DATE '{day}')")) == published


@pytest.mark.parametrize("night", [1, 2, 3])
def test_street_prices_of_a_night_are_those_that_it_published(nights: dict[int, Night], night: int) -> None:
    columns = "gpu_id, price_usd, median_usd, offers, listing_id, price, currency, fx_day, price_since, snapshot_sha256"
    published = rows(
        nights[night].data, f"SELECT {columns} FROM mart.gpu_price WHERE price_usd IS NOT NULL ORDER BY ALL"
    )
    day = server.clock(night).date()
    assert rows(nights[3].data, f"SELECT {columns} FROM price_as_of(DATE '{day}') ORDER BY ALL") == published


def test_before_the_first_night_nothing_was_known(nights: dict[int, Night]) -> None:
    assert rows(nights[3].data, "FROM price_as_of(DATE '2023-11-15')") == []
    assert rows(nights[3].data, "FROM ranking_as_of(DATE '2023-11-15')") == []


def test_a_best_price_that_moved_shows_on_its_day_only(nights: dict[int, Night]) -> None:
    price = "SELECT price_usd FROM price_as_of(DATE '{}') WHERE gpu_id = 'nvidia-geforce-rtx-4090'"
    first, second = (rows(nights[3].data, price.format(server.clock(night).date())) for night in (1, 2))
    assert first != second


@pytest.mark.parametrize(
    "command", [("value", "sd-512-image-generation"), ("rank", "sd-512-image-generation"), ("price",)]
)
def test_commands_take_a_day(nights: dict[int, Night], command: tuple[str, ...]) -> None:
    data: Path = nights[3].data
    answers = [
        gpuledger(*command, "--as-of", day, "--format", "csv", data=data) for day in ("2023-11-16", "2023-11-15")
    ]
    # Before the first night nothing had been read: a question without an answer.
    assert [answer.status for answer in answers] == [0, 4]
    then, before = (answer.out.splitlines() for answer in answers)
    assert len(then) > 5
    assert len(before) == 1
