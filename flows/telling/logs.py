"""The log for operators: one line for each source, as text or JSON, without secrets and without the libraries' chatter."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from gpuledger.flows.doors.showing.terminal import clean, json_text
from gpuledger.flows.night.summary import NothingPublished, Summary
from gpuledger.flows.settings.settings import Settings
from gpuledger.flows.telling.redact import Redactor

NAME = "gpuledger"
#: The attribute of a record that holds our own named fields. They are passed as `extra={"fields": {…}}`.
_FIELDS = "fields"
#: Loggers of libraries that write to the log unless they are told not to.
LIBRARIES = (
    "prefect", "EventsWorker", "httpx", "httpcore", "urllib3", "apprise", "great_expectations", "asyncio", "websockets",
    "docket", "py.warnings",
)  # fmt: skip


def set_up(settings: Settings, level: str | None = None) -> None:
    """Send this program's log to stderr in the format of the settings, from `level` on. Libraries only log their errors.

    A second call replaces what the first one set up. Call it again after Prefect is imported, because Prefect sets a format
    of its own when it is imported.
    """
    redact = Redactor(settings.notify_urls)
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Json(redact) if settings.log_format == "json" else _Text(redact))
    handler.addFilter(_without_known_traceback)
    log = logging.getLogger(NAME)
    log.setLevel(level or settings.log_level)
    for name in LIBRARIES:
        # Somebody may have set a library to log even less than its errors.
        logging.getLogger(name).setLevel(max(logging.getLogger(name).level, logging.ERROR))
    for name in (NAME, *LIBRARIES):
        logging.getLogger(name).handlers[:] = [handler]
        logging.getLogger(name).propagate = False


def summary(night: Summary) -> None:
    """Log one line for each source and one for the run, as an error if it failed, as a warning if it is incomplete."""
    log = logging.getLogger(f"{NAME}.run")
    for s in night.sources:
        level = (
            logging.ERROR if s.is_failure else logging.WARNING if s.status in ("partial", "degraded") else logging.INFO
        )
        counts = {
            "pages": s.pages, "parsed": s.parsed, "loaded": s.loaded, "quarantined": s.quarantined,
            "duplicate": s.duplicate, "changed": s.changed, "issues": s.issues, "seconds": round(s.seconds, 3),
        }  # fmt: skip
        emptied = "; ".join(s.emptied) or None
        level = max(level, logging.WARNING) if emptied else level
        event(
            log,
            level,
            f"{s.source} {s.status}",
            source=s.source,
            status=s.status,
            reason=s.reason,
            emptied=emptied,
            **counts,
        )
    for out in night.left_out:
        since, again = f"{out.since:%Y-%m-%d}", f"{out.again:%Y-%m-%d}" if out.again else None
        event(log, logging.INFO, f"{out.source} left out", source=out.source, forbidden=since, again=again)
    level = {"failed": logging.ERROR, "published_with_failures": logging.WARNING}.get(night.status, logging.INFO)
    rebuilt = sum(build.action == "rebuilt" for build in night.builds)
    event(
        log, level, f"run {night.status}", run_id=night.run_id, status=night.status, reason=night.reason,
        prices_changed=len(night.changes), models_rebuilt=rebuilt, seconds=round(night.seconds, 1),
        version=night.version,
    )  # fmt: skip


def _without_known_traceback(record: logging.LogRecord) -> bool:
    """Drop the traceback of our own errors, as their text says what happened and what to do. False: log nothing at all."""
    kind = record.exc_info[0] if record.exc_info else None
    if kind is None or not kind.__module__.startswith(f"{NAME}."):
        return True
    record.exc_info = record.exc_text = None
    # A run that published nothing has already been logged, and Prefect's engine repeats what the flow has logged.
    return not issubclass(kind, NothingPublished) and record.name != "prefect.engine"


def event(log: logging.Logger, level: int, message: str, **fields: Any) -> None:
    """Log `message` with named fields. Fields that are None are left out."""
    log.log(level, message, extra={_FIELDS: {name: value for name, value in fields.items() if value is not None}})


def _fields(record: logging.LogRecord) -> dict[str, Any]:
    fields = getattr(record, _FIELDS, {})
    return fields if isinstance(fields, dict) else {}


class _Text(logging.Formatter):
    """`2026-11-20T03:00:01Z INFO run newegg ok pages=2 parsed=29 …`"""

    def __init__(self, redact: Redactor) -> None:
        super().__init__("%(asctime)s %(levelname)s %(message)s", "%Y-%m-%dT%H:%M:%SZ")
        self.converter = time.gmtime
        self._redact = redact

    def format(self, record: logging.LogRecord) -> str:
        pairs = (f"{k}={v!r}" if isinstance(v, str) and " " in v else f"{k}={v}" for k, v in self._shown(record))
        # Each field is cleaned and put on this one line. A title with a new line in it would otherwise write a second entry.
        record.message, record.asctime = record.getMessage(), self.formatTime(record, self.datefmt)
        head = self.formatMessage(record)
        line = " ".join([clean(self._redact(head)), *pairs])
        # The traceback of a library's error stands on lines of its own.
        below = self.formatException(record.exc_info) if record.exc_info else ""
        return f"{line}\n{clean(self._redact(below), keep_lines=True)}" if below else line

    def _shown(self, record: logging.LogRecord) -> Iterator[tuple[str, object]]:
        for name, value in _fields(record).items():
            yield name, value if isinstance(value, int | float) else clean(self._redact(str(value)))


class _Json(logging.Formatter):
    """One JSON object per line: time, level, logger, message, and the record's own fields."""

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
        # Each value is redacted before it becomes JSON. Redacting the finished JSON could remove a quotation mark too.
        return json_text({
            name: value if isinstance(value, int | float) else clean(self._redact(str(value)), keep_lines=True)
            for name, value in fields.items()
        })  # fmt: skip
