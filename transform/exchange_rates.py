"""The reference rates that the program brings: what is known of a currency before a night has read newer ones."""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Mapping
from datetime import date
from pathlib import Path


@functools.cache
def rates() -> tuple[date, Mapping[str, float]]:
    """The day of the rates, and the dollars for one unit of each currency."""
    content = tomllib.loads(Path(__file__).with_name("exchange_rates.toml").read_text(encoding="utf-8"))
    euros: dict[str, float] = content["units_for_a_euro"]
    dollars = euros["USD"]
    return content["day"], {"EUR": dollars, **{code: dollars / units for code, units in euros.items()}}
