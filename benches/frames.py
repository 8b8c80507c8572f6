"""What a frame costs: the same records randomized from and to pyarrow, pandas, polars and a polars LazyFrame, for a plan that answers
with labels and one that answers with sets.

    python benches/frames.py [RECORDS] [ROUNDS] > benches/results/DATE-frames.md

Needs the package candor (a release build), pandas, polars, pyarrow and numpy. Best of several rounds, in turns.
"""

import os
import platform
import sys
import time
import warnings

import numpy
import pandas
import polars
import pyarrow

import candor

RECORDS = int(sys.argv[1]) if len(sys.argv) > 1 else 5_000_000
ROUNDS = int(sys.argv[2]) if len(sys.argv) > 2 else 5
#: As the eight attributes of the Adult data.
SIZES = [9, 16, 7, 15, 6, 5, 2, 2]

warnings.simplefilter("ignore")
candor.show_progress(False)


def records() -> pyarrow.Table:
    random = numpy.random.default_rng(1)
    columns = {}
    for at, size in enumerate(SIZES, 1):
        codes = random.integers(0, size, RECORDS, dtype=numpy.int8)
        columns[f"a{at}"] = pyarrow.DictionaryArray.from_arrays(codes, [str(one) for one in range(size)])
    return pyarrow.table(columns)


def measured(work) -> float:
    begun = time.perf_counter()
    made = work()
    if isinstance(getattr(made, "frame", None), polars.LazyFrame):
        made.frame.collect()
    return time.perf_counter() - begun


table = records()
frames = {
    "pyarrow": table,
    "pandas, categoricals": table.to_pandas(),
    "pyarrow, text": table.cast(pyarrow.schema([(name, pyarrow.string()) for name in table.column_names])),
    "pandas, text": table.to_pandas().astype("str"),
    "polars, Enums": polars.from_arrow(table).with_columns(
        [polars.col(f"a{at}").cast(polars.Enum([str(one) for one in range(size)])) for at, size in enumerate(SIZES, 1)]
    ),
}
frames["polars, lazy"] = frames["polars, Enums"].lazy()
plans = {
    "labels (`independent`, epsilon 8)": candor.design(SIZES, "independent", epsilon=8),
    "sets (`l-diversity`, l 2)": candor.design([size for size in SIZES if size > 2], "l-diversity", l=[2]),
}

print(f"# Frames in Python\n\n`benches/frames.py {RECORDS} {ROUNDS}`: {RECORDS:,} records of {len(SIZES)} columns, {os.cpu_count()} cores, "
      f"Python {platform.python_version()}, pandas {pandas.__version__}, polars {polars.__version__}, pyarrow {pyarrow.__version__}.\n"
      f"Seconds of `plan.randomize`, best of {ROUNDS}, in turns; in brackets as multiples of pyarrow with the same columns.\n")  # fmt: skip
print("| answers | " + " | ".join(frames) + " |\n|---|" + "---|" * len(frames))
for name, plan in plans.items():
    columns = [one.name for one in plan.schema]
    sources = [column for column, size in zip(table.column_names, SIZES) if len(columns) == len(SIZES) or size > 2]
    given = {}
    for kind, frame in frames.items():
        if isinstance(frame, pyarrow.Table):
            given[kind] = frame.select(sources).rename_columns(columns)
        elif isinstance(frame, pandas.DataFrame):
            given[kind] = frame[sources].set_axis(columns, axis="columns")
        else:
            given[kind] = frame.select(sources).rename(dict(zip(sources, columns)))
    best = dict.fromkeys(given, float("inf"))
    for _ in range(ROUNDS):
        for kind, frame in given.items():
            best[kind] = min(best[kind], measured(lambda frame=frame: plan.randomize(frame)))
    shown = [
        f"{took:.2f} ({took / best['pyarrow, text' if 'text' in kind else 'pyarrow']:.2f}x)"
        for kind, took in best.items()
    ]
    print(f"| {name} | " + " | ".join(shown) + " |", flush=True)
