"""Why a model could not be sized. Every message repeats the input and says what to do about it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import msgspec

from gpuledger import local_files
from gpuledger.message import Mistake


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


@contextmanager
def of_a_stranger(what: object) -> Iterator[None]:
    """The one wall around what a stranger wrote of a model: what no check foresaw is a BadModelFile that names `what`."""
    try:
        yield
    except SizingError:
        raise
    except OSError as error:
        raise BadModelFile("{path} cannot be read ({why})", path=what, why=local_files.why(error)) from None
    except (
        ArithmeticError,
        AttributeError,
        LookupError,
        RecursionError,
        TypeError,
        ValueError,
        msgspec.ValidationError,
    ) as error:
        why = f"{type(error).__name__}: {error}"[:200]
        raise BadModelFile(
            "{what} does not add up to a model ({why}): fetch its files again, or ask for a model like it", what=what,
            why=why,
        ) from None  # fmt: skip
