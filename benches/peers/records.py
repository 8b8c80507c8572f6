"""Records from the same noisy pair tables: candor's tree and maximum entropy, and private-pgm (PyPI: mbi).

Usage: records.py CANDOR ADULT.csv.gz [EPSILON ...]. CANDOR is a release build of the command. The Adult records are randomized under a plan for all pairs; both sides get the estimated one-way and
pair tables of the same responses, and make as many records. Errors are total variation distances between tables of the records and of the truth, the mean over all pairs and over all triples.
"""

import itertools
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pandas


def errors(made, people, size):
    """The mean total variation distance over all tables of so many attributes."""
    names, total = list(people.columns), 0.0
    tables = list(itertools.combinations(names, size))
    for table in tables:
        one = made.groupby(list(table), observed=True).size() / len(made)
        other = people.groupby(list(table), observed=True).size() / len(people)
        total += one.sub(other, fill_value=0).abs().sum() / 2
    return total / len(tables)


def report(peer, epsilon, seconds, made, people, **more):
    line = {"peer": peer, "epsilon": epsilon, "seconds": round(seconds, 2)}
    line |= {"pairs": round(errors(made, people, 2), 4), "triples": round(errors(made, people, 3), 4)}
    print(json.dumps(line | more), flush=True)


def by_candor(candor, folder, method):
    """The records, what is said of them, and how long it took, with reading and writing."""
    output = folder / f"{method}.csv"
    started = time.perf_counter()
    said = candor("synthesize", "plan.json", "responses.parquet", "--method", method, "--seed", "1", "-o", str(output), "--json")
    return pandas.read_csv(output, dtype=str, keep_default_na=False), json.loads(said), time.perf_counter() - started


def by_pgm(estimates, schema, pairs, records):
    """The records of private-pgm from the noisy tables of these pairs and of each attribute."""
    import jax

    jax.config.update("jax_enable_x64", True)
    import mbi
    import numpy

    places = {name: {label: at for at, label in enumerate(labels)} for name, labels in schema.items()}
    domain = mbi.Domain(list(schema), [len(labels) for labels in schema.values()])
    measured = []
    for table in estimates["tables"]:
        names = tuple(table["attributes"])
        if "cells" not in table or not table["cells"] or len(names) == 2 and frozenset(names) not in pairs:
            continue
        noisy = numpy.zeros([len(schema[name]) for name in names])
        for cell in table["cells"]:
            noisy[tuple(places[name][label] for name, label in zip(names, cell["categories"]))] = cell["estimate"] * records
        spread = numpy.sqrt(numpy.mean([cell["standard_error"] ** 2 for cell in table["cells"]])) * records
        measured.append(mbi.LinearMeasurement(noisy.flatten(), names, max(spread, 1e-9)))
    started = time.perf_counter()
    model = mbi.estimation.MirrorDescent().estimate(domain, measured, known_total=float(records), iters=1000)
    made = model.synthetic_data(rows=records)
    seconds = time.perf_counter() - started
    codes = made.to_dict() if hasattr(made, "to_dict") else {name: made.df[name] for name in schema}
    columns = {name: numpy.array(labels)[numpy.asarray(codes[name], dtype=int)] for name, labels in schema.items()}
    return pandas.DataFrame(columns), seconds


def run(program, people_file, epsilon):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)

        def candor(*words):
            return subprocess.run([program, *words], cwd=folder, check=True, capture_output=True, text=True).stdout

        people = pandas.read_csv(people_file, dtype=str, keep_default_na=False)
        people.to_csv(folder / "people.csv", index=False)
        candor("schema", "infer", "people.csv", "-o", "schema.toml")
        candor("design", "schema.toml", "--method", "workload", "--tables", "pairs", "--epsilon", str(epsilon), "-o", "plan.json")
        candor("randomize", "plan.json", "people.csv", "-o", "responses.parquet", "--seed", "1")
        estimates = json.loads(candor("estimate", "plan.json", "responses.parquet", "--tables", "marginals;pairs", "--json"))
        schema = {entry["name"]: entry["categories"] for entry in json.loads((folder / "plan.json").read_text())["schema"]["attributes"]}
        independent = pandas.DataFrame({column: people[column].sample(frac=1, random_state=at).to_numpy() for at, column in enumerate(people)})
        report("true one-way shares, all independent", epsilon, 0.0, independent, people)
        for method in ["tree", "entropy"]:
            made, said, seconds = by_candor(candor, folder, method)
            links = {frozenset(link["attributes"]) for link in said["links"]}
            report(f"candor {method}", epsilon, seconds, made, people, links=len(links), margin_error=said["largest_margin_error"])
            try:
                made, seconds = by_pgm(estimates, schema, links, len(people))
                report(f"private-pgm, links of candor {method}", epsilon, seconds, made, people, links=len(links))
            except ImportError as error:
                print(json.dumps({"peer": "private-pgm", "error": str(error)}))


if __name__ == "__main__":
    for wanted in [float(text) for text in sys.argv[3:]] or [2.0, 4.0, 8.0]:
        run(str(Path(sys.argv[1]).resolve()), sys.argv[2], wanted)
