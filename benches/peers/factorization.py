"""The factorization mechanism of McKenna, Maity, Mazumdar and Miklau (VLDB 2020), by projected gradient descent, in numpy: a peer for workload plans.

Written from its description. A channel is a matrix Q of answers by records with z <= Q <= e^epsilon z and columns that sum to one; the error of
all pairs, times the number of respondents, for a uniform population and the best unbiased estimates, is tr(G (Q' D^-1 Q)^-1) with D the
law of the answers. Four times as many answers as records, several starts and step sizes; the best run counts. A run ends where none
of its moves helps any more. The number of records
bounds what can be tried: a gradient takes the cube of it.
"""

import itertools
import time

import numpy as np

STEPS = 1500
# First step, seed, and how far starts are spread: within the limits, or so far outside that nearly all entries begin at one.
RUNS = [(rate, start, spread) for rate in (0.02, 0.5) for start in range(3) for spread in (1, 30)]
# With the plan of candor and the bound of theorem 4, from benches/results.
CASES = [
    ((2, 2), 1.0),
    ((2, 3), 1.0),
    ((3, 3), 1.0),
    ((2, 4), 0.5),
    ((2, 4), 2.0),
    ((2, 2, 2), 1.0),
    ((2, 2, 2), 2.0),
    ((3, 3, 3), 2.0),
]


def gram(sizes):
    """W'W of all pairs, without the sum over all records, which is known."""
    cells = np.array(list(itertools.product(*map(range, sizes))))
    count = len(cells)
    total = np.zeros((count, count))
    for i, j in itertools.combinations(range(len(sizes)), 2):
        same = (cells[:, None, [i, j]] == cells[None, :, [i, j]]).all(-1)
        total += same
    centre = np.eye(count) - 1 / count
    return centre @ total @ centre


def project(wished, least, e):
    """The nearest columns within z .. e^epsilon z that sum to one, by bisection; and where entries stand at a limit."""
    low = np.full(wished.shape[1], -2 - np.abs(wished).max())
    high = -low
    for _ in range(60):
        middle = (low + high) / 2
        short = np.clip(wished + middle, least[:, None], e * least[:, None]).sum(0) < 1
        low, high = np.where(short, middle, low), np.where(short, high, middle)
    q = np.clip(wished + high, least[:, None], e * least[:, None])
    return q, (q >= e * least[:, None]).astype(int) - (q <= least[:, None]).astype(int)


def error(q, workload):
    """The error and its gradient."""
    count = q.shape[1]
    sums = q.sum(1)
    information = count * (q.T / sums) @ q
    try:
        inverse = np.linalg.inv(information)
    except np.linalg.LinAlgError:
        return np.inf, None
    sensitive = inverse @ workload @ inverse
    across = q @ sensitive
    curved = (across * q).sum(1) / sums
    return np.trace(inverse @ workload), -count / sums[:, None] * (2 * across - curved[:, None])


def slope_of_least(gradient, held, e):
    """How the error moves with the lower limits: entries at a limit move with them, those between give it back."""
    between = held == 0
    mean = (gradient * between).sum(0) / np.maximum(between.sum(0), 1)
    return (np.choose(held + 1, [1.0, 0.0, e]) * (gradient - mean)).sum(1)


def descend(workload, epsilon, rate, start, spread):
    """The error at the end of the way down; entries, their limits and both take turns, steps grow as long as the error falls."""
    count, e = len(workload), np.exp(epsilon)
    answers = 4 * count
    least = np.full(answers, (1 + 1 / e) / (2 * answers))
    begin = least[:, None] * (1 + (e - 1) * (0.5 + spread * (np.random.default_rng(start).random((answers, count)) - 0.5)))
    q, held = project(begin, least, e)
    value, gradient = error(q, workload)
    slopes = gradient, slope_of_least(gradient, held, e)
    lengths = [rate / np.abs(slope).max() / answers for slope in slopes] + [rate / np.abs(slopes[1]).max() / answers]
    for step in range(3 * STEPS):
        turn = step % 3
        wished, lower = q, least
        if turn != 1:
            wished = q - lengths[turn] * gradient
        if turn != 0:
            lower = np.clip(least - lengths[turn] * slope_of_least(gradient, held, e), 1e-9 / answers, 1)
            total = lower.sum()
            lower = lower / total if total > 1 else lower * max(1, 1 / (e * total))
        tried, tried_held = project(wished, lower, e)
        found, slope = error(tried, workload)
        if 0 < found < value:
            value, gradient, q, held, least = found, slope, tried, tried_held, lower
            lengths[turn] *= 1.3
        else:
            lengths[turn] *= 0.5
        if max(lengths) < 1e-14:
            break
    return value


def main():
    print("projected-gradient factorization (McKenna et al. 2020), all pairs: n times the squared error, CPU seconds of all runs")
    for sizes, epsilon in CASES:
        began = time.process_time()
        workload = gram(sizes)
        best = min(descend(workload, epsilon, *run) for run in RUNS)
        name = ", ".join(map(str, sizes))
        print(f"  {name} at {epsilon}: {best:.4f} in {time.process_time() - began:.1f} s", flush=True)


main()
