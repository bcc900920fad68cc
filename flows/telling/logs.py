"""What an operator reads afterwards: one line a source, as text or as JSON, without secrets or libraries' chatter."""

from __future__ import annotations

import json
import logging
import sys
import time
from datetime import UTC, datetime
from typing import Any

from gpuledger.flows.night.retries import NothingPublished
from gpuledger.flows.night.summary import Summary
from gpuledger.flows.setup.settings import Settings
from gpuledger.flows.telling.redact import Redactor

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


def summary(found: Summary) -> None:
    """One line a source and one for the run: errors for what failed, warnings for what is incomplete."""
    log = logging.getLogger(f"{NAME}.run")
    for s in found.sources:
        level = logging.ERROR if s.is_failure else logging.WARNING if s.status == "partial" else logging.INFO
        counts = {
            "pages": s.pages, "parsed": s.parsed, "loaded": s.loaded, "quarantined": s.quarantined,
            "duplicate": s.duplicate, "changed": s.changed, "issues": s.issues, "seconds": round(s.seconds, 3),
        }  # fmt: skip
        event(log, level, f"{s.source} {s.status}", source=s.source, status=s.status, reason=s.reason, **counts)
    level = {"failed": logging.ERROR, "published_with_failures": logging.WARNING}.get(found.status, logging.INFO)
    rebuilt = sum(build.action == "rebuilt" for build in found.builds)
    event(
        log, level, f"run {found.status}", run_id=found.run_id, status=found.status, reason=found.reason,
        prices_changed=len(found.changes), models_rebuilt=rebuilt, seconds=round(found.seconds, 1),
        version=found.published.name if found.published else None,
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
    found = getattr(record, _FIELDS, {})
    return found if isinstance(found, dict) else {}


class _Text(logging.Formatter):
    """`2026-11-20T03:00:01Z INFO run newegg ok pages=2 parsed=29 …`"""

    def __init__(self, redact: Redactor) -> None:
        super().__init__("%(asctime)s %(levelname)s %(message)s", "%Y-%m-%dT%H:%M:%SZ")
        self.converter = time.gmtime
        self._redact = redact

    def format(self, record: logging.LogRecord) -> str:
        words = (f"{k}={v!r}" if isinstance(v, str) and " " in v else f"{k}={v}" for k, v in _fields(record).items())
        return self._redact(" ".join([super().format(record), *words]))


class _Json(logging.Formatter):
    """One JSON object a line: time, level, logger, message, and the record's own fields."""

    def __init__(self, redact: Redactor) -> None:
        super().__init__()
        self._redact = redact

    def format(self, record: logging.LogRecord) -> str:
        words = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **_fields(record),
        }
        if record.exc_info:
            words["exception"] = self.formatException(record.exc_info)
        # Redacted value by value: cutting in the finished JSON could cut a quotation mark with it.
        return json.dumps({name: self._clean(value) for name, value in words.items()}, ensure_ascii=False)

    def _clean(self, value: Any) -> Any:
        return value if isinstance(value, int | float) else self._redact(str(value))
