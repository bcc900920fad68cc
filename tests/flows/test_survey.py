"""`gpuledger audit`: every figure of every document, and the reason of each that does not agree. Every derived figure of
the survey comes out of scores and launch prices, and none of them goes in.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from typing import Any

import duckdb
import pytest

from gpuledger.transform.build import graph
from gpuledger.transform.build import run as builder
from gpuledger.warehouse import publish
from gpuledger.warehouse.paths import DataDir
from tests.command import gpuledger, rows, succeeds
from tests.nights import Night

AUDIT = (
    "SELECT claim_id, published, recomputed, agrees FROM mart.claim_audit WHERE document = 'survey' ORDER BY claim_id"
)


def test_every_document_is_there_and_nothing_differs_without_a_reason(nights: dict[int, Night]) -> None:
    outcome = succeeds("audit", "--format", "csv", data=nights[1].data)
    found = list(csv.DictReader(io.StringIO(outcome.out)))
    assert Counter((row["document"], row["verdict"]) for row in found) == {
        ("ai-computing", "agrees"): 11,
        ("ai-computing", "erratum"): 3,
        ("gpu-wiki", "agrees"): 12,
        ("gpu-wiki", "erratum"): 6,
        ("gpu-wiki", "not verifiable"): 2,
        ("survey", "agrees"): 97,
        ("survey-prose", "agrees"): 19,
        ("survey-prose", "erratum"): 3,
        ("survey-prose", "not verifiable"): 2,
        ("ours", "agrees"): 4,
        ("transformer-flops", "agrees"): 20,
        ("transformer-flops", "erratum"): 9,
    }
    for row in found:
        assert (row["verdict"] == "agrees") == (row["agrees"] == "true") == (row["erratum"] == ""), row


def test_the_table_ends_with_how_many_agree(nights: dict[int, Night]) -> None:
    outcome = gpuledger("audit", data=nights[1].data)
    assert "gpu-wiki: 12 agrees, 6 erratum, 2 not verifiable" in outcome.out.splitlines()[-7:]
    assert "0.49 × 730 × 0.7 = 250.390" in outcome.out


def test_what_the_survey_says_in_words_is_recomputed(nights: dict[int, Night]) -> None:
    found = {
        claim: (published, recomputed, verdict)
        for claim, published, recomputed, verdict in rows(
            nights[1].data,
            """SELECT claim_id, published, recomputed, verdict FROM mart.claim_audit
            WHERE document IN ('survey-prose', 'ours')""",
        )
    }
    assert {claim for claim, (*_, verdict) in found.items() if verdict != "agrees"} == {
        "conclusion/image-generation", "text/about-ten-times", "text/largest-llama", "text/4787-seconds",
        "text/745-seconds",
    }  # fmt: skip
    # 4.00 times the score for 4.86 times the price.
    assert float(found["conclusion/image-generation"][1]) == pytest.approx((28.923 / 7.239) / (1599 / 329), abs=1e-4)
    assert float(found["bound/rtx-4090"][1]) == pytest.approx(1008 / 6.507932, abs=0.1)


def test_top500_efficiency_and_power(nights: dict[int, Night]) -> None:
    found = {
        system: words
        for system, *words in rows(
            nights[1].data, "SELECT system, linpack_efficiency, pflops_per_mw FROM core.supercomputer"
        )
    }
    assert found["Frontier"] == [pytest.approx(1206.00 / 1714.81), pytest.approx(1206.00 / 22.786)]
    assert found["Eagle"][1] is None, "no power is published"
    assert len(found) == 5


def test_each_is_the_exact_quotient_rounded_half_up(nights: dict[int, Night]) -> None:
    """Python's Decimal beside the warehouse's arithmetic, from the scores and prices that the warehouse holds."""
    data = nights[1].data
    score = {
        key: (value, baseline)
        for *key_, value, baseline in rows(
            data,
            """SELECT r.workload_id, r.gpu_id, r.score, b.score FROM mart.ranking r
               JOIN mart.ranking b ON b.workload_id = r.workload_id AND b.gpu_id = r.baseline_gpu_id""",
        )
        for key in [tuple(key_)]
    }
    msrp = dict(rows(data, "SELECT gpu_id, msrp_usd FROM core.gpu WHERE msrp_usd IS NOT NULL"))
    sql = """SELECT c.workload_id, c.gpu_id, c.measure, c.decimals, a.recomputed FROM core.published_claim c
             JOIN mart.claim_audit a USING (document, claim_id) WHERE c.document = 'survey'"""
    for workload, gpu, measure, decimals, recomputed in rows(data, sql):
        value, baseline = score[workload, gpu]
        exact = value / (msrp[gpu] if measure == "score_per_usd" else baseline)
        assert recomputed == exact.quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP), (workload, gpu, measure)


@contextmanager
def changed(night: Night, folder: Path, statement: str) -> Iterator[duckdb.DuckDBPyConnection]:
    """The warehouse of a night with one statement run on what is loaded, and every model that depends on it rebuilt."""
    data = DataDir(night.copy(folder / "data"))
    with publish.workspace(data, "test") as (con, _):
        before = dict(con.execute("SELECT table_id, content FROM ops.table_content").fetchall())
        con.execute(statement)
        builder.refresh_contents(con, set(before))
        builder.build(con, graph.load(con), "test")
        yield con


def _audit(con: duckdb.DuckDBPyConnection) -> dict[str, tuple[Any, ...]]:
    return {claim: words for claim, *words in con.execute(AUDIT).fetchall()}


@pytest.fixture(scope="module")
def printed(nights: dict[int, Night]) -> dict[str, tuple[Any, ...]]:
    return {claim: words for claim, *words in rows(nights[1].data, AUDIT)}


def test_a_printed_figure_is_only_compared_with(
    nights: dict[int, Night], tmp_path: Path, printed: dict[str, tuple[Any, ...]]
) -> None:
    """Change every printed figure: nothing that is computed moves, in the audit or in any other table."""
    with changed(nights[1], tmp_path, "UPDATE core.published_claim SET published = published + 1") as con:
        audit = _audit(con)
        rebuilt = {
            m
            for (m,) in con.execute(
                "SELECT model FROM ops.model_build WHERE run_id = 'test' AND action = 'rebuilt'"
            ).fetchall()
        }
    assert rebuilt - {"mart.answer"} == {"mart.claim_audit"}  # of the questions, which are asked at night alone
    assert {claim: words[1] for claim, words in audit.items()} == {claim: words[1] for claim, words in printed.items()}
    assert not any(agrees for _, _, agrees in audit.values())


def test_a_missing_score_is_no_agreement(nights: dict[int, Night], tmp_path: Path) -> None:
    with changed(nights[1], tmp_path, "DELETE FROM core.benchmark_score WHERE gpu_name = 'RTX 4090'") as con:
        audit = _audit(con)
    lost = {claim: words for claim, words in audit.items() if claim.endswith("/rtx-4090")}
    assert lost
    assert all(recomputed is None and agrees is False for _, recomputed, agrees in lost.values())


def test_no_derived_figure_is_among_what_is_loaded(nights: dict[int, Night]) -> None:
    """Scores have the units that pages print, and nothing loaded is per dollar or relative to a card of the survey."""
    units = {
        unit
        for (unit,) in rows(nights[1].data, "SELECT DISTINCT unit FROM core.benchmark_score WHERE unit IS NOT NULL")
    }
    assert units == {"it/s", "tokens/s", "fps"}
    relative = (
        "SELECT count(*) FROM core.benchmark_score WHERE source = 'toms_ai_articles' AND relative_percent IS NOT NULL"
    )
    assert rows(nights[1].data, relative) == [(0,)]
