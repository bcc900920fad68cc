"""`gpuledger audit`: every figure of every document, and the reason of each that does not agree."""

from __future__ import annotations

import csv
import io
from collections import Counter

import pytest

from tests.command import gpuledger, rows, succeeds
from tests.nights import Night


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
