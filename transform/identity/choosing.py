"""From what a title says to the cards that it can mean: every filter leaves the choice open rather than guess."""

from __future__ import annotations

from itertools import pairwise

from gpuledger.transform.identity import counts, narrowing
from gpuledger.transform.identity.choice import Choice
from gpuledger.transform.identity.cores import NUMBERED
from gpuledger.transform.identity.family import Family, Member
from gpuledger.transform.identity.index import Index
from gpuledger.transform.identity.reading import FORM_WORDS, Mention, Reading
from gpuledger.transform.identity.suffixes import letters_anywhere
from gpuledger.transform.identity.vocabulary import Vocabulary

#: Words that belong to a card wherever they stand, not only behind its number.
_ANYWHERE = frozenset(("server", "sff", "passive", "embedded", "cnx", "dgxs", "fhhl", "rtx", "frontier"))

#: Of a workstation card's edition for servers clouds say nothing (`RTX PRO 6000`): they rent both.
_EDITIONS = frozenset(("server",))
_WORKSTATION = frozenset(("workstation", "ws", "maxq"))


def choose(reading: Reading, index: Index, vocabulary: Vocabulary) -> Choice:
    """The cards that the title can mean."""
    mentions = [mention for mention in reading.mentions if _in_context(mention, reading, vocabulary)]
    strong = [mention for mention in mentions if not mention.weak]
    used = strong or _preferred(mentions, reading)
    if not used:
        return Choice()
    if strong:
        reading.memory += reading.memory_in_names
    # One card may be named several times, more and less exactly: "RTX 4070 SUPER ... DUAL-RTX4070S-O12G".
    chosen: Choice | None = None
    for choice in _by_place([(mention.start, _of(mention, reading, index, vocabulary)) for mention in _distinct(used)]):
        chosen = _together(chosen, choice) if chosen else choice
    if chosen is None:
        return Choice()
    chosen.mentions = used
    chosen.conflict = chosen.conflict or _modified(chosen, reading, vocabulary)
    if reading.unknown_names and not chosen.conflict:
        chosen.conflict = f"names {' and '.join(reading.unknown_names)} too, a card that we do not know"
    return chosen


def _modified(choice: Choice, reading: Reading, vocabulary: Vocabulary) -> str | None:
    """Why the card is no longer what was sold, where words say that its memory was exchanged: `2080 Ti, 11GB to 22GB`."""
    if words := reading.marks & vocabulary.modified_always:
        return f"modified, by the words {', '.join(sorted(words))}"
    if words := reading.marks & vocabulary.modified:
        strange = reading.sizes - frozenset().union(*(member.sizes for member in choice.members))
        if strange and choice.members:
            return f"modified, by the words {', '.join(sorted(words))}"
    return None


def _by_place(placed: list[tuple[int, Choice]]) -> list[Choice]:
    """One choice for each place in the title: families that share a bare number stand at one place, and any may be meant.

    Those that have no such card are left out: `AMD 7900 XT` is no GeForce 7900.
    """
    places: dict[int, list[Choice]] = {}
    for start, choice in placed:
        places.setdefault(start, []).append(choice)
    united = []
    for choices in places.values():
        possible = [choice for choice in choices if not choice.conflict] or choices
        first = possible[0]
        for other in possible[1:]:
            first.members += other.members
            first.notes += other.notes
        united.append(first)
    return united


def _distinct(mentions: list[Mention]) -> list[Mention]:
    seen: dict[tuple[object, ...], Mention] = {}
    for mention in mentions:
        seen.setdefault((mention.family.core, mention.suffixes), mention)
    return list(seen.values())


def _preferred(mentions: list[Mention], reading: Reading) -> list[Mention]:
    """Of bare numbers, those whose prefix stands somewhere else in the title: "3060 12GB (RTX)"."""
    lines = [line for line in _LINES if line in reading.marks]
    mentions = [mention for mention in mentions if not lines or _of_line(mention, lines)]
    matching = [mention for mention in mentions if mention.family.core[0] in reading.marks]
    return matching or mentions


#: Words that name a line of cards, and how the names of its cards begin: a bare number beside one is of that line.
_LINES = {"quadro": "Quadro", "geforce": "GeForce", "firepro": "FirePro"}


def _of_line(mention: Mention, lines: list[str]) -> bool:
    return any(member.name.startswith(_LINES[line]) for line in lines for member in mention.family.members)


def _in_context(mention: Mention, reading: Reading, vocabulary: Vocabulary) -> bool:
    """Whether the title is about graphics at all, for names that other products have too (P1000 is also a printer)."""
    if not mention.weak and not mention.family.joined and mention.family.core != ("titan",):
        return True
    if reading.makers:
        return any(member.maker in reading.makers for member in mention.family.members)
    if reading.rented and mention.family.joined and not (mention.family.short and reading.noise):
        return True  # `H100-MEGA-80GB`; but `a2-highgpu-1g` is the name of a machine
    if reading.marks & vocabulary.graphics:
        return True
    if mention.weak and not mention.family.joined:
        # "3060ti", "ASUS 3070 8GB"; but "Samsung 980 Pro" and "HP 980" are other products.
        return bool(mention.suffixes) or (
            not reading.noise and bool(reading.sizes or not reading.marks - vocabulary.plain)
        )
    if not reading.noise and not reading.marks - vocabulary.plain - frozenset(FORM_WORDS):
        return True
    sold_by_a_maker = bool(reading.marks & vocabulary.board_maker) and bool(reading.sizes & mention.family.sizes)
    return sold_by_a_maker and (not mention.weak or counts.of_cards_before(reading, mention, vocabulary) > 1)


def _together(one: Choice, other: Choice) -> Choice:
    both = [member for member in one.members if member in other.members]
    if both:
        return Choice(both, one.notes + other.notes, one.conflict or other.conflict)
    if not one.members or not other.members:
        # A name that no card has beside one that a card has: the title is not about the card alone.
        conflict = one.conflict or other.conflict or "names a card that we do not know"
        return Choice(one.members or other.members, one.notes + other.notes, conflict)
    return Choice(
        one.members + other.members, [*one.notes, *other.notes, "names different cards"], one.conflict or other.conflict
    )


def _of(mention: Mention, reading: Reading, index: Index, vocabulary: Vocabulary) -> Choice:
    choice = Choice()
    family = mention.family
    suffixes = set(mention.suffixes)
    strays = {word for word in family.suffixes & reading.marks if len(word) > 1} | letters_anywhere(
        reading.tokens, family
    )
    strays |= reading.letters_in_codes & family.suffixes
    if family.numbers_behind:  # `RX 580 2048SP`
        strays |= family.numbers_behind.intersection(token.text for token in reading.tokens)
        suffixes |= {
            token.text for token, after in pairwise(reading.tokens) if token.text in strays and after.text == "sp"
        }
    strays -= suffixes
    suffixes |= strays & _ANYWHERE
    strays -= suffixes
    if reading.rented and not reading.marks & _WORKSTATION:
        strays |= (family.suffixes & _EDITIONS) - suffixes
    fitting = [member for member in family.members if suffixes <= member.suffixes <= suffixes | strays]
    if not suffixes and not any(_is_card(member) for member in fitting):
        fitting = _versions(family, reading, vocabulary) or fitting
    choice.members = _mobile(fitting, choice, reading, vocabulary)
    if not choice.members:
        choice.conflict = f"no card is called {mention.spelled!r}"
        choice.unknown = True
        choice.members = [member for member in family.members if member.mobile is None and member.suffixes <= suffixes]
        return choice
    if strays:
        choice.notes.append(f"{', '.join(sorted(strays))} elsewhere in the title, or left out, may belong to the name")
    if not mention.weak:
        _other_line(mention, choice, reading, index)
    narrowing.by_words(choice, reading)
    narrowing.by_memory(choice, reading)
    narrowing.by_whole_name(choice, reading)
    names = dict.fromkeys(member.name for member in choice.members)
    choice.notes.insert(0, f"{mention.spelled!r} names {' or '.join(names)}")
    return choice


def _is_card(member: Member) -> bool:
    return member.mobile is None and member.gpu.segment != "mobile"


def _versions(family: Family, reading: Reading, vocabulary: Vocabulary) -> list[Member]:
    """The cards that a name may mean of which only versions are sold: `MI300` MI300A and MI300X, `RX 7900` three.

    Of one version only (`RX 7700`: RX 7700 XT) the name is another card that we do not know, or a careless one.
    """
    sold = [member for member in family.members if _is_card(member)]
    if reading.marks & vocabulary.mobile or "maxq" in reading.marks:
        return []
    return sold if len({member.name for member in sold}) > 1 else []


def _mobile(members: list[Member], choice: Choice, reading: Reading, vocabulary: Vocabulary) -> list[Member]:
    """Laptop parts where the title says so, else the others."""
    if "maxq" in reading.marks:
        # RTX PRO 6000 Max-Q is a workstation card: its word is the same, its family has no laptop part of that name.
        return [member for member in members if member.mobile == "maxq"]
    if reading.marks & vocabulary.mobile:
        laptop = [member for member in members if member.mobile == "m"]
        return laptop or [member for member in members if member.mobile == "maxq"]
    desktop = [member for member in members if member.mobile is None]
    if not desktop and any(member.gpu.segment != "integrated" for member in members):
        choice.conflict = "made for laptops only, and the title does not say laptop"
    return desktop or members


def _other_line(mention: Mention, choice: Choice, reading: Reading, index: Index) -> None:
    """`Quadro 4000` with an `RTX` elsewhere may be the Quadro RTX 4000: then both remain."""
    core = mention.family.core
    if len(core) != 2:
        return
    # "RX 580" is that line's; "Radeon 580" and "Radeon VII" may be a Radeon Pro's.
    own = core[0] != "radeon" and mention.spelled.startswith(core[0])
    prefixes = set() if own and core[0] in NUMBERED - {"gt", "gts"} else reading.marks & NUMBERED
    for prefix in (prefixes | (set() if own else reading.marks & {"pro"})) - {core[0]}:
        other = index.families.get((prefix, core[1]))
        if other:
            strays = other.suffixes & reading.marks
            choice.members += [
                member
                for member in other.members
                if member.mobile is None and mention.suffixes <= member.suffixes <= mention.suffixes | strays
            ]
            choice.notes.append(f"{prefix} elsewhere in the title may belong to the name")
