"""Tables of the user's own: read without copies by the Arrow PyCapsule interface, and given back as the same kind."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from . import _candor
from ._candor import FINGERPRINT_KEY, SIMULATION_KEY, InputError, Stream, Table

if TYPE_CHECKING:
    from .plan import Plan

__all__ = ["Responses", "given", "given_back", "marks_of"]

#: Columns with their labels, and whether they hold sets of these.
Labelled = dict[str, tuple[list[str], bool]]

_KINDS = (
    "a table is a path, a pandas or polars DataFrame, a pyarrow Table, or anything else with __arrow_c_stream__ "
    "(or a list of those)"
)


class Responses:
    """Responses in a frame that cannot carry the fingerprint of their plan itself, such as polars'.

    Attributes:
        frame: the responses.
        fingerprint: of the plan that they were made under.
        simulation: the seed, if they are a simulation; such responses protect nobody.

    >>> import polars
    >>> responses = Responses(polars.DataFrame({"smokes": ["yes"]}), "sha256:0123")
    >>> len(responses), responses.fingerprint
    (1, 'sha256:0123')
    """

    __slots__ = ("fingerprint", "frame", "simulation")

    def __init__(self, frame: Any, fingerprint: str, simulation: int | None = None) -> None:
        self.frame = frame
        self.fingerprint = fingerprint
        self.simulation = simulation

    @property
    def marks(self) -> dict[str, str]:
        """What travels with them, as the metadata of a schema."""
        marks = {FINGERPRINT_KEY: self.fingerprint}
        return marks if self.simulation is None else {**marks, SIMULATION_KEY: str(self.simulation)}

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return _candor.mark(self.frame, self.marks).__arrow_c_stream__(requested_schema)

    def __len__(self) -> int:
        return len(self.frame)

    def __repr__(self) -> str:
        simulation = "" if self.simulation is None else f", a simulation (seed {self.simulation})"
        return f"responses under the plan {self.fingerprint}{simulation}\n{self.frame!r}"

    def _repr_html_(self) -> str:
        inner = getattr(self.frame, "_repr_html_", None)
        return inner() if inner else f"<pre>{self!r}</pre>"


def given(tables: Any) -> list[Any]:
    """Tables as the library takes them: paths as text, all else with the marks that its schema does not carry."""
    if isinstance(tables, (list, tuple)):
        return [one for table in tables for one in given(table)]
    if isinstance(tables, (str, os.PathLike)):
        return [os.fsdecode(tables)]
    if isinstance(tables, Responses):
        return [(readable(tables.frame), tables.marks)]
    return [(readable(tables), marks_of(tables))]


def readable(table: Any) -> Any:
    """What gives the table as an Arrow stream."""
    kind = _kind(table)
    if kind == "pandas.DataFrame":
        return _of_pandas(table)
    if kind == "polars.LazyFrame":
        raise InputError("a LazyFrame has no rows yet: collect() it first")
    if not hasattr(table, "__arrow_c_stream__") or kind in ("pandas.Series", "polars.Series", "pyarrow.ChunkedArray"):
        raise InputError(f"{_KINDS}; this is a {kind}")
    return table


def _kind(table: Any) -> str:
    """The type of a table, by the package it is of."""
    of = type(table)
    package = of.__module__.split(".")[0]
    return of.__name__ if package == "builtins" else f"{package}.{of.__name__}"


def _of_pandas(frame: Any) -> Any:
    """A pandas frame as Arrow, without its index: that is no column."""
    try:
        import pyarrow
    except ImportError:
        raise InputError("pandas gives its frames as Arrow by pyarrow, which is not installed") from None
    if not all(isinstance(name, str) for name in frame.columns):
        wrong = next(name for name in frame.columns if not isinstance(name, str))
        raise InputError(f"a column of the frame is called {wrong!r}; names of columns are texts")
    if not frame.columns.is_unique:
        twice = frame.columns[frame.columns.duplicated()][0]
        raise InputError(f'the table has two columns "{twice}"')
    for name in frame.columns:
        _check_pandas(name, frame[name])
    return pyarrow.Table.from_pandas(frame, preserve_index=False)


def _check_pandas(name: str, column: Any) -> None:
    """Refuses a column of things of several kinds, which Arrow does not have."""
    if column.dtype != object:
        return
    kinds = sorted({type(value).__name__ for value in column.dropna()})
    if len(kinds) > 1:
        raise InputError(
            f'the column "{name}" mixes {", ".join(kinds)}; make it one kind, such as text by astype(str), or a categorical'
        )


def marks_of(table: Any) -> dict[str, str]:
    """What a frame says of the plan that its responses were made under, where Arrow does not say it."""
    attrs = getattr(table, "attrs", None)
    if not isinstance(attrs, Mapping):
        return {}
    return {key: str(attrs[key]) for key in (FINGERPRINT_KEY, SIMULATION_KEY) if attrs.get(key) is not None}


def given_back(made: Table | Stream, like: Any, plan: Plan, done: Mapping[str, Any]) -> Any:
    """Responses as the kind of frame that came in."""
    first = like[0] if isinstance(like, (list, tuple)) and like else like
    kind = _kind(first.frame if isinstance(first, Responses) else first)
    if kind == "pandas.DataFrame":
        frame = to_pandas(made, plan)
        frame.attrs[FINGERPRINT_KEY] = done["fingerprint"]
        if done["simulation"] is not None:
            frame.attrs[SIMULATION_KEY] = str(done["simulation"])
        return frame
    if kind == "polars.DataFrame":
        return Responses(to_polars(made, _answers(plan)), done["fingerprint"], done["simulation"])
    if kind.startswith("pyarrow."):
        return _to_pyarrow(made, kind)
    return made


def as_frame(made: Table, like: Any, plan: Plan) -> Any:
    """Records that are no responses, as the kind of frame that came in."""
    first = like[0] if isinstance(like, (list, tuple)) and like else like
    kind = _kind(first.frame if isinstance(first, Responses) else first)
    if kind == "pandas.DataFrame":
        return to_pandas(made, plan)
    if kind == "polars.DataFrame":
        return to_polars(made, {one.name: (one.categories, False) for one in plan.schema})
    return _to_pyarrow(made, "pyarrow.Table") if kind.startswith("pyarrow.") else made


def _to_pyarrow(made: Table | Stream, kind: str) -> Any:
    import pyarrow

    if kind == "pyarrow.RecordBatchReader":
        return pyarrow.RecordBatchReader.from_stream(made)
    table = pyarrow.table(made)
    if kind == "pyarrow.RecordBatch":
        return table.combine_chunks().to_batches()[0]
    return table


def to_pandas(made: Any, plan: Plan) -> Any:
    """A pandas frame whose answers are categoricals with the labels of the plan, in their order."""
    import pyarrow

    table = pyarrow.table(made)
    # pandas has no unsigned codes.
    signed = pyarrow.dictionary(pyarrow.int32(), pyarrow.string())
    for at, field in enumerate(table.schema):
        if pyarrow.types.is_dictionary(field.type):
            table = table.set_column(at, field.name, table.column(at).cast(signed))
        elif pyarrow.types.is_list(field.type):
            table = table.set_column(at, field.name, table.column(at).cast(pyarrow.list_(pyarrow.string())))
    frame = table.to_pandas()
    ordinal = {one.name for one in plan.schema if one.kind == "ordinal"}
    for name in ordinal.intersection(frame.columns):
        if hasattr(frame[name], "cat"):
            frame[name] = frame[name].cat.as_ordered()
    return frame


def _answers(plan: Plan) -> Labelled:
    """The columns of responses that have labels."""
    return {one.name: (one.labels, one.set) for one in plan.columns if one.labels is not None}


def to_polars(made: Any, labelled: Labelled) -> Any:
    """A polars frame whose categories are Enums with these labels, in their order."""
    import polars

    frame = polars.DataFrame(made)
    enums = {name: (polars.Enum(labels), is_set) for name, (labels, is_set) in labelled.items() if name in frame.columns}
    return frame.cast({name: polars.List(enum) if is_set else enum for name, (enum, is_set) in enums.items()})


def known_categories(table: Any) -> list[dict[str, Any]]:
    """The columns whose categories the frame itself declares, with their labels in order."""
    kind = _kind(table)
    if kind == "pandas.DataFrame":
        return [
            _known(name, column.cat.categories, column.cat.ordered)
            for name, column in table.items()
            if hasattr(column, "cat") and str(column.dtype) == "category"
        ]
    if kind == "polars.DataFrame":
        return [
            _known(name, dtype.categories, False)
            for name, dtype in table.schema.items()
            if type(dtype).__name__ == "Enum"
        ]
    if kind in ("pyarrow.Table", "pyarrow.RecordBatch"):
        return list(_of_dictionaries(table))
    return []


def _of_dictionaries(table: Any) -> Iterable[dict[str, Any]]:
    import pyarrow

    whole = pyarrow.table(table).unify_dictionaries()
    for field in whole.schema:
        if pyarrow.types.is_dictionary(field.type) and whole.column(field.name).num_chunks:
            labels = whole.column(field.name).chunk(0).dictionary
            yield _known(field.name, labels.to_pylist(), field.type.ordered)


def _known(name: str, labels: Iterable[Any], ordered: bool) -> dict[str, Any]:
    return {"name": name, "categories": [_label(label) for label in labels], "ordinal": bool(ordered)}


def _label(label: Any) -> str:
    """A category as text, as the library reads it: truths in small letters."""
    return str(label).lower() if isinstance(label, bool) else str(label)
