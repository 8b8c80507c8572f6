"""Raking what `cargo bench -p candor --bench adjust` rakes, to 1e-6: numpy over records, and ipfn."""

import contextlib
import io
import json
import time

import numpy

SIZES = [9, 16, 7, 15, 6, 5, 2, 2]
RECORDS = 32_561
TOLERANCE = 1e-6


def records():
    """Answers by column and the true margins: the same numbers as in the Rust bench."""
    state = 1

    def draw(below):
        nonlocal state
        state = (state * 6_364_136_223_846_793_005 + 1_442_695_040_888_963_407) % 2**64
        return (state >> 33) % below

    answers = [numpy.empty(RECORDS, numpy.int64) for _ in SIZES]
    shares = [numpy.zeros(size) for size in SIZES]
    for row in range(RECORDS):
        common = draw(1000)
        for j, size in enumerate(SIZES):
            truth = draw(size) * draw(size) // size if draw(4) == 0 else common * size // 1000
            shares[j][truth] += 1 / RECORDS
            answers[j][row] = truth if draw(10) < 7 else draw(size)
    return answers, shares


def largest_error(answers, shares, weights):
    sums = (numpy.bincount(column, weights, len(share)) for column, share in zip(answers, shares))
    return max(abs(found - share).max() for found, share in zip(sums, shares))


def by_numpy(answers, shares):
    """Algorithm 2 of the paper over records, until margins and weights stop changing."""
    weights = numpy.full(RECORDS, 1 / RECORDS)
    sweeps = 0
    while True:
        before, error = weights, 0.0
        for column, share in zip(answers, shares):
            sums = numpy.bincount(column, weights, len(share))
            error = max(error, abs(sums - share).max())
            weights = weights * (share / sums)[column]
        sweeps += 1
        if error <= TOLERANCE and abs(weights - before).sum() <= TOLERANCE:
            return weights, sweeps


def by_ipfn(answers, shares):
    import pandas
    from ipfn import ipfn

    frame = pandas.DataFrame({f"a{j}": column for j, column in enumerate(answers)} | {"total": 1 / RECORDS})
    aggregates = []
    for j, share in enumerate(shares):
        series = pandas.Series(share)
        series.index.name = f"a{j}"
        aggregates.append(series)
    fit = ipfn.ipfn(frame, aggregates, [[f"a{j}"] for j in range(len(SIZES))], weight_col="total",
                    convergence_rate=TOLERANCE, max_iteration=500, verbose=2)
    with contextlib.redirect_stdout(io.StringIO()):
        fitted, _, rounds = fit.iteration()
    return fitted["total"].to_numpy(), len(rounds)


def report(peer, work, answers, shares, runs):
    times = []
    try:
        for _ in range(runs):
            started = time.process_time()
            weights, sweeps = work(answers, shares)
            times.append(time.process_time() - started)
    except ImportError as error:
        print(json.dumps({"peer": peer, "error": str(error)}))
        return
    line = {"peer": peer, "records": RECORDS, "sweeps": sweeps, "cpu_seconds": round(min(times), 5)}
    print(json.dumps(line | {"largest_margin_error": float(largest_error(answers, shares, weights))}))


def main():
    answers, shares = records()
    report("numpy, raking over records", by_numpy, answers, shares, 20)
    report("ipfn", by_ipfn, answers, shares, 3)


if __name__ == "__main__":
    main()
