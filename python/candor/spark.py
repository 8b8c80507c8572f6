"""Randomizing and counting in Spark: batches stay Arrow, and every worker draws from the randomness of its own operating system.

Which of a record's answers becomes visible when tasks are repeated is Spark's to say: only output that was committed. `write`
randomizes and writes in one job, so that each record is answered once in what was written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import reduce
from itertools import chain
from operator import add
from typing import TYPE_CHECKING, Any

from ._candor import FINGERPRINT_KEY, InputError, OtherPlanError, __version__
from .counts import Counts
from .parameters import names
from .plan import Plan
from .warned import Caution

if TYPE_CHECKING:
    import pyarrow
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

    from .estimates import Estimates
    from .plan import TableNames

__all__ = ["estimate", "randomize", "tally", "write"]


def randomize(plan: Plan, df: DataFrame, *, keep: str | Iterable[str] | None = None) -> DataFrame:
    """Responses to the records of a Spark DataFrame, in its order and partitions, with the plan's fingerprint in their metadata.

    The result is lazy, as everything in Spark: **each action on it draws anew**, and two draws about one person tell twice as much
    as one. Take one action, which stores the responses, and go on with what was stored; `write` does that.
    """
    columns = names("keep", keep) or []
    if _fingerprints(df):
        raise InputError("the Spark DataFrame already contains responses: randomized twice, they would tell less")
    _try_columns(df, lambda empty: plan.randomize(empty, keep=columns))
    kept = [df.schema[name] for name in columns]
    # An attribute `a*b` may be made of the columns a and b.
    needed = {part for attribute in plan.schema for part in (attribute.name, *attribute.name.split("*"))}
    records = _only(df, needed.union(columns))
    return records.mapInArrow(_on_worker("answers", plan, keep=columns), _response_type(plan, kept))


def write(
    plan: Plan,
    df: DataFrame,
    path: str,
    *,
    keep: str | Iterable[str] | None = None,
    format: str = "parquet",
    mode: str = "error",
    **options: Any,
) -> DataFrame:
    """Randomizes and writes in one job, without a shuffle between, and gives what was written.

    Each task randomizes one partition and writes it; Spark commits the output of one attempt of each task. `mode` and `options` are
    those of Spark's `DataFrameWriter`.
    """
    # A task's files are moved when the whole job is committed: a job that fails leaves nothing in its place.
    commit = {"mapreduce.fileoutputcommitter.algorithm.version": "1", **options}
    randomize(plan, df, keep=keep).write.format(format).mode(mode).options(**commit).save(path)
    written = df.sparkSession.read.format(format).options(**options).load(path)
    for column in plan.columns:
        written = written.withMetadata(column.name, {FINGERPRINT_KEY: plan.fingerprint})
    return written


def tally(
    plan: Plan,
    df: DataFrame,
    tables: TableNames | None = None,
    *,
    by: str | Iterable[str] | None = None,
    weights: str | None = None,
    keep_sets: bool | None = None,
    unmarked: bool | None = None,
) -> Counts:
    """Counts responses for tables, all of them in one pass: each task counts its partition, and the counts are added up.

    A DataFrame that does not tell the plan of its responses is an error, unless you vouch for it with `unmarked`.
    """
    marks = _marks(plan, df)
    if not marks and not unmarked:
        raise InputError(
            "the Spark DataFrame does not name the plan it was made with, and with another plan every result would be wrong. "
            "If you know that it was made under this plan, say `unmarked`"
        )
    options = {"tables": tables, "by": names("by", by), "weights": weights, "keep_sets": keep_sets, "unmarked": unmarked}
    _try_columns(df, lambda empty: plan.tally(empty, **{**options, "unmarked": True}))
    responses = _only(df, {weights, *(column.name for column in plan.columns)})
    parts = responses.mapInArrow(_on_worker("counts", plan, marks=marks, **options), "counts binary").collect()
    if not parts:
        raise InputError("there are no responses in the Spark DataFrame")
    return reduce(add, (Counts.from_bytes(plan, bytes(part[0])) for part in parts))


def estimate(
    plan: Plan,
    responses: DataFrame | Counts,
    tables: TableNames | None = None,
    *,
    by: str | Iterable[str] | None = None,
    weights: str | None = None,
    unmarked: bool | None = None,
    **options: Any,
) -> Estimates:
    """Estimates tables of the population from responses in Spark, or from their counts; `options` are those of `Plan.estimate`."""
    if isinstance(responses, Counts):
        return plan.estimate(responses, tables=tables, **options)
    keep_sets = True if options.get("method") == "iterative" else None
    counts = tally(plan, responses, tables, by=by, weights=weights, keep_sets=keep_sets, unmarked=unmarked)
    return plan.estimate(counts, **options)


# --- On the driver


def _try_columns(df: DataFrame, work: Callable[[pyarrow.Table], Any]) -> None:
    """Does the work on a table with the columns of the DataFrame and no rows, so that what does not fit is refused before any task runs."""
    import pyarrow
    from pyspark.sql.pandas.types import to_arrow_schema

    try:
        work(pyarrow.Table.from_batches([], to_arrow_schema(df.schema)))
    except InputError as refused:
        if not str(refused).startswith("there are no records"):
            raise InputError(str(refused).replace("the table", "the Spark DataFrame")) from None


def _response_type(plan: Plan, kept: list[Any]) -> StructType:
    """The type of responses in Spark: labels as text, sets and cells as lists of text, tags as numbers."""
    from pyspark.sql.types import ArrayType, IntegerType, StringType, StructField, StructType

    marks = {FINGERPRINT_KEY: plan.fingerprint}
    fields = []
    for column in plan.columns:
        kind = ArrayType(StringType()) if column.set else IntegerType() if column.content == "tag" else StringType()
        fields.append(StructField(column.name, kind, True, marks))
    return StructType(fields + [StructField(field.name, field.dataType, True) for field in kept])


def _fingerprints(df: DataFrame) -> set[str]:
    """The plans whose responses the columns are, as far as they say it."""
    return {field.metadata[FINGERPRINT_KEY] for field in df.schema.fields if FINGERPRINT_KEY in (field.metadata or {})}


def _marks(plan: Plan, df: DataFrame) -> dict[str, str]:
    """What is known of where responses come from; those of another plan are refused."""
    for other in _fingerprints(df):
        if other != plan.fingerprint:
            raise OtherPlanError(
                f"Wrong plan: the Spark DataFrame was made with {other}, and the plan given is {plan.fingerprint}"
            )
        return {FINGERPRINT_KEY: other}
    return {}


def _only(df: DataFrame, needed: set[Any]) -> DataFrame:
    """The columns that a task needs, so that no others are sent to Python."""
    return df.select(*("`" + name.replace("`", "``") + "`" for name in df.columns if name in needed))


def _on_worker(task: str, plan: Plan, **arguments: Any) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """What a task does. It is sent to workers as it stands, so that a worker without the package can say so."""
    text, version = plan.to_json(), __version__

    def run(batches: Iterator[Any]) -> Iterator[Any]:
        import platform
        import sys

        where = f"the Spark worker on {platform.node()} ({sys.executable})"
        try:
            import candor
            import candor.spark
        except ImportError as error:
            raise RuntimeError(
                f"{where} cannot import the package candor ({error}): install candor {version} where workers run, or send an environment "
                "that has it by spark.archives"
            ) from None
        if candor.__version__ != version:
            raise RuntimeError(f"{where} has candor {candor.__version__}, but the driver has {version}: install the same everywhere")
        yield from candor.spark._TASKS[task](candor.Plan.loads(text), batches, **arguments)

    return run


# --- On workers


def _reader(batches: Iterator[pyarrow.RecordBatch], marks: dict[str, str]) -> Any:
    """The batches of a partition as one stream; None if there is no row in it."""
    import pyarrow

    with_rows = (batch for batch in batches if batch.num_rows > 0)
    first = next(with_rows, None)
    if first is None:
        return None
    schema = first.schema.with_metadata({**(first.schema.metadata or {}), **marks})
    marked = (batch.replace_schema_metadata(schema.metadata) for batch in chain([first], with_rows))
    return pyarrow.RecordBatchReader.from_batches(schema, marked)


def _answers(plan: Plan, batches: Iterator[pyarrow.RecordBatch], keep: list[str]) -> Iterator[pyarrow.RecordBatch]:
    """Responses to a partition."""
    import warnings

    import pyarrow

    reader = _reader(batches, {})
    if reader is None:
        return
    with warnings.catch_warnings():
        # Who started the job has been told.
        warnings.simplefilter("ignore", Caution)
        for batch in plan.randomize(reader, keep=keep):
            yield pyarrow.RecordBatch.from_arrays([_for_spark(column) for column in batch.columns], batch.schema.names)


def _for_spark(column: pyarrow.Array) -> pyarrow.Array:
    """A column as Spark reads it, which knows neither dictionaries nor numbers without a sign."""
    import pyarrow

    kind = column.type
    if pyarrow.types.is_dictionary(kind):
        return column.dictionary_decode()
    if pyarrow.types.is_list(kind) and pyarrow.types.is_dictionary(kind.value_type):
        return column.cast(pyarrow.list_(pyarrow.string()))
    if pyarrow.types.is_unsigned_integer(kind):
        return column.cast(pyarrow.int32())
    return column


def _counts(plan: Plan, batches: Iterator[pyarrow.RecordBatch], marks: dict[str, str], **options: Any) -> Iterator[pyarrow.RecordBatch]:
    """The counts of a partition."""
    import pyarrow

    reader = _reader(batches, marks)
    if reader is not None:
        yield pyarrow.RecordBatch.from_pydict({"counts": [plan.tally(reader, **options).to_bytes()]})


_TASKS: dict[str, Callable[..., Iterator[Any]]] = {"answers": _answers, "counts": _counts}
