"""Lower bounds on the epsilon of twelve mechanisms of multi-freq-ldpy and pure-ldp, whose epsilon is known, by `candor audit --program`; and by
the method of LDP-Auditor (Arcolezi and Gambs 2023) from the same answers: its event is that a guess drawn from what an answer supports is
the first value, its confidence 99% for that event.

pip install -r audit-requirements.txt, then: CANDOR=path/to/candor python audit.py [draws [mechanism ...]]
CANDOR=path/to/candor python audit.py coverage [audits]: how often a bound from 2,000 draws is above the truth.
With pure-ldp 1.1.2: python audit.py 100000 "pure-ldp SUE" "pure-ldp OUE" finds the flaw of its unary encoding (its issue 11).
Of answers with a hash, the client prints which values they support: what is computed from an answer has at most its epsilon.
"""

from __future__ import annotations

import json
import math
import os
import random
import subprocess
import sys
import tempfile
import time

EPSILON, SIZE = 1.0, 5
FIRST, LAST = 0, SIZE - 1
MECHANISMS = [
    "multi-freq GRR", "multi-freq SUE", "multi-freq OUE", "multi-freq SS", "multi-freq BLH", "multi-freq OLH", "multi-freq THE",
    "multi-freq SHE", "pure-ldp DE", "pure-ldp SUE", "pure-ldp OUE", "pure-ldp HR",
]  # fmt: skip

# What a threshold at 3/4 leaves of the epsilon of the noise, whose scale is 2 / epsilon.
KEPT, SET = 1 - math.exp(-EPSILON / 8) / 2, math.exp(-3 * EPSILON / 8) / 2
TRUTH = {"multi-freq THE": math.log(KEPT * (1 - SET) / (SET * (1 - KEPT)))}


def multi_freq(name: str):
    import numpy as np
    from multi_freq_ldpy.pure_frequency_oracles.GRR import GRR_Client
    from multi_freq_ldpy.pure_frequency_oracles.HE import HE_Client
    from multi_freq_ldpy.pure_frequency_oracles.LH import LH_Client
    from multi_freq_ldpy.pure_frequency_oracles.SS import SS_Client
    from multi_freq_ldpy.pure_frequency_oracles.UE import UE_Client
    import xxhash

    def hashed(answer, g):
        value, seed = answer
        return [v for v in range(SIZE) if xxhash.xxh32(str(v), seed=seed).intdigest() % g == value]

    bits = lambda answer: ("".join(str(int(bit)) for bit in answer), [v for v in range(SIZE) if answer[v] == 1])
    subset = lambda values: (" ".join(map(str, values)), values)

    def noisy(answer):
        return " ".join(f"{x:.6f}" for x in answer), [max(range(SIZE), key=lambda v: answer[v])]

    g = max(2, int(round(math.exp(EPSILON))) + 1)
    clients = {
        "GRR": lambda v: (lambda a: (str(int(a)), [int(a)]))(GRR_Client(v, SIZE, EPSILON)),
        "SUE": lambda v: bits(UE_Client(v, SIZE, EPSILON, False)),
        "OUE": lambda v: bits(UE_Client(v, SIZE, EPSILON, True)),
        "SS": lambda v: subset([int(x) for x in SS_Client(v, SIZE, EPSILON)]),
        "BLH": lambda v: subset(hashed(LH_Client(v, SIZE, EPSILON, False), 2)),
        "OLH": lambda v: subset(hashed(LH_Client(v, SIZE, EPSILON, True), g)),
        # Thresholds are taken of what is sent by the server; here by the client, at 3/4.
        "THE": lambda v: bits(np.array(HE_Client(v, SIZE, EPSILON)) > 0.75),
        "SHE": lambda v: noisy(HE_Client(v, SIZE, EPSILON)),
    }
    return clients[name]


def pure_ldp(name: str):
    from pure_ldp.frequency_oracles.direct_encoding import DEClient
    from pure_ldp.frequency_oracles.hadamard_response import HadamardResponseClient, HadamardResponseServer
    from pure_ldp.frequency_oracles.unary_encoding import UEClient

    index = lambda v: v
    if name == "DE":
        client = DEClient(EPSILON, SIZE, index)
        return lambda v: (lambda a: (str(int(a)), [int(a)]))(client.privatise(v))
    if name == "HR":
        server = HadamardResponseServer(EPSILON, SIZE, index)
        client = HadamardResponseClient(EPSILON, SIZE, server.get_hash_funcs(), index)
        return lambda v: (str(client.privatise(v)), [])
    client = UEClient(EPSILON, SIZE, use_oue=name == "OUE", index_mapper=index)
    return lambda v: (lambda a: ("".join(map(str, a)), [i for i in range(SIZE) if a[i] == 1]))(client.privatise(v))


def client(mechanism: str, tally: str) -> None:
    """Answers line by line; in the end, writes how often the guess was the first value."""
    package, name = mechanism.split()
    randomize = (multi_freq if package == "multi-freq" else pure_ldp)(name)
    guessed, asked = {FIRST: 0, LAST: 0}, {FIRST: 0, LAST: 0}
    for line in sys.stdin:
        truth = int(line)
        answer, supported = randomize(truth)
        guess = random.choice(supported) if supported else random.randrange(SIZE)
        guessed[truth] += guess == FIRST
        asked[truth] += 1
        print(answer)
    with open(tally, "w") as file:
        json.dump([guessed[FIRST], asked[FIRST], guessed[LAST], asked[LAST]], file)


def peer(hits: int, draws: int, other: int, other_draws: int) -> float:
    """Two limits by Clopper and Pearson at 0.005 in total each, as LDP-Auditor takes them."""
    from scipy.stats import beta

    low = beta.ppf(0.0025, hits, draws - hits + 1)
    high = beta.ppf(0.9975, other + 1, other_draws - other)
    return max(0.0, math.log(low / high))


def main(draws: int, mechanisms: list[str]) -> None:
    import importlib.metadata as metadata

    candor = os.environ.get("CANDOR", "candor")
    versions = ", ".join(f"{name} {metadata.version(name)}" for name in ("multi-freq-ldpy", "pure-ldp"))
    print(f"{versions}; {SIZE} values, epsilon {EPSILON:g}, {draws:,} draws of values {FIRST} and {LAST} together\n")
    print("| mechanism | true epsilon | candor (95%) | of the truth | LDP-Auditor's method (99%) | event | seconds |\n|" + "---|" * 7)
    for mechanism in mechanisms:
        with tempfile.TemporaryDirectory() as folder:
            tally = os.path.join(folder, "tally.json")
            program = f'{sys.executable} {os.path.abspath(__file__)} client "{mechanism}" {tally}'
            begun = time.time()
            said = subprocess.run(
                [candor, "audit", "--program", program, "--truths", f"{FIRST},{LAST}", "--draws", str(draws), "--json",
                 "--time-limit", "7200"], capture_output=True, text=True, check=True,
            )  # fmt: skip
            seconds = time.time() - begun
            found = json.loads(said.stdout)
            bound = found["lower_bound"]
            with open(tally) as file:
                other = peer(*json.load(file))
            event = (found["event"] or "")[:60]
            truth = TRUTH.get(mechanism, EPSILON)
            row = [mechanism, f"{truth:.4f}", f"{bound:.4f}", f"{100 * bound / truth:.1f}%", f"{other:.4f}", event, f"{seconds:.0f}"]
            print(f"| {' | '.join(row)} |", flush=True)


def coverage(audits: int, mechanisms: list[str], draws: int = 2_000) -> None:
    """Draws are made beforehand, because the packages take longer to load than an audit takes; awk gives them out."""
    candor = os.environ.get("CANDOR", "candor")
    print(f"{audits} audits of each mechanism, {draws:,} draws each\n")
    print("| mechanism | confidence | bounds above the truth | allowed | mean bound |\n" + "|---" * 5 + "|")
    for mechanism in mechanisms:
        package, name = mechanism.split()
        randomize = (multi_freq if package == "multi-freq" else pure_ldp)(name)
        for confidence in (0.5, 0.95):
            bounds = []
            for _ in range(audits):
                with tempfile.TemporaryDirectory() as folder:
                    for truth in (FIRST, LAST):
                        with open(os.path.join(folder, str(truth)), "w") as file:
                            file.writelines(randomize(truth)[0] + "\n" for _ in range(draws // 2 + 1))
                    program = f"""awk '{{ getline answer < ("{folder}/" $1); print answer }}'"""
                    said = subprocess.run(
                        [candor, "audit", "--program", program, "--truths", f"{FIRST},{LAST}", "--draws", str(draws),
                         "--confidence", str(confidence), "--json"], capture_output=True, text=True, check=True,
                    )  # fmt: skip
                    bounds.append(json.loads(said.stdout)["lower_bound"])
            above = sum(bound > TRUTH.get(mechanism, EPSILON) for bound in bounds)
            row = [mechanism, f"{confidence:.0%}", f"{above} of {audits}", f"{(1 - confidence) * audits:.0f}", f"{sum(bounds) / audits:.3f}"]
            print(f"| {' | '.join(row)} |", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["client"]:
        client(sys.argv[2], sys.argv[3])
    elif sys.argv[1:2] == ["coverage"]:
        coverage(int(sys.argv[2]) if len(sys.argv) > 2 else 500, ["multi-freq GRR", "multi-freq SUE", "multi-freq SS", "pure-ldp HR"])
    else:
        main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000, sys.argv[2:] or MECHANISMS)
