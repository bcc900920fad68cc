"""The cards that a person names on the command line."""

from __future__ import annotations

import click

from gpuledger.flows.setup import decisions
from gpuledger.flows.setup.lang import gettext
from gpuledger.transform.answers.card import named
from gpuledger.warehouse.paths import DataDir


def ids(data: DataDir, words: str) -> tuple[str, ...]:
    """The cards that `words` mean: several where a name is sold in versions. A usage error with near names otherwise."""
    meant = named(words, decisions.pins(data))
    if not meant.gpu_ids:
        message = gettext("no card is called {name!r}").format(name=words)
        if meant.near:
            message += "\n  ".join([gettext("; did you mean:"), *meant.near])
        raise click.UsageError(message)
    return meant.gpu_ids
