"""The cards that a title can still mean, and why."""

from __future__ import annotations

from dataclasses import dataclass, field

from gpuledger.transform.identity.family import Member
from gpuledger.transform.identity.reading import Mention


@dataclass(slots=True)
class Choice:
    """The cards that remain. `conflict` says what in the title contradicts all of them: then none of them is the answer."""

    members: list[Member] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    conflict: str | None = None
    #: The title names a card that the catalogue does not have; `members` are its neighbours.
    unknown: bool = False
    #: A maker's part number named the card: such a number is a card's.
    coded: bool = False
    #: The mentions that were used.
    mentions: list[Mention] = field(default_factory=list)

    def narrow(self, kept: list[Member], why: str) -> None:
        """Keep `kept`, if that leaves something and takes something away, and say why."""
        if kept and len(kept) < len(self.members):
            self.members = kept
            self.notes.append(why)
