"""Why a model could not be sized. Every message repeats the input and says what to do about it."""

from __future__ import annotations

from gpuledger.extract.message import Mistake


class SizingError(Mistake):
    """A model, a precision or a context that cannot be sized."""


class BadConfig(SizingError):
    """A key that the count needs is absent, of the wrong type, or contradicts another."""


class UnknownModel(SizingError):
    """No model of the catalogue has that id."""


class UnknownPrecision(SizingError):
    """The precision or the file format is not known."""


class ContextTooLong(SizingError):
    """More tokens than the model was trained for."""


class BadModelFile(SizingError):
    """The file of an added model cannot be used. The message names the file and says what to do."""
