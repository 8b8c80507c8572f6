"""Counting with numpy what `cargo bench -p candor --bench estimate` counts: ten million records of eight attributes."""

import json
import time

import numpy

SIZES = [9, 16, 7, 15, 6, 5, 2, 2]
RECORDS = 10_000_000


def best(work, runs=3):
    times = []
    for _ in range(runs):
        started = time.process_time()
        work()
        times.append(time.process_time() - started)
    return min(times)


def report(peer, values, seconds):
    line = {"peer": peer, "version": numpy.__version__, "values": values, "cpu_seconds": round(seconds, 4)}
    print(json.dumps(line | {"values_per_cpu_second": round(values / seconds)}))


def main():
    generator = numpy.random.Generator(numpy.random.SFC64(1))
    columns = [generator.integers(0, size, RECORDS, dtype=numpy.uint16) for size in SIZES]
    pairs = [(a, b) for a in range(8) for b in range(a + 1, 8)]

    def marginals():
        for column, size in zip(columns, SIZES):
            numpy.bincount(column, minlength=size)

    def two_way():
        for a, b in pairs:
            cells = columns[a] * numpy.uint16(SIZES[b]) + columns[b]
            numpy.bincount(cells, minlength=SIZES[a] * SIZES[b])

    report("numpy.bincount, marginals", 8 * RECORDS, best(marginals))
    report("numpy.bincount, pairs", len(pairs) * RECORDS, best(two_way, 1))


if __name__ == "__main__":
    main()
