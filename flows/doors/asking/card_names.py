"""Find the cards that a person names on the command line."""

from __future__ import annotations

import re
from collections.abc import Sequence

import click

from gpuledger.flows.decisions import identities
from gpuledger.flows.words.lang import gettext
from gpuledger.transform.answers.card import CardMatch, match_cards
from gpuledger.transform.identity import added_cards
from gpuledger.transform.identity.gpu import Gpu
from gpuledger.warehouse.paths import DataDir

#: The longest name, in letters, that is looked up. Near names are searched too, which takes long for a long name.
_LONGEST_NAME = 1_000
#: The most cards that a question may name: more than any machine that is sold as one, and less than a slip of the finger.
MOST_CARDS = 99


def gpu_ids(data: DataDir, name: str) -> tuple[str, ...]:
    """The ids of the cards called `name`, several if a card of that name is sold in versions.

    A usage error, which lists near names, if no card has the name.
    """
    return _meant(data, name).gpu_ids


def _meant(data: DataDir, name: str) -> CardMatch:
    if len(name) > _LONGEST_NAME:
        raise click.UsageError(gettext("no card is called {name!r}").format(name=f"{name[:60]}…"))
    meant = match_cards(name, identities.resolver_of(data), added_cards.gpus(data.root))
    if not meant.gpu_ids:
        message = gettext("no card is called {name!r}").format(name=name)
        if re.fullmatch(r"\d{4}-\d\d?-\d\d?.*|\d\d?[./]\d\d?[./]\d{4}", name):
            raise click.UsageError(f"{message}; " + gettext("a day goes behind --since or --as-of"))
        if meant.near:
            message += "\n  ".join([gettext("; did you mean:"), *meant.near])
        message += "\n" + gettext("`gpuledger gpu add` adds a card that the catalogue lacks")
        raise click.UsageError(message)
    return meant


def gpu_of(data: DataDir, name: str) -> Gpu:
    """The one card, or machine with shared memory, called `name`, in the catalogue or among the added ones.

    A usage error if there is no such card, or if there are several.
    """
    gpus = gpus_of(data, name)
    if len(gpus) > 1:
        raise ambiguous_name(name, gpus)
    return gpus[0]


def ambiguous_name(name: str, gpus: Sequence[Gpu]) -> click.UsageError:
    """The error for a name that several cards have."""
    cards = ", ".join(gpu.display_name for gpu in gpus[:6])
    return click.UsageError(gettext("{name!r} may mean {cards}: name one of them").format(name=name, cards=cards))


def count_and_name(data: DataDir, text: str) -> tuple[int, str]:
    """The number and the name of the card in texts such as `4x RTX A6000` and `RTX 3090 x2`.

    A text that is the name of a card as it stands means one card. A usage error for a count that no machine holds, and for
    different cards.
    """
    if _SEVERAL.search(text):
        message = gettext(
            "{name!r}: different cards in one machine are not computed; ask each alone, such as 2x RTX 3090"
        )
        raise click.UsageError(message.format(name=text))
    match = _TIMES.fullmatch(text.strip())
    if match is None or (match["after"] and _is_name(data, text, f"x{match['after']}")):
        return 1, text
    count = match["before"] or match["after"] or match["far_after"]
    if not 1 <= int(count) <= MOST_CARDS:
        raise click.UsageError(
            gettext("{name!r}: 1 to {most} cards, not {count}").format(name=text, most=MOST_CARDS, count=count)
        )
    return int(count), match["card"] or match["named"] or match["far_named"]


def _is_name(data: DataDir, text: str, ending: str) -> bool:
    """Whether `ending` is part of the name of all cards that `text` means, as in Radeon R9 390 X2."""
    from gpuledger.transform.identity.catalogue import by_id

    meant = match_cards(text, identities.resolver_of(data), added_cards.gpus(data.root)).gpu_ids
    return bool(meant) and all(gpu_id in by_id() and by_id()[gpu_id].name.lower().endswith(ending) for gpu_id in meant)


#: `2x RTX 3060 + RTX 3090`: names of cards have no plus between blanks, and no comma.
_SEVERAL = re.compile(r"\s[+&]\s|\s(?:and|plus)\s|,", re.IGNORECASE)
#: `4x RTX A6000`, `4 × RTX A6000`, `RTX 3090 x2`, `RTX 3090 * 2`.
_TIMES = re.compile(
    r"(?P<named>.+?)\s*(?<![a-z])[x×*]\s*(?P<after>\d{1,2})"
    r"|(?P<before>\d+)\s*[x×*]\s*(?P<card>.+)"
    r"|(?P<far_named>.+?)\s*(?<![a-z])[x×*]\s*(?P<far_after>\d{3,})",
    re.IGNORECASE,
)


def gpus_of(data: DataDir, name: str) -> tuple[Gpu, ...]:
    """The cards that `name` may mean, at least one.

    A usage error if no card has that name, or if a part of the name contradicts the card: one that was rebuilt with twice
    the memory is another card.
    """
    from gpuledger.transform.identity.catalogue import by_id

    known = {**by_id(), **{gpu.gpu_id: gpu for gpu in added_cards.gpus(data.root)}}
    meant = _meant(data, name)
    if meant.contradiction is not None:
        message = gettext("{name!r}: {reason}; `gpuledger gpu add` with --like adds such a card")
        raise click.UsageError(message.format(name=name, reason=meant.contradiction))
    return tuple(known[gpu_id] for gpu_id in meant.gpu_ids)
