"""Coverage-guided fuzzing of what strangers' bytes reach: pages, feeds, quotes and prices.

    make fuzz                       # each target for MINUTES=15
    tools/fuzz.py page -runs=1000 DIR   # one target, with libFuzzer's own options

A finding is whatever `parse_page` lets through besides its own errors, an item that cannot be written down, or an input
that takes twenty seconds or 1 GB. New inputs go into the first folder that is named; those worth keeping are put into
tests/walls/corpus, which every run of the tests reads.
"""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["gpuledger.extract"]):
    from gpuledger.extract import source as sources
    from gpuledger.extract.collect import parse_page
    from gpuledger.extract.errors import ExtractError
    from gpuledger.extract.items import to_json
    from gpuledger.extract.price.money import read_price
    from gpuledger.extract.source import Page

CORPUS = Path(__file__).parents[1] / "tests" / "walls" / "corpus"
#: Which sources a target reads; the first byte of an input says which of them.
TARGETS = {
    "page": (
        "generic_shop",
        "newegg",
        "amazon",
        "danawa",
        "morele",
        "microcenter",
        "toms_gpu_hierarchy",
        "gpu_wiki_cloud",
    ),
    "feed": ("azure_retail", "aws_pricelist", "bestbuy", "ecb_fx", "gpuhunt_catalog", "danawa_daily"),
    "quote": ("quotes", "toms_ai_articles"),
    "price": (),
}
_PAGES = (".html", ".json", ".xml", ".csv", ".xlsx")
NOW = datetime(2023, 11, 16, 3, tzinfo=UTC)


def read_as_page(names: tuple[str, ...], data: bytes) -> None:
    """Read the input as one of the sources would. Raises what is a finding."""
    if not data:
        return
    source = sources.get(names[data[0] % len(names)])
    url = f"{source.homepage.rstrip('/')}/p"
    page = Page(url=url, final_url=url, content=data[1:], sha256="0" * 64, fetched_at=NOW, headers={})
    try:
        items = parse_page(source, page)
    except ExtractError as error:
        str(error).encode()
        return
    for item in items:
        json.dumps(to_json(item), allow_nan=False, ensure_ascii=False).encode()


def read_as_price(data: bytes) -> None:
    """Read the input as the text of a price element."""
    read_price(data.decode("utf-8", "replace"), country="DE")


def seeds(target: str) -> None:
    """Put the pages that the project has into the first folder, each behind the byte of its source."""
    folder = Path(next(word for word in sys.argv[1:] if not word.startswith("-")))
    for number, name in enumerate(TARGETS[target]):
        for path in sources.folder(name).rglob("*"):
            if path.suffix in _PAGES and path.stat().st_size < 200_000:
                (folder / f"{name}-{path.stem}"[:80]).write_bytes(bytes([number]) + path.read_bytes())


def main() -> None:
    """Run one target: `tools/fuzz.py TARGET [options of libFuzzer] FOLDER [MORE FOLDERS]`."""
    target = sys.argv.pop(1)
    names = TARGETS[target]
    if names:
        seeds(target)
    limits = ["-timeout=20", "-rss_limit_mb=1000", "-max_len=200000", f"-artifact_prefix={target}-"]
    atheris.Setup([*sys.argv, *limits], read_as_price if not names else lambda data: read_as_page(names, data))
    atheris.Fuzz()


if __name__ == "__main__":
    main()
