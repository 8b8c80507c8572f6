"""What one would use instead of candor for k-ary randomized response: 16 categories, epsilon 4, one core.

Prints one JSON object per line. Without arguments; needs the packages of requirements.txt.
"""

import os

for threads in ("OMP", "OPENBLAS", "MKL", "NUMBA", "RAYON"):
    os.environ[threads + "_NUM_THREADS"] = "1"
os.environ["POLARS_MAX_THREADS"] = "1"

import json
from importlib.metadata import version
from math import ceil, exp
from time import process_time

CATEGORIES = 16
EPSILON = 4.0
KEEP = exp(EPSILON) / (exp(EPSILON) + CATEGORIES - 1)
# The same channel said differently: with this probability the answer is uniform over all categories, else the truth.
REPLACE = CATEGORIES / (exp(EPSILON) + CATEGORIES - 1)
VALUES = 1 << 20


def report(peer, package, generator, measure):
    """Prints the line of a peer; `measure` gives (values, CPU seconds, observed keep share, expected keep share)."""
    try:
        values, seconds, kept, expected = measure()
        line = {
            "peer": peer,
            "version": version(package),
            "values": values,
            "cpu_seconds": round(seconds, 6),
            "values_per_cpu_second": round(values / seconds),
            "generator": generator,
            "check": {"kept": round(float(kept), 5), "expected": round(expected, 5)},
        }
    except Exception as error:
        line = {"peer": peer, "error": f"{type(error).__name__}: {error}"}
    print(json.dumps(line), flush=True)


def whole_column(randomize, passes, expected=KEEP):
    """Best of 5 timings of `passes` passes over a column of u8 codes, for `randomize(truths, answers)`."""
    import numpy as np

    truths = (np.arange(VALUES) * 7919 % CATEGORIES).astype(np.uint8)
    answers = np.empty_like(truths)
    randomize(truths, answers)  # warm-up; compiles in the case of numba
    seconds = []
    for _ in range(5):
        start = process_time()
        for _ in range(passes):
            randomize(truths, answers)
        seconds.append(process_time() - start)
    return VALUES * passes, min(seconds), (answers == truths).mean(), expected


def value_by_value(randomize):
    """About 1.5 seconds of calls of `randomize(truth)`."""
    truths = [i * 7919 % CATEGORIES for i in range(2000)]
    values, seconds, kept = 0, 0.0, 0
    [randomize(truth) for truth in truths]  # warm-up
    while seconds < 1.5:
        start = process_time()
        answers = [randomize(truth) for truth in truths]
        seconds += process_time() - start
        values += len(truths)
        kept += sum(answer == truth for answer, truth in zip(answers, truths))
    return values, seconds, kept / values, KEEP


def with_numpy(words, exact):
    """Hand-tuned numpy; `words()` gives the function that draws n random u64.

    As 16 is a power of two, truth XOR (uniform four bits) is a uniform answer. Per value: a random byte, below
    256 * REPLACE if the answer is replaced, and four random bits. With `exact` the one byte value that the threshold
    cuts through is settled by 64 more bits; without, the threshold is rounded up, and epsilon is 3.997 instead of 4.
    """
    import numpy as np

    draw = words()
    block = 1 << 17  # Five arrays of this many bytes or so: in the second-level cache.
    replace, low = np.empty(block, bool), np.uint64(0x0F0F0F0F0F0F0F0F)
    offset = np.empty(block, np.uint8)
    first, second = offset.view(np.uint64).reshape(2, -1)
    limit = np.uint8(ceil(REPLACE * 256))
    cut, rest = np.uint8(REPLACE * 256), np.uint64(REPLACE * 256 % 1 * 2**64)

    def randomize(truths, answers):
        for start in range(0, len(truths), block):
            random = draw(block * 3 // 16)
            coin, nibbles = random[: block // 8].view(np.uint8), random[block // 8 :]
            np.bitwise_and(nibbles, low, out=first)
            np.right_shift(nibbles, np.uint64(4), out=second)
            np.bitwise_and(second, low, out=second)
            np.less(coin, limit, out=replace)
            if exact:
                unsettled = np.flatnonzero(coin == cut)
                replace[unsettled] = draw(len(unsettled)) < rest
            np.multiply(offset, replace.view(np.uint8), out=offset)
            np.bitwise_xor(truths[start : start + block], offset, out=answers[start : start + block])

    probability = REPLACE if exact else int(limit) / 256
    return whole_column(randomize, 16, 1 - probability + probability / CATEGORIES)


def pcg64():
    from numpy.random import PCG64

    return PCG64().random_raw


def sfc64():
    from numpy.random import SFC64

    return SFC64().random_raw


def system():
    import numpy as np

    return lambda n: np.frombuffer(os.urandom(8 * n), np.uint64)


def aes_ctr():
    import numpy as np
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

    cipher = Cipher(algorithms.AES(os.urandom(32)), modes.CTR(os.urandom(16))).encryptor()
    zeros = memoryview(bytes(1 << 18))
    return lambda n: np.frombuffer(cipher.update(zeros[: 8 * n]), np.uint64)


def grr_client():
    from multi_freq_ldpy.pure_frequency_oracles.GRR import GRR_Client

    return value_by_value(lambda truth: GRR_Client(truth, CATEGORIES, EPSILON))


def grr_client_compiled():
    from multi_freq_ldpy.pure_frequency_oracles.GRR import GRR_Client
    from numba import njit

    @njit
    def randomize(truths, answers):
        for i in range(len(truths)):
            answers[i] = GRR_Client(truths[i], CATEGORIES, EPSILON)

    return whole_column(randomize, 4)


def pure_ldp():
    from pure_ldp.frequency_oracles.direct_encoding import DEClient

    client = DEClient(epsilon=EPSILON, d=CATEGORIES)
    return value_by_value(lambda truth: client.privatise(truth + 1))  # its data begin at 1, its answers at 0


def opendp():
    import opendp.prelude as dp

    dp.enable_features("contrib")
    return value_by_value(dp.m.make_randomized_response(list(range(CATEGORIES)), KEEP))


for generator, words in {"SFC64": sfc64, "PCG64": pcg64, "os.urandom": system, "AES-256-CTR": aes_ctr}.items():
    report("numpy, rounded to 8 bits", "numpy", generator, lambda: with_numpy(words, exact=False))
    report("numpy", "numpy", generator, lambda: with_numpy(words, exact=True))
report("multi-freq-ldpy GRR_Client", "multi-freq-ldpy", "MT19937", grr_client)
report("multi-freq-ldpy GRR_Client in a numba loop", "multi-freq-ldpy", "MT19937", grr_client_compiled)
report("pure-ldp DEClient", "pure-ldp", "MT19937", pure_ldp)
report("OpenDP make_randomized_response", "opendp", "OpenDP's own, cryptographic", opendp)
