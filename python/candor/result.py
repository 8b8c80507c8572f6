"""What all results have: fields as attributes, frames, and words for people."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, ClassVar

from . import shown
from .shown import Grid, Line, current

__all__ = ["Result"]


class Result:
    """A result: its fields are attributes. More may be added to them; those that are there keep their names and meaning.

    >>> result = Result({"name": "a", "parts": [{"value": 1}]})
    >>> result.name, result.parts[0].value, result.to_dict()
    ('a', 1, {'name': 'a', 'parts': [{'value': 1}]})

    A field that is called like a method has an underscore behind its name.

    >>> Result({"rows": 7}).rows_
    7
    """

    #: The types of fields that are results themselves, or lists of results.
    _parts: ClassVar[dict[str, type[Result]]] = {}

    def __init__(self, fields: dict[str, Any]) -> None:
        self._fields = fields
        for name, value in fields.items():
            attribute = f"{name}_" if callable(getattr(type(self), name, None)) else name
            setattr(self, attribute, self._part(name, value))

    @classmethod
    def loads(cls, text: str) -> Any:
        """Of JSON."""
        return cls(json.loads(text))

    def _part(self, name: str, value: Any) -> Any:
        kind = self._parts.get(name, Result)
        if isinstance(value, dict) and (name in self._parts or value):
            return kind(value)
        if isinstance(value, list) and value and all(isinstance(one, dict) for one in value):
            return [kind(one) for one in value]
        return value

    def to_dict(self) -> dict[str, Any]:
        """The fields as plain values."""
        return json.loads(json.dumps(self._fields))

    def _shown(self) -> Iterator[Line | Grid]:
        """What people see."""
        single = {name: value for name, value in current(self._fields).items() if not isinstance(value, (dict, list)) and value is not None}
        for name, value in single.items():
            yield Line(f"{name.replace('_', ' ')}: {shown.cell(value)}")
        for name, value in self._fields.items():
            if isinstance(value, list) and value and all(isinstance(one, dict) for one in value):
                yield Line(name.replace("_", " "), heading=True)
                yield from shown.listed(value)
            elif isinstance(value, (dict, list)) and value:
                yield Line(f"{name.replace('_', ' ')}: {shown.cell(value)}")

    def rows(self) -> list[dict[str, Any]]:
        """The result as rows of a frame; which, each kind of result says."""
        for value in self._fields.values():
            if isinstance(value, list) and value and all(isinstance(one, dict) for one in value):
                return [{key: one[key] for key in current(one) if not isinstance(one[key], dict)} for one in value]
        return [current(self._fields)]

    def to_pandas(self) -> Any:
        """The rows as a pandas frame."""
        import pandas

        return pandas.DataFrame(self.rows())

    def to_polars(self) -> Any:
        """The rows as a polars frame."""
        import polars

        return polars.DataFrame(self.rows(), infer_schema_length=None)

    def to_arrow(self) -> Any:
        """The rows as a pyarrow table."""
        import pyarrow

        return pyarrow.Table.from_pylist(self.rows())

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self._fields == other._fields  # type: ignore[attr-defined]

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._fields,)

    def __repr__(self) -> str:
        return shown.text(self._shown())

    def _repr_html_(self) -> str:
        return shown.html(self._shown())
