"""The artifacts of a run in the Prefect UI: what changed, which cards are the best value now, and which sources failed.

Shown by tests/walls/test_artifacts.py: what a page wrote is shown as it is, and no secret.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from prefect.artifacts import create_link_artifact, create_markdown_artifact, create_table_artifact

from gpuledger.flows.doors.showing.terminal import clean
from gpuledger.flows.night.context import Context
from gpuledger.flows.night.summary import Summary
from gpuledger.flows.telling import reporting
from gpuledger.flows.telling.redact import Redactor
from gpuledger.transform.answers import value

#: Cards a workload in the table of the best value.
TOP = 10


def create(context: Context, summary: Summary) -> None:
    """Create the artifacts of a run that is over."""
    redact = Redactor(context.settings.notify_urls)

    def table_rows(rows: list[dict[str, str]]) -> list[dict[str, str]]:
        return [{name: _as_text(clean(redact(text))) for name, text in row.items()} for row in rows]

    create_table_artifact(
        key="what-changed",
        table=table_rows(changes(summary)),
        description=f"{len(summary.changes)} prices changed, {len(summary.failed_sources)} sources failed",
    )
    create_markdown_artifact(
        key="failed-sources",
        markdown=failed_sources(summary, redact),
        description="Sources whose last good data stand",
    )
    if summary.published is None:
        return
    create_table_artifact(
        key="top-value",
        table=table_rows(top_value(context)),
        description="Best score per dollar at today's street price",
    )
    (page,) = reporting.write(context.data, context.data.root / "report")
    create_link_artifact(
        key="report", link=page.resolve().as_uri(), link_text=f"{summary.version}, as a page",
        description=f"On the machine that wrote it: {page.resolve()}",
    )  # fmt: skip


def changes(summary: Summary) -> list[dict[str, str]]:
    """A row for each price that changed. If none changed, one row says so, as an empty table looks broken."""
    rows = [
        {
            "source": c.source, "title": c.title, "change": c.change, "from": c.old_price, "to": c.new_price,
            "in": c.currency,
        }
        for c in summary.changes
    ]  # fmt: skip
    return rows or [{"source": "", "title": "no price changed", "change": "", "from": "", "to": "", "in": ""}]


def top_value(context: Context) -> list[dict[str, str]]:
    """The cards with the highest score per dollar at street price, by workload, with the shop that the price is from."""
    names, rows = value.best(context.data, TOP)
    lines = [{name: "" if cell is None else str(cell) for name, cell in zip(names, row, strict=True)} for row in rows]
    return lines or [dict.fromkeys(names, "") | {"gpu": "no card has both a score and a street price"}]


def failed_sources(summary: Summary, redact: Callable[[str], str]) -> str:
    """The failed sources as Markdown, with the reasons and what they mean for the tables.

    A reason is redacted before its marks are escaped, as the redactor would not know `api\\_key=` as the name of a secret.
    """
    if not summary.failed_sources:
        return "Every source was read.\n"
    lines = ["| source | status | reason |", "|---|---|---|"]
    lines += [f"| {s.source} | {s.status} | {_cell(redact(s.reason or ''))} |" for s in summary.failed_sources]
    stands = "Their last good data stand and are marked stale." if summary.published else "Nothing was published."
    return "\n".join([*lines, "", stands, ""])


def _cell(text: str) -> str:
    return _as_text(clean(text)).replace("|", "\\|")


def _as_text(text: str) -> str:
    """Escaped text, so that the UI shows it as it is: the UI reads a cell as Markdown, and Markdown as HTML."""
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _MARKS.sub(r"\\\g<0>", text)


#: Characters that are markup anywhere, for CommonMark or the UI's strikethrough, and those that begin a list or a heading.
_MARKS = re.compile(r"[\\`*_\[\]!~#]|^[-+=]")
