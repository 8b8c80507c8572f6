"""A real Spark: a master and two workers, each a process of its own, with workers of Python below them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pyarrow
import pyarrow.parquet
import pytest

import candor
import candor.spark

pytestmark = pytest.mark.filterwarnings("default")

PEOPLE = 20_000
SIZES = {"smokes": 2, "school": 4, "region": 3, "party": 5}


@pytest.fixture(scope="module")
def spark():
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    session = (
        SparkSession.builder.master("local-cluster[2,1,1024]")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.execution.arrow.maxRecordsPerBatch", "1000")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


@pytest.fixture(scope="module")
def people(spark, tmp_path_factory):
    """True records in five partitions, with a number of their own, and one more partition without any."""
    place = tmp_path_factory.mktemp("people")
    columns = {name: [f"{name} {(row * (5 + at) + row // 7) % size}" for row in range(PEOPLE)] for at, (name, size) in enumerate(SIZES.items())}
    table = pyarrow.table({"id": range(PEOPLE), **columns})
    for part in range(5):
        pyarrow.parquet.write_table(table.slice(part * PEOPLE // 5, PEOPLE // 5), place / f"{part}.parquet")
    pyarrow.parquet.write_table(table.slice(0, 0), place / "5.parquet")
    return spark.read.parquet(str(place))


@pytest.fixture(scope="module")
def schema():
    attributes = "\n".join(
        f"[[attribute]]\nname = {json.dumps(name)}\ncategories = {json.dumps([f'{name} {one}' for one in range(size)])}\n"
        + ("public = true\n" if name == "region" else "")
        for name, size in SIZES.items()
    )
    return candor.Schema.loads(attributes)


@pytest.fixture(scope="module")
def lottery(schema):
    """Tags, patterns and cells of strips."""
    return candor.design(schema, "workload", epsilon=2, tables="pairs", respondents=PEOPLE)


@pytest.fixture(scope="module")
def written(lottery, people, tmp_path_factory):
    """Responses that were written once."""
    return candor.spark.write(lottery, people, str(tmp_path_factory.mktemp("responses") / "parquet"), keep="id")


def files_of(df) -> list[str]:
    return sorted({name.removeprefix("file://") for name in df.inputFiles()})


def command(*arguments: str) -> dict:
    done = subprocess.run([os.environ["CANDOR"], *arguments, "--json"], capture_output=True, check=True, text=True)
    return json.loads(done.stdout)


def test_order_partitions_and_kept_columns_stay(people, schema):
    nearly_truth = candor.design(schema, "independent", epsilon=49.9)
    people = people.selectExpr("id", "id / 4 AS quarter", *SIZES)
    responses = candor.spark.randomize(nearly_truth, people, keep=["quarter", "id"])
    assert responses.columns == [*SIZES, "quarter", "id"]
    before, after = people.toArrow(), responses.toArrow()
    for kept in ("id", "quarter"):
        assert responses.schema[kept].dataType == people.schema[kept].dataType
        assert after.column(kept).equals(before.column(kept))
    # With 16 for each attribute an answer is not the truth about once in a million.
    wrong = sum(one != other for name in SIZES for one, other in zip(before[name].to_pylist(), after[name].to_pylist()))
    assert wrong <= 5
    assert responses.rdd.getNumPartitions() == people.rdd.getNumPartitions()


def test_estimates_are_those_of_the_command_to_the_last_digit(lottery, written, tmp_path):
    tables = "marginals;pairs;smokes,region"
    lottery.save(tmp_path / "plan.json")
    expected = command("estimate", str(tmp_path / "plan.json"), *files_of(written), "--tables", tables, "--unmarked")
    found = candor.spark.estimate(lottery, written, tables).to_dict()
    assert found == expected
    assert expected["respondents"] == PEOPLE
    assert all(table["identifiable"] for table in expected["tables"])
    grouped = command("estimate", str(tmp_path / "plan.json"), *files_of(written), "--tables", "smokes", "--by", "region", "--confidence", "0.9", "--unmarked")
    assert candor.spark.estimate(lottery, written, "smokes", by="region", confidence=0.9).to_dict() == grouped


def test_counts_add_up(lottery, written):
    counts = candor.spark.tally(lottery, written, "pairs")
    assert counts.responses == PEOPLE
    halves = [candor.spark.tally(lottery, written.where(f"id % 2 = {half}"), "pairs") for half in (0, 1)]
    assert (halves[0] + halves[1]).to_bytes() == counts.to_bytes()
    assert candor.spark.estimate(lottery, counts, "smokes,party") == candor.spark.estimate(lottery, written, "smokes,party")


def test_what_was_written_stays_and_is_marked(lottery, written, schema):
    assert written.toArrow().equals(written.toArrow())
    assert written.schema["school"].metadata == {"candor:fingerprint": lottery.fingerprint}
    other = candor.design(schema, "independent", epsilon=2)
    with pytest.raises(candor.OtherPlanError, match="Wrong plan"):
        candor.spark.tally(other, written, "smokes")
    with pytest.raises(candor.InputError, match="already contains responses"):
        candor.spark.randomize(lottery, written)
    # Also after a walk through files, where Spark keeps what it knows of columns.
    again = written.sparkSession.read.parquet(*files_of(written))
    with pytest.raises(candor.OtherPlanError):
        candor.spark.tally(other, again, "smokes")


def test_every_task_draws_for_itself(spark, schema):
    """Two partitions with the same records get different answers, and so does a second run."""
    plan = candor.design(schema, "independent", epsilon=1)
    record = {name: f"{name} 0" for name in SIZES}
    same = spark.createDataFrame([record] * 200).coalesce(1)
    twice = candor.spark.randomize(plan, same.union(same)).toArrow()
    # Equal with a probability below 2^-200.
    assert not twice.slice(0, 200).equals(twice.slice(200, 200))
    assert not twice.equals(candor.spark.randomize(plan, same.union(same)).toArrow())


def unlucky(flag: str, kill: bool):
    """Fails once, in the middle of the second partition: by an error, or by the death of the whole worker."""

    def run(batches):
        import os
        import signal

        from pyspark import TaskContext

        for number, batch in enumerate(batches):
            if number == 2 and TaskContext.get().partitionId() == 1 and not os.path.exists(flag):
                open(flag, "w").close()
                if not kill:
                    raise RuntimeError("a task that fails once")
                with open(f"/proc/{os.getppid()}/stat") as parent:
                    executor = int(parent.read().rsplit(")", 1)[1].split()[1])
                os.kill(executor, signal.SIGKILL)
            yield batch

    return run


@pytest.mark.parametrize("kill", [False, True], ids=["a task fails", "a worker is killed"])
def test_nothing_is_lost_or_doubled(lottery, people, tmp_path, kill):
    flag = str(tmp_path / "failed")
    records = people.mapInArrow(unlucky(flag, kill), people.schema)
    responses = candor.spark.write(lottery, records, str(tmp_path / "responses"), keep="id")
    assert os.path.exists(flag)
    assert sorted(responses.toArrow().column("id").to_pylist()) == list(range(PEOPLE))
    assert candor.spark.tally(lottery, responses, "pairs").responses == PEOPLE
    # Nothing that was not committed is left.
    assert not list((tmp_path / "responses").glob("_temporary*"))


def test_columns_that_do_not_fit_are_refused_before_any_task(lottery, people, written):
    with pytest.raises(candor.InputError, match='the Spark DataFrame has no column "party"'):
        candor.spark.randomize(lottery, people.drop("party"))
    with pytest.raises(candor.InputError, match='"smokes" cannot be kept'):
        candor.spark.randomize(lottery, people, keep=["smokes"])
    with pytest.raises(candor.InputError, match="wages"):
        candor.spark.randomize(lottery, people, keep="wages")
    with pytest.raises(candor.InputError, match='has no column "candor_tag"'):
        candor.spark.tally(lottery, written.drop("candor_tag"), "smokes")
    with pytest.raises(candor.InputError, match="no responses"):
        candor.spark.tally(lottery, written.where("id < 0"), "smokes")
    with pytest.raises(candor.ParameterError, match="wages"):
        candor.spark.tally(lottery, written, "wages")


def test_a_value_that_is_no_category_ends_the_job(lottery, people, tmp_path):
    from pyspark.errors import PythonException
    from pyspark.sql.functions import lit

    wrong = people.withColumn("party", lit("the other one"))
    with pytest.raises(Exception, match='"the other one" is not a category') as failed:
        candor.spark.write(lottery, wrong, str(tmp_path / "responses"))
    assert isinstance(failed.value, PythonException) or "PythonException" in str(failed.value)
    assert not list((tmp_path / "responses").glob("part-*"))


WITHOUT = """
import os, sys
os.environ["PYSPARK_PYTHON"] = sys.argv[1]
from pyspark.sql import SparkSession
import candor, candor.spark
spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
spark.sparkContext.setLogLevel("OFF")
plan = candor.design(candor.Schema.of_sizes([2]), "warner", p=0.75)
try:
    candor.spark.randomize(plan, spark.createDataFrame([{"a1": "0"}])).collect()
except Exception as error:
    print(str(error))
"""


def test_workers_without_the_package_say_so(tmp_path: Path):
    hidden = tmp_path / "hidden"
    hidden.mkdir()
    (hidden / "candor.py").write_text("raise ModuleNotFoundError(\"No module named 'candor'\", name='candor')\n")
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nPYTHONPATH="{hidden}:$PYTHONPATH" exec "{sys.executable}" "$@"\n')
    python.chmod(0o755)
    done = subprocess.run([sys.executable, "-c", WITHOUT, str(python)], capture_output=True, check=True, text=True)
    assert f"cannot import the package candor (No module named 'candor'): install candor {candor.__version__} where workers run" in done.stdout
