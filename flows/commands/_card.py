"""The cards that a person names on the command line."""

from __future__ import annotations

import click

from gpuledger.flows.setup import identities
from gpuledger.flows.setup.lang import gettext
from gpuledger.transform.answers.card import Named, named
from gpuledger.transform.identity import own
from gpuledger.transform.identity.gpu import Gpu
from gpuledger.warehouse.paths import DataDir


def ids(data: DataDir, words: str) -> tuple[str, ...]:
    """The cards that `words` mean: several where a name is sold in versions. A usage error with near names otherwise."""
    return _named(data, words).gpu_ids


def _named(data: DataDir, words: str) -> Named:
    meant = named(words, identities.resolver_of(data), own.gpus(data.gpus))
    if not meant.gpu_ids:
        message = gettext("no card is called {name!r}").format(name=words)
        if meant.near:
            message += "\n  ".join([gettext("; did you mean:"), *meant.near])
        message += "\n" + gettext("`gpuledger gpu add` adds one that the catalogue has not")
        raise click.UsageError(message)
    return meant


def gpu_of(data: DataDir, words: str) -> Gpu:
    """The one card, or machine with shared memory, that `words` mean, of the catalogue or added.

    A usage error with those that they may mean otherwise, or with what speaks against the one: a rebuilt card with twice the
    memory is another card.
    """
    from gpuledger.transform.identity.catalogue import by_id

    known = {**by_id(), **{gpu.gpu_id: gpu for gpu in own.gpus(data.gpus)}}
    meant = _named(data, words)
    found = meant.gpu_ids
    if meant.contradiction is not None:
        message = gettext("{name!r}: {reason}; `gpuledger gpu add` with --like adds such a card")
        raise click.UsageError(message.format(name=words, reason=meant.contradiction))
    if len(found) > 1:
        cards = ", ".join(known[gpu_id].display_name for gpu_id in found[:6])
        raise click.UsageError(gettext("{name!r} may mean {cards}: name one of them").format(name=words, cards=cards))
    return known[found[0]]
