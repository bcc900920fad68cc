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


@pytest.mark.parametrize(("way", "measured"), [("full", 1650), ("lora", 3083), ("qlora", 2413)])
def test_training_of_the_measured_model_takes_as_long_as_it_did(way: str, measured: int) -> None:
    shape = catalogue.architecture("llama-3.1-8b")
    asked = tuning(shape, way, 2048, 2, Assumptions())  # type: ignore[arg-type]
    found = training.rate(by_id()["nvidia-geforce-rtx-4090"], 1, asked.way, asked.flops)
    assert found.expected == pytest.approx(measured)
    assert found.low < found.expected < found.high
    assert training.said(found).values["hours"] == pytest.approx(1e6 / measured / 3600)
    assert training.said(found, 20_000_000).values["hours"] == pytest.approx(2e7 / measured / 3600)


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
