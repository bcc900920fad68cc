"""What people are told after a run: it failed, a source is too old or has changed its layout, a price is held, a watch."""

from __future__ import annotations

from dataclasses import dataclass

from gpuledger.flows.night.context import Context
from gpuledger.flows.night.summary import Summary
from gpuledger.flows.telling import health
from gpuledger.flows.telling.crossings import cross
from gpuledger.flows.telling.notify import Kind, Message
from gpuledger.flows.telling.watches import look, store
from gpuledger.transform.answers import held
from gpuledger.warehouse.errors import BadQuery, NoWarehouse

#: Held prices that are listed in one message; more are counted.
MOST_HELD = 10
#: Traits of a source that are listed in one message; `ops.issue` has all.
MOST_TRAITS = 8


@dataclass(frozen=True, slots=True)
class _State:
    """Something that is true, false or unknown tonight, with the message for the night on which it becomes true."""

    is_so: bool | None
    message: Message


def due(context: Context, summary: Summary, *, is_heard: bool) -> list[Message]:
    """The messages that this run gives cause for, each said once: when its cause begins. That a source is degraded is said
    each night: its rows are missed while nothing fails.

    Where nobody listens yet (not `is_heard`) nothing counts as said.
    """
    states: dict[str, _State] = {"run:failed": _failed(context, summary)}
    states |= _drift(summary)
    prices: dict[str, str] = {}
    groups = ["run"]
    try:
        states |= _stale(context)
        states |= _watches(context)
        prices = _held(context)
        groups += ["stale", "watch", "held"]
    except NoWarehouse:
        pass  # nothing was ever published: that the run failed is all there is to say
    now = {key: state.is_so for key, state in states.items()} | dict.fromkeys(prices, True)
    fresh = cross(context.data.state / "told.json" if is_heard else None, now, groups)
    messages = [states[key].message for key in fresh if key in states]
    return messages + _degraded(summary) + _held_message([prices[key] for key in fresh if key in prices])


def _failed(context: Context, summary: Summary) -> _State:
    body = f"{summary.why}\nThe last good warehouse stays. `gpuledger status --data-dir {context.data.root}` says more."
    return _State(summary.published is None, Message("gpuledger: the run published nothing", body, "failure"))


def _drift(summary: Summary) -> dict[str, _State]:
    """Whose pages have changed: they cannot be read, or read otherwise than on all nights before."""
    states = {}
    for s in summary.sources:
        is_unread = s.is_failure and (s.reason or "").startswith("LayoutChanged")
        stand = ["Its last good data stand until the parser is mended."] if s.is_failure else []
        diff, release = f"`gpuledger sources diff {s.source}`", f"`gpuledger release --source {s.source}`"
        looks = f"{diff} shows the pages; {release} says that all is right"
        lines = [s.reason or "", *stand] if is_unread else [*s.drift[:MOST_TRAITS], *stand, looks]
        message = Message(f"gpuledger: {s.source} has changed its layout", "\n".join(lines), "warning")
        states[f"drift:{s.source}"] = _State(is_unread or bool(s.drift), message)
    return states


def _degraded(summary: Summary) -> list[Message]:
    return [Message(f"gpuledger: {s.source} is degraded", s.reason or "", "warning") for s in summary.degraded_sources]


def _stale(context: Context) -> dict[str, _State]:
    states = {}
    # The run's own time and not the clock's: the sample's nights have theirs.
    for s in health.sources(context.data, context.as_of):
        age = "it was never read well" if s.age_hours is None else f"its last good data are {s.age_hours:.0f} h old"
        body = f"{age}; the limit is {s.limit_hours} h, and its prices no longer count.\n{s.reason or ''}".strip()
        states[f"stale:{s.source}"] = _State(
            s.is_overdue, Message(f"gpuledger: {s.source} is too old", body, "warning")
        )
    return states


def _watches(context: Context) -> dict[str, _State]:
    states: dict[str, _State] = {}
    for watch in store.load(context.data):
        try:
            seen = look.look(context.data, [watch], context.as_of)[0]
        except BadQuery as error:
            message = Message(
                f"gpuledger: watch {watch.id} cannot be looked at", f"{watch.waits_for}: {error}", "warning"
            )
            states[f"watch:{watch.id} broken"] = _State(True, message)
            continue
        title = f"gpuledger: {watch.waits_for}"
        states[f"watch:{watch.id} {watch.waits_for}"] = _State(seen.is_met, Message(title, seen.body, "success"))
    return states


def _held(context: Context) -> dict[str, str]:
    """Prices that the gate holds, a line each, by a key that changes with the price."""
    states = {}
    for p in held.held(context.data):
        before = f" (before: {p.reference_price})" if p.reference_price else ""
        bound = f" ({p.bound})" if p.bound else ""
        states[f"held:{p.listing_id} {p.price}"] = (
            f"{p.source}: {p.title}: {p.price} {p.currency}{before}; {p.reason}{bound}\n{p.url or ''}\n"
            f"`gpuledger release {p.listing_id}` lets it pass"
        )
    return states


def _held_message(lines: list[str]) -> list[Message]:
    if not lines:
        return []
    more = [f"and {len(lines) - MOST_HELD} more in core.held_price"] if len(lines) > MOST_HELD else []
    kind: Kind = "warning"
    title = f"gpuledger: {len(lines)} price{'s are' if len(lines) > 1 else ' is'} held until seen again"
    return [Message(title, "\n\n".join([*lines[:MOST_HELD], *more]), kind)]
