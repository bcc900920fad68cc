"""What an operator reads afterwards: one line a source, as text or as JSON, without secrets or libraries' chatter."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from gpuledger.flows.night.retries import NothingPublished
from gpuledger.flows.night.summary import Summary
from gpuledger.flows.setup.settings import Settings
from gpuledger.flows.telling.clean import clean
from gpuledger.flows.telling.redact import Redactor
from gpuledger.flows.telling.terminal import json_text

NAME = "gpuledger"
#: Fields of a record that are ours and not the logging module's: handed over as `extra={"fields": {…}}`.
_FIELDS = "fields"
#: Loggers of the libraries that would speak without being asked.
LIBRARIES = (
    "prefect", "EventsWorker", "httpx", "httpcore", "urllib3", "apprise", "great_expectations", "asyncio", "websockets",
    "docket", "py.warnings",
)  # fmt: skip


def set_up(settings: Settings, level: str | None = None) -> None:
    """Send this program's log to stderr in the settings' format, from `level` on, and of the libraries the errors alone.

    Called again, it replaces what it set up before; Prefect brings a format of its own with it when it is imported, so
    call it after that, too.
    """
    redact = Redactor(settings.notify_urls)
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Json(redact) if settings.log_format == "json" else _Text(redact))
    handler.addFilter(_without_known_traceback)
    log = logging.getLogger(NAME)
    log.setLevel(level or settings.log_level)
    for name in LIBRARIES:
        # Somebody may have asked for less of a library than its errors.
        logging.getLogger(name).setLevel(max(logging.getLogger(name).level, logging.ERROR))
    for name in (NAME, *LIBRARIES):
        logging.getLogger(name).handlers[:] = [handler]
        logging.getLogger(name).propagate = False


def summary(night: Summary) -> None:
    """One line a source and one for the run: errors for what failed, warnings for what is incomplete."""
    log = logging.getLogger(f"{NAME}.run")
    for s in night.sources:
        level = (
            logging.ERROR if s.is_failure else logging.WARNING if s.status in ("partial", "degraded") else logging.INFO
        )
        counts = {
            "pages": s.pages, "parsed": s.parsed, "loaded": s.loaded, "quarantined": s.quarantined,
            "duplicate": s.duplicate, "changed": s.changed, "issues": s.issues, "seconds": round(s.seconds, 3),
        }  # fmt: skip
        drift = "; ".join(s.drift) or None
        level = max(level, logging.WARNING) if drift else level
        event(
            log,
            level,
            f"{s.source} {s.status}",
            source=s.source,
            status=s.status,
            reason=s.reason,
            drift=drift,
            **counts,
        )
    for out in night.left_out:
        since, again = f"{out.since:%Y-%m-%d}", f"{out.again:%Y-%m-%d}"
        event(log, logging.INFO, f"{out.source} left out", source=out.source, forbidden=since, again=again)
    level = {"failed": logging.ERROR, "published_with_failures": logging.WARNING}.get(night.status, logging.INFO)
    rebuilt = sum(build.action == "rebuilt" for build in night.builds)
    event(
        log, level, f"run {night.status}", run_id=night.run_id, status=night.status, reason=night.reason,
        prices_changed=len(night.changes), models_rebuilt=rebuilt, seconds=round(night.seconds, 1),
        version=night.version,
    )  # fmt: skip


def _without_known_traceback(record: logging.LogRecord) -> bool:
    """Our own errors say in their words what happened and what to do; the way to them is noise."""
    kind = record.exc_info[0] if record.exc_info else None
    if kind is None or not kind.__module__.startswith(f"{NAME}."):
        return True
    record.exc_info = record.exc_text = None
    # A run that ended without a publish has had its lines, and Prefect's engine repeats what the flow has said.
    return not issubclass(kind, NothingPublished) and record.name != "prefect.engine"


def event(log: logging.Logger, level: int, message: str, **fields: Any) -> None:
    """Write `message` with named fields; those that are None are left out."""
    log.log(level, message, extra={_FIELDS: {name: value for name, value in fields.items() if value is not None}})


def _fields(record: logging.LogRecord) -> dict[str, Any]:
    fields = getattr(record, _FIELDS, {})
    return fields if isinstance(fields, dict) else {}


class Plain(str):
    """A field that the log shows as it is: an address that opens the UI once, and that only its reader can use."""

    __slots__ = ()


class _Text(logging.Formatter):
    """`2026-11-20T03:00:01Z INFO run newegg ok pages=2 parsed=29 …`"""

    def __init__(self, redact: Redactor) -> None:
        super().__init__("%(asctime)s %(levelname)s %(message)s", "%Y-%m-%dT%H:%M:%SZ")
        self.converter = time.gmtime
        self._redact = redact

    def format(self, record: logging.LogRecord) -> str:
        pairs = (f"{k}={v!r}" if isinstance(v, str) and " " in v else f"{k}={v}" for k, v in self._shown(record))
        # Each field on its own, and no field on a line of its own: a title with a new line in it would write a second entry.
        record.message, record.asctime = record.getMessage(), self.formatTime(record, self.datefmt)
        head = self.formatMessage(record)
        more = [clean(self._redact(text), keep_lines=True) for text in self._below(record)]
        return "\n".join([" ".join([clean(self._redact(head)), *pairs]), *more])

    def _shown(self, record: logging.LogRecord) -> Iterator[tuple[str, object]]:
        for name, value in _fields(record).items():
            yield name, value if isinstance(value, int | float | Plain) else clean(self._redact(str(value)))

    def _below(self, record: logging.LogRecord) -> Iterator[str]:
        """What stands on lines of its own: the way to an error of a library."""
        if record.exc_info:
            yield self.formatException(record.exc_info)
        if record.stack_info:
            yield self.formatStack(record.stack_info)


class _Json(logging.Formatter):
    """One JSON object a line: time, level, logger, message, and the record's own fields."""

    def __init__(self, redact: Redactor) -> None:
        super().__init__()
        self._redact = redact

    def format(self, record: logging.LogRecord) -> str:
        fields = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **_fields(record),
        }
        if record.exc_info:
            fields["exception"] = self.formatException(record.exc_info)
        # Redacted value by value: cutting in the finished JSON could cut a quotation mark with it.
        return json_text({name: self._clean(value) for name, value in fields.items()})

    def _clean(self, value: Any) -> Any:
        return value if isinstance(value, int | float | Plain) else clean(self._redact(str(value)), keep_lines=True)
