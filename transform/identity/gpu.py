"""One GPU, as a row of `core.gpu` holds it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Literal, get_args

Segment = Literal[
    "consumer",
    "workstation",
    "data_center",
    "mobile",
    "integrated",
    "embedded",
    "mining",
    "console",
    "virtual",
    "accelerator",
]
SEGMENTS: tuple[str, ...] = get_args(Segment)
#: The form factor of a chip that is sold only inside a machine. Titles of cards never mean it.
MACHINE = "machine"


@dataclass(frozen=True, slots=True, kw_only=True)
class Gpu:
    """A GPU model with one memory size.

    `gpu_id` is the slug of vendor and name. It includes the memory size if the name is sold with several sizes.

    The field names contain the units. `memory_gb` (GiB, which shops call GB), bandwidth and TFLOPS are those of one GPU. For
    a board with several GPUs, multiply them by `gpus_on_board`; `tdp_w` and `msrp_usd` are of the whole board. `released_on`
    is the first day on sale if we know it, otherwise the catalogue's day, which is often the day of the announcement.

    `fp16_tflops` is the shader rate. `tensor_*` are dense matrix rates (no structured sparsity) from the data sheet named in
    `tensor_source`: FP16 with FP16 accumulation, and BF16 with FP32 accumulation, which GeForce cards do at half the rate.

    A field is None if no source that we can name has published it, or if boards with the same name and memory size differ in
    it. A visible gap is better than a figure that is right for half of the boards.
    """

    gpu_id: str
    vendor: str
    name: str
    architecture: str | None = None
    chip: str | None = None
    segment: Segment = "consumer"
    form_factor: str | None = None
    gpus_on_board: int = 1
    memory_gb: float | None = None
    memory_type: str | None = None
    memory_bus_bits: int | None = None
    memory_bandwidth_gb_s: float | None = None
    shading_units: int | None = None
    tensor_cores: int | None = None
    boost_clock_mhz: float | None = None
    fp32_tflops: float | None = None
    fp16_tflops: float | None = None
    fp64_tflops: float | None = None
    tensor_fp16_tflops: float | None = None
    tensor_bf16_tflops: float | None = None
    tensor_int8_tops: float | None = None
    tensor_fp8_tflops: float | None = None
    tensor_fp4_tflops: float | None = None
    tensor_int4_tops: float | None = None
    tensor_source: str | None = None
    tdp_w: int | None = None
    bus_interface: str | None = None
    released_on: date | None = None
    msrp_usd: Decimal | None = None
    msrp_source: str | None = None
    #: Key of the row in the specification catalogue from which the figures come; None for a card of our own overlay.
    catalogue_key: str | None = None

    def __hash__(self) -> int:
        # The id and the memory are enough. The default would hash all thirty fields at every look-up.
        return hash((self.gpu_id, self.memory_gb))

    @property
    def display_name(self) -> str:
        """Vendor and name, as people write them: `NVIDIA GeForce RTX 3060 12GB`."""
        return f"{self.vendor} {self.name}"
