"""Parser of the model hub's list of models (JSON), and of the `config.json` of each."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from decimal import Decimal
from typing import Any
from urllib.parse import urljoin, urlsplit

from gpuledger import local_files
from gpuledger.errors import LayoutChanged
from gpuledger.extract.hub.weight_types import WEIGHT_BITS
from gpuledger.extract.source import Page
from gpuledger.items import Issue, Link, OpenModel, Parsed

_NAME = re.compile(r"[A-Za-z0-9][\w.-]{0,95}/[A-Za-z0-9][\w.-]{0,95}", re.ASCII)
_CONFIG = "/resolve/main/config.json"


def parse(page: Page) -> Iterable[Parsed]:
    """Yield an OpenModel with the bytes of its weights and a link to the config for each model of a list, or that config.

    Raises LayoutChanged if the page is neither.
    """
    try:
        document = local_files.loads(page.content)
    except ValueError as error:
        raise LayoutChanged(page.url, f"it is no JSON: {error}") from error
    path = urlsplit(page.url).path
    if path.endswith(_CONFIG) and isinstance(document, dict) and document.keys() & {"model_type", "architectures"}:
        name = path.removesuffix(_CONFIG).strip("/")
        yield OpenModel(repository=name, config=json.dumps(document, ensure_ascii=False, separators=(",", ":")))
    elif isinstance(document, list) and document:
        yield from _listed(document, page)
    else:
        raise LayoutChanged(page.url, "neither a list of models nor a config")


def _listed(models: list[Any], page: Page) -> Iterator[Parsed]:
    for place, model in enumerate(models):
        name = model.get("id") if isinstance(model, dict) else None
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            message = f"model {place} of the list has no name"
            yield Issue(code="unreadable_model", message=message, text=str(name)[:200], url=page.url)
        elif model.get("gated"):
            message = f"{name} is only for those who agreed to its terms"
            yield Issue(code="gated_model", message=message, severity="info", url=page.url)
        else:
            yield OpenModel(repository=name, weights_bytes=_bytes(model.get("safetensors")))
            yield Link(url=urljoin(page.final_url, f"/{name}{_CONFIG}"), role="next_page")


def _bytes(stated: Any) -> Decimal | None:
    """Bytes of the weights, from the number of each type; None if the list does not say it."""
    numbers = stated.get("parameters") if isinstance(stated, dict) else None
    if not isinstance(numbers, dict) or not numbers or not all(type(number) is int for number in numbers.values()):
        return None
    # A type that is not known makes the bytes unknown.
    if not numbers.keys() <= WEIGHT_BITS.keys():
        return None
    return Decimal(sum(number * WEIGHT_BITS[kind] for kind, number in numbers.items()) // 8) or None
