"""What happens after a run, under either engine: its log lines are written, and the notifications that are due are sent.

Nothing here can make a run fail. The run is over, and what it published stays published.

A notification is due where the run failed, a source is too old or has changed its layout, prices are held, a watch has
found what it waits for, or a kept question is answered otherwise. Each is sent once, when its cause begins. A file in the
data directory records what was true at the last look. A condition that is unknown tonight (a card without a price) keeps its
recorded state. Otherwise a shop that is unreachable for one night would make old news new.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from gpuledger.extract.archive import files
from gpuledger.flows.doors.showing.terminal import clean
from gpuledger.flows.night.context import Context
from gpuledger.flows.night.summary import Summary
from gpuledger.flows.telling import health, kept_answers, logs, notify, watches
from gpuledger.flows.telling.notify import Message
from gpuledger.flows.telling.redact import Redactor
from gpuledger.flows.words.say import say
from gpuledger.message import Failure
from gpuledger.transform.answers.trust import held
from gpuledger.transform.answers.trust.sources import SourceHealth
from gpuledger.warehouse.errors import Locked, NoWarehouse

_log = logging.getLogger("gpuledger.after")

#: The most held prices that one message lists. It only counts the others.
MOST_HELD = 10
#: The most empty columns of a source that one message lists. `ops.issue` has all.
MOST_COLUMNS = 8


def run_and_report(context: Context, work: Callable[[], Summary]) -> Summary:
    """Do `work`, which is one run, then log its summary and send notifications about it.

    If `work` raises, notifications about the failure are sent and the error is raised again. Locked is the exception: it
    only means that another run is at work, so nobody is notified.
    """
    try:
        summary = work()
    except Locked:
        raise
    except Exception as error:
        after_run(context, Summary(context.run_id, reason=f"{type(error).__name__}: {error}"))
        raise
    summary = _publish(context, summary)
    after_run(context, summary)
    return summary


def _publish(context: Context, summary: Summary) -> Summary:
    """Publish the night where the setting `publish` says so. What could not be published is a note in the summary."""
    if not context.settings.publish or summary.published is None:
        return summary
    from gpuledger.flows.telling import publishing

    try:
        publishing.publish(context.settings, context.data, context.settings.publish)
    except (Failure, OSError) as error:
        reason = f"not published at {context.settings.publish}: {error}"
        return replace(summary, reason="; ".join(filter(None, (summary.reason, reason))))
    return summary


def after_run(context: Context, summary: Summary) -> None:
    """Log the run with one line for each source, look at the watches, and send the notifications that are due.

    Waits for the notification targets no longer than the setting notify_deadline_s. Never raises, because the run is over
    and what it published stays published.
    """
    logs.summary(summary)
    try:
        urls = notify.targets(context.settings)
        if not urls and not _log.isEnabledFor(logging.INFO):
            return  # nobody would hear the answer, and finding it out reads the warehouse three times
        redact = Redactor((*context.settings.notify_urls, *urls))
        messages = due(context, summary, is_heard=bool(urls))
        messages = [
            replace(m, title=clean(redact(m.title)), body=clean(redact(m.body), keep_lines=True)) for m in messages
        ]
        notify.send(context.data.state / "outbox", messages, urls, context.settings.notify_deadline_s)
    except Exception as error:  # noqa: BLE001
        logs.event(_log, logging.ERROR, "nobody could be told", error=f"{type(error).__name__}: {error}")


@dataclass(frozen=True, slots=True)
class _State:
    """A condition that is true, false or unknown (None) tonight, with the message to send when it becomes true."""

    is_so: bool | None
    message: Message


def due(context: Context, summary: Summary, *, is_heard: bool) -> list[Message]:
    """The messages to send after this run. Each is sent once, when its cause begins.

    Only the message that a source is degraded is sent every night, because its rows are missing although nothing fails.

    If no notification target is set (`is_heard` is False), no message counts as sent.
    """
    states: dict[str, _State] = {"run:failed": _failed(context, summary)}
    states |= _layout(summary)
    prices: dict[str, str] = {}
    read: list[SourceHealth] = []
    answers: list[Message] = []
    groups = ["run"]
    try:
        # The time of the run and not of the clock, because the nights of the sample have times of their own.
        read = health.sources(context.data, context.as_of)
        states |= _watches(context)
        prices = _held(context)
        answers = kept_answers.tell(context.data, kept_answers.now(context.data), is_heard=is_heard)
        groups += ["stale", "watch", "held"]
    except NoWarehouse:
        pass  # nothing was ever published, so the only news is that the run failed
    truth = {key: state.is_so for key, state in states.items()} | dict.fromkeys(prices, True)
    truth |= {f"stale:{source.source}": source.is_overdue for source in read}
    new_keys = newly_true(context.data.state / "told.json" if is_heard else None, truth, groups)
    messages = [states[key].message for key in new_keys if key in states] + answers
    for source in summary.degraded_sources:
        messages.append(Message(f"gpuledger: {source.source} is degraded", source.reason or "", "warning"))
    messages += _stale_message([source for source in read if f"stale:{source.source}" in new_keys])
    return messages + _held_message([prices[key] for key in new_keys if key in prices])


def _failed(context: Context, summary: Summary) -> _State:
    body = f"{summary.why}\nThe last good warehouse stays. `gpuledger status --data-dir {context.data.root}` says more."
    return _State(summary.published is None, Message("gpuledger: the run published nothing", body, "failure"))


def _layout(summary: Summary) -> dict[str, _State]:
    """The sources whose pages have changed: they cannot be read any more, or a column of their rows went empty."""
    states = {}
    for source in summary.sources:
        is_unread = source.is_failure and (source.reason or "").startswith("LayoutChanged")
        release = f"`gpuledger release --source {source.source}` says that all is right"
        lines = [source.reason or ""] if is_unread else [*source.emptied[:MOST_COLUMNS], release]
        if source.is_failure:
            lines.append("Its last good data stand until the parser is mended.")
        message = Message(f"gpuledger: {source.source} has changed its layout", "\n".join(lines), "warning")
        states[f"layout:{source.source}"] = _State(is_unread or bool(source.emptied), message)
    return states


def _stale_message(old: Sequence[SourceHealth]) -> list[Message]:
    if not old:
        return []
    lines = ["These prices no longer count."]
    for s in old:
        age = "never read well" if s.age_hours is None else f"last good data {s.age_hours:.0f} h old"
        lines.append(f"{s.source}: {age}, the limit is {s.limit_hours} h. {s.reason or ''}".strip())
    names = f"{', '.join(s.source for s in old)} {'is' if len(old) == 1 else 'are'} too old"
    return [Message(f"gpuledger: {names}", "\n".join(lines), "warning")]


def _watches(context: Context) -> dict[str, _State]:
    known, bad = watches.WATCHES.usable(context.data.root)
    states = {
        f"watch:{error}": _State(True, Message("gpuledger: a watch cannot be looked at", str(error), "warning"))
        for error in bad
    }
    for result in watches.look(context.data, known, context.as_of):
        watch = result.watch
        message = Message(f"gpuledger: {say(watch.waits_for)}", result.body, "success")
        states[f"watch:{watch.id} {watch.waits_for}"] = _State(result.is_met, message)
    return states


def _held(context: Context) -> dict[str, str]:
    """The text for each held price, by a key that changes when the price changes."""
    states = {}
    for p in held.held(context.data):
        price_before = f" (before: {p.reference_price})" if p.reference_price else ""
        bound = f" ({p.bound})" if p.bound else ""
        states[f"held:{p.listing_id} {p.price}"] = (
            f"{p.source}: {p.title}: {p.price} {p.currency}{price_before}; {p.reason}{bound}\n{p.url or ''}\n"
            f"`gpuledger release {p.listing_id}` lets it pass"
        )
    return states


def _held_message(lines: list[str]) -> list[Message]:
    if not lines:
        return []
    count_line = [f"and {len(lines) - MOST_HELD} more in core.held_price"] if len(lines) > MOST_HELD else []
    title = f"gpuledger: {len(lines)} price{'s are' if len(lines) > 1 else ' is'} held until seen again"
    return [Message(title, "\n\n".join([*lines[:MOST_HELD], *count_line]), "warning")]


def newly_true(path: Path | None, now: Mapping[str, bool | None], groups: Collection[str] = ()) -> list[str]:
    """The keys of `now` that became true since the last call, in the order of `now`.

    The new states are on disk at `path` when this returns. Without a `path` nothing is recorded: every true key counts as
    new, now and at the next call.

    `groups` names the groups of keys (the part of a key before its colon) for which `now` is complete. A recorded key of
    such a group that is not in `now` is dropped.
    """
    before = kept_answers.last_told(path) if path is not None else {}
    after = {key: value for key, value in before.items() if key.partition(":")[0] not in groups or key in now}
    new_keys = []
    for key, is_true in now.items():
        if is_true is None:
            continue
        if is_true and not before.get(key, False):
            new_keys.append(key)
        after[key] = is_true
    if path is not None and after != before:
        files.make_folder(path.parent)
        files.write(path, json.dumps(after, indent=1, ensure_ascii=False).encode())
    return new_keys
