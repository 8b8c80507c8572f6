"""What should be known, as warnings."""

from __future__ import annotations

import warnings
from collections.abc import Iterable

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
        warnings.warn(note.removeprefix("note: ").removeprefix("warning: "), Caution, stacklevel=3)
