"""The European Central Bank's rate files; whole files are in extract/sources/ecb_fx/cases."""

from __future__ import annotations

import tracemalloc
from datetime import date
from decimal import Decimal
from itertools import pairwise
from pathlib import Path

import pytest

from gpuledger.errors import LayoutChanged
from gpuledger.extract import source
from gpuledger.extract.sources.ecb_fx.pages import parse
from gpuledger.items import FxRate, Issue, Parsed
from tests.extract.pages import page

URL = "https://www.ecb.europa.eu/stats/eurofxref/eurofxref-daily.xml"
ENVELOPE = (
    '<gesmes:Envelope xmlns:gesmes="http://www.gesmes.org/xml/2002-08-01" '
    'xmlns="http://www.ecb.int/vocabulary/2002-08-01/eurofxref"><Cube>%s</Cube></gesmes:Envelope>'
)
SITE = source.folder("ecb_fx") / "sample"


def read(text: str | bytes) -> list[Parsed]:
    return list(parse(page(text, URL, "text/xml")))


def day(*rates: str, time: str = "2023-11-16") -> str:
    return f'<Cube time="{time}">{"".join(rates)}</Cube>'


def rate(currency: str, value: str) -> str:
    return f'<Cube currency="{currency}" rate="{value}"/>'


def test_days_and_rates() -> None:
    found = read(
        ENVELOPE % (day(rate("USD", "1.0857"), rate("KRW", "1407.84")) + day(rate("USD", "1.0868"), time="2023-11-15"))
    )
    assert found == [
        FxRate(day=date(2023, 11, 16), currency="USD", rate=Decimal("1.0857")),
        FxRate(day=date(2023, 11, 16), currency="KRW", rate=Decimal("1407.84")),
        FxRate(day=date(2023, 11, 15), currency="USD", rate=Decimal("1.0868")),
    ]
    assert {item.base for item in found if isinstance(item, FxRate)} == {"EUR"}


@pytest.mark.parametrize("value", ["N/A", "", "0", "0.0", "-1", "1,0857", "1e3", "NaN", "Infinity", "١"])
def test_a_rate_that_is_none_is_an_issue_and_the_others_stay(value: str) -> None:
    issue, good = read(ENVELOPE % day(rate("USD", value), rate("KRW", "1407.84")))
    assert isinstance(issue, Issue)
    assert (issue.code, issue.where) == ("unreadable_rate", "2023-11-16 USD")
    assert isinstance(good, FxRate)


@pytest.mark.parametrize("currency", ["", "US", "usd", "U$D"])
def test_a_currency_that_is_none_is_an_issue(currency: str) -> None:
    (issue,) = read(ENVELOPE % day(rate(currency, "1.0857")))
    assert isinstance(issue, Issue)


def test_a_day_that_is_none_or_empty_is_an_issue() -> None:
    codes = [type(item).__name__ for item in read(ENVELOPE % (day(rate("USD", "1"), time="16.11.2023") + day()))]
    assert codes == ["Issue", "Issue"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "<html><body>Sorry</body></html>",
        "no xml",
        "<a><b></a>",
        ENVELOPE % "",
        ENVELOPE.replace("ecb.int", "x.y") % day(),
    ],
)
def test_what_is_no_rate_file(text: str) -> None:
    with pytest.raises(LayoutChanged):
        read(text)


def test_a_bomb_of_entities_stays_small() -> None:
    names = "abcdefghij"
    entities = "".join(f'<!ENTITY {new} "{f"&{old};" * 10}">' for old, new in pairwise(names))
    bomb = f'<!DOCTYPE x [<!ENTITY a "0123456789">{entities}]>' + ENVELOPE % day(rate("USD", "&j;"))
    tracemalloc.start()
    with pytest.raises(LayoutChanged):
        read(bomb)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 5_000_000


def test_nothing_outside_the_file_is_read(tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("1.0857", encoding="utf-8")
    text = (
        f'<!DOCTYPE x [<!ENTITY a SYSTEM "{secret.as_uri()}">]>' + ENVELOPE % f"<Cube>&a;</Cube>{day(rate('USD', '1'))}"
    )
    with pytest.raises(LayoutChanged) as caught:
        read(text)
    assert "1.0857" not in str(caught.value)


def test_the_sample_has_every_working_day_and_one_more_on_the_second_night() -> None:
    nights = [read((SITE / f"night{night}/stats/eurofxref/eurofxref-hist-90d.xml").read_bytes()) for night in (1, 2)]
    first, second = ({item.day for item in night if isinstance(item, FxRate)} for night in nights)
    assert first == {date(2023, 11, number) for number in range(1, 17) if date(2023, 11, number).weekday() < 5}
    assert second - first == {date(2023, 11, 17)}
    assert set(nights[0]) <= set(nights[1])
    currencies = {item.currency for item in nights[0] if isinstance(item, FxRate)}
    assert currencies >= {"USD", "KRW", "GBP", "JPY", "PLN", "CAD"}
