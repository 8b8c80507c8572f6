"""Parameters on their way to the libraries: as JSON, without those that were not given, so that no default is written here."""

from __future__ import annotations

import difflib
import functools
import inspect
import json
import keyword
import math
import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from . import _candor
from ._candor import InputError, ParameterError

__all__ = ["checked", "file_text", "joined", "margins", "names", "pairs", "path", "several", "text", "written"]

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


def checked(function: Callable[Given, Result]) -> Callable[Given, Result]:
    """Lets a function take parameters by their old names, too, and says of one that there is not which may be meant.

    >>> @checked
    ... def total(*, scores: list[int]) -> int:
    ...     return sum(scores)
    >>> total(values=[1, 2])
    3
    >>> total(score=[1, 2])
    Traceback (most recent call last):
    candor.ParameterError: `total` has no parameter `score`; did you mean `scores`?
    """
    named = [one.name for one in inspect.signature(function).parameters.values() if one.name != "self"]
    known = {old: new for old, new in OLD_NAMES.items() if old not in named and new in named}
    # Names that Python has for itself can be given by `**`.
    known |= {name.removesuffix("_"): name for name in named if name.endswith("_")}

    @functools.wraps(function)
    def renamed(*args: Given.args, **kwargs: Given.kwargs) -> Result:
        for given in [name for name in kwargs if name not in named]:
            if given not in known:
                raise ParameterError(f"`{function.__name__}` has no parameter `{given}`{_meant(given, named)}")
            new = known[given]
            if new in kwargs:
                raise ParameterError(f"`{given}` is the old name of `{new}`; give one of them")
            kwargs[new] = kwargs.pop(given)
        try:
            return function(*args, **kwargs)
        except InputError as error:
            raise _as_raised(error) from None

    return renamed


def _as_raised(error: InputError) -> Exception:
    """An error of a generator of batches, as it was raised: on its way through Arrow it became text."""
    told = str(error)
    if "Python exception: Traceback" not in told:
        return error
    last = told.strip().rsplit("\n", 1)[-1]
    kind, _, message = last.partition(": ")
    ours = getattr(_candor, kind.removeprefix("candor."), None) if kind.startswith("candor.") else None
    return InputError(f"the batches ended with {last}") if ours is None else ours(message)


def _meant(given: str, named: list[str]) -> str:
    """What may have been meant: a name that begins like it, or one much like it."""
    begun = sorted(
        (name for name in named if name.startswith(given) or given.startswith(name) and len(name) > 2), key=len
    )
    near = begun or difflib.get_close_matches(given, named, n=1)
    return f"; did you mean `{near[0]}`?" if near else ""


def written(**parameters: Any) -> str:
    """Parameters as JSON.

    >>> written(confidence=0.9, tables=["a,b", ["c"]], weights=None)
    '{"confidence": 0.9, "tables": "a,b;c"}'
    """
    given = {name: value for name, value in parameters.items() if value is not None}
    if "tables" in given:
        given["tables"] = joined(given["tables"])
    return json.dumps({name: _plain(_python(name), value) for name, value in given.items()})


def _python(name: str) -> str:
    """A parameter's name as it is given in Python."""
    return f"{name}_" if keyword.iskeyword(name) else name


def joined(tables: str | Iterable[str | Iterable[str]], name: str = "tables") -> str:
    """A list of tables in the one syntax that there is: ``a,b;c``."""
    if isinstance(tables, str):
        return tables
    return ";".join(table if isinstance(table, str) else ",".join(_texts(name, table)) for table in _each(name, tables))


def names(name: str, given: str | Iterable[str] | None) -> list[str] | None:
    """Names, given as a list or as ``a,b``."""
    if given is None:
        return None
    return given.split(",") if isinstance(given, str) else _texts(name, given)


def several(name: str, given: Any, one: type | tuple[type, ...] = str) -> list[Any] | None:
    """One or several."""
    if given is None:
        return None
    return [given] if isinstance(given, one) else _each(name, given)


def text(name: str, given: str | None) -> str | None:
    """Text."""
    if given is not None and not isinstance(given, str):
        raise ParameterError(f"`{name}` is {given!r}; it must be text")
    return given


def path(name: str, given: str | os.PathLike[str] | None) -> str | None:
    """The name of a file."""
    if given is None:
        return None
    if not isinstance(given, (str, os.PathLike)):
        raise ParameterError(f"`{name}` is of type {type(given).__name__}; it must be the path of a file")
    return os.fsdecode(given)


def file_text(name: str, given: str | os.PathLike[str] | None) -> str | None:
    """The text of a file."""
    at = path(name, given)
    return None if at is None else Path(at).read_text(encoding="utf-8")


def margins(given: str | os.PathLike[str] | Mapping[str, Mapping[str, float]] | None) -> Any:
    """Known margins: a file's name, or shares by attribute and category."""
    return given if given is None or isinstance(given, Mapping) else path("benchmarks", given)


def pairs(name: str, given: Mapping[str, Any] | None) -> list[tuple[str, Any]] | None:
    """A mapping in its order."""
    if given is None:
        return None
    if not isinstance(given, Mapping):
        raise ParameterError(
            f'`{name}` is of type {type(given).__name__}; it must be a mapping, such as {{"Sex": "Male"}}'
        )
    return list(given.items())


def _each(name: str, given: Any) -> list[Any]:
    if hasattr(given, "tolist"):
        given = given.tolist()
    if isinstance(given, (str, bytes, Mapping)) or not isinstance(given, Iterable):
        raise ParameterError(f"`{name}` is {given!r}; it must be one or several of what it is about, as a list")
    return list(given)


def _texts(name: str, given: Any) -> list[str]:
    texts = _each(name, given)
    for one in texts:
        if not isinstance(one, str):
            raise ParameterError(f"`{name}` has {one!r}; it must be text")
    return texts


def _plain(name: str, value: Any) -> Any:
    """A value that JSON has; arrays become lists."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, float) and not math.isfinite(value):
        raise ParameterError(f"`{name}` is {value}; it must be a finite number")
    if isinstance(value, Mapping):
        return {str(key): _plain(name, one) for key, one in value.items()}
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, Iterable) and not isinstance(value, bytes):
        return [_plain(name, one) for one in value]
    raise ParameterError(f"`{name}` is of type {type(value).__name__}; it must be a number, text or a list of these")
