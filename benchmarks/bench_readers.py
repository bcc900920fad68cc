"""Four analysts who open, ask and close without pause while two hundred versions are published, and one who stays."""

from __future__ import annotations

from tests.support.readers_beside import READERS, measured

PUBLISHES = 200


def run() -> list[tuple[str, str, str, bool | None]]:
    """What was measured, the measure, the bound asked for, and whether it is kept."""
    found = measured(PUBLISHES)
    return [
        (f"{READERS} readers during {PUBLISHES} publishes: answers", f"{found.answers:,}", "", None),
        ("… that failed", f"{len(found.failures)} {found.failures[:1] or ''}".strip(), "0", not found.failures),
        ("… from more than one run", str(found.mixed), "0", not found.mixed),
        ("… versions that a reader saw, at least", str(found.versions), "", None),
        ("a session that stays open keeps its version", "yes" if found.has_kept else "no", "yes", found.has_kept),
    ]
