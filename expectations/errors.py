"""Errors if a batch or a mart could not be checked against its contract or breaks it. Nothing is published then."""

from __future__ import annotations

from gpuledger.message import Failure


class ExpectationsError(Failure):
    """Nothing may be published. The message says why in one line."""


class ContractError(ExpectationsError):
    """A contract file is missing or wrong. The message names the file and the entry."""


class AuditFailed(ExpectationsError):
    """A mart breaks its contract. Everything is rolled back and the last good warehouse stays."""


class AuditBroken(ExpectationsError):
    """A check could not run. This says nothing about the data, so nothing may be published."""
