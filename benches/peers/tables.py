"""How near estimated tables are to the truth: candor's workload plans beside multi-freq-ldpy, on the Adult records.

Usage: tables.py CANDOR ADULT.csv.gz [RUNS]

At the same epsilon of the whole record: all one-way tables, and all pairs (multi-freq-ldpy with the pairs as 28 attributes, of which
each respondent answers one). Printed is n times the mean squared error, summed over all cells: unbiased estimates beside
unbiased ones, and estimates that are distributions (candor's projected, multi-freq-ldpy's clipped) beside each other; last, candor's tables
made to agree (constrained). With RUNS and the word "alone" candor alone is run.
"""

import gzip
import itertools
import json
import math
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

candor, adult = sys.argv[1:3]
runs = int(sys.argv[3]) if len(sys.argv) > 3 else 30
alone = sys.argv[4:] == ["alone"]
if not alone:
    from multi_freq_ldpy.mdim_freq_est import SMP_solution as smp
records = pd.read_csv(gzip.open(adult), dtype=str, keep_default_na=False)
names = list(records.columns)
n = len(records)
pairs = list(itertools.combinations(names, 2))


def run(*arguments):
    return subprocess.run([candor, *arguments], check=True, capture_output=True, text=True).stdout


def truth(table):
    """The share of each combination of labels that occurs."""
    return records.groupby(list(table)).size() / n


def candor_errors(folder, tables, listed, epsilon):
    """n times the squared error of unbiased, projected and constrained estimates."""
    folder = Path(tempfile.mkdtemp(dir=folder))
    plan = str(folder / "plan.json")
    run("design", str(folder.parent / "schema.toml"), "--method", "workload", "--tables", tables, "--epsilon", str(epsilon), "-o", plan)
    sums = {"unbiased": [], "projected": [], "constrained": []}
    for seed in range(runs):
        responses = str(folder / f"responses-{seed}.parquet")
        run("randomize", plan, adult, "--seed", str(seed), "-o", responses)
        for method, found in sums.items():
            estimates = json.loads(run("estimate", plan, responses, "--tables", tables, "--method", method, "--json"))
            error = 0.0
            for table, estimated in zip(listed, estimates["tables"]):
                shares = truth(table)
                for cell in estimated["cells"]:
                    key = tuple(cell["categories"])
                    error += (cell["estimate"] - shares.get(key if len(key) > 1 else key[0], 0.0)) ** 2
            found.append(n * error)
    return {method: (np.mean(found), np.std(found) / math.sqrt(runs)) for method, found in sums.items()}


def codes(tables):
    """Each table as one attribute: the code of its combination for every record, and how many there are."""
    columns, sizes = [], []
    for table in tables:
        cells = np.zeros(n, dtype=np.int64)
        size = 1
        for name in table:
            values = sorted(records[name].unique())
            cells = cells * len(values) + records[name].map({value: i for i, value in enumerate(values)}).to_numpy()
            size *= len(values)
        columns.append(cells)
        sizes.append(size)
    return np.stack(columns, axis=1), sizes


def peer_errors(tables, epsilon, repeats):
    matrix, sizes = codes(tables)
    shares = [np.bincount(matrix[:, i], minlength=size) / n for i, size in enumerate(sizes)]
    d = len(sizes)
    rows = [list(map(int, row)) for row in matrix]
    methods = {
        "SMP[GRR]": (smp.SMP_GRR_Client, smp.SMP_GRR_Aggregator_MI),
        "SMP[SS]": (smp.SMP_SS_Client, smp.SMP_SS_Aggregator_MI),
        "SMP[ADP]": (smp.SMP_ADP_Client, smp.SMP_ADP_Aggregator_MI),
    }
    for name, (client, aggregate) in methods.items():
        clipped, unbiased = [], []
        for _ in range(repeats):
            reports = [client(row, sizes, d, epsilon) for row in rows]
            found = aggregate(reports, sizes, d, epsilon)
            clipped.append(n * sum(((np.asarray(f, dtype=float) - s) ** 2).sum() for f, s in zip(found, shares)))
            if name != "SMP[ADP]":
                unbiased.append(n * unclipped(name, reports, sizes, epsilon, shares))
        yield name, np.mean(unbiased) if unbiased else None, np.mean(clipped)


def unclipped(name, reports, sizes, epsilon, shares):
    """The squared error of the same estimates before they are clipped."""
    e = math.exp(epsilon)
    error = 0.0
    for i, k in enumerate(sizes):
        own = [report[1] for report in reports if report[0] == i]
        if name == "SMP[GRR]":
            p, q = e / (e + k - 1), 1 / (e + k - 1)
            counts = np.bincount(np.asarray(own, dtype=int), minlength=k)
        else:
            size = len(own[0])
            whole = e * size + k - size
            p = e * size / whole
            q = (e * size * (size - 1) + (k - size) * size) / ((k - 1) * whole)
            counts = np.bincount(np.concatenate(own).astype(int), minlength=k)
        error += (((counts / len(own) - q) / (p - q) - shares[i]) ** 2).sum()
    return error


with tempfile.TemporaryDirectory() as scratch:
    folder = Path(scratch)
    run("schema", "infer", adult, "-o", str(folder / "schema.toml"))
    print(f"{n:,} records, n times the squared error of all cells; {runs} randomizations by candor")
    for tables, listed, repeats in (("marginals", [(name,) for name in names], 5), ("pairs", pairs, 3)):
        print(f"\n{tables}\nepsilon  method        unbiased   a distribution   that agree")
        for epsilon in (1, 2, 4):
            found = candor_errors(folder, tables, listed, epsilon)
            (u, se), (p, _), (c, _) = found["unbiased"], found["projected"], found["constrained"]
            print(f"{epsilon:>7}  candor     {u:>11,.1f}  {p:>11,.1f}  {c:>11,.1f}   (+- {se:,.1f})", flush=True)
            for name, u, c in () if alone else peer_errors(listed, epsilon, repeats):
                print(f"{epsilon:>7}  {name:<10} {'-' if u is None else format(u, ',.1f'):>11}  {c:>11,.1f}", flush=True)
