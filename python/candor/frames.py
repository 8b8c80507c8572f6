"""Tables of the user's own: read without copies by the Arrow PyCapsule interface, and given back as the same kind."""

from __future__ import annotations

import itertools
import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from . import _candor
from ._candor import FINGERPRINT_KEY, SIMULATION_KEY, InputError, OtherPlanError, Stream, Table

if TYPE_CHECKING:
    from .plan import Plan

__all__ = ["Responses", "given", "given_back", "marks_of"]

Frame = TypeVar("Frame")

#: Columns with their labels, and whether they hold sets of these.
Labelled = dict[str, tuple[list[str], bool]]

_KINDS = (
    "a table is a path, a pandas or polars DataFrame, a polars LazyFrame, a pyarrow Table, or anything else with __arrow_c_stream__ "
    "(or a list or a generator of those)"
)


class Responses(Generic[Frame]):
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

    def __init__(self, frame: Frame, fingerprint: str, simulation: int | None = None) -> None:
        self.frame = frame
        self.fingerprint = fingerprint
        self.simulation = simulation

    @property
    def marks(self) -> dict[str, str]:
        """What travels with them, as the metadata of a schema."""
        marks = {FINGERPRINT_KEY: self.fingerprint}
        return marks if self.simulation is None else {**marks, SIMULATION_KEY: str(self.simulation)}

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return _candor.mark(readable(self.frame), self.marks).__arrow_c_stream__(requested_schema)

    def __len__(self) -> int:
        frame: Any = self.frame
        return len(frame)

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
    if is_batches(tables):
        return [_of_batches(tables)]
    return [(readable(tables), marks_of(tables))]


def readable(table: Any) -> Any:
    """What gives the table as an Arrow stream."""
    kind = _kind(table)
    if kind == "pandas.DataFrame":
        return _of_pandas(table)
    if kind == "polars.LazyFrame":
        return _of_scan(table)
    if not hasattr(table, "__arrow_c_stream__") or kind in ("pandas.Series", "polars.Series", "pyarrow.ChunkedArray"):
        raise InputError(f"{_KINDS}; this is a {kind}")
    return table


def _kind(table: Any) -> str:
    """The type of a table, by the package it is of."""
    of = type(table)
    package = of.__module__.split(".")[0]
    return of.__name__ if package == "builtins" else f"{package}.{of.__name__}"


def is_batches(tables: Any) -> bool:
    """Whether it gives one frame after the other, such as a generator, or what pandas reads by `chunksize`."""
    return isinstance(tables, Iterator) and not hasattr(tables, "__arrow_c_stream__")


def _of_batches(tables: Iterator[Any]) -> Any:
    """Frames, one after the other, as one stream with the columns and the marks of the first."""
    import pyarrow

    first = next(tables, None)
    if first is None:
        raise InputError("there is no table to read")
    schema, marks = pyarrow.table(readable(_bare(first))).schema, _marks(first)

    def batches() -> Iterator[Any]:
        for number, table in enumerate(_chained(first, tables), 1):
            if _marks(table) != marks:
                raise OtherPlanError(f"batch {number} tells another plan than the first batch")
            try:
                yield from pyarrow.table(readable(_bare(table))).select(schema.names).cast(schema).to_batches()
            except (KeyError, pyarrow.ArrowInvalid) as error:
                raise InputError(f"batch {number} does not have the columns of the first batch: {error}") from None

    return pyarrow.RecordBatchReader.from_batches(schema, batches()), marks


def _chained(first: Any, others: Iterator[Any]) -> Iterator[Any]:
    yield first
    yield from others


def _bare(table: Any) -> Any:
    return table.frame if isinstance(table, Responses) else table


def _marks(table: Any) -> dict[str, str]:
    """The marks of a table, wherever it has them."""
    return table.marks if isinstance(table, Responses) else marks_of(table)


def _of_scan(scan: Any, columns: list[str] | None = None) -> Any:
    """A polars LazyFrame as batches that are made as they are read."""
    import polars
    import pyarrow

    chosen = scan if columns is None else scan.select(columns)
    try:
        schema = chosen.head(0).collect().to_arrow().schema
    except polars.exceptions.ColumnNotFoundError as error:
        raise InputError(f"the LazyFrame cannot be read: {error}") from None

    def batches() -> Iterator[Any]:
        for batch in chosen.collect_batches(maintain_order=True):
            yield from batch.to_arrow().cast(schema).to_batches()

    return pyarrow.RecordBatchReader.from_batches(schema, batches())


def lazily(scan: Any, draw: Callable[[Any], Any], plan: Plan, kept: Iterable[str]) -> Any:
    """Answers to a LazyFrame as a LazyFrame, drawn as they are read, and only once: anew, they would be a second release."""
    import polars
    import pyarrow
    from polars.io.plugins import register_io_source

    there = scan.collect_schema().names()
    # An attribute `a*b` may be made of the columns a and b.
    named = {part for one in plan.schema for part in (one.name, *one.name.split("*"))} | set(kept)
    columns = [name for name in there if name in named]
    columns = columns or there[:1]
    # Answers of one record tell the types; nobody sees them.
    sample = pyarrow.table(draw(scan.select(columns).head(1).collect()))
    schema = to_polars(sample, _answers(plan)).schema
    begun = False

    def source(with_columns: list[str] | None, predicate: Any, n_rows: int | None, _: int | None) -> Iterator[Any]:
        nonlocal begun
        if begun:
            raise InputError(
                "these responses are drawn as they are read, and were read before; drawn anew they would be a second release "
                "of the same people. Read them once: collect() them, or sink them to a file, and go on with that"
            )
        begun = True
        left = n_rows
        for batch in pyarrow.RecordBatchReader.from_stream(draw(_of_scan(scan, columns))):
            frame = to_polars(pyarrow.Table.from_batches([batch]), _answers(plan))
            frame = frame if left is None else frame.head(left)
            left = None if left is None else left - len(frame)
            frame = frame if predicate is None else frame.filter(predicate)
            yield frame if with_columns is None else frame.select(with_columns)
            if left == 0:
                return

    return register_io_source(source, schema=polars.Schema(schema))


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
    if len(frame.columns) == 0:
        return pyarrow.Table.from_pandas(frame, preserve_index=False)
    # What pyarrow does itself for categoricals, without looking at each code twice.
    known = [name for name in frame.columns if str(frame[name].dtype) == "category"]
    others = pyarrow.Table.from_pandas(frame.drop(columns=known), preserve_index=False)
    columns = {name: _of_categories(frame[name].array) for name in known}
    return pyarrow.table({name: columns[name] if name in columns else others.column(name) for name in frame.columns})


def _of_categories(column: Any) -> Any:
    import pyarrow

    lost = column.codes < 0
    codes = pyarrow.array(column.codes, mask=lost if lost.any() else None)
    return pyarrow.DictionaryArray.from_arrays(
        codes, pyarrow.array(column.categories, from_pandas=True), ordered=column.ordered
    )


def _check_pandas(name: str, column: Any) -> None:
    """Refuses a column of things of several kinds, which Arrow does not have."""
    from pandas.api.types import infer_dtype

    if column.dtype != object or not infer_dtype(column, skipna=True).startswith("mixed"):
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
    if kind in ("polars.DataFrame", "polars.LazyFrame"):
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
    if kind in ("polars.DataFrame", "polars.LazyFrame"):
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
    import pandas
    import pyarrow

    sets = {one.name for one in plan.columns if one.set}
    table = pyarrow.table(made)
    ordinal = {one.name for one in plan.schema if one.kind == "ordinal"}
    columns: dict[str, Any] = {}
    for field in table.schema:
        column = table.column(field.name).combine_chunks()
        # pandas reads no lists from its own Parquet and CSV: sets are text, as in the CSV of responses.
        column = _joined(column) if field.name in sets and pyarrow.types.is_list(column.type) else column
        if pyarrow.types.is_dictionary(column.type):
            columns[field.name] = _categorical(column, field.name in ordinal)
        elif field.name in sets:
            columns[field.name] = column.to_pandas()
    others = table.select([name for name in table.column_names if name not in columns]).to_pandas()
    return pandas.DataFrame({name: columns.get(name, others.get(name)) for name in table.column_names}, copy=False)


def _categorical(column: Any, ordered: bool) -> Any:
    """A column of labels as a categorical; pandas has no unsigned codes."""
    import pandas
    import pyarrow

    labels = column.dictionary.to_pandas()
    kind = "int8" if len(labels) < 1 << 7 else "int16" if len(labels) < 1 << 15 else "int32"
    indices = column.indices if column.null_count == 0 else column.indices.cast(pyarrow.int32()).fill_null(-1)
    codes = indices.to_numpy(zero_copy_only=False).astype(kind)
    return pandas.Categorical.from_codes(codes, categories=labels, ordered=ordered, validate=False)


#: Sets are categories if there are no more of them, and no more numbers to tell them by.
_MOST_SETS, _MOST_NUMBERS = 1 << 16, 1 << 22


def _joined(sets: Any) -> Any:
    """Lists of labels as text, joined by semicolons; as categories, which are all sets of the size, where these are few."""
    import pyarrow
    import pyarrow.compute

    categories = _categories(sets)
    return (
        pyarrow.compute.binary_join(sets.cast(pyarrow.list_(pyarrow.string())), ";")
        if categories is None
        else categories
    )


def _categories(sets: Any) -> Any:
    """Sets of one size as categories; None where they are too many, or of several sizes."""
    import numpy
    import pyarrow

    flat, sizes = sets.flatten(), sets.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
    labels = flat.dictionary.to_pylist() if pyarrow.types.is_dictionary(flat.type) else []
    told, size, count = sizes > 0, int(sizes.max(initial=0)), len(labels)
    if (
        not 0 < size <= count
        or count**size > _MOST_NUMBERS
        or math.comb(count, size) > _MOST_SETS
        or len(flat) != size * told.sum()
    ):
        return None
    # A set is told by a number whose digits are its labels.
    codes = flat.indices.to_numpy(zero_copy_only=False)
    numbers = numpy.zeros(len(codes) // size, dtype=numpy.uint32)
    for place in range(size):
        numbers = numbers * numpy.uint32(count) + codes[place::size]
    every = list(itertools.combinations(range(count), size))
    places = numpy.full(count**size, -1, dtype=numpy.int32)
    places[numpy.array(every) @ count ** numpy.arange(size - 1, -1, -1)] = numpy.arange(len(every))
    found = numpy.full(len(sets), -1, dtype=numpy.int32)
    found[told] = places[numbers]
    if (found[told] < 0).any():
        return None
    texts = pyarrow.array([";".join(labels[code] for code in one) for one in every])
    return pyarrow.DictionaryArray.from_arrays(pyarrow.array(found, mask=~told), texts)


def _answers(plan: Plan) -> Labelled:
    """The columns of responses that have labels."""
    return {one.name: (one.labels, one.set) for one in plan.columns if one.labels is not None}


def to_polars(made: Any, labelled: Labelled) -> Any:
    """A polars frame whose categories are Enums with these labels, in their order."""
    import polars

    frame = polars.DataFrame(made)
    enums = {
        name: (polars.Enum(labels), is_set) for name, (labels, is_set) in labelled.items() if name in frame.columns
    }
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
    if kind in ("polars.DataFrame", "polars.LazyFrame"):
        return [
            _known(name, dtype.categories, False)
            for name, dtype in table.collect_schema().items()
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
