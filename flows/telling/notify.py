"""Send notifications through Apprise: mail, chat, webhooks. No target can make a run fail or hold it up for long.

A message is written to disk before it is sent. Each target that got it is then crossed off, so that a target that cannot be
reached tonight is tried again after the next run. The address of a target is a secret: on disk and in the log a short hash
stands for it.
"""

from __future__ import annotations

import hashlib
import json
import logging
import threading
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from gpuledger import local_files
from gpuledger.extract.archive import files
from gpuledger.flows.settings.settings import Settings
from gpuledger.flows.words.lang import gettext

if TYPE_CHECKING:
    from apprise import Apprise

_log = logging.getLogger("gpuledger.notify")

Kind = Literal["info", "success", "warning", "failure"]
#: A message that could not be delivered for so many days is old news and is dropped.
KEEP_DAYS = 7


@dataclass(frozen=True, slots=True)
class Message:
    """One notification: a headline, and the evidence below it."""

    title: str
    body: str
    kind: Kind = "info"


def targets(settings: Settings) -> list[str]:
    """The Apprise addresses of the settings."""
    return list(dict.fromkeys(url for text in settings.notify_urls for url in text.split()))


def unheard(settings: Settings) -> str | None:
    """That nobody hears of anything, where no target is set."""
    if targets(settings):
        return None
    return gettext(
        "nobody is told of it: no notification target is set; put Apprise addresses in GPULEDGER_NOTIFY_URLS"
    )


def send(outbox: Path, messages: Sequence[Message], urls: Sequence[str], deadline_s: float) -> int:
    """Put `messages` in the outbox and deliver all that is there. Returns how many messages stay there for the next time.

    Waits for the targets at most `deadline_s`. A target that is slower is tried again next time, and may then get a message
    twice. A target that fails raises nothing.
    """
    if not urls:
        for message in messages:
            _log.info("%s (no notification target is set)", message.title)
        return 0
    names = {_name(url): url for url in urls}
    for message in messages:
        _put(outbox, message, sorted(names))
    waiting = _waiting(outbox, set(names))
    done: set[tuple[Path, str]] = set()
    threads = [
        # Daemon threads, because a thread that hangs in a name look-up must not keep the process from ending.
        threading.Thread(target=_deliver, args=(name, url, waiting, done), name=f"notify {name}", daemon=True)
        for name, url in names.items()
    ]
    # Imported before the deadline starts: the first import after an installation compiles the plugins of Apprise. That takes
    # seconds on a busy machine, and no target should count as late because of it.
    import apprise  # noqa: F401

    ends = time.monotonic() + deadline_s
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(max(0.0, ends - time.monotonic()))
    return _settle(waiting, set(done))


def sender_to(url: str) -> Apprise | None:
    """An Apprise object with this one target, None if Apprise does not know such an address."""
    import apprise

    # Apprise logs an address that it cannot read as a whole, password included.
    logging.getLogger("apprise").setLevel(logging.CRITICAL + 1)
    asset = apprise.AppriseAsset(app_id="gpuledger", app_desc="gpuledger", secure_logging=True, async_mode=False)
    sender = apprise.Apprise(asset=asset)
    return sender if sender.add(url) else None


def _deliver(name: str, url: str, waiting: dict[Path, dict[str, list[str] | str]], done: set[tuple[Path, str]]) -> None:
    """Send the messages that wait for one target, in order. Adds to `done` those that the target accepted."""
    scheme = url.partition(":")[0]
    sender = sender_to(url)
    if sender is None:
        _log.error("the notification target %s (%s) is no address that Apprise knows", scheme, name)
        return
    for path, message in waiting.items():
        if name not in message["pending"]:
            continue
        if sender.notify(title=str(message["title"]), body=str(message["body"]), notify_type=str(message["kind"])):
            done.add((path, name))
        else:
            _log.error(
                "the notification target %s (%s) could not be reached; it is tried after the next run", scheme, name
            )
            return


def _put(outbox: Path, message: Message, names: Sequence[str]) -> None:
    files.make_folder(outbox)
    time = datetime.now(UTC)
    path = outbox / f"{time:%Y%m%dT%H%M%S.%fZ}-{hashlib.sha256(repr(message).encode()).hexdigest()[:8]}.json"
    files.write(path, json.dumps({**asdict(message), "pending": list(names)}, ensure_ascii=False).encode())


def _waiting(outbox: Path, names: set[str]) -> dict[Path, dict[str, list[str] | str]]:
    """The messages that wait, oldest first. Drops those that are too old and those whose targets are no longer set."""
    by_path: dict[Path, dict[str, list[str] | str]] = {}
    oldest = f"{datetime.now(UTC) - timedelta(days=KEEP_DAYS):%Y%m%dT%H%M%S}"
    for path in sorted(outbox.glob("*.json")):
        try:
            message = local_files.loads(path.read_text(encoding="utf-8"))
            message["pending"] = [name for name in message["pending"] if name in names]
        except (OSError, ValueError, KeyError, TypeError):
            path.unlink(missing_ok=True)
            continue
        if path.name < oldest or not message["pending"]:
            path.unlink(missing_ok=True)
            _log.warning("dropped a message that nobody took: %s", message.get("title"))
            continue
        by_path[path] = message
    return by_path


def _settle(waiting: dict[Path, dict[str, list[str] | str]], done: set[tuple[Path, str]]) -> int:
    """Remove delivered messages from the outbox. Returns how many messages stay."""
    remaining = 0
    for path, message in waiting.items():
        pending = [name for name in message["pending"] if (path, name) not in done]
        if not pending:
            path.unlink(missing_ok=True)
            continue
        remaining += 1
        if pending != message["pending"]:
            files.write(path, json.dumps({**message, "pending": pending}, ensure_ascii=False).encode())
    return remaining


def _name(url: str) -> str:
    """The name of a target for files and logs, where its address must not appear."""
    return hashlib.sha256(url.encode()).hexdigest()[:12]
