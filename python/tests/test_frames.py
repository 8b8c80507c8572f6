"""Tables of every kind go in and come back as the same kind, with labels, order, missing values and the plan's fingerprint."""

from __future__ import annotations

import numpy
import pandas
import polars
import pyarrow
import pytest

import candor
from candor.frames import FINGERPRINT_KEY, SIMULATION_KEY

SEED = {"seed": 1, "simulation": True}

#: A frame of every kind.
KINDS = {
    "pandas": lambda frame: frame,
    "polars": lambda frame: polars.from_pandas(frame),
    "pyarrow": lambda frame: pyarrow.Table.from_pandas(frame, preserve_index=False),
    "batch": lambda frame: pyarrow.RecordBatch.from_pandas(frame, preserve_index=False),
    "reader": lambda frame: pyarrow.Table.from_pandas(frame, preserve_index=False).to_reader(max_chunksize=5000),
}


def labels(responses: object, column: str) -> list[str]:
    frame = responses.frame if isinstance(responses, candor.Responses) else responses
    frame = frame.read_all() if isinstance(frame, pyarrow.RecordBatchReader) else frame
    values = frame.column(column) if isinstance(frame, (pyarrow.Table, pyarrow.RecordBatch)) else frame[column]
    return [str(value) for value in (values.to_pylist() if hasattr(values, "to_pylist") else values.to_list())]


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_kind_comes_back(people, simple, kind) -> None:
    table = KINDS[kind](people)
    responses = simple.randomize(table, keep="weight", **SEED)
    inner = responses.frame if kind == "polars" else responses
    assert type(inner) is type(table)
    expected = pyarrow.table(simple.randomize(KINDS["reader"](people) if kind == "reader" else people, keep="weight", **SEED))
    assert labels(responses, "Education") == expected.column("Education").to_pylist()


@pytest.mark.parametrize("kind", KINDS)
def test_the_fingerprint_travels(people, simple, plan, kind) -> None:
    """And a mismatch is an error."""
    responses = simple.randomize(KINDS[kind](people))
    again = simple.randomize(KINDS[kind](people)) if kind == "reader" else responses
    assert simple.estimate(responses).respondents == len(people)
    with pytest.raises(candor.OtherPlanError, match=simple.fingerprint):
        plan.estimate(again)


def test_where_the_fingerprint_is(people, simple) -> None:
    assert simple.randomize(people).attrs == {FINGERPRINT_KEY: simple.fingerprint}
    drawn = simple.randomize(people, **SEED)
    assert drawn.attrs == {FINGERPRINT_KEY: simple.fingerprint, SIMULATION_KEY: "1"}
    assert drawn[drawn["Sex"] == "Male"].attrs == drawn.attrs
    table = simple.randomize(KINDS["pyarrow"](people), **SEED)
    assert table.schema.metadata == {b"candor:fingerprint": simple.fingerprint.encode(), b"candor:simulation": b"1"}
    wrapped = simple.randomize(polars.from_pandas(people), **SEED)
    assert (wrapped.fingerprint, wrapped.simulation) == (simple.fingerprint, 1)
    assert pyarrow.table(wrapped).schema.metadata == table.schema.metadata
    assert wrapped.fingerprint in repr(wrapped)
    assert "<table" in wrapped._repr_html_()


def test_responses_without_a_mark_need_somebody_to_vouch(people, simple) -> None:
    bare = simple.randomize(polars.from_pandas(people)).frame
    for read in (simple.estimate, simple.tally, simple.rake, simple.associations):
        with pytest.raises(candor.InputError, match="does not name the plan"):
            read(bare)
    with pytest.warns(candor.Caution, match="you vouch for it"):
        assert simple.estimate(bare, unmarked=True).respondents == len(people)
    counts = pandas.DataFrame({"Sex": ["Female", "Male"], "count": [600, 400]})
    with pytest.raises(candor.InputError, match="does not name the plan"):
        simple.estimate(counts=counts, tables="Sex")
    assert simple.estimate(counts=counts, tables="Sex", unmarked=True).respondents == 1000
    assert simple.counts(counts, tables="Sex", unmarked=True).responses == 1000
    assert simple.estimate(counts=counts.assign(candor_fingerprint=simple.fingerprint), tables="Sex").respondents == 1000


def test_marks_that_pandas_writes_are_read(people, simple, plan, tmp_path) -> None:
    path = tmp_path / "responses.parquet"
    simple.randomize(people, **SEED).to_parquet(path)
    assert simple.estimate(path).respondents == len(people)
    with pytest.raises(candor.OtherPlanError, match=simple.fingerprint):
        plan.estimate(path)


def test_responses_are_not_replaced(people, simple, tmp_path) -> None:
    path = tmp_path / "responses.parquet"
    simple.randomize(people, output=path)
    before = path.read_bytes()
    with pytest.raises(candor.InputError, match="Already randomized: a second release adds epsilon"):
        simple.randomize(people, output=path)
    assert path.read_bytes() == before
    simple.randomize(people, output=path, force=True)
    assert path.read_bytes() != before
    with pytest.raises(candor.ParameterError, match="`force` is about files"):
        simple.randomize(people, force=True)


def test_labels_and_their_order_are_kept(people) -> None:
    levels = ["no diploma", "high school", "some college", "bachelor", "higher degree"]
    assert set(people["Education"]) <= set(levels)
    levels.append("never seen")
    ordered = people[["Education", "Sex"]].assign(Education=pandas.Categorical(people["Education"], levels, ordered=True))
    enum = polars.from_pandas(people[["Education", "Sex"]]).cast({"Education": polars.Enum(levels)})
    codes = pandas.Categorical(people["Education"], levels).codes
    dictionary = pyarrow.DictionaryArray.from_arrays(pyarrow.array(codes), levels)
    arrow = pyarrow.table({"Education": dictionary, "Sex": pyarrow.array(people["Sex"])})
    for frame in (ordered, enum, arrow):
        schema = candor.Schema.infer(frame)
        assert schema["Education"].categories == levels
        assert schema["Education"].kind == ("ordinal" if frame is ordered else "nominal")
        plan = candor.design(schema, "independent", epsilon=2)
        responses = plan.randomize(frame)
        if frame is ordered:
            assert list(responses["Education"].cat.categories) == levels
            assert responses["Education"].cat.ordered
        elif frame is enum:
            assert responses.frame.schema["Education"] == polars.Enum(levels)
        else:
            assert responses.column("Education").chunk(0).dictionary.to_pylist() == levels


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow", "batch"])
def test_missing_values_follow_the_schema(kind) -> None:
    frame = KINDS[kind](pandas.DataFrame({"a": ["x", None, "y"], "b": ["p", "q", "p"]}))
    with pytest.warns(candor.Caution, match="1 value is missing"):
        schema = candor.Schema.infer(frame)
    assert schema["a"].categories == ["x", "y", ""]
    candor.design(schema, "independent", epsilon=1).randomize(frame)
    strict = candor.Schema.loads(schema.to_toml().replace(', ""', ""))
    with pytest.raises(candor.CategoryError, match='row 2, column "a"'):
        candor.design(strict, "independent", epsilon=1).randomize(frame)


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_sets_and_cells_come_back(people, sets, plan, kind) -> None:
    for made in (sets, plan):
        responses = made.randomize(KINDS[kind](people))
        assert made.estimate(responses, tables="pairs").respondents == len(people)


def test_the_index_of_pandas_is_no_column(people) -> None:
    some = people.sample(100, random_state=1)
    assert "__index_level_0__" not in [one.name for one in candor.Schema.infer(some, drop="weight")]
    responses = candor.design(candor.Schema.infer(people, drop="weight"), "joint", epsilon=1).randomize(some)
    assert list(responses.index) == list(range(100))


def test_truths_and_numbers_as_categories() -> None:
    frame = pandas.DataFrame({"smokes": [True, False, True], "children": [0, 2, 1]})
    schema = candor.Schema.infer(frame)
    assert (schema["smokes"].categories, schema["children"].categories) == (["false", "true"], ["0", "1", "2"])
    candor.design(schema, "independent", epsilon=1).randomize(frame)
    numbers = frame.astype("category")
    assert candor.Schema.infer(numbers)["children"].categories == ["0", "1", "2"]
    candor.design(candor.Schema.infer(numbers), "independent", epsilon=1).randomize(numbers)


def test_bins() -> None:
    frame = pandas.DataFrame({"age": numpy.arange(100.0)})
    schema = candor.Schema.infer(frame, bins={"age": "edges:18,65"})
    assert len(schema["age"].categories) == 3
    with pytest.warns(candor.Caution, match="Leaks data: the edges of \"age\" were computed from true records"):
        assert len(candor.Schema.infer(frame, bins="quantile:4")["age"].categories) == 4
    candor.design(schema, "joint", epsilon=1).randomize(frame)


def test_several_frames_follow_one_another(people, simple) -> None:
    halves = [people.iloc[:7000], people.iloc[7000:]]
    assert len(simple.randomize(halves)) == len(people)
    parts = [simple.randomize(half) for half in halves]
    assert simple.estimate(parts).respondents == len(people)


def test_columns_are_not_copied(people, simple) -> None:
    """Neither on the way in nor out: pyarrow allocates nothing for them."""
    few = pandas.concat([people.astype("category")] * 50)
    table = pyarrow.Table.from_pandas(few, preserve_index=False).combine_chunks()
    assert table.nbytes > 4_000_000
    before = pyarrow.total_allocated_bytes()
    responses = simple.randomize(table)
    assert pyarrow.total_allocated_bytes() - before < 100_000
    assert responses.nbytes > 2_000_000


def test_streams_are_made_as_they_are_read(people, simple) -> None:
    """No more batches are taken than are needed, and a generator in Python may feed them."""
    table = pyarrow.Table.from_pandas(people[["Education", "Sex", "Income", "Region"]], preserve_index=False)
    taken = 0

    def endless():
        nonlocal taken
        while True:
            taken += 1
            yield table.to_batches()[0]

    reader = pyarrow.RecordBatchReader.from_batches(table.schema, endless())
    answers = simple.randomize(reader)
    first = answers.read_next_batch()
    assert first.num_rows == len(people)
    assert taken < 40
    answers.close()


BAD = {
    "a dict": ({"Sex": ["Male"]}, candor.InputError, "this is a dict"),
    "a list": ([], candor.InputError, "no table"),
    "an array": (numpy.zeros((3, 2)), candor.InputError, "numpy.ndarray"),
    "a series": (pandas.Series(["Male"]), candor.InputError, "pandas.Series"),
    "a lazy frame without columns": (polars.LazyFrame({"Sex": ["Male"]}), candor.InputError, 'no column "'),
    "nothing": (None, candor.InputError, "NoneType"),
    "a missing column": (pandas.DataFrame({"Sex": ["Male"]}), candor.InputError, 'no column "'),
    "names that are numbers": (pandas.DataFrame([["x"]]), candor.InputError, "names of columns are texts"),
    "two columns of one name": (pandas.DataFrame([["x", "y"]], columns=["a", "a"]), candor.InputError, "two columns"),
}


@pytest.mark.parametrize(("table", "error", "message"), BAD.values(), ids=BAD)
def test_what_is_no_table(simple, table, error, message) -> None:
    with pytest.raises(error, match=message):
        simple.randomize(table)


def test_bad_values(people, simple) -> None:
    few = people.head(5)
    with pytest.raises(candor.CategoryError, match='row 3, column "Sex".*"Fmale".*Female'):
        simple.randomize(few.assign(Sex=["Male", "Male", "Fmale", "Male", "Male"]))
    with pytest.raises(candor.CategoryError, match='row 1, column "Education"'):
        simple.randomize(few.assign(Education=[0, 1, 2, 3, 4]))
    with pytest.raises(candor.InputError, match='"Sex" mixes int, str'):
        simple.randomize(few.assign(Sex=pandas.Series(["Male", 1, "Male", "Male", "Male"], dtype=object)))
    with pytest.raises(candor.InputError, match="Sex"):
        simple.randomize(few.assign(Sex=[["Male"]] * 5))
    with pytest.raises(candor.InputError, match="no records"):
        simple.randomize(few.head(0))
    with pytest.raises(candor.InputError, match="not both"):
        simple.randomize([few, "people.csv"])
    with pytest.raises(candor.InputError, match="randomizes"):
        simple.randomize(few, keep="Sex")


def test_seeds_are_for_simulations(people, simple) -> None:
    with pytest.raises(candor.ParameterError, match="simulation=True"):
        simple.randomize(people, seed=1)
    with pytest.raises(candor.ParameterError, match="needs a `seed`"):
        simple.randomize(people, simulation=True)
    with pytest.raises(candor.ParameterError, match="simulation=True"):
        simple.randomize_one({}, seed=1)
    assert not simple.randomize(people).equals(simple.randomize(people))


def test_one_record(simple) -> None:
    record = {"Region": "north", "Education": "bachelor", "Sex": "Male", "Income": "<=50K"}
    response = simple.randomize_one(record)
    assert response["candor_fingerprint"] == simple.fingerprint
    assert response["Region"] == "north"
    with pytest.raises(candor.CategoryError, match='"Sex" is missing'):
        simple.randomize_one({**{key: record[key] for key in ("Region", "Education", "Income")}})
