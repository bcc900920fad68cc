"""Speeds that follow from the matrix rate: those of training."""

from __future__ import annotations

import pytest

from gpuledger.transform.assumptions import Assumptions
from gpuledger.transform.identity.catalogue import by_id
from gpuledger.transform.sizing import catalogue
from gpuledger.transform.sizing.tuning import tuning
from gpuledger.transform.speed.by_rate import training


@pytest.mark.parametrize(("way", "measured"), [("full", 1650), ("lora", 3083), ("qlora", 2413)])
def test_training_of_the_measured_model_takes_as_long_as_it_did(way: str, measured: int) -> None:
    shape = catalogue.architecture("llama-3.1-8b")
    asked = tuning(shape, way, 2048, 2, Assumptions())  # type: ignore[arg-type]
    found = training.rate(by_id()["nvidia-geforce-rtx-4090"], 1, asked.way, asked.flops)
    assert found is not None
    assert found.expected == pytest.approx(measured)
    assert found.low < found.expected < found.high
    assert training.said(found).values["hours"] == pytest.approx(1e6 / measured / 3600)
    assert training.said(found, 20_000_000).values["hours"] == pytest.approx(2e7 / measured / 3600)
