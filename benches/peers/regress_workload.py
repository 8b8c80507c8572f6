"""A logistic regression of a randomized outcome on five or twenty public predictors, and statsmodels' Logit on the same people asked directly.

regress_workload.py CANDOR [ROWS [5 | 20]]: in one run, from files to coefficients with limits, covariance and joint tests. Not part of `run`.
Seconds are those of the clock and, in brackets, of all cores together.
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
import time

import numpy as np
import pandas as pd

candor = os.path.abspath(sys.argv[1])
rows = int(sys.argv[2]) if len(sys.argv) > 2 else 100_000
rng = np.random.default_rng(34)
sizes = {"sex": 2, "age": 5, "region": 4, "school": 3, "work": 3}
if sys.argv[3:] == ["20"]:
    sizes |= {f"item{number}": 2 for number in range(1, 16)}
people = pd.DataFrame({name: rng.integers(0, size, rows) for name, size in sizes.items()})
slopes = {name: rng.normal(0, 0.3, size) for name, size in sizes.items()}
eta = -1.5 + sum(slopes[name][people[name]] - slopes[name][0] for name in sizes)
people["use"] = np.where(rng.random(rows) < 1 / (1 + np.exp(-eta)), "yes", "no")
people["income"] = rng.integers(0, 4, rows)
formula = "use ~ " + " + ".join(sizes)


def used():
    own, children = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return sum(one.ru_utime + one.ru_stime for one in (own, children))


def timed(work):
    started, before = time.perf_counter(), used()
    found = work()
    return f"{time.perf_counter() - started:.2f} s ({used() - before:.2f} s)", found


def run(*words):
    return timed(lambda: subprocess.run([candor, *words], check=True, capture_output=True, text=True).stdout)


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    people.to_csv("people.csv", index=False)
    run("schema", "infer", "people.csv", "--public", ",".join(sizes), "-o", "schema.toml")
    run("design", "schema.toml", "--method", "workload", "--epsilon", "3", "--tables", "pairs", "-o", "plan.json")
    run("randomize", "plan.json", "people.csv", "--seed", "1", "-o", "responses.parquet")
    words = ["regress", "plan.json", "responses.parquet", "--model", formula, "--json"]
    seconds, out = run(*words)
    found = json.loads(out)
    print(f"candor regress, {rows:,} responses, {len(found['coefficients'])} coefficients, {found['rows']:,} different rows: {seconds}")
    pd.DataFrame([{name: number % size for name, size in sizes.items()} for number in range(10)]).to_csv("ten.csv", index=False)
    seconds, out = run(*words, "--predict", "ten.csv")
    print(f"the same with predictions for {len(json.loads(out)['predictions'])} profiles: {seconds}")

import statsmodels.formula.api as smf

people["yes"] = (people.use == "yes").astype(int)


def asked_directly():
    direct = smf.logit("yes ~ " + " + ".join(f"C({name})" for name in sizes), people).fit(disp=0)
    direct.conf_int()
    return direct


seconds, direct = timed(asked_directly)
print(f"statsmodels logit on direct answers, the same formula with limits: {seconds}")
far = [one["estimate"] - direct.params.iloc[place] for place, one in enumerate(found["coefficients"])]
errors = [one["standard_error"] for one in found["coefficients"]]
print(f"largest difference in standard errors of candor: {max(abs(a / b) for a, b in zip(far, errors)):.2f}")
