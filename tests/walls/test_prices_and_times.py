# ruff: noqa: E501  tables of cases
"""A price that its vendor is not sure of is none; letters are read as what they are; every day that there is can be asked."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpuledger.extract.price.money import Ambiguous, Money, read_price
from gpuledger.extract.sources.quotes.cells import Unreadable, read_amount
from gpuledger.extract.sources.quotes.sheets import tables
from gpuledger.flows.night.start import Request, context_for
from gpuledger.flows.settings.settings import Settings
from gpuledger.warehouse.paths import DataDir
from tests.walls.cases import failing

SIGNS = ("~", "~ ", "≈", "<", "< ", "≤", "≥", ">", "±", "＜", "〜")
INEXACT = [
    f"{sign}{amount}" for sign in SIGNS for amount in ("1599", "$1,599.00", "1599 USD", "1.599,00 €", "1,599,000원")
]
INEXACT += ["1599?", "$1,599?", "1599 USD?", "1599 ?", "1599??", "~1599?", "1599？", "\u202e9951", "$\u202e9951"]
#: Thought of by somebody who had not seen the rule.
INEXACT += [
    "env. 1599 €", "est. 1599 USD", "1599 USD (estimate)", "$1599-ish", "1599 USD or so", "1599 USD more or less", "1599 USD −/+ 10",
    "1599 ⁺⁄₋ 5%", "15?? €", "between 1500 and 1599 USD", "at least 1599 USD", "1599 USD indicative", "budgetary 1599 USD",
    "target price 1599 USD", "1599 USD tolerance 5%", "1599 USD (rounded)", "vorläufig 1599 €", "1599 € unverbindlich",
    "1599 USD subject to confirmation", "暫定 159,900円", "1599 USD 左右", "1599원 내외", "1599원 정도", "1599 USD 前後", "EUR ±1599",
]  # fmt: skip


@pytest.mark.parametrize("text", INEXACT)
def test_a_price_that_is_not_exact_is_none(text: str) -> None:
    assert not isinstance(read_price(text, currency=None, country="US"), Money)
    with pytest.raises(Unreadable):
        read_amount(text, None if any(sign in text for sign in "€원円") else "USD")


#: In an element of a price, and none, or none that is exact, of one piece and known.
NO_PRICE = [
    "ca. $1,599", "approx. $1,599", "about $1,599", "around 1599 USD", "circa 1.599 €", "etwa 1.599,00 €", "약 1,599,000원", "約159,900円", "environ 1 599 €", "up to $1,599",
    "starting at $1,599?", "$1,599 - $1,899", "$1,599–$1,899", "1.599 bis 1.899 €", "1,599,000 ~ 1,899,000원", "1599/1899", "$1,599 or $1,899", "under $1,600", "over $1,600", "less than $1,600",
    "$1,5xx", "$1,***", "$x,xxx.xx", "$—", "$-1,599.00", "-1599", "+$1,599", "$0.00", "0원", "$1.599.00.00", "$1,59,9", "1,599.000,00", "1'5'99",
    "$1 599 99", "1e3", "1.599e3", "0x63F", "$1599%", "15% off", "Save $100", "$100 off", "-20 %", "$59.99/mo", "$59.99 per month", "$59.99 x 24", "24 x $59.99", "ab 1.599 €",
    "TBA", "TBD $1,599", "N/A", "Call for price", "Price on request 1599", "sold out 1599", "가격문의", "품절 1,599,000원", "ask", "RTX 4090", "24GB", "24 GB GDDR6X", "450W", "4.8 (1,599)", "1,599 reviews",
    "#1599", "SKU 1599", "2023-11-16", "16.11.2023", "11/16/2023", "16:59", "+1 599 1599", "1599-1599-1599", "NaN", "Infinity", "∞", "①⑤⑨⑨", "Ⅿ", "½", "$½", "$1,599½",
    "9" * 40, "$" + "9" * 30, "$1," + "000," * 30 + "000", "", " ", "$", "€ ", "USD",
]  # fmt: skip


#: Below zero to whoever made the sheet; in a shop the brackets may be just brackets.
OF_A_QUOTE = ("($1,599.00)", "(1599)")


def test_texts_that_are_no_price_of_one_piece() -> None:
    def none(text: str) -> None:
        if text not in OF_A_QUOTE:
            found = read_price(text, currency="USD", country="US")
            assert not isinstance(found, Money) or found.kind != "now", found
        try:
            money = read_amount(text, "USD")
        except Unreadable:
            return
        raise AssertionError(f"a quote of {money}")

    assert failing({ascii(text)[:60]: lambda t=text: none(t) for text in (*NO_PRICE, *OF_A_QUOTE)}) == {}  # type: ignore[misc]


#: Behind an amount, with whatever currency: what is left open, and what every shop sets there.
OPEN_ENDS = (
    "/", " /", "-", " -", "–", "—", "−", "--", "-/", "+/-", "±", "≈", "<", "≤", "≥", ">", "=", ":", "…", "...", "\\", "/10", "*2",
    "*0.9", "÷ 2",
)  # fmt: skip
CLOSED_ENDS = (
    "*",
    " *",
    "^",
    "†",
    ".",
    ",",
    "!",
    ";",
    ",-",
    ",--",
    ".-",
    ".–",
    ":-",
    "/-",
    "/=",
    " >",
    "/ea",
    " / unit",
)
AMOUNTS = ("1599", "$1599", "1599 €", "1599원")


@pytest.mark.parametrize("end", OPEN_ENDS)
def test_an_amount_that_something_may_follow_is_none(end: str) -> None:
    for amount in AMOUNTS:
        assert not isinstance(read_price(amount + end), Money), amount
        with pytest.raises(Unreadable):
            read_amount(amount + end, {"€": "EUR", "원": "KRW"}.get(amount[-1], "USD"))


@pytest.mark.parametrize("end", CLOSED_ENDS)
def test_what_shops_set_behind_every_price_changes_nothing(end: str) -> None:
    for amount in AMOUNTS:
        found = read_price(amount + end)
        assert isinstance(found, Money), amount
        assert (found.amount, found.kind) == (1599, "now")


#: None of them is the amount that its digits say.
OTHER_AMOUNTS = [
    "$1.6k", "$1599K", "€2k", "£1.6m", "US$1.6M", "¥1.6万", "$1.6 million", "₹1.6 lakh", "₹1.6L", "$1599x", '1599"', "1599″", "1599'",
    '$1599"', "1599''", "1,599원/년", "$1599/年", "¥1599/日", "1599円/週", "$1,599/yr", "₩1,599/시간", "₩160만",
]  # fmt: skip


@pytest.mark.parametrize("text", OTHER_AMOUNTS)
def test_thousands_lengths_and_rates_are_no_price(text: str) -> None:
    assert not isinstance(read_price(text), Money)


@pytest.mark.parametrize("text", ["1,599円～", "1,599円〜", "1,599円~", "$1599+"])
def test_a_price_from_is_called_one(text: str) -> None:
    found = read_price(text)
    assert isinstance(found, Money)
    assert found.kind == "from"


@pytest.mark.parametrize("text", ["1599", "$1,599.00", "1599 USD", "USD 1599", "$ 1599.00"])
def test_an_exact_one_is_read_as_before(text: str) -> None:
    found = read_price(text, currency="USD", country="US")
    assert isinstance(found, Money)
    assert found.amount == 1599
    assert not isinstance(found, Ambiguous)


CHINESE = [
    f"{header}\n{title},5999,CNY\n"
    for header in ("产品,价格,货币", "product,price,currency", "型号,单价,币种")
    for title in (
        "华硕 GeForce RTX 4070 12GB 显卡", "技嘉 RTX 4080 16GB", "七彩虹 战斧 RTX 4060 Ti 8GB", "影驰 RTX 4090 大将",
        "微星 万图师 RTX 3060 12G", "索泰 天启 RTX 4070 SUPER", "蓝宝石 RX 7900 XTX 超白金", "讯景 RX 6750 GRE 海外版",
        "铭瑄 电竞之心 RTX 3050", "耕升 追风 RTX 4060", "映众 冰龙 RTX 4080", "华擎 幻影电竞 RX 7600",
        "撼讯 红魔 RX 7800 XT", "盈通 樱瞳花嫁 RTX 4070", "小影霸 RTX 3070 海景风暴", "万丽 RTX 4060 星舰", "同德 RTX 4080 显卡 现货",
    )
]  # fmt: skip
KOREAN = [
    f"제품명,가격,통화\n{title},850000,KRW\n"
    for title in ("지포스 RTX 4070 12GB", "라데온 RX 7800 XT 중고", "이엠텍 그래픽카드 RTX 4060")
]


@pytest.mark.parametrize("text", CHINESE)
def test_gb18030_is_not_read_as_cp949(text: str) -> None:
    ((_, rows),) = tables(text.encode("gb18030"), "q.csv")
    assert [",".join(map(str, cells)) for _, cells in rows] == text.splitlines()


@pytest.mark.parametrize("text", KOREAN)
def test_cp949_still_is(text: str) -> None:
    ((_, rows),) = tables(text.encode("cp949"), "q.csv")
    assert [",".join(map(str, cells)) for _, cells in rows] == text.splitlines()


@pytest.mark.parametrize("time", [
    "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "0000-01-01", "10000-01-01", "x", "2026-13-01",
])  # fmt: skip
def test_a_time_beyond_all_times_is_refused_in_words(tmp_path: Path, time: str) -> None:
    with pytest.raises(ValueError, match="--as-of"):
        context_for(Settings(), DataDir(tmp_path), "plain", Request(as_of=time))
