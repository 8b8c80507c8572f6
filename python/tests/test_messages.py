"""Messages speak Python: parameters as they are given here, never options of the command."""

from __future__ import annotations

import re
import warnings

import pandas
import pytest

import candor


BINS = """
[[attribute]]
name = "age"
categories = ["young", "old", "older"]
edges = [30, 50]

[[attribute]]
name = "pain"
categories = ["none", "some", "much"]
kind = "ordinal"
"""


#: Wrong calls of every verb: what they say must hold no option.
WRONG = {
    "design: unbounded": lambda f: candor.design([2], "matrix", matrix=[[1, 0], [0, 1]]),
    "design: too large": lambda f: candor.design([2], "joint", epsilon=99),
    "design: nothing": lambda f: candor.design([2, 3]),
    "design: twice": lambda f: candor.design([2, 3], "independent", epsilon=1, q=0.5),
    "design: too few": lambda f: candor.design([2, 3], "optimal", attribute_epsilon=[1]),
    "design: of another": lambda f: candor.design([2, 3], "joint", epsilon=1, p=0.5),
    "design: rows": lambda f: candor.design([2], "matrix", matrix=[[0.9, 0.1], [0.3, 0.7]]),
    "design: no matrix": lambda f: candor.design([2], "matrix", matrix=[[1, 2], [3, 4]]),
    "design: rho": lambda f: candor.design([2, 3], "warner", rho=[0.1, 0.5]),
    "design: rho order": lambda f: candor.design([2, 3], "joint", rho=[0.5, 0.1]),
    "design: both limits": lambda f: candor.design([2, 3], "joint", rho=[0.1, 0.5], beta=3),
    "design: tables": lambda f: candor.design([2, 3], "workload", epsilon=1, tables="a7"),
    "design: only": lambda f: candor.design([2, 3], "joint", epsilon=1, only="a9"),
    "design: prior": lambda f: candor.design([3], "front", map_privacy=0.5),
    "design: two priors": lambda f: candor.design([3], "front", prior=[1, 1, 1], uniform_prior=3, map_privacy=0.5),
    "design: shares": lambda f: candor.design([3], "joint", epsilon=1, expected_shares=pandas.DataFrame({"x": [1]})),
    "combine": lambda f: candor.combine(f.plan, f.plan),
    "compare: nothing": lambda f: candor.compare([2, 3]),
    "compare: simulate": lambda f: candor.compare([2, 3], epsilon=1, repeats=3),
    "compare: for": lambda f: candor.compare(f.schema, epsilon=1, for_="mean:Sex"),
    "pareto": lambda f: candor.pareto(),
    "pareto: outputs": lambda f: candor.pareto([0.5, 0.5], method="evolve", outputs=3),
    "pareto: method": lambda f: candor.pareto([0.5, 0.5], method="best"),
    "device": lambda f: candor.device([2], device="7 sided die"),
    "device: language": lambda f: candor.device([2], epsilon=1, language="de"),
    "infer: numbers": lambda f: candor.Schema.infer(pandas.DataFrame({"my age": range(200)})),
    "infer: texts": lambda f: candor.Schema.infer(pandas.DataFrame({"name": [f"n{at}" for at in range(2000)]})),
    "infer: constant": lambda f: candor.Schema.infer(pandas.DataFrame({"my column": ["x"] * 9})),
    "infer: bins": lambda f: candor.Schema.infer(pandas.DataFrame({"age": range(200)}), bins={"age": "five"}),
    "randomize: output": lambda f: f.plan.randomize(f.people, escape_formulas=True),
    "randomize: keep": lambda f: f.plan.randomize(f.people, keep="colour"),
    "estimate: mark": lambda f: f.plan.estimate(pandas.DataFrame(f.answers.to_dict("list"))),
    "estimate: tables": lambda f: f.plan.estimate(f.answers, tables="Sex;;Age"),
    "estimate: method": lambda f: f.plan.estimate(f.answers, method="best"),
    "estimate: interval": lambda f: f.plan.estimate(f.answers, interval="bootstrap", mean="Sex", scores="Sex:0,1"),
    "estimate: mean": lambda f: f.plan.estimate(f.answers, mean="Sex"),
    "estimate: quantile": lambda f: f.plan.estimate(f.answers, quantile="Sex"),
    "estimate: where": lambda f: f.plan.estimate(f.answers, where="Sex = Male"),
    "estimate: by": lambda f: f.plan.estimate(f.answers, by="Sex"),
    "estimate: design": lambda f: f.plan.estimate(f.answers, weights="weight", psu="weight", target="table"),
    "estimate: replicates": lambda f: f.plan.estimate(f.answers, replicate_weights="w*"),
    "estimate: fay": lambda f: f.plan.estimate(f.answers, fay=0.3),
    "estimate: benchmarks": lambda f: f.plan.estimate(f.answers, benchmarks={"Sex": 1}),
    "estimate: baseline": lambda f: f.plan.estimate(f.answers, baseline_plan=f.plan),
    "estimate: compared": lambda f: f.plan.estimate(f.answers, compare_groups="Region", baseline=f.answers),
    "estimate: confidence": lambda f: f.plan.estimate(f.answers, confidence=95),
    "estimate: counts": lambda f: f.plan.estimate(counts=pandas.DataFrame({"candor_table": ["x"]})),
    "test": lambda f: f.plan.test(f.answers, "Sex"),
    "test: same": lambda f: f.plan.test(f.answers, "Sex", "Sex"),
    "test: groups": lambda f: f.plan.test(f.answers, tables="Sex"),
    "query: method": lambda f: f.plan.query(f.answers, "Sex = Male", given="Income = '>50K'", method="naive"),
    "query: design": lambda f: f.plan.query(f.answers, "Sex = Male", method="adjusted", by="Region"),
    "regress": lambda f: f.plan.regress(f.answers, "Sex"),
    "regress: family": lambda f: f.plan.regress(f.answers, "Income ~ Sex", family="poisson"),
    "regress: reference": lambda f: f.plan.regress(f.answers, "Income ~ Sex", reference={"Sex": "Other"}),
    "regress: method": lambda f: f.plan.regress(f.answers, "Income ~ Sex", method="best"),
    "associations": lambda f: f.schema.associations(f.people, protocol="attribute"),
    "experiment": lambda f: f.schema.experiment("optr", f.people),
    "experiment: parameter": lambda f: f.schema.experiment("optrr", f.people, gamma=3),
    "experiment: range": lambda f: f.schema.experiment("multidimensional", f.people, p=1.5),
    "experiment: outcome": lambda f: f.schema.experiment("optimized-rr", f.people, with_="Age"),
    "scan: nothing": lambda f: f.plan.scan(f.answers),
    "scan: crossed": lambda f: f.plan.scan(f.answers, crossed=True),
    "pareto: loss": lambda f: candor.pareto([0.5, 0.5], loss=[[0, 1]]),
    "design: loss": lambda f: candor.design([3], "front", prior=[0.5, 0.3, 0.2], map_privacy=0.2, loss=[[0, 1, 2], [1, 0, -1], [2, 1, 0]]),
    "refine: loss": lambda f: candor.design([2], "warner", p=0.7).refine([0.5, 0.5], loss=[[1, 1], [1, 1]]),
    "design: cross_with": lambda f: candor.design(f.schema, "independent", epsilon=3, cross_with="Age"),
    "associations: epsilon": lambda f: f.schema.associations(f.people, protocol="randomized-pairs"),
    "rake": lambda f: f.plan.rake(f.answers, method="tree", margins="Sex"),
    "synthesize": lambda f: f.plan.synthesize(f.answers, records=0),
    "synthesize: method": lambda f: f.plan.synthesize(f.answers, method="best"),
    "sample_size": lambda f: f.plan.sample_size(),
    "sample_size: power": lambda f: f.plan.sample_size(detect_difference=[0.1, 0.1]),
    "audit": lambda f: f.plan.audit(require={"ldp": 0.1}),
    "audit: criterion": lambda f: f.plan.audit(require={"privacy": 1}),
    "audit: prior": lambda f: f.plan.audit(prior={"Sex": [1, 2, 3]}),
    "explain": lambda f: f.plan.explain(language="tlh"),
    "matrix": lambda f: f.plan.matrix("Age"),
    "refine": lambda f: f.plan.refine([0.5, 0.5]),
    "sql": lambda f: f.plan.sql(dialect="oracle"),
    "import": lambda f: f.plan.import_(f.people, "x.csv", cards=["a", "b", "c", "d"]),
    "compliance": lambda f: f.plan.compliance(f.answers, anchor="Sex"),
    "report": lambda f: f.plan.report(f.answers, wave="2024"),
}  # fmt: skip


class Facts:
    def __init__(self, plan, people) -> None:
        self.plan, self.schema, self.people = plan, plan.schema, people
        self.answers = plan.randomize(people, keep="weight")


@pytest.fixture(scope="module")
def facts(simple, people) -> Facts:
    return Facts(simple, people.head(2000))


@pytest.mark.filterwarnings("ignore::candor.Caution")
def test_errors_hold_no_options(facts, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    spoken = {}
    for name, call in WRONG.items():
        spoken[name] = "taken"
        try:
            call(facts)
        except candor.Error as error:
            spoken[name] = str(error)
    assert not [name for name, message in spoken.items() if message == "taken"]
    wrong = {
        name: message
        for name, message in spoken.items()
        if re.search(r"--[a-z]|candor (design|sql|estimate|randomize)\b", message)
    }
    assert not wrong
    # A value in backticks has a name and a sign before it.
    assert not {name: message for name, message in spoken.items() if re.search(r"`[a-z_]+ [^`]*`", message)}
    assert '`bins={"my age": "edges:' in spoken["infer: numbers"] and '`drop="my age"`' in spoken["infer: numbers"]
    assert '`drop="my column"`' in spoken["infer: constant"]
    assert '`method="evolve"`' in spoken["pareto: outputs"]
    assert '`matrix_inputs="rows"`' in spoken["design: rows"]


def test_warnings_hold_no_options(facts) -> None:
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        candor.Schema.infer(pandas.DataFrame({"age": [*range(200), None]}), bins={"age": "quantile:5"})
        candor.Schema.infer(pandas.DataFrame({"smokes": ["yes", "no", "NA", "-9"] * 20}), missing="-9")
        facts.plan.estimate(pandas.DataFrame(facts.answers.to_dict("list")), unmarked=True)
    said = [str(one.message) for one in told]
    assert any('`bins={"age": "edges:..' in one for one in said)
    assert not [one for one in said if re.search(r"--[a-z]|`[a-z_]+ [^`]*`", one)]
    assert {one.filename for one in told} == {__file__}


def test_quantiles_of_open_bins_are_bins(people) -> None:
    """The median is the bin that half of the people reach; no number is needed for it, but one is for a mean."""
    plan = candor.design(candor.Schema.loads(BINS), "independent", epsilon=3)
    ages = [20, 40, 40, 60, 70] * 4000
    answers = plan.randomize(pandas.DataFrame({"age": ages, "pain": ["none", "some", "some", "much", "much"] * 4000}))
    found = {one.attribute: one for one in plan.estimate(answers, quantile="age:0.5;pain:0.1,0.9").numbers}
    assert [one.category for one in found["age"].quantiles] == ["old"]
    assert [one.category for one in found["pain"].quantiles] == ["none", "much"]
    assert found["age"].mean is None
    with pytest.raises(candor.ParameterError, match="no midpoint.*`scores`"):
        plan.estimate(answers, mean="age")


def test_nothing_to_tell_is_an_error_everywhere() -> None:
    """One rule for estimates, tests and queries: what the plan does not collect is an error."""
    plan = candor.design([2, 3], "independent", attribute_epsilon=[0, 3])
    answers = plan.randomize(pandas.DataFrame({"a1": ["0", "1"] * 500, "a2": ["0", "1", "2", "0"] * 250}))
    for nothing in (
        lambda: plan.estimate(answers, tables="a1"),
        lambda: plan.estimate(answers, tables="a1,a2"),
        lambda: plan.estimate(answers, mean="a1"),
        lambda: plan.test(answers, "a1", "a2"),
    ):
        with pytest.raises(candor.EstimateError, match="not identifiable"):
            nothing()
    both = plan.estimate(answers)
    assert [bool(one.cells) for one in both] == [False, True]
    assert both.verdict == "not-identifiable"
