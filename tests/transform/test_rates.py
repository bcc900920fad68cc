"""Speeds that follow from the matrix rate: those of training, and what the hours cost."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest

from gpuledger.extract.message import Sum
from gpuledger.transform.assumptions import Assumptions
from gpuledger.transform.buying.answer import ask
from gpuledger.transform.buying.headline import sentences
from gpuledger.transform.buying.market import OfferFilter
from gpuledger.transform.buying.need import Need
from gpuledger.transform.buying.options import Market
from gpuledger.transform.buying.question import Question, Usage
from gpuledger.transform.buying.stock import Place, Stock
from gpuledger.transform.identity.catalogue import by_id
from gpuledger.transform.identity.gpu import Gpu
from gpuledger.transform.sizing import catalogue
from gpuledger.transform.sizing.tuning import tuning
from gpuledger.transform.speed import training
from gpuledger.transform.speed.learned import NOTHING_LEARNED
from tests.support import buying


def test_published_trainings_lie_in_their_ranges_and_take_the_memory_that_is_said() -> None:
    inside = []
    for run in training.runs():
        asked = tuning(catalogue.architecture(run["model"]), run["way"], run["tokens"], run["batch"], Assumptions())
        found = training.rate(by_id()[run["gpu_id"]], 1, asked.way, asked.flops)
        inside.append(found.low < run["tokens_per_s"] < found.high)
        assert run.get("peak_gb", (asked.shared + asked.each) / 1e9) == pytest.approx(
            (asked.shared + asked.each) / 1e9, rel=0.06
        )
        hours = training.said(found, 20_000_000).values["hours"]
        assert hours == pytest.approx(2e7 / found.expected / 3600)
    assert (len(inside), inside.count(False)) == (19, 1), "one card of four reached a quarter with small batches"


class _OneRental(Stock):
    """An RTX 4090 at a dollar an hour, and nothing else."""

    way = "on_demand"

    def offered(self, need: Need, asked: OfferFilter) -> Market:
        gpu = by_id()["nvidia-geforce-rtx-4090"]
        return buying.market(instances=[buying.rental(gpu, "1", self.way)], gpus=[gpu])

    def shops(self) -> Sequence[str]:
        return ()

    def known(self) -> Sequence[Gpu]:
        return ()


@pytest.mark.parametrize(("way", "paid_per_used"), [("on_demand", 1), ("reserved_1y", 24 / 8)])
def test_a_reservation_is_paid_around_the_clock_in_training_too(
    way: str, paid_per_used: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_OneRental, "way", way)
    stock = _OneRental(
        assumptions=Assumptions().with_text({"hours_per_day": "8", "horizon_years": "1"}), learned=NOTHING_LEARNED,
        now=datetime(2026, 1, 2, tzinfo=UTC), prices_as_of=datetime(2026, 1, 2, tzinfo=UTC),
        place=Place(market="us", prices_include_tax=True), country="US",
    )  # fmt: skip
    usage = Usage(train="lora", train_tokens=20_000_000)
    said = sentences(ask(Question(model="llama-3.1-8b", usage=usage), stock, tmp_path))
    hours = next(one for one in said if one.template.startswith("Trains about {speed")).values["hours"]
    (cost,) = (
        one.values["cost"] for one in said if one.template == "Those hours cost {cost} of rent ({least} to {most})."
    )
    assert isinstance(cost, Sum)
    assert float(cost.amount) == pytest.approx(hours * paid_per_used, rel=1e-6)
