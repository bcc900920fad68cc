"""Chooses the cards that a title can mean. The filters never guess: in doubt they leave the choice open."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

from gpuledger.transform.identity import aliases, catalogue
from gpuledger.transform.identity.index import NUMBERED, Family, Member
from gpuledger.transform.identity.reader import (
    ARCHITECTURES,
    FORM_WORDS,
    LINES,
    Mention,
    Reader,
    Reading,
    cards_before,
    letters_anywhere,
)
from gpuledger.transform.identity.resolution import Evidence


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

    def take(self, other: Choice, why: str) -> None:
        """Become another choice, which names the card where this one does not."""
        self.members, self.mentions, self.conflict, self.unknown = other.members, other.mentions, None, False
        self.notes += [why, *other.notes]


_TELLING = frozenset(FORM_WORDS) | {"pro", "quadro", "gtx"}
#: Sockets of server modules, which names of cards have too: the V100 was made for SXM2 and for SXM3.
_SOCKETS = frozenset(("sxm2", "sxm3", "sxm4", "sxm5", "sxm6"))
#: All words by which a choice is narrowed. Most titles have none of them.
_SAID = ARCHITECTURES | _TELLING | _SOCKETS | {"vega"}


def by_words(choice: Choice, reading: Reading) -> None:
    """Narrow by maker, architecture and form factor. An architecture that no card of the name has is a conflict."""
    if reading.makers and any(m.maker not in reading.makers for m in choice.members):
        made_by = ", ".join(sorted(reading.makers))
        remaining = [m for m in choice.members if m.maker in reading.makers]
        if not remaining:  # `NVIDIA RTX PRO 5500` is no Radeon Pro 5500
            choice.conflict, choice.unknown = f"{made_by} makes no such card", True
        choice.narrow(remaining, f"made by {made_by}")
    # FirePro M4000 is a laptop part, though its name does not show it; Quadro M4000 is a card.
    choice.narrow([m for m in choice.members if m.gpu.segment != "mobile"], "sold as a card")
    said = reading.marks & _SAID
    if not said:
        return
    stated = {"ada" if word == "lovelace" else word for word in said & ARCHITECTURES}
    if stated:
        remaining = [m for m in choice.members if m.architecture in stated]
        if not remaining:
            choice.conflict = f"{', '.join(sorted(stated))} is not its architecture"
        choice.narrow(remaining, f"architecture {', '.join(sorted(stated))}")
    if "vega" in said and not any("Vega" in m.name for m in choice.members):
        choice.conflict = choice.conflict or "vega is not its name"  # Radeon Pro Vega II Duo is no Radeon Pro Duo
    texts = reading.words
    along = next((place for place, word in enumerate(texts) if word in reading.vocabulary.along), len(texts))
    # An adapter that comes along has another form: `V100 SXM2 16GB with SXM2 to PCIe adapter`.
    said = said.intersection(texts[:along]) or said
    forms = {FORM_WORDS[mark] for mark in said & FORM_WORDS.keys()}
    if {"sxm", "pcie"} <= forms and all(any(form in m.open_words for m in choice.members) for form in ("sxm", "pcie")):
        choice.conflict = (
            "states SXM and PCIe"  # an SXM module on an adapter board, or a card with a word of the other kind
        )
        return
    if exact := said & _SOCKETS:
        named = [m for m in choice.members if not exact.isdisjoint(m.name.lower().split())]
        choice.narrow(named, f"{', '.join(sorted(exact))} stands in the title")
    for word in sorted({FORM_WORDS.get(mark, mark) for mark in said & _TELLING}):
        choice.narrow([m for m in choice.members if word in m.open_words], f"{word} stands in the title")


def by_whole_name(choice: Choice, reading: Reading) -> None:
    """Of cards of two makers, keep the one whose whole name is the word: `A40` is NVIDIA's; Intel's is an Arc Pro A40."""
    if len({m.maker for m in choice.members}) < 2 or reading.marks & {"arc", "pro", "radeon"}:
        return
    whole = [m for m in choice.members if " " not in m.name]
    choice.narrow(whole, "the whole name of a card, and of the others a part")


def by_memory(choice: Choice, reading: Reading) -> None:
    """Narrow by memory size, and by memory type if it is part of a card's name. A size that no card has is a conflict."""
    sizes = reading.sizes
    if reading.memory_types and all(m.gpu.segment == "data_center" for m in choice.members):
        # "H100 80GB HBM3" is the SXM part. On other cards shops often state a wrong type, so it decides nothing there.
        remaining = [m for m in choice.members if m.gpu.memory_type in reading.memory_types]
        choice.narrow(remaining, f"memory type {', '.join(sorted(reading.memory_types))}")
    if sizes:
        remaining = [m for m in choice.members if m.sizes & sizes]
        stated = " and ".join(catalogue.memory_text(size) for size in sorted(sizes))
        if not remaining and any(m.sizes for m in choice.members):
            choice.conflict = f"states {stated}, which it was not sold with"
        if choice.members and not reading.memory_by_choice <= frozenset().union(*(m.sizes for m in choice.members)):
            choice.conflict = f"{stated} to choose from, and it was not sold with each of them"
        choice.narrow(remaining, f"memory {stated}")
    named_types = {m.named_type for m in choice.members}
    if len(named_types) > 1:
        if reading.memory_types:
            remaining = [m for m in choice.members if m.named_type in reading.memory_types]
            # A card without a type in its name may have one of these: it has it, or we do not know its type.
            types = {*reading.memory_types, None}
            remaining = remaining or [m for m in choice.members if not m.named_type and m.gpu.memory_type in types]
            if not remaining:
                choice.conflict = f"states {', '.join(sorted(reading.memory_types))}, which it was not sold with"
            choice.narrow(remaining, f"memory type {', '.join(sorted(reading.memory_types))}")
        else:
            # A later variant has its memory type in its name. The name without a type means the first version.
            choice.narrow(
                [m for m in choice.members if m.named_type is None],
                "no memory type stated: the version that has none in its name",
            )


#: NVIDIA's own cards. Later versions with another memory were made by its partners alone.
_FOUNDERS = frozenset(("fe", "founders"))
#: Suffixes that belong to a card anywhere in the title, not only behind its number.
_ANYWHERE = frozenset(("server", "sff", "passive", "embedded", "cnx", "dgxs", "fhhl", "rtx", "frontier"))

#: Editions that clouds do not name: `RTX PRO 6000` may be the workstation card or the server edition, as they rent both.
_EDITIONS = frozenset(("server",))
_WORKSTATION = frozenset(("workstation", "ws", "maxq"))


def choose(reading: Reading) -> Choice:
    """The cards that the title can mean."""
    sold = [mention for mention in reading.mentions if not _is_compared(mention, reading)]
    mentions = [mention for mention in sold if _in_context(mention, reading)]
    strong = [mention for mention in mentions if not mention.weak]
    used = _without_repetitions(strong, reading) or _preferred(mentions, reading)
    if not used:
        return Choice()
    used = [mention for mention in sold if mention in used or (mention.weak and _is_listed(mention, reading))]
    if strong:
        reading.memory += reading.memory_in_names
    # A title may name one card several times, more and less exactly: "RTX 4070 SUPER ... DUAL-RTX4070S-O12G".
    chosen: Choice | None = None
    for choice in _united_by_place(
        [(mention.start, _choice_of_mention(mention, reading)) for mention in _distinct(used)]
    ):
        chosen = _combined(chosen, choice) if chosen else choice
    if chosen is None:
        return Choice()
    chosen.mentions = used
    chosen.conflict = chosen.conflict or _modified(chosen, reading)
    if reading.unknown_names and not chosen.conflict:
        chosen.conflict = f"names {' and '.join(reading.unknown_names)} too, a card that we do not know"
    return chosen


def _is_listed(mention: Mention, reading: Reading) -> bool:
    """Whether a number of four digits stands behind a comma or another sign of lists: `4090 FE, 4080 Strix, 7900 XTX`."""
    start, tokens = mention.start, reading.tokens
    return start > 0 and tokens[start - 1].text in set(",/|") and len(tokens[start].text) == len("4090")


def _is_compared(mention: Mention, reading: Reading) -> bool:
    """Whether a later name says what the card is like, what replaces it, or whose software it has: `faster than RTX 4060`,
    `upgraded to RTX 5080`, `with Vega 64 BIOS`.
    """
    texts, words = reading.words, reading.vocabulary
    start = mention.start
    while start and (texts[start - 1] in words.maker or texts[start - 1] in ("a", "the")):
        start -= 1
    first = mention is reading.mentions[0]
    return texts[mention.end : mention.end + 1] == ["bios"] or (not first and texts[start - 1] in words.comparing)


#: eBay cuts titles off at 80 letters, in the middle of a name too.
_CUT_OFF = range(77, 81)


def _without_repetitions(mentions: list[Mention], reading: Reading) -> list[Mention]:
    """Leave out the name of a chip beside a card that has it (`Tesla V100 GV100`), and a name that the end of the title cuts
    off (`RTX 5070 Ti ... RTX 5070`).
    """
    if len(mentions) < 2:
        return mentions
    chips = {
        member.gpu.chip.lower()
        for one in mentions
        for member in one.family.members
        if member.gpu.chip and one.family.core[0] != member.gpu.chip.lower()
    }
    kept = [one for one in mentions if one.family.core[0] not in chips]
    last = kept[-1]
    cut_off = last.end == len(reading.tokens) and reading.letters in _CUT_OFF
    if cut_off and any(one.family is last.family and one.suffixes > last.suffixes for one in kept[:-1]):
        kept.pop()
    return kept


def _modified(choice: Choice, reading: Reading) -> str | None:
    """The reason, if words say that somebody exchanged the card's memory (`2080 Ti, 11GB to 22GB`); otherwise None."""
    if evidence := reading.marks & reading.vocabulary.modified_always:
        return f"modified, by the words {', '.join(sorted(evidence))}"
    if evidence := reading.marks & reading.vocabulary.modified:
        strange = reading.sizes - frozenset().union(*(member.sizes for member in choice.members))
        if strange and choice.members:
            return f"modified, by the words {', '.join(sorted(evidence))}"
    return None


def _united_by_place(placed: list[tuple[int, Choice]]) -> list[Choice]:
    """Unite the choices at each place of the title. Families that share a bare number stand at one place, and the title may
    mean any of them.

    Families without such a card are left out: `AMD 7900 XT` is no GeForce 7900.
    """
    places: dict[int, list[Choice]] = {}
    for start, choice in placed:
        places.setdefault(start, []).append(choice)
    united = []
    for choices in places.values():
        possible = [choice for choice in choices if not choice.conflict] or choices
        first = possible[0]
        for next_choice in possible[1:]:
            first.members += next_choice.members
            first.notes += next_choice.notes
        united.append(first)
    return united


def _distinct(mentions: list[Mention]) -> list[Mention]:
    seen: dict[tuple[object, ...], Mention] = {}
    for mention in mentions:
        seen.setdefault((mention.family.core, mention.suffixes), mention)
    return list(seen.values())


def _preferred(mentions: list[Mention], reading: Reading) -> list[Mention]:
    """Of bare numbers, prefer those whose prefix stands somewhere else in the title: "3060 12GB (RTX)"."""
    lines = [line for line in _LINES if line in reading.marks]
    mentions = [mention for mention in mentions if not lines or _of_line(mention, lines)]
    matching = [mention for mention in mentions if mention.family.core[0] in reading.marks]
    return matching or mentions


#: Words that name a line of cards, and how the names of its cards begin. If a title has one, its bare numbers are cards of
#: that line.
_LINES = {"quadro": "Quadro", "geforce": "GeForce", "firepro": "FirePro"}


def _of_line(mention: Mention, lines: list[str]) -> bool:
    return any(member.name.startswith(_LINES[line]) for line in lines for member in mention.family.members)


def _in_context(mention: Mention, reading: Reading) -> bool:
    """Whether the title is about graphics. Only names that other products share need the check (P1000 is also a printer)."""
    vocabulary = reading.vocabulary
    is_titan = mention.family.core == ("titan",) and "xp" not in mention.suffixes
    if not (mention.weak or mention.family.joined or is_titan):
        return True
    if reading.makers:
        return any(member.maker in reading.makers for member in mention.family.members)
    named_pro = all("pro" in member.name.lower().split() for member in mention.family.members)
    if named_pro and mention.start and reading.tokens[mention.start - 1].text == "pro":
        return True  # `AI PRO R9700`, `PRO W7900`
    if reading.rented and mention.family.joined and not (mention.family.short and reading.noise):
        return True  # `H100-MEGA-80GB` names the card, but `a2-highgpu-1g` is the name of a machine
    if reading.marks & vocabulary.graphics:
        return True
    fits = reading.sizes & mention.family.sizes
    of_cards = fits or reading.marks & vocabulary.own_cards
    sold_by_a_maker = bool(of_cards and reading.marks & vocabulary.board_maker)
    if mention.weak and not mention.family.joined:
        # "3060ti", "ASUS 3070 8GB" and "Gainward Phantom 3090 24GB" are cards, but "Samsung 980 Pro", "HP 980" and "Dell
        # 3080 8GB" are other products.
        card = sold_by_a_maker and mention.family.core[0] in LINES and len(mention.spelled) == len("4090")
        return (
            bool(mention.suffixes)
            or (card and reading.marks.isdisjoint(vocabulary.builders))
            or (not reading.noise and bool(reading.sizes or not reading.marks - vocabulary.plain))
        )
    if not reading.noise and not reading.marks - vocabulary.plain - frozenset(FORM_WORDS):
        return True
    # `H100 80GB PCIe HBM2e`: size and type of memory are the card's, as makers round it (HBM2).
    stated = {kind.rstrip("eX") for kind in reading.memory_types} if fits else ()
    typed = any((member.gpu.memory_type or "").rstrip("eX") in stated for member in mention.family.members)
    return typed or (sold_by_a_maker and (not mention.weak or cards_before(reading, mention) > 1))


def _combined(first: Choice, second: Choice) -> Choice:
    shared = [member for member in first.members if member in second.members]
    if shared:
        return Choice(shared, first.notes + second.notes, first.conflict or second.conflict)
    if not first.members or not second.members:
        # One name is a card's and the other is no card's, so the title is not about the card alone.
        conflict = first.conflict or second.conflict or "names a card that we do not know"
        return Choice(first.members or second.members, first.notes + second.notes, conflict)
    return Choice(
        first.members + second.members,
        [*first.notes, *second.notes, "names different cards"],
        first.conflict or second.conflict,
    )


def _choice_of_mention(mention: Mention, reading: Reading) -> Choice:
    choice = Choice()
    family, words = mention.family, reading.vocabulary
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
    not_it = words.denying | words.comparing
    if strays:
        pairs = [(before.text, after.text) for before, after in pairwise(reading.tokens)]
        strays -= {after for before, after in pairs if before in not_it}
        strays -= {word for word, after in pairs if after in words.lines_behind.get(word, ())}
    strays -= suffixes
    suffixes |= strays & _ANYWHERE
    strays -= suffixes
    if reading.rented and not reading.marks & _WORKSTATION:
        strays |= (family.suffixes & _EDITIONS) - suffixes
    fitting = [member for member in family.members if suffixes <= member.suffixes <= suffixes | strays]
    if not suffixes and not any(_is_card(member) for member in fitting):
        fitting = _sold_versions(family, reading) or fitting
    choice.members = _laptop_or_desktop(fitting, choice, reading)
    if not choice.members:
        choice.conflict = f"no card is called {mention.spelled!r}"
        choice.unknown = True
        choice.members = [member for member in family.members if member.mobile is None and member.suffixes <= suffixes]
        return choice
    if strays:
        choice.notes.append(f"{', '.join(sorted(strays))} elsewhere in the title, or left out, may belong to the name")
    if not mention.weak:
        _add_other_line(mention, choice, reading)
    by_words(choice, reading)
    by_memory(choice, reading)
    if not reading.marks.isdisjoint(_FOUNDERS):
        launched = min((member.gpu.released_on for member in choice.members if member.gpu.released_on), default=None)
        first = [member for member in choice.members if member.gpu.released_on == launched]
        choice.narrow(first, "only the version of the launch has a Founders Edition")
    by_whole_name(choice, reading)
    names = dict.fromkeys(member.name for member in choice.members)
    choice.notes.insert(0, f"{mention.spelled!r} names {' or '.join(names)}")
    return choice


def _is_card(member: Member) -> bool:
    return member.mobile is None and member.gpu.segment != "mobile"


def _sold_versions(family: Family, reading: Reading) -> list[Member]:
    """The cards that a name without a suffix may mean if only versions of it are sold: MI300A and MI300X for `MI300`.

    Empty if there is only one version (RX 7700 XT for `RX 7700`): the name may then be a card that we do not know, or the
    seller left out the suffix.
    """
    sold = [member for member in family.members if _is_card(member)]
    if reading.marks & reading.vocabulary.mobile or "maxq" in reading.marks:
        return []
    return sold if len({member.name for member in sold}) > 1 else []


def _laptop_or_desktop(members: list[Member], choice: Choice, reading: Reading) -> list[Member]:
    """The laptop parts if the title says laptop, otherwise the other cards."""
    if "maxq" in reading.marks:
        # RTX PRO 6000 Max-Q is a workstation card. It has the same word, and its family has no laptop part of that name.
        return [member for member in members if member.mobile == "maxq"]
    if reading.marks & reading.vocabulary.mobile:
        laptop = [member for member in members if member.mobile == "m"]
        return laptop or [member for member in members if member.mobile == "maxq"]
    desktop = [member for member in members if member.mobile is None]
    if not desktop and any(member.gpu.segment != "integrated" for member in members):
        choice.conflict = "made for laptops only, and the title does not say laptop"
    return desktop or members


def _add_other_line(mention: Mention, choice: Choice, reading: Reading) -> None:
    """Add cards of a line whose prefix stands elsewhere in the title: `Quadro 4000` and `RTX` may mean Quadro RTX 4000."""
    core = mention.family.core
    if len(core) != 2:
        return
    # "RX 580" is a card of that line. "Radeon 580" and "Radeon VII" may be a Radeon Pro.
    own = core[0] != "radeon" and mention.spelled.startswith(core[0])
    prefixes = set() if own and core[0] in NUMBERED - {"gt", "gts"} else reading.marks & NUMBERED
    for prefix in (prefixes | (set() if own else reading.marks & {"pro"})) - {core[0]}:
        other_family = reading.index.families.get((prefix, core[1]))
        if other_family:
            strays = other_family.suffixes & reading.marks
            choice.members += [
                member
                for member in other_family.members
                if member.mobile is None and mention.suffixes <= member.suffixes <= mention.suffixes | strays
            ]
            choice.notes.append(f"{prefix} elsewhere in the title may belong to the name")


# ── what the other fields of an item say ────────────────────────────────────────────────────────────────────────────


def settle(choice: Choice, evidence: Evidence, reader: Reader) -> None:
    """Narrow `choice` by the fields of `evidence`, the most certain field first.

    The chip field and the memory field are about this card, so they can also contradict the title. A specification text or a
    part number may have other numbers in it (a bus width, the memory of a whole system), so it only decides what is still
    open.
    """
    if evidence.chipset:
        # Part catalogues write the shader count behind a dash: "Radeon RX 560 - 1024".
        _by_chip(choice, choose(reader.read_title(evidence.chipset.split(" - ")[0])), evidence.chipset)
    if evidence.memory:
        field = f"{evidence.memory} GB" if evidence.memory.strip().replace(".", "", 1).isdigit() else evidence.memory
        _by_memory(choice, reader.read_title(field), f"the memory field says {evidence.memory!r}", contradicts=True)
    for name, text in (("part number", evidence.mpn), ("specification", evidence.specs)):
        if not text:
            continue
        reading = reader.read_title(text)
        if text == evidence.mpn:
            _by_code(choice, text, reading, reader)
        if not choice.members:
            _by_text(choice, reading, f"the {name} names it")
        elif len(choice.members) > 1:
            _by_memory(choice, reading, f"by the {name}", contradicts=False)
            why = f"memory type by the {name}"
            if len({member.named_type for member in choice.members}) > 1:
                choice.narrow([m for m in choice.members if m.gpu.memory_type in reading.memory_types], why)
            _by_form(choice, reading, f"form factor by the {name}")


def _by_chip(choice: Choice, chip_choice: Choice, text: str) -> None:
    if not chip_choice.members or chip_choice.conflict:
        return  # "NVIDIA", "AMD": no chip
    why = f"the chip field says {text!r}"
    shared = [member for member in choice.members if member in chip_choice.members]
    same_family = {mention.family.core for mention in choice.mentions} & {
        mention.family.core for mention in chip_choice.mentions
    }
    if not choice.members or (choice.conflict and same_family and not shared):
        # The title names nothing, or a name that is no card by itself (`RX 5600`, short for RX 5600 XT).
        choice.members, choice.conflict, choice.unknown = list(chip_choice.members), None, False
        choice.notes.append(why)
    elif shared:
        choice.narrow(shared, why)
    else:
        choice.members = choice.members + chip_choice.members
        choice.conflict = f"{why}, the title another card"


def _by_memory(choice: Choice, reading: Reading, why: str, *, contradicts: bool) -> None:
    sizes = reading.sizes
    remaining = [member for member in choice.members if member.sizes & sizes]
    if sizes and not remaining and contradicts and any(member.sizes for member in choice.members):
        choice.conflict = choice.conflict or f"{why}, which it was not sold with or the title contradicts"
    choice.narrow(remaining, why)


def _by_form(choice: Choice, reading: Reading, why: str) -> None:
    """Narrow by form factor: `gpu_1x_h100_sxm5` is an SXM part. A text with two forms (an SXM machine with PCIe slots)
    decides nothing.
    """
    forms = {FORM_WORDS[mark] for mark in reading.marks if mark in FORM_WORDS}
    if len(forms) == 1:
        choice.narrow([member for member in choice.members if forms <= member.open_words], why)


def _by_code(choice: Choice, mpn: str, whole: Reading, reader: Reader) -> None:
    """Narrow by a maker's part number that names a chip (`GV-N406TEAGLE OC-8GD`). It shows that the product is a card."""
    reliable = [spelled for spelled, _ in aliases.readings(mpn, checks=True)]
    for spelled, maker in aliases.readings(mpn):
        reading = reader.read_title(spelled)
        sold = frozenset(size for mention in reading.mentions for size in mention.family.sizes)
        reading.memory += [(size, inside) for size, inside in whole.memory if size in sold]
        coded_choice = choose(reading)
        if coded_choice.conflict or not coded_choice.members:
            continue
        shared = [member for member in choice.members if member in coded_choice.members]
        why = f"{maker}'s part number says {spelled!r}"
        if shared:
            choice.narrow(shared, why)
        elif not choice.members:
            choice.take(coded_choice, why)
        elif spelled in reliable:
            choice.members, choice.conflict = choice.members + coded_choice.members, f"{why}, the title another card"
        else:
            continue
        choice.coded = True
        return


def _by_text(choice: Choice, reading: Reading, why: str) -> None:
    """Take the card from a text that names exactly one family. A text that names several only compares cards."""
    if len({mention.family.core for mention in reading.mentions if not mention.weak}) == 1:
        text_choice = choose(reading)
        if text_choice.members and not text_choice.conflict:
            choice.take(text_choice, why)
