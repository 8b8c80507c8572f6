"""Audits of anybody's mechanism: lower bounds on its epsilon, from its answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from . import _candor
from .parameters import checked, names, written
from .progress import Bar
from .results import MechanismAudit

__all__ = ["audit_function", "audit_program"]


@checked
def audit_program(
    program: str,
    truths: str | Iterable[str],
    *,
    draws: int | None = None,
    confidence: float | None = None,
    claimed: float | None = None,
    time_limit: float | None = None,
) -> MechanismAudit:
    """A lower bound on the epsilon of a program that reads one true value per line and prints one answer per line.

    `draws` answers are collected for all `truths` together, within `time_limit` seconds. All bounds hold together with `confidence`.
    With `claimed`, the result says whether the bound is above it.

    >>> audit_program("cat", ["yes", "no"], draws=2000).lower_bound > 4
    True
    """
    options = written(draws=draws, confidence=confidence, claimed=claimed, time_limit=time_limit)
    with Bar() as bar:
        text, _ = _candor.audit_program(program, names("truths", truths) or [], options, bar)
    return MechanismAudit.loads(text)


@checked
def audit_function(
    function: Callable[[Any], Any],
    inputs: Iterable[Any],
    *,
    draws: int | None = None,
    confidence: float | None = None,
    claimed: float | None = None,
) -> MechanismAudit:
    """A lower bound on the epsilon of a function that randomizes one true value.

    The function is called `draws` times in all, for each of the `inputs` as often. Its answers are compared as text: numbers, strings,
    sequences and arrays are. If an answer needs a public seed to be understood, return what it says about the inputs instead.

    >>> import random
    >>> audit = audit_function(lambda truth: truth if random.random() < 0.75 else 1 - truth, [0, 1], draws=20_000, claimed=2)
    >>> 0.9 < audit.lower_bound < 1.2, audit.exceeds_claim
    (True, False)
    """
    values = list(inputs)
    options = written(draws=draws, confidence=confidence, claimed=claimed)
    collected = _candor.MechanismDraws([str(value) for value in values], options)
    for _ in range(collected.wanted):
        for place, value in enumerate(values):
            collected.add(place, _text(function(value)))
    text, _ = collected.audit()
    return MechanismAudit.loads(text)


def _text(answer: Any) -> str:
    """An answer as one line: arrays with all their numbers."""
    listed = getattr(answer, "tolist", None)
    return str(listed() if callable(listed) else answer)
