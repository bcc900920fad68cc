"""A night costs what changed: which models are rebuilt when one price moves, and where the work stops."""

from __future__ import annotations

import shutil
from pathlib import Path

import duckdb
import pytest

from gpuledger.flows.history.rebuild import rebuild
from gpuledger.transform.build import graph
from tests.command import rows
from tests.flows.inprocess import context, refresh
from tests.nights import Night

#: Of the sample: the lowest price of an RTX 4090, and a higher one of the same card.
BEST, HIGHER = "1,749", "1,899"


@pytest.fixture
def data(nights: dict[int, Night], tmp_path: Path) -> Path:
    return nights[1].copy(tmp_path / "data")


@pytest.fixture
def page(site: Path) -> Path:
    for later in site.glob("*/sample/night2"):
        shutil.rmtree(later)
    return site / "newegg" / "sample" / "night1" / "gpus" / "index.html"


def rebuilt(data: Path) -> set[str]:
    found = rows(
        data,
        """SELECT model FROM ops.model_build WHERE action = 'rebuilt'
           AND run_id = (SELECT arg_max(run_id, rowid) FROM ops.run)""",
    )
    return {model for (model,) in found}


def tables_below(name: str) -> set[str]:
    models = graph.load(duckdb.connect())
    below = {name}
    for model in models:
        if below & model.inputs.keys():
            below.add(model.name)
    return {model.name for model in models if model.name in below and model.materialized == "table"}


def change(page: Path, old: str, new: str) -> None:
    text = page.read_text(encoding="utf-8")
    assert f"<strong>{old}</strong>" in text, "the sample has another price there now"
    page.write_text(text.replace(f"<strong>{old}</strong>", f"<strong>{new}</strong>"), encoding="utf-8")


#: What reads every price, of cards and of machines.
READ_ALL = {"mart.gpu_price", "core.node_price", "mart.answer"}


def test_a_price_that_is_not_the_best_rebuilds_what_reads_every_price(data: Path, page: Path) -> None:
    change(page, HIGHER, "1,879")
    refresh(data, 2, only=["newegg"])
    assert rebuilt(data) == READ_ALL


def test_a_best_price_rebuilds_exactly_what_is_below_it(data: Path, page: Path) -> None:
    change(page, BEST, "1,739")
    refresh(data, 2, only=["newegg"])
    assert rebuilt(data) == tables_below("mart.gpu_price") | READ_ALL
    assert "mart.value" in rebuilt(data)


def test_a_rebuild_of_nothing_publishes_nothing(data: Path) -> None:
    before = (data / "gpuledger.duckdb").resolve()
    summary = rebuild(context(data, 1))
    assert not [build for build in summary.builds if build.action == "rebuilt"]
    assert (data / "gpuledger.duckdb").resolve() == before


def test_an_edited_model_is_rebuilt_and_explained_first(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import shutil

    models = tmp_path / "models"
    shutil.copytree(graph.MODELS, models)
    sql = models / "mart" / "value" / "query.sql"
    sql.write_text(sql.read_text(encoding="utf-8").replace("DESC", "ASC", 1), encoding="utf-8")
    monkeypatch.setattr(graph.load, "__defaults__", (models,))
    plan = rebuild(context(data, 1), explain=True)
    why = {build.model: build.reason for build in plan.builds if build.action == "rebuilt"}
    assert why["mart.value"] == "its definition changed"
    assert "mart.ranking" not in why
    assert plan.published is None
    done = rebuild(context(data, 1))
    assert {build.model for build in done.builds if build.action == "rebuilt"} == why.keys()
    assert done.published is not None
