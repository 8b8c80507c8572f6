#!/usr/bin/env python3
"""Holds the command and the JavaScript client to brute force in exact fractions.

    python3 fuzz/attack.py target/release/candor --schemas 40 --seed 1

Nothing of candor's code is used: channels are read from the plan files as docs/reference/plan.md and sampling-algorithm.md describe
them, every possible record and every response is written out, and likelihoods are fractions. Three subjects:

plans   random schemas (chains of conditions, siblings, public parents, missing categories, crossings) under every method:
        no number that `audit` states or prints may promise more than what is true;
forged  the same plans with lowered claims, or with changed integers and the fingerprint that goes with them: the command and
        the client (`readPlan`, where Node is installed) accept none that states too little; and garbled plans, of which the
        client accepts none that the command refuses;
files   responses as CSV and Parquet with changed bytes: a result or an error, never a panic or a hang.

Prints how many cases there were, also when it is ended early (Ctrl-C), and exits with 1 if one of them failed.
"""

import argparse
import copy
import hashlib
import itertools
import json
import math
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from decimal import Decimal, getcontext
from fractions import Fraction
from math import comb, lcm, prod

MOST = 1 << 17  # numbers of one plan: records times responses
SLACK = 1e-12  # criteria computed in floats may be off by this much, and say so
METHODS = ["independent", "joint", "minimax", "sampling", "workload", "optimal", "clusters", "l-diversity", "heuristic"]
getcontext().prec = 50
HERE = os.path.dirname(os.path.abspath(__file__))


class Attack:
    def __init__(self, command, seed, folder):
        self.command, self.chance, self.folder = os.path.abspath(command), random.Random(seed), folder
        self.counts, self.failures = {}, []

    def count(self, what, number=1):
        self.counts[what] = self.counts.get(what, 0) + number

    def fail(self, sentence):
        self.failures.append(sentence)
        print("FAILED:", sentence, flush=True)

    def run(self, *words, timeout=120):
        """Exit code, output and errors; a panic, a signal or a hang is a failure."""
        try:
            done = subprocess.run([self.command, *words], cwd=self.folder, capture_output=True, timeout=timeout)
        except subprocess.TimeoutExpired:
            self.fail(f"{words}: no end after {timeout} s")
            return 124, "", ""
        out, err = done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")
        if done.returncode not in (0, 1, 2) or "panicked" in err:
            self.fail(f"{words}: exit {done.returncode}: {err[:300]}")
        return done.returncode, out, err

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        with open(self.path(name), "wb" if isinstance(text, bytes) else "w") as file:
            file.write(text)


# Schemas


def conditional_schema(chance):
    """Attributes asked under conditions on others; one or two such components."""
    if chance.random() < 0.3:
        return component_schema(chance, "q", 2) + component_schema(chance, "r", 2)
    return component_schema(chance, "q", chance.randint(2, 4))


def component_schema(chance, letter, attributes):
    text, labels, public = "", [], []
    for a in range(attributes):
        own = [f"c{c}" for c in range(chance.randint(2, 3))] + [""] * (chance.random() < 0.25)
        parent = chance.randrange(a) if a and chance.random() < 0.8 else None
        is_public = chance.random() < 0.2 and (parent is None or public[parent])
        text += f'[[attribute]]\nname = "{letter}{a}"\npublic = {str(is_public).lower()}\ncategories = {json.dumps(own)}\n'
        if parent is not None:
            asks = [label for label in labels[parent] if chance.random() < 0.5] or [labels[parent][0]]
            text += f'asked_if = {{ attribute = "{letter}{parent}", categories = {json.dumps(asks)} }}\n'
            own = own + ["(not asked)"]
        labels.append(own)
        public.append(is_public)
    if all(public):
        text += f'[[attribute]]\nname = "{letter}more"\ncategories = ["0", "1"]\n'
    return text


def crossed_schema(chance):
    """Attributes beside their crossings."""
    a, b = [f"a{i}" for i in range(chance.randint(2, 3))], ["b0", "b1"]
    both = [f"{x}*{y}" for x in a for y in b]
    parts = [("A*B", both)] + [("A", a)] * (chance.random() < 0.7) + [("B", b)] * (chance.random() < 0.5)
    parts += [("free", ["f0", "f1"])] * (chance.random() < 0.7)
    chance.shuffle(parts)
    return "".join(f'[[attribute]]\nname = "{name}"\ncategories = {json.dumps(own)}\n' for name, own in parts)


class Records:
    """What a schema, as it stands in a plan, lets people be."""

    def __init__(self, schema):
        self.attributes = schema["attributes"]
        self.names = [attribute["name"] for attribute in self.attributes]
        self.sizes = [len(attribute["categories"]) for attribute in self.attributes]
        self.public = [attribute.get("public", False) for attribute in self.attributes]
        self.all = list(itertools.product(*map(range, self.sizes)))
        self.possible = [record for record in self.all if self.is_possible(record)]

    def label(self, record, a):
        return self.attributes[a]["categories"][record[a]]

    def is_possible(self, record):
        columns = {}
        for a, attribute in enumerate(self.attributes):
            if "asked_if" in attribute:
                parent = self.names.index(attribute["asked_if"]["attribute"])
                asked = self.label(record, parent) in attribute["asked_if"]["categories"]
                if asked == (self.label(record, a) == "(not asked)"):
                    return False
            parts = self.names[a].split("*")
            labels = self.label(record, a).split("*") if len(parts) > 1 else [self.label(record, a)]
            for column, label in zip(parts, labels):
                if columns.setdefault(column, label) != label:
                    return False
        return True

    def component(self, attribute, through_public=True):
        def tied(a, b):
            if not through_public and (self.public[a] or self.public[b]):
                return False
            parent = self.attributes[a].get("asked_if", {}).get("attribute")
            return parent == self.names[b] or bool(set(self.names[a].split("*")) & set(self.names[b].split("*")))

        found = {attribute}
        while True:
            more = {b for b in range(len(self.names)) for a in found if tied(a, b) or tied(b, a)} - found
            if not more:
                return found
            found |= more


# Channels, as docs/reference/plan.md and sampling-algorithm.md have them


def in_set(described, missed, count):
    """Whether a pattern, as the set of places that miss, is in a set of patterns."""
    if described == "all":
        return True
    (kind, value), = described.items()
    if kind == "only":
        return missed == set(value)
    if kind == "hits":
        return not missed & set(value)
    if kind == "threshold":
        return sum(int(value["weights"][i]) for i in missed) <= int(value["limit"])
    number = sum(1 << i for i in missed)
    return bytes.fromhex(value)[number // 8] >> number % 8 & 1 == 1


def pattern_law(pattern):
    """Likelihoods of all answers for every combination of the block's categories."""
    sizes, takes = pattern["categories"], pattern["answer_sizes"]
    k = len(sizes)
    hits = [comb(a - 1, q - 1) for a, q in zip(sizes, takes)]
    misses = [comb(a - 1, q) for a, q in zip(sizes, takes)]
    patterns = [frozenset(i for i in range(k) if n >> i & 1) for n in range(1 << k)]
    ways = {s: prod(misses[i] if i in s else hits[i] for i in range(k)) for s in patterns}
    weights = [int(part["weight"]) for part in pattern["parts"]]
    single = dict.fromkeys(patterns, Fraction(0))
    for part, weight in zip(pattern["parts"], weights):
        inside = [s for s in patterns if ways[s] and in_set(part["set"], set(s), k)]
        answers = sum(ways[s] for s in inside)
        for s in inside:
            single[s] += Fraction(weight, sum(weights) * answers)
    for i, weight in enumerate(pattern.get("resampling", [])):
        share = Fraction(int(weight), 1 << 64)
        # Of all answers about the attribute, how many hit: what an answer had, whatever it was about this attribute, is spread evenly.
        def spread(s):
            without, with_ = s - {i}, s | {i}
            return (hits[i] * single[without] + misses[i] * single[with_]) / (hits[i] + misses[i])
        single = {s: (1 - share) * single[s] + share * spread(s) for s in patterns}
    sets = [list(itertools.combinations(range(a), q)) for a, q in zip(sizes, takes)]
    answers = list(itertools.product(*sets))
    cells = itertools.product(*map(range, sizes))
    return [[single[frozenset(i for i in range(k) if x[i] not in z[i])] for z in answers] for x in cells]


def matrix_law(matrix):
    return [[Fraction(int(n), sum(map(int, column))) for n in column] for column in matrix["columns"]]


def strip_law(strip, sizes):
    """The same of a strip, over all attributes of its block."""
    places, table = strip["attributes"], strip["categories"]
    cells = list(itertools.product(*map(range, table)))
    common = lcm(*table)
    if isinstance(strip["cells"], dict):
        base = [cells[number] for number in strip["cells"]["listed"]]
    elif isinstance(strip["cells"], list):
        base = [cell for cell in cells if all(x < q for x, q in zip(cell, strip["cells"]))]
    else:
        order = sorted(cells, key=lambda cell: sum(x * common // a for x, a in zip(cell, table)) % common)
        base = order[: strip["cells"]]
    if prod(math.factorial(a) for a in table) > 20_000:
        return None
    relabelled = itertools.product(*(itertools.permutations(range(a)) for a in table))
    answers = {frozenset(tuple(way[x] for way, x in zip(ways, cell)) for cell in base) for ways in relabelled}
    hit, everything = int(strip["hit"]), int(strip["all"])
    low = Fraction(everything, len(answers) * (hit + everything))
    high = low + Fraction(hit * len(cells), len(base) * len(answers) * (hit + everything))
    block = itertools.product(*map(range, sizes))
    return [[high if tuple(x[i] for i in places) in z else low for z in answers] for x in block]


def block_law(block, records):
    members = [records.names.index(name) for name in block["attributes"]]
    sizes = [records.sizes[a] for a in members]
    rows = [[] for _ in range(prod(sizes))]
    total = sum(int(entry["weight"]) for entry in block["lottery"])
    for entry in block["lottery"]:
        (kind, channel), = entry["channel"].items()
        law = strip_law(channel, sizes) if kind == "strip" else {"pattern": pattern_law, "matrix": matrix_law}[kind](channel)
        if law is None:
            return None
        for row, more in zip(rows, law):
            row.extend(Fraction(int(entry["weight"]), total) * p for p in more)
    # Responses that are proportional tell the same: together they are one.
    merged = {}
    for column in zip(*rows):
        if scale := sum(column):
            key = tuple(p / scale for p in column)
            merged[key] = merged.get(key, 0) + scale
    rows = [[key[x] * scale for key, scale in merged.items()] for x in range(len(rows))]
    return members, sizes, rows


def ratio(row, other):
    """The largest ratio of likelihoods of one response; None if unbounded."""
    largest = Fraction(1)
    for p, q in zip(row, other):
        if p > 0 and q == 0:
            return None
        if p > q * largest:
            largest = p / q
    return largest


class Truth:
    """What is true of a plan, in fractions; `known` unless that is more numbers than `most`."""

    def __init__(self, plan, most=MOST):
        self.records = records = Records(plan["schema"])
        laws = [block_law(block, records) for block in plan["blocks"]]
        self.known = None not in laws
        if not self.known:
            return
        size = len(records.possible)
        for _, _, rows in laws:
            size *= len(rows[0])
        self.known = size <= most
        self.laws = laws
        self.ratios = [[[ratio(x, y) for y in rows] for x in rows] for _, _, rows in laws]

    def cell(self, block, record):
        members, sizes, _ = self.laws[block]
        cell = 0
        for a, n in zip(members, sizes):
            cell = cell * n + record[a]
        return cell

    def largest(self, records, same):
        """The largest ratio between two of these records of which `same` gives the same."""
        groups = {}
        for record in records:
            cells = tuple(self.cell(block, record) for block in range(len(self.laws)))
            groups.setdefault(same(record), set()).add(cells)
        worst = Fraction(1)
        for group in groups.values():
            for x, y in itertools.permutations(group, 2):
                ratios = [of[i][j] for of, i, j in zip(self.ratios, x, y)]
                if None in ratios:
                    return None
                worst = max(worst, prod(ratios, start=Fraction(1)))
        return worst

    def epsilon(self):
        return self.largest(self.records.all, lambda record: 0)

    def conditional(self, tied):
        return self.largest(self.records.possible, lambda record: tuple(c for a, c in enumerate(record) if a not in tied))

    def conditional_of_client(self, attribute):
        """The client takes public answers for known (clients/javascript/README.md): nothing is tied through them."""
        return self.conditional(self.records.component(attribute, through_public=False))

    def guess(self, attribute, tied, prior=None):
        """How often the best guess is right, and the surest belief, from all that is sent and public, in fractions; of a uniform
        prior, unless there is another by category. Everything else is uniform over what is possible."""
        records = self.records
        # Components that blocks connect with this one: their answers and public answers say something, too.
        near = set(tied)
        while more := {a for members, _, _ in self.laws if near & set(members) for m in members for a in records.component(m)} - near:
            near |= more
        inside, blocks = sorted(near), [b for b, (members, _, _) in enumerate(self.laws) if near & set(members)]
        people = sorted({tuple(record[a] for a in inside) for record in records.possible})
        at = inside.index(attribute)
        categories = Counter(person[at] for person in people)
        joint = {}
        for person in people:
            category = person[at]
            before = prior[category] if prior else Fraction(1, len(categories))
            record = dict(zip(inside, person))
            seen = tuple(record[a] for a in inside if records.public[a])
            row = [before / categories[category]]
            for b in blocks:
                row = [p * q for p in row for q in self.laws[b][2][self.cell(b, record)]]
            sums = joint.setdefault(seen, {}).setdefault(category, [Fraction(0)] * len(row))
            joint[seen][category] = [p + q for p, q in zip(sums, row)]
        right, surest = Fraction(0), Fraction(0)
        for sums in joint.values():
            for column in zip(*sums.values()):
                right += max(column)
                if any(column):
                    surest = max(surest, max(column) / sum(column))
        return right, surest


def exceeds(true, stated, slack=0.0):
    """Whether a true ratio is above a stated epsilon; both may be unbounded."""
    if stated is None:
        return False
    if true is None:
        return True
    return (Decimal(true.numerator) / Decimal(true.denominator)).ln() > Decimal(stated) + Decimal(slack)


# The subjects


def request(method, chance, schema):
    epsilon = chance.choice(["0.3", "1", "2", "4"])
    private = schema.count("[[attribute]]") - schema.count("public = true")
    each = ",".join([epsilon] * private)
    if method == "minimax":
        return ["--parity", str(round(math.exp(float(epsilon)), 3))]
    if method == "l-diversity":
        return ["--l", "2"]
    if method == "heuristic":
        return ["--attribute-epsilon", each]
    if method == "clusters":
        names = re.findall(r'name = "([^"]*)"\n(?!public = true)', schema)
        return ["--epsilon", epsilon, "--clusters", ";".join([",".join(names[:2]), *names[2:]])]
    return ["--epsilon", epsilon] + (["--tables", "pairs"] if method == "workload" and private > 1 else [])


def make(attack, number):
    """Plans of one random schema: pairs of a description and the plan's file."""
    chance = attack.chance
    schema = crossed_schema(chance) if number % 4 == 3 else conditional_schema(chance)
    attack.write("schema.toml", schema)
    attack.count("schemas")
    for method in METHODS:
        words = ["design", "schema.toml", "--method", method, *request(method, chance, schema), "--time-limit", "3"]
        if method not in ("workload", "optimal", "clusters", "heuristic"):
            words = words[:-2]
        code, _, err = attack.run(*words, "-o", "plan.json", "--force")
        if code:
            attack.count(f"requests refused")
            if not err.strip():
                attack.fail(f"{words}: refused without a word")
            continue
        with open(attack.path("plan.json")) as file:
            yield f"{' '.join(words)}\n{schema}", json.load(file)


def hold(attack, note, plan):
    """Holds what `audit` says of a plan to the truth; gives the truth."""
    truth = Truth(plan)
    if not truth.known:
        attack.count("plans too large to write out")
        return None
    attack.count("plans")
    _, out, _ = attack.run("audit", "plan.json", "--json", "--allow-costly-plan")
    stated = json.loads(out)
    _, text, _ = attack.run("audit", "plan.json", "--allow-costly-plan")
    true = truth.epsilon()
    attack.count("numbers")
    if exceeds(true, stated["epsilon"]):
        attack.fail(f"record-level epsilon {stated['epsilon']} but ratio {true}: {note}")
    details = {
        (of["name"], detail["about"]): detail["value"] for of in stated["criteria"] for detail in of["details"]
    }
    for printed in stated["attributes"]:
        attribute = truth.records.names.index(printed["name"])
        tied = truth.records.component(attribute)
        about = f"{printed['name']}: {note}"
        true = truth.conditional(tied)
        if exceeds(true, printed["conditional_epsilon"]):
            attack.fail(f"conditional epsilon {printed['conditional_epsilon']} but ratio {true}: {about}")
        elif true is not None and not exceeds(true, printed["conditional_epsilon"] and printed["conditional_epsilon"] - 1e-9):
            attack.count("conditional epsilons above the truth")
        right, surest = truth.guess(attribute, tied)
        for name, value, bound in [
            ("guess", printed["guess_probability"], right),
            ("worst posterior", printed["worst_posterior"], surest),
            ("guessing", details.get(("guessing", printed["name"])), right if len(tied) > 1 else 0),
            ("worst-posterior", details.get(("worst-posterior", printed["name"])), surest if len(tied) > 1 else 0),
        ]:
            if value is not None and value + SLACK < bound:
                attack.fail(f"{name} {value} but {float(bound)}: {about}")
        if len(tied) > 1 and printed["guess_exact"] and abs(printed["guess_probability"] - float(right)) > 1e-9:
            attack.fail(f"guess {printed['guess_probability']} is called exact, but is {float(right)}: {about}")
        line = next(line for line in text.splitlines() if line.split()[:1] == [printed["name"]])
        shown = line.split()[3]
        if float(shown) < right - Fraction(1, 10**12):
            attack.fail(f"{shown} is printed where guesses are right with {float(right)}: {about}")
        times = line.split()[-1]
        if true is not None and times.replace(".", "").isdigit() and Fraction(times) * (1 + Fraction(1, 10**11)) < true:
            attack.fail(f"{times} is printed where {float(true)} times is true: {about}")
        attack.count("numbers", 7)
    return truth


def fingerprinted(plan):
    """The plan with the fingerprint of what it says."""
    parts = {name: plan[name] for name in ("blocks", "schema", "version")}
    if plan["version"] == 2 and "for_prior" in plan["guarantee"]:
        parts["for_prior"] = {name: plan["guarantee"]["for_prior"][name] for name in ("attribute", "prior")}
    canonical = json.dumps(parts, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return plan | {"fingerprint": "sha256:" + hashlib.sha256(canonical.encode()).hexdigest()}


def forge(chance, plan):
    """One lie: a claim that is lowered, or integers that are changed under claims that stay."""
    forged = copy.deepcopy(plan)
    kind = chance.choice(["claim", "integers", "integers", "integers"])
    if kind == "claim":
        guarantee = forged["guarantee"]
        holders = [(guarantee, "epsilon")] + [(each, "conditional_epsilon") for each in guarantee["attributes"]]
        holder, field = chance.choice(holders)
        before = holder[field]
        shrink = chance.choice([0.0, 0.5, 0.999, 1 - 1e-9])
        holder[field] = "1" if before is None else repr(round(float(before) * shrink, 12)).removesuffix(".0")
        return forged
    block = chance.choice(forged["blocks"])
    (_, channel), = chance.choice(block["lottery"])["channel"].items()
    if "columns" in channel:
        column = chance.choice(channel["columns"])
        i, j = chance.randrange(len(column)), chance.randrange(len(column))
        moved = int(column[i]) // chance.choice([1, 2, 1000])
        column[i], column[j] = int(column[i]) - (i != j) * moved, int(column[j]) + (i != j) * moved
        channel["columns"][channel["columns"].index(column)] = column[:] = [n if n < 2**53 else str(n) for n in map(int, column)]
    else:
        holder, field = chance.choice([(part, "weight") for part in channel["parts"]] if "parts" in channel else
                                      [(channel, "hit"), (channel, "all")])
        changed = max(1, int(holder[field]) // chance.choice([2, 3, 1000, 10**9]))
        holder[field] = changed if changed < 2**53 else str(changed)
    return fingerprinted(forged)


def claims_too_little(plan):
    """Whether a plan states less than is true, for the command and for the client; nothing if that takes too long."""
    truth = Truth(plan, MOST >> 5)
    if not truth.known:
        return None
    number = lambda text: None if text is None else float(text)
    stated = plan["guarantee"]
    # What reading tolerates, by docs/reference/plan.md.
    slack = lambda value: 3e-12 * (1 + (value or 0.0)) + 1e-12
    command = client = exceeds(truth.epsilon(), number(stated["epsilon"]), slack(number(stated["epsilon"])))
    for each in stated["attributes"]:
        attribute, value = truth.records.names.index(each["name"]), number(each["conditional_epsilon"])
        command |= exceeds(truth.conditional(truth.records.component(attribute)), value, slack(value))
        client |= exceeds(truth.conditional_of_client(attribute), value, slack(value))
    return command, client


HOSTILE = [None, True, -1, 0, 1, 0.5, 2**53 - 1, 2**64, "18446744073709551615", "1e999", "NaN", "", "\u202e", "__proto__", [], {},
           [[]], {"__proto__": 1}, [0] * 50, "0" * 300]


def places(value, path=()):
    """All places in a JSON value, by the way to them."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else []
    for key, inner in items:
        yield path + (key,)
        yield from places(inner, path + (key,))


def garbled(chance, plan):
    """A plan in which something was replaced, left out or said twice; with the fingerprint of what it says, or the old one."""
    wrong = copy.deepcopy(plan)
    for _ in range(chance.choice([1, 1, 2])):
        way = chance.choice([path for path in places(wrong) if path[0] not in ("fingerprint", "origin")])
        holder = wrong
        for key in way[:-1]:
            holder = holder[key]
        kind = chance.randrange(4)
        if kind == 0:
            del holder[way[-1]]
        elif kind == 1 and isinstance(holder, list):
            holder.insert(way[-1], copy.deepcopy(holder[way[-1]]))
        elif kind == 2 and isinstance(holder, dict):
            holder[chance.choice(["__proto__", "colour", "constructor", "total", "resampling"])] = holder[way[-1]]
        else:
            holder[way[-1]] = copy.deepcopy(chance.choice(HOSTILE))
    try:
        return fingerprinted(wrong) if chance.random() < 0.8 else wrong
    except (KeyError, TypeError):
        return wrong


CLIENT = """
import { readPlan } from %s;
import { readFileSync } from 'node:fs';
const plans = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const verdicts = [];
for (const plan of plans) {
  try { await readPlan(JSON.stringify(plan), { allowUnbounded: true }); verdicts.push(''); }
  catch (error) { verdicts.push(error.constructor.name === 'CandorError' ? error.message : `NOT AN ERROR OF OURS: ${error.stack}`); }
}
console.log(JSON.stringify(verdicts));
"""


def verdicts_of_client(attack, lies):
    """What the client says of each plan: nothing if it accepts it; None without Node."""
    verdicts = [None] * len(lies)
    if shutil.which("node"):
        attack.write("client.mjs", CLIENT % json.dumps("file://" + os.path.join(HERE, "../clients/javascript/candor.js")))
        attack.write("lies.json", json.dumps(lies))
        done = subprocess.run(["node", "client.mjs", "lies.json"], cwd=attack.folder, capture_output=True, text=True)
        if done.returncode:
            attack.fail(f"the client: {done.stderr[:500]}")
        else:
            verdicts = json.loads(done.stdout)
    return verdicts


def hostile(attack, plans, most):
    """Garbled plans against the command and the client: the client accepts none that the command refuses."""
    wrong = [garbled(attack.chance, attack.chance.choice(plans)) for _ in range(most)]
    for plan, verdict in zip(wrong, verdicts_of_client(attack, wrong)):
        attack.write("garbled.json", json.dumps(plan))
        code, _, err = attack.run("audit", "garbled.json")
        attack.count("garbled plans")
        attack.count("garbled plans that the command refuses", code != 0)
        if code and not err.strip():
            attack.fail(f"refused without a word: {json.dumps(plan)}")
        if verdict is None:
            continue
        attack.count("garbled plans that the client refuses", verdict != "")
        if verdict.startswith("NOT"):
            attack.fail(f"the client: {verdict}: {json.dumps(plan)}")
        # The client accepts a plan that promises less than it keeps, and reports what was stated.
        stated = re.search(r" as (unbounded|[0-9.]+), but it is ([0-9.]+):", err)
        cautious = stated and float(stated[1].replace("unbounded", "inf")) >= float(stated[2])
        if verdict == "" and code and not cautious:
            attack.fail(f"the client accepts what the command refuses ({err.strip()}): {json.dumps(plan)}")


def forged(attack, plans, most):
    """Forged plans against the command and the client."""
    lies = []
    for plan in plans:
        lies += [forge(attack.chance, plan) for _ in range(max(1, most // max(1, len(plans))))]
    for lie, verdict in zip(lies, verdicts_of_client(attack, lies)):
        judged = claims_too_little(lie)
        if judged is None:
            continue
        too_little, too_little_for_client = judged
        attack.write("forged.json", json.dumps(lie))
        code, _, err = attack.run("audit", "forged.json")
        attack.count("forged plans")
        attack.count("forged plans that claim too little", too_little)
        attack.count("forged plans that the command refuses", code != 0)
        about = json.dumps(lie)
        if too_little and code == 0:
            attack.fail(f"the command accepts {about}")
        if verdict is None:
            continue
        attack.count("forged plans that the client refuses", verdict != "")
        if too_little_for_client and verdict == "":
            attack.fail(f"the client accepts {about}")
        attack.count("forged plans that only the command refuses, because of public answers", too_little and verdict == "")
        if verdict.startswith("NOT"):
            attack.fail(f"the client: {verdict}")


def files(attack, plan, times):
    """Responses with changed bytes, as the command reads them."""
    attack.write("plan.json", json.dumps(plan))
    records = Records(plan["schema"])
    rows = [attack.chance.choice(records.possible) for _ in range(300)]
    # A person who was not asked has an empty cell.
    shown = lambda record, a: {"(not asked)": ""}.get(records.label(record, a), records.label(record, a))
    lines = [",".join(shown(record, a) for a in range(len(records.names))) for record in rows]
    attack.write("people.csv", "\n".join([",".join(records.names), *lines]) + "\n")
    for name in ("responses.csv", "responses.parquet"):
        code, _, err = attack.run("randomize", "plan.json", "people.csv", "-o", name, "--seed", "1", "--force")
        if code:
            attack.count("tables that cannot be randomized")
            continue
        with open(attack.path(name), "rb") as file:
            whole = file.read()
        for _ in range(times):
            data = bytearray(whole)
            for _ in range(attack.chance.choice([1, 1, 2, 8])):
                at = attack.chance.randrange(len(data))
                kind = attack.chance.randrange(5)
                if kind == 0:
                    data[at] ^= 1 << attack.chance.randrange(8)
                elif kind == 1:
                    data[at] = attack.chance.choice([0, 255, 34, 44, 59, 10])
                elif kind == 2:
                    del data[at : at + attack.chance.randrange(1, 40)]
                elif kind == 3:
                    data[at:at] = data[at : at + attack.chance.randrange(1, 40)]
                else:
                    del data[max(at, 1) :]
                data = data or bytearray(b"\0")
            attack.write(name, bytes(data))
            code, out, err = attack.run("estimate", "plan.json", name, "--tables", "marginals", "--json", timeout=60)
            attack.count("damaged files")
            attack.count("damaged files refused", code != 0)
            if code and not err.strip():
                attack.fail(f"a damaged {name} is refused without a word")
            if code == 0 and re.search(r"\b(NaN|Infinity|inf)\b", out):
                attack.fail(f"a damaged {name} gives a number that is none")
        attack.write(name, whole)


def carry_out(attack, given):
    kept = []
    for number in range(given.schemas):
        for note, plan in make(attack, number):
            if hold(attack, note, plan):
                kept.append(plan)
    if kept:
        forged(attack, attack.chance.sample(kept, min(len(kept), 100)), given.forged)
        hostile(attack, kept, given.forged)
        for plan in attack.chance.sample(kept, min(len(kept), 10)):
            files(attack, plan, max(1, given.files // 20))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command")
    parser.add_argument("--schemas", type=int, default=20)
    parser.add_argument("--forged", type=int, default=400)
    parser.add_argument("--files", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        attack = Attack(given.command, given.seed, folder)
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        try:
            carry_out(attack, given)
        except KeyboardInterrupt:
            print("interrupted")
    for what, number in sorted(attack.counts.items()):
        print(f"{number:8} {what}")
    print(f"{len(attack.failures):8} failures")
    sys.exit(bool(attack.failures) or not attack.counts.get("plans"))


if __name__ == "__main__":
    main()
