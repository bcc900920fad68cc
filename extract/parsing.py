"""One page, parsed by its source. Imports nothing that asks the network: the processes that parse need none of it, and start
a quarter sooner without.
"""

from __future__ import annotations

from gpuledger.extract import looks
from gpuledger.extract.archive import passing
from gpuledger.extract.errors import ExtractError, LayoutChanged, described
from gpuledger.extract.fetch import blocks
from gpuledger.extract.items import Parsed, admitted
from gpuledger.extract.market import with_market
from gpuledger.extract.source import Page, Source


def parse_page(source: Source, page: Page) -> list[Parsed]:
    """All that `source` reads on `page`, and how often each of its selectors matched.

    Raises ExtractError; a bug in a parser comes out as LayoutChanged with its words.

    A parser that meets a page it was not written for often dies of an IndexError or a ValueError. That is a change of the
    layout to whoever runs it, and one source's bug must not stop the others.
    """
    try:
        if page.headers.get("content-type") == passing.FACTS:
            return passing.read_facts(page.content)
        blocks.detect(page.content, page.final_url, page.headers, page.status)
        with looks.counted() as looked:
            items = [with_market(admitted(item), source.country) for item in source.parse(page)]
            return [*items, *looked()]
    except ExtractError:
        raise
    except Exception as error:
        raise LayoutChanged(page.url, f"the parser of {source.name} failed: {described(error)}") from error
