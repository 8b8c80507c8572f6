"""statsmodels' Logit on as many people as crates/candor-tables/benches/regress.rs, asked directly; from memory, and without effects."""

import os
import time

import numpy as np
import statsmodels.api as sm


def fit(what, design, truth, rng):
    y = (rng.random(len(design)) < 1 / (1 + np.exp(-(design @ truth)))).astype("int8")
    started = time.perf_counter()
    sm.Logit(y, design).fit(disp=0)
    print(f"statsmodels Logit, {what}: {time.perf_counter() - started:.2f} s", flush=True)


rng = np.random.default_rng(1)
rows = int(os.environ.get("CANDOR_BENCH_ROWS", 10_000_000))
sizes = [2, 3, 4, 5]
codes = [rng.integers(0, size, rows) for size in sizes]
columns = [np.ones(rows)] + [(own == code).astype(float) for own, size in zip(codes, sizes) for code in range(1, size)]
fit(f"{rows:,} records, four categorical predictors", np.column_stack(columns), rng.normal(0, 0.4, len(columns)), rng)

n = 20_000
a, b = rng.integers(0, 3, n), rng.integers(0, 4, n)
columns = [np.ones(n), a == 1, a == 2, b == 1, b == 2, b == 3, rng.normal(size=n), rng.normal(size=n)]
fit(f"{n:,} records, two categorical predictors and two numbers", np.column_stack(columns).astype(float), rng.normal(0, 0.4, 8), rng)
