"""The assumptions of sizes, speeds and costs as this machine sets them: `[assumptions]` in gpuledger.toml, over it the
environment (`GPULEDGER_ASSUMPTION_<NAME>`), over both what a command is told.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gpuledger.transform.assumptions import Assumptions, ImpossibleAssumption

PREFIX = "GPULEDGER_ASSUMPTION_"
TABLE = "assumptions"


@dataclass(frozen=True, slots=True)
class Given:
    """One assumption that is set: its value as text, and where it is set."""

    text: str
    place: str


def given(table: object, place: str, environment: Mapping[str, str]) -> dict[str, Given]:
    """What is set, by name. `words` is the table of the file at `place`, None where it has none.

    Raises ImpossibleAssumption, naming the place, where the table is none, or for an unknown name or impossible value.
    """
    values: dict[str, Given] = {}
    if table is not None:
        if not isinstance(table, Mapping):
            raise ImpossibleAssumption(f"{place}: {TABLE} must be a table ([{TABLE}]), not {table!r}")
        values |= {name: Given(str(value), f"{place} [{TABLE}]") for name, value in table.items()}
    for variable, text in environment.items():
        if variable.startswith(PREFIX):
            values[variable.removeprefix(PREFIX).lower()] = Given(text, f"the environment variable {variable}")
    for name, one in values.items():
        try:
            Assumptions().with_text({name: one.text})
        except ImpossibleAssumption as error:
            raise ImpossibleAssumption(f"{one.place}: {error}") from None
    return values


def texts(values: Mapping[str, Given]) -> dict[str, str]:
    """The values alone, as `Assumptions.with_text` takes them."""
    return {name: one.text for name, one in values.items()}
