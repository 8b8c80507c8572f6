"""Plans and counts: read, written, sent elsewhere and added up."""

from __future__ import annotations

import json
import pickle

import pandas
import pytest

import candor


def test_plans_are_read_and_written(plan, tmp_path) -> None:
    path = tmp_path / "plan.json"
    plan.save(path)
    plan.save(path)
    other = candor.design(plan.schema, "independent", epsilon=0.5)
    with pytest.raises(candor.InputError, match="Different plan exists"):
        other.save(path)
    other.save(tmp_path / "other.json")
    plan.save(tmp_path / "other.json", force=True)
    again = candor.Plan.load(path)
    assert again == plan
    assert again.to_json() == plan.to_json()
    assert {plan: 1}[pickle.loads(pickle.dumps(plan))] == 1
    schema = pickle.loads(pickle.dumps(plan.schema))
    assert schema == plan.schema
    assert plan.fingerprint in repr(plan)
    assert "<table" in plan._repr_html_()


def test_bad_plans(plan, schema) -> None:
    future = json.dumps({**json.loads(plan.to_json()), "version": 99})
    with pytest.raises(candor.PlanError, match="version 99.*pip install --upgrade candor-privacy"):
        candor.Plan.loads(future)
    with pytest.raises(candor.PlanError, match="fingerprint"):
        candor.Plan.loads(plan.to_json().replace("Male", "male"))
    with pytest.raises(candor.PlanError, match="schema, not a plan"):
        candor.Plan.loads(schema.to_toml())
    with pytest.raises(candor.PlanError, match="not a plan"):
        candor.Plan.loads("{")
    with pytest.raises(candor.SchemaError):
        candor.Schema.loads("x = 1")
    with pytest.raises(FileNotFoundError):
        candor.Plan.load("missing.json")
    with pytest.raises(candor.ParameterError, match="this is a str"):
        candor.design("schema.toml", "joint", epsilon=1)


def test_the_guarantee(plan) -> None:
    assert plan.guarantee.epsilon <= 2
    assert [one.name for one in plan.guarantee.attributes] == ["Education", "Sex", "Income"]
    assert plan.design.epsilon.certified == plan.guarantee.epsilon


def test_requirements(simple, plan) -> None:
    with pytest.raises(candor.RequirementError, match="does not meet ldp=1") as refused:
        simple.audit(require={"ldp": 1})
    assert refused.value.audit["ldp"].holds is False
    both = simple.audit(plan, require=["ldp=9"])
    assert both.epsilon == pytest.approx(simple.guarantee.epsilon + plan.guarantee.epsilon)


@pytest.mark.parametrize("which", ["plan", "simple", "sets"])
def test_counts_of_parts_add_up(which, people, request) -> None:
    """What is estimated from them is what is estimated from all responses, to the last digit."""
    plan = request.getfixturevalue(which)
    responses = plan.randomize(people, keep="weight")
    parts = [responses.iloc[start : start + 3000] for start in range(0, len(people), 3000)]
    for options in ({}, {"by": "Region"}, {"weights": "weight"}):
        sent = [plan.tally(part, tables="pairs", **options).to_bytes() for part in parts]
        there = pickle.loads(pickle.dumps(plan))
        counts = [candor.Counts.from_bytes(there, data) for data in sent]
        total = sum(counts[1:], counts[0])
        assert total.responses == len(people)
        expected = plan.estimate(responses, tables="pairs", **options)
        found = there.estimate(total)
        if "weights" in options:
            numbers = [row["estimate"] for row in found.rows()]
            assert numbers == pytest.approx([row["estimate"] for row in expected.rows()], abs=1e-12)
        else:
            assert found.to_dict() == expected.to_dict()
        assert there.estimate(pickle.loads(pickle.dumps(total))).to_dict() == found.to_dict()
    assert plan.estimate(plan.tally(responses, tables="pairs"), tables="Sex,Income").tables[0].name == "Sex,Income"


def test_counts_that_do_not_add_up(people, simple, plan) -> None:
    responses = simple.randomize(people, keep="weight")
    pairs, margins = simple.tally(responses, tables="pairs"), simple.tally(responses)
    with pytest.raises(candor.InputError, match="different tables"):
        pairs + margins
    with pytest.raises(candor.InputError, match="weighted"):
        margins + simple.tally(responses, weights="weight")
    with pytest.raises(candor.OtherPlanError):
        plan.estimate(margins)
    with pytest.raises(candor.OtherPlanError, match="Wrong plan"):
        candor.Counts.from_bytes(plan, margins.to_bytes())
    with pytest.raises(candor.InputError, match="was not counted"):
        simple.estimate(margins, tables="pairs")
    with pytest.raises(candor.Error, match="not a counts file"):
        candor.Counts.from_bytes(simple, b"{}")
    lost = json.loads(margins.to_bytes())
    lost["groups"][0]["tables"][0][0]["counts"][0] += 1
    with pytest.raises(candor.Error, match="are inconsistent"):
        candor.Counts.from_bytes(simple, json.dumps(lost).encode())
    assert repr(margins) == "counts of 20,000 responses for 3 tables"


def test_estimates(people, simple) -> None:
    estimates = simple.estimate(simple.randomize(people), tables=["Education,Income", "Sex"])
    assert len(estimates) == 2
    table = estimates["Income,Education"]
    assert table.to_numpy().shape == (5, 2)
    cross = table.crosstab()
    assert cross.shape == (5, 2)
    assert cross.to_numpy().sum() == pytest.approx(1)
    assert estimates["Sex"].crosstab().sum() == pytest.approx(1)
    truth = pandas.crosstab(people["Education"], people["Income"], normalize=True)
    errors = table.crosstab("standard_error")
    assert ((cross - truth).abs() < 6 * errors).to_numpy().all()
    frame = estimates.to_pandas()
    assert list(frame.columns) == [
        "table", "quantity", "Education", "Sex", "Income", "estimate", "standard_error", "low", "high", "shown_estimate", "reliability",
    ]  # fmt: skip
    assert len(estimates.to_polars()) == len(estimates.to_arrow()) == len(frame) == 12
    assert list(frame["table"].unique()) == ["Education,Income", "Sex"]
    assert frame.loc[frame["table"] == "Sex", "Education"].isna().all()
    with pytest.raises(KeyError, match="was not estimated"):
        estimates["Region"]
    with pytest.raises(candor.ParameterError, match="either"):
        simple.estimate()


def test_results_for_people(people, simple) -> None:
    responses = simple.randomize(people)
    shown = [
        simple.estimate(responses), simple.test(responses, "Sex", "Income"), simple.query(responses, "Sex = Male"),
        simple.associations(responses), simple.report(responses), simple.audit(), simple.sample_size(0.02), simple.explain(),
        simple.schema, simple.design, candor.compare([3, 2], epsilon=2), candor.pareto([0.6, 0.4], method="exact", points=2),
        simple.schema.check(people), simple.rake(responses), simple.synthesize(responses, records=10),
    ]  # fmt: skip
    for result in shown:
        text, page = repr(result), result._repr_html_()
        assert len(text) > 20 and "object at" not in text
        assert "<" in page and "None" not in page
    assert "Female" in repr(shown[0])


def test_records_that_are_no_responses(people, simple) -> None:
    responses = simple.randomize(people)
    adjusted = simple.rake(responses)
    assert adjusted.weighted["candor_weight"].sum() == pytest.approx(1)
    assert adjusted.weighted["candor_count"].sum() == len(people)
    made = simple.synthesize(responses, records=500)
    assert len(made.people) == 500
    assert list(made.people.columns) == ["Region", "Education", "Sex", "Income"]
    assert list(made.people["Sex"].cat.categories) == ["Female", "Male"]


def test_pages_are_written(people, simple, tmp_path) -> None:
    responses = simple.randomize(people)
    simple.report(responses, tmp_path / "report.html", title="A survey")
    assert "A survey" in (tmp_path / "report.html").read_text()
    simple.explain(tmp_path / "sheet.html")
    assert (tmp_path / "sheet.html").read_text().startswith("<!")
    simple.explain(tmp_path / "sheet.txt")
    assert not (tmp_path / "sheet.txt").read_text().startswith("<!")


def test_plans_without_an_epsilon_are_told_of() -> None:
    plan = candor.design([4], "l-diversity", l=[2])
    with pytest.warns(candor.Caution, match="no finite epsilon"):
        plan.randomize(pandas.DataFrame({"a1": ["0", "1"]}))


def test_matrices_and_clusters(schema, people, tmp_path) -> None:
    import numpy

    square = numpy.array([[0.75, 0.25], [0.25, 0.75]])
    plan = candor.design([2], "matrix", matrix=square)
    (tmp_path / "matrix.csv").write_text("0.75,0.25\n0.25,0.75\n")
    assert plan == candor.design([2], "matrix", matrix=tmp_path / "matrix.csv")
    clusters = schema.associations(people, min_dependence=0.1)
    learned = candor.design(schema, "clusters", clusters=clusters, epsilon=4)
    assert learned == candor.design(schema, "clusters", clusters=clusters.clusters, epsilon=4)
    clusters.save(tmp_path / "clusters.json")
    assert json.loads((tmp_path / "clusters.json").read_text())["clusters"] == clusters.clusters
