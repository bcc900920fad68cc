"""The cards that a title can still mean, and why."""

from __future__ import annotations

from dataclasses import dataclass, field

from gpuledger.transform.identity.family import Member
from gpuledger.transform.identity.reading import Mention


@dataclass(slots=True)
class Choice:
    """The cards that remain. `conflict` says what in the title contradicts all of them, so that no card is the answer."""

    members: list[Member] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    conflict: str | None = None
    #: The title names a card that the catalogue does not have; `members` are similar cards.
    unknown: bool = False
    #: A maker's part number named the card, which shows that the product is a card.
    coded: bool = False
    #: The mentions from which the cards were chosen.
    mentions: list[Mention] = field(default_factory=list)

    def narrow(self, remaining: list[Member], why: str) -> None:
        """Keep only the cards in `remaining` and note `why`. Nothing happens if no card or every card remains."""
        if remaining and len(remaining) < len(self.members):
            self.members = remaining
            self.notes.append(why)
