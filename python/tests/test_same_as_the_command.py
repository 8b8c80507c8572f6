"""Every verb says what the command says, to the last digit; and refuses what it refuses, in the same words."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas
import pytest

import candor

#: What only the command knows.
ITS_OWN = {"seconds", "command"}

Case = tuple[str, Callable[..., Any], str]

CASES: list[Case] = [
    ("design", lambda k: k.design("joint", epsilon=4).design, "design schema.toml --method joint --epsilon 4"),
    (
        "design, for tables",
        lambda k: k.design("workload", epsilon=2, tables="pairs", respondents=5000).design,
        "design schema.toml --method workload --epsilon 2 --tables pairs --respondents 5000",
    ),
    (
        "design, clusters",
        lambda k: k.design("clusters", clusters="Education,Income;Sex", epsilon=5).design,
        "design schema.toml --method clusters --clusters Education,Income;Sex --epsilon 5",
    ),
    (
        "design, allowances",
        lambda k: k.design("l-diversity", l=[2]).design,
        "design schema.toml --method l-diversity --l 2",
    ),
    (
        "choose",
        lambda k: candor.choose(k.schema, 20000, tables="marginals", margin=0.04, max_guess=0.95),
        "choose schema.toml --respondents 20000 --tables marginals --margin 0.04 --max-guess 0.95",
    ),
    (
        "compare",
        lambda k: candor.compare(k.schema, epsilon=2, tables="pairs", respondents=5000),
        "compare schema.toml --epsilon 2 --tables pairs --respondents 5000",
    ),
    (
        "compare, simulated",
        lambda k: candor.compare(k.schema, epsilon=4, tables="marginals", simulate=k.people),
        "compare schema.toml --epsilon 4 --tables marginals --simulate people.csv",
    ),
    ("compare, variance", lambda k: candor.compare([20], added_variance=5.07), "compare --categories 20 --added-variance 5.07"),
    ("audit", lambda k: k.plan.audit(), "audit plan.json"),
    (
        "audit, required",
        lambda k: k.plan.audit(
            require={"ldp": 6, "rho": "0.1:0.999", "shuffled": 6}, prior={"Sex": [0.7, 0.3]}, respondents=10000
        ),
        "audit plan.json --require ldp=6 --require rho=0.1:0.999 --require shuffled=6 --prior Sex=0.7,0.3 --respondents 10000",
    ),
    ("sample-size", lambda k: k.plan.sample_size(0.02, tables="pairs"), "sample-size plan.json --margin 0.02 --tables pairs"),
    ("sample-size, two groups", lambda k: k.plan.sample_size(detect_difference=[0.1, 0.2]), "sample-size plan.json --detect-difference 0.1,0.2"),
    (
        "sample-size, against a share",
        lambda k: k.plan.sample_size(detect_difference=0.1, null_share=0.05, power=0.9, alpha=0.01),
        "sample-size plan.json --detect-difference 0.1 --null-share 0.05 --power 0.9 --alpha 0.01",
    ),
    (
        "sample-size, a coefficient",
        lambda k: k.plan.sample_size(model="Income~Sex", effect="Sex=Male=0.7", expected_shares=k.people, power=0.9),
        "sample-size plan.json --model Income~Sex --effect Sex=Male=0.7 --expected-shares people.csv --power 0.9",
    ),
    (
        "sample-size, power",
        lambda k: k.mirrored.sample_size(noncompliance=0.1, detect_difference=0.2, respondents=5000),
        "sample-size mirrored.json --noncompliance 0.1 --detect-difference 0.2 --respondents 5000",
    ),
    ("device", lambda k: candor.device([2, 3], epsilon=1.61).devices, "device --categories 2,3 --epsilon 1.61"),
    (
        "device, of one's own",
        lambda k: candor.device(
            [3], device="die: 1-3 truth, 4 0, 5 1, 6 2", compliance_check=True, margin=0.03, confidence=0.9
        ).devices,
        "device --categories 3 --compliance-check --margin 0.03 --confidence 0.9 --device |die: 1-3 truth, 4 0, 5 1, 6 2",
    ),
    (
        "import",
        lambda k: k.mirrored.import_(k.folder / "written.csv", k.folder / "entered.csv", keep="age"),
        "import mirrored.json written.csv --keep age -o entered-too.csv",
    ),
    ("compliance", lambda k: k.plan.compliance(k.responses), "compliance plan.json responses.parquet"),
    (
        "compliance, otherwise",
        lambda k: k.mirrored.compliance(k.answers, self_protective="1", anchor="a3=1", noncompliance=0.2, alpha=0.01, confidence=0.9),
        "compliance mirrored.json answers.csv --self-protective 1 --anchor a3=1 --noncompliance 0.2 --alpha 0.01 --confidence 0.9",
    ),
    ("estimate", lambda k: k.plan.estimate(k.responses), "estimate plan.json responses.parquet"),
    (
        "estimate, otherwise",
        lambda k: k.plan.estimate(
            k.responses, tables=["Education,Income", "Sex"], interval="simultaneous", confidence=0.9, by="Region", weights="weight"
        ),
        "estimate plan.json responses.parquet --tables Education,Income;Sex --interval simultaneous --confidence 0.9 --by Region "
        "--weights weight",
    ),
    (
        "estimate, standards",
        lambda k: k.plan.estimate(k.responses, tables="Income", by="Region", standards="nchs"),
        "estimate plan.json responses.parquet --tables Income --by Region --standards nchs",
    ),
    (
        "estimate, likelihood",
        lambda k: k.plan.estimate(k.responses, method="iterative"),
        "estimate plan.json responses.parquet --method iterative",
    ),
    (
        "estimate, covariance",
        lambda k: k.plan.estimate(k.responses, tables="Sex", covariance=True, target="records"),
        "estimate plan.json responses.parquet --tables Sex --covariance --target records",
    ),
    (
        "test",
        lambda k: k.plan.test(k.responses, "Education", "Income"),
        "test plan.json responses.parquet --independence Education,Income",
    ),
    (
        "test, in groups",
        lambda k: k.plan.test(k.responses, independence="Education,Income", by="Region"),
        "test plan.json responses.parquet --independence Education,Income --by Region",
    ),
    (
        "test, differences of groups",
        lambda k: k.plan.test(k.responses, tables="Income", compare_groups="Sex", by="Region"),
        "test plan.json responses.parquet --tables Income --compare-groups Sex --by Region",
    ),
    (
        "test, differences of waves",
        lambda k: k.plan.test(k.responses, mean="Income", scores="Income:30,70", baseline=k.responses),
        "test plan.json responses.parquet --mean Income --scores Income:30,70 --baseline responses.parquet",
    ),
    (
        "query, compared",
        lambda k: k.plan.query(k.responses, "Income = '>50K'", compare_groups="Sex", by=["Region"]),
        "query plan.json responses.parquet --compare-groups Sex --by Region --where |Income = '>50K'",
    ),
    (
        "query",
        lambda k: k.plan.query(k.responses, "Income = '>50K' and Sex = 'Female'"),
        "query plan.json responses.parquet --where |Income = '>50K' and Sex = 'Female'",
    ),
    (
        "query, by all methods",
        lambda k: k.plan.query(k.responses, "Income = '>50K' and Sex = 'Female'", method="all"),
        "query plan.json responses.parquet --method all --where |Income = '>50K' and Sex = 'Female'",
    ),
    (
        "regress",
        lambda k: k.plan.regress(k.responses, "Income ~ Region"),
        "regress plan.json responses.parquet --model |Income ~ Region",
    ),
    (
        "regress, otherwise",
        lambda k: k.mirrored.regress(
            k.answers, "a2 ~ age", family="multinomial", method="ml", reference={"a2": "1"}, standardize=True, confidence=0.9,
            psu="block", strata="place", show_uncorrected=True,
        ),  # fmt: skip
        "regress mirrored.json answers.csv --family multinomial --method ml --reference a2=1 --standardize --confidence 0.9 "
        "--psu block --strata place --show-uncorrected --model |a2 ~ age",
    ),
    (
        "regress, groups and a hidden subpopulation",
        lambda k: k.mirrored.regress(k.answers, "a2~age", where="a1 = 1", psu="block", df="design"),
        "regress mirrored.json answers.csv --psu block --df design --model a2~age --where |a1 = 1",
    ),
    (
        "regress, by",
        lambda k: k.plan.regress(k.responses, "Income ~ Sex", by="Region"),
        "regress plan.json responses.parquet --by Region --model |Income ~ Sex",
    ),
    (
        "regress, hidden predictors",
        lambda k: k.plan.regress(k.responses, "Income ~ Sex", method="corrected", weights="weight"),
        "regress plan.json responses.parquet --method corrected --weights weight --model |Income ~ Sex",
    ),
    (
        "regress, contrasts and predictions",
        lambda k: k.mirrored.regress(k.answers, "a2 ~ a1 + age", contrast="a1=1+2*age", predict=k.folder / "profiles.csv"),
        "regress mirrored.json answers.csv --predict profiles.csv --contrast a1=1+2*age --model |a2 ~ a1 + age",
    ),
    (
        "regress, who ignores the device",
        lambda k: k.mirrored.regress(k.answers, "a1 ~ age", self_protective="0", self_protective_if="1"),
        "regress mirrored.json answers.csv --self-protective 0 --self-protective-if 1 --model |a1 ~ age",
    ),
    ("associations, records", lambda k: k.schema.associations(k.people), "associations schema.toml people.csv"),
    (
        "associations, parties",
        lambda k: k.schema.associations(k.people, protocol="randomized-pairs", epsilon=28, seed=5, simulation=True),
        "associations schema.toml people.csv --protocol randomized-pairs --epsilon 28 --seed 5",
    ),
    (
        "associations, responses",
        lambda k: k.plan.associations(k.responses, measure="cramer"),
        "associations plan.json responses.parquet --protocol attribute --measure cramer",
    ),
    (
        "rake",
        lambda k: k.plan.rake(k.responses, output=k.folder / "weighted.parquet"),
        "rake plan.json responses.parquet -o weighted-too.parquet",
    ),
    (
        "synthesize",
        lambda k: k.plan.synthesize(k.responses, output=k.folder / "people.parquet", seed=1, records=100),
        "synthesize plan.json responses.parquet -o people-too.parquet --seed 1 --records 100",
    ),
    (
        "report",
        lambda k: k.plan.report(k.responses, tables="marginals;Education,Income"),
        "report plan.json responses.parquet -o report.html --tables marginals;Education,Income",
    ),
    (
        "report, in groups",
        lambda k: k.plan.report(k.responses, tables="Income", compare_groups="Sex", by="Region"),
        "report plan.json responses.parquet -o report.html --tables Income --compare-groups Sex --by Region",
    ),
    (
        "report, with a regression",
        lambda k: k.plan.report(k.responses, model="Income ~ Region", confidence=0.9),
        "report plan.json responses.parquet -o report.html --confidence 0.9 --model |Income ~ Region",
    ),
    (
        "pareto",
        lambda k: candor.pareto([0.4, 0.3, 0.2, 0.1], posterior_bound=0.8, points=5, method="exact"),
        "pareto --prior 0.4,0.3,0.2,0.1 --posterior-bound 0.8 --points 5 --method exact",
    ),
    (
        "pareto, gamma",
        lambda k: candor.pareto(gamma_prior=4, points=3, method="exact"),
        "pareto --gamma-prior 4 --points 3 --method exact",
    ),
    (
        "pareto, searched",
        lambda k: candor.pareto(
            from_=k.people, attribute="Education", method="evolve", generations=20, population=20, polish=False, points=3
        ),
        "pareto --from people.csv --attribute Education --method evolve --generations 20 --population 20 --polish false --points 3",
    ),
    ("schema check", lambda k: k.schema.check(k.people), "schema check schema.toml people.csv"),
]


class Known:
    """What the cases are about."""

    def __init__(self, schema: candor.Schema, plan: candor.Plan, people: Path, responses: Path, mirrored: candor.Plan, folder: Path) -> None:
        self.schema, self.plan, self.people, self.responses, self.folder = schema, plan, people, responses, folder
        #: A plan of dice with several cards, and answers to it beside numbers that everybody may know.
        self.mirrored, self.answers = mirrored, folder / "answers.csv"

    def design(self, method: str, **parameters: Any) -> candor.Plan:
        return candor.design(self.schema, method, **parameters)


@pytest.fixture(scope="module")
def mirrored(command) -> candor.Plan:
    plan = candor.device([2, 3, 2], epsilon=1.61, compliance_check=True)
    plan.save(command.folder / "mirrored.json")
    draw = random.Random(1)
    people = pandas.DataFrame({"age": [draw.randint(18, 80) for _ in range(4000)]})
    people["a1"] = [str(int(draw.random() < age / 100)) for age in people.age]
    people["a2"] = [str(draw.choice([0, 1, 2, 2 if age > 50 else 0])) for age in people.age]
    people["a3"] = "1"
    people["block"] = [row // 50 for row in people.index]
    people["place"] = people.block % 4
    plan.randomize(people, output=command.folder / "answers.csv", keep="age,block,place", seed=2, simulation=True)
    (command.folder / "profiles.csv").write_text("age,a1\n30,0\n60,1\n")
    # As interviewers would write it down: nothing says that these are responses.
    (command.folder / "written.csv").write_bytes((command.folder / "answers.csv").read_bytes())
    return plan


@pytest.fixture
def known(schema, simple, people_path, responses, mirrored, command) -> Known:
    return Known(schema, simple, people_path, responses, mirrored, command.folder)


def words(line: str) -> list[str]:
    """The words of a command line; a condition, after |, is one word."""
    line, _, condition = line.partition("|")
    return [*line.split(), *([condition] if condition else [])]


@pytest.mark.parametrize(("call", "line"), [pytest.param(call, line, id=name) for name, call, line in CASES])
@pytest.mark.filterwarnings("ignore::candor.Caution")
def test_results(known: Known, command, call, line) -> None:
    def only(fields: Any) -> Any:
        if isinstance(fields, dict):
            return {key: only(value) for key, value in fields.items() if key not in ITS_OWN}
        return [only(one) for one in fields] if isinstance(fields, list) else fields

    found, expected = only(call(known).to_dict()), only(command(*words(line)))
    # The name of a file is its own, too.
    assert json.loads(json.dumps(found).replace(str(known.people), "people.csv")) == expected


@pytest.mark.filterwarnings("ignore::candor.Caution")
def test_files(known: Known, command) -> None:
    """What is written is the same, byte for byte, where it is drawn from a seed."""
    known.plan.randomize(known.people, output=command.folder / "a.csv", seed=3, simulation=True)
    command("randomize", "plan.json", "people.csv", "-o", "b.csv", "--seed", 3)
    assert (command.folder / "a.csv").read_bytes() == (command.folder / "b.csv").read_bytes()
    assert known.plan.sql(tables="pairs", dialect="spark") == command.run("sql", "plan.json", "--tables", "pairs", "--dialect", "spark").stdout
    assert known.plan.explain().text == command.run("explain", "plan.json").stdout
    assert candor.Schema.infer(known.people, drop="weight").to_toml() == command.run("schema", "infer", "people.csv", "--drop", "weight").stdout


def test_refinement(command) -> None:
    plan = candor.design([4], "warner", p=0.6)
    plan.save(command.folder / "warner.json")
    better = plan.refine([0.4, 0.3, 0.2, 0.1], allow_unbounded=True)
    said = command("refine", "warner.json", "--prior", "0.4,0.3,0.2,0.1", "--allow-unbounded")
    assert better.refinement.to_dict() == said
    assert better.fingerprint == said["fingerprint"]


def test_combination(command, known) -> None:
    first = candor.design(known.schema, "joint", only=["Education", "Income"], epsilon=2)
    second = candor.design(known.schema, "warner", only="Sex", p=0.7)
    first.save(command.folder / "first.json")
    second.save(command.folder / "second.json")
    both = candor.combine(first, second)
    assert both.combination.to_dict() == command("combine", "first.json", "second.json")
    assert both.estimate(both.randomize(known.people), tables="Sex").tables[0].identifiable


def test_matrices_of_a_front() -> None:
    found = candor.front([0.4, 0.3, 0.2, 0.1], points=3, method="exact")
    rows = [line.split(",") for line in found.matrices["exact-002.csv"].splitlines()]
    plan = candor.design([4], "matrix", matrix=rows, prior=[0.4, 0.3, 0.2, 0.1])
    assert abs(plan.design.for_prior.map_privacy - found.points[1].privacy) < 1e-9


def test_crossed_attributes(command, known) -> None:
    plan = candor.design(known.schema, "independent", epsilon=8, cross_with="Income")
    command("design", "schema.toml", "--cross-with", "Income", "--method", "independent", "--epsilon", "8", "-o", "crossed.json")
    assert plan == candor.Plan.load(known.folder / "crossed.json")
    command("randomize", "crossed.json", "people.csv", "--seed", "1", "-o", "crossed.parquet")
    found = plan.scan(known.folder / "crossed.parquet", crossed=True, top=1)
    assert found.to_dict() == command("test", "crossed.json", "crossed.parquet", "--crossed", "--top", "1")
    assert found.outcome is None and found.tests[0].attribute == "Education*Income"


def test_experiments(command, known) -> None:
    for name, given, flags in [
        ("multidimensional", {"p": 0.7, "coverage": [0.1, 0.3], "repeats": 2}, "--p 0.7 --coverage 0.1,0.3 --repeats 2"),
        ("optimized-rr", {"epsilon_i": [1, 3], "repeats": 2, "seed": 4}, "--epsilon-i 1,3 --repeats 2 --seed 4"),
        ("optimized-rr", {"with_": "Income", "snps": 1, "repeats": 2}, "--with Income --snps 1 --repeats 2"),
        ("optrr", {"attributes": "Income", "delta": 0.9, "generations": 50}, "--attributes Income --delta 0.9 --generations 50"),
        ("l-diversity", {"attributes": ["Education"], "gamma": [10, 20], "l": 2}, "--attributes Education --gamma 10,20 --l 2"),
    ]:
        found = known.schema.experiment(name, known.people, **given)
        told = command("experiment", name, "people.csv", "--schema", "schema.toml", *flags.split())
        assert found.to_dict() == told, name
        assert set(found.rows()[0]) == {"plot", "series", "x", "y"}


def test_losses(command, known) -> None:
    losses = [[0, 1, 4], [1, 0, 1], [4, 1, 0]]
    (known.folder / "loss.csv").write_text("\n".join(",".join(map(str, row)) for row in losses))
    asked = ["pareto", "--prior", "0.5,0.3,0.2", "--method", "exact", "--points", "3", "--loss"]
    by_file = candor.pareto([0.5, 0.3, 0.2], method="exact", points=3, loss=known.folder / "loss.csv")
    by_rows = candor.pareto([0.5, 0.3, 0.2], method="exact", points=3, loss=losses)
    assert by_file == by_rows and by_rows.to_dict() == command(*asked, "loss.csv")
    ordinal = candor.pareto([0.5, 0.3, 0.2], method="exact", points=3, loss="ordinal")
    assert ordinal.to_dict() == command(*asked, "ordinal") and ordinal.largest_loss == 2
    plan = candor.design([3], "front", prior=[0.5, 0.3, 0.2], map_privacy=0.1, loss=losses)
    assert "largest loss, 4" in plan.design.notes[0]
    better = candor.design([3], "warner", p=0.6).refine([0.5, 0.3, 0.2], loss="ordinal", allow_unbounded=True)
    assert better.refinement.largest_loss == 2 and better.refinement.after.mse < better.refinement.before.mse


def test_scan(command, known) -> None:
    found = known.plan.scan(known.responses, "Income", adjust="bh", top=2)
    assert found.to_dict() == command("test", "plan.json", "responses.parquet", "--with", "Income", "--adjust", "bh", "--top", "2")


def test_matrix(command) -> None:
    plan = candor.design([4, 3], "heuristic", attribute_epsilon=[3, 2])
    plan.save(command.folder / "single.json")
    found = plan.matrix()
    assert found.to_dict() == command("matrix", "single.json")
    assert found.to_numpy().shape == (12, 12)
    assert abs(found.to_numpy().sum(axis=0) - 1).max() < 1e-12
    assert plan.matrix("a2", exact=True).to_dict() == command("matrix", "single.json", "--attribute", "a2", "--exact")
    assert plan.matrix(misses=True).to_dict() == command("matrix", "single.json", "--misses")
    assert plan.matrix().csv == command.run("matrix", "single.json", "--format", "csv").stdout
    (command.folder / "single.csv").write_text(plan.matrix("a1").csv)
    again = candor.design([4], "matrix", file=command.folder / "single.csv")
    assert abs(again.guarantee.epsilon - 3) < 1e-6


REFUSED = [
    (lambda k: k.design("joint", epsilon=-1), "design schema.toml --method joint --epsilon -1"),
    (lambda k: k.design("joint", epsilon=99), "design schema.toml --method joint --epsilon 99"),
    (lambda k: k.design("jont", epsilon=1), None),
    (lambda k: k.design("joint", epsilon=1, parity=[2]), None),
    (lambda k: k.plan.estimate(k.responses, tables="Sex,Colour"), "estimate plan.json responses.parquet --tables Sex,Colour"),
    (lambda k: k.plan.estimate(k.responses, by="Sex"), "estimate plan.json responses.parquet --by Sex"),
    (lambda k: k.plan.query(k.responses, "Sex = 7"), "query plan.json responses.parquet --where |Sex = 7"),
    (lambda k: k.plan.regress(k.responses, "Income ="), "regress plan.json responses.parquet --model |Income ="),
    (lambda k: k.plan.regress(k.responses, "Income ~ Colour"), "regress plan.json responses.parquet --model |Income ~ Colour"),
    (
        lambda k: k.plan.regress(k.responses, "Income ~ Region + weight"),
        "regress plan.json responses.parquet --model |Income ~ Region + weight",
    ),
    (lambda k: k.plan.regress(k.responses, "Income ~ Region", self_protective_if="<=50K"), None),
    (lambda k: k.plan.regress(k.plan.tally(k.responses), "Income ~ Region"), None),
    (lambda k: k.plan.test(k.responses, "Sex"), "test plan.json responses.parquet --independence Sex"),
    (lambda k: k.plan.audit(require={"ldp": 1}), "audit plan.json --require ldp=1"),
    (lambda k: k.plan.randomize(k.responses), "randomize plan.json responses.parquet -o x.csv"),
    (lambda k: k.plan.estimate(k.folder / "missing.csv"), "estimate plan.json missing.csv"),
]


@pytest.mark.parametrize(("call", "line"), REFUSED)
@pytest.mark.filterwarnings("ignore::candor.Caution")
def test_refusals(known: Known, command, call, line) -> None:
    with pytest.raises(candor.Error) as refused:
        call(known)
    said = str(refused.value)
    if line is None:
        return
    # Parameters are flags there, and files have other names.
    names = ("epsilon", "tables", "by", "where", "independence", "require", "model")
    for name in names:
        said = said.replace(f"`{name}`", f"--{name}")
    said = said.replace("the plan does", "plan.json does").replace(f"{known.folder}/", "").replace(str(known.people), "people.csv")
    said = said.replace(str(known.responses), "responses.parquet").replace("`max_epsilon 50`", "--max-epsilon 50")
    assert said == command.error(*words(line))
