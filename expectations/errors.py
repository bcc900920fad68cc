"""Why a batch or a mart could not be held against its contract, or did not hold. Nothing is published then."""

from __future__ import annotations


class ExpectationsError(Exception):
    """Nothing may be published; the message is one line and says why."""


class ContractError(ExpectationsError):
    """A contract file is missing or wrong; the message names the file and the entry."""


class AuditFailed(ExpectationsError):
    """A mart breaks its contract. Everything is rolled back and the last good warehouse stays."""


class AuditBroken(ExpectationsError):
    """A check could not be carried out: that says nothing about the data, and nothing may be published on it."""
