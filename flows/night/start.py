"""Make the context of a run that is about to start: its time, its sample night, its sources."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from gpuledger.flows.decisions.corrections import CORRECTIONS
from gpuledger.flows.night.context import Context, Engine, context_now
from gpuledger.flows.settings.settings import Settings, SettingsError
from gpuledger.flows.words import wrong_use
from gpuledger.transform import queries
from gpuledger.transform.identity.pins import PINS
from gpuledger.warehouse.paths import DataDir


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What a person or a schedule requests: `sample` for the sample site instead of the live sources, `only` for some of the
    sources instead of all, `as_of` for another time than now. `keep_sample` lets a run on the live sources go on where the
    sample was read.
    """

    sample: bool = False
    night: int | None = None
    only: Sequence[str] = ()
    as_of: str | None = None
    keep_sample: bool = False


def refuse_a_mixture(data: DataDir, request: Request) -> None:
    """Raise SettingsError for a run on the live sources into a folder of the sample, unless the request keeps the sample.

    Invented prices would stand in its history beside real ones. What a person drops may stand beside the sample.
    """
    from gpuledger.extract import source as sources
    from gpuledger.flows.night.gather import OF_PRICES

    chosen = [sources.get(name) for name in request.only]
    asks = not chosen or any((one.start or one.setting) and not OF_PRICES.isdisjoint(one.kinds) for one in chosen)
    if request.sample or request.keep_sample or not asks:
        return
    last = queries.last(data)
    if last is not None and last.is_sample:
        raise SettingsError(
            f"{data.root} holds the sample, whose prices are invented, and real ones would stand beside them: name another "
            "folder with --data-dir, or say --keep-sample, and every price in this folder stays marked as invented"
        )


def context_for(settings: Settings, data: DataDir, engine: Engine, request: Request) -> Context:
    """The context of a run that starts now.

    Without a `night`, a run on the sample takes the night after the last one that was published in `data`, and stays at the
    sample's last night. A run that reads only the inbox stays on the published night, as an inbox has no nights.

    Raises ValueError for an unknown source or night, naming the known ones, or for an `as_of` that is no time. Raises
    BadRecord if the pins or corrections in `data` cannot be read: better now than after an hour of reading.
    """
    from gpuledger.extract import source as sources

    only, as_of = request.only, request.as_of
    unknown = sorted(set(only) - set(sources.names()))
    if unknown:
        raise ValueError(wrong_use.no_source(unknown, sources.names()))
    PINS.all(data.root)
    CORRECTIONS.all(data.root)
    context = context_now(settings, data, engine)
    time = time_of("--as-of", as_of) if as_of else context.as_of
    sample_night = None
    if request.sample:
        from gpuledger.extract.sample import server

        step = 0 if only and all(sources.get(name).drops and not sources.get(name).sample for name in only) else 1
        sample_night = request.night if request.night is not None else _next_night(data, server.NIGHTS, step)
        time = time_of("--as-of", as_of) if as_of else server.clock(sample_night)
    return replace(context, as_of=time, sample_night=sample_night, only=tuple(only) or None)


def rebuild_context_for(settings: Settings, data: DataDir, engine: Engine) -> Context:
    """The context of a rebuild that starts now. It changes no day's prices, so its `as_of` is that of the newest run."""
    context, last = context_now(settings, data, engine), queries.last(data)
    return replace(context, as_of=last.as_of) if last else context


def time_of(option: str, text: str) -> datetime:
    """The time that an option says, in UTC. Raises ValueError, naming the option, for a text that is none."""
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        raise ValueError(f"{option} {text!r} is not a time such as 2026-11-20 or 2026-11-20T03:00:00Z") from None
    try:
        return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)
    except OverflowError:
        raise ValueError(f"{option} {text!r} is before the first or after the last time that there is") from None


def _next_night(data: DataDir, nights: tuple[int, ...], step: int) -> int:
    """The sample night `step` after the last that was published here; the first if none was."""
    last = queries.last(data)
    return nights[0] if last is None or last.sample_night is None else min(last.sample_night + step, nights[-1])
