"""The archived pages of a source: which two `sources diff` compares, how they are shown, and what the newest say.

A correction is checked against what they say before it is stored.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict
from typing import Any

import click

from gpuledger.extract import source as sources
from gpuledger.extract.archive.snapshot import Snapshot
from gpuledger.extract.archive.snapshots import Archive
from gpuledger.extract.collect import parse_page
from gpuledger.extract.errors import ExtractError
from gpuledger.extract.items import Aside, Item
from gpuledger.extract.side_by_side import Compared, FieldPair, Side, aligned
from gpuledger.extract.source import Page
from gpuledger.extract.spelling import names_like
from gpuledger.flows.night.context import utc_now
from gpuledger.flows.showing import terminal
from gpuledger.flows.showing.show import show_rows
from gpuledger.flows.showing.terminal import clean
from gpuledger.flows.words.lang import gettext
from gpuledger.transform.answers.trust import drifting
from gpuledger.transform.answers.trust.drifting import Drifting
from gpuledger.warehouse.errors import NoWarehouse
from gpuledger.warehouse.load import corrected
from gpuledger.warehouse.load.corrected import Correction
from gpuledger.warehouse.paths import DataDir

#: The most fields whose markup is shown. `--format json` has the markup of all.
_MOST = 4
_COLUMNS = ("field", "then", "now", "value_then", "value_now", "title")

#: Sources whose nights are loaded in bulk. Corrections are not applied to them.
_IN_BULK = ("danawa_daily",)


class NoPair(ExtractError):
    """No page, or no second page, to compare was found."""


def drifts(data: DataDir, source: str) -> list[Drifting]:
    """What drifted on the source's newest night. Empty if nothing was ever published."""
    try:
        return drifting.drifting_of(data, source)
    except NoWarehouse:
        return []


def pair(data: DataDir, source: str, page: str | None, against: str | None) -> tuple[Page, Page]:
    """The earlier and the newer page to compare.

    `page` (the newer) and `against` (the earlier) may name them by the beginnings of their hashes. Otherwise they are the
    pages of the drift that was found last, or else the newest page and the page that its address had before.

    Raises NoPair and CorruptSnapshot.
    """
    archive = Archive.at(data.snapshots, data.store)
    history = [
        snapshot
        for snapshot in archive.history(source)
        if not snapshot.headers.get("content-type", "").startswith("image/")
    ]
    if not history:
        raise NoPair(source, "no page of it is archived", f"`gpuledger refresh --only {source}` archives its pages")
    drift = next((drift for drift in drifts(data, source) if drift.sha256 and drift.before), None)
    if page is None and drift is not None:
        page, against = drift.sha256, against or drift.before
    now = _by_hash(history, source, page) if page else _newest_that_changed(history)
    then = _by_hash(history, source, against) if against else _before(history, source, now)
    return archive.page(then), archive.page(now)


def newest_items(data: DataDir, source: str) -> list[Item]:
    """The items on the source's newest archived pages, parsed again now. Pages that cannot be parsed are skipped."""
    archive, chosen = Archive.at(data.snapshots, data.store), sources.get(source)
    newest = {snapshot.url: snapshot for snapshot in archive.history(source)}
    items: list[Item] = []
    for snapshot in newest.values():
        if not snapshot.headers.get("content-type", "").startswith("image/"):
            with suppress(ExtractError):
                items += [item for item in parse_page(chosen, archive.page(snapshot)) if not isinstance(item, Aside)]
    return items


def correction(data: DataDir, place: tuple[str, str, str], old: str | None, new: str | None, reason: str) -> Correction:
    """A correction of one field, decided now. `place` is the source, the key and the field.

    If `old` is None, the value of the newest archived page is taken for it.

    Raises ValueError, with the way out, if there is no such row, or if the corrected row would not be valid.
    """
    source, key, field = place
    if source in _IN_BULK:
        raise ValueError(
            f"the nights of {source} are loaded by `gpuledger backfill`, which takes their files as they are"
        )
    if not reason.strip():
        raise ValueError("a correction needs a --reason: whoever reads it later must know how you know")
    rows = {corrected.key_text(source, item): item for item in newest_items(data, source)}
    if key not in rows:
        close = names_like(key, rows)
        hint = (
            f"; did you mean {close[0]}?"
            if close
            else f"; `gpuledger refresh --only {source}` reads its pages" * (not rows)
        )
        raise ValueError(f"no row of {source} has the key {key!r} on its newest archived pages{hint}")
    item = rows[key]
    corrected.changed(source, item, {field: new})
    value = corrected.text_of(item, field)
    if (old if old is not None else value) == new:
        raise ValueError(f"{source} says {value!r} in {field} already: there is nothing to correct")
    decided = utc_now().replace(microsecond=0)
    return Correction(
        source=source, key=key, field=field, old=value if old is None else old, new=new, reason=reason, decided=decided
    )


def _by_hash(history: Sequence[Snapshot], source: str, beginning: str) -> Snapshot:
    hits = {snapshot.sha256: snapshot for snapshot in history if snapshot.sha256.startswith(beginning)}
    if len(hits) != 1:
        problem = "several archived pages begin" if hits else "it is no file, and no archived page begins"
        raise NoPair(
            source, f"{problem} with {beginning}", f"`gpuledger sources diff {source}` chooses two pages itself"
        )
    return next(iter(hits.values()))


def _newest_that_changed(history: Sequence[Snapshot]) -> Snapshot:
    """The newest fetch whose address had another page before. If no address had, the newest fetch of all."""
    pages: dict[str, set[str]] = {}
    for snapshot in history:
        pages.setdefault(snapshot.url, set()).add(snapshot.sha256)
    return next((snapshot for snapshot in reversed(history) if len(pages[snapshot.url]) > 1), history[-1])


def _before(history: Sequence[Snapshot], source: str, now: Snapshot) -> Snapshot:
    others = [snapshot for snapshot in history if snapshot.url == now.url and snapshot.sha256 != now.sha256]
    older = [snapshot for snapshot in others if snapshot.fetched_at <= now.fetched_at] or others
    if not older:
        raise NoPair(
            source, f"one page alone is archived of {now.url}", "compare again when it has changed, or name two by hash"
        )
    return older[-1]


def show_pages(compared: Compared, then: Page, now: Page, messages: Sequence[str], form: str) -> None:
    """Print both pages as `table`, `csv` or `json`. `messages` describe the drift because of which they are compared."""
    if form == "json":
        answer = {
            "then": _as_json(then), "now": _as_json(now), "failure": compared.failure, "drift": list(messages),
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


def _as_json(page: Page) -> dict[str, str]:
    return {"url": page.url, "sha256": page.sha256, "fetched_at": page.fetched_at.isoformat()}
