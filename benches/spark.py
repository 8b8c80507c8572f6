"""Spark with two workers of one core each: what randomizing and counting cost beside doing nothing, and whether anything is lost when a
worker is killed midway. Needs the packages candor (a release build), pyspark and pyarrow, Java, and the command in CANDOR.

    python benches/spark.py [RECORDS] [ROUNDS] [query] > benches/results/DATE-spark.md

With 0 rounds only the worker is killed; with `query` the query of `candor sql` counts once, too, which takes longer than all the rest.
"""

import json
import os
import platform
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy
import pyarrow
import pyarrow.parquet
from pyspark.sql import SparkSession

import candor
import candor.spark

RECORDS = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000
ROUNDS = int(sys.argv[2]) if len(sys.argv) > 2 else 3
QUERY = "query" in sys.argv[3:]
#: As the eight attributes of the Adult data.
SIZES = [9, 16, 7, 15, 6, 5, 2, 2]
NAMES = [f"a{at}" for at in range(1, 9)]
FILES = 20
WORKERS = 2
#: The batch in the middle of a file, as Spark cuts it.
MIDDLE = RECORDS // FILES // 10_000 // 2


def make_records(place: Path) -> None:
    """Records with dependent attributes and a number of their own, in files of equal size."""
    random = numpy.random.default_rng(1)
    place.mkdir()
    for part, rows in enumerate(numpy.array_split(numpy.arange(RECORDS), FILES)):
        common = random.random(len(rows))
        columns = {"id": pyarrow.array(rows)}
        for name, size in zip(NAMES, SIZES):
            code = ((common * 0.5 + random.random(len(rows)) * 0.5) * size).astype(numpy.int8)
            columns[name] = pyarrow.DictionaryArray.from_arrays(code, [str(one) for one in range(size)])
        pyarrow.parquet.write_table(pyarrow.table(columns), place / f"{part:02}.parquet")


def seconds(work) -> float:
    begin = time.monotonic()
    work()
    return time.monotonic() - begin


def identity(batches):
    yield from batches


def dying(flag: str):
    """The records, but one task kills its whole worker in the middle of a partition, once."""

    def run(batches):
        from pyspark import TaskContext

        for number, batch in enumerate(batches):
            if number == MIDDLE and TaskContext.get().partitionId() == FILES // 2 and not os.path.exists(flag):
                open(flag, "w").close()
                with open(f"/proc/{os.getppid()}/stat") as parent:
                    executor = int(parent.read().rsplit(")", 1)[1].split()[1])
                os.kill(executor, signal.SIGKILL)
            yield batch

    return run


def counted_by_query(spark, plan_file: str, responses, work: Path) -> None:
    """The tables by the query that `candor sql` prints."""
    query = subprocess.run(
        [os.environ["CANDOR"], "sql", plan_file, "--tables", "pairs", "--dialect", "spark"], check=True, capture_output=True, text=True
    ).stdout
    responses.createOrReplaceTempView("responses")
    spark.sql(query.rstrip().rstrip(";")).toArrow()


def measured(spark, plan, plan_file: str, work: Path) -> dict[str, list[float]]:
    """The seconds of each way, round by round, so that what else the machine does meets all of them."""
    records = spark.read.parquet(str(work / "records"))
    written = spark.read.parquet(str(work / "responses"))
    joint = candor.design(candor.Schema.of_sizes(SIZES), "joint", epsilon=8)
    of_joint = candor.spark.write(joint, records, str(work / "joint"), keep="id")
    to = lambda name: str(work / name)
    overwrite = lambda frame, name: frame.write.mode("overwrite").parquet(to(name))
    count = lambda frame: frame.mapInArrow(tail, "rows long").collect()
    ways = {
        "read and write, no Python": lambda: overwrite(records, "copy"),
        "identity in mapInArrow, written": lambda: overwrite(records.mapInArrow(identity, records.schema), "copy"),
        "randomize and write, joint plan": lambda: candor.spark.write(joint, records, to("again"), keep="id", mode="overwrite"),
        "randomize and write, workload plan": lambda: candor.spark.write(plan, records, to("again"), keep="id", mode="overwrite"),
        "identity over the workload plan's responses, written": lambda: overwrite(written.mapInArrow(identity, written.schema), "copy"),
        "joint plan's responses read into mapInArrow, rows counted": lambda: count(of_joint.drop("id")),
        "joint plan: count 28 tables": lambda: candor.spark.tally(joint, of_joint, "pairs"),
        "workload plan's responses read into mapInArrow, rows counted": lambda: count(written.drop("id")),
        "workload plan: count 28 tables": lambda: candor.spark.tally(plan, written, "pairs"),
    }
    times = {name: [] for name in ways}
    for _ in range(ROUNDS):
        for name, way in ways.items():
            times[name].append(seconds(way))
    if QUERY:
        times["workload plan: count 28 tables by the query of candor sql"] = [seconds(lambda: counted_by_query(spark, plan_file, written, work))]
    return times


def tail(batches):
    yield pyarrow.RecordBatch.from_pydict({"rows": [sum(batch.num_rows for batch in batches)]})


def killed(spark, plan, plan_file: str, work: Path) -> list[str]:
    """Randomizes with a worker that dies midway; whether all is there, once, and what is estimated is what the command estimates."""
    flag = str(work / "killed")
    records = spark.read.parquet(str(work / "records"))
    responses = candor.spark.write(plan, records.mapInArrow(dying(flag), records.schema), str(work / "responses"), keep="id")
    assert os.path.exists(flag), "no worker was killed"
    files = sorted(str(file) for file in (work / "responses").glob("part-*.parquet"))
    ids = pyarrow.parquet.read_table(files, columns=["id"])["id"].to_numpy()
    assert len(ids) == RECORDS and numpy.array_equal(numpy.sort(ids), numpy.arange(RECORDS)), "lost or doubled"
    found = candor.spark.estimate(plan, responses, "pairs").to_dict()
    said = subprocess.run(
        [os.environ["CANDOR"], "estimate", plan_file, *files, "--tables", "pairs", "--json"], check=True, capture_output=True, text=True
    ).stdout
    assert found == json.loads(said), "other estimates than the command's"
    return [
        f"{RECORDS:,} records, a worker killed (SIGKILL) in the middle of partition {FILES // 2} of {FILES}: {len(ids):,} responses, each id once,",
        f"and the estimates of all {len(found['tables'])} pairs equal to the command's on the same files, to the last digit.",
    ]


def report(times: dict[str, list[float]]) -> None:
    base = {name: statistics.median(times[name]) for name in times}
    written = base["identity in mapInArrow, written"]
    print("| | seconds (median) | all rounds | records/s and core | times the identity |\n|---|---|---|---|---|")
    for name, all_times in times.items():
        plan = name.split(" ")[0]
        identity_time = base.get(f"{plan} plan's responses read into mapInArrow, rows counted", written)
        rounds = ", ".join(f"{one:.1f}" for one in all_times)
        print(f"| {name} | {base[name]:.1f} | {rounds} | {RECORDS / base[name] / WORKERS:,.0f} | {base[name] / identity_time:.2f} |")
    for plan in ("joint", "workload"):
        times_as_long = base[f"randomize and write, {plan} plan"] / base["read and write, no Python"]
        print(f"\nRandomizing under the {plan} plan and writing takes {times_as_long:.2f} times as long as reading and writing the same Parquet without any Python.")
    print(f"The identity alone takes {written / base['read and write, no Python']:.2f} times as long.")


def main() -> None:
    os.environ["PYSPARK_PYTHON"] = sys.executable
    work = Path(tempfile.mkdtemp(prefix="candor-spark-"))
    try:
        make_records(work / "records")
        plan = candor.design(candor.Schema.of_sizes(SIZES), "workload", epsilon=2, tables="pairs", respondents=RECORDS)
        plan_file = str(work / "plan.json")
        plan.save(plan_file)
        master = f"local-cluster[{WORKERS},1,1024]"
        spark = (
            SparkSession.builder.master(master)
            .config("spark.ui.enabled", "false")
            .config("spark.sql.shuffle.partitions", "4")
            # One partition for each file.
            .config("spark.sql.files.openCostInBytes", str(1 << 27))
            .getOrCreate()
        )
        spark.sparkContext.setLogLevel("OFF")
        print(f"# Spark\n\n`benches/spark.py {RECORDS} {ROUNDS}`: Spark {spark.version}, `{master}`, Python {platform.python_version()}, "
              f"{os.cpu_count()} cores, load average {os.getloadavg()[0]:.0f} at the beginning.")
        print(f"{RECORDS:,} records of 8 attributes (categories {SIZES}) and an id, in {FILES} Parquet files; a workload plan for all pairs at epsilon 2.\n")
        print("## A worker killed midway\n")
        print("\n".join(killed(spark, plan, plan_file, work)))
        if ROUNDS > 0:
            print("\n## Speed\n")
            report(measured(spark, plan, plan_file, work))
        print(f"\nLoad average at the end: {os.getloadavg()[0]:.0f}.")
        spark.stop()
    finally:
        shutil.rmtree(work)


if __name__ == "__main__":
    main()
