"""The cards that a person names on the command line."""

from __future__ import annotations

import re
from collections.abc import Sequence

import click

from gpuledger.flows.setup import identities
from gpuledger.flows.setup.lang import gettext
from gpuledger.transform.answers.card import CardMatch, match_cards
from gpuledger.transform.identity import own
from gpuledger.transform.identity.gpu import Gpu
from gpuledger.warehouse.paths import DataDir

#: Letters of a name that is looked for, and compared with all that are near.
_LONGEST_NAME = 1_000


def ids(data: DataDir, words: str) -> tuple[str, ...]:
    """The cards that `words` mean: several where a name is sold in versions. A usage error with near names otherwise."""
    return _named(data, words).gpu_ids


def _named(data: DataDir, words: str) -> CardMatch:
    if len(words) > _LONGEST_NAME:
        raise click.UsageError(gettext("no card is called {name!r}").format(name=f"{words[:60]}…"))
    meant = match_cards(words, identities.resolver_of(data), own.gpus(data.gpus))
    if not meant.gpu_ids:
        message = gettext("no card is called {name!r}").format(name=words)
        if re.fullmatch(r"\d{4}-\d\d?-\d\d?.*|\d\d?[./]\d\d?[./]\d{4}", words):
            raise click.UsageError(f"{message}; " + gettext("a day goes behind --since or --as-of"))
        if meant.near:
            message += "\n  ".join([gettext("; did you mean:"), *meant.near])
        message += "\n" + gettext("`gpuledger gpu add` adds one that the catalogue has not")
        raise click.UsageError(message)
    return meant


def gpu_of(data: DataDir, words: str) -> Gpu:
    """The one card, or machine with shared memory, that `words` mean, of the catalogue or added. A usage error otherwise."""
    found = gpus_of(data, words)
    if len(found) > 1:
        raise undecided(words, found)
    return found[0]


def undecided(words: str, gpus: Sequence[Gpu]) -> click.UsageError:
    """The error for words that several cards bear."""
    cards = ", ".join(gpu.display_name for gpu in gpus[:6])
    return click.UsageError(gettext("{name!r} may mean {cards}: name one of them").format(name=words, cards=cards))


def counted(data: DataDir, words: str) -> tuple[int, str]:
    """How many of a card `words` name, and the card: `4x RTX A6000`, `RTX 3090 x2`. What is a card as it stands is one."""
    found = _TIMES.fullmatch(words.strip())
    if found is None or (found["after"] and _is_name(data, words, f"x{found['after']}")):
        return 1, words
    return int(found["before"] or found["after"]), found["card"] or found["named"]


def _is_name(data: DataDir, words: str, ending: str) -> bool:
    """Whether all cards that `words` mean are called so to the end: Radeon R9 390 X2."""
    from gpuledger.transform.identity.catalogue import by_id

    meant = match_cards(words, identities.resolver_of(data), own.gpus(data.gpus)).gpu_ids
    return bool(meant) and all(one in by_id() and by_id()[one].name.lower().endswith(ending) for one in meant)


#: `4x RTX A6000`, `4 × RTX A6000`, `RTX 3090 x2`, `RTX 3090 * 2`.
_TIMES = re.compile(
    r"(?P<before>\d{1,2})\s*[x×*]\s*(?P<card>.+)|(?P<named>.+?)\s*[x×*]\s*(?P<after>\d{1,2})", re.IGNORECASE
)


def gpus_of(data: DataDir, words: str) -> tuple[Gpu, ...]:
    """The cards that `words` may mean, at least one.

    A usage error where they mean none, or with what speaks against the one: a rebuilt card with twice the memory is another
    card.
    """
    from gpuledger.transform.identity.catalogue import by_id

    known = {**by_id(), **{gpu.gpu_id: gpu for gpu in own.gpus(data.gpus)}}
    meant = _named(data, words)
    if meant.contradiction is not None:
        message = gettext("{name!r}: {reason}; `gpuledger gpu add` with --like adds such a card")
        raise click.UsageError(message.format(name=words, reason=meant.contradiction))
    return tuple(known[gpu_id] for gpu_id in meant.gpu_ids)
