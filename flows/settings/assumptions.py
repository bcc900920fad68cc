"""The assumptions of sizes, speeds and costs that this machine sets: in `[assumptions]` of gpuledger.toml, and in the
environment (`GPULEDGER_ASSUMPTION_<NAME>`), which overrides the file. The options of a command override both.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gpuledger.extract.message import Message
from gpuledger.transform.assumptions import Assumptions, ImpossibleAssumption

PREFIX = "GPULEDGER_ASSUMPTION_"
TABLE = "assumptions"


@dataclass(frozen=True, slots=True)
class SetAssumption:
    """One assumption that is set: its value as text, and where it is set."""

    text: str
    place: Message | str


def set_assumptions(table: object, place: str, environment: Mapping[str, str]) -> dict[str, SetAssumption]:
    """The assumptions that are set, by name. `table` is the table of the file at `place`, None if the file has none.

    Raises ImpossibleAssumption, naming the place, if `table` is no table, for an unknown name, or for an impossible value.
    """
    values: dict[str, SetAssumption] = {}
    if table is not None:
        if not isinstance(table, Mapping):
            raise ImpossibleAssumption(Message("settings.table_not", place=place, table=TABLE, table2=table))
        values |= {name: SetAssumption(str(value), f"{place} [{TABLE}]") for name, value in table.items()}
    for variable, text in environment.items():
        if variable.startswith(PREFIX):
            values[variable.removeprefix(PREFIX).lower()] = SetAssumption(
                text, Message("settings.environment_variable", variable=variable)
            )
    for name, assumption in values.items():
        try:
            Assumptions().with_text({name: assumption.text})
        except ImpossibleAssumption as error:
            raise ImpossibleAssumption(Message("settings.at_place", place=assumption.place, error=error)) from None
    return values


def texts(values: Mapping[str, SetAssumption]) -> dict[str, str]:
    """The values alone, as `Assumptions.with_text` takes them."""
    return {name: assumption.text for name, assumption in values.items()}
