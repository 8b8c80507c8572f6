"""The Python package against the Rust library, and against what else could be used, in one run.

Usage: python.py EXAMPLE [ROWS]. EXAMPLE is the program `python/examples/randomize.rs`, built like the package. Needs candor, numpy,
pandas and pyarrow; multi-freq-ldpy, pure-ldp and OpenDP where they can be installed. Prints one JSON object per line. Times are wall
seconds and, where it says so, seconds of all processors; the best of several, as the machine may be busy.
"""

import json
import subprocess
import sys
import tempfile
import time
from importlib.metadata import files
from itertools import combinations
from math import exp
from pathlib import Path

import numpy
import pandas
import pyarrow

import candor

SIZES = [9, 16, 7, 15, 6, 5, 2, 2]
EPSILON = 8.0
REPEATS = 5


def told(what: str, **numbers: object) -> None:
    print(json.dumps({"what": what, **{name: round(n, 4) if isinstance(n, float) else n for name, n in numbers.items()}}), flush=True)


def best(work, repeats: int = REPEATS) -> tuple[float, float]:
    """The least wall and CPU seconds of some repetitions."""
    walls, cpus = [], []
    for _ in range(repeats):
        wall, cpu = time.perf_counter(), time.process_time()
        work()
        walls.append(time.perf_counter() - wall)
        cpus.append(time.process_time() - cpu)
    return min(walls), min(cpus)


def records(plan: candor.Plan, rows: int) -> pyarrow.Table:
    """The same records as the example's: dictionary columns in one chunk."""
    numbers = numpy.arange(rows)
    columns = {}
    for at, attribute in enumerate(plan.schema):
        keys = ((numbers * 7919 + at) % len(attribute.categories)).astype(numpy.int32)
        columns[attribute.name] = pyarrow.DictionaryArray.from_arrays(keys, attribute.categories)
    return pyarrow.table(columns)


def imports() -> None:
    def seconds(code: str) -> float:
        return best(lambda: subprocess.run([sys.executable, "-c", code], check=True), 10)[0]

    told("import candor", seconds=seconds("import candor") - seconds("pass"))
    installed = [file for file in files("candor") or [] if str(file).startswith("candor/")]
    told("installed package", megabytes=sum(Path(file.locate()).stat().st_size for file in installed) / 1e6)


def randomizing(plan: candor.Plan, table: pyarrow.Table, example: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "plan.json"
        plan.save(path)
        python, rust = [], []
        # In turns, so that whatever else the machine does slows both down.
        for _ in range(REPEATS):
            python.append(best(lambda: plan.randomize(table), 1))
            words = [example, str(path), str(table.num_rows), "1"]
            rust.append(json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)[0])
    for at, clock in enumerate(("wall", "cpu")):
        ours, theirs = min(one[at] for one in python), min(one[at] for one in rust)
        told(f"randomize, {clock}", rows=table.num_rows, python=ours, rust=theirs, ratio=ours / theirs)


def by_hand(plan: candor.Plan, table: pyarrow.Table) -> None:
    """numpy on codes: keep each answer, or draw another one. Its generator is not a cryptographic one."""
    codes = [column.chunk(0).indices.to_numpy() for column in table.columns]
    kept = [exp(EPSILON / len(SIZES)) / (exp(EPSILON / len(SIZES)) + size - 1) for size in SIZES]
    generator = numpy.random.default_rng()

    def randomize() -> None:
        for truth, size, keep in zip(codes, SIZES, kept):
            others = (truth + generator.integers(1, size, len(truth), dtype=numpy.int32)) % size
            numpy.where(generator.random(len(truth)) < keep, truth, others)

    wall, cpu = best(randomize, 3)
    told("randomize, numpy by hand", rows=table.num_rows, wall=wall, cpu=cpu)


def peers() -> None:
    """Packages that answer value by value, scaled from a second of each."""
    keep = EPSILON / len(SIZES)

    def measured(name: str, make) -> None:
        try:
            answer = make()
            answer(1)  # What is compiled at the first call is compiled here.
        except Exception as error:
            told(f"randomize, {name}", error=f"{type(error).__name__}: {error}")
            return
        values, begun = 0, time.process_time()
        while time.process_time() - begun < 1:
            for value in range(200):
                answer(value % 16)
            values += 200
        told(f"randomize, {name}", values_per_cpu_second=round(values / (time.process_time() - begun)))

    def multi_freq():
        from multi_freq_ldpy.pure_frequency_oracles.GRR import GRR_Client

        return lambda value: GRR_Client(value, 16, keep)

    def pure():
        from pure_ldp.frequency_oracles.direct_encoding import DEClient

        client = DEClient(epsilon=keep, d=16, index_mapper=lambda value: value)
        return client.privatise

    def opendp():
        import opendp.prelude as dp

        dp.enable_features("contrib")
        make = dp.m.make_randomized_response(list(range(16)), prob=exp(keep) / (exp(keep) + 15))
        return make

    measured("multi-freq-ldpy", multi_freq)
    measured("pure-ldp", pure)
    measured("OpenDP", opendp)


def estimating(plan: candor.Plan, responses: pyarrow.Table) -> None:
    pairs = list(combinations(responses.column_names, 2))
    wall, cpu = best(lambda: plan.estimate(responses, tables="pairs"), 3)
    told("estimate of all pairs", pairs=len(pairs), rows=responses.num_rows, wall=wall, cpu=cpu)
    whole = responses.combine_chunks()
    codes = {name: whole.column(name).chunk(0).indices.to_numpy().astype(numpy.int64) for name in responses.column_names}

    def with_numpy() -> None:
        sizes = dict(zip(responses.column_names, SIZES))
        for a, b in pairs:
            numpy.bincount(codes[a] * sizes[b] + codes[b], minlength=sizes[a] * sizes[b])

    counted, counted_cpu = best(with_numpy, 3)
    told("counting alone, numpy", wall=counted, cpu=counted_cpu, ratio=wall / counted, cpu_ratio=cpu / counted_cpu)
    frame = pandas.DataFrame({name: pandas.Categorical.from_codes(codes[name], range(size)) for name, size in zip(codes, SIZES)})

    def with_pandas() -> None:
        for a, b in pairs:
            frame.groupby([a, b], observed=False).size()

    counted, counted_cpu = best(with_pandas, 1)
    told("counting alone, pandas", wall=counted, cpu=counted_cpu, ratio=wall / counted, cpu_ratio=cpu / counted_cpu)


def main() -> None:
    example, rows = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 10_000_000
    candor.show_progress(False)
    imports()
    plan = candor.design(SIZES, "independent", epsilon=EPSILON)
    table = records(plan, rows)
    randomizing(plan, table, example)
    by_hand(plan, table)
    peers()
    estimating(plan, plan.randomize(table))


main()
