"""Three intervals of a share in a randomized group under a cluster sample, written a second time: how often they cover, and how often they are empty.

hidden_group.py [SURVEYS [FILE.csv]]: 15 clusters of 12 people, of whom a quarter is in the group; trait and group are randomized together.
With a file of answers (columns y, g, c; epsilon 6), its limits come first.

fieller: all r for which N - rD is no further from 0 than Student's t allows, with the larger of the clusters' variance and that under r itself.
apart: in addition the distance of an estimate below 0 or above 1 from the nearest share, as the walked score of regressions subtracts S0.
printed: in addition one respondent of each kind, as `candor estimate` has it.
"""

import csv
import sys

import numpy as np
from scipy.stats import t as student

CLUSTERS, SIZE, ADDED, IN_GROUP, ELSEWHERE = 15, 12, 4, 0.25, 0.04
GRID = np.linspace(0, 1, 2001)
REACH = student.ppf(0.975, CLUSTERS - 1)
RULES = ["fieller", "apart", "printed"]
rng = np.random.default_rng(34)


def projected(tables):
    """The closest points of the simplex."""
    down = -np.sort(-tables, axis=1)
    excess = (np.cumsum(down, axis=1) - 1) / np.arange(1, tables.shape[1] + 1)
    last = (down > excess).sum(axis=1) - 1
    return np.maximum(tables - excess[np.arange(len(tables)), last][:, None], 0)


def channel(epsilon):
    """The probability of the true cell, and that of each other one."""
    return np.exp(epsilon) / (np.exp(epsilon) + 3), 1 / (np.exp(epsilon) + 3)


def drawn(surveys, epsilon, share, alike):
    """Numbers of answers by survey, cluster and cell; cells are y * 2 + g."""
    true, other = channel(epsilon)
    group = (rng.random((surveys, CLUSTERS, SIZE)) < IN_GROUP).astype(int)
    common = rng.random((surveys, CLUSTERS, 1))
    chance = np.where(rng.random(group.shape) < np.sqrt(alike), common, rng.random(group.shape))
    truth = 2 * (chance < np.where(group == 1, share, ELSEWHERE)) + group
    answers = np.where(rng.random(group.shape) < true - other, truth, rng.integers(0, 4, group.shape))
    return np.stack([(answers == cell).sum(axis=2) for cell in range(4)], axis=2)


def intervals(counts, epsilon):
    """The estimates, and by rule whether each share of the grid is in the interval."""
    true, other = channel(epsilon)
    scale, people = true - other, counts.sum(axis=(1, 2)).astype(float)[:, None]
    shares = (counts.sum(axis=1) / people - other) / scale
    both, group = shares[:, 3], shares[:, 1] + shares[:, 3]
    # The clusters' sums of both parts of N - rD, less their means.
    sizes = counts.sum(axis=2)
    weights = (counts - other * sizes[:, :, None]) / scale
    over = weights[:, :, 3] - sizes * both[:, None]
    under = weights[:, :, 1] + weights[:, :, 3] - sizes * group[:, None]
    factor = CLUSTERS / (CLUSTERS - 1) / people[:, 0] ** 2
    square = lambda a, b: (factor * (a * b).sum(axis=1))[:, None]
    by_clusters = square(over, over) - 2 * GRID * square(over, under) + GRID**2 * square(under, under)
    # Second moments of an answer's part of N - rD, by true cell (columns), for every r (rows).
    law = np.full((4, 4), other) + np.eye(4) * scale
    unbiased = (np.eye(4) - other) / scale
    of_answer = unbiased[:, 3][None] - GRID[:, None] * (unbiased[:, 1] + unbiased[:, 3])[None]
    moments = of_answer**2 @ law
    inside = (1 - GRID) * moments[:, 1] + GRID * moments[:, 3]

    def variance(elsewhere, members):
        by_model = (elsewhere @ moments[:, [0, 2]].T + members[:, None] * inside) / people
        return np.maximum(by_model, by_clusters)

    sums = projected(np.stack([shares[:, 0] + shares[:, 2], group], axis=1))
    trait = np.clip(shares[:, 2] / (shares[:, 0] + shares[:, 2]), 0, 1)[:, None]
    plain = variance(sums[:, [0]] * np.hstack([1 - trait, trait]), sums[:, 1])
    likely = (people * projected(shares) + ADDED / 4) / (people + ADDED)
    added = variance(likely[:, [0, 2]], likely[:, 1] + likely[:, 3])
    ratio = both / group
    distance = (group[:, None] * (ratio[:, None] - GRID)) ** 2
    rows, nearest = np.arange(len(ratio)), np.round(np.clip(ratio, 0, 1) * (len(GRID) - 1)).astype(int)
    out = (ratio < 0) | (ratio > 1)
    apart = lambda variance: np.where(out, distance[rows, nearest] / variance[rows, nearest], 0)[:, None]
    held = [
        distance <= REACH**2 * plain,
        distance <= (REACH**2 + apart(plain)) * plain,
        distance <= (REACH**2 + apart(added)) * added,
    ]
    return ratio, dict(zip(RULES, held))


def file_counts(name):
    counts = np.zeros((1, CLUSTERS, 4), int)
    with open(name) as file:
        for row in csv.DictReader(file):
            counts[0, int(row["c"]), {"no": 0, "yes": 2}[row["y"]] + {"a": 0, "b": 1}[row["g"]]] += 1
    return counts


def main():
    surveys = int(sys.argv[1]) if len(sys.argv) > 1 else 4000
    if len(sys.argv) > 2:
        ratio, held = intervals(file_counts(sys.argv[2]), 6)
        limits = {rule: (GRID[inside[0]].min(), GRID[inside[0]].max()) for rule, inside in held.items()}
        print(f"{sys.argv[2]}: estimate {ratio[0]:.4f}; " + "; ".join(f"{rule} {low:.3f} to {high:.3f}" for rule, (low, high) in limits.items()))
    print("epsilon, alike, share: coverage of each rule | fieller is empty | mean upper limit where the estimate is below 0")
    for epsilon in (2, 6):
        for alike in (0, 0.15):
            for share in (0, 0.02, 0.05, 0.1, 0.2):
                found = [intervals(drawn(500, epsilon, share, alike), epsilon) for _ in range(max(1, surveys // 500))]
                ratio = np.concatenate([ratio for ratio, _ in found])
                held = {rule: np.concatenate([own[rule] for _, own in found]) for rule in RULES}
                at, below = np.argmin(abs(GRID - share)), ratio < 0
                covers = ", ".join(f"{100 * held[rule][:, at].mean():.1f}" for rule in RULES)
                upper = lambda inside: np.where(inside.any(axis=1), GRID[len(GRID) - 1 - inside[:, ::-1].argmax(axis=1)], 0)
                means = ", ".join(f"{upper(held[rule])[below].mean():.3f}" if below.any() else "-" for rule in RULES)
                empty = 100 * (~held["fieller"].any(axis=1)).mean()
                print(f"{epsilon}, {alike}, {share}: {covers} | {empty:.1f} | {means}", flush=True)


main()
