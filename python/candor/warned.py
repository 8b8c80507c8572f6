"""What should be known, as warnings."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable

from . import _candor

__all__ = ["Caution", "tell"]


class Caution(UserWarning):
    """What should be known before believing a result, or before anybody answers."""


def tell(notes: Iterable[str]) -> None:
    """Warns of what should be known, at the line of whoever called a verb.

    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as told:
    ...     warnings.simplefilter("always")
    ...     tell(["note: it is late"])
    >>> str(told[0].message)
    'it is late'
    """
    for note in notes:
        words = _candor.spoken(note.removeprefix("note: ").removeprefix("warning: "))
        warnings.warn(words, Caution, stacklevel=_outside())


def _outside() -> int:
    """How many frames up the first is that is not of this package."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == __package__:
        frame, level = frame.f_back, level + 1
    return level
