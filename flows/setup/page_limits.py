"""What one page may use while it is parsed, in a night and by hand."""

from __future__ import annotations

from gpuledger.extract.parse_pool import Limits
from gpuledger.flows.setup.settings import Settings


def page_limits(settings: Settings) -> Limits:
    """Processor time and memory of one page, as the settings say."""
    return Limits(settings.page_timeout_s, int(settings.page_memory_mb * 1_000_000))
