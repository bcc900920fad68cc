"""How two pages look side by side: a table of the fields, then the markup around each that one of them lacks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from gpuledger.flows.commands._show import show
from gpuledger.flows.setup.lang import gettext
from gpuledger.flows.telling import terminal
from gpuledger.flows.telling.clean import clean

if TYPE_CHECKING:
    from gpuledger.extract.side_by_side import Compared, FieldPair, Side
    from gpuledger.extract.source import Page

#: Fields whose markup is shown; `--format json` has that of all.
_MOST = 4
_COLUMNS = ("field", "then", "now", "value_then", "value_now", "title")


def show_pages(compared: Compared, then: Page, now: Page, messages: Sequence[str], form: str) -> None:
    """Print both pages as `table`, `csv` or `json`; `messages` are of the drift that they were found by."""
    if form == "json":
        whole = {
            "then": _page(then), "now": _page(now), "failure": compared.failure, "drift": list(messages),
            "fields": [asdict(one) | {"is_lost": one.is_lost} for one in compared.fields],
        }  # fmt: skip
        click.echo(terminal.json_text(whole, indent=1))
        return
    rows = [_row(one) for one in compared.fields]
    if form == "csv":
        show(_COLUMNS, rows, form)
        return
    for word, page in (("then", then), ("now", now)):
        click.echo(clean(f"{gettext(word)}  {page.sha256[:12]}  {page.fetched_at:%Y-%m-%d %H:%M} UTC  {page.url}"))
    for message in (*messages, *([compared.failure] if compared.failure else [])):
        click.echo(clean(message))
    # For people what differs; where nothing does, all.
    differing = [row for row, one in zip(rows, compared.fields, strict=True) if _differs(one)]
    show(_COLUMNS, differing or rows, form, title=gettext("Fields"))
    if differing and len(differing) < len(rows):
        alike = gettext("{count} fields and selectors are as they were; --format csv has them")
        click.echo(alike.format(count=len(rows) - len(differing)), err=True)
    from gpuledger.extract.side_by_side import aligned

    told: list[tuple[Sequence[str], Sequence[str]]] = []
    # Where nothing is read any more, the first row is shown as a whole.
    for one in compared.lost[:1] if compared.failure else compared.lost:
        markups = (one.then.markup, one.now.markup)
        # Fields that stand beside each other have the same markup.
        if one.then.markup and markups not in told and len(told) < _MOST:
            told.append(markups)
            pairs = aligned(*markups)
            marked = [("" if then_line == now_line else "≠", _shown(then_line), _shown(now_line))
                      for then_line, now_line in pairs]  # fmt: skip
            show(["≠", "then", "now"], marked, form, title=f"\n{one.name} · {one.row}")


def _shown(line: str) -> str:
    """The line as deep as it is: what draws a table takes white space at its beginning away."""
    return "·" * (len(line) - len(line.lstrip(" "))) + clean(line.lstrip(" "))


def _row(one: FieldPair) -> tuple[Any, ...]:
    return one.name, _of(one.then), _of(one.now), one.then.value, one.now.value, one.row


def _differs(one: FieldPair) -> bool:
    return _of(one.then) != _of(one.now) or one.then.value != one.now.value


def _of(side: Side) -> str:
    return f"{side.count}/{side.rows}"


def _page(page: Page) -> dict[str, str]:
    return {"url": page.url, "sha256": page.sha256, "fetched_at": page.fetched_at.isoformat()}
