"""Parameters on their way to the libraries: as JSON, without those that were not given, so that no default is written here."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable, Mapping
from typing import Any

from ._candor import ParameterError

__all__ = ["joined", "margins", "names", "written"]


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
