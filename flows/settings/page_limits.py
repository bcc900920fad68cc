"""The limits of one page while it is parsed, both in a night and by hand."""

from __future__ import annotations

from gpuledger.extract.processes.parse_pool import Limits
from gpuledger.flows.settings.settings import Settings


def page_limits(settings: Settings) -> Limits:
    """Processor time and memory that one page may use, by the settings."""
    return Limits(settings.page_timeout_s, int(settings.page_memory_mb * 1_000_000))
