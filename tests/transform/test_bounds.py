"""Bounds on speed, published measurements that stay within them, and speeds that follow from the matrix rate."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuledger.message import Sum
from gpuledger.transform.assumptions import Assumptions
from gpuledger.transform.buying import need
from gpuledger.transform.buying.answer import ask
from gpuledger.transform.buying.headline import sentences
from gpuledger.transform.buying.market import OfferFilter
from gpuledger.transform.buying.need import Need
from gpuledger.transform.buying.options import Market
from gpuledger.transform.buying.question import Question, Usage
from gpuledger.transform.buying.stock import Place, Stock
from gpuledger.transform.identity.catalogue import by_id
from gpuledger.transform.identity.gpu import Gpu
from gpuledger.transform.identity.resolver import Resolver
from gpuledger.transform.sizing import catalogue
from gpuledger.transform.sizing.running import kv_cache_bytes
from gpuledger.transform.sizing.tuning import tuning
from gpuledger.transform.sizing.weights import Weights, weights
from gpuledger.transform.speed import training
from gpuledger.transform.speed.learned import NOTHING_LEARNED
from tests.support import buying
from tools.measured import Excluded, Residual, measure, read_rows

TABLE = Path(__file__).with_name("measured_table.txt").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def resolver() -> Resolver:
    return Resolver.load()


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory, resolver: Resolver) -> tuple[list[Residual], list[Excluded]]:
    folder = tmp_path_factory.mktemp("tables")
    (folder / "one.md").write_text(TABLE, encoding="utf-8")
    # The same table in a second file adds nothing.
    (folder / "two.md").write_text(TABLE, encoding="utf-8")
    return measure(folder, resolver, Assumptions())


def test_rows_are_read_without_links_and_footnotes() -> None:
    rows = list(read_rows("one.md", TABLE))
    assert len(rows) == 9
    assert (rows[0].model, rows[0].system, rows[0].tokens_per_s) == (
        "Llama 3.2:3b",
        "Some PC (Nvidia RTX 4090)",
        334.67,
    )


def test_a_row_is_measured_or_excluded_with_its_reason(measured: tuple[list[Residual], list[Excluded]]) -> None:
    residuals, excluded = measured
    assert [(item.gpu.gpu_id, item.model_id, item.precision) for item in residuals] == [
        ("nvidia-geforce-rtx-4090", "llama-3.2-3b", "Q4_K_M"),
        ("nvidia-geforce-gtx-780-3gb", "llama-3.2-3b", "Q4_K_M"),
    ]
    assert [item.reason for item in excluded] == [
        "several cards",
        "ran on the CPU",
        "part of the model ran from the computer's memory",
        "no card named",
        "no discrete card of the catalogue: memory shared with the processor",
        "the model does not fit the card",
        "model not in the catalogue",
    ]


def test_a_measurement_beyond_the_bound_is_called_an_error(measured: tuple[list[Residual], list[Excluded]]) -> None:
    assert [item.verdict for item in measured[0]] == ["limited by the card", "error in data or formula"]


def test_every_published_measurement_is_within_its_bound(shared_data: Path, resolver: Resolver) -> None:
    folder = shared_data / "benchmarks"
    residuals, excluded = measure(folder, resolver, Assumptions())
    printed = {
        (row.model, row.system, row.tokens_per_s)
        for path in folder.glob("*.md")
        for row in read_rows(path.name, path.read_text(encoding="utf-8"))
    }
    assert len(residuals) + len(excluded) == len(printed)
    assert len(residuals) >= 50
    beyond = [item for item in residuals if not 0 < item.share <= 1]
    assert not beyond
    # Bounds that were ten times too high would be met as well: the best measured card comes near its own.
    assert max(item.share for item in residuals) > 0.75


def decode_bound(size: Weights, cache: int, bandwidth_gb_s: float, *, batch: int = 1) -> float:
    """The most tokens a second of all sequences: a step reads the weights once and the cache of each."""
    return batch * bandwidth_gb_s * 1e9 / (size.read_bytes(batch) + batch * cache)


@pytest.mark.parametrize(("bandwidth", "expected"), [(1008, 155), (360, 55)])
def test_the_surveys_llama_test_could_be_much_faster(bandwidth: float, expected: float) -> None:
    # 13B weights of 4 bits: 6.5 GB a token, so 1008 GB/s bound a 4090 near 155 tokens/s and 360 GB/s a 3060 near 55.
    bound = decode_bound(weights(catalogue.architecture("llama-13b"), "int4"), 0, bandwidth)
    assert bound == pytest.approx(expected, rel=0.02)


@pytest.mark.parametrize(("measured", "bandwidth", "share"), [(25.82, 1008, 0.17), (19.48, 360, 0.35)])
def test_and_was_limited_by_software(measured: float, bandwidth: float, share: float) -> None:
    bound = decode_bound(weights(catalogue.architecture("llama-13b"), "int4"), 0, bandwidth)
    assert measured / bound == pytest.approx(share, abs=0.006)
    assert need.verdict_on(measured, bound, Assumptions()) == "limited by software or CPU, not by the card"


def test_verdicts() -> None:
    assumptions = Assumptions()
    assert need.verdict_on(101, 100, assumptions) == "error in data or formula"
    assert need.verdict_on(100, 100, assumptions) == "limited by the card"
    assert need.verdict_on(40, 100, assumptions) == "limited by the card"
    assert need.verdict_on(39.9, 100, assumptions) == "limited by software or CPU, not by the card"
    strict = dataclasses.replace(assumptions, low_utilisation=0.8)
    assert need.verdict_on(70, 100, strict) == "limited by software or CPU, not by the card"


def test_cache_slows_decoding() -> None:
    architecture = catalogue.architecture("llama-2-7b")
    size = weights(architecture, "fp16")
    empty = decode_bound(size, 0, 1000)
    full = decode_bound(size, kv_cache_bytes(architecture, 4096), 1000)
    assert empty == pytest.approx(1e12 / size.read_bytes())
    assert full == pytest.approx(1e12 / (size.read_bytes() + 2 * 2**30))


@given(
    model_id=st.sampled_from(["llama-2-7b", "mixtral-8x7b", "gpt-oss-20b", "deepseek-v3", "gemma-3-27b"]),
    precision=st.sampled_from(["fp16", "Q8_0", "Q4_K_M", "int4"]),
    bandwidth=st.floats(10, 10_000),
    batch=st.integers(1, 256),
)
def test_more_bandwidth_and_fewer_bytes_never_slow_down(
    model_id: str, precision: str, bandwidth: float, batch: int
) -> None:
    size = weights(catalogue.architecture(model_id), precision)
    bound = decode_bound(size, 1000, bandwidth, batch=batch)
    assert bound > 0
    assert decode_bound(size, 1000, bandwidth * 2, batch=batch) == pytest.approx(2 * bound)
    assert decode_bound(size, 2000, bandwidth, batch=batch) < bound
    assert decode_bound(size, 1000, bandwidth, batch=batch + 1) > bound * 0.999


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
