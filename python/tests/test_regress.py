"""A regression, as an object: its coefficients by name, as frames, and as people see it."""

from __future__ import annotations

import math

import pandas
import pyarrow
import pytest

import candor


@pytest.fixture
def fitted(simple, responses) -> candor.estimates.Regression:
    return simple.regress(responses, "Income ~ Region")


@pytest.fixture
def several(simple, responses) -> candor.estimates.Regression:
    return simple.regress(responses, "Education ~ Region")


def test_it_finds_the_truth(fitted, people) -> None:
    """Within five standard errors: the seed is fixed, and chance alone would miss once in a million times."""
    rich = (people.Income == ">50K").groupby(people.Region).mean()
    truth = math.log(rich["south"] / (1 - rich["south"])) - math.log(rich["north"] / (1 - rich["north"]))
    found = fitted["Region=south"]
    assert found.category == ">50K"
    assert abs(found.estimate - truth) < 5 * found.standard_error
    assert math.isclose(found.odds_ratio, math.exp(found.estimate))


def test_coefficients_by_name(fitted, several) -> None:
    assert several["Region=south", "high school"].category == "high school"
    with pytest.raises(KeyError, match="of each of .*high school.*say which"):
        several["Region=south"]
    with pytest.raises(KeyError, match=r'no "Colour".*\(constant\), Region=south'):
        fitted["Colour"]


def test_frames(several) -> None:
    frame = several.to_pandas()
    assert isinstance(frame, pandas.DataFrame)
    assert list(frame.columns[:5]) == ["term", "category", "estimate", "estimate_kind", "standard_error"]
    assert len(frame) == 2 * 4 == several.to_polars().height == several.to_arrow().num_rows
    assert several.rows_ == several.to_dict()["rows"] == 2 * 5


def test_what_people_see(fitted) -> None:
    seen = repr(fitted)
    assert seen.startswith("Income ~ Region\n20,000 responses, binary regression, method ml, 95% intervals\n")
    assert "odds ratio" in seen and "average prediction" in seen
    assert "log odds of >50K against <=50K\nrandomized: Income; reference categories: Region = north\n" in seen
    assert fitted.epsilon <= 6
    assert "log_likelihood: " in seen and "tjur_r2: " in seen


def test_questions_are_shown(simple, responses) -> None:
    """Joint tests, contrasts and predictions, as the command prints them."""
    fitted = simple.regress(responses, "Education ~ Region", contrast="Region=south", predict=pandas.DataFrame({"Region": ["south"]}))
    seen = repr(fitted)
    assert all(heading in seen for heading in ("joint tests", "contrasts", "predictions")), seen


def test_pages_of_a_regression(fitted) -> None:
    page = fitted._repr_html_()
    assert "<td>Region=south</td>" in page and "<h4>Income ~ Region</h4>" in page


def test_frames_that_are_at_hand(simple, people) -> None:
    """Also columns that were kept, with what should be known as a warning."""
    aged = people.assign(age=[20 + row % 50 for row in people.index])
    answers = simple.randomize(aged, keep="age", seed=1, simulation=True)
    with pytest.warns(candor.Caution, match="naive column treats the answers as true values"):
        assert simple.regress(answers, "Income ~ age", show_naive=True)["age"].naive is not None


def test_what_is_refused(simple, responses) -> None:
    with pytest.raises(candor.EstimateError, match="collinear"):
        simple.regress(responses, "Income ~ Region + weight")
    with pytest.raises(candor.ParameterError, match="`model`"):
        simple.regress(responses, "Income ~ Income")
    with pytest.raises(candor.ParameterError, match="`self_protective_if` goes with `self_protective`"):
        simple.regress(responses, "Income ~ Region", only_if="<=50K")


def test_reports(simple, people) -> None:
    """A page has regressions, too; a reader, which gives responses once, is refused."""
    answers = pyarrow.Table.from_pandas(people[[one.name for one in simple.schema]], preserve_index=False)
    answers = simple.randomize(answers)
    report = simple.report(answers, model=["Income ~ Region", "Sex ~ Region"])
    assert report.regressions == [simple.regress(answers, "Income ~ Region"), simple.regress(answers, "Sex ~ Region")]
    assert "Income ~ Region" in report.html and "Sex ~ Region" in repr(report)
    with pytest.raises(candor.ParameterError, match="which a reader cannot"):
        simple.report(answers.to_reader(), model="Income ~ Region")
