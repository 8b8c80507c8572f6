"""Reads a file of benches/results that was made with --peers, and prints how many times faster candor was in that run.

Usage: ratios.py FILE. Only lines that are there are compared.
"""

import json
import re
import sys

UNITS = {"ns": 1e-9, "µs": 1e-6, "ms": 1e-3, "s": 1.0}
SCALES = {"K": 1e3, "M": 1e6, "G": 1e9, "": 1.0}
lines = open(sys.argv[1], encoding="utf-8").read().splitlines()
peers = {}
for line in lines:
    if line.startswith("{"):
        found = json.loads(line)
        peers.setdefault(found["peer"], found)
        if found.get("generator"):
            peers.setdefault((found["peer"], found["generator"]), found)


def ours(name, group=None):
    """Fastest time in seconds and items per second of one of our benchmarks; the time may be on the line below its name."""
    begin = next((i for i, line in enumerate(lines) if group and re.search(rf"─ {re.escape(group)}\s", line)), 0)
    for i in range(begin, len(lines)):
        if re.search(rf"─ {re.escape(name)}\s", lines[i]):
            near = " ".join(lines[i : i + 3])
            time = re.search(r"([\d.]+) (ns|µs|ms|s)\s+│", near)
            rate = re.search(r"([\d.]+) ([KMG]?)item/s", near)
            return (
                float(time[1]) * UNITS[time[2]] if time else None,
                float(rate[1]) * SCALES[rate[2]] if rate else None,
            )
    return None, None


def row(task, candor, peer, shown):
    if candor and peer:
        times = candor / peer[1] if shown is per_second else peer[1] / candor
        print(f"| {task} | {shown(candor)} | {peer[0]}: {shown(peer[1])} | {number(times)} |")


def number(value):
    return f"{value:,.0f}" if value >= 99.5 else f"{value:.2g}"


def rate(peer):
    found = peers.get(peer)
    return found and found.get("values_per_cpu_second") and (peer if isinstance(peer, str) else ", ".join(peer), found["values_per_cpu_second"])


def seconds(peer):
    found = peers.get(peer)
    return found and found.get("cpu_seconds") and (peer, found["cpu_seconds"])


def per_second(value):
    return f"{number(value / 1e6)} M/s"


def milliseconds(value):
    return f"{number(value * 1e3)} ms"


print("| task, one core | candor | instead | times faster |")
print("|---|---|---|---|")
k_ary = ours("(16, 4.0)", "k_ary_column")[1]
for peer in [("numpy", "SFC64"), ("numpy", "AES-256-CTR"), ("numpy", "os.urandom"), "multi-freq-ldpy GRR_Client in a numba loop",
             "multi-freq-ldpy GRR_Client", "pure-ldp DEClient", "OpenDP make_randomized_response"]:
    row("k-ary randomized response, 16 categories", k_ary, rate(peer), per_second)
row("sets of 10 of 100 categories", ours('("l-diversity", 100, 10)')[1], rate("multi-freq-ldpy SS_Client"), per_second)
row("counting one-way tables of 8 attributes", ours("count_marginals")[1], rate("numpy.bincount, marginals"), per_second)
row("counting all pairs of 8 attributes", ours("count_pairs")[1], rate("numpy.bincount, pairs"), per_second)
for peer in ["numpy, raking over records", "ipfn"]:
    row("raking 32,561 records of 8 attributes to 1e-6", ours("rake_records")[0], seconds(peer), milliseconds)
for line in lines:
    found = re.match(r"\s+k = (\d+), epsilons ([\d.]+) to ([\d.]+): [\d.]+ in ([\d.]+) s", line)
    if found:
        k, low, high, time = found.groups()
        row(f"optimum of {k} attributes, epsilons {low} to {high}", ours(f"({k}, {low}, {high})", "optimum")[0], ("HiGHS (scipy)", float(time)), milliseconds)
