"""Compares published with recomputed figures, in exact numbers, and says whether they agree."""

from __future__ import annotations

import importlib
import math
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal, get_args

FOLDER = Path(__file__).parent

#: `half_up` and `down` round the recomputed value to the printed decimals. `within_inputs` checks whether the printed value
#: lies in the range that the rounding of the inputs allows.
Rounding = Literal["half_up", "down", "within_inputs"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """One published figure. `statement` is in our own words.

    `recomputed` is exact up to 28 digits. It is None, as is `agrees`, if the figure cannot be computed from anything that is
    published. `decimals` and `rounding` say how the two values are compared: a published value from `lowest` to `highest`
    agrees. `erratum` says why a figure that does not agree is wrong.
    """

    document: str
    claim_id: str
    statement: str
    published: Decimal
    unit: str
    recomputed: Decimal | None
    lowest: Decimal | None
    highest: Decimal | None
    agrees: bool | None
    decimals: int
    rounding: Rounding
    erratum: str | None


def recompute() -> list[Claim]:
    """Every claim of every document in this folder, in the order of the files.

    Raises ValueError if a file has a mistake: a claim that is not recomputed, a value without a claim, a figure that does
    not agree and has no erratum, or a figure that agrees and has one.
    """
    return [claim for path in sorted(FOLDER.glob("*.toml")) for claim in _document(path)]


def load(name: str) -> dict[str, Any]:
    """The file of one document. Numbers with a point become Decimal, as printed. `name` is that of its module."""
    return tomllib.loads((FOLDER / f"{name}.toml").read_text(encoding="utf-8"), parse_float=Decimal)


def _document(path: Path) -> Iterator[Claim]:
    module = importlib.import_module(f"gpuledger.transform.claims.{path.stem}")
    data = load(path.stem)
    values: dict[str, Fraction | None] = module.recompute(data["inputs"])
    ranges = module.input_ranges(data["inputs"]) if hasattr(module, "input_ranges") else {}
    ids = [entry["id"] for entry in data["claim"]]
    if sorted(ids) != sorted(values):
        raise ValueError(f"{path.name}: claims and recomputed values differ in {sorted(set(ids) ^ set(values))}")
    for entry in data["claim"]:
        yield _claim(path.name, data["document"], entry, values[entry["id"]], ranges.get(entry["id"]))


def _claim(
    where: str,
    document: str,
    entry: Mapping[str, Any],
    value: Fraction | None,
    allowed: tuple[Fraction, Fraction] | None,
) -> Claim:
    rounding: Rounding = entry.get("rounding", "half_up")
    if rounding not in get_args(Rounding):
        raise ValueError(f"{where}: {entry['id']}: rounding {rounding!r} is none of {', '.join(get_args(Rounding))}")
    published, decimals = Decimal(entry["published"]), entry.get("decimals", 0)
    bounds = None if value is None else _bounds(value, decimals, rounding, allowed)
    agrees = None if bounds is None else bounds[0] <= Fraction(published) <= bounds[1]
    erratum = entry.get("erratum")
    reason = entry.get("unverifiable")
    if (agrees is False) != (erratum is not None) or (agrees is None) != (reason is not None):
        raise ValueError(
            f"{where}: {entry['id']}: published {published}, recomputed {value}: a figure that does not agree needs an "
            "erratum, one that follows from nothing published needs a reason, and no other may have them"
        )
    return Claim(
        document=document,
        claim_id=entry["id"],
        statement=entry["statement"],
        published=published,
        unit=entry["unit"],
        # Division rounds to the 28 digits of Python's default context. The comparison above used the exact value.
        recomputed=None if value is None else _decimal(value),
        lowest=None if bounds is None else _decimal(bounds[0]),
        highest=None if bounds is None else _decimal(bounds[1]),
        agrees=agrees,
        decimals=decimals,
        rounding=rounding,
        erratum=erratum or reason,
    )


def _bounds(
    value: Fraction, decimals: int, rounding: Rounding, allowed: tuple[Fraction, Fraction] | None
) -> tuple[Fraction, Fraction]:
    """The lowest and the highest published value that agree with the recomputed value."""
    if rounding == "within_inputs":
        if allowed is None:
            raise ValueError("a claim compared within its inputs needs the range that they allow")
        return allowed
    printed = rounded(value, decimals, half_up=rounding == "half_up")
    return printed, printed


def _decimal(value: Fraction) -> Decimal:
    return Decimal(value.numerator) / value.denominator


def rounded(value: Fraction, decimals: int, *, half_up: bool) -> Fraction:
    """`value` rounded once and exactly to `decimals` places: half up (away from zero), or cut off."""
    scaled = abs(value) * 10**decimals
    whole = math.floor(scaled + Fraction(1, 2)) if half_up else math.floor(scaled)
    return Fraction(whole if value >= 0 else -whole, 10**decimals)
