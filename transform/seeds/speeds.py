"""Rows of core.gpu_speed: the figures of a card and of the calibration from which SQL can predict its speed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from gpuledger.transform.identity.gpu import Gpu
from gpuledger.transform.speed import memory
from gpuledger.transform.speed.calibration import Calibration, Case, calibrations
from gpuledger.transform.speed.cards import fastest_matrix_tflops, matrix_tflops, traits
from gpuledger.transform.speed.engines import accelerator_of, engines
from gpuledger.transform.speed.work import KINDS, Work
from gpuledger.warehouse.load.stage import Value

#: The program that core.gpu_speed is calibrated for.
ENGINE = "llama.cpp"
_DENSE = Work(
    weight_bytes=1e9,
    cache_bytes=0,
    layers=1,
    hidden=4096,
    is_mixture=False,
    weights="packed",
    flops_a_token=1e9,
    attention_flops_a_token=0,
    prompt_tokens=512,
)


def rows(gpus: Iterable[Gpu]) -> Iterator[Sequence[Value]]:
    """One row for each card with a known bandwidth, in the dictionary's order of columns.

    Accelerators that are no GPUs are left out, because the program does not run on them.
    """
    calibration = calibrations()[engines()[ENGINE].calibrated_as or ENGINE]
    mixture, state = replace(_DENSE, is_mixture=True), replace(_DENSE, kind="linear dense")
    for gpu in gpus:
        card, driver = traits(gpu), memory.driver_memory(gpu)
        if card is None or accelerator_of(gpu) is not None:
            continue
        deviations, measured = _deviations(calibration, Case("decode", card)), []
        for kind in KINDS:
            # Kinds of models that were measured on its architecture, how much was held at most, and if ranges did not hold.
            case = Case("decode", card, kind)
            tokens, _ = calibration.hull["decode"].get(f"{card.architecture} {kind}", (0, 0))
            if tokens:
                measured.append(f"{kind} to {tokens} tokens{'' if calibration.keeps(case) else ', estimated'}")
            if (of_kind := _deviations(calibration, case)) != deviations:
                measured.append(f"{kind} within {of_kind[0]}, else {of_kind[1]}")
        times, mixed, kept = (calibration.decode_times(card, work) for work in (_DENSE, mixture, state))
        yield (
            gpu.gpu_id, None if driver is None else driver.size / 1e9, None if driver is None else str(driver.source),
            times.a_byte * 1e9, times.a_cached_byte * 1e9, times.a_layer, mixed.a_layer / times.a_layer,
            kept.a_layer / times.a_layer, times.a_handover,
            *deviations,
            calibration.spread["decode_cache"], calibration.spread["decode_models"],
            "; ".join((*calibration.shapes, *measured)),
            matrix_tflops(gpu, 16), *(fastest_matrix_tflops(gpu, bits) for bits in (32, 16, 8, 4)),
        )  # fmt: skip


def _deviations(calibration: Calibration, case: Case) -> Sequence[float]:
    """The standard deviations of a case within what was measured, and outside of it."""
    return [calibration.card_deviation(case, is_inside=is_inside) for is_inside in (True, False)]
