"""Products that hold cards but are not cards: their kind, the number of cards in them, and their other parts.

A server is not a card, even if its title names the card exactly: the price is for eight cards, two processors and a chassis.
A card that is for a machine (`L40S for Dell PowerEdge R750`) is no machine.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, NamedTuple

from gpuledger.transform.identity import catalogue, text
from gpuledger.transform.identity.catalogue import DATA
from gpuledger.transform.identity.choosing import Choice
from gpuledger.transform.identity.gpu import MACHINE, Gpu
from gpuledger.transform.identity.index import Member
from gpuledger.transform.identity.products import NotACard
from gpuledger.transform.identity.reader import HOW_MANY, Reading, before_name, is_of_units
from gpuledger.transform.identity.resolution import ProductKind
from gpuledger.transform.identity.vocabulary import Vocabulary
from gpuledger.transform.identity.words import MOST_CARDS

#: Apple's chips have names like cards of other makers (M4 is also a Tesla), so the title must have one of these words too.
_MAC = re.compile(r"\b(?:apple|mac|macbook|imac)\b")
_APPLE = re.compile(r"\b(m\d)\s?(pro|max|ultra)?\b(?!\.2)")
#: A word that is neither maker nor chip.
_BESIDE = re.compile(r"\b(?!(?:apple|amd|nvidia|gpu)\b)\w")
#: A size in gigabytes that is not the size of a drive.
_MEMORY = re.compile(r"\b(\d{1,3})\s?gb\b(?!\s?(?:ssd|nvme|hdd|storage|emmc|flash|pcie))")


def choice_in_title(title: str) -> Choice | None:
    """The machines that a title in lower case may mean, by its chip and its memory; None if it names no such chip.

    There are several if the title does not say enough: a Mac without a memory size may be any machine with its chip.
    """
    chip = _chip(title)
    if chip is None:
        return None
    machines = _by_chip().get(chip, [])
    stated = {int(size) for size in _MEMORY.findall(title)}
    return Choice(
        members=[_member(gpu) for gpu in machines if gpu.memory_gb in stated] or [_member(gpu) for gpu in machines]
    )


def choice_in_question(title: str, *, in_a_table: bool) -> Choice | None:
    """The machines that a user's question or a row in a table of results names; None if it names none.

    A question may also be a shop's title. It therefore counts only if it has no words but chip, maker and memory. In a
    table of results other words are allowed, because what the table lists has run on the machine.
    """
    plain = text.normalise(title)
    choice = choice_in_title(plain)
    if choice is None or in_a_table:
        return choice
    beside = _MEMORY.sub(" ", _named().sub(" ", _APPLE.sub(" ", plain)))
    return None if _BESIDE.search(beside) else choice


def _member(gpu: Gpu) -> Member:
    return Member(
        gpu=gpu, name=gpu.name, maker=gpu.vendor, suffixes=frozenset(), open_words=frozenset(), mobile=None,
        sizes=frozenset((gpu.memory_gb,)) if gpu.memory_gb else frozenset(), named_type=None, architecture="",
    )  # fmt: skip


def _chip(title: str) -> str | None:
    if named := _named().search(title):
        return next(chip for chip, pattern in _data().machines if pattern.fullmatch(named.group()))
    apple = _APPLE.search(title) if _MAC.search(title) else None
    return None if apple is None else " ".join(filter(None, apple.groups()))


@cache
def _named() -> re.Pattern[str]:
    return re.compile("|".join(pattern.pattern for _, pattern in _data().machines))


@cache
def _by_chip() -> dict[str, list[Gpu]]:
    gpus: dict[str, list[Gpu]] = {}
    for gpu in catalogue.gpus():
        if gpu.form_factor == MACHINE and gpu.chip:
            gpus.setdefault(gpu.chip.lower(), []).append(gpu)
    return gpus


#: First checks that are cheaper than the other patterns: a title without any of these words and codes is no server and no
#: workstation. They look for letters alone, and not for whole words, which takes a regular expression four times as long.
_WORDS = re.compile(r"serv|serw|station|node|dgx|hgx|nvl|poweredge|proliant|rackmount|precision|gb10|system")
_CODES = re.compile(r"(?:sys|as|ars|esc|nf|xe|xd|sr|dl|g)[ -]?n?\d|\dgp-t|r\d{3}xa|z[468] g\d")
_COUNT_BEFORE = rf"(?:(?<!\w)\(?(\d{{1,2}})\s?x?\)?\s|(?<!\w)(\d{{1,2}})\s?x\s?|\b({'|'.join(HOW_MANY)})[\s-])?"
#: Parts that count only in products with several cards. With one card they are a feature of that card.
_ONLY_BESIDE_SEVERAL = frozenset(("nvlink_bridge",))
#: Kinds that have one card in them if the title states no number.
_ONE_EACH: frozenset[ProductKind] = frozenset(("workstation", "computer", "laptop", "egpu", "kit"))


@dataclass(frozen=True, slots=True)
class System:
    """A product with cards in it.

    `gpu_count` is None if the title does not say how many cards there are. `parts` counts the other parts, by name. `gpu` is
    the name of the GPU if the product always has the same one, which its title then need not name.
    """

    kind: ProductKind
    gpu_count: int | None
    why: str
    parts: Mapping[str, int] = field(default_factory=dict)
    gpu: str | None = None


def find(title: str, reading: Reading, *, is_edition: bool) -> System | None:
    """The server or workstation that a title names; None if it names none.

    `is_edition`: the title may mean a card that has "server" in its own name.
    """
    plain = title.lower() if title.isascii() else text.normalise(title)
    if not (_WORDS.search(plain) or _CODES.search(plain)):
        return None
    data = _data()
    for system in data.named_systems:
        if system.pattern.search(plain):
            parts = {**({"cpu": system.cpus} if system.cpus else {}), **_parts(plain, "server", system.gpus)}
            return System(system.kind, system.gpus, f"the system's name says {system.gpus} GPUs", parts, system.gpu)
    count = card_count(reading)
    kind = _kind(plain, count, is_edition=is_edition)
    if kind is None:
        return None
    gpus = count or (1 if kind in _ONE_EACH else None)
    why = f"a {kind} with {gpus} cards" if gpus else f"a {kind}; nothing says how many cards are in it"
    return System(kind, gpus, why, {} if data.board.search(plain) else _parts(plain, kind, gpus))


def of_kind(reason: NotACard, title: str, reading: Reading) -> System | None:
    """The product with cards in it that `reason` describes; None if it is an accessory, a service or another thing."""
    plain = text.normalise(title)
    count = card_count(reading) or (reading.count if reading.count > 1 else None)
    kind: ProductKind | None = None
    match reason.kind:
        case "computer":
            kind = _computer(plain, reason, reading.vocabulary)
        case "laptop":
            kind = "laptop"
        case "enclosure":
            kind = "egpu"
        case "bundle":
            kind = "kit"
        case "several":
            kind, count = "lot", count or (2 if "pair" in reading.marks else None)
        case _:
            return None
    gpus = count or (1 if kind in _ONE_EACH and (reading.mentions or kind != "egpu") else None)
    if kind == "egpu" and (not reading.mentions or reading.marks & reading.vocabulary.purpose):
        gpus = 0  # an empty enclosure, into which the buyer puts a card
    parts = _parts(plain, kind, gpus)
    if kind == "lot" and (parts or ("bundle" in reading.marks and count is None)):
        kind, gpus = "kit", gpus or 1
    return System(kind, gpus, str(reason), parts)


def of_several(count: int, title: str) -> System:
    """`count` cards that are sold as one product, a kit if parts come with them (to link or cool them), otherwise a lot."""
    parts = _parts(text.normalise(title), "lot", count)
    return System("kit" if parts else "lot", count, f"{count} cards in one product", parts)


def card_count(reading: Reading) -> int | None:
    """The number of cards before or behind a chip's name, or as in `8-GPU`; None if the title gives no number."""
    tokens = reading.tokens
    most = 0
    for mention in reading.mentions:
        most = max(most, before_name(reading, mention)[1])
        for token in tokens[mention.end : mention.end + 4]:
            if token.count and token.count_behind and token.count < MOST_CARDS:
                most = max(most, token.count)
                break
            if not (token.memory or token.memory_type or token.text in "()"):
                break
    # `8-GPU`, `4-way`, `H100 8개`. A number of pieces before the card counts something else.
    first = min((mention.start for mention in reading.mentions), default=len(tokens))
    for number, token in enumerate(tokens[:-1]):
        unit = tokens[number + 1].text
        counts = unit in ("gpu", "gpus", "way") or (is_of_units(reading, number) and number > first)
        if counts and token.text.isdigit() and 0 < int(token.text) <= MOST_CARDS:
            most = max(most, int(token.text))
    return most or None


def without_words_of_systems(title: str) -> str:
    """`title` without words for servers and workstations, because such words are also parts of the names of cards."""
    plain = text.normalise(title)
    data = _data()
    for pattern in (data.server_or_card, data.workstation_or_card):
        plain = pattern.sub(" ", plain)
    return plain


def _kind(plain: str, count: int | None, *, is_edition: bool) -> ProductKind | None:
    data = _data()
    if data.server.search(plain):
        return "server"
    several = (count or 1) > 1
    is_card = data.card.search(plain) and not several
    if data.workstation.search(plain) or (data.workstation_or_card.search(plain) and several):
        return "workstation"
    if data.server_or_card.search(plain) and (several or not (is_card or is_edition)):
        return "server"
    return None


def _computer(plain: str, reason: NotACard, vocabulary: Vocabulary) -> ProductKind:
    data, evidence = _data(), set(reason.evidence)
    if data.workstation.search(plain) or data.workstation_or_card.search(plain) or "threadripper" in evidence:
        return "workstation"
    if (
        data.server.search(plain)
        or data.server_or_card.search(plain)
        or evidence & {"epyc", "xeon", "poweredge", "proliant"}
    ):
        return "server"
    beside = bool(re.search(r"\bbundle\b|\bcombo\b|\s\+\s", plain))
    return "kit" if beside and evidence <= vocabulary.processor | {"motherboard", "mainboard"} else "computer"


def _parts(plain: str, kind: str, gpus: int | None) -> dict[str, int]:
    """The other parts that the title names, each with its count."""
    counts = {}
    for name, pattern in _data().parts.items():
        hit = pattern.search(plain)
        if hit is None:
            continue
        if name in _ONLY_BESIDE_SEVERAL:
            # Two cards share a bridge. In a server the link is part of the board.
            if kind in ("lot", "kit") and gpus and gpus > 1:
                counts[name] = gpus // 2
            continue
        digits = hit[1] or hit[2]
        counts[name] = min(int(digits), 16) if digits and int(digits) else HOW_MANY.get(hit[3] or "", 1)
    return counts


@dataclass(frozen=True, slots=True)
class _NamedSystem:
    pattern: re.Pattern[str]
    kind: ProductKind
    gpus: int
    cpus: int | None
    gpu: str | None


@dataclass(frozen=True, slots=True)
class _Data:
    named_systems: tuple[_NamedSystem, ...]
    #: The chips of machines that people name by their chip, each with the pattern of its names.
    machines: tuple[tuple[str, re.Pattern[str]], ...]
    server: re.Pattern[str]
    workstation: re.Pattern[str]
    server_or_card: re.Pattern[str]
    workstation_or_card: re.Pattern[str]
    card: re.Pattern[str]
    board: re.Pattern[str]
    parts: Mapping[str, re.Pattern[str]]


@cache
def _data() -> _Data:
    with (DATA / "systems.toml").open("rb") as file:
        raw: dict[str, Any] = tomllib.load(file)
    named_systems = tuple(
        _NamedSystem(re.compile(entry["pattern"]), entry["kind"], entry["gpus"], entry.get("cpus"), entry.get("gpu"))
        for entry in raw["named"]
    )
    return _Data(
        named_systems=named_systems,
        machines=tuple((entry["chip"], re.compile(entry["pattern"])) for entry in raw["machine"]),
        parts={name: re.compile(_COUNT_BEFORE + f"(?:{pattern})") for name, pattern in raw["parts"].items()},
        **{name: re.compile(pattern) for name, pattern in raw["words"].items()},
    )


# ── cards for a machine ─────────────────────────────────────────────────────────────────────────────────────────────────

#: The end of a word, which a Korean syllable may follow: `R750용`.
_END = r"(?![A-Za-z\d])"


class Cut(NamedTuple):
    """A title without the words that say which machine its product is for, and its part that names the product."""

    shortened_title: str
    product_part: str


def without_its_machine(title: str, reading: Reading) -> Cut | None:
    """`L40S for Dell PowerEdge R750, 48GB` without `for Dell PowerEdge R750`; None if the title has no such words.

    The caller must check that a card stands before these words: in `Riser for PowerEdge with L40S` none does.
    """
    words = reading.vocabulary
    texts = reading.words
    if words.machines.isdisjoint(texts) and words.machine_lines.isdisjoint(texts):
        return None
    before, behind, owner = _patterns(
        words.machines | words.machine_lines, words.purpose_before | words.taken_from | {"für"}, words.purpose_behind
    )
    own = frozenset().union(*(mention.family.sizes for mention in reading.mentions))
    taken = _data().card.search(text.normalise(title)) or (
        words.graphics & reading.marks and words.taken_out & reading.marks
    )
    if taken and reading.sizes <= own and (match := owner.search(title)):  # whose spare part it is
        shortened = f"{title[: match.start()]} {title[match.end() :]}"
        return Cut(shortened, shortened)
    if match := before.search(title):
        return Cut(f"{title[: match.start()]} {title[match.end() :]}", title[: match.start()])
    if match := behind.search(title):
        shortened = f"{title[: match.start()]} {title[match.end() :]}"
        return Cut(shortened, shortened)
    return None


@cache
def _patterns(machines: frozenset[str], before: frozenset[str], behind: frozenset[str]) -> tuple[re.Pattern[str], ...]:
    """Patterns of a phrase that begins with "for", and of one that ends with it, with the makers and models in it, and of a
    machine right before the maker of the chip (`ThinkStation NVIDIA RTX A2000`).
    """
    machine = rf"(?:{'|'.join(sorted(machines))}){_END}"
    # A model has letters before its digits, unlike a memory size: R750xa, DL380 Gen10, SR650 V2.
    model = rf"(?:[A-Za-z]{{1,3}}\d{{3,4}}[A-Za-z]{{0,3}}|G\d){_END}"
    models = rf"(?:[\s/,&+]+{model}(?:\s+(?:Gen\s?\d{{1,2}}(?:\.\d)?|V\d|Plus)\b)*)*"
    maker = r"(?:(?:an?|the|your|use|in|with|mit|avec|con|dell|emc|hpe|hp|lenovo|ibm|supermicro|fujitsu|cisco)[\s/]+)*"
    last = r"(?:\s+(?:rack |tower )?(?:servers?|workstations?)\b)?"
    for_ = "|".join(sorted(before))
    follows = "|".join(sorted(behind, key=len, reverse=True))
    return (
        re.compile(rf"[,(-]?\s*\b(?:{for_})\s+{maker}{machine}{models}{last}\)?", re.IGNORECASE),
        re.compile(
            rf"(?:(?:dell|델|hpe?|lenovo)\s+)?\b{machine}{models}\s*(?:서버)?(?:{follows})(?!\w)", re.IGNORECASE
        ),
        re.compile(rf"\b{machine}\s+(?=(?:oem\s)?(?:nvidia|amd|geforce|radeon|[rg]tx|rx)[\s\d])", re.IGNORECASE),
    )
