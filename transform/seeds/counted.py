"""The catalogue's models as counted once and kept in `counted.json`: counting ninety models takes a second.

The file carries the fingerprint of the code and data that it was counted from. Where they have moved on it is not used, so
it can be slow but never wrong; `make generated` writes it, and a test says when that is due.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from gpuledger.transform import sizing
from gpuledger.transform.seeds import models
from gpuledger.transform.seeds.version import version_of
from gpuledger.transform.sizing.own import OwnModel

FILE = Path(__file__).with_name("counted.json")
_SIZING = Path(sizing.__file__).parent


def rows(own: Iterable[OwnModel] = ()) -> models.ModelRows:
    """What `models.rows` gives, from the file where it is fresh."""
    if not is_fresh():
        return models.rows(own)
    kept = json.loads(FILE.read_text(encoding="utf-8"))
    added = models.own_rows(own)
    return models.ModelRows(kept["model"] + added.model, kept["weights"] + added.weights, kept["cache"] + added.cache)


def is_fresh() -> bool:
    """Whether the file was counted from the code and data that are here now."""
    return FILE.exists() and FILE.read_text(encoding="utf-8").startswith(f'{{"version": "{version()}"')


def version() -> str:
    """The fingerprint of what is counted, and of the code that counts."""
    return version_of(_SIZING) + version_of(Path(models.__file__))
