"""The contract files: one for each source and each mart, each rule with its reason, and no column that does not exist."""

from __future__ import annotations

import dataclasses
import tomllib
from pathlib import Path
from typing import Any, get_args

import pytest

from gpuledger.expectations import contract as contracts
from gpuledger.expectations.contract import (
    SHARED,
    Check,
    Contract,
    OnFailure,
    Rule,
    mart_contract,
    source_contract,
)
from gpuledger.expectations.errors import ContractError
from gpuledger.extract import source as sources
from gpuledger.items import CloudOffer, FxRate, IndexPrice, Offer, Score, TokenPrice
from gpuledger.transform.build import graph
from gpuledger.transform.build import run as builder
from tests.support.empty import warehouse_with_defaults

ITEMS: dict[str, type[Any]] = {kind.KIND: kind for kind in (Offer, Score, IndexPrice, CloudOffer, TokenPrice, FxRate)}
ROOT = Path(__file__).parents[2]
MARTS = sorted(f"mart.{path.parent.name}" for path in graph.MODELS.glob("mart/*/table.toml"))
FILES = [
    *(sources.folder(name) / "contract.toml" for name in sources.names()),
    *sorted(graph.MODELS.glob("*/*/contract.toml")),
    *sorted(SHARED.glob("*.toml")),
]


def columns_of(check: Check) -> list[str]:
    return [*check.column.split(","), *([check.arguments["other"]] if "other" in check.arguments else [])]


@pytest.mark.parametrize("name", sources.names())
def test_every_source_has_a_contract(name: str) -> None:
    contract = source_contract(name)
    # An inbox may be empty; a page without a row is a broken page.
    assert contract.min_rows >= 1 or name in ("quotes", "measurements", "own_rates")
    assert contract.max_rows > contract.min_rows
    assert 0 <= contract.max_quarantined_share < 1
    assert contract.rows_reason.strip()


@pytest.mark.parametrize("name", sources.names())
def test_a_source_is_checked_for_every_kind_of_item_that_it_gives(name: str) -> None:
    checked = {check.kind for check in source_contract(name).checks}
    assert checked >= set(sources.get(name).kinds) & ITEMS.keys()


@pytest.mark.parametrize("name", sources.names())
def test_a_source_is_checked_on_columns_that_its_items_have(name: str) -> None:
    for check in source_contract(name).checks:
        fields = {field.name for field in dataclasses.fields(ITEMS[check.kind])}
        assert set(columns_of(check)) <= fields, check


@pytest.mark.parametrize("name", MARTS)
def test_every_mart_has_a_contract_on_its_grain(name: str) -> None:
    contract = mart_contract(name, graph.folder_of(name))
    with warehouse_with_defaults() as con:
        models = graph.load(con)
        builder.build(con, graph.needed(models, [name]), "test")
        existing = {column for column, *_ in con.execute(f"DESCRIBE {name}").fetchall()}
    (model,) = (model for model in models if model.name == name)
    if model.key:
        unique = [set(columns_of(check)) for check in contract.checks if check.rule == "unique"]
        assert set(model.key) in unique, "the key of the sidecar is what the table has once"
    for check in contract.checks:
        assert set(columns_of(check)) <= existing, check


def test_no_contract_is_for_nothing() -> None:
    assert {".".join(path.parts[-3:-1]) for path in graph.MODELS.glob("*/*/contract.toml")} == set(MARTS)
    included = {name for path in FILES for name in tomllib.loads(path.read_text(encoding="utf-8")).get("include", [])}
    assert {path.stem for path in SHARED.glob("*.toml")} == included


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.resolve().relative_to(ROOT).as_posix())
def test_every_number_of_a_file_has_its_reason(path: Path) -> None:
    document = tomllib.loads(path.read_text(encoding="utf-8"))
    for place in (document.get("rows"), document.get("quarantine"), *document.get("check", [])):
        assert place is None or len(place["reason"].split()) >= 3, (path, place)
    for check in document.get("check", []):
        assert check["rule"] in get_args(Rule)
        assert check["on_failure"] in get_args(OnFailure)


def _write(folder: Path, text: str, shared: str = "") -> None:
    (folder / "shop").mkdir()
    (folder / "shop" / "contract.toml").write_text(text, encoding="utf-8")
    (folder / "offer.toml").write_text(shared, encoding="utf-8")


ROWS = '[rows]\nmin = 1\nmax = 9\nreason = "as the test wants"\n'
CHECK = '[[check]]\nrule = "not_null"\ncolumn = "price"\non_failure = "reject"\nreason = "a reason"\n'


def test_a_contract_takes_over_the_shared_checks_and_names_the_kind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _write(tmp_path, 'include = ["offer"]\n' + ROWS + CHECK.replace("price", "title"), CHECK)
    monkeypatch.setattr(contracts, "SHARED", tmp_path)
    monkeypatch.setattr(contracts.sources, "folder", tmp_path.joinpath)
    found = source_contract("shop")
    assert isinstance(found, Contract)
    assert [(check.kind, check.column) for check in found.checks] == [("", "title"), ("offer", "price")]
    assert found.max_quarantined_share == 0.0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "shop: 'rows'"),
        (ROWS.replace("max = 9\n", ""), "shop: 'max'"),
        (ROWS + CHECK.replace('reason = "a reason"\n', ""), "shop: 'reason'"),
        (ROWS + CHECK.replace('"a reason"', '" "'), "the check of price has no reason"),
        ("[rows", "shop: "),
        ('include = ["nothing"]\n' + ROWS, "nothing.toml is missing"),
    ],
)
def test_a_wrong_contract_names_its_file_and_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, message: str
) -> None:
    _write(tmp_path, text)
    monkeypatch.setattr(contracts, "SHARED", tmp_path)
    monkeypatch.setattr(contracts.sources, "folder", tmp_path.joinpath)
    with pytest.raises(ContractError) as caught:
        source_contract("shop")
    assert message in str(caught.value)


def test_a_missing_contract_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contracts, "SHARED", tmp_path)
    monkeypatch.setattr(contracts.sources, "folder", tmp_path.joinpath)
    with pytest.raises(ContractError, match=r"contract\.toml is missing: shop cannot be checked"):
        source_contract("shop")
    assert mart_contract("mart.value", tmp_path) is None
