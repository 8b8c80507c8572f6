"""What one would use instead of candor to search square matrices: pymoo's NSGA-II and SPEA2.

Ten categories, normal prior on [-3, 3], posterior bound 0.75, 10,000 respondents, one core. Prints one JSON object per line: the
hypervolume (privacy in [0, 1], decimal logarithm of utility in [-6, 0], from (0, 0)) after 60 seconds of CPU, or as many as the first argument says.
"""

import os

for threads in ("OMP", "OPENBLAS", "MKL"):
    os.environ[threads + "_NUM_THREADS"] = "1"

import json
import sys
from importlib.metadata import version
from math import erf, sqrt
from time import process_time

CATEGORIES = 10
BOUND = 0.75
RESPONDENTS = 10_000


def prior():
    import numpy as np

    edges = [-3 + 6 * i / CATEGORIES for i in range(CATEGORIES + 1)]
    law = np.diff([0.5 * (1 + erf(x / sqrt(2))) for x in edges])
    return law / law.sum()


def objectives(cells):
    """(1 - privacy, log10 utility) of many matrices at once; columns are inputs.

    The fourth power makes sharp columns as easy to reach as flat ones. What breaks the bound is mixed with the channel that tells
    nothing as far as it takes: pymoo does far better with this repair than with the bound as a constraint.
    """
    import numpy as np

    shares = prior()
    matrices = cells.reshape(-1, CATEGORIES, CATEGORIES) ** 4 + 1e-12
    matrices = matrices / matrices.sum(axis=1, keepdims=True)
    law = (matrices * shares).sum(axis=2)
    posterior = matrices * shares / law[:, :, None]
    part = np.clip((posterior - BOUND) / (posterior - shares + 1e-300), 0, None)
    part = np.where(posterior > BOUND, part, 0).max(axis=(1, 2))[:, None, None]
    matrices = matrices + part * (law[:, :, None] - matrices)
    accuracy = (matrices * shares).max(axis=2).sum(axis=1)
    utility = np.full(len(matrices), 1e3)
    regular = np.abs(np.linalg.det(matrices)) > 1e-14
    inverse = np.linalg.inv(matrices[regular])
    variance = np.einsum("mki,mi->m", inverse**2, law[regular]) - (shares**2).sum()
    utility[regular] = variance / (RESPONDENTS * CATEGORIES)
    return accuracy, np.log10(np.clip(utility, 1e-12, 1e3))


def hypervolume(points):
    area, deepest = 0.0, 0.0
    points = sorted(((p, -min(max(u, -6.0), 0.0)) for p, u in points if p > 0), reverse=True)
    for i, (privacy, depth) in enumerate(points):
        deepest = max(deepest, depth)
        area += deepest * (privacy - (points[i + 1][0] if i + 1 < len(points) else 0.0))
    return area


def search(name, seconds):
    import numpy as np
    from pymoo.algorithms.moo.nsga2 import NSGA2
    from pymoo.algorithms.moo.spea2 import SPEA2
    from pymoo.core.problem import Problem

    class Front(Problem):
        def __init__(self):
            super().__init__(n_var=CATEGORIES**2, n_obj=2, xl=0.0, xu=1.0)

        def _evaluate(self, x, out, *args, **kwargs):
            out["F"] = np.column_stack(objectives(x))

    algorithm = {"NSGA2": NSGA2, "SPEA2": SPEA2}[name](pop_size=100)
    algorithm.setup(Front(), seed=1, termination=("n_gen", 10**9), verbose=False)
    start = process_time()
    while process_time() - start < seconds:
        algorithm.next()
    spent = process_time() - start
    found = [(1 - f[0], f[1]) for f in algorithm.opt.get("F")]
    return {
        "peer": f"pymoo {name}",
        "version": version("pymoo"),
        "cpu_seconds": round(spent, 1),
        "evaluations": int(algorithm.evaluator.n_eval),
        "evaluations_per_cpu_second": round(algorithm.evaluator.n_eval / spent),
        "hypervolume": round(hypervolume(found), 4),
    }


for name in ("NSGA2", "SPEA2"):
    try:
        line = search(name, float(sys.argv[1]) if len(sys.argv) > 1 else 60.0)
    except Exception as error:
        line = {"peer": f"pymoo {name}", "error": f"{type(error).__name__}: {error}"}
    print(json.dumps(line), flush=True)
