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
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

#: Which sources a target reads; the first byte of an input says which of them.
TARGETS: dict[str, tuple[str, ...]] = {
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
    "feed": ("openrouter", "ecb_fx", "gpuhunt_catalog", "danawa_daily"),
    "quote": ("quotes", "toms_ai_articles"),
    "price": (),
}
_PAGES = (".html", ".json", ".xml", ".csv", ".xlsx")
NOW = datetime(2023, 11, 16, 3, tzinfo=UTC)


def source_of(target: str, data: bytes) -> str:
    """The name of the source that reads an input of the target."""
    names = TARGETS[target]
    return names[data[0] % len(names)]


def reader(target: str) -> Callable[[bytes], None]:
    """What reads an input of the target, and raises what is a finding.

    Everything of ours is imported here: what was imported before is not followed by the fuzzer.
    """
    from gpuledger.errors import ExtractError
    from gpuledger.extract.collect import parse_page
    from gpuledger.extract.price.money import read_price
    from gpuledger.extract.source import Page, get
    from gpuledger.items import to_json

    readers = {name: get(name) for name in TARGETS[target]}

    def read_as_page(data: bytes) -> None:
        if not data:
            return
        source = readers[source_of(target, data)]
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
        read_price(data.decode("utf-8", "replace"), country="DE")

    return read_as_page if readers else read_as_price


def seeds(target: str, folder: Path) -> None:
    """Put the pages that the project has into the folder, each behind the byte of its source."""
    from gpuledger.extract import source as sources

    for number, name in enumerate(TARGETS[target]):
        for path in sources.folder(name).rglob("*"):
            if path.suffix in _PAGES and path.stat().st_size < 200_000:
                (folder / f"{name}-{path.stem}"[:80]).write_bytes(bytes([number]) + path.read_bytes())


def main() -> None:
    """Run one target: `tools/fuzz.py TARGET [options of libFuzzer] FOLDER [MORE FOLDERS]`."""
    import atheris

    target = sys.argv.pop(1)
    with atheris.instrument_imports(include=["gpuledger.extract"]):
        read = reader(target)
    seeds(target, Path(next(word for word in sys.argv[1:] if not word.startswith("-"))))
    options = [
        "-timeout=20", "-rss_limit_mb=1000", "-max_len=200000", f"-artifact_prefix={target}-",
        f"-dict={Path(__file__).with_suffix('.dict')}",
    ]  # fmt: skip
    atheris.Setup([sys.argv[0], *options, *sys.argv[1:]], read)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
