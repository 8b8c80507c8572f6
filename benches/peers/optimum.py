"""The linear program of Yamamoto and Shibuya 2024 (2^k unknowns), written sparsely, in scipy's HiGHS: what candor's optimum is compared with.

The instances are those of crates/candor-design/benches/joint.rs.
"""

import time

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_matrix, hstack, vstack


def instance(k, low, high):
    """Numbers of categories and epsilons by xorshift, as in the benchmark."""
    state = 12_345
    mask = (1 << 64) - 1

    def uniform():
        nonlocal state
        state ^= (state << 13) & mask
        state ^= state >> 7
        state ^= (state << 17) & mask
        return (state >> 11) / float(1 << 53)

    sizes = [2 + int(4.0 * uniform()) for _ in range(k)]
    epsilons = [low + (high - low) * uniform() for _ in range(k)]
    return np.array(sizes, float), np.array(epsilons)


def optimum(sizes, epsilons):
    """Minimises the top of 1 <= x_S <= top such that every level is met, with P_S x_S as unknowns."""
    k = len(sizes)
    patterns = np.arange(1 << k)
    misses = (patterns[:, None] >> np.arange(k)) & 1
    probability = np.prod(np.where(misses == 1, 1 - 1 / sizes, 1 / sizes), axis=1)
    odds = np.exp(epsilons) / (sizes - 1)
    # Unknowns: u_S = x_S - 1 in 0 .. top - 1, and top - 1 itself, which bounds them.
    rows = np.where(misses == 1, -odds, 1.0) * probability[:, None]
    need = (np.exp(epsilons) - 1) / sizes
    scale = need[:, None]
    levels = csr_matrix(-rows.T / scale)
    levels = hstack([levels, csr_matrix((k, 1))])
    identity = csr_matrix((np.ones(1 << k), (patterns, patterns)), shape=(1 << k, 1 << k))
    bounds = hstack([identity, csr_matrix(-np.ones((1 << k, 1)))])
    cost = np.zeros((1 << k) + 1)
    cost[-1] = 1
    above = vstack([levels, bounds]).tocsr()
    right = np.concatenate([-np.ones(k), np.zeros(1 << k)])
    started = time.process_time()
    found = linprog(cost, A_ub=above, b_ub=right, bounds=(0, None), method="highs")
    return np.log1p(found.fun), time.process_time() - started


def main():
    print("the linear program of 2^k unknowns in HiGHS (scipy), CPU seconds")
    for k, low, high in [(10, 0.2, 2.0), (12, 0.2, 2.0), (12, 1.0, 10.0), (14, 0.2, 2.0)]:
        epsilon, seconds = optimum(*instance(k, low, high))
        print(f"  k = {k}, epsilons {low} to {high}: {epsilon:.6f} in {seconds:.3f} s")


main()
