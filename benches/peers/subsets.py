"""What one would use instead of candor for sets: 10 of 100 categories (subset selection), one core.

Prints one JSON object per line, as k_ary.py does. Needs the packages of requirements.txt.
"""

import os

for threads in ("OMP", "OPENBLAS", "MKL", "NUMBA"):
    os.environ[threads + "_NUM_THREADS"] = "1"

import json
from importlib.metadata import version
from math import log
from time import process_time

CATEGORIES = 100
SIZE = 10
# multi-freq-ldpy chooses the size itself, as k / (e^epsilon + 1) rounded: 10 at this epsilon.
EPSILON = log(CATEGORIES / SIZE - 1)


def measure(randomize):
    """About two seconds of calls of `randomize(truth)`, which gives a set."""
    truths = [i * 7919 % CATEGORIES for i in range(2000)]
    for truth in truths:
        randomize(truth)  # warm-up; compiles in the case of numba
    values, seconds, held = 0, 0.0, 0
    while seconds < 2.0:
        start = process_time()
        answers = [randomize(truth) for truth in truths]
        seconds += process_time() - start
        values += len(truths)
        held += sum(truth in set(answer) for truth, answer in zip(truths, answers))
    assert all(len(answer) == SIZE for answer in answers)
    return values, seconds, held / values


def main():
    peer = "multi-freq-ldpy SS_Client"
    try:
        from multi_freq_ldpy.pure_frequency_oracles.SS import SS_Client

        values, seconds, held = measure(lambda truth: SS_Client(truth, CATEGORIES, EPSILON))
        line = {
            "peer": peer,
            "version": version("multi-freq-ldpy"),
            "values": values,
            "cpu_seconds": round(seconds, 6),
            "values_per_cpu_second": round(values / seconds),
            "generator": "MT19937",
            "check": {"held": round(held, 5), "expected": 0.5},
        }
    except Exception as error:
        line = {"peer": peer, "error": f"{type(error).__name__}: {error}"}
    print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
