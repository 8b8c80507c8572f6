"""Progress of long work: a bar of tqdm, if that is installed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["Bar", "show_progress"]

_shown = True


def show_progress(shown: bool) -> None:
    """Whether work that takes more than a second shows a bar. It does unless told otherwise, if tqdm is installed.

    >>> show_progress(True)
    """
    global _shown
    _shown = shown


class Bar:
    """A bar that appears when the work tells of itself for the first time, and goes when it is over."""

    def __init__(self) -> None:
        self._bar: Any = None

    def __enter__(self) -> Callable[[str, int, int | None], None] | None:
        return self._tell if _shown else None

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()

    def _tell(self, what: str, done: int, total: int | None) -> None:
        if self._bar is None:
            try:
                from tqdm.auto import tqdm
            except ImportError:
                return
            self._bar = tqdm(total=total, unit=f" {what}", unit_scale=True, leave=False)
        self._bar.n = done
        self._bar.total = total
        self._bar.refresh()
