"""Pages made of a line or two of markup, for tests of one trait each."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import UTC, datetime

from gpuledger.extract import source
from gpuledger.extract.source import Page
from gpuledger.items import Parsed

HIERARCHY = "https://www.tomshardware.com/reviews/gpu-hierarchy,4388.html"
INDEX = "https://www.tomshardware.com/news/gpus-historical-ebay-pricing"


def page(
    body: str | bytes,
    url: str,
    content_type: str = "text/html; charset=utf-8",
    fetched_at: str = "2023-11-16T03:00:00Z",
) -> Page:
    content = body if isinstance(body, bytes) else body.encode()
    return Page(
        url=url,
        final_url=url,
        content=content,
        sha256=hashlib.sha256(content).hexdigest(),
        fetched_at=datetime.fromisoformat(fetched_at).astimezone(UTC),
        headers={"content-type": content_type},
    )


def quoted(content: str | bytes) -> list[Parsed]:
    """All that is read of a vendor's quote."""
    return list(source.get("quotes").parse(page(content, "file:quote.csv", "text/csv")))


def table(header: Sequence[str], *rows: Sequence[str], caption: str = "", head: bool = True) -> str:
    def line(cells: Sequence[str], tag: str) -> str:
        return "<tr>" + "".join(f"<{tag}>{cell}</{tag}>" for cell in cells) + "</tr>"

    body = "".join(line(row, "td") for row in rows)
    named = f"<caption>{caption}</caption>" if caption else ""
    if not head:
        return f"<table>{named}<tbody>{line(header, 'td')}{body}</tbody></table>"
    return f"<table>{named}<thead>{line(header, 'th')}</thead><tbody>{body}</tbody></table>"
