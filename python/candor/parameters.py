"""Parameters on their way to the libraries: as JSON, without those that were not given, so that no default is written here."""

from __future__ import annotations

import functools
import inspect
import json
import math
import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any, ParamSpec, TypeVar

from ._candor import ParameterError

__all__ = ["joined", "margins", "names", "old_names", "written"]

Given = ParamSpec("Given")
Result = TypeVar("Result")

#: Old names of parameters, as the command's hidden aliases: each is taken wherever the function has the new name.
OLD_NAMES = {
    "against": "baseline",
    "against_plan": "baseline_plan",
    "allow_weaker": "allow_larger_epsilon",
    "attenuated": "uncorrected",
    "calibrate": "benchmarks",
    "compare": "compare_groups",
    "detect": "detect_difference",
    "file": "matrix",
    "ignoring": "noncompliance",
    "inputs": "matrix_inputs",
    "inside": "cluster_method",
    "mirrored": "compliance_check",
    "null": "null_share",
    "numbers": "numeric_columns",
    "only_if": "self_protective_if",
    "parity": "likelihood_ratio",
    "privacy": "map_privacy",
    "ratio": "budget_split",
    "replicates": "replicate_weights",
    "safe_cells": "escape_formulas",
    "sampling_clusters": "psu",
    "says": "self_protective",
    "shares": "expected_shares",
    "show_naive": "show_uncorrected",
    "single": "one_channel",
    "utility": "max_mse",
    "values": "scores",
    "without_missing": "complete_cases",
}


def old_names(function: Callable[Given, Result]) -> Callable[Given, Result]:
    """Lets a function take parameters by their old names, too; both at once are an error.

    >>> @old_names
    ... def total(*, scores: list[int]) -> int:
    ...     return sum(scores)
    >>> total(values=[1, 2])
    3
    """
    parameters = inspect.signature(function).parameters.values()
    named = {one.name for one in parameters}
    free = any(one.kind is one.VAR_KEYWORD for one in parameters)
    known = {old: new for old, new in OLD_NAMES.items() if old not in named and (free or new in named)}

    @functools.wraps(function)
    def renamed(*args: Given.args, **kwargs: Given.kwargs) -> Result:
        for old in known.keys() & kwargs.keys():
            new = known[old]
            if new in kwargs:
                raise ParameterError(f"`{old}` is the old name of `{new}`; give one of them")
            kwargs[new] = kwargs.pop(old)
        return function(*args, **kwargs)

    return renamed


def written(**parameters: Any) -> str:
    """Parameters as JSON.

    >>> written(confidence=0.9, tables=["a,b", ["c"]], weights=None)
    '{"confidence": 0.9, "tables": "a,b;c"}'
    """
    given = {name: value for name, value in parameters.items() if value is not None}
    if "tables" in given:
        given["tables"] = joined(given["tables"])
    return json.dumps({name: _plain(name, value) for name, value in given.items()})


def joined(tables: str | Iterable[str | Iterable[str]]) -> str:
    """A list of tables in the one syntax that there is: ``a,b;c``."""
    if isinstance(tables, str):
        return tables
    return ";".join(table if isinstance(table, str) else ",".join(table) for table in tables)


def names(given: str | Iterable[str] | None) -> list[str] | None:
    """Names, given as a list or as ``a,b``."""
    if given is None:
        return None
    return given.split(",") if isinstance(given, str) else list(given)


def margins(given: str | os.PathLike[str] | Mapping[str, Mapping[str, float]] | None) -> Any:
    """Known margins: a file's name, or shares by attribute and category."""
    return given if given is None or isinstance(given, Mapping) else os.fsdecode(given)


def _plain(name: str, value: Any) -> Any:
    """A value that JSON has; arrays become lists."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, float) and not math.isfinite(value):
        raise ParameterError(f"`{name}` is {value}; it must be a finite number")
    if isinstance(value, Mapping):
        return {str(key): _plain(name, one) for key, one in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_plain(name, one) for one in value]
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise ParameterError(f"`{name}` is a {type(value).__name__}, which is not a number, a text or a list of these")
