"""Lazy frames, batches, processes and threads; and nothing is drawn twice unnoticed."""

from __future__ import annotations

import copy
import multiprocessing
import pickle
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import pandas
import polars
import pyarrow
import pytest

import candor

SEED = {"seed": 5, "simulation": True}


@pytest.mark.parametrize("which", ["plan", "simple", "sets"])
def test_lazy_frames_stay_lazy(which, people, people_path, request) -> None:
    """They have the columns and types of frames, row by row in the same order, and give no more than is asked for."""
    plan = request.getfixturevalue(which)
    expected = plan.randomize(polars.from_pandas(people), keep="weight").frame
    scan = polars.scan_csv(people_path)
    unchanged = ["Region", "weight"]

    def lazily() -> polars.LazyFrame:
        responses = plan.randomize(scan, keep="weight")
        assert responses.fingerprint == plan.fingerprint and isinstance(responses.frame, polars.LazyFrame)
        assert responses.frame.collect_schema() == expected.schema
        return responses.frame

    whole = lazily().collect()
    assert whole.schema == expected.schema and whole.select(unchanged).equals(expected.select(unchanged))
    assert plan.estimate(candor.Responses(whole, plan.fingerprint)).respondents == len(people)
    assert lazily().head(100).select(unchanged).collect().equals(expected.head(100).select(unchanged))
    north = polars.col("Region") == "north"
    assert lazily().filter(north).select("weight").collect().equals(expected.filter(north).select("weight"))


def test_lazy_answers_are_drawn_once(simple, people_path, tmp_path) -> None:
    """Drawn anew, they would be a second release of the same people."""
    responses = simple.randomize(polars.scan_csv(people_path))
    responses.frame.sink_parquet(tmp_path / "responses.parquet")
    with pytest.raises(Exception, match="second release of the same people"):
        responses.frame.collect()
    with pytest.raises(candor.InputError, match="does not name the plan"):
        simple.estimate(tmp_path / "responses.parquet")
    scan = polars.scan_parquet(tmp_path / "responses.parquet")
    assert simple.estimate(candor.Responses(scan, simple.fingerprint)).respondents == 20_000


def test_lazy_responses_are_estimated_as_they_are_read(simple, plan, people, people_path) -> None:
    scan = polars.scan_csv(people_path)
    answers = simple.randomize(scan).frame.collect()
    again = candor.Responses(answers.lazy(), simple.fingerprint)
    assert simple.estimate(again, tables="pairs") == simple.estimate(
        candor.Responses(answers, simple.fingerprint), tables="pairs"
    )
    assert simple.estimate(simple.randomize(scan)).respondents == len(people)
    with pytest.raises(candor.OtherPlanError):
        plan.estimate(simple.randomize(scan))
    with pytest.raises(candor.InputError, match='no column "Region"'):
        simple.randomize(scan.drop("Region"))
    with pytest.raises(candor.CategoryError, match="other"):
        simple.randomize(scan.with_columns(Sex=polars.lit("other")))
    inferred = candor.Schema.infer(scan, public="Region", drop="weight")
    assert inferred == simple.schema and inferred.records == 20_000
    assert simple.schema.check(scan)


@pytest.mark.parametrize(
    "kind", [lambda frame: frame, polars.from_pandas, pyarrow.Table.from_pandas], ids=["pandas", "polars", "pyarrow"]
)
def test_batches_in_batches_out(kind, simple, people) -> None:
    """A generator gives a generator, which takes a batch when one is asked for."""
    taken = []

    def batches():
        for start in range(0, len(people), 7000):
            taken.append(start)
            yield kind(people.iloc[start : start + 7000])

    answers = simple.randomize(batches(), keep="weight")
    assert not taken
    first = next(answers)
    assert taken == [0] and len(first) == 7000
    assert len([first, *answers]) == 3
    estimates = simple.estimate(simple.randomize(batches()), tables="pairs")
    assert estimates.respondents == len(people)
    assert simple.tally(simple.randomize(batches())).responses == len(people)
    parts = list(simple.randomize(batches()))
    assert simple.estimate(iter(parts), tables="pairs") == simple.estimate(parts, tables="pairs")


def test_chunks_of_pandas(simple, people_path) -> None:
    answers = simple.randomize(pandas.read_csv(people_path, chunksize=6000))
    frame = pandas.concat(answers)
    assert simple.estimate(frame).respondents == 20_000


def test_batches_that_do_not_fit(simple, plan, people) -> None:
    few = people.head(10)
    with pytest.raises(candor.InputError, match="batch 2 does not have the columns"):
        simple.estimate(iter([simple.randomize(few), simple.randomize(few).drop(columns="Sex")]))
    with pytest.raises(candor.OtherPlanError, match="batch 2 tells another plan"):
        other = candor.design(simple.schema, "independent", epsilon=5)
        simple.estimate(iter([simple.randomize(few), other.randomize(few)]))
    with pytest.raises(candor.InputError, match="no table to read"):
        simple.estimate(iter([]))
    for batches in (iter([few]), polars.from_pandas(few).lazy()):
        with pytest.raises(candor.ParameterError, match="`seed` goes with whole tables"):
            simple.randomize(batches, **SEED)

    def broken():
        yield simple.randomize(few)
        raise ZeroDivisionError("division by zero")

    with pytest.raises(candor.InputError, match="the batches ended with ZeroDivisionError: division by zero"):
        simple.estimate(broken())


def test_everything_is_copied_and_pickled(simple, people) -> None:
    responses = simple.randomize(polars.from_pandas(people), **SEED)
    estimates = simple.estimate(responses, tables="pairs")
    key = candor.PrivateKey.generate()
    for one in (
        simple,
        simple.schema,
        estimates,
        simple.guarantee,
        simple.audit(),
        simple.sign(key),
        simple.schema["Sex"],
    ):
        for again in (pickle.loads(pickle.dumps(one)), copy.copy(one), copy.deepcopy(one)):
            assert again == one
    assert pickle.loads(pickle.dumps(estimates)).rows() == estimates.rows()
    counts = simple.tally(responses)
    for again in (pickle.loads(pickle.dumps(counts)), copy.deepcopy(counts)):
        assert again.to_bytes() == counts.to_bytes()
    for again in (pickle.loads(pickle.dumps(responses)), copy.deepcopy(responses)):
        assert again.marks == responses.marks and again.frame.equals(responses.frame)
    with pytest.raises(TypeError, match="not pickled"):
        pickle.dumps(key)
    assert key.public_key in repr(key)


def test_processes(simple, people) -> None:
    """Work is sent elsewhere with its plan, and what comes back adds up."""
    parts = [people.iloc[start : start + 5000] for start in range(0, len(people), 5000)]
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
        answers = list(pool.map(simple.randomize, parts))
        counts = list(pool.map(simple.tally, answers))
    assert simple.estimate(sum(counts[1:], counts[0])) == simple.estimate(answers)


def test_threads(simple, people) -> None:
    """One plan serves many threads."""
    expected = simple.randomize(people, **SEED)
    estimates = simple.estimate(expected, tables="pairs")

    def work(_: int) -> bool:
        answers = simple.randomize(people, **SEED)
        return answers.equals(expected) and simple.estimate(answers, tables="pairs") == estimates

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(work, range(8)))


@pytest.mark.filterwarnings("ignore::candor.Caution")
@pytest.mark.parametrize("which", ["plan", "simple", "sets"])
def test_pandas_writes_what_is_read(which, people, tmp_path, request) -> None:
    """CSV, Parquet and Feather by pandas, read by pandas or by candor; where the mark is lost, that is an error."""
    plan = request.getfixturevalue(which)
    responses = plan.randomize(people, keep="weight", **SEED)
    expected = plan.estimate(responses, tables="pairs").to_dict()
    responses.to_csv(tmp_path / "r.csv", index=False)
    responses.to_parquet(tmp_path / "r.parquet")
    responses.to_feather(tmp_path / "r.feather")
    for lost in (tmp_path / "r.csv", pandas.read_csv(tmp_path / "r.csv", keep_default_na=False)):
        with pytest.raises(candor.InputError, match="does not name the plan"):
            plan.estimate(lost)
        assert plan.estimate(lost, tables="pairs", unmarked=True).to_dict() == expected
    for kept in (
        tmp_path / "r.parquet",
        pandas.read_parquet(tmp_path / "r.parquet"),
        pandas.read_feather(tmp_path / "r.feather"),
    ):
        assert plan.estimate(kept, tables="pairs").to_dict() == expected


@pytest.mark.filterwarnings("ignore::candor.Caution")
def test_marks_survive_where_pandas_keeps_them(simple, plan, people) -> None:
    responses = simple.randomize(people, keep="weight")
    groups = pandas.DataFrame({"Region": ["north", "south"], "capital": ["A", "B"]})
    half = len(responses) // 2
    for kept in (
        responses[responses["Sex"] == "Male"], responses.sample(frac=0.5), responses.assign(more=1), responses.sort_values("weight"),
        pandas.concat([responses.head(half), responses.tail(half)]), responses.copy(), responses.astype({"weight": "float32"}),
        responses.rename_axis("row").reset_index(), responses.drop(columns="weight"),
    ):  # fmt: skip
        assert simple.estimate(kept).respondents == len(kept)
        with pytest.raises(candor.OtherPlanError):
            plan.estimate(kept)
    other = candor.design(simple.schema, "independent", epsilon=5).randomize(people, keep="weight")
    # pandas keeps them in merges of frames that all have them.
    for lost in (
        responses.merge(groups),
        pandas.DataFrame(responses.to_dict("list")),
        pandas.concat([responses, other]),
        pyarrow.table(polars.from_pandas(responses)),
    ):
        with pytest.raises(candor.InputError, match="does not name the plan"):
            simple.estimate(lost)
