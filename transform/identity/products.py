"""Is the product a card at all? Brackets, water blocks, computers, laptops, enclosures and lots of cards are not one card."""

from __future__ import annotations

from transform.identity.reading import Reading
from transform.identity.vocabulary import Vocabulary


def not_a_card(reading: Reading, words: Vocabulary) -> str | None:
    """Why the product is not a card; None where nothing speaks against a card."""
    marks = reading.marks
    named = bool(reading.mentions)
    title = reading.title.lower()
    if (found := marks & words.broken) or any(phrase in title for phrase in words.broken_phrases):
        return f"sold as broken, partial or empty ({', '.join(sorted(found)) or 'phrase'})"
    if found := marks & words.enclosure:
        return f"an external enclosure ({', '.join(sorted(found))})"
    if found := marks & words.accessory:
        return f"an accessory ({', '.join(sorted(found))})"
    made = bool(marks & words.board_maker)
    purpose = marks & words.purpose
    if found := marks & words.accessory_unless_card:
        card = named and not purpose and (bool(reading.memory) and (made or not marks & words.accessory_maker))
        if not card:
            return f"an accessory ({', '.join(sorted(found | purpose))})"
    if found := marks & words.accessory_maker:
        return f"from a maker of accessories only ({', '.join(sorted(found))})"
    if found := marks & words.other:
        return f"another product ({', '.join(sorted(found))})"
    if found := marks & words.computer:
        return f"a computer ({', '.join(sorted(found))})"
    if (found := marks & words.laptop) and (reading.noise or marks & words.processor or not named):
        return f"a laptop ({', '.join(sorted(found))})"
    if found := marks & words.processor:
        return f"a computer ({', '.join(sorted(found))})"
    return None


def is_bare(reading: Reading, words: Vocabulary) -> bool:
    """Whether the title is nothing but a chip's name: only then can it mean a laptop's or a processor's GPU by itself."""
    extra = (
        reading.marks
        - words.plain
        - words.mobile
        - frozenset(words.vendor)
        - frozenset("(,/|")
        - {"pro", "maxq", "quadro", "xt"}
    )
    return not reading.noise and not extra
