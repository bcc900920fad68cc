"""Show two pages side by side: a table of the fields, then the markup around each field that the newer page lacks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from gpuledger.flows.showing import terminal
from gpuledger.flows.showing.show import show_rows
from gpuledger.flows.showing.terminal import clean
from gpuledger.flows.words.lang import gettext

if TYPE_CHECKING:
    from gpuledger.extract.side_by_side import Compared, FieldPair, Side
    from gpuledger.extract.source import Page

#: The most fields whose markup is shown. `--format json` has the markup of all.
_MOST = 4
_COLUMNS = ("field", "then", "now", "value_then", "value_now", "title")


def show_pages(compared: Compared, then: Page, now: Page, messages: Sequence[str], form: str) -> None:
    """Print both pages as `table`, `csv` or `json`. `messages` describe the drift because of which they are compared."""
    if form == "json":
        answer = {
            "then": _page(then), "now": _page(now), "failure": compared.failure, "drift": list(messages),
            "fields": [asdict(field) | {"is_lost": field.is_lost} for field in compared.fields],
        }  # fmt: skip
        click.echo(terminal.json_text(answer, indent=1))
        return
    rows = [_row(field) for field in compared.fields]
    if form == "csv":
        show_rows(_COLUMNS, rows, form)
        return
    for name, page in (("then", then), ("now", now)):
        click.echo(clean(f"{gettext(name)}  {page.sha256[:12]}  {page.fetched_at:%Y-%m-%d %H:%M} UTC  {page.url}"))
    for message in (*messages, *([compared.failure] if compared.failure else [])):
        click.echo(clean(message))
    # People see the fields that differ, or all fields if none differs.
    differing = [row for row, field in zip(rows, compared.fields, strict=True) if _differs(field)]
    show_rows(_COLUMNS, differing or rows, form, title=gettext("Fields"))
    if differing and len(differing) < len(rows):
        sentence = gettext("{count} fields and selectors are as they were; --format csv has them")
        click.echo(sentence.format(count=len(rows) - len(differing)), err=True)
    from gpuledger.extract.side_by_side import aligned

    printed: list[tuple[Sequence[str], Sequence[str]]] = []
    # If nothing can be read any more, the markup of the first row is enough.
    for field in compared.lost[:1] if compared.failure else compared.lost:
        markups = (field.then.markup, field.now.markup)
        # Fields that stand beside each other have the same markup, which is printed once.
        if field.then.markup and markups not in printed and len(printed) < _MOST:
            printed.append(markups)
            pairs = aligned(*markups)
            marked = [("" if then_line == now_line else "≠", _indented(then_line), _indented(now_line))
                      for then_line, now_line in pairs]  # fmt: skip
            show_rows(["≠", "then", "now"], marked, form, title=f"\n{field.name} · {field.row}")


def _indented(line: str) -> str:
    """The line with dots for its indentation, because spaces at the beginning of a cell are not drawn."""
    return "·" * (len(line) - len(line.lstrip(" "))) + clean(line.lstrip(" "))


def _row(field: FieldPair) -> tuple[Any, ...]:
    return field.name, _share(field.then), _share(field.now), field.then.value, field.now.value, field.row


def _differs(field: FieldPair) -> bool:
    return _share(field.then) != _share(field.now) or field.then.value != field.now.value


def _share(side: Side) -> str:
    return f"{side.count}/{side.rows}"


def _page(page: Page) -> dict[str, str]:
    return {"url": page.url, "sha256": page.sha256, "fetched_at": page.fetched_at.isoformat()}
