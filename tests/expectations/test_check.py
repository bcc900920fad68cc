"""What a contract does with a batch and a mart, with Great Expectations itself underneath."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from decimal import Decimal
from typing import Any

import pandas as pd
import pytest

from gpuledger.expectations.check import check_batch, check_mart
from gpuledger.expectations.contract import Check, Contract, OnFailure, Rule, source_contract
from gpuledger.expectations.errors import AuditBroken
from gpuledger.expectations.suite import ROW, Finding, run
from gpuledger.items import FxRate, Item, Offer


def check(
    rule: Rule, column: str, on_failure: OnFailure = "quarantine", kind: str = "offer", **arguments: Any
) -> Check:
    return Check(
        kind=kind, rule=rule, column=column, arguments=arguments, on_failure=on_failure, reason=f"{rule} it is"
    )


def contract(*checks: Check, rows: tuple[int, int] = (1, 1000), share: float = 1.0) -> Contract:
    return Contract(
        name="shop", min_rows=rows[0], max_rows=rows[1], rows_reason="a shop has rows", max_quarantined_share=share,
        checks=checks,
    )  # fmt: skip


def offer(key: str = "1", price: str | None = "100", **fields: Any) -> Offer:
    money: dict[str, Any] = {} if price is None else {"price": Decimal(price), "price_kind": "now", "currency": "USD"}
    return Offer(title=fields.pop("title", "A card"), url="https://shop.invalid/1", key=key, **{**money, **fields})


FRAME = pd.DataFrame(
    {
        "a": [1.0, 2.0, 3.0, None],
        "b": [1.0, 3.0, None, None],
        "word": ["one", "two", "two", None],
        "code": ["USD", "usd", "EUR", None],
    }
).assign(**{ROW: range(4)})
MART = FRAME.drop(columns=ROW).to_dict("list")


@pytest.mark.parametrize(
    ("one", "rows"),
    [
        (check("between", "a", min=2), (0,)),
        (check("between", "a", max=2), (2,)),
        (check("between", "a", min=1, max=3), None),
        (check("not_null", "a"), (3,)),
        (check("in_set", "word", values=["one"]), (1, 2)),
        (check("matches", "code", pattern="^[A-Z]{3}$"), (1,)),
        (check("length_between", "word", min=1, max=2), (0, 1, 2)),
        (check("unique", "word"), (1, 2)),
        (check("unique", "word,code"), None),
        (check("pair_at_least", "a", other="b"), (1,)),
    ],
    ids=lambda value: f"{value.rule} {value.column}" if isinstance(value, Check) else "",
)
def test_each_rule_finds_the_rows_that_break_it_and_passes_over_absence(
    one: Check, rows: tuple[int, ...] | None
) -> None:
    assert run(FRAME, [one]) == ([] if rows is None else [Finding(one, rows)])


def test_all_checks_of_a_frame_are_answered_each_with_its_own_rows() -> None:
    checks = [check("between", "a", min=2), check("not_null", "b"), check("between", "a", min=3)]
    assert [(finding.check, finding.rows) for finding in run(FRAME, checks)] == [
        (checks[0], (0,)),
        (checks[1], (2, 3)),
        (checks[2], (0, 1)),
    ]


def test_two_frames_of_one_process_are_not_taken_for_each_other() -> None:
    one = check("between", "a", min=2)
    assert run(FRAME, [one])[0].rows == (0,)
    assert run(FRAME.assign(a=9.0), [one]) == []
    assert run(FRAME.assign(a=0.0), [one])[0].rows == (0, 1, 2, 3)


def test_nothing_to_check_and_no_rows_are_no_findings() -> None:
    assert run(FRAME, []) == []
    assert run(FRAME.head(0), [check("not_null", "a")]) == []


def test_a_check_of_a_column_that_is_not_there_is_a_broken_audit_and_not_bad_data() -> None:
    with pytest.raises(AuditBroken, match="name columns that are not there: c, d"):
        run(FRAME, [check("between", "d", min=1), check("unique", "a,c")])


def test_a_check_that_cannot_be_carried_out_is_a_broken_audit_and_not_bad_data() -> None:
    with pytest.raises(AuditBroken, match=r"check of word \(between\) could not run"):
        run(FRAME, [check("between", "word", min=1, max=2)])


# ── batches ───────────────────────────────────────────────────────────────────────────────────────────────────────────


RATE = FxRate(day=date(2023, 11, 16), currency="USD", rate=Decimal("1.09"))
LEAST = "price: between (min 50): between it is"
TOO_FEW = "{} rows, and at least 3 are expected: a shop has rows"


@pytest.mark.parametrize(
    ("rules", "items", "verdict"),
    [
        # A bad row is quarantined with every reason; an absent price breaks no bound.
        (contract(check("between", "price", min=50), check("length_between", "title", min=4)),
         [offer("1"), offer("2", "10"), offer("3", "10", title="RTX"), offer("4", None)],
         ({1: LEAST, 2: f"{LEAST}; title: length between (min 4): length_between it is"}, (), None)),
        # An odd row is loaded with a warning, and so are too many rows.
        (contract(check("between", "price", on_failure="warn", min=50)), [offer("1", "10")],
         ({}, (f"1 rows: {LEAST}",), None)),
        (contract(rows=(1, 2)), [offer(n) for n in "123"],
         ({}, ("3 rows, and at most 2 are expected: a shop has rows",), None)),
        # A structural failure refuses the batch, and so do too few rows.
        (contract(check("in_set", "currency", "reject", values=["KRW"])), [offer("1"), offer("2")],
         ({}, (), "2 rows break currency: in set (values ['KRW']): in_set it is")),
        (contract(rows=(3, 9)), [], ({}, (), TOO_FEW.format(0))),
        (contract(rows=(3, 9)), [offer(n) for n in "12"], ({}, (), TOO_FEW.format(2))),
        (contract(rows=(3, 9)), [offer(n) for n in "123"], ({}, (), None)),
        # A check is for its own kind, and positions count through all.
        (contract(check("between", "price", min=50), check("between", "rate", kind="fx_rate", min=2)),
         [RATE, offer("1", "10"), RATE, offer("2")],
         ({1: LEAST, **dict.fromkeys((0, 2), "rate: between (min 2): between it is")}, (), None)),
    ],
)  # fmt: skip
def test_what_a_contract_says_of_a_batch(
    rules: Contract, items: list[Item], verdict: tuple[dict[int, str], tuple[str, ...], str | None]
) -> None:
    found = check_batch(rules, items)
    assert (found.quarantined, found.warnings, found.refusal) == verdict


@pytest.mark.parametrize(("bad", "is_refused"), [(1, False), (2, False), (3, True)])
def test_too_large_a_share_of_bad_rows_refuses_the_batch(bad: int, is_refused: bool) -> None:
    items = [offer(str(n), "1" if n < bad else "100") for n in range(10)]
    verdict = check_batch(contract(check("between", "price", min=50), share=0.2), items)
    if is_refused:
        assert verdict.refusal.startswith(
            "3 of 10 rows break the contract, more than 20%: the page or the parser is wrong"
        )
        assert verdict.quarantined == {}
    else:
        assert (verdict.refusal, list(verdict.quarantined)) == (None, list(range(bad)))


@pytest.mark.parametrize(
    ("source", "fields", "held"),
    [
        ("newegg", {"price": "12.00"}, True),
        ("newegg", {"price": "1699.99"}, False),
        ("newegg", {"price": "99999"}, True),
        ("danawa", {"price": "12900", "currency": "KRW"}, True),
        ("danawa", {"price": "295000", "currency": "KRW"}, False),
        ("newegg", {"price": "300", "title": "RTX"}, True),
    ],
)
def test_the_shops_own_contracts_hold_what_no_card_costs(source: str, fields: dict[str, Any], held: bool) -> None:
    good = {**fields, "price": "500000" if source == "danawa" else "500", "title": "GeForce RTX 4070"}
    items = [offer("bad", **fields), *(offer(str(n), **good) for n in range(29))]
    verdict = check_batch(source_contract(source), items)
    assert verdict.refusal is None
    assert (0 in verdict.quarantined) is held
    assert set(verdict.quarantined) <= {0}


def test_a_page_in_another_currency_is_refused_whole() -> None:
    verdict = check_batch(source_contract("danawa"), [offer(str(n), "500000") for n in range(30)])
    assert verdict.refusal is not None
    assert "currency" in verdict.refusal


# ── marts ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


A_IS_2 = "a: between (min 2): between it is"


@pytest.mark.parametrize(
    ("rules", "problems", "refused"),
    [
        # A row that breaks a rule of rows is refused, and the mart is not.
        (contract(check("between", "a", "quarantine", kind="", min=2)), [], {0: A_IS_2}),
        (contract(check("between", "a", "warn", kind="", min=2)), [], {}),
        # A rule that a mart may not break is said with the first row; a key that is there twice, and the number of rows.
        (contract(check("between", "a", "reject", kind="", min=2)),
         [f"shop: 1 rows break {A_IS_2}; the first: {{'a': 1.0,"], {}),
        (contract(check("unique", "word", "reject", kind="")), ["shop: 2 rows break word: unique"], {}),
        (contract(rows=(5, 9)), ["shop has 4 rows, and 5 to 9 are expected: a shop has rows"], {}),
        (contract(rows=(1, 3)), ["shop has 4 rows, and 1 to 3 are expected: a shop has rows"], {}),
    ],
)  # fmt: skip
def test_what_a_contract_says_of_a_mart(rules: Contract, problems: list[str], refused: dict[int, str]) -> None:
    found = check_mart(rules, MART)
    assert found.refused == refused
    assert [said.startswith(start) for said, start in zip(found.problems, problems, strict=True)] == [True] * len(
        problems
    )


def test_many_refused_rows_are_a_broken_mart() -> None:
    rules = contract(check("between", "a", "quarantine", kind="", min=2))
    few, many = ({"a": [1.0] * bad + [3.0] * (60 - bad)} for bad in (12, 13))
    assert check_mart(replace(rules, max_rows=99, max_quarantined_share=0.2), few).problems == ()
    (problem,) = check_mart(replace(rules, max_rows=99, max_quarantined_share=0.2), many).problems
    assert problem.startswith("shop: 13 of 60 rows break its contract, more than 20%")
