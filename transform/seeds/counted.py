"""The rows of the catalogue's models, counted once and stored in `counted.json`, as counting ninety models takes a second.

The file has the fingerprint of the code and data from which it was counted. If these have changed, the file is not used, so
that the rows may come slowly but are never wrong. `make generated` writes the file, and a test reports when this is due.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from gpuledger.transform import sizing
from gpuledger.transform.seeds import models
from gpuledger.transform.seeds.version import version_of
from gpuledger.transform.sizing.added_models import OwnModel

FILE = Path(__file__).with_name("counted.json")
_SIZING = Path(sizing.__file__).parent


def rows(own: Iterable[OwnModel] = ()) -> models.Tables:
    """The rows of `models.rows`, from the file if it is fresh, and of `own`."""
    tables = json.loads(FILE.read_text(encoding="utf-8"))["tables"] if is_fresh() else models.rows()
    return models.with_own(tables, own)


def is_fresh() -> bool:
    """Whether the file was counted from the present code and data."""
    return FILE.exists() and FILE.read_text(encoding="utf-8").startswith(f'{{"version": "{version()}"')


def version() -> str:
    """The fingerprint of the data that is counted and of the code that counts it."""
    return version_of(_SIZING) + version_of(Path(models.__file__))
