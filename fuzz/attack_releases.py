#!/usr/bin/env python3
"""Holds what candor says of several releases, of priors, of sheets and of devices to brute force in exact fractions.

    python3 fuzz/attack_releases.py target/release/candor --cases 100 --seed 1

The same rules as attack.py, whose reading of plans it takes. Subjects:

releases  two or three plans about the same people, over columns that they share, cross and ask under conditions: `audit` of all of
          them states no epsilon below the largest ratio between two people, written out with every answer they could have;
priors    worst posterior and best guess under a random prior, of attributes that are tied or answered alone;
sheets    the numbers that respondents read, in four languages: nothing is rounded in the wrong direction;
devices   plans of dice, coins and wheels, of random matrices, and of several plans combined, held as attack.py holds plans;
outputs   several `randomize` to one place at once: one of them wins, and what is there belongs to its plan.
"""

import argparse
import itertools
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from fractions import Fraction

from attack import METHODS, MOST, SLACK, Attack, Truth, conditional_schema, exceeds, hold, request

LANGUAGES = ["en", "de", "es", "fr"]


def attribute_text(name, categories, condition=None):
    asked = f"asked_if = {{ attribute = \"{condition[0]}\", categories = {json.dumps(condition[1])} }}\n" if condition else ""
    return f'[[attribute]]\nname = "{name}"\ncategories = {json.dumps(categories)}\n{asked}'


def design(attack, schema, name, method=None):
    """A plan of a schema by a random method; None if there is none."""
    attack.write(f"{name}.toml", schema)
    method = method or attack.chance.choice(METHODS)
    words = ["design", f"{name}.toml", "--method", method, *request(method, attack.chance, schema)]
    words += ["--time-limit", "2"] if method in ("workload", "optimal", "clusters", "heuristic") else []
    code, _, _ = attack.run(*words, "-o", f"{name}.json", "--force")
    if code:
        return None
    with open(attack.path(f"{name}.json")) as file:
        return json.load(file)


# Several releases


def some_columns(chance, columns):
    """A schema over some of the columns: alone, crossed, or asked under a condition on another; and its links between columns."""
    names = chance.sample(sorted(columns), chance.randint(1, len(columns)))
    text, links = "", []
    while names:
        first = names.pop()
        kind = chance.choice(["alone", "crossed", "condition"]) if names else "alone"
        if kind == "alone":
            text += attribute_text(first, columns[first])
            continue
        second = names.pop()
        links.append({first, second})
        if kind == "crossed":
            both = [f"{x}*{y}" for x in columns[first] for y in columns[second]]
            text += attribute_text(f"{first}*{second}", both)
        else:
            asks = chance.sample(columns[first], chance.randint(1, len(columns[first])))
            text += attribute_text(first, columns[first]) + attribute_text(second, columns[second], (first, asks))
    return text, links


def joined(links, column):
    """All columns that hang together with one."""
    found = {column}
    while True:
        more = set().union(*(link for link in links if link & found)) - found
        if not more:
            return found
        found |= more


class Release:
    """A plan as a function of people, who have a value in every column."""

    def __init__(self, plan):
        self.records = Truth(plan, most=0).records
        self.truth = Truth(plan, MOST)

    def record(self, person):
        labels = {}
        for attribute in self.records.attributes:
            name = attribute["name"]
            label = "*".join(person[column] for column in name.split("*"))
            condition = attribute.get("asked_if")
            if condition and labels[condition["attribute"]] not in condition["categories"]:
                label = "(not asked)"
            labels[name] = label
        return tuple(attribute["categories"].index(labels[attribute["name"]]) for attribute in self.records.attributes)

    def ratio(self, one, other):
        """The largest ratio of what two people send; None if unbounded."""
        product = Fraction(1)
        for block, ratios in enumerate(self.truth.ratios):
            found = ratios[self.truth.cell(block, self.record(one))][self.truth.cell(block, self.record(other))]
            if found is None:
                return None
            product *= found
        return product


def worst_of(releases, people, same):
    """The largest ratio of all that two people send, of those of whom `same` gives the same; None if unbounded."""
    worst = Fraction(1)
    for one, other in itertools.permutations(people, 2):
        if same(one) != same(other):
            continue
        ratios = [release.ratio(one, other) for release in releases]
        if None in ratios:
            return None
        product = Fraction(1)
        for found in ratios:
            product *= found
        worst = max(worst, product)
    return worst


def releases(attack):
    chance = attack.chance
    columns = {name: [f"{name}{i}" for i in range(chance.randint(2, 3))] for name in "uvw"[: chance.randint(2, 3)]}
    made, links, schemas = [], [], []
    for number in range(chance.randint(2, 3)):
        schema, more = some_columns(chance, columns)
        plan = design(attack, schema, f"release{number}")
        if plan and Truth(plan, MOST).known:
            made.append((f"release{number}.json", Release(plan)))
            links += more
            schemas.append(schema)
    if len(made) < 2:
        attack.count("releases too large, or refused")
        return
    code, out, err = attack.run("audit", *[name for name, _ in made], "--json")
    about = "\n--\n".join(schemas)
    if code:
        attack.count("releases that do not go together")
        if not err.strip():
            attack.fail(f"refused without a word: {about}")
        return
    stated = json.loads(out)
    attack.count("releases")
    people = [dict(zip(columns, values)) for values in itertools.product(*columns.values())]
    plans = [release for _, release in made]
    true = worst_of(plans, people, lambda person: 0)
    if exceeds(true, stated["epsilon"]):
        attack.fail(f"releases: epsilon {stated['epsilon']} but ratio {true}: {about}")
    for printed in stated["attributes"]:
        inside = set().union(*(joined(links, column) for column in printed["name"].split("*")))
        outside = [column for column in columns if column not in inside]
        true = worst_of(plans, people, lambda person: [person[column] for column in outside])
        attack.count("numbers")
        if exceeds(true, printed["conditional_epsilon"]):
            attack.fail(f"releases: {printed['name']} {printed['conditional_epsilon']} but ratio {true}: {about}")
        elif true is not None and not exceeds(true, (printed["conditional_epsilon"] or 0) - 1e-9):
            attack.count("conditional epsilons of releases above the truth")


# Priors


def priors(attack):
    chance = attack.chance
    plan = design(attack, conditional_schema(chance), "plan")
    truth = plan and Truth(plan)
    if not truth or not truth.known:
        attack.count("plans too large, or refused")
        return
    records = truth.records
    private = [a for a, public in enumerate(records.public) if not public]
    attribute = chance.choice(private)
    tied = records.component(attribute)
    alone = any(members == [attribute] for members, _, _ in truth.laws)
    if len(tied) == 1 and not alone:
        return
    weights = [chance.randint(1, 20) for _ in range(records.sizes[attribute])]
    prior = [Fraction(weight, sum(weights)) for weight in weights]
    # The command reads decimals: those are what is believed.
    text = [f"{float(p):.6f}" for p in prior]
    prior = [Fraction(p) / sum(map(Fraction, text)) for p in text]
    name = records.names[attribute]
    code, out, err = attack.run("audit", "plan.json", "--prior", f"{name}={','.join(text)}", "--json")
    if code:
        attack.count("priors refused")
        if "sum" not in err:
            attack.fail(f"a prior is refused: {err}")
        return
    details = {
        (of["name"], detail["about"]): detail["value"] for of in json.loads(out)["criteria"] for detail in of["details"]
    }
    right, surest = truth.guess(attribute, tied, dict(enumerate(prior)))
    slack = SLACK + 1e-5 * (sum(map(Fraction, text)) != 1)
    attack.count("priors")
    attack.count("numbers", 2)
    about = f"{name} {text}: {json.dumps(plan)}"
    if details[("worst-posterior", name)] + slack < surest:
        attack.fail(f"worst posterior {details[('worst-posterior', name)]} but {float(surest)}: {about}")
    if details[("map-privacy", name)] > 1 - right + slack:
        attack.fail(f"MAP privacy {details[('map-privacy', name)]} but {float(1 - right)}: {about}")


# Sheets


def sheets(attack):
    plan = design(attack, conditional_schema(attack.chance), "plan")
    truth = plan and Truth(plan)
    if not truth or not truth.known:
        attack.count("plans too large, or refused")
        return
    records, conditional = truth.records, []
    for attribute, public in enumerate(records.public):
        if not public:
            conditional.append(truth.conditional(records.component(attribute)))
    for language in LANGUAGES:
        code, text, err = attack.run("explain", "plan.json", "--language", language)
        if code:
            attack.fail(f"no sheet: {err}")
            return
        attack.count("sheets")
        for attribute, public in enumerate(records.public):
            if public:
                continue
            row = next((line for line in text.splitlines() if line.split()[:1] == [records.names[attribute]]
                        and len(re.findall(r"\d+", line.split(maxsplit=1)[1])) == 6), None)
            if row is None:
                attack.count("questions without a row")
                continue
            worst, average = [int(number) for number in re.findall(r"\d+", row.split(maxsplit=1)[1])][:3:2]
            right, surest = truth.guess(attribute, records.component(attribute))
            attack.count("numbers", 2)
            if Fraction(worst, 100) + Fraction(1, 10**11) < surest:
                attack.fail(f"sheet ({language}): at worst {worst} but {float(surest)}: {json.dumps(plan)}")
            if Fraction(average, 100) + Fraction(1, 10**11) < right:
                attack.fail(f"sheet ({language}): guesses {average} but {float(right)}: {json.dumps(plan)}")
        flat = " ".join(text.split())
        times = re.findall(r"(\d+(?:[.,]\d+)?) (?:times as likely|-?mal so wahrscheinlich|veces más|fois plus)", flat)
        attack.count("ratios on sheets", len(times))
        largest = None if None in conditional else max(conditional)
        for said in times:
            said = Fraction(said.replace(",", "."))
            if len(times) == 1 and largest is not None and said * (1 + Fraction(1, 10**11)) < largest:
                attack.fail(f"sheet ({language}): {float(said)} times but {float(largest)}: {json.dumps(plan)}")


# Devices, matrices and combined plans


DEVICES = ["coin: 1 truth, 2 0", "die: 1-4 truth, 5 0, 6 1", "two coins: 1 truth, 2 0, 3 1, 4 truth", "ten-sided die: 1-7 truth, 8-9 1, 10 0"]


def devices(attack):
    chance = attack.chance
    kind = chance.choice(["device", "named", "matrix", "combined"])
    size = chance.randint(2, 4)
    if kind == "device":
        words = ["device", "--categories", str(size), "--epsilon", chance.choice(["0.5", "1.61", "3"])]
        words += ["--compliance-check"] * (chance.random() < 0.5)
    elif kind == "named":
        words = ["device", "--categories", "2", "--device", chance.choice(DEVICES)]
    elif kind == "matrix":
        columns = [[chance.randint(0, 9) for _ in range(chance.randint(size, size + 1))] for _ in range(1)]
        rows = len(columns[0])
        columns = [[chance.randint(0, 9) + (i == x) for i in range(rows)] for x in range(size)]
        lines = [",".join(f"{column[i]}/{sum(column)}" for column in columns) for i in range(rows)]
        attack.write("m.csv", "\n".join(lines) + "\n")
        words = ["design", "--categories", str(size), "--method", "matrix", "--matrix", "m.csv", "--matrix-inputs", "columns"]
        words += ["--allow-unbounded", "--max-epsilon", "60"]
    else:
        first = design(attack, attribute_text("p", ["0", "1", "2"]) + attribute_text("q", ["0", "1"]), "one")
        second = design(attack, attribute_text("r", ["0", "1"]), "two")
        if not first or not second:
            return
        words = ["combine", "one.json", "two.json"]
    code, _, err = attack.run(*words, "-o", "plan.json", "--force")
    if code:
        attack.count(f"{kind} refused")
        if not err.strip():
            attack.fail(f"{words}: refused without a word")
        return
    with open(attack.path("plan.json")) as file:
        plan = json.load(file)
    if hold(attack, " ".join(words), plan):
        attack.count(f"{kind}: plans")


# Outputs


def outputs(attack):
    """Several commands at once to one place: one wins, and its responses are read under its plan only."""
    chance = attack.chance
    schema = attribute_text("p", ["0", "1"]) + attribute_text("q", ["0", "1", "2"])
    made = [design(attack, schema, f"plan{n}", method) for n, method in enumerate(["independent", "joint", "minimax"])]
    if None in made or len({plan["fingerprint"] for plan in made}) < 3:
        return
    attack.write("people.csv", "p,q\n" + "".join(f"{chance.randint(0, 1)},{chance.randint(0, 2)}\n" for _ in range(2000)))
    place = chance.choice(["r.csv", "r.parquet", "r.csv.gz"])
    for file in (place, f"{place}.candor.json"):
        if os.path.exists(attack.path(file)):
            os.remove(attack.path(file))
    plans = [f"plan{chance.randrange(3)}.json" for _ in range(4)]
    start = lambda plan: subprocess.Popen([attack.command, "randomize", plan, "people.csv", "-o", place],
                                          cwd=attack.folder, stderr=subprocess.PIPE, text=True)
    running = [(plan, start(plan)) for plan in plans]
    ended = [(plan, process.communicate()[1], process.returncode) for plan, process in running]
    won = [plan for plan, _, code in ended if code == 0]
    attack.count("races")
    if len(won) != 1:
        attack.fail(f"{len(won)} of {len(plans)} randomized to {place}: {[err for _, err, _ in ended]}")
        return
    for _, err, code in ended:
        if code and not err.startswith("error: "):
            attack.fail(f"refused without a word: {err!r}")
    for number in range(3):
        code, out, err = attack.run("estimate", f"plan{number}.json", place, "--tables", "marginals", "--json")
        if (code == 0) != (f"plan{number}.json" == won[0]):
            attack.fail(f"{place} of {won[0]} read under plan{number}.json: exit {code} {err}")
        if code and '"verdict":"wrong-plan"' not in out:
            attack.fail(f"no verdict: {out!r}")


SUBJECTS = [(releases, 4), (priors, 4), (sheets, 2), (devices, 4), (outputs, 1)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command")
    parser.add_argument("--cases", type=int, default=50, help="rounds; each has several cases of every subject")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        attack = Attack(given.command, given.seed, folder)
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        try:
            for _ in range(given.cases):
                for subject, times in SUBJECTS:
                    for _ in range(times):
                        subject(attack)
        except KeyboardInterrupt:
            print("interrupted")
    for what, number in sorted(attack.counts.items()):
        print(f"{number:8} {what}")
    print(f"{len(attack.failures):8} failures")
    sys.exit(bool(attack.failures) or not attack.counts.get("releases"))


if __name__ == "__main__":
    main()
